/* Sums of the columns of a block class by class: all that a first look asks, in double.
 *
 * Rows of a response of classes are alike within a class, so that its products with a table follow
 * from these sums; they take one addition for each number, however many classes there are.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 128,  /* put into order at a time */
    PANEL = 512, /* columns of which so many rows stay in a near cache until they are needed */
    LINE = 64,   /* bytes */
    FEW = 2048,  /* sums that stay in the nearest cache four times */
};

/* Rows of a class, and where their sums belong. Those of a panel, (classes, step), begin with a line
 * of the cache, so that none of them, read and written four at a time, stands in two. */
typedef struct {
    const char *row[4];
    double weight[4];
    double *sums, *squares;
    Py_ssize_t spare; /* a place for the sums of four columns behind all others */
} Rows;

/* Four columns of some rows: how many is a constant, and so are `weighted` and `in_float`. */
INLINE void four_columns(const int rows, const int weighted, const int in_float, const Rows *of,
                         Py_ssize_t j, Py_ssize_t to)
{
    Four sum = {0}, square = {0};
    for (int i = 0; i < rows; i++) {
        const float *f = (const float *)of->row[i] + j;
        const Four x =
            in_float ? (Four){f[0], f[1], f[2], f[3]} : *(const Four *)((const double *)of->row[i] + j);
        const Four wx = x * (weighted ? of->weight[i] : 1.0);
        sum += wx;
        square += wx * x;
    }
    *(Four *)(of->sums + to) += sum;
    *(Four *)(of->squares + to) += square;
}

/* One column, in tables that have fewer than four. */
INLINE void one_column(int rows, const int in_float, const Rows *of, Py_ssize_t j)
{
    for (int i = 0; i < rows; i++) {
        const double x =
            in_float ? (double)((const float *)of->row[i])[j] : ((const double *)of->row[i])[j];
        of->sums[j] += of->weight[i] * x;
        of->squares[j] += of->weight[i] * x * x;
    }
}

/* Some rows of a panel. Where its width is no multiple of four, the sums of the last four columns
 * stand behind all others, and count only for those that come in no other four. */
INLINE void some_rows(const int rows, const int weighted, const int in_float, Rows of,
                      Py_ssize_t ahead, Py_ssize_t width, int is_narrow)
{
    const Py_ssize_t size = in_float ? 4 : 8, in_line = LINE / size;
    Py_ssize_t j = 0;
    for (; j + in_line <= width; j += in_line) {
        for (int i = 0; i < rows; i++)
            __builtin_prefetch(of.row[i] + ahead + j * size, 0, 2);
        for (int at = 0; at < in_line; at += 4)
            four_columns(rows, weighted, in_float, &of, j + at, j + at);
    }
    for (; j + 4 <= width; j += 4)
        four_columns(rows, weighted, in_float, &of, j, j);
    for (; is_narrow && j < width; j++)
        one_column(rows, in_float, &of, j);
    if (j < width)
        four_columns(rows, weighted, in_float, &of, width - 4, of.spare);
}

/* Put up to ROWS rows into the order of their classes; the first of class k is at starts[k]. */
static void sort_rows(const uint8_t *codes, int rows, int c, uint16_t *order, int *starts)
{
    int next[257] = {0};
    for (int i = 0; i < rows; i++)
        next[codes[i] + 1]++;
    for (int k = 0; k < c; k++)
        next[k + 1] += next[k];
    memcpy(starts, next, (size_t)(c + 1) * sizeof(int));
    for (int i = 0; i < rows; i++)
        order[next[codes[i]]++] = (uint16_t)i;
}

typedef struct {
    const char *B;
    Py_ssize_t step, N, n, c; /* step in bytes */
    int in_float;
    const uint8_t *codes;
    const double *weights; /* or NULL */
} Table;

/* Up to ROWS rows of a panel, class by class. */
INLINE void block(const int weighted, const int in_float, const Table *X, Py_ssize_t start,
                  Py_ssize_t first, Py_ssize_t width, double *own, Py_ssize_t own_step)
{
    const int rows = X->N - start < ROWS ? (int)(X->N - start) : ROWS;
    const char *B = X->B + start * X->step + first * (in_float ? 4 : 8);
    const Py_ssize_t ahead = start + 2 * ROWS <= X->N ? ROWS * X->step : 0;
    uint16_t order[ROWS];
    int starts[257];
    sort_rows(X->codes + start, rows, (int)X->c, order, starts);
    for (int k = 0; k < X->c; k++)
        for (int i = starts[k]; i < starts[k + 1]; i += 4) {
            const int left = starts[k + 1] - i;
            Rows of = {.sums = own + k * own_step, .squares = own + X->c * own_step,
                       .spare = own_step - 4};
            for (int at = 0; at < 4 && at < left; at++) {
                of.row[at] = B + order[i + at] * X->step;
                of.weight[at] = X->weights ? X->weights[start + order[i + at]] : 1.0;
            }
            if (left >= 4)
                some_rows(4, weighted, in_float, of, ahead, width, X->n < 4);
            else if (left == 3)
                some_rows(3, weighted, in_float, of, ahead, width, X->n < 4);
            else if (left == 2)
                some_rows(2, weighted, in_float, of, ahead, width, X->n < 4);
            else
                some_rows(1, weighted, in_float, of, ahead, width, X->n < 4);
        }
}

/* Four rows as they come, of short rows and few classes: each has sums of its own, for the sums of
 * a class are not to be read when they have just been written. */
INLINE void four_rows(const int weighted, const int in_float, const Table *X, Py_ssize_t start,
                      double *own, Py_ssize_t own_step)
{
    const Py_ssize_t size = in_float ? 4 : 8, n = X->n;
    const char *B = X->B + start * X->step;
    double *squares = own + 4 * X->c * own_step, *sums[4];
    for (int i = 0; i < 4; i++)
        sums[i] = own + (i * X->c + X->codes[start + i]) * own_step;
    for (Py_ssize_t j = 0, from, to; j < n; j += 4) {
        from = j + 4 <= n ? j : n - 4;
        to = j + 4 <= n ? j : own_step - 4;
        Four square = {0};
        for (int i = 0; i < 4; i++) {
            const char *at = B + i * X->step + from * size;
            const float *f = (const float *)at;
            const Four x = in_float ? (Four){f[0], f[1], f[2], f[3]} : *(const Four *)at;
            const Four wx = x * (weighted ? X->weights[start + i] : 1.0);
            square += wx * x;
            *(Four *)(sums[i] + to) += wx;
        }
        *(Four *)(squares + to) += square;
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
    for (Py_ssize_t j = 0; j < X->n; j += PANEL) {
        const Py_ssize_t width = X->n - j < PANEL ? X->n - j : PANEL;
        memset(own, 0, (size_t)((X->c + 1) * own_step) * sizeof(double));
        for (Py_ssize_t i = 0; i < X->N; i += ROWS) {
            if (X->in_float && X->weights)
                block(1, 1, X, i, j, width, own, own_step);
            else if (X->in_float)
                block(0, 1, X, i, j, width, own, own_step);
            else if (X->weights)
                block(1, 0, X, i, j, width, own, own_step);
            else
                block(0, 0, X, i, j, width, own, own_step);
        }
        for (Py_ssize_t k = 0; k < X->c; k++)
            put(own + k * own_step, own_step, width, X->n < 4, sums + k * sums_step + j);
        put(own + X->c * own_step, own_step, width, X->n < 4, squares + j);
    }
}

/* The same for few sums; returns how many rows were done, all but three at most. */
FOR_EACH_PROCESSOR
static Py_ssize_t add_few_class_sums(const Table *X, double *own, Py_ssize_t own_step, double *sums,
                                     Py_ssize_t sums_step, double *squares)
{
    Py_ssize_t i = 0;
    memset(own, 0, (size_t)((4 * X->c + 1) * own_step) * sizeof(double));
    for (; i + 4 <= X->N; i += 4) {
        if (X->in_float && X->weights)
            four_rows(1, 1, X, i, own, own_step);
        else if (X->in_float)
            four_rows(0, 1, X, i, own, own_step);
        else if (X->weights)
            four_rows(1, 0, X, i, own, own_step);
        else
            four_rows(0, 0, X, i, own, own_step);
    }
    for (Py_ssize_t k = 0; k < 4 * X->c; k++)
        put(own + k * own_step, own_step, X->n, 0, sums + k % X->c * sums_step);
    put(own + 4 * X->c * own_step, own_step, X->n, 0, squares);
    return i;
}

static const char *work_on(const Py_buffer *B, const Py_buffer *codes, const Py_buffer *weights,
                           const Py_buffer *sums, const Py_buffer *squares)
{
    Table X = {B->buf, B->strides[0], B->shape[0], B->shape[1], sums->shape[0],
                     B->itemsize == 4, codes->buf, weights ? weights->buf : NULL};
    const Py_ssize_t panel = X.n < PANEL ? X.n : PANEL;
    const Py_ssize_t step = (panel + 7) / 8 * 8 + 8; /* whole lines, four columns to spare */
    char *room = malloc((size_t)((4 * X.c + 1) * step) * sizeof(double) + LINE);
    if (room == NULL)
        return "out of memory";
    double *own = (double *)(room + (LINE - (uintptr_t)room % LINE) % LINE);
    if (X.n >= 4 && X.c * step <= FEW / 4) {
        const Py_ssize_t done =
            add_few_class_sums(&X, own, step, sums->buf, sums->strides[0] / 8, squares->buf);
        X.B += done * X.step;
        X.codes += done;
        X.weights = X.weights ? X.weights + done : NULL;
        X.N -= done;
    }
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
