/* Sums of the columns of a block class by class: all that a first look asks, in double.
 *
 * Rows of a response of classes are alike within a class, so that its products with a table follow
 * from these sums; they take one addition for each number, however many classes there are.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 128,  /* of float put into order at a time, half as many of double */
    PANEL = 512, /* columns of which so many rows stay in a near cache until they are needed */
    LINE = 64,   /* bytes */
    MOST = 4,    /* fours of columns whose sums and squares stay in registers */
};

typedef struct {
    const char *B;
    Py_ssize_t step, N, n, c; /* step in bytes */
    int in_float;
    const uint8_t *codes;
    const double *weights; /* or NULL */
} Table;

/* Up to ROWS rows of a panel in the order of their classes, those of class k from starts[k] on.
 * The sums of a panel, (classes, step), and the squares behind them begin with a line of the cache,
 * so that no four of them stand in two. */
typedef struct {
    const char *B;
    Py_ssize_t offsets[ROWS]; /* in bytes */
    double weights[ROWS];
    int starts[257];
    Py_ssize_t c, ahead; /* bytes to the same columns of the next block */
    double *sums, *squares;
    Py_ssize_t step;
} Block;

/* Some columns of all rows: how many fours of them is a constant, and so are `weighted` and
 * `in_float`. Squares stay in registers over all classes, and sums over the rows of each. */
INLINE void strip(const int fours, const int weighted, const int in_float, const Block *X,
                  Py_ssize_t from, Py_ssize_t to)
{
    const Py_ssize_t size = in_float ? 4 : 8;
    const char *B = X->B + from * size;
    Four square[MOST];
    for (int at = 0; at < fours; at++)
        square[at] = (Four){0};
    for (Py_ssize_t k = 0; k < X->c; k++) {
        Four sum[MOST];
        for (int at = 0; at < fours; at++)
            sum[at] = (Four){0};
        for (int i = X->starts[k]; i < X->starts[k + 1]; i++) {
            const char *row = B + X->offsets[i];
            /* Lines soon needed into the nearest cache, those of the next block behind it. */
            for (int at = 0; at < fours; at += LINE / 4 / (in_float ? 4 : 8)) {
                PREFETCH(row + 2 * LINE + at * 4 * size);
                PREFETCH_FAR(row + X->ahead + at * 4 * size);
            }
            for (int at = 0; at < fours; at++) {
                const float *f = (const float *)row + 4 * at;
                const Four x =
                    in_float ? OF_FOUR(Four, f[0], f[1], f[2], f[3]) : ((const Four *)row)[at];
                const Four wx = SCALED(Four, x, weighted ? X->weights[i] : 1.0);
                sum[at] = PLUS(Four, sum[at], wx);
                square[at] = PLUS(Four, square[at], TIMES(Four, wx, x));
            }
        }
        Four *sums = (Four *)(X->sums + k * X->step + to);
        for (int at = 0; at < fours; at++)
            sums[at] = PLUS(Four, sums[at], sum[at]);
    }
    Four *squares = (Four *)(X->squares + to);
    for (int at = 0; at < fours; at++)
        squares[at] = PLUS(Four, squares[at], square[at]);
}

/* One column, in tables that have fewer than four. */
static void one_column(const int in_float, const Block *X, Py_ssize_t j)
{
    for (Py_ssize_t k = 0; k < X->c; k++)
        for (int i = X->starts[k]; i < X->starts[k + 1]; i++) {
            const char *row = X->B + X->offsets[i];
            const double x = in_float ? (double)((const float *)row)[j] : ((const double *)row)[j];
            X->sums[k * X->step + j] += X->weights[i] * x;
            X->squares[j] += X->weights[i] * x * x;
        }
}

/* All columns of a panel. Where its width is no multiple of four, the sums of the last four columns
 * stand behind all others, and count only for those that come in no other four. */
INLINE void columns(const int weighted, const int in_float, const Block *X, Py_ssize_t width,
                    int is_narrow)
{
    Py_ssize_t j = 0; /* a line of the cache at a time */
    for (; in_float && j + 16 <= width; j += 16)
        strip(4, weighted, in_float, X, j, j);
    while (j + 8 <= width) {
        strip(2, weighted, in_float, X, j, j);
        j += 8;
    }
    if (j + 4 <= width) {
        strip(1, weighted, in_float, X, j, j);
        j += 4;
    }
    for (; is_narrow && j < width; j++)
        one_column(in_float, X, j);
    if (j < width)
        strip(1, weighted, in_float, X, width - 4, X->step - 4);
}

/* Put up to ROWS rows into the order of their classes. */
INLINE void sort_rows(const Table *X, Py_ssize_t start, int rows, Block *to)
{
    const uint8_t *codes = X->codes + start;
    int next[257] = {0};
    for (int i = 0; i < rows; i++)
        next[codes[i] + 1]++;
    for (int k = 0; k < X->c; k++)
        next[k + 1] += next[k];
    memcpy(to->starts, next, (size_t)(X->c + 1) * sizeof(int));
    for (int i = 0; i < rows; i++) {
        const int place = next[codes[i]]++;
        to->offsets[place] = i * X->step;
        to->weights[place] = X->weights ? X->weights[start + i] : 1.0;
    }
}

/* Add the sums of a panel to where they belong. */
static void put(const double *from, Py_ssize_t step, Py_ssize_t width, int is_narrow, double *to)
{
    const Py_ssize_t fours = is_narrow ? width : width / 4 * 4;
    for (Py_ssize_t j = 0; j < width; j++)
        to[j] += j < fours ? from[j] : from[step - width + j];
}

FOR_EACH_PROCESSOR
static void add_class_sums(const Table *X, double *own, Py_ssize_t own_step, double *sums,
                           Py_ssize_t sums_step, double *squares)
{
    const Py_ssize_t height = X->in_float ? ROWS : ROWS / 2; /* as many bytes */
    Block of = {.c = X->c, .sums = own, .squares = own + X->c * own_step, .step = own_step};
    for (Py_ssize_t j = 0; j < X->n; j += PANEL) {
        const Py_ssize_t width = X->n - j < PANEL ? X->n - j : PANEL;
        memset(own, 0, (size_t)((X->c + 1) * own_step) * sizeof(double));
        for (Py_ssize_t i = 0; i < X->N; i += height) {
            of.B = X->B + i * X->step + j * (X->in_float ? 4 : 8);
            of.ahead = i + 2 * height <= X->N ? height * X->step : 0;
            sort_rows(X, i, (int)(X->N - i < height ? X->N - i : height), &of);
            if (X->in_float && X->weights)
                columns(1, 1, &of, width, X->n < 4);
            else if (X->in_float)
                columns(0, 1, &of, width, X->n < 4);
            else if (X->weights)
                columns(1, 0, &of, width, X->n < 4);
            else
                columns(0, 0, &of, width, X->n < 4);
        }
        for (Py_ssize_t k = 0; k < X->c; k++)
            put(own + k * own_step, own_step, width, X->n < 4, sums + k * sums_step + j);
        put(own + X->c * own_step, own_step, width, X->n < 4, squares + j);
    }
}

static const char *work_on(const Py_buffer *B, const Py_buffer *codes, const Py_buffer *weights,
                           const Py_buffer *sums, const Py_buffer *squares)
{
    const Table X = {B->buf, B->strides[0], B->shape[0], B->shape[1], sums->shape[0],
                     B->itemsize == 4, codes->buf, weights ? weights->buf : NULL};
    const Py_ssize_t panel = X.n < PANEL ? X.n : PANEL;
    const Py_ssize_t step = (panel + 7) / 8 * 8 + 8; /* whole lines, four columns to spare */
    char *room = malloc((size_t)((X.c + 1) * step) * sizeof(double) + LINE);
    if (room == NULL)
        return "out of memory";
    double *own = (double *)(room + (LINE - (uintptr_t)room % LINE) % LINE);
    add_class_sums(&X, own, step, sums->buf, sums->strides[0] / 8, squares->buf);
    free(room);
    return NULL;
}

static int are_classes(const Py_buffer *codes, Py_ssize_t c)
{
    const uint8_t *code = codes->buf;
    uint8_t most = 0;
    for (Py_ssize_t i = 0; i < codes->shape[0]; i++)
        most = code[i] > most ? code[i] : most;
    return c <= 256 && (codes->shape[0] == 0 || most < c);
}

static PyObject *class_sums(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[5];
    Arrays arrays = {.n = 0};
    const char *complaint = NULL, *type;
    if (!PyArg_ParseTuple(args, "OOOOO", &given[0], &given[1], &given[2], &given[3], &given[4]) ||
        (type = float_type(given[0])) == NULL)
        return NULL;
    Py_buffer *B = take_array(&arrays, given[0], type, 2, 0);
    Py_buffer *codes = take_array(&arrays, given[1], "B", 1, 0);
    Py_buffer *weights = given[2] == Py_None ? NULL : take_array(&arrays, given[2], "d", 1, 0);
    Py_buffer *sums = take_array(&arrays, given[3], "d", 2, 1);
    Py_buffer *squares = take_array(&arrays, given[4], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = B->shape[0], n = B->shape[1];
    if (codes->shape[0] != N || (weights && weights->shape[0] != N) || sums->shape[1] != n ||
        squares->shape[0] != n || !are_classes(codes, sums->shape[0]))
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    complaint = work_on(B, codes, weights, sums, squares);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, complaint);
}

PyMethodDef look_methods[] = {
    {"class_sums", class_sums, METH_VARARGS,
     "class_sums(B, codes, weights, sums, squares): sums[codes[i]] += weights[i] * B[i] and\n"
     "squares += weights[i] * B[i]**2 in double; codes are of one byte, weights may be None."},
    {NULL, NULL, 0, NULL},
};
