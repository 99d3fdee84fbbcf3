/* Inner products of a few columns of a block in double, whatever the block's type.
 *
 * Columns are gathered some rows at a time into a small buffer in the nearest cache, and multiplied
 * there: nothing as long as the block is ever written.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

enum {
    WIDEST = 512,  /* the most columns */
    BUFFER = 2048, /* numbers in the buffer, unless eight rows take more */
    MOST_ROWS = 128,
    LINE = 64, /* bytes; a buffer that begins with a line has no four in two of them */
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

/* Lines of some rows that will be gathered next. They are asked for while others are multiplied:
 * memory should not have to wait for that. */
typedef struct {
    const char *row;
    Py_ssize_t step, n;
    const int64_t *at; /* n places in a row, in bytes */
} Lines;

INLINE void gather_row(const Columns *from, Py_ssize_t i, double *to)
{
    const char *row = from->B + i * from->B_step;
    if (from->in_float)
        for (Py_ssize_t g = 0; g < from->t; g++)
            to[g] = ((const float *)row)[from->J[g]];
    else
        for (Py_ssize_t g = 0; g < from->t; g++)
            to[g] = ((const double *)row)[from->J[g]];
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

/* Add the products of four columns of the buffer with `fours` times four, a constant up to three. */
INLINE void multiply(const int fours, const double *left, const double *right, Py_ssize_t step,
                     Py_ssize_t rows, double *sums, Lines next)
{
    Four sum[4][3], x[3];
    for (int a = 0; a < 4; a++)
        for (int at = 0; at < fours; at++)
            sum[a][at] = (Four){0};
    for (Py_ssize_t i = 0; i < rows; i++, left += step, right += step, next.row += next.step) {
        for (Py_ssize_t line = 0; line < next.n; line++)
            __builtin_prefetch(next.row + next.at[line], 0, 2);
        for (int at = 0; at < fours; at++)
            x[at] = ((const Four *)right)[at];
        for (int a = 0; a < 4; a++)
            for (int at = 0; at < fours; at++)
                sum[a][at] += left[a] * x[at];
    }
    for (int a = 0; a < 4; a++, sums += step)
        for (int at = 0; at < fours; at++)
            ((Four *)sums)[at] += sum[a][at];
}

/* Take the next few lines, `share` of them or what is left. */
INLINE Lines some_of(Lines *all, Py_ssize_t share)
{
    Lines some = *all;
    some.n = some.n < share ? some.n : share;
    all->at += some.n;
    all->n -= some.n;
    return some;
}

/* sums (width, width) += the products of the columns of the buffer with those before them and, in
 * the fours that they are in, with each other. Each of the calls for that asks for a share of the
 * lines that come next. */
INLINE void multiply_all(const double *buffer, Py_ssize_t width, Py_ssize_t rows, double *sums,
                         Lines next, Py_ssize_t share)
{
    for (Py_ssize_t g = 0; g < width; g += 4, sums += 4 * width) {
        const double *left = buffer + g;
        Py_ssize_t j = 0;
        for (; j + 8 <= g; j += 12)
            multiply(3, left, buffer + j, width, rows, sums + j, some_of(&next, share));
        if (j + 4 <= g)
            multiply(2, left, buffer + j, width, rows, sums + j, some_of(&next, share));
        else if (j <= g)
            multiply(1, left, buffer + j, width, rows, sums + j, some_of(&next, share));
    }
}

FOR_EACH_PROCESSOR
static void add_products(const Columns *from, Lines lines, Py_ssize_t width, Py_ssize_t height,
                         double *buffer, double *sums)
{
    Py_ssize_t calls = 0;
    for (Py_ssize_t fours = 1; fours <= width / 4; fours++)
        calls += (fours + 2) / 3;
    for (Py_ssize_t start = 0; start < from->N; start += height) {
        const Py_ssize_t rows = from->N - start < height ? from->N - start : height;
        Lines next = lines;
        next.row += (start + height) * next.step;
        if (start + 2 * height > from->N)
            next.n = 0;
        for (Py_ssize_t i = 0; i < rows; i++)
            gather_row(from, start + i, buffer + i * width);
        multiply_all(buffer, width, rows, sums, next, (next.n + calls - 1) / calls);
    }
}

/* Where columns J have their lines in a row: each its own, or all from the first to the last where
 * that is fewer. */
static Py_ssize_t find_lines(const Columns *from, int64_t *lines)
{
    const Py_ssize_t size = from->in_float ? 4 : 8;
    int64_t first = INT64_MAX, last = 0;
    for (Py_ssize_t g = 0; g < from->t; g++) {
        lines[g] = from->J[g] * size;
        first = lines[g] < first ? lines[g] : first;
        last = lines[g] > last ? lines[g] : last;
    }
    if ((last - first) / LINE + 2 > from->t)
        return from->t;
    Py_ssize_t n = 0;
    for (int64_t place = first; place < last; place += LINE)
        lines[n++] = place;
    lines[n++] = last;
    return n;
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
    const Py_ssize_t t = from->t, width = (t + 3) / 4 * 4;
    Py_ssize_t height = BUFFER / (width + 1);
    height = height < 8 ? 8 : height < MOST_ROWS ? height : MOST_ROWS;
    char *room = calloc((size_t)((height + width) * width) * sizeof(double) + LINE, 1);
    if (room == NULL)
        return "out of memory";
    double *buffer = (double *)(room + (LINE - (uintptr_t)room % LINE) % LINE);
    double *sums = buffer + height * width;
    int64_t places[WIDEST];
    const Lines lines = {from->B, from->B_step, find_lines(from, places), places};
    add_products(from, lines, width, height, buffer, sums);
    put_products(sums, width, t, out, out_step);
    free(room);
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
    if (t > 0)
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
