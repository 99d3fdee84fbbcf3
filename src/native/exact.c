/* Inner products of a few columns of a block in double, whatever the block's type.
 *
 * Columns are gathered some rows at a time into a small buffer in the nearest cache, and multiplied
 * there: nothing as long as the block is ever written.
 */
#include "native.h"

#include <stdlib.h>

enum {
    WIDEST = 512,  /* the most columns */
    BUFFER = 256,  /* numbers in the buffer, unless so few rows take more */
    FEWEST_ROWS = 12,
    AHEAD = 1 << 16, /* bytes that memory is asked for ahead of their use, or a block of rows */
    LINE = 64, /* bytes; a buffer that begins with a line has no four in two of them */
};

/* The rows of the buffer are [root * (B[:, J] - shift) * scale], J padded with columns that nobody
 * asks for to `width`, a multiple of four. */
typedef struct {
    const char *B;
    Py_ssize_t step, N; /* step in bytes */
    int in_float, plain; /* plain: nothing to subtract or to multiply with */
    Py_ssize_t t, width;
    int64_t J[WIDEST];
    double shift[WIDEST], scale[WIDEST];
    const double *root; /* or NULL */
} Columns;

/* Lines of some rows that will be gathered next. They are asked for while others are multiplied:
 * memory should not have to wait for that. */
typedef struct {
    const char *row;
    Py_ssize_t step, n;
    const int64_t *at; /* n places in a row, in bytes */
} Lines;

/* Four columns of some rows; `in_float` and `plain` are constants. */
INLINE void gather_four(const int in_float, const int plain, const Columns *from, Py_ssize_t start,
                        Py_ssize_t rows, Py_ssize_t g, double *to)
{
    const int64_t *J = from->J + g, a = J[0], b = J[1], c = J[2], d = J[3];
    const Four shift = *(const Four *)(from->shift + g), scale = *(const Four *)(from->scale + g);
    const char *row = from->B + start * from->step;
    for (Py_ssize_t i = 0; i < rows; i++, row += from->step, to += from->width) {
        const float *f = (const float *)row;
        const double *x = (const double *)row;
        Four four = in_float ? OF_FOUR(Four, f[a], f[b], f[c], f[d])
                             : OF_FOUR(Four, x[a], x[b], x[c], x[d]);
        if (!plain)
            four = SCALED(Four, TIMES(Four, MINUS(Four, four, shift), scale),
                          from->root ? from->root[start + i] : 1.0);
        *(Four *)to = four;
    }
}

INLINE void gather(const Columns *from, Py_ssize_t start, Py_ssize_t rows, double *to)
{
    for (Py_ssize_t g = 0; g < from->width; g += 4)
        if (from->in_float && from->plain)
            gather_four(1, 1, from, start, rows, g, to + g);
        else if (from->in_float)
            gather_four(1, 0, from, start, rows, g, to + g);
        else if (from->plain)
            gather_four(0, 1, from, start, rows, g, to + g);
        else
            gather_four(0, 0, from, start, rows, g, to + g);
}

/* Add the products of four columns of the buffer with `fours` times four, a constant up to three,
 * while asking for `lines` lines of each of the next rows, mostly a constant too. */
INLINE void multiply(const int fours, const Py_ssize_t lines, const double *left,
                     const double *right, Py_ssize_t step, Py_ssize_t rows, double *sums,
                     Lines next)
{
    Four sum[4][3], x[3];
    for (int a = 0; a < 4; a++)
        for (int at = 0; at < fours; at++)
            sum[a][at] = (Four){0};
    for (Py_ssize_t i = 0; i < rows; i++, left += step, right += step, next.row += next.step) {
        for (Py_ssize_t line = 0; line < lines; line++)
            PREFETCH_FAR(next.row + next.at[line]);
        for (int at = 0; at < fours; at++)
            x[at] = ((const Four *)right)[at];
        for (int a = 0; a < 4; a++)
            for (int at = 0; at < fours; at++)
                sum[a][at] = PLUS(Four, sum[a][at], SCALED(Four, x[at], left[a]));
    }
    for (int a = 0; a < 4; a++, sums += step)
        for (int at = 0; at < fours; at++)
            ((Four *)sums)[at] = PLUS(Four, ((Four *)sums)[at], sum[a][at]);
}

/* The same, however many lines. */
INLINE void multiply_some(const int fours, const double *left, const double *right,
                          Py_ssize_t step, Py_ssize_t rows, double *sums, Lines next)
{
    if (next.n == 0)
        multiply(fours, 0, left, right, step, rows, sums, next);
    else if (next.n == 1)
        multiply(fours, 1, left, right, step, rows, sums, next);
    else if (next.n == 2)
        multiply(fours, 2, left, right, step, rows, sums, next);
    else
        multiply(fours, next.n, left, right, step, rows, sums, next);
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
            multiply_some(3, left, buffer + j, width, rows, sums + j, some_of(&next, share));
        if (j + 4 <= g)
            multiply_some(2, left, buffer + j, width, rows, sums + j, some_of(&next, share));
        else if (j <= g)
            multiply_some(1, left, buffer + j, width, rows, sums + j, some_of(&next, share));
    }
}

FOR_EACH_PROCESSOR
static void add_products(const Columns *from, Lines lines, Py_ssize_t height, double *buffer,
                         double *sums)
{
    const Py_ssize_t width = from->width;
    Py_ssize_t calls = 0;
    for (Py_ssize_t fours = 1; fours <= width / 4; fours++)
        calls += (fours + 2) / 3;
    const Py_ssize_t blocks = AHEAD / (height * lines.n * LINE);
    const Py_ssize_t ahead = (blocks > 1 ? blocks : 1) * height;
    for (Py_ssize_t start = 0; start < from->N; start += height) {
        const Py_ssize_t rows = from->N - start < height ? from->N - start : height;
        Lines next = lines;
        next.row += (start + ahead) * next.step;
        if (start + ahead + height > from->N)
            next.n = 0;
        gather(from, start, rows, buffer);
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
    const Py_ssize_t width = from->width;
    const Py_ssize_t height = BUFFER / width < FEWEST_ROWS ? FEWEST_ROWS : BUFFER / width;
    char *room = calloc((size_t)((height + width) * width) * sizeof(double) + LINE, 1);
    if (room == NULL)
        return "out of memory";
    double *buffer = (double *)(room + (LINE - (uintptr_t)room % LINE) % LINE);
    double *sums = buffer + height * width;
    int64_t places[WIDEST];
    const Lines lines = {from->B, from->step, find_lines(from, places), places};
    add_products(from, lines, height, buffer, sums);
    put_products(sums, width, from->t, out, out_step);
    free(room);
    return NULL;
}

static Columns columns_from(const Py_buffer *B, const Py_buffer *J, const Py_buffer *shift,
                            const Py_buffer *scale, const Py_buffer *root)
{
    const Py_ssize_t t = J->shape[0];
    Columns from = {.B = B->buf, .step = B->strides[0], .N = B->shape[0],
                    .in_float = B->itemsize == 4, .plain = !shift && !scale && !root, .t = t,
                    .width = (t + 3) / 4 * 4, .root = root ? root->buf : NULL};
    for (Py_ssize_t g = 0; g < from.width; g++) {
        const Py_ssize_t of = g < t ? g : 0;
        from.J[g] = ((const int64_t *)J->buf)[of];
        from.shift[g] = shift ? ((const double *)shift->buf)[of] : 0.0;
        from.scale[g] = scale ? ((const double *)scale->buf)[of] : 1.0;
    }
    return from;
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
    const Columns from = columns_from(B, J, shift, scale, root);
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
