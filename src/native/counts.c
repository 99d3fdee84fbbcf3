/* Counting the levels of features together with those of one of them and the class.
 *
 * A step of a selection wants, for each feature k and one feature j, two sums over tables of counts:
 * XJ over the levels of k and j, XJY over these and the classes, of T[count], T a table of whole
 * numbers. A table lives only until it is summed. Sums of whole numbers are the same in any order.
 *
 * Codes and rows are checked before they are used as places in memory, and counts before anything is
 * added to them. Sums of T are unsigned until they are written: what does not fit into 64 bits wraps,
 * as it does in NumPy.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 512,  /* rows whose places in a table are worked out at a time */
    COPIES = 4,   /* of a small table, so that an increment need not wait for the one before */
    VOTES = 256,  /* of rows, for the level that most of them have */
    SMALL = 1 << 16, /* cells of a small table, whose places have 16 bits */
    ROOM = 1 << 18, /* cells of a table of a sparse feature; larger ones are sorted instead */
};

typedef struct {
    const int64_t *of;
    int64_t size;
} Logs;

/* T[count], or 0 and a complaint where there is no such count. */
INLINE int64_t look(Logs T, int64_t count, int *bad)
{
    if ((uint64_t)count >= (uint64_t)T.size) {
        *bad = 1;
        return 0;
    }
    return T.of[count];
}

/* A count that T knows, or 0 and a complaint. */
INLINE int64_t known(Logs T, int64_t count, int *bad)
{
    const int is_known = (uint64_t)count < (uint64_t)T.size;
    *bad |= !is_known;
    return is_known ? count : 0;
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

/* Counting ones: 64 bits at a time, and 256 or 512 where the processor can. */
#define NAME(x) x##_plain
#define TARGET
#include "packed.inc"
#undef TARGET
#undef NAME

#if CAN_TARGET_AVX2
#define WIDE 1
#include <immintrin.h>
#define NAME(x) x##_wide
#define TARGET __attribute__((target("avx2,popcnt")))
#include "packed.inc"
#undef TARGET
#undef NAME
#undef WIDE
#define WIDEST 1
#define NAME(x) x##_widest
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vpopcntdq,popcnt")))
#include "packed.inc"
#undef TARGET
#undef NAME
#define IS_WIDE (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"))
#ifdef ONE_PROCESSOR /* as the sanitizers build: so the middle way is tried where there are wider ones */
#define IS_WIDEST 0
#else
#define IS_WIDEST                                                                                  \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&                    \
     __builtin_cpu_supports("avx512vpopcntdq"))
#endif
#define FOR_WIDTHS(function, ...)                                                                  \
    (IS_WIDEST ? function##_widest(__VA_ARGS__)                                                    \
     : IS_WIDE ? function##_wide(__VA_ARGS__)                                                      \
               : function##_plain(__VA_ARGS__))
#else
#define FOR_WIDTHS(function, ...) function##_plain(__VA_ARGS__)
#endif

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
    uint64_t sum = 0;
    qsort(keys, n_keys, sizeof *keys, by_value);
    for (int64_t i = 0; i < n_keys;) {
        const uint64_t place = keys[i] >> 32;
        const int64_t first = i;
        while (i < n_keys && keys[i] >> 32 == place) {
            const int64_t run = i;
            while (i < n_keys && keys[i] == keys[run])
                i++;
            sum += (uint64_t)look(T, i - run, bad);
        }
        const int64_t all = with_place[place];
        sum += (uint64_t)look(T, all - (i - first), bad) - (uint64_t)look(T, all, bad);
    }
    return (int64_t)sum;
}

/* The t features taken so far: z[s] = code * c + class of each row, how many levels there are, and the
 * sums J and JY over the tables of each alone, and with the class. TN and TY are those of nothing. */
typedef struct {
    const uint16_t *z;
    int64_t step, t;
    const int64_t *levels, *J, *JY;
    int64_t TN, TY;
    int takes_least; /* of I(k;Y|j), as cmim; else the sum of what interactions take away, as icap */
} Taken;

#define COUNT_WHOLE INT64_MIN /* a best that no score is below: every feature is counted to the end */

/* What is left of a score after one more feature taken. Unsigned, as sums of T wrap. */
INLINE int64_t fallen(int64_t known, Taken taken, int64_t s, int64_t X, int64_t XY, int64_t XJ,
                      int64_t XJY)
{
    const uint64_t J = (uint64_t)taken.J[s], JY = (uint64_t)taken.JY[s];
    const uint64_t given = (uint64_t)XJY - (uint64_t)XJ - JY + J;
    if (taken.takes_least)
        return (int64_t)given < known ? (int64_t)given : known;
    const int64_t interaction = (int64_t)(given - (uint64_t)XY + (uint64_t)X + (uint64_t)taken.TY -
                                          (uint64_t)taken.TN);
    return interaction < 0 ? (int64_t)((uint64_t)known + (uint64_t)interaction) : known;
}

/* Rows in groups, one after the other: which one each is in, and where they end. */
typedef struct {
    int64_t n;
    const int64_t *ends;
    const int32_t *of;
} Groups;

/* Sums of T over the counts of the rows of each group that `before` does not count. */
INLINE uint64_t usual_sums(Groups groups, const int32_t *before, Logs T)
{
    uint64_t sum = 0;
    for (int64_t g = 0; g < groups.n; g++) {
        const int64_t from = groups.ends[g], to = groups.ends[g + 1];
        sum += (uint64_t)T.of[to - from - (before[to] - before[from])];
    }
    return sum;
}

/* Count one more row of a group, and return what it adds to the sum of T. A count, below, has the
 * stamp of its group above it; one of another group is none. */
INLINE uint64_t one_more(uint64_t *count, uint32_t stamp, Logs T)
{
    const uint64_t so_far = *count >> 32 == stamp ? *count & UINT32_MAX : 0;
    *count = (uint64_t)stamp << 32 | (so_far + 1);
    return (uint64_t)T.of[so_far + 1] - (uint64_t)T.of[so_far];
}

/* The group of each row. */
static void name_groups(const int64_t *ends, int64_t n, int32_t *of)
{
    for (int64_t g = 0; g < n; g++)
        for (int64_t i = ends[g]; i < ends[g + 1]; i++)
            of[i] = (int32_t)g;
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

/* Codes of one, two or four bytes. */
static Py_buffer *take_codes(Arrays *arrays, PyObject *object, int ndim)
{
    Py_buffer probe;
    if (PyErr_Occurred() || PyObject_GetBuffer(object, &probe, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return NULL;
    const char *format = probe.itemsize == 1 ? "B" : probe.itemsize == 2 ? "H" : "I";
    PyBuffer_Release(&probe);
    return take_array(arrays, object, format, ndim, 0);
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

/* The largest of some numbers, at least 1; -1 if one is negative. */
static int64_t largest(const Py_buffer *numbers)
{
    const int64_t *at = numbers->buf;
    int64_t most = 1, least = 0;
    for (Py_ssize_t i = 0; i < numbers->shape[0]; i++) {
        most = at[i] > most ? at[i] : most;
        least = at[i] < least ? at[i] : least;
    }
    return least < 0 ? -1 : most;
}

/* Whether all of these are counts that T knows. */
static int are_counts(const Py_buffer *numbers, Logs T)
{
    const int64_t *at = numbers->buf;
    int bad = 0;
    for (Py_ssize_t i = 0; i < numbers->shape[0]; i++)
        bad |= (uint64_t)at[i] >= (uint64_t)T.size;
    return !bad;
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

/* Room for rows by columns of numbers; NULL if there is none. */
static int64_t *room_for(int64_t rows, int64_t columns)
{
    if (rows < 0 || columns < 0 || (columns > 0 && rows > PTRDIFF_MAX / 8 / columns))
        return NULL;
    return malloc((size_t)(rows * columns) * 8);
}

static Logs logs_of(const Py_buffer *table)
{
    return (Logs){table->buf, table->shape[0]};
}

#define OVERLAP "sums should not overlap with other arrays"

static PyObject *count_packed(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[7];
    Py_ssize_t j, start, stop;
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOnnnOOO", &given[0], &given[1], &given[2], &given[3], &j,
                          &start, &stop, &given[4], &given[5], &given[6]))
        return NULL;
    Py_buffer *planes = take_array(&arrays, given[0], "Q", 2, 0);
    Py_buffer *first = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *segments = take_array(&arrays, given[2], "q", 1, 0);
    Py_buffer *margins = take_array(&arrays, given[3], "q", 2, 0);
    Py_buffer *table = take_array(&arrays, given[4], "q", 1, 0);
    Py_buffer *XJ = take_array(&arrays, given[5], "q", 1, 1);
    Py_buffer *XJY = take_array(&arrays, given[6], "q", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (!stands_apart(&arrays, XJ) || !stands_apart(&arrays, XJY))
        return finish_call(&arrays, OVERLAP);
    const Py_ssize_t n = first->shape[0] - 1, c = segments->shape[0] - 1;
    if (!are_steps(first, planes->shape[0]) || !are_steps(segments, planes->shape[1]) ||
        margins->shape[0] != planes->shape[0] + n || margins->shape[1] != c ||
        !is_whole_2d(planes) || !is_whole_2d(margins) || XJ->shape[0] != n ||
        XJY->shape[0] != n || j < 0 || j >= n || start < 0 || stop > n)
        return finish_call(&arrays, "planes, first, segments, margins or sums do not fit each other");
    const int64_t *at = first->buf;
    int64_t most = 1;
    for (Py_ssize_t k = start; k < stop; k++)
        most = at[k + 1] - at[k] + 1 > most ? at[k + 1] - at[k] + 1 : most;
    const int64_t Lj = at[j + 1] - at[j] + 1;
    int64_t *scratch = room_for(Lj, most + 1);
    if (scratch == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    const Planes P = {planes->buf, planes->shape[1], at, segments->buf, c, margins->buf};
    int bad;
    Py_BEGIN_ALLOW_THREADS;
    bad = FOR_WIDTHS(packed, P, j, start, stop, logs_of(table), scratch,
                     (int64_t *)XJ->buf + start, (int64_t *)XJY->buf + start);
    Py_END_ALLOW_THREADS;
    free(scratch);
    return finish_call(&arrays, bad ? "margins are not those of the planes, or T is too short" : NULL);
}

static PyObject *count_ones(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[3];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOO", &given[0], &given[1], &given[2]))
        return NULL;
    Py_buffer *planes = take_array(&arrays, given[0], "Q", 2, 0);
    Py_buffer *segments = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *out = take_array(&arrays, given[2], "q", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t c = segments->shape[0] - 1;
    if (!are_steps(segments, planes->shape[1]) || !is_whole_2d(planes) || !is_whole_2d(out) ||
        out->shape[0] != planes->shape[0] || out->shape[1] != c)
        return finish_call(&arrays, "planes, segments and out do not fit each other");
    Py_BEGIN_ALLOW_THREADS;
    FOR_WIDTHS(ones, planes->buf, planes->shape[0], planes->shape[1], segments->buf, c, out->buf);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

static PyObject *pack_planes(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[6];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5]))
        return NULL;
    Py_buffer *values = take_array(&arrays, given[0], "B", 2, 0);
    Py_buffer *levels = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *order = take_array(&arrays, given[2], "i", 1, 0);
    Py_buffer *ends = take_array(&arrays, given[3], "q", 1, 0);
    Py_buffer *segments = take_array(&arrays, given[4], "q", 1, 0);
    Py_buffer *planes = take_array(&arrays, given[5], "Q", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const int64_t m = values->shape[0], N = values->shape[1], words = planes->shape[1];
    const int64_t c = ends->shape[0] - 1;
    int fits = order->shape[0] == N && are_below(order, N) && are_steps(ends, N) &&
               segments->shape[0] == c + 1 && are_steps(segments, words) &&
               levels->shape[0] == m && is_whole_2d(planes);
    const int64_t *end = ends->buf, *segment = segments->buf, *of = levels->buf;
    fits = fits && words < INT64_MAX / 64;
    for (int64_t y = 0; fits && y < c; y++)
        fits = end[y + 1] - end[y] <= 64 * (segment[y + 1] - segment[y]);
    int64_t left = planes->shape[0];
    for (int64_t k = 0; fits && k < m; k++) {
        fits = of[k] >= 0 && of[k] - 1 <= left;
        left -= fits && of[k] > 1 ? of[k] - 1 : 0;
    }
    if (!fits || left != 0)
        return finish_call(&arrays, "values, levels, order, ends, segments and planes do not fit");
    uint8_t *sorted = calloc(64 * words + 1, 1);
    if (sorted == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    Py_BEGIN_ALLOW_THREADS;
    FOR_WIDTHS(pack, values->buf, values->strides[0], m, of, order->buf, end, segment, c, sorted,
               planes->buf);
    Py_END_ALLOW_THREADS;
    free(sorted);
    return finish_call(&arrays, NULL);
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
    Py_buffer *levels = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *z = take_array(&arrays, given[2], "i", 1, 0);
    Py_buffer *table = take_array(&arrays, given[3], "q", 1, 0);
    Py_buffer *XJ = take_array(&arrays, given[4], "q", 1, 1);
    Py_buffer *XJY = take_array(&arrays, given[5], "q", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (!stands_apart(&arrays, XJ) || !stands_apart(&arrays, XJY))
        return finish_call(&arrays, OVERLAP);
    const int64_t m = values->shape[0], N = values->shape[1];
    if (levels->shape[0] != m || z->shape[0] != N || XJ->shape[0] != m || XJY->shape[0] != m ||
        table->shape[0] <= N || N > INT32_MAX)
        return finish_call(&arrays, "values, levels, z, T and sums do not fit each other");
    const int64_t most = largest(levels);
    if (Lj < 1 || c < 1 || Lj > INT32_MAX / c || most > INT32_MAX / COPIES / (Lj * c) ||
        most < 0 || !are_below(z, Lj * c))
        return finish_call(&arrays, "z should be below Lj * c, levels not below 0, and tables below "
                                    "2**29 cells");
    int32_t *cells = malloc(COPIES * most * Lj * c * sizeof *cells);
    uint16_t *short_z = malloc(N * sizeof *short_z + 1);
    int bad = 0;
    if (cells == NULL || short_z == NULL) {
        PyErr_NoMemory();
    } else {
        Py_BEGIN_ALLOW_THREADS;
        for (int64_t i = 0; i < N; i++)
            short_z[i] = (uint16_t)((const int32_t *)z->buf)[i];
        bad = FOR_CODES(values->itemsize, counted, values->buf,
                        values->strides[0] / values->itemsize, m, N, levels->buf, z->buf, short_z,
                        Lj, c, logs_of(table), cells, XJ->buf, XJY->buf);
        Py_END_ALLOW_THREADS;
    }
    free(cells);
    free(short_z);
    return finish_call(&arrays, bad ? "codes should be below the number of levels" : NULL);
}

static PyObject *count_grouped(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[8];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &given[6], &given[7]))
        return NULL;
    Py_buffer *values = take_codes(&arrays, given[0], 2);
    Py_buffer *levels = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *order = take_array(&arrays, given[2], "q", 1, 0);
    Py_buffer *ends_b = take_array(&arrays, given[3], "q", 1, 0);
    Py_buffer *ends_z = take_array(&arrays, given[4], "q", 1, 0);
    Py_buffer *table = take_array(&arrays, given[5], "q", 1, 0);
    Py_buffer *XJ = take_array(&arrays, given[6], "q", 1, 1);
    Py_buffer *XJY = take_array(&arrays, given[7], "q", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (!stands_apart(&arrays, XJ) || !stands_apart(&arrays, XJY))
        return finish_call(&arrays, OVERLAP);
    const int64_t m = values->shape[0], N = values->shape[1];
    const int64_t *at = order->buf;
    int fits = levels->shape[0] == m && order->shape[0] == N && XJ->shape[0] == m &&
               XJY->shape[0] == m && table->shape[0] > N && N <= INT32_MAX &&
               are_steps(ends_b, N) && are_steps(ends_z, N);
    for (int64_t i = 0; fits && i < N; i++)
        fits = at[i] >= 0 && at[i] < N;
    if (!fits)
        return finish_call(&arrays, "values, levels, order, ends, T and sums do not fit each other");
    const int64_t most = largest(levels);
    if (most < 0)
        return finish_call(&arrays, "levels should not be below 0");
    if (ends_b->shape[0] > INT32_MAX || ends_z->shape[0] > INT32_MAX)
        return finish_call(&arrays, NO_FIT);
    void *codes = malloc((N + 1) * values->itemsize);
    int32_t *room = malloc((5 * N + 3) * sizeof *room);
    uint64_t *counts = calloc(2 * most, sizeof *counts);
    int bad = 0;
    if (codes == NULL || room == NULL || counts == NULL) {
        PyErr_NoMemory();
    } else {
        int32_t *short_order = room, *of_b = room + N, *of_z = of_b + N, *places = of_z + N;
        const Groups by_b = {ends_b->shape[0] - 1, ends_b->buf, of_b};
        const Groups by_z = {ends_z->shape[0] - 1, ends_z->buf, of_z};
        Py_BEGIN_ALLOW_THREADS;
        for (int64_t i = 0; i < N; i++)
            short_order[i] = (int32_t)at[i];
        name_groups(ends_b->buf, by_b.n, of_b);
        name_groups(ends_z->buf, by_z.n, of_z);
        bad = FOR_CODES(values->itemsize, grouped, values->buf,
                        values->strides[0] / values->itemsize, m, N, levels->buf, most,
                        short_order, by_b, by_z, logs_of(table), codes, places, places + N + 1,
                        counts, XJ->buf, XJY->buf);
        Py_END_ALLOW_THREADS;
    }
    free(codes);
    free(room);
    free(counts);
    return finish_call(&arrays, bad ? "codes should be below the number of levels" : NULL);
}

static PyObject *count_weights(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[4];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    Py_buffer *values = take_codes(&arrays, given[0], 2);
    Py_buffer *z = take_array(&arrays, given[1], "i", 1, 0);
    Py_buffer *weights = take_array(&arrays, given[2], "q", 1, 0);
    Py_buffer *out = take_array(&arrays, given[3], "q", 3, 1); /* (m, L, Z) */
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const int64_t m = values->shape[0], N = values->shape[1], L = out->shape[1], Z = out->shape[2];
    if (out->shape[0] != m || z->shape[0] != N || weights->shape[0] != N || !are_below(z, Z) ||
        (out->len > 0 && (out->strides[1] != 8 * Z || out->strides[0] != 8 * L * Z)))
        return finish_call(&arrays, "values, z, weights and out do not fit each other");
    int bad;
    Py_BEGIN_ALLOW_THREADS;
    bad = FOR_CODES(values->itemsize, weighted, values->buf, values->strides[0] / values->itemsize,
                    m, N, z->buf, weights->buf, L, Z, out->buf);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, bad == 1   ? "codes should be below the number of levels"
                                : bad == 2 ? "sums of weights should fit into 64 bits"
                                           : NULL);
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
    Py_buffer *indptr = take_array(&arrays, given[0], "q", 1, 0);
    Py_buffer *indices = take_array(&arrays, given[1], "i", 1, 0);
    Py_buffer *codes = take_codes(&arrays, given[2], 1);
    Py_buffer *levels = take_array(&arrays, given[3], "q", 1, 0);
    Py_buffer *z = take_array(&arrays, given[4], "i", 1, 0);
    Py_buffer *b = take_array(&arrays, given[5], "i", 1, 0);
    Py_buffer *with_z = take_array(&arrays, given[6], "q", 1, 0);
    Py_buffer *with_b = take_array(&arrays, given[7], "q", 1, 0);
    Py_buffer *table = take_array(&arrays, given[8], "q", 1, 0);
    Py_buffer *XJ = take_array(&arrays, given[9], "q", 1, 1);
    Py_buffer *XJY = take_array(&arrays, given[10], "q", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (!stands_apart(&arrays, XJ) || !stands_apart(&arrays, XJY))
        return finish_call(&arrays, OVERLAP);
    const int64_t n = levels->shape[0], Z = with_z->shape[0], Lj = with_b->shape[0];
    if (indptr->shape[0] != n + 1 || indices->shape[0] != codes->shape[0] ||
        z->shape[0] != b->shape[0] || XJ->shape[0] != n || XJY->shape[0] != n || start < 0 ||
        start > stop || stop > n || Lj > Z || Z > INT32_MAX || !are_below(z, Z) ||
        !are_below(b, Lj))
        return finish_call(&arrays, "the sparse codes, z, b and sums do not fit each other");
    if (!are_counts(with_z, logs_of(table)) || !are_counts(with_b, logs_of(table)))
        return finish_call(&arrays, "with_z and with_b do not fit T: they should be counts of rows");
    const int64_t *at = indptr->buf, *of = levels->buf;
    int fits = at[start] >= 0 && at[stop] <= codes->shape[0];
    int64_t most = 0, room = 0; /* filled cells of a feature, and cells of its table */
    for (Py_ssize_t k = start; fits && k < stop; k++) {
        fits = at[k] >= 0 && at[k] <= at[k + 1] && at[k + 1] - at[k] <= INT32_MAX && of[k] > 0 &&
               of[k] <= UINT32_MAX;
        const int64_t filled = fits ? at[k + 1] - at[k] : 0, cells = fits ? (of[k] - 1) * Z : 0;
        most = filled > most ? filled : most;
        room = cells <= ROOM && cells > room ? cells : room;
    }
    if (!fits)
        return finish_call(&arrays, "the steps of indptr and the codes do not fit each other");
    const Rows rows = {z->buf, b->buf, z->shape[0], Z, Lj, with_z->buf, with_b->buf};
    int32_t *cells = calloc(2 * room + 1, sizeof *cells);
    int32_t *filled = calloc(Z + Lj + 1, sizeof *filled);
    uint64_t *keys = malloc((most + 1) * sizeof *keys);
    int bad = 0;
    if (cells == NULL || filled == NULL || keys == NULL) {
        PyErr_NoMemory();
    } else {
        Py_BEGIN_ALLOW_THREADS;
        bad = FOR_CODES(codes->itemsize, sparse, at, indices->buf, codes->buf, levels->buf, start,
                        stop, rows, logs_of(table), cells, room, filled, keys, XJ->buf, XJY->buf);
        Py_END_ALLOW_THREADS;
    }
    free(cells);
    free(filled);
    free(keys);
    return finish_call(&arrays, bad ? "rows, codes or counts are not within their bounds" : NULL);
}

#include "falling.inc"

PyMethodDef count_methods[] = {
    {"pack_planes", pack_planes, METH_VARARGS,
     "pack_planes(values, levels, order, ends, segments, planes): plane a - 1 of a feature tells where "
     "it has level a; rows order[ends[y]:ends[y + 1]] are the bits of words from segments[y] on."},
    {"count_ones", count_ones, METH_VARARGS,
     "count_ones(planes, segments, out): ones of each plane in each segment of words."},
    {"count_packed", count_packed, METH_VARARGS,
     "count_packed(planes, first, segments, margins, j, start, stop, T, XJ, XJY): sums of T over "
     "the tables of features start to stop with feature j."},
    {"count_codes", count_codes, METH_VARARGS,
     "count_codes(values, levels, z, Lj, c, T, XJ, XJY): the same for codes, z = x_j * c + y."},
    {"count_falling", count_falling, METH_VARARGS,
     "count_falling(values, levels, order, z, z_levels, sums, c, T, X, XY, TN, TY, takes_least, best, "
     "known, seen): count features in this order against those taken, until scores are below best."},
    {"packed_falling", packed_falling, METH_VARARGS,
     "packed_falling(planes, first, segments, margins, order, taken, sums, T, X, XY, TN, TY, "
     "takes_least, best, known, seen): the same for planes of bits."},
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
