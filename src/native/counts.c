/* Counting the levels of features together with those of one of them and the class.
 *
 * A step of a selection wants, for each feature k and one feature j, two sums over tables of counts:
 * XJ over the levels of k and j, XJY over these and the classes, of T[count], T a table of whole
 * numbers. A table lives only until it is summed. Sums of whole numbers are the same in any order.
 *
 * Codes and rows are checked before they are used as places in memory.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 512,  /* rows whose places in a table are worked out at a time */
    COPIES = 4,   /* of a small table, so that an increment need not wait for the one before */
    ROOM = 1 << 18, /* cells of a table of a sparse feature; larger ones are sorted instead */
};

typedef struct {
    const int64_t *of;
    int64_t size;
} Logs;

/* T[count], or 0 and a complaint where there is no such count. */
__attribute__((always_inline)) static inline int64_t look(Logs T, int64_t count, int *bad)
{
    if ((uint64_t)count >= (uint64_t)T.size) {
        *bad = 1;
        return 0;
    }
    return T.of[count];
}

__attribute__((always_inline)) static inline int64_t common_ones(const uint64_t *a,
                                                                 const uint64_t *b, int64_t words)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < words; i++)
        sum += __builtin_popcountll(a[i] & b[i]);
    return sum;
}

/* Features as planes of bits: plane first[k] + a - 1 tells the rows where feature k has level a.
 * Level 0 has no plane; what the others leave of the margins (first[k] + k + a, y) is its. */
typedef struct {
    const uint64_t *planes;
    int64_t words;
    const int64_t *first;
    const int64_t *segments; /* of words: class y has those from segments[y] to segments[y + 1] */
    int64_t c;
    const int64_t *margins;
} Planes;

FOR_EACH_PROCESSOR
static int packed(Planes P, int64_t j, int64_t start, int64_t stop, Logs T, int64_t *scratch,
                  int64_t *XJ, int64_t *XJY)
{
    int bad = 0;
    const int64_t c = P.c, Lj = P.first[j + 1] - P.first[j] + 1;
    const uint64_t *planes_j = P.planes + P.first[j] * P.words;
    const int64_t *margins_j = P.margins + (P.first[j] + j) * c;
    int64_t *rest = scratch, *table = scratch + Lj; /* (Lj,) and (Lk, Lj) */
    for (int64_t k = start; k < stop; k++) {
        const int64_t Lk = P.first[k + 1] - P.first[k] + 1;
        const uint64_t *planes_k = P.planes + P.first[k] * P.words;
        const int64_t *margins_k = P.margins + (P.first[k] + k) * c;
        int64_t sum = 0;
        memset(table, 0, Lk * Lj * sizeof *table);
        for (int64_t y = 0; y < c; y++) {
            const int64_t from = P.segments[y], words = P.segments[y + 1] - from;
            for (int64_t b = 0; b < Lj; b++)
                rest[b] = margins_j[b * c + y];
            for (int64_t a = 1; a < Lk; a++) {
                const uint64_t *plane = planes_k + (a - 1) * P.words + from;
                int64_t left = margins_k[a * c + y];
                for (int64_t b = 1; b < Lj; b++) {
                    const int64_t count =
                        common_ones(plane, planes_j + (b - 1) * P.words + from, words);
                    left -= count;
                    rest[b] -= count;
                    table[a * Lj + b] += count;
                    sum += look(T, count, &bad);
                }
                rest[0] -= left;
                table[a * Lj] += left;
                sum += look(T, left, &bad);
            }
            for (int64_t b = 0; b < Lj; b++) {
                table[b] += rest[b];
                sum += look(T, rest[b], &bad);
            }
        }
        XJY[k] = sum;
        sum = 0;
        for (int64_t cell = 0; cell < Lk * Lj; cell++)
            sum += look(T, table[cell], &bad);
        XJ[k] = sum;
    }
    return bad;
}

/* Ones of each plane in each segment. */
FOR_EACH_PROCESSOR
static void ones(const uint64_t *planes, int64_t n_planes, int64_t words, const int64_t *segments,
                 int64_t c, int64_t *out)
{
    for (int64_t p = 0; p < n_planes; p++, planes += words)
        for (int64_t y = 0; y < c; y++) {
            const uint64_t *from = planes + segments[y];
            *out++ = common_ones(from, from, segments[y + 1] - segments[y]);
        }
}

/* The planes of a few features; rows[i] is the row that bit i tells of, or negative for none. */
FOR_EACH_PROCESSOR
static void pack(const uint8_t *x, int64_t step, int64_t m, const int64_t *rows, int64_t words,
                 const int64_t *levels, uint8_t *sorted, uint64_t *planes)
{
    for (int64_t k = 0; k < m; k++, x += step) {
        for (int64_t i = 0; i < 64 * words; i++)
            sorted[i] = rows[i] < 0 ? 0 : x[rows[i]];
        for (int64_t level = 1; level < levels[k]; level++, planes += words) {
            for (int64_t w = 0; w < words; w++) {
                uint64_t word = 0;
                uint8_t is[64];
                for (int i = 0; i < 64; i++)
                    is[i] = sorted[64 * w + i] == level;
                for (int byte = 0; byte < 8; byte++) {
                    /* Eight bytes of 0 or 1 to eight bits, the first the lowest. */
                    uint64_t eight = 0;
                    for (int i = 0; i < 8; i++)
                        eight |= (uint64_t)is[8 * byte + i] << (8 * i);
                    word |= ((eight * 0x0102040810204080u) >> 56) << (8 * byte);
                }
                planes[w] = word;
            }
        }
    }
}

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* What every row has in feature j and the class: b of Lj levels, z = b * c + class of Z values, and
 * how many rows have each; T summed over these is what a feature without filled cells gets. */
typedef struct {
    const int32_t *z, *b;
    int64_t N, Z, Lj;
    const int64_t *with_z, *with_b;
} Rows;

/* T summed over the table of one sparse feature (level - 1, place), given its keys
 * place << 32 | level: the counts of equal keys, and the rows of each place that are left over. */
static int64_t sum_sorted(uint64_t *keys, int64_t n_keys, const int64_t *with_place, Logs T,
                          int *bad)
{
    int64_t sum = 0;
    qsort(keys, n_keys, sizeof *keys, by_value);
    for (int64_t i = 0; i < n_keys;) {
        const uint64_t place = keys[i] >> 32;
        const int64_t first = i;
        while (i < n_keys && keys[i] >> 32 == place) {
            const int64_t run = i;
            while (i < n_keys && keys[i] == keys[run])
                i++;
            sum += look(T, i - run, bad);
        }
        const int64_t all = with_place[place];
        sum += look(T, all - (i - first), bad) - look(T, all, bad);
    }
    return sum;
}

#define CODE uint8_t
#define NAME(x) x##_8
#include "counts.inc"
#undef NAME
#undef CODE

#define CODE uint16_t
#define NAME(x) x##_16
#include "counts.inc"
#undef NAME
#undef CODE

#define CODE uint32_t
#define NAME(x) x##_32
#include "counts.inc"
#undef NAME
#undef CODE

#define FOR_CODES(size, function, ...)                                                             \
    ((size) == 1   ? function##_8(__VA_ARGS__)                                                     \
     : (size) == 2 ? function##_16(__VA_ARGS__)                                                    \
                   : function##_32(__VA_ARGS__))

/* Arrays of one call, released together. */
enum { MOST = 16 };
typedef struct {
    Py_buffer views[MOST];
    int n;
} Arrays;

static Py_buffer *take(Arrays *arrays, PyObject *object, const char *format, int ndim, int writable)
{
    Py_buffer *view = &arrays->views[arrays->n];
    if (PyErr_Occurred() || get_array(object, view, format, ndim, writable) < 0)
        return NULL;
    arrays->n++;
    return view;
}

/* Codes of one, two or four bytes. NumPy may call four bytes "I" or "L". */
static Py_buffer *take_codes(Arrays *arrays, PyObject *object, int ndim)
{
    Py_buffer probe;
    if (PyErr_Occurred() || PyObject_GetBuffer(object, &probe, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return NULL;
    const char *formats[] = {"B", "H", "I", "L"};
    const char *format = probe.itemsize == 1 ? formats[0] : probe.itemsize == 2 ? formats[1] : NULL;
    if (format == NULL)
        format = probe.itemsize == 4 && probe.format && probe.format[0] == 'L' ? formats[3]
                                                                               : formats[2];
    PyBuffer_Release(&probe);
    return take(arrays, object, format, ndim, 0);
}

/* Whole numbers of four bytes, which NumPy may call "i" or "l". */
static Py_buffer *take_int32(Arrays *arrays, PyObject *object)
{
    Py_buffer probe;
    if (PyErr_Occurred() || PyObject_GetBuffer(object, &probe, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return NULL;
    const int is_long = probe.itemsize == 4 && probe.format && probe.format[0] == 'l';
    PyBuffer_Release(&probe);
    return take(arrays, object, is_long ? "l" : "i", 1, 0);
}

static PyObject *finish(Arrays *arrays, const char *complaint)
{
    while (arrays->n > 0)
        PyBuffer_Release(&arrays->views[--arrays->n]);
    if (PyErr_Occurred())
        return NULL;
    if (complaint != NULL) {
        PyErr_SetString(PyExc_ValueError, complaint);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Whether these are steps from 0 up to `end`. */
static int are_steps(const Py_buffer *steps, int64_t end)
{
    const int64_t *at = steps->buf;
    const Py_ssize_t n = steps->shape[0];
    if (n < 1 || at[0] != 0 || at[n - 1] != end)
        return 0;
    for (Py_ssize_t i = 1; i < n; i++)
        if (at[i] < at[i - 1])
            return 0;
    return 1;
}

static int64_t largest(const Py_buffer *numbers)
{
    const int64_t *at = numbers->buf;
    int64_t most = 1;
    for (Py_ssize_t i = 0; i < numbers->shape[0]; i++)
        most = at[i] > most ? at[i] : most;
    return most;
}

/* Whether every number of four bytes is from 0 to below `end`. */
static int are_below(const Py_buffer *numbers, int64_t end)
{
    const int32_t *at = numbers->buf;
    int64_t least = 0, most = -1;
    for (Py_ssize_t i = 0; i < numbers->shape[0]; i++) {
        least = at[i] < least ? at[i] : least;
        most = at[i] > most ? at[i] : most;
    }
    return least >= 0 && most < end;
}

static int is_whole_2d(const Py_buffer *view)
{
    return view->shape[0] <= 1 || view->strides[0] == view->shape[1] * view->itemsize;
}

static Logs logs_of(const Py_buffer *table)
{
    return (Logs){table->buf, table->shape[0]};
}

static PyObject *count_packed(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[7];
    Py_ssize_t j, start, stop;
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOnnnOOO", &given[0], &given[1], &given[2], &given[3], &j,
                          &start, &stop, &given[4], &given[5], &given[6]))
        return NULL;
    Py_buffer *planes = take(&arrays, given[0], "Q", 2, 0);
    Py_buffer *first = take(&arrays, given[1], "q", 1, 0);
    Py_buffer *segments = take(&arrays, given[2], "q", 1, 0);
    Py_buffer *margins = take(&arrays, given[3], "q", 2, 0);
    Py_buffer *table = take(&arrays, given[4], "q", 1, 0);
    Py_buffer *XJ = take(&arrays, given[5], "q", 1, 1);
    Py_buffer *XJY = take(&arrays, given[6], "q", 1, 1);
    if (PyErr_Occurred())
        return finish(&arrays, NULL);
    const Py_ssize_t n = first->shape[0] - 1, c = segments->shape[0] - 1;
    if (!are_steps(first, planes->shape[0]) || !are_steps(segments, planes->shape[1]) ||
        margins->shape[0] != planes->shape[0] + n || margins->shape[1] != c ||
        !is_whole_2d(planes) || !is_whole_2d(margins) || XJ->shape[0] != n ||
        XJY->shape[0] != n || j < 0 || j >= n || start < 0 || stop > n)
        return finish(&arrays, "planes, first, segments, margins or sums do not fit each other");
    const int64_t *at = first->buf;
    int64_t most = 1;
    for (Py_ssize_t k = start; k < stop; k++)
        most = at[k + 1] - at[k] + 1 > most ? at[k + 1] - at[k] + 1 : most;
    const int64_t Lj = at[j + 1] - at[j] + 1;
    int64_t *scratch = malloc((Lj + Lj * most) * sizeof *scratch);
    if (scratch == NULL) {
        PyErr_NoMemory();
        return finish(&arrays, NULL);
    }
    const Planes P = {planes->buf, planes->shape[1], at, segments->buf, c, margins->buf};
    int bad;
    Py_BEGIN_ALLOW_THREADS;
    bad = packed(P, j, start, stop, logs_of(table), scratch, XJ->buf, XJY->buf);
    Py_END_ALLOW_THREADS;
    free(scratch);
    return finish(&arrays, bad ? "margins are not those of the planes, or T is too short" : NULL);
}

static PyObject *count_ones(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[3];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOO", &given[0], &given[1], &given[2]))
        return NULL;
    Py_buffer *planes = take(&arrays, given[0], "Q", 2, 0);
    Py_buffer *segments = take(&arrays, given[1], "q", 1, 0);
    Py_buffer *out = take(&arrays, given[2], "q", 2, 1);
    if (PyErr_Occurred())
        return finish(&arrays, NULL);
    const Py_ssize_t c = segments->shape[0] - 1;
    if (!are_steps(segments, planes->shape[1]) || !is_whole_2d(planes) || !is_whole_2d(out) ||
        out->shape[0] != planes->shape[0] || out->shape[1] != c)
        return finish(&arrays, "planes, segments and out do not fit each other");
    Py_BEGIN_ALLOW_THREADS;
    ones(planes->buf, planes->shape[0], planes->shape[1], segments->buf, c, out->buf);
    Py_END_ALLOW_THREADS;
    return finish(&arrays, NULL);
}

static PyObject *pack_planes(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[4];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    Py_buffer *values = take(&arrays, given[0], "B", 2, 0);
    Py_buffer *rows = take(&arrays, given[1], "q", 1, 0);
    Py_buffer *levels = take(&arrays, given[2], "q", 1, 0);
    Py_buffer *planes = take(&arrays, given[3], "Q", 2, 1);
    if (PyErr_Occurred())
        return finish(&arrays, NULL);
    const int64_t words = planes->shape[1];
    const int64_t *at = rows->buf, *of = levels->buf;
    int64_t n_planes = 0;
    int fits = rows->shape[0] == 64 * words && levels->shape[0] == values->shape[0] &&
               is_whole_2d(planes);
    for (Py_ssize_t i = 0; fits && i < rows->shape[0]; i++)
        fits = at[i] < values->shape[1];
    for (Py_ssize_t k = 0; fits && k < levels->shape[0]; k++)
        n_planes += of[k] > 1 ? of[k] - 1 : 0;
    if (!fits || n_planes != planes->shape[0])
        return finish(&arrays, "values, rows, levels and planes do not fit each other");
    uint8_t *sorted = malloc(64 * words + 1);
    if (sorted == NULL) {
        PyErr_NoMemory();
        return finish(&arrays, NULL);
    }
    Py_BEGIN_ALLOW_THREADS;
    pack(values->buf, values->strides[0], values->shape[0], at, words, of, sorted, planes->buf);
    Py_END_ALLOW_THREADS;
    free(sorted);
    return finish(&arrays, NULL);
}

static PyObject *count_codes(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[6];
    Py_ssize_t Lj, c;
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOnnOOO", &given[0], &given[1], &given[2], &Lj, &c, &given[3],
                          &given[4], &given[5]))
        return NULL;
    Py_buffer *values = take_codes(&arrays, given[0], 2);
    Py_buffer *levels = take(&arrays, given[1], "q", 1, 0);
    Py_buffer *z = take_int32(&arrays, given[2]);
    Py_buffer *table = take(&arrays, given[3], "q", 1, 0);
    Py_buffer *XJ = take(&arrays, given[4], "q", 1, 1);
    Py_buffer *XJY = take(&arrays, given[5], "q", 1, 1);
    if (PyErr_Occurred())
        return finish(&arrays, NULL);
    const int64_t m = values->shape[0], N = values->shape[1];
    if (levels->shape[0] != m || z->shape[0] != N || XJ->shape[0] != m || XJY->shape[0] != m ||
        table->shape[0] <= N || N > INT32_MAX)
        return finish(&arrays, "values, levels, z, T and sums do not fit each other");
    const int64_t most = largest(levels);
    if (Lj < 1 || c < 1 || Lj > INT32_MAX / c || most > INT32_MAX / COPIES / (Lj * c) ||
        !are_below(z, Lj * c))
        return finish(&arrays, "z should be below Lj * c, and tables below 2**29 cells");
    int32_t *cells = malloc(COPIES * most * Lj * c * sizeof *cells);
    if (cells == NULL) {
        PyErr_NoMemory();
        return finish(&arrays, NULL);
    }
    int bad;
    Py_BEGIN_ALLOW_THREADS;
    bad = FOR_CODES(values->itemsize, counted, values->buf, values->strides[0] / values->itemsize,
                    m, N, levels->buf, z->buf, Lj, c, logs_of(table), cells, XJ->buf, XJY->buf);
    Py_END_ALLOW_THREADS;
    free(cells);
    return finish(&arrays, bad ? "codes should be below the number of levels" : NULL);
}

static PyObject *count_grouped(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[8];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &given[6], &given[7]))
        return NULL;
    Py_buffer *values = take_codes(&arrays, given[0], 2);
    Py_buffer *levels = take(&arrays, given[1], "q", 1, 0);
    Py_buffer *order = take(&arrays, given[2], "q", 1, 0);
    Py_buffer *ends_b = take(&arrays, given[3], "q", 1, 0);
    Py_buffer *ends_z = take(&arrays, given[4], "q", 1, 0);
    Py_buffer *table = take(&arrays, given[5], "q", 1, 0);
    Py_buffer *XJ = take(&arrays, given[6], "q", 1, 1);
    Py_buffer *XJY = take(&arrays, given[7], "q", 1, 1);
    if (PyErr_Occurred())
        return finish(&arrays, NULL);
    const int64_t m = values->shape[0], N = values->shape[1];
    const int64_t *at = order->buf;
    int fits = levels->shape[0] == m && order->shape[0] == N && XJ->shape[0] == m &&
               XJY->shape[0] == m && table->shape[0] > N && N <= INT32_MAX &&
               are_steps(ends_b, N) && are_steps(ends_z, N);
    for (int64_t i = 0; fits && i < N; i++)
        fits = at[i] >= 0 && at[i] < N;
    if (!fits)
        return finish(&arrays, "values, levels, order, ends, T and sums do not fit each other");
    const int64_t most = largest(levels);
    void *sorted = malloc(N * values->itemsize + 1);
    int32_t *counts = calloc(most, sizeof *counts);
    int bad = 0;
    if (sorted == NULL || counts == NULL) {
        PyErr_NoMemory();
    } else {
        Py_BEGIN_ALLOW_THREADS;
        bad = FOR_CODES(values->itemsize, grouped, values->buf,
                        values->strides[0] / values->itemsize, m, N, levels->buf, at, ends_b->buf,
                        ends_b->shape[0] - 1, ends_z->buf, ends_z->shape[0] - 1, logs_of(table),
                        sorted, counts, XJ->buf, XJY->buf);
        Py_END_ALLOW_THREADS;
    }
    free(sorted);
    free(counts);
    return finish(&arrays, bad ? "codes should be below the number of levels" : NULL);
}

static PyObject *count_weights(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[4];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    Py_buffer *values = take_codes(&arrays, given[0], 2);
    Py_buffer *z = take_int32(&arrays, given[1]);
    Py_buffer *weights = take(&arrays, given[2], "q", 1, 0);
    Py_buffer *out = take(&arrays, given[3], "q", 3, 1); /* (m, L, Z) */
    if (PyErr_Occurred())
        return finish(&arrays, NULL);
    const int64_t m = values->shape[0], N = values->shape[1], L = out->shape[1], Z = out->shape[2];
    if (out->shape[0] != m || z->shape[0] != N || weights->shape[0] != N || !are_below(z, Z) ||
        (out->len > 0 && (out->strides[1] != 8 * Z || out->strides[0] != 8 * L * Z)))
        return finish(&arrays, "values, z, weights and out do not fit each other");
    int bad;
    Py_BEGIN_ALLOW_THREADS;
    bad = FOR_CODES(values->itemsize, weighted, values->buf, values->strides[0] / values->itemsize,
                    m, N, z->buf, weights->buf, L, Z, out->buf);
    Py_END_ALLOW_THREADS;
    return finish(&arrays, bad ? "codes should be below the number of levels" : NULL);
}

static PyObject *count_sparse(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[11];
    Py_ssize_t start, stop;
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOnnOOOOOOO", &given[0], &given[1], &given[2], &given[3], &start,
                          &stop, &given[4], &given[5], &given[6], &given[7], &given[8], &given[9],
                          &given[10]))
        return NULL;
    Py_buffer *indptr = take(&arrays, given[0], "q", 1, 0);
    Py_buffer *indices = take_int32(&arrays, given[1]);
    Py_buffer *codes = take_codes(&arrays, given[2], 1);
    Py_buffer *levels = take(&arrays, given[3], "q", 1, 0);
    Py_buffer *z = take_int32(&arrays, given[4]);
    Py_buffer *b = take_int32(&arrays, given[5]);
    Py_buffer *with_z = take(&arrays, given[6], "q", 1, 0);
    Py_buffer *with_b = take(&arrays, given[7], "q", 1, 0);
    Py_buffer *table = take(&arrays, given[8], "q", 1, 0);
    Py_buffer *XJ = take(&arrays, given[9], "q", 1, 1);
    Py_buffer *XJY = take(&arrays, given[10], "q", 1, 1);
    if (PyErr_Occurred())
        return finish(&arrays, NULL);
    const int64_t n = levels->shape[0], Z = with_z->shape[0], Lj = with_b->shape[0];
    if (indptr->shape[0] != n + 1 || !are_steps(indptr, codes->shape[0]) ||
        indices->shape[0] != codes->shape[0] || z->shape[0] != b->shape[0] || XJ->shape[0] != n ||
        XJY->shape[0] != n || start < 0 || stop > n || !are_below(z, Z) || !are_below(b, Lj))
        return finish(&arrays, "the sparse codes, z, b and sums do not fit each other");
    const int64_t *at = indptr->buf;
    int64_t most = 0;
    for (Py_ssize_t k = start; k < stop; k++)
        most = at[k + 1] - at[k] > most ? at[k + 1] - at[k] : most;
    const Rows rows = {z->buf, b->buf, z->shape[0], Z, Lj, with_z->buf, with_b->buf};
    int32_t *cells = calloc(2 * ROOM, sizeof *cells);
    int32_t *filled = calloc(Z + Lj + 1, sizeof *filled);
    uint64_t *keys = malloc((most + 1) * sizeof *keys);
    int bad = 0;
    if (cells == NULL || filled == NULL || keys == NULL) {
        PyErr_NoMemory();
    } else {
        Py_BEGIN_ALLOW_THREADS;
        bad = FOR_CODES(codes->itemsize, sparse, at, indices->buf, codes->buf, levels->buf, start,
                        stop, rows, logs_of(table), cells, filled, keys, XJ->buf, XJY->buf);
        Py_END_ALLOW_THREADS;
    }
    free(cells);
    free(filled);
    free(keys);
    return finish(&arrays, bad ? "rows, codes or counts are not within their bounds" : NULL);
}

PyMethodDef count_methods[] = {
    {"pack_planes", pack_planes, METH_VARARGS,
     "pack_planes(values, rows, levels, planes): bit i of a feature's plane a - 1 tells whether it "
     "has level a in row rows[i]; no row is negative."},
    {"count_ones", count_ones, METH_VARARGS,
     "count_ones(planes, segments, out): ones of each plane in each segment of words."},
    {"count_packed", count_packed, METH_VARARGS,
     "count_packed(planes, first, segments, margins, j, start, stop, T, XJ, XJY): sums of T over "
     "the tables of features start to stop with feature j."},
    {"count_codes", count_codes, METH_VARARGS,
     "count_codes(values, levels, z, Lj, c, T, XJ, XJY): the same for codes, z = x_j * c + y."},
    {"count_grouped", count_grouped, METH_VARARGS,
     "count_grouped(values, levels, order, ends_b, ends_z, T, XJ, XJY): the same for many levels; "
     "rows in the order given have x_j, and x_j with y, in groups that end where told."},
    {"count_weights", count_weights, METH_VARARGS,
     "count_weights(values, z, weights, out): out[k, x, z] += weights, feature by feature."},
    {"count_sparse", count_sparse, METH_VARARGS,
     "count_sparse(indptr, indices, codes, levels, start, stop, z, b, with_z, with_b, T, XJ, XJY): "
     "what filled cells add to the sums over z and b alone."},
    {NULL, NULL, 0, NULL},
};
