/* Products of a table in compressed columns (CSC): data (stored,), rows (stored,), starts (n + 1,).
 * It is looked at once, whether rows are rows, and from then on goes by a capsule.
 *
 * Most such tables have short columns, of a few numbers: what costs time is to begin and to end a
 * column, not to multiply. Indices are int32.
 */
#include "native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THIN = 32 }; /* the most columns Z may have */

/* A table that was found to be sound, and the arrays it is in. */
typedef struct {
    const double *data;
    const int32_t *rows, *starts;
    Py_ssize_t N, n;
    Arrays arrays;
} Columns;

static const char *const CAPSULE = "orthoselect.sparse_table";

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

static void forget(PyObject *capsule)
{
    Columns *X = PyCapsule_GetPointer(capsule, CAPSULE);
    if (X == NULL) /* cannot be: only capsules of this kind end here */
        return;
    while (X->arrays.n > 0)
        PyBuffer_Release(&X->arrays.views[--X->arrays.n]);
    PyMem_Free(X);
}

/* Look at a table of N rows once, and hold it. */
static PyObject *table_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[3];
    Py_ssize_t N;
    if (!PyArg_ParseTuple(args, "nOOO", &N, &given[0], &given[1], &given[2]))
        return NULL;
    Columns *X = PyMem_Calloc(1, sizeof(Columns));
    if (X == NULL)
        return PyErr_NoMemory();
    Py_buffer *data = take_array(&X->arrays, given[0], "d", 1, 0);
    Py_buffer *rows = take_array(&X->arrays, given[1], "i", 1, 0);
    Py_buffer *starts = take_array(&X->arrays, given[2], "i", 1, 0);
    const char *complaint = NULL;
    if (!PyErr_Occurred()) {
        const Py_ssize_t stored = data->shape[0];
        X->data = data->buf;
        X->rows = rows->buf;
        X->starts = starts->buf;
        X->N = N;
        X->n = starts->shape[0] - 1;
        if (N < 0 || rows->shape[0] != stored || !grow(X->starts, X->n, stored) ||
            !are_rows(X->rows, stored, N))
            complaint = NO_FIT;
    }
    if (PyErr_Occurred() || complaint) {
        finish_call(&X->arrays, complaint);
        PyMem_Free(X);
        return NULL;
    }
    PyObject *capsule = PyCapsule_New(X, CAPSULE, forget);
    if (capsule == NULL) {
        finish_call(&X->arrays, NULL);
        PyMem_Free(X);
    }
    return capsule;
}

#define plus_scaled(sum, number, place) \
    PLUS(Four, sum, SCALED(Four, *(const Four *)(place), number))

/* out = Z'X: each column's numbers meet the rows of Z they stand in. Rows of Z are `quads` times four
 * long; four at a time. Eight columns at a time, so that rows of out are written in pieces. */
FOR_EACH_PROCESSOR
static void multiply(const double *Z, Py_ssize_t quads, Py_ssize_t b, const Columns *X, double *out,
                     Py_ssize_t out_step)
{
    Four sums[8];
    for (Py_ssize_t g = 0; g < quads; g++) {
        const Py_ssize_t depth = b - 4 * g < 4 ? b - 4 * g : 4;
        int32_t p = X->starts[0];
        for (Py_ssize_t j = 0; j < X->n; j += 8) {
            const Py_ssize_t width = X->n - j < 8 ? X->n - j : 8;
            for (Py_ssize_t i = 0; i < width; i++) {
                const int32_t end = X->starts[j + i + 1];
                Four even = {0}, odd = {0}; /* sums that do not wait for each other */
                for (; end - p >= 2; p += 2) {
                    even = plus_scaled(even, X->data[p], Z + 4 * (X->rows[p] * quads + g));
                    odd = plus_scaled(odd, X->data[p + 1], Z + 4 * (X->rows[p + 1] * quads + g));
                }
                if (p < end) {
                    even = plus_scaled(even, X->data[p], Z + 4 * (X->rows[p] * quads + g));
                    p++;
                }
                sums[i] = PLUS(Four, even, odd);
            }
            for (Py_ssize_t k = 0; k < depth; k++)
                for (Py_ssize_t i = 0; i < width; i++)
                    out[(4 * g + k) * out_step + j + i] = PART(sums[i], k);
        }
    }
}

/* Sums of squares of the columns of root * X. */
FOR_EACH_PROCESSOR
static void add_squares(const Columns *X, const double *root, double *squares)
{
    int32_t p = X->starts[0];
    for (Py_ssize_t j = 0; j < X->n; j++) {
        const int32_t end = X->starts[j + 1];
        double sum = 0.0;
        for (; p < end; p++) {
            const double x = root ? root[X->rows[p]] * X->data[p] : X->data[p];
            sum += x * x;
        }
        squares[j] = sum;
    }
}

static PyObject *cross_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[5];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOO", &given[0], &given[1], &given[2], &given[3], &given[4]))
        return NULL;
    const Columns *X = PyCapsule_GetPointer(given[0], CAPSULE);
    if (X == NULL)
        return NULL;
    Py_buffer *Z = take_array(&arrays, given[1], "d", 2, 0);
    Py_buffer *out = take_array(&arrays, given[2], "d", 2, 1);
    Py_buffer *root = given[3] == Py_None ? NULL : take_array(&arrays, given[3], "d", 1, 0);
    Py_buffer *squares = given[4] == Py_None ? NULL : take_array(&arrays, given[4], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = X->N, b = Z->shape[1], quads = (b + 3) / 4;
    if (Z->shape[0] != N || b > THIN || out->shape[0] != b || out->shape[1] != X->n ||
        (root && root->shape[0] != N) || (squares && squares->shape[0] != X->n))
        return finish_call(&arrays, NO_FIT);
    double *padded = calloc((size_t)(4 * N * quads + 1), sizeof(double));
    if (padded == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t i = 0; b > 0 && i < N; i++)
        memcpy(padded + 4 * i * quads, (const char *)Z->buf + i * Z->strides[0],
               (size_t)b * sizeof(double));
    multiply(padded, quads, b, X, out->buf, out->strides[0] / 8);
    if (squares)
        add_squares(X, root ? root->buf : NULL, squares->buf);
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
    const double *data = X->data;
    const int32_t *rows = X->rows;
    int32_t p = X->starts[0];
    for (Py_ssize_t j = 0; j < X->n; j++) {
        const int32_t end = X->starts[j + 1];
        if (end - p == 1) { /* often half of all columns */
            r[j] = data[p] * z[rows[p]];
            p++;
            continue;
        }
        double a = 0.0, b = 0.0, c = 0.0, d = 0.0; /* sums that do not wait for each other */
        for (; end - p >= 4; p += 4) {
            a += data[p] * z[rows[p]];
            b += data[p + 1] * z[rows[p + 1]];
            c += data[p + 2] * z[rows[p + 2]];
            d += data[p + 3] * z[rows[p + 3]];
        }
        for (; p < end; p++)
            a += data[p] * z[rows[p]];
        r[j] = (a + b) + (c + d);
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
        sums = PLUS(Four, sums, TIMES(Four, *(const Four *)(a + i), *(const Four *)(b + i)));
    for (; i < N; i++)
        sum += a[i] * b[i];
    return sum + PART(sums, 0) + PART(sums, 1) + PART(sums, 2) + PART(sums, 3);
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
    PyObject *given[7];
    Arrays arrays = {.n = 0};
    Py_ssize_t j, k;
    double norm = 0.0;
    if (!PyArg_ParseTuple(args, "OOOOnnOOO", &given[0], &given[1], &given[2], &given[3], &j, &k,
                          &given[4], &given[5], &given[6]))
        return NULL;
    const Columns *X = PyCapsule_GetPointer(given[0], CAPSULE);
    if (X == NULL)
        return NULL;
    Py_buffer *means = take_array(&arrays, given[1], "d", 1, 0);
    Py_buffer *factors = take_array(&arrays, given[2], "d", 1, 0);
    Py_buffer *root = given[3] == Py_None ? NULL : take_array(&arrays, given[3], "d", 1, 0);
    Py_buffer *Q = take_array(&arrays, given[4], "d", 2, 1);
    Py_buffer *h = take_array(&arrays, given[5], "d", 1, 1);
    Py_buffer *r = take_array(&arrays, given[6], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = X->N;
    if (Q->shape[1] != N || j < 0 || j >= X->n || k < 0 || k >= Q->shape[0] || h->shape[0] < k ||
        means->shape[0] != X->n || factors->shape[0] != X->n || r->shape[0] != X->n ||
        (root && root->shape[0] != N))
        return finish_call(&arrays, NO_FIT);
    double *z = malloc((size_t)N * sizeof(double) + 1);
    if (z == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    const Centering as = {means->buf, factors->buf, root ? root->buf : NULL};
    Py_BEGIN_ALLOW_THREADS;
    norm = make_direction(X, &as, j, Q->buf, Q->strides[0] / 8, k, h->buf);
    one_product(X, &as, (double *)Q->buf + k * (Q->strides[0] / 8), z, r->buf);
    Py_END_ALLOW_THREADS;
    free(z);
    return finish_with(&arrays, PyFloat_FromDouble(norm));
}

/* Count the numbers of each column of compressed rows, and tell the row of its last one; 0 if columns
 * do not rise within a row, or are none of n. */
static int count(const int32_t *columns, const int32_t *starts, Py_ssize_t N, Py_ssize_t n,
                 int32_t *counts, int32_t *last)
{
    memset(counts, 0, (size_t)n * sizeof(int32_t));
    for (int32_t i = 0; i < N; i++) {
        int32_t before = -1;
        for (int32_t p = starts[i]; p < starts[i + 1]; p++) {
            if (columns[p] <= before || columns[p] >= n)
                return 0;
            before = columns[p];
            counts[before]++;
            last[before] = i;
        }
    }
    return 1;
}

static PyObject *count_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[4];
    Arrays arrays = {.n = 0};
    int rising = 0;
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    Py_buffer *columns = take_array(&arrays, given[0], "i", 1, 0);
    Py_buffer *starts = take_array(&arrays, given[1], "i", 1, 0);
    Py_buffer *counts = take_array(&arrays, given[2], "i", 1, 1);
    Py_buffer *last = take_array(&arrays, given[3], "i", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = starts->shape[0] - 1;
    if (last->shape[0] != counts->shape[0] || N > INT32_MAX)
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    rising = grow(starts->buf, N, columns->shape[0]) &&
             count(columns->buf, starts->buf, N, counts->shape[0], counts->buf, last->buf);
    Py_END_ALLOW_THREADS;
    return finish_with(&arrays, PyBool_FromLong(rising));
}

enum { LONG = 256 }; /* among longer columns the order does not matter */

/* The columns that hold anything, in an order that suits loops over them. */
typedef struct {
    int64_t *columns;    /* the shortest first */
    int64_t *twins, *of; /* columns left out, and the place of the one each is a multiple of */
    Py_ssize_t filled, n_twins;
} Order;

/* Columns of one number each, in these rows: of those in the same row the first stands for all. */
static void order_singles(const int32_t *singles, Py_ssize_t n, const int32_t *row,
                          int32_t *first, Order *to)
{
    for (Py_ssize_t f = 0; f < n; f++) {
        const int32_t j = singles[f], place = first[row[j]];
        if (place >= 0) {
            to->twins[to->n_twins] = j;
            to->of[to->n_twins++] = place;
        } else {
            first[row[j]] = (int32_t)to->filled;
            to->columns[to->filled++] = j;
        }
    }
}

/* Columns of several numbers, by their length. */
static void order_others(const int32_t *others, Py_ssize_t n, const int32_t *counts, Order *to)
{
    Py_ssize_t next[LONG + 1] = {0};
    for (Py_ssize_t f = 0; f < n; f++)
        next[counts[others[f]] < LONG ? counts[others[f]] : LONG]++;
    for (int length = 0; length <= LONG; length++) {
        const Py_ssize_t many = next[length];
        next[length] = to->filled;
        to->filled += many;
    }
    for (Py_ssize_t f = 0; f < n; f++)
        to->columns[next[counts[others[f]] < LONG ? counts[others[f]] : LONG]++] = others[f];
}

/* `room` is for twice as many as there are columns; `first`, -1 for each row, NULL if twins are not
 * asked for. No branches in the first loop: nobody could foresee which columns are empty. */
static void order(const int32_t *counts, const int32_t *last, Py_ssize_t n, int32_t *room,
                  int32_t *first, Order *to)
{
    int32_t *singles = room, *others = room + n + 1;
    Py_ssize_t n_singles = 0, n_others = 0;
    for (Py_ssize_t j = 0; j < n; j++) {
        const int alone = first && counts[j] == 1;
        singles[n_singles] = others[n_others] = (int32_t)j;
        n_singles += alone;
        n_others += counts[j] > alone;
    }
    if (first)
        order_singles(singles, n_singles, last, first, to);
    order_others(others, n_others, counts, to);
}

static PyObject *order_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[5];
    Arrays arrays = {.n = 0};
    Py_ssize_t N;
    if (!PyArg_ParseTuple(args, "OOnOOO", &given[0], &given[1], &N, &given[2], &given[3],
                          &given[4]))
        return NULL;
    Py_buffer *counts = take_array(&arrays, given[0], "i", 1, 0);
    Py_buffer *last = given[1] == Py_None ? NULL : take_array(&arrays, given[1], "i", 1, 0);
    Py_buffer *columns = take_array(&arrays, given[2], "q", 1, 1);
    Py_buffer *twins = take_array(&arrays, given[3], "q", 1, 1);
    Py_buffer *of = take_array(&arrays, given[4], "q", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t n = counts->shape[0];
    int wrong = columns->shape[0] != n || (last && last->shape[0] != n) || N < 0 ||
                N > INT32_MAX || n > INT32_MAX || twins->shape[0] != of->shape[0] ||
                (last && of->shape[0] != n);
    for (Py_ssize_t j = 0; !wrong && j < n; j++) {
        const int32_t count = ((const int32_t *)counts->buf)[j];
        const int32_t row = last && count == 1 ? ((const int32_t *)last->buf)[j] : 0;
        wrong = count < 0 || row < 0 || (row >= N && count == 1);
    }
    if (wrong)
        return finish_call(&arrays, NO_FIT);
    int32_t *room = malloc((size_t)(2 * n + 2 + N) * sizeof(int32_t)), *first = NULL;
    if (room == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    if (last)
        first = memset(room + 2 * n + 2, 0xff, (size_t)N * sizeof(int32_t));
    Order to = {columns->buf, twins->buf, of->buf, 0, 0};
    order(counts->buf, last ? last->buf : NULL, n, room, first, &to);
    free(room);
    return finish_with(&arrays, Py_BuildValue("nn", to.filled, to.n_twins));
}

/* Where the numbers of each of n columns go: next[j] in data and rows, -1 if nowhere. */
typedef struct {
    int32_t *next;
    uint32_t n, room;
    double *data;
    int32_t *rows;
} Places;

/* Put numbers where their columns have room next. */
#define PUT(name, TYPE)                                                                            \
    static void name(const void *from, const int32_t *columns, const int32_t *starts,              \
                     Py_ssize_t N, const Places *to)                                               \
    {                                                                                              \
        const TYPE *restrict numbers = from;                                                       \
        int32_t *restrict next = to->next, *restrict rows = to->rows;                              \
        double *restrict data = to->data;                                                          \
        const uint32_t n = to->n, room = to->room;                                                 \
        for (int32_t i = 0; i < N; i++)                                                            \
            for (int32_t p = starts[i]; p < starts[i + 1]; p++) {                                  \
                const uint32_t j = (uint32_t)columns[p];                                           \
                const int32_t at = j < n ? next[j] : -1;                                           \
                if ((uint32_t)at >= room)                                                          \
                    continue;                                                                      \
                next[j] = at + 1;                                                                  \
                data[at] = (double)numbers[p];                                                     \
                rows[at] = i;                                                                      \
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
    void (*put)(const void *, const int32_t *, const int32_t *, Py_ssize_t, const Places *);
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

/* Make starts of columns J one after the other, and say where each of n columns goes; 0 if they do
 * not fit. */
static int lay_out(const int64_t *J, Py_ssize_t b, const int32_t *counts, Py_ssize_t n,
                   Py_ssize_t room, int32_t *starts, int32_t *next)
{
    Py_ssize_t total = 0;
    for (Py_ssize_t j = 0; j < n; j++)
        next[j] = -1;
    for (Py_ssize_t g = 0; g < b; g++) {
        if (J[g] < 0 || J[g] >= n || next[J[g]] >= 0 || counts[J[g]] < 0)
            return 0;
        next[J[g]] = starts[g] = (int32_t)total;
        total += counts[J[g]];
        if (total > room)
            return 0;
    }
    starts[b] = (int32_t)total;
    return total == room;
}

static PyObject *turn_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[8];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &given[6], &given[7]))
        return NULL;
    const int kind = take_numbers(&arrays, given[0]);
    const Py_buffer *numbers = &arrays.views[0];
    Py_buffer *columns = take_array(&arrays, given[1], "i", 1, 0);
    Py_buffer *from = take_array(&arrays, given[2], "i", 1, 0);
    Py_buffer *counts = take_array(&arrays, given[3], "i", 1, 0);
    Py_buffer *J = take_array(&arrays, given[4], "q", 1, 0);
    Py_buffer *data = take_array(&arrays, given[5], "d", 1, 1);
    Py_buffer *rows = take_array(&arrays, given[6], "i", 1, 1);
    Py_buffer *starts = take_array(&arrays, given[7], "i", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = from->shape[0] - 1, n = counts->shape[0], b = J->shape[0];
    const Py_ssize_t room = data->shape[0];
    if (columns->shape[0] != numbers->shape[0] || rows->shape[0] != room || N > INT32_MAX ||
        n > INT32_MAX || room > INT32_MAX || starts->shape[0] != b + 1 || !grow(from->buf, N, columns->shape[0]))
        return finish_call(&arrays, NO_FIT);
    int32_t *next = malloc((size_t)n * sizeof(int32_t) + 1);
    if (next == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    const int fits = lay_out(J->buf, b, counts->buf, n, room, starts->buf, next);
    const Places to = {next, (uint32_t)n, (uint32_t)room, data->buf, rows->buf};
    Py_BEGIN_ALLOW_THREADS;
    if (fits)
        kinds[kind].put(numbers->buf, columns->buf, from->buf, N, &to);
    Py_END_ALLOW_THREADS;
    free(next);
    return finish_call(&arrays, fits ? NULL : NO_FIT);
}

PyMethodDef sparse_methods[] = {
    {"sparse_table", table_py, METH_VARARGS,
     "sparse_table(N, data, rows, starts): a table X of N rows in compressed columns, found to be\n"
     "sound; it stays what it is as long as nobody writes to its arrays."},
    {"sparse_cross", cross_py, METH_VARARGS,
     "sparse_cross(X, Z, out, root, squares): out = Z'X; squares, unless None, the sums of squares\n"
     "of the columns of root * X."},
    {"sparse_direction", direction_py, METH_VARARGS,
     "sparse_direction(X, means, factors, root, j, k, Q, h, r): make row k of Q\n"
     "from column j of root * (X - means) * factors, orthonormal to the k before it, with h what\n"
     "they had of it; r = q'X for all columns. Returns the norm of what was left of the column."},
    {"sparse_count", count_py, METH_VARARGS,
     "sparse_count(columns, starts, counts, last): how many numbers each column of compressed rows\n"
     "has, and the row of its last one; False if starts leave the columns, or the columns of some\n"
     "row do not rise."},
    {"sparse_order", order_py, METH_VARARGS,
     "sparse_order(counts, last, N, columns, twins, of): the columns that hold anything, the\n"
     "shortest first. Unless last is None, of the columns with one number, in the same row, only\n"
     "the first is among them; the others are twins, of places in columns. Returns how many there\n"
     "are of either."},
    {"sparse_turn", turn_py, METH_VARARGS,
     "sparse_turn(numbers, columns, from, counts, J, data, rows, starts): compressed rows, their\n"
     "numbers of most types, to compressed columns J, whose counts are known."},
    {NULL, NULL, 0, NULL},
};
