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

/* The rows of the buffer are [root * (B[:, J] - shift) * scale, 0 ...]. */
typedef struct {
    const char *B;
    Py_ssize_t B_step, N; /* B_step in bytes */
    int in_float;
    const int64_t *J;
    Py_ssize_t t;
    const double *shift, *scale, *root; /* each may be NULL */
} Columns;

INLINE void gather_row(const Columns *from, Py_ssize_t i, double *to)
{
    const char *row = from->B + i * from->B_step, *next = row + AHEAD * from->B_step;
    const int soon = i + AHEAD < from->N;
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
            to[g] *= from->root[i];
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
    const Py_ssize_t height = most < MOST_ROWS ? most : MOST_ROWS;
    for (Py_ssize_t start = 0; start < from->N; start += height) {
        const Py_ssize_t rows = from->N - start < height ? from->N - start : height;
        for (Py_ssize_t i = 0; i < rows; i++)
            gather_row(from, start + i, buffer + i * width);
        for (Py_ssize_t g = 0; g < from->t; g += LEFT)
            for (Py_ssize_t j = 0; j < g + LEFT; j += RIGHT)
                multiply(buffer + g, buffer + j, width, rows, sums + g * width + j);
    }
}

/* Add what was summed up to out (t, t). */
static void put_products(const double *sums, Py_ssize_t width, Py_ssize_t t, double *out,
                         Py_ssize_t out_step)
{
    for (Py_ssize_t g = 0; g < t; g++, sums += width)
        for (Py_ssize_t j = 0; j <= g; j++) {
            out[g * out_step + j] += sums[j];
            if (j < g)
                out[j * out_step + g] += sums[j];
        }
}

static const char *work_on(const Columns *from, double *out, Py_ssize_t out_step)
{
    const Py_ssize_t t = from->t, width = (t + LEFT - 1 + RIGHT - 1) / RIGHT * RIGHT;
    const Py_ssize_t height = BUFFER / width < 8 ? 8 : BUFFER / width;
    double *buffer = calloc((size_t)(height * width + (t + LEFT) * width), sizeof(double));
    if (buffer == NULL)
        return "out of memory";
    double *sums = buffer + height * width;
    add_products(from, width, buffer, sums);
    put_products(sums, width, t, out, out_step);
    free(buffer);
    return NULL;
}

static Py_buffer *maybe(Arrays *arrays, PyObject *object)
{
    return object == Py_None ? NULL : take_array(arrays, object, "d", 1, 0);
}

static PyObject *inner_products(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[6];
    Arrays arrays = {.n = 0};
    const char *complaint = NULL, *type;
    if (!PyArg_ParseTuple(args, "OOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5]) ||
        (type = float_type(given[0])) == NULL)
        return NULL;
    Py_buffer *B = take_array(&arrays, given[0], type, 2, 0);
    Py_buffer *J = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *shift = maybe(&arrays, given[2]), *scale = maybe(&arrays, given[3]);
    Py_buffer *root = maybe(&arrays, given[4]);
    Py_buffer *out = take_array(&arrays, given[5], "d", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = B->shape[0], t = J->shape[0];
    if (t > WIDEST || (shift && shift->shape[0] != t) || (scale && scale->shape[0] != t) ||
        (root && root->shape[0] != N) || out->shape[0] != t || out->shape[1] != t ||
        !are_columns(J, B))
        return finish_call(&arrays, NO_FIT);
    const Columns from = {
        .B = B->buf, .B_step = B->strides[0], .N = N, .in_float = B->itemsize == 4, .J = J->buf,
        .t = t, .shift = shift ? shift->buf : NULL, .scale = scale ? scale->buf : NULL,
        .root = root ? root->buf : NULL};
    Py_BEGIN_ALLOW_THREADS;
    complaint = work_on(&from, out->buf, out->strides[0] / 8);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, complaint);
}

PyMethodDef exact_methods[] = {
    {"inner_products", inner_products, METH_VARARGS,
     "inner_products(B, J, shift, scale, root, out): out += A'A in double, where\n"
     "A = root * (B[:, J] - shift) * scale; shift, scale and root (ones) may be None."},
    {NULL, NULL, 0, NULL},
};
