/* Products of a table in compressed columns (CSC): data (stored,), rows (stored,), starts (n + 1,).
 *
 * Most such tables have short columns, of a few numbers: what costs time is to begin and to end a
 * column, not to multiply. Indices are int32.
 */
#include "native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THIN = 32 }; /* the most columns Z may have */

/* A table that was found to be sound. */
typedef struct {
    const double *data;
    const int32_t *rows, *starts;
    Py_ssize_t N, n;
} Columns;

/* Whether n starts and an end grow within the data. */
FOR_EACH_PROCESSOR
static int grow(const int32_t *starts, Py_ssize_t n, Py_ssize_t stored)
{
    int wrong = 0;
    if (n < 0 || starts[0] < 0 || starts[n] > stored)
        return 0;
    for (Py_ssize_t j = 0; j < n; j++)
        wrong |= starts[j] > starts[j + 1];
    return !wrong;
}

/* Whether rows are rows of N. */
FOR_EACH_PROCESSOR
static int are_rows(const int32_t *rows, Py_ssize_t stored, Py_ssize_t N)
{
    const uint32_t limit = N < INT32_MAX ? (uint32_t)N : INT32_MAX;
    int wrong = 0;
    for (Py_ssize_t p = 0; p < stored; p++)
        wrong |= (uint32_t)rows[p] >= limit;
    return !wrong;
}

/* Take the three arrays of a table of N rows; 0 if they do not fit each other. */
static int take_columns(Columns *X, Py_ssize_t N, const Py_buffer *data, const Py_buffer *rows,
                        const Py_buffer *starts)
{
    *X = (Columns){data->buf, rows->buf, starts->buf, N, starts->shape[0] - 1};
    const Py_ssize_t stored = data->shape[0];
    return rows->shape[0] == stored && grow(X->starts, X->n, stored) &&
           are_rows(X->rows, stored, N);
}

typedef double Four __attribute__((vector_size(32), aligned(1), may_alias));

/* out = Z'X: each column's numbers meet the rows of Z they stand in. Rows of Z are b_padded long, a
 * multiple of eight. Eight columns at a time, so that rows of out are written in pieces. */
FOR_EACH_PROCESSOR
static void multiply(const double *Z, Py_ssize_t b_padded, Py_ssize_t b, const Columns *X,
                     double *out, Py_ssize_t out_step)
{
    double sums[8 * 8];
    for (Py_ssize_t g = 0; g < b; g += 8)
        for (Py_ssize_t j = 0; j < X->n; j += 8) {
            const Py_ssize_t width = X->n - j < 8 ? X->n - j : 8, depth = b - g < 8 ? b - g : 8;
            for (Py_ssize_t i = 0; i < width; i++) {
                Four low = {0}, high = {0};
                for (int32_t p = X->starts[j + i]; p < X->starts[j + i + 1]; p++) {
                    const Four *z = (const Four *)(Z + X->rows[p] * b_padded + g);
                    low += X->data[p] * z[0];
                    high += X->data[p] * z[1];
                }
                ((Four *)sums)[2 * i] = low;
                ((Four *)sums)[2 * i + 1] = high;
            }
            for (Py_ssize_t k = 0; k < depth; k++)
                for (Py_ssize_t i = 0; i < width; i++)
                    out[(g + k) * out_step + j + i] = sums[8 * i + k];
        }
}

/* Sums of squares of the columns of root * X. */
FOR_EACH_PROCESSOR
static void add_squares(const Columns *X, const double *root, double *squares)
{
    for (Py_ssize_t j = 0; j < X->n; j++) {
        double sum = 0.0;
        for (int32_t p = X->starts[j]; p < X->starts[j + 1]; p++) {
            const double x = root ? root[X->rows[p]] * X->data[p] : X->data[p];
            sum += x * x;
        }
        squares[j] = sum;
    }
}

static PyObject *squares_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[5];
    Arrays arrays = {.n = 0};
    Columns X;
    Py_ssize_t N;
    if (!PyArg_ParseTuple(args, "OOOnOO", &given[0], &given[1], &given[2], &N, &given[3],
                          &given[4]))
        return NULL;
    Py_buffer *data = take_array(&arrays, given[0], "d", 1, 0);
    Py_buffer *rows = take_array(&arrays, given[1], "i", 1, 0);
    Py_buffer *starts = take_array(&arrays, given[2], "i", 1, 0);
    Py_buffer *root = given[3] == Py_None ? NULL : take_array(&arrays, given[3], "d", 1, 0);
    Py_buffer *squares = take_array(&arrays, given[4], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (!take_columns(&X, N, data, rows, starts) || squares->shape[0] != X.n ||
        (root && root->shape[0] != N))
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    add_squares(&X, root ? root->buf : NULL, squares->buf);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

static PyObject *cross_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[5];
    Arrays arrays = {.n = 0};
    Columns X;
    if (!PyArg_ParseTuple(args, "OOOOO", &given[0], &given[1], &given[2], &given[3], &given[4]))
        return NULL;
    Py_buffer *Z = take_array(&arrays, given[0], "d", 2, 0);
    Py_buffer *data = take_array(&arrays, given[1], "d", 1, 0);
    Py_buffer *rows = take_array(&arrays, given[2], "i", 1, 0);
    Py_buffer *starts = take_array(&arrays, given[3], "i", 1, 0);
    Py_buffer *out = take_array(&arrays, given[4], "d", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = Z->shape[0], b = Z->shape[1];
    if (!take_columns(&X, N, data, rows, starts) || b > THIN || out->shape[0] != b ||
        out->shape[1] != X.n)
        return finish_call(&arrays, NO_FIT);
    const Py_ssize_t b_padded = (b + 7) / 8 * 8;
    double *padded = calloc((size_t)(N * b_padded + 1), sizeof(double));
    if (padded == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t i = 0; i < N; i++)
        memcpy(padded + i * b_padded, (const char *)Z->buf + i * Z->strides[0],
               (size_t)b * sizeof(double));
    multiply(padded, b_padded, b, &X, out->buf, out->strides[0] / 8);
    Py_END_ALLOW_THREADS;
    free(padded);
    return finish_call(&arrays, NULL);
}

/* How columns are presented: root * (X - means) * factors. A factor of zero leaves a column out,
 * whatever it holds; root may be NULL. */
typedef struct {
    const double *means, *factors, *root;
} Centering;

/* r = q'X, for q of N rows; z is room for as many. */
FOR_EACH_PROCESSOR
static void one_product(const Columns *X, const Centering *as, const double *q, double *z, double *r)
{
    double sum = 0.0;
    for (Py_ssize_t i = 0; i < X->N; i++)
        sum += z[i] = as->root ? as->root[i] * q[i] : q[i];
    int32_t p = X->starts[0];
    for (Py_ssize_t j = 0; j < X->n; j++) {
        const int32_t end = X->starts[j + 1];
        double product = 0.0;
        for (; p < end; p++)
            product += X->data[p] * z[X->rows[p]];
        r[j] = product;
    }
    for (Py_ssize_t j = 0; j < X->n; j++)
        r[j] = as->factors[j] != 0.0 ? (r[j] - sum * as->means[j]) * as->factors[j] : 0.0;
}

static void write_column(const Columns *X, const Centering *as, Py_ssize_t j, double *x)
{
    const double offset = -as->means[j] * as->factors[j];
    for (Py_ssize_t i = 0; i < X->N; i++)
        x[i] = offset;
    for (int32_t p = X->starts[j]; p < X->starts[j + 1]; p++)
        x[X->rows[p]] = (X->data[p] - as->means[j]) * as->factors[j];
    for (Py_ssize_t i = 0; as->root && i < X->N; i++)
        x[i] *= as->root[i];
}

FOR_EACH_PROCESSOR
static double inner(const double *a, const double *b, Py_ssize_t N)
{
    Four sums = {0};
    double sum = 0.0;
    Py_ssize_t i = 0;
    for (; i + 4 <= N; i += 4)
        sums += *(const Four *)(a + i) * *(const Four *)(b + i);
    for (; i < N; i++)
        sum += a[i] * b[i];
    return sum + sums[0] + sums[1] + sums[2] + sums[3];
}

/* Take the k rows of Q out of x; add what they had of it to h. */
FOR_EACH_PROCESSOR
static void orthogonalize(double *x, const double *Q, Py_ssize_t Q_step, Py_ssize_t k,
                          Py_ssize_t N, double *h)
{
    for (Py_ssize_t s = 0; s < k; s++) {
        const double *q = Q + s * Q_step, along = inner(q, x, N);
        for (Py_ssize_t i = 0; i < N; i++)
            x[i] -= along * q[i];
        h[s] += along;
    }
}

/* Make row k of Q from column j; return the norm of what was left of it. */
static double make_direction(const Columns *X, const Centering *as, Py_ssize_t j, double *Q,
                             Py_ssize_t Q_step, Py_ssize_t k, double *h)
{
    double *q = Q + k * Q_step;
    memset(h, 0, (size_t)k * sizeof(double));
    write_column(X, as, j, q);
    const double before = inner(q, q, X->N);
    orthogonalize(q, Q, Q_step, k, X->N, h);
    double left = inner(q, q, X->N);
    if (k > 0 && left < 0.1 * before) { /* digits were lost: once more */
        orthogonalize(q, Q, Q_step, k, X->N, h);
        left = inner(q, q, X->N);
    }
    const double norm = sqrt(left);
    for (Py_ssize_t i = 0; norm > 0.0 && i < X->N; i++)
        q[i] /= norm;
    return norm;
}

static PyObject *direction_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[9];
    Arrays arrays = {.n = 0};
    Columns X;
    Py_ssize_t j, k;
    double norm = 0.0;
    if (!PyArg_ParseTuple(args, "OOOOOOnnOOO", &given[0], &given[1], &given[2], &given[3],
                          &given[4], &given[5], &j, &k, &given[6], &given[7], &given[8]))
        return NULL;
    Py_buffer *data = take_array(&arrays, given[0], "d", 1, 0);
    Py_buffer *rows = take_array(&arrays, given[1], "i", 1, 0);
    Py_buffer *starts = take_array(&arrays, given[2], "i", 1, 0);
    Py_buffer *means = take_array(&arrays, given[3], "d", 1, 0);
    Py_buffer *factors = take_array(&arrays, given[4], "d", 1, 0);
    Py_buffer *root = given[5] == Py_None ? NULL : take_array(&arrays, given[5], "d", 1, 0);
    Py_buffer *Q = take_array(&arrays, given[6], "d", 2, 1);
    Py_buffer *h = take_array(&arrays, given[7], "d", 1, 1);
    Py_buffer *r = take_array(&arrays, given[8], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = Q->shape[1];
    if (!take_columns(&X, N, data, rows, starts) || j < 0 || j >= X.n || k < 0 ||
        k >= Q->shape[0] || h->shape[0] < k || means->shape[0] != X.n ||
        factors->shape[0] != X.n || r->shape[0] != X.n || (root && root->shape[0] != N))
        return finish_call(&arrays, NO_FIT);
    double *z = malloc((size_t)N * sizeof(double) + 1);
    if (z == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    const Centering as = {means->buf, factors->buf, root ? root->buf : NULL};
    Py_BEGIN_ALLOW_THREADS;
    norm = make_direction(&X, &as, j, Q->buf, Q->strides[0] / 8, k, h->buf);
    one_product(&X, &as, (double *)Q->buf + k * (Q->strides[0] / 8), z, r->buf);
    Py_END_ALLOW_THREADS;
    free(z);
    PyObject *done = finish_call(&arrays, NULL);
    if (done == NULL)
        return NULL;
    Py_DECREF(done);
    return PyFloat_FromDouble(norm);
}

/* Count the numbers of each column; ends[j + 1] is then where column j starts, and ends[0] zero.
 * Return 0 if columns do not rise within a row, or are none. */
static int count(const int32_t *columns, const int32_t *starts, Py_ssize_t N, Py_ssize_t n,
                 int32_t *ends)
{
    memset(ends, 0, (size_t)(n + 1) * sizeof(int32_t));
    for (Py_ssize_t i = 0; i < N; i++) {
        int32_t before = -1;
        for (int32_t p = starts[i]; p < starts[i + 1]; p++) {
            if (columns[p] <= before || columns[p] >= n)
                return 0;
            before = columns[p];
            ends[before + 1]++;
        }
    }
    int32_t total = 0;
    for (Py_ssize_t j = 0; j < n; j++) {
        const int32_t count = ends[j + 1];
        ends[j + 1] = total;
        total += count;
    }
    return 1;
}

/* Put numbers where their columns have room next, so that ends[j + 1] becomes the end of column j. */
#define PUT(name, TYPE)                                                                            \
    static void name(const void *from, const int32_t *columns, const int32_t *starts,              \
                     Py_ssize_t N, double *data, int32_t *rows, int32_t *ends)                     \
    {                                                                                              \
        const TYPE *numbers = from;                                                                \
        for (int32_t i = 0; i < N; i++)                                                            \
            for (int32_t p = starts[i]; p < starts[i + 1]; p++) {                                  \
                const int32_t to = ends[columns[p] + 1]++;                                         \
                data[to] = (double)numbers[p];                                                     \
                rows[to] = i;                                                                      \
            }                                                                                      \
    }

PUT(put_bytes, int8_t)
PUT(put_truths, uint8_t)
PUT(put_shorts, int16_t)
PUT(put_ints, int32_t)
PUT(put_longs, int64_t)
PUT(put_floats, float)
PUT(put_doubles, double)

static const struct {
    const char *format;
    void (*put)(const void *, const int32_t *, const int32_t *, Py_ssize_t, double *, int32_t *,
                int32_t *);
} kinds[] = {{"d", put_doubles}, {"f", put_floats}, {"b", put_bytes}, {"B", put_truths},
             {"?", put_truths},  {"h", put_shorts}, {"i", put_ints},  {"q", put_longs}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Take numbers of any of the kinds; -1, with an error set, if they are of none. */
static int take_numbers(Arrays *arrays, PyObject *object)
{
    for (int kind = 0; kind < KINDS && !PyErr_Occurred(); kind++) {
        if (take_array(arrays, object, kinds[kind].format, 1, 0) != NULL)
            return kind;
        if (kind + 1 < KINDS && PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Clear();
    }
    return -1;
}

static PyObject *turn_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[6];
    Arrays arrays = {.n = 0};
    int rising = 0;
    if (!PyArg_ParseTuple(args, "OOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5]))
        return NULL;
    const int kind = take_numbers(&arrays, given[0]);
    const Py_buffer *numbers = &arrays.views[0];
    Py_buffer *columns = take_array(&arrays, given[1], "i", 1, 0);
    Py_buffer *starts = take_array(&arrays, given[2], "i", 1, 0);
    Py_buffer *data = take_array(&arrays, given[3], "d", 1, 1);
    Py_buffer *rows = take_array(&arrays, given[4], "i", 1, 1);
    Py_buffer *ends = take_array(&arrays, given[5], "i", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = starts->shape[0] - 1, n = ends->shape[0] - 1, stored = numbers->shape[0];
    if (n < 0 || columns->shape[0] != stored || data->shape[0] != stored ||
        rows->shape[0] != stored || !grow(starts->buf, N, stored))
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    rising = count(columns->buf, starts->buf, N, n, ends->buf);
    if (rising)
        kinds[kind].put(numbers->buf, columns->buf, starts->buf, N, data->buf, rows->buf,
                        ends->buf);
    Py_END_ALLOW_THREADS;
    PyObject *done = finish_call(&arrays, NULL);
    if (done == NULL)
        return NULL;
    Py_DECREF(done);
    return PyBool_FromLong(rising);
}

PyMethodDef sparse_methods[] = {
    {"sparse_cross", cross_py, METH_VARARGS,
     "sparse_cross(Z, data, rows, starts, out): out = Z'X for X in compressed columns."},
    {"sparse_squares", squares_py, METH_VARARGS,
     "sparse_squares(data, rows, starts, N, root, squares): sums of squares of the columns of\n"
     "root * X; root may be None."},
    {"sparse_direction", direction_py, METH_VARARGS,
     "sparse_direction(data, rows, starts, means, factors, root, j, k, Q, h, r): make row k of Q\n"
     "from column j of root * (X - means) * factors, orthonormal to the k before it, with h what\n"
     "they had of it; r = q'X for all columns. Returns the norm of what was left of the column."},
    {"sparse_turn", turn_py, METH_VARARGS,
     "sparse_turn(numbers, columns, starts, data, rows, ends): compressed rows, their numbers of\n"
     "most types, to compressed columns; False if the columns of some row do not rise."},
    {NULL, NULL, 0, NULL},
};
