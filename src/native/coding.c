/* From columns of numbers to levels, column by column; see encode/bins.py.
 *
 * Columns stand one after the other, A (b, N), in any of NumPy's types of numbers; X (N, n) is a table
 * row by row. Numbers are checked before they are used as places in memory.
 */
#include "native.h"

#include <string.h>

enum {
    FEW_CUTS = 16, /* up to so many, comparing with each beats a search */
    BLOCK = 512,   /* numbers whose places are worked out at a time */
    PLACES = 256,  /* that a code of a byte may have */
    TILE = 64,     /* rows and columns that change places together */
};

/* How many cuts each of n values reaches, n at most BLOCK: by comparing with each. */
INLINE void compare_with_each(const double *values, int64_t n, const double *cuts, int64_t m,
                              int64_t *reached)
{
    int64_t c = 0;
    memset(reached, 0, n * sizeof *reached);
    for (; c + 3 <= m; c += 3) {
        const double first = cuts[c], second = cuts[c + 1], third = cuts[c + 2];
        for (int64_t r = 0; r < n; r++) {
            const double value = values[r];
            reached[r] += (int64_t)(value >= first) + (value >= second) + (value >= third);
        }
    }
    for (; c < m; c++) {
        const double cut = cuts[c];
        for (int64_t r = 0; r < n; r++)
            reached[r] += values[r] >= cut;
    }
}

/* The same, by halving. */
INLINE void halve(const double *values, int64_t n, const double *cuts, int64_t m, int64_t *reached)
{
    for (int64_t r = 0; r < n; r++) {
        int64_t from = 0;
        for (int64_t left = m; left > 0;) {
            const int64_t half = (left + 1) / 2;
            from += cuts[from + half - 1] <= values[r] ? half : 0;
            left -= half;
        }
        reached[r] = from;
    }
}

#define REAL double
#define UNSIGNED uint64_t
#define SIGNED int64_t
#define IS_FLOAT 1
#define HIGHEST INT64_MAX
#define NAME(x) x##_d
#include "coding.inc"
#undef REAL
#undef UNSIGNED
#undef SIGNED
#undef IS_FLOAT
#undef HIGHEST
#undef NAME

#define REAL float
#define UNSIGNED uint32_t
#define SIGNED int32_t
#define IS_FLOAT 1
#define HIGHEST INT32_MAX
#define NAME(x) x##_f
#include "coding.inc"
#undef REAL
#undef UNSIGNED
#undef SIGNED
#undef IS_FLOAT
#undef HIGHEST
#undef NAME

#define REAL int8_t
#define UNSIGNED uint8_t
#define SIGNED int8_t
#define IS_FLOAT 0
#define NAME(x) x##_b
#include "coding.inc"
#undef REAL
#undef UNSIGNED
#undef SIGNED
#undef IS_FLOAT
#undef NAME

#define REAL uint8_t
#define UNSIGNED uint8_t
#define SIGNED uint8_t
#define IS_FLOAT 0
#define NAME(x) x##_B
#include "coding.inc"
#undef REAL
#undef UNSIGNED
#undef SIGNED
#undef IS_FLOAT
#undef NAME

#define REAL int16_t
#define UNSIGNED uint16_t
#define SIGNED int16_t
#define IS_FLOAT 0
#define NAME(x) x##_h
#include "coding.inc"
#undef REAL
#undef UNSIGNED
#undef SIGNED
#undef IS_FLOAT
#undef NAME

#define REAL uint16_t
#define UNSIGNED uint16_t
#define SIGNED uint16_t
#define IS_FLOAT 0
#define NAME(x) x##_H
#include "coding.inc"
#undef REAL
#undef UNSIGNED
#undef SIGNED
#undef IS_FLOAT
#undef NAME

#define REAL int32_t
#define UNSIGNED uint32_t
#define SIGNED int32_t
#define IS_FLOAT 0
#define NAME(x) x##_i
#include "coding.inc"
#undef REAL
#undef UNSIGNED
#undef SIGNED
#undef IS_FLOAT
#undef NAME

#define REAL uint32_t
#define UNSIGNED uint32_t
#define SIGNED uint32_t
#define IS_FLOAT 0
#define NAME(x) x##_I
#include "coding.inc"
#undef REAL
#undef UNSIGNED
#undef SIGNED
#undef IS_FLOAT
#undef NAME

#define REAL int64_t
#define UNSIGNED uint64_t
#define SIGNED int64_t
#define IS_FLOAT 0
#define NAME(x) x##_q
#include "coding.inc"
#undef REAL
#undef UNSIGNED
#undef SIGNED
#undef IS_FLOAT
#undef NAME

#define REAL uint64_t
#define UNSIGNED uint64_t
#define SIGNED uint64_t
#define IS_FLOAT 0
#define NAME(x) x##_Q
#include "coding.inc"
#undef REAL
#undef UNSIGNED
#undef SIGNED
#undef IS_FLOAT
#undef NAME

/* One of NumPy's names of a type of number -> one of ours, or 0. */
static char type_of(PyObject *object)
{
    Py_buffer probe;
    if (PyErr_Occurred() || PyObject_GetBuffer(object, &probe, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return 0;
    const char *format = probe.format ? probe.format : "B";
    const size_t size = (size_t)probe.itemsize;
    char type = format[0] != 0 && format[1] == 0 ? format[0] : 0;
    if (type == 'l')
        type = size == 8 ? 'q' : 'i';
    if (type == 'L')
        type = size == 8 ? 'Q' : 'I';
    PyBuffer_Release(&probe);
    if (type == 0 || strchr("dfbBhHiIqQ", type) == NULL) {
        PyErr_SetString(PyExc_TypeError, "expected whole numbers, or floats of four or eight bytes");
        return 0;
    }
    return type;
}

#define FOR_TYPES(type, function, ...)                                                             \
    ((type) == 'd'   ? function##_d(__VA_ARGS__)                                                   \
     : (type) == 'f' ? function##_f(__VA_ARGS__)                                                   \
     : (type) == 'b' ? function##_b(__VA_ARGS__)                                                   \
     : (type) == 'B' ? function##_B(__VA_ARGS__)                                                   \
     : (type) == 'h' ? function##_h(__VA_ARGS__)                                                   \
     : (type) == 'H' ? function##_H(__VA_ARGS__)                                                   \
     : (type) == 'i' ? function##_i(__VA_ARGS__)                                                   \
     : (type) == 'I' ? function##_I(__VA_ARGS__)                                                   \
     : (type) == 'q' ? function##_q(__VA_ARGS__)                                                   \
                     : function##_Q(__VA_ARGS__))

/* Whether all of these are places from 0 to below `end`. */
static int are_places(const Py_buffer *numbers, int64_t end)
{
    const int64_t *at = numbers->buf;
    int fits = 1;
    for (Py_ssize_t i = 0; fits && i < numbers->shape[0]; i++)
        fits = at[i] >= 0 && at[i] < end;
    return fits;
}

#define OVERLAP "what is written should not overlap with other arrays"

static PyObject *column_ends(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[3];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOO", &given[0], &given[1], &given[2]))
        return NULL;
    const char type = type_of(given[0]), format[] = {type, 0};
    Py_buffer *A = take_array(&arrays, given[0], format, 2, 0);
    Py_buffer *low = take_array(&arrays, given[1], format, 1, 1);
    Py_buffer *high = take_array(&arrays, given[2], format, 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (!stands_apart(&arrays, low) || !stands_apart(&arrays, high))
        return finish_call(&arrays, OVERLAP);
    if (low->shape[0] != A->shape[0] || high->shape[0] != A->shape[0] || A->shape[1] < 1)
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    FOR_TYPES(type, ends, A->buf, A->strides[0], A->shape[0], A->shape[1], low->buf, high->buf);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

static PyObject *cut_columns(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[3];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOO", &given[0], &given[1], &given[2]))
        return NULL;
    const char type = type_of(given[0]), format[] = {type, 0};
    Py_buffer *A = take_array(&arrays, given[0], format, 2, 0);
    Py_buffer *cuts = take_array(&arrays, given[1], "d", 2, 0);
    Py_buffer *out = take_array(&arrays, given[2], "B", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (!stands_apart(&arrays, out))
        return finish_call(&arrays, OVERLAP);
    if (cuts->shape[0] != A->shape[0] || cuts->shape[1] >= PLACES ||
        out->shape[0] != A->shape[0] || out->shape[1] != A->shape[1])
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    FOR_TYPES(type, cut, A->buf, A->strides[0], A->shape[0], A->shape[1], cuts->buf,
              cuts->strides[0] / 8, cuts->shape[1], out->buf, out->strides[0]);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

#define NOT_NARROW "columns should hold whole numbers, from the lowest to 255 above it"

static PyObject *mark_numbers(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[5];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOO", &given[0], &given[1], &given[2], &given[3], &given[4]))
        return NULL;
    const char type = type_of(given[0]), format[] = {type, 0};
    Py_buffer *A = take_array(&arrays, given[0], format, 2, 0);
    Py_buffer *at = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *low = take_array(&arrays, given[2], format, 1, 0);
    Py_buffer *high = take_array(&arrays, given[3], format, 1, 0);
    Py_buffer *seen = take_array(&arrays, given[4], "B", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (!stands_apart(&arrays, seen))
        return finish_call(&arrays, OVERLAP);
    if (low->shape[0] != A->shape[0] || high->shape[0] != A->shape[0] ||
        seen->shape[0] != at->shape[0] || seen->shape[1] != PLACES ||
        (seen->shape[0] > 1 && seen->strides[0] != PLACES) || !are_places(at, A->shape[0]))
        return finish_call(&arrays, NO_FIT);
    int bad;
    Py_BEGIN_ALLOW_THREADS;
    bad = FOR_TYPES(type, mark, A->buf, A->strides[0], at->buf, at->shape[0], A->shape[1],
                    low->buf, high->buf, seen->buf);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, bad ? NOT_NARROW : NULL);
}

static PyObject *look_up_numbers(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[6];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5]))
        return NULL;
    const char type = type_of(given[0]), format[] = {type, 0};
    Py_buffer *A = take_array(&arrays, given[0], format, 2, 0);
    Py_buffer *at = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *low = take_array(&arrays, given[2], format, 1, 0);
    Py_buffer *high = take_array(&arrays, given[3], format, 1, 0);
    Py_buffer *tables = take_array(&arrays, given[4], "B", 2, 0);
    Py_buffer *out = take_array(&arrays, given[5], "B", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (!stands_apart(&arrays, out))
        return finish_call(&arrays, OVERLAP);
    if (low->shape[0] != A->shape[0] || high->shape[0] != A->shape[0] ||
        tables->shape[0] != at->shape[0] || tables->shape[1] != PLACES ||
        (tables->shape[0] > 1 && tables->strides[0] != PLACES) || !are_places(at, A->shape[0]) ||
        out->shape[0] != A->shape[0] || out->shape[1] != A->shape[1])
        return finish_call(&arrays, NO_FIT);
    int bad;
    Py_BEGIN_ALLOW_THREADS;
    bad = FOR_TYPES(type, look_up, A->buf, A->strides[0], at->buf, at->shape[0], A->shape[1],
                    low->buf, high->buf, tables->buf, out->buf, out->strides[0]);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, bad ? NOT_NARROW : NULL);
}

/* A few columns of a table, row by row, one after the other: a tile at a time, and the next one asked
 * for, since rows of a wide table are far apart. */
#define TURN(name, WORD)                                                                           \
    static void name(const char *X, int64_t step, int64_t N, const int64_t *at, int64_t b,         \
                     char *out, int64_t out_step)                                                  \
    {                                                                                              \
        for (int64_t i = 0; i < N; i += TILE) {                                                    \
            const int64_t rows = i + TILE < N ? TILE : N - i;                                      \
            for (int64_t r = i + TILE; r < i + 2 * TILE && r < N; r++)                             \
                for (int64_t k = 0; k < b; k += 64 / (int64_t)sizeof(WORD))                        \
                    PREFETCH(X + r * step + at[k] * (int64_t)sizeof(WORD));                        \
            for (int64_t k = 0; k < b; k++) {                                                      \
                const char *from = X + i * step + at[k] * (int64_t)sizeof(WORD);                   \
                WORD *to = (WORD *)(out + k * out_step) + i;                                       \
                for (int64_t r = 0; r < rows; r++)                                                 \
                    to[r] = *(const WORD *)(from + r * step);                                      \
            }                                                                                      \
        }                                                                                          \
    }
TURN(turn_single, uint8_t)
TURN(turn_2, uint16_t)
TURN(turn_4, uint32_t)
TURN(turn_8, uint64_t)

/* Exchange rows and columns of eight by eight bytes, of which each word is a row: halves, quarters, and
 * eighths change places across the diagonal. */
INLINE void turn_eight(uint64_t *rows)
{
    const uint64_t halves = 0x00000000ffffffffu, quarters = 0x0000ffff0000ffffu,
                   eighths = 0x00ff00ff00ff00ffu;
    for (int r = 0; r < 4; r++) {
        const uint64_t moved = (rows[r] >> 32 ^ rows[r + 4]) & halves;
        rows[r + 4] ^= moved;
        rows[r] ^= moved << 32;
    }
    for (int half = 0; half < 8; half += 4)
        for (int r = half; r < half + 2; r++) {
            const uint64_t moved = (rows[r] >> 16 ^ rows[r + 2]) & quarters;
            rows[r + 2] ^= moved;
            rows[r] ^= moved << 16;
        }
    for (int r = 0; r < 8; r += 2) {
        const uint64_t moved = (rows[r] >> 8 ^ rows[r + 1]) & eighths;
        rows[r + 1] ^= moved;
        rows[r] ^= moved << 8;
    }
}

/* Bytes of columns that stand side by side, eight rows and columns at a time. */
FOR_EACH_PROCESSOR
static void turn_run(const char *X, int64_t step, int64_t N, int64_t b, char *out, int64_t out_step)
{
    for (int64_t i = 0; i + TILE <= N; i += TILE) {
        for (int64_t r = i + TILE; r < i + 2 * TILE && r < N; r++)
            for (int64_t k = 0; k < b; k += 64)
                PREFETCH(X + r * step + k);
        for (int64_t k = 0; k + 8 <= b; k += 8)
            for (int64_t part = i; part < i + TILE; part += 8) {
                uint64_t rows[8];
                for (int r = 0; r < 8; r++)
                    memcpy(rows + r, X + (part + r) * step + k, 8);
                turn_eight(rows);
                for (int c = 0; c < 8; c++)
                    memcpy(out + (k + c) * out_step + part, rows + c, 8);
            }
    }
}

/* The order of bytes in a word is that of their columns. */
static int starts_with_lowest(void)
{
    const uint64_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static void turn_1(const char *X, int64_t step, int64_t N, const int64_t *at, int64_t b, char *out,
                   int64_t out_step)
{
    int64_t run = starts_with_lowest() && b > 0; /* columns that stand side by side */
    while (run > 0 && run < b && at[run] == at[0] + run)
        run++;
    const int64_t columns = run / 8 * 8, rows = columns ? N / TILE * TILE : 0;
    if (rows)
        turn_run(X + at[0], step, rows, columns, out, out_step);
    turn_single(X + rows * step, step, N - rows, at, columns, out + rows, out_step);
    turn_single(X, step, N, at + columns, b - columns, out + columns * out_step, out_step);
}

static PyObject *turn_columns(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[3];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOO", &given[0], &given[1], &given[2]))
        return NULL;
    const char type = type_of(given[0]), format[] = {type, 0};
    Py_buffer *X = take_array(&arrays, given[0], format, 2, 0);
    Py_buffer *at = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *A = take_array(&arrays, given[2], format, 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (!stands_apart(&arrays, A))
        return finish_call(&arrays, OVERLAP);
    if (A->shape[0] != at->shape[0] || A->shape[1] != X->shape[0] || !are_places(at, X->shape[1]))
        return finish_call(&arrays, NO_FIT);
    const Py_ssize_t size = X->itemsize;
    Py_BEGIN_ALLOW_THREADS;
    (size == 1   ? turn_1
     : size == 2 ? turn_2
     : size == 4 ? turn_4
                 : turn_8)(X->buf, X->strides[0], X->shape[0], at->buf, at->shape[0], A->buf,
                           A->strides[0]);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

/* Which levels rows have, seen (m, L), until all have been; codes beyond `levels` are a mistake. */
#define LEVELS_SEEN(name, CODE)                                                                    \
    static int name(const char *values, int64_t step, const int64_t *at, int64_t m, int64_t N,     \
                    const int64_t *levels, uint8_t *seen, int64_t seen_step)                       \
    {                                                                                              \
        for (int64_t g = 0; g < m; g++, seen += seen_step) {                                       \
            const CODE *x = (const CODE *)(values + at[g] * step);                                 \
            const int64_t wanted = levels[at[g]];                                                  \
            memset(seen, 0, wanted);                                                               \
            for (int64_t i = 0; i < N; i += BLOCK) {                                               \
                const int64_t end = i + BLOCK < N ? i + BLOCK : N;                                 \
                CODE most = 0;                                                                     \
                for (int64_t r = i; r < end; r++)                                                  \
                    most = x[r] > most ? x[r] : most;                                              \
                if ((int64_t)most >= wanted)                                                       \
                    return 1;                                                                      \
                for (int64_t r = i; r < end; r++)                                                  \
                    seen[x[r]] = 1;                                                                \
                int64_t found = 0;                                                                 \
                for (int64_t level = 0; level < wanted; level++)                                   \
                    found += seen[level];                                                          \
                if (found == wanted)                                                               \
                    break;                                                                         \
            }                                                                                      \
        }                                                                                          \
        return 0;                                                                                  \
    }
LEVELS_SEEN(levels_seen_1, uint8_t)
LEVELS_SEEN(levels_seen_2, uint16_t)
LEVELS_SEEN(levels_seen_4, uint32_t)

static PyObject *mark_levels(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[4];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    const char type = type_of(given[0]), format[] = {type, 0};
    if (!PyErr_Occurred() && type != 'B' && type != 'H' && type != 'I')
        PyErr_SetString(PyExc_TypeError, "codes should be of one, two or four bytes, unsigned");
    Py_buffer *values = take_array(&arrays, given[0], format, 2, 0);
    Py_buffer *at = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *levels = take_array(&arrays, given[2], "q", 1, 0);
    Py_buffer *seen = take_array(&arrays, given[3], "B", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (!stands_apart(&arrays, seen))
        return finish_call(&arrays, OVERLAP);
    int fits = levels->shape[0] == values->shape[0] && seen->shape[0] == at->shape[0] &&
               are_places(at, values->shape[0]);
    const int64_t *of = levels->buf, *row = at->buf;
    for (Py_ssize_t g = 0; fits && g < at->shape[0]; g++)
        fits = of[row[g]] >= 0 && of[row[g]] <= seen->shape[1];
    if (!fits)
        return finish_call(&arrays, NO_FIT);
    const Py_ssize_t size = values->itemsize;
    int bad;
    Py_BEGIN_ALLOW_THREADS;
    bad = (size == 1   ? levels_seen_1
           : size == 2 ? levels_seen_2
                       : levels_seen_4)(values->buf, values->strides[0], row, at->shape[0],
                                        values->shape[1], of, seen->buf, seen->strides[0]);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, bad ? "codes should be below the number of levels" : NULL);
}

PyMethodDef coding_methods[] = {
    {"column_ends", column_ends, METH_VARARGS,
     "column_ends(A, low, high): the smallest and largest number of each column."},
    {"cut_columns", cut_columns, METH_VARARGS,
     "cut_columns(A, cuts, out): how many cuts, rising, each number reaches."},
    {"mark_numbers", mark_numbers, METH_VARARGS,
     "mark_numbers(A, at, low, high, seen): seen[g, v] = 1 where column at[g] holds low + v."},
    {"look_up_numbers", look_up_numbers, METH_VARARGS,
     "look_up_numbers(A, at, low, high, tables, out): out[at[g]] = tables[g, A[at[g]] - low]."},
    {"turn_columns", turn_columns, METH_VARARGS, "turn_columns(X, at, A): A[:] = X[:, at].T"},
    {"mark_levels", mark_levels, METH_VARARGS,
     "mark_levels(values, at, levels, seen): seen[g, a] = 1 where feature at[g] has level a."},
    {NULL, NULL, 0, NULL},
};
