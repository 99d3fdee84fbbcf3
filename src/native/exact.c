/* Inner products of a few columns of a block in double, whatever the block's type.
 *
 * Columns are gathered some rows at a time into a small buffer in the nearest cache, and multiplied
 * there: nothing as long as the block is ever written.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

enum {
    WIDEST = 512,       /* the most numbers in a row of the buffer */
    BUFFER = 2048,      /* numbers in the buffer, unless eight rows take more */
    MOST_ROWS = 128,
    AHEAD = 16,         /* rows that are asked for before they are needed */
    LEFT = 4, RIGHT = 8, /* products whose sums stay in registers */
};

/* The rows of the buffer are [root, V, root * (B[:, J] - shift) * scale, 0 ...], or without V the
 * last of these alone. */
typedef struct {
    const char *B;
    Py_ssize_t B_step, N; /* B_step in bytes */
    int in_float;
    const int64_t *J;
    Py_ssize_t t;
    const double *shift, *scale, *root, *V; /* each may be NULL */
    Py_ssize_t V_step, m;
    Py_ssize_t before; /* numbers before those of the columns: 1 + m, or 0 without V */
} Columns;

INLINE void gather_row(const Columns *from, Py_ssize_t i, double *to)
{
    const char *row = from->B + i * from->B_step, *next = row + AHEAD * from->B_step;
    const int soon = i + AHEAD < from->N;
    const double root = from->root ? from->root[i] : 1.0;
    if (from->V)
        *to++ = root;
    for (Py_ssize_t v = 0; v < from->m; v++)
        *to++ = from->V[i * from->V_step + v];
    if (from->in_float)
        for (Py_ssize_t g = 0; g < from->t; g++) {
            if (soon)
                __builtin_prefetch((const float *)next + from->J[g]);
            to[g] = ((const float *)row)[from->J[g]];
        }
    else
        for (Py_ssize_t g = 0; g < from->t; g++) {
            if (soon)
                __builtin_prefetch((const double *)next + from->J[g]);
            to[g] = ((const double *)row)[from->J[g]];
        }
    if (from->shift)
        for (Py_ssize_t g = 0; g < from->t; g++)
            to[g] -= from->shift[g];
    if (from->scale)
        for (Py_ssize_t g = 0; g < from->t; g++)
            to[g] *= from->scale[g];
    if (from->root)
        for (Py_ssize_t g = 0; g < from->t; g++)
            to[g] *= root;
}

/* Add the products of LEFT columns of the buffer with RIGHT columns. */
INLINE void multiply(const double *left, const double *right, Py_ssize_t step, Py_ssize_t rows,
                     double *sums)
{
    Four sum[LEFT][2];
    for (int a = 0; a < LEFT; a++)
        sum[a][0] = sum[a][1] = (Four){0};
    for (Py_ssize_t i = 0; i < rows; i++, left += step, right += step) {
        const Four low = ((const Four *)right)[0], high = ((const Four *)right)[1];
        for (int a = 0; a < LEFT; a++) {
            sum[a][0] += left[a] * low;
            sum[a][1] += left[a] * high;
        }
    }
    for (int a = 0; a < LEFT; a++, sums += step) {
        ((Four *)sums)[0] += sum[a][0];
        ((Four *)sums)[1] += sum[a][1];
    }
}

/* sums (t, width) += the products of columns J with those before them in the buffer, up to their
 * own; what stands behind is undefined. The buffer has LEFT columns to spare. */
FOR_EACH_PROCESSOR
static void add_products(const Columns *from, Py_ssize_t width, double *buffer, double *sums)
{
    const Py_ssize_t most = BUFFER / width < 8 ? 8 : BUFFER / width;
    const Py_ssize_t height = most < MOST_ROWS ? most : MOST_ROWS, before = from->before;
    for (Py_ssize_t start = 0; start < from->N; start += height) {
        const Py_ssize_t rows = from->N - start < height ? from->N - start : height;
        for (Py_ssize_t i = 0; i < rows; i++)
            gather_row(from, start + i, buffer + i * width);
        for (Py_ssize_t g = 0; g < from->t; g += LEFT)
            for (Py_ssize_t j = 0; j < before + g + LEFT && j < width; j += RIGHT)
                multiply(buffer + before + g, buffer + j, width, rows, sums + g * width + j);
    }
}

/* Add what was summed up to out (t + 1 + m, t): the inner products, sums and products with V. */
static void put_products(const double *sums, Py_ssize_t width, Py_ssize_t t, Py_ssize_t before,
                         double *out, Py_ssize_t out_step)
{
    for (Py_ssize_t g = 0; g < t; g++, sums += width) {
        for (Py_ssize_t v = 0; v < before; v++)
            out[(t + v) * out_step + g] += sums[v];
        for (Py_ssize_t j = 0; j <= g; j++) {
            out[g * out_step + j] += sums[before + j];
            if (j < g)
                out[j * out_step + g] += sums[before + j];
        }
    }
}

static const char *work_on(const Columns *from, double *out, Py_ssize_t out_step)
{
    const Py_ssize_t t = from->t, before = from->before;
    const Py_ssize_t width = (before + t + LEFT - 1 + RIGHT - 1) / RIGHT * RIGHT;
    const Py_ssize_t height = BUFFER / width < 8 ? 8 : BUFFER / width;
    double *buffer = calloc((size_t)(height * width + (t + LEFT) * width), sizeof(double));
    if (buffer == NULL)
        return "out of memory";
    double *sums = buffer + height * width;
    add_products(from, width, buffer, sums);
    put_products(sums, width, t, before, out, out_step);
    free(buffer);
    return NULL;
}

static Py_buffer *maybe(Arrays *arrays, PyObject *object, int ndim)
{
    return object == Py_None ? NULL : take_array(arrays, object, "d", ndim, 0);
}

static PyObject *inner_products(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[7];
    Arrays arrays = {.n = 0};
    const char *complaint = NULL, *type;
    if (!PyArg_ParseTuple(args, "OOOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &given[6]) ||
        (type = float_type(given[0])) == NULL)
        return NULL;
    Py_buffer *B = take_array(&arrays, given[0], type, 2, 0);
    Py_buffer *J = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *shift = maybe(&arrays, given[2], 1), *scale = maybe(&arrays, given[3], 1);
    Py_buffer *root = maybe(&arrays, given[4], 1), *V = maybe(&arrays, given[5], 2);
    Py_buffer *out = take_array(&arrays, given[6], "d", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = B->shape[0], t = J->shape[0], m = V ? V->shape[1] : 0;
    const Py_ssize_t before = V ? 1 + m : 0;
    if (before + t > WIDEST || (shift && shift->shape[0] != t) || (scale && scale->shape[0] != t) ||
        (root && root->shape[0] != N) || (V && V->shape[0] != N) || out->shape[0] != t + before ||
        out->shape[1] != t || !are_columns(J, B))
        return finish_call(&arrays, NO_FIT);
    const Columns from = {
        .B = B->buf, .B_step = B->strides[0], .N = N, .in_float = B->itemsize == 4, .J = J->buf,
        .t = t, .shift = shift ? shift->buf : NULL, .scale = scale ? scale->buf : NULL,
        .root = root ? root->buf : NULL, .V = V ? V->buf : NULL,
        .V_step = V ? V->strides[0] / 8 : 0, .m = m, .before = before};
    Py_BEGIN_ALLOW_THREADS;
    complaint = work_on(&from, out->buf, out->strides[0] / 8);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, complaint);
}

PyMethodDef exact_methods[] = {
    {"inner_products", inner_products, METH_VARARGS,
     "inner_products(B, J, shift, scale, root, V, out): out += [A, root, V]'A in double, where\n"
     "A = root * (B[:, J] - shift) * scale; shift, scale and root (ones) may be None. Without V,\n"
     "out += A'A."},
    {NULL, NULL, 0, NULL},
};
