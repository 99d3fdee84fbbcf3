/* A copy of a table in bytes, and its products with directions in whole numbers.
 *
 * The copy (panels, quads, 256) has PANEL columns in each panel and four rows in each quad: what a
 * quad has of one column stands in one word, so that an instruction multiplies and adds up four rows
 * of sixteen columns. A byte is a number from -127 to 127, plus 128. Columns and rows that fill up
 * the last panel and quad hold nothing. A direction has two bytes for each row. All products are whole
 * numbers, so that every processor finds the same ones.
 */
#include "native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PANEL = 64,
    QUAD = 4 * PANEL, /* bytes */
    STRIP = 512,      /* columns of which so many rows are worked on at a time */
    MOST_ROWS = 1 << 13,
    THICK = 6,        /* directions at a time */
    RUN = 1 << 14,    /* quads whose products with bytes surely fit 32 bits */
};

/* A block of rows, what its numbers are measured by, and what is found of its columns. `V` (N, m) or
 * NULL; `to` is where its first quad stands in the first panel. */
typedef struct {
    const char *B;
    Py_ssize_t step, N, n; /* step in bytes */
    int in_float;
    const double *V;
    Py_ssize_t V_step, m;
    const double *centers, *scales;
    uint8_t *to;
    Py_ssize_t panel_step;
    double *found[5]; /* sums, squares, sums of bytes, squared errors of these, peaks */
    double *VtB;
    Py_ssize_t VtB_step;
} Block;

enum { SUM, SQUARE, BYTES, ERROR, PEAK, KINDS };

/* What is found of the columns of a strip, until it is added to what others have. Short sums of
 * squared errors and peaks are rounded to float32, which is nothing beside what is said of them. */
typedef struct {
    double sums[STRIP], squares[STRIP], centers[STRIP], scales[STRIP];
    float errors2[STRIP], peaks[STRIP];
    int32_t bytes[STRIP];
    uint32_t words[STRIP];
} Strip;

INLINE double number(const int in_float, const char *row, Py_ssize_t j)
{
    return in_float ? (double)((const float *)row)[j] : ((const double *)row)[j];
}

INLINE float within(float t)
{
    t = t < 127.0f ? t : 127.0f;
    return t > -127.0f ? t : -127.0f;
}

/* The nearest whole number; its sum with `large` has no digits behind the point. */
INLINE float nearest(float t)
{
    const float large = 12582912.0f; /* 1.5 * 2^23 */
    return (t + large) - large;
}

INLINE float larger(float a, float b) { return a > b ? a : b; }
INLINE float size_of(float t) { return t < 0.0f ? -t : t; }

/* Four rows of some columns: each is added up, and cut into a byte. */
INLINE void cut_quad(const int in_float, const char *const rows[4], int width, Strip *restrict s)
{
    const char *const row0 = rows[0], *const row1 = rows[1], *const row2 = rows[2],
                     *const row3 = rows[3];
    for (int j = 0; j < width; j++) {
        const double x0 = number(in_float, row0, j), x1 = number(in_float, row1, j);
        const double x2 = number(in_float, row2, j), x3 = number(in_float, row3, j);
        const double c = s->centers[j], scale = s->scales[j];
        s->sums[j] += (x0 + x1) + (x2 + x3);
        s->squares[j] += (x0 * x0 + x1 * x1) + (x2 * x2 + x3 * x3);
        const float t0 = (float)((x0 - c) * scale), t1 = (float)((x1 - c) * scale);
        const float t2 = (float)((x2 - c) * scale), t3 = (float)((x3 - c) * scale);
        const float k0 = nearest(within(t0)), k1 = nearest(within(t1));
        const float k2 = nearest(within(t2)), k3 = nearest(within(t3));
        const int32_t i0 = (int32_t)k0, i1 = (int32_t)k1, i2 = (int32_t)k2, i3 = (int32_t)k3;
        s->bytes[j] += (i0 + i1) + (i2 + i3);
        s->words[j] = (uint32_t)(i0 + 128) | (uint32_t)(i1 + 128) << 8 |
                      (uint32_t)(i2 + 128) << 16 | (uint32_t)(i3 + 128) << 24;
        s->errors2[j] += ((t0 - k0) * (t0 - k0) + (t1 - k1) * (t1 - k1)) +
                         ((t2 - k2) * (t2 - k2) + (t3 - k3) * (t3 - k3));
        s->peaks[j] = larger(s->peaks[j], larger(larger(size_of(t0), size_of(t1)),
                                                 larger(size_of(t2), size_of(t3))));
    }
}

/* The last rows, fewer than four, and what fills them up. */
static void cut_rest(const int in_float, const char *const rows[4], int count, int width, Strip *s)
{
    for (int j = 0; j < width; j++) {
        s->words[j] = 0x80808080u;
        for (int i = 0; i < count; i++) {
            const double x = number(in_float, rows[i], j);
            const float t = (float)((x - s->centers[j]) * s->scales[j]), k = nearest(within(t));
            s->sums[j] += x;
            s->squares[j] += x * x;
            s->bytes[j] += (int32_t)k;
            s->words[j] ^= (uint32_t)(((int32_t)k + 128) ^ 128) << 8 * i;
            s->errors2[j] += (t - k) * (t - k);
            s->peaks[j] = larger(s->peaks[j], size_of(t));
        }
    }
}

/* Products of four rows with one response. */
INLINE void add_products(const int in_float, const char *const rows[4], int width, const double *v,
                         Py_ssize_t step, double *restrict to)
{
    const char *const row0 = rows[0], *const row1 = rows[1], *const row2 = rows[2],
                     *const row3 = rows[3];
    const double v0 = v[0], v1 = v[step], v2 = v[2 * step], v3 = v[3 * step];
    for (int j = 0; j < width; j++)
        to[j] += (v0 * number(in_float, row0, j) + v1 * number(in_float, row1, j)) +
                 (v2 * number(in_float, row2, j) + v3 * number(in_float, row3, j));
}

INLINE void write_words(const uint32_t *words, int width, uint8_t *to, Py_ssize_t panel_step)
{
    for (int j = 0; j < width; j += PANEL, to += panel_step) {
        uint32_t panel[PANEL];
        for (int g = 0; g < PANEL; g++)
            panel[g] = j + g < width ? words[j + g] : 0x80808080u;
        memcpy(to, width - j < PANEL ? panel : words + j, QUAD);
    }
}

INLINE void begin_strip(const Block *X, Py_ssize_t j, int width, Strip *s)
{
    memset(s, 0, sizeof *s);
    for (int g = 0; g < width; g++) {
        s->centers[g] = X->centers[j + g];
        s->scales[g] = X->scales[j + g];
    }
}

INLINE void end_strip(const Block *X, Py_ssize_t j, int width, const Strip *s)
{
    for (int g = 0; g < width; g++) {
        X->found[SUM][j + g] += s->sums[g];
        X->found[SQUARE][j + g] += s->squares[g];
        X->found[BYTES][j + g] += s->bytes[g];
        X->found[ERROR][j + g] += s->errors2[g];
        X->found[PEAK][j + g] = X->found[PEAK][j + g] > s->peaks[g] ? X->found[PEAK][j + g]
                                                                     : s->peaks[g];
    }
}

INLINE void cut_block(const int in_float, const Block *X, Strip *s)
{
    const Py_ssize_t size = in_float ? 4 : 8;
    for (Py_ssize_t j = 0; j < X->n; j += STRIP) {
        const int width = (int)(X->n - j < STRIP ? X->n - j : STRIP);
        uint8_t *to = X->to + j / PANEL * X->panel_step;
        begin_strip(X, j, width, s);
        for (Py_ssize_t i = 0; i < X->N; i += 4, to += QUAD) {
            const int count = (int)(X->N - i < 4 ? X->N - i : 4);
            const char *rows[4];
            for (int r = 0; r < 4; r++)
                rows[r] = X->B + (i + (r < count ? r : 0)) * X->step + j * size;
            if (i + 8 <= X->N) /* the next rows, on their way while these are worked on */
                for (int r = 0; r < 4; r++)
                    for (Py_ssize_t at = 0; at < width * size; at += 64)
                        PREFETCH(rows[r] + 4 * X->step + at);
            if (count < 4)
                cut_rest(in_float, rows, count, width, s);
            else if (width == STRIP)
                cut_quad(in_float, rows, STRIP, s);
            else
                cut_quad(in_float, rows, width, s);
            write_words(s->words, width, to, X->panel_step);
            for (Py_ssize_t r = 0; r < X->m; r++) {
                double v[4] = {0};
                for (int k = 0; k < count; k++)
                    v[k] = X->V[(i + k) * X->V_step + r];
                add_products(in_float, rows, width, v, 1, X->VtB + r * X->VtB_step + j);
            }
        }
        end_strip(X, j, width, s);
    }
}

FOR_EACH_PROCESSOR
static void cut_doubles(const Block *X, Strip *s) { cut_block(0, X, s); }

FOR_EACH_PROCESSOR
static void cut_floats(const Block *X, Strip *s) { cut_block(1, X, s); }

/* Whether copy has room for so many columns and, from its quad on, so many rows. */
static int has_room(const Py_buffer *copy, Py_ssize_t quad, Py_ssize_t N, Py_ssize_t n)
{
    return copy->shape[2] == QUAD && copy->strides[1] == QUAD && quad >= 0 &&
           quad <= copy->shape[1] && (N + 3) / 4 <= copy->shape[1] - quad &&
           (n + PANEL - 1) / PANEL == copy->shape[0];
}

static PyObject *cut_to_bytes(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[7];
    Py_ssize_t quad;
    Arrays arrays = {.n = 0};
    const char *type;
    if (!PyArg_ParseTuple(args, "OOOOOnOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &quad, &given[5], &given[6]) ||
        (type = float_type(given[0])) == NULL)
        return NULL;
    Py_buffer *B = take_array(&arrays, given[0], type, 2, 0);
    Py_buffer *V = take_array(&arrays, given[1], "d", 2, 0);
    Py_buffer *centers = take_array(&arrays, given[2], "d", 1, 0);
    Py_buffer *scales = take_array(&arrays, given[3], "d", 1, 0);
    Py_buffer *copy = take_array(&arrays, given[4], "B", 3, 1);
    Py_buffer *found = take_array(&arrays, given[5], "d", 2, 1);
    Py_buffer *VtB = take_array(&arrays, given[6], "d", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = B->shape[0], n = B->shape[1];
    if (centers->shape[0] != n || scales->shape[0] != n || found->shape[0] != KINDS ||
        found->shape[1] != n || V->shape[0] != N || VtB->shape[0] != V->shape[1] ||
        VtB->shape[1] != n || !has_room(copy, quad, N, n) || N > MOST_ROWS)
        return finish_call(&arrays, NO_FIT);
    Block X = {.B = B->buf, .step = B->strides[0], .N = N, .n = n, .in_float = B->itemsize == 4,
               .V = V->buf, .V_step = V->strides[0] / 8, .m = V->shape[1],
               .centers = centers->buf, .scales = scales->buf,
               .to = (uint8_t *)copy->buf + quad * QUAD, .panel_step = copy->strides[0],
               .VtB = VtB->buf, .VtB_step = VtB->strides[0] / 8};
    for (int kind = 0; kind < KINDS; kind++)
        X.found[kind] = (double *)((char *)found->buf + kind * found->strides[0]);
    Strip *strip = malloc(sizeof *strip);
    if (strip == NULL)
        return finish_call(&arrays, "out of memory");
    Py_BEGIN_ALLOW_THREADS;
    if (X.in_float)
        cut_floats(&X, strip);
    else
        cut_doubles(&X, strip);
    Py_END_ALLOW_THREADS;
    free(strip);
    return finish_call(&arrays, NULL);
}

/* Products of some quads of a panel with directions of two bytes, 128 in each byte of the copy counted
 * in. Bytes of direction g stand at directions[g], those of lower worth `lower` behind them; sums
 * of the upper ones at sums[g], of the lower ones PANEL behind. */
typedef struct {
    const int8_t *directions[THICK];
    Py_ssize_t lower;
    int32_t sums[THICK][2 * PANEL];
} Products;

FOR_EACH_PROCESSOR
static void multiply_plain(const uint8_t *copy, Py_ssize_t quads, int b, Products *to)
{
    for (int g = 0; g < b; g++) {
        const int8_t *upper = to->directions[g], *lower = upper + to->lower;
        int32_t *restrict high = to->sums[g], *restrict low = high + PANEL;
        const uint8_t *from = copy;
        for (Py_ssize_t q = 0; q < quads; q++, from += QUAD, upper += 4, lower += 4)
            for (int j = 0; j < PANEL; j++) {
                const int32_t b0 = from[4 * j], b1 = from[4 * j + 1], b2 = from[4 * j + 2],
                              b3 = from[4 * j + 3];
                high[j] += b0 * upper[0] + b1 * upper[1] + b2 * upper[2] + b3 * upper[3];
                low[j] += b0 * lower[0] + b1 * lower[1] + b2 * lower[2] + b3 * lower[3];
            }
    }
}

#if CAN_TARGET_AVX2
#include <immintrin.h>

INLINE int32_t word_at(const int8_t *place)
{
    int32_t word;
    memcpy(&word, place, sizeof word);
    return word;
}

/* Bytes are made longer before they are multiplied: two products of bytes do not fit 16 bits. */
__attribute__((target("avx2"))) static void multiply_avx2(const uint8_t *copy, Py_ssize_t quads,
                                                          int b, Products *to)
{
    for (int g = 0; g < b; g++)
        for (int j = 0; j < PANEL; j += 16) {
            const int8_t *upper = to->directions[g], *lower = upper + to->lower;
            __m256i sums[8];
            for (int k = 0; k < 8; k++)
                sums[k] = _mm256_setzero_si256();
            for (Py_ssize_t q = 0; q < quads; q++) {
                const __m256i u = _mm256_cvtepi8_epi16(_mm_set1_epi32(word_at(upper + 4 * q)));
                const __m256i l = _mm256_cvtepi8_epi16(_mm_set1_epi32(word_at(lower + 4 * q)));
                for (int k = 0; k < 4; k++) {
                    const __m128i *at = (const __m128i *)(copy + q * QUAD + 4 * j) + k;
                    const __m256i x = _mm256_cvtepu8_epi16(_mm_loadu_si128(at));
                    sums[k] = _mm256_add_epi32(sums[k], _mm256_madd_epi16(x, u));
                    sums[4 + k] = _mm256_add_epi32(sums[4 + k], _mm256_madd_epi16(x, l));
                }
            }
            for (int k = 0; k < 8; k++) { /* two rows, and two, of each column */
                int32_t twos[8];
                _mm256_storeu_si256((__m256i *)twos, sums[k]);
                for (int c = 0; c < 4; c++)
                    to->sums[g][(k < 4 ? 0 : PANEL) + j + 4 * (k % 4) + c] +=
                        twos[2 * c] + twos[2 * c + 1];
            }
        }
}

#define FOR_VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))

/* Up to three directions, whose sums stay in registers; four products in one instruction. */
FOR_VNNI INLINE void
add_vnni(const int b, const uint8_t *copy, Py_ssize_t quads, Products *to, int first)
{
    __m512i high[3][4], low[3][4];
    for (int g = 0; g < b; g++)
        for (int k = 0; k < 4; k++)
            high[g][k] = low[g][k] = _mm512_setzero_si512();
    for (Py_ssize_t q = 0; q < quads; q++, copy += QUAD) {
        __m512i x[4];
        for (int k = 0; k < 4; k++) {
            PREFETCH_FAR(copy + 16 * QUAD + 64 * k);
            x[k] = _mm512_loadu_si512(copy + 64 * k);
        }
        for (int g = 0; g < b; g++) {
            const int8_t *at = to->directions[first + g] + 4 * q;
            const __m512i u = _mm512_set1_epi32(word_at(at));
            const __m512i l = _mm512_set1_epi32(word_at(at + to->lower));
            for (int k = 0; k < 4; k++) {
                high[g][k] = _mm512_dpbusd_epi32(high[g][k], x[k], u);
                low[g][k] = _mm512_dpbusd_epi32(low[g][k], x[k], l);
            }
        }
    }
    for (int g = 0; g < b; g++)
        for (int k = 0; k < 4; k++) {
            int32_t *up = to->sums[first + g] + 16 * k, *down = up + PANEL;
            _mm512_storeu_si512(up, _mm512_add_epi32(high[g][k], _mm512_loadu_si512(up)));
            _mm512_storeu_si512(down, _mm512_add_epi32(low[g][k], _mm512_loadu_si512(down)));
        }
}

FOR_VNNI static void multiply_vnni(const uint8_t *copy, Py_ssize_t quads, int b, Products *to)
{
    int g = 0;
    for (; g + 3 <= b; g += 3)
        add_vnni(3, copy, quads, to, g);
    if (g + 2 == b)
        add_vnni(2, copy, quads, to, g);
    else if (g + 1 == b)
        add_vnni(1, copy, quads, to, g);
}
#endif

typedef void Multiply(const uint8_t *, Py_ssize_t, int, Products *);

/* The quickest way of this processor, or one that is not better than `most` (for tests). */
static Multiply *best_way(int most)
{
#if CAN_TARGET_AVX2
    if (most >= 2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni"))
        return multiply_vnni;
    if (most >= 1 && __builtin_cpu_supports("avx2"))
        return multiply_avx2;
#endif
    (void)most;
    return multiply_plain;
}

/* Products of some directions, (2 b, rows), with all panels; out (b, columns). */
static void multiply(Multiply *way, const Py_buffer *copy, const int8_t *directions,
                     Py_ssize_t step, int b, double *out, Py_ssize_t out_step)
{
    const Py_ssize_t quads = copy->shape[1];
    Products to = {.lower = step};
    for (Py_ssize_t p = 0; p < copy->shape[0]; p++) {
        const uint8_t *from = (const uint8_t *)copy->buf + p * copy->strides[0];
        for (int g = 0; g < b; g++)
            memset(out + g * out_step + p * PANEL, 0, PANEL * sizeof *out);
        for (Py_ssize_t q = 0; q < quads; q += RUN) {
            const Py_ssize_t count = quads - q < RUN ? quads - q : RUN;
            for (int g = 0; g < b; g++)
                to.directions[g] = directions + 2 * g * step + 4 * q;
            memset(to.sums, 0, sizeof to.sums);
            way(from + q * QUAD, count, b, &to);
            for (int g = 0; g < b; g++)
                for (int j = 0; j < PANEL; j++)
                    out[g * out_step + p * PANEL + j] +=
                        256.0 * to.sums[g][j] + to.sums[g][PANEL + j];
        }
    }
}

static PyObject *byte_products(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[3];
    int most;
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOi", &given[0], &given[1], &given[2], &most))
        return NULL;
    Py_buffer *copy = take_array(&arrays, given[0], "B", 3, 0);
    Py_buffer *directions = take_array(&arrays, given[1], "b", 2, 0);
    Py_buffer *out = take_array(&arrays, given[2], "d", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t b = out->shape[0];
    if (copy->shape[2] != QUAD || copy->strides[1] != QUAD || b > THICK ||
        directions->shape[0] != 2 * b || directions->shape[1] != 4 * copy->shape[1] ||
        out->shape[1] != PANEL * copy->shape[0])
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    multiply(best_way(most), copy, directions->buf, directions->strides[0], (int)b, out->buf,
             out->strides[0] / 8);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

/* What the gains of columns are at most; see criteria/bounds.py. Those of columns that are known are
 * no bounds, but -1. */
FOR_EACH_PROCESSOR
static void bound(const double *C, Py_ssize_t C_step, Py_ssize_t m, const double *restrict d,
                  const double *restrict errors, const double *restrict known, Py_ssize_t n,
                  const double numbers[3], double *restrict bounds)
{
    const double lost = numbers[0], spectral = numbers[1], rounding = numbers[2];
    for (Py_ssize_t j = 0; j < n; j++)
        bounds[j] = 0.0;
    for (Py_ssize_t row = 0; row < m; row++) {
        const double *restrict c = C + row * C_step;
        for (Py_ssize_t j = 0; j < n; j++)
            bounds[j] += c[j] * c[j];
    }
    for (Py_ssize_t j = 0; j < n; j++) {
        const double error = errors[j] + lost * (1.0 + errors[j]) + rounding;
        const double taken = d[j] < 1.0 ? 1.0 - d[j] : 0.0;
        const double most = sqrt(bounds[j]) + spectral * error + rounding;
        const double along = sqrt(taken) + error;
        const double left = 1.0 - along * along;
        const double at_most = left > 0.0 ? most * most / left : HUGE_VAL;
        bounds[j] = known[j] > 0.0 ? -1.0 : at_most;
    }
}

static PyObject *bound_columns(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[5];
    double numbers[3];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOdddO", &given[0], &given[1], &given[2], &given[3], &numbers[0],
                          &numbers[1], &numbers[2], &given[4]))
        return NULL;
    Py_buffer *C = take_array(&arrays, given[0], "d", 2, 0);
    Py_buffer *d = take_array(&arrays, given[1], "d", 1, 0);
    Py_buffer *errors = take_array(&arrays, given[2], "d", 1, 0);
    Py_buffer *known = take_array(&arrays, given[3], "d", 1, 0);
    Py_buffer *bounds = take_array(&arrays, given[4], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t n = C->shape[1];
    if (d->shape[0] != n || errors->shape[0] != n || known->shape[0] != n || bounds->shape[0] != n)
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    bound(C->buf, C->strides[0] / 8, C->shape[0], d->buf, errors->buf, known->buf, n, numbers,
          bounds->buf);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

PyMethodDef byte_methods[] = {
    {"cut_to_bytes", cut_to_bytes, METH_VARARGS,
     "cut_to_bytes(B, V, centers, scales, copy, quad, found, VtB): write the whole numbers nearest\n"
     "to (B - centers) * scales, at most 127, to the rows of copy from 4 * quad on; add to the rows\n"
     "of found, (5, n): sums and squares of B, sums of these bytes, squares of what they are off\n"
     "by, and raise the last to the largest |B - centers| * scales; VtB += V'B."},
    {"byte_products", byte_products, METH_VARARGS,
     "byte_products(copy, directions, out, most): out (b, columns) = (256 upper + lower)'(copy), for\n"
     "directions (2 b, rows) of an upper and a lower byte in turns; what was added to the bytes of\n"
     "copy counts, too. With most 0 in plain C, with 1 by AVX2 at best, with 2 by AVX-512."},
    {"bound_columns", bound_columns, METH_VARARGS,
     "bound_columns(C, d, errors, known, lost, spectral, rounding, bounds): write what gains are at\n"
     "most, -1 for those known; see criteria/bounds.py."},
    {NULL, NULL, 0, NULL},
};
