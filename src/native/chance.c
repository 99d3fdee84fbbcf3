/* What chance would find: sums over permuted classes, and the best of each null response.
 *
 * Permuted classes: each permutation puts every row into one of c classes, and the sums of the rows
 * of each class are wanted. A plane is a permutation and one of its classes but the last. Rows are
 * taken four at a time: the sums of all their sixteen subsets are worked out once, and then a plane
 * adds one of these in place of up to four rows (the "four Russians" of Arlazarov et al., 1970).
 */
#include "native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW = 4, /* rows whose subsets are summed */
    SUBSETS = 1 << FEW,
    LANES = 16,                 /* columns that are worked on at a time, a register of floats */
    LAST = (SUBSETS - 1) * LANES,
    OF_GROUP = SUBSETS * LANES, /* floats of the sums of all subsets of a group */
    GROUPS = 16,                /* groups of so few rows, whose sums stay in the nearest cache */
    BLOCK = FEW * GROUPS,       /* rows of these; a plane has a code of so many bytes for them */
    RUN = 512,                  /* rows that are added up in float */
    TILES = 4,
    AHEAD = 8,                  /* rows that are fetched before they are read */
    PANEL = TILES * LANES,      /* columns that are read at a time */
    LINE = 64,                  /* bytes of a line of the cache, and of a register */
};

/* What one call works in; it begins with a line of the cache, and so does every vector of it. */
typedef struct {
    float x[TILES][RUN * LANES];   /* rows of some columns */
    float sums[GROUPS * OF_GROUP]; /* of all subsets of each group */
    float totals[];                /* (TILES, P + 1, LANES) */
} Desk;

/* codes[block, b * planes + k, group] has a bit for each row of a group that is of class k, the
 * first of them LANES: so a code is the place of the sum among those of all subsets. */
static void set_planes(const unsigned char *classes, Py_ssize_t N, Py_ssize_t planes,
                       Py_ssize_t block_step, unsigned char *codes)
{
    for (Py_ssize_t i = 0; i < N; i++) {
        unsigned char *to = codes + i / BLOCK * block_step + i % BLOCK / FEW;
        const unsigned char bit = (unsigned char)(LANES << i % FEW);
        if (classes[i] < planes)
            to[classes[i] * GROUPS] |= bit;
    }
}

/* The same for one plane, which needs no branches. */
static void set_plane(const unsigned char *classes, Py_ssize_t N, Py_ssize_t block_step,
                      unsigned char *codes)
{
    for (Py_ssize_t i = 0; i < N; i += FEW) {
        unsigned char code = 0;
        for (Py_ssize_t r = 0; r < FEW && i + r < N; r++)
            code |= (unsigned char)((classes[i + r] == 0 ? LANES : 0) << r);
        codes[i / BLOCK * block_step + i % BLOCK / FEW] = code;
    }
}

static PyObject *class_planes(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[2];
    Py_ssize_t planes;
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OnO", &given[0], &planes, &given[1]))
        return NULL;
    Py_buffer *classes = take_array(&arrays, given[0], "B", 2, 0);
    Py_buffer *codes = take_array(&arrays, given[1], "B", 3, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (planes < 1 || planes > UINT8_MAX) /* more than classes: B * planes might overflow */
        return finish_call(&arrays, NO_FIT);
    const Py_ssize_t B = classes->shape[0], N = classes->shape[1], P = B * planes;
    if (codes->shape[0] * BLOCK < N || codes->shape[1] != P || codes->shape[2] != GROUPS ||
        (codes->len && (codes->strides[1] != GROUPS || codes->strides[0] != GROUPS * P)))
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t b = 0; b < B; b++) {
        const unsigned char *of = (const unsigned char *)classes->buf + b * classes->strides[0];
        unsigned char *to = (unsigned char *)codes->buf + b * planes * GROUPS;
        if (planes == 1)
            set_plane(of, N, P * GROUPS, to);
        else
            set_planes(of, N, planes, P * GROUPS, to);
    }
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

typedef struct {
    const char *X;
    Py_ssize_t N, n, step, P, out_step; /* step in bytes */
    int is_float;
    const unsigned char *codes;
    const double *offset;
    double *out; /* (P + 1, n); the last row is the sum of all rows */
} Planes;

/* at->x = the columns from `start` on of rows from `first` on, less their offset; zeros beyond. */
INLINE void read_panel(const Planes *of, Py_ssize_t first, Py_ssize_t height, Py_ssize_t start,
                       Py_ssize_t width, Desk *at)
{
    const Py_ssize_t size = of->is_float ? 4 : 8;
    for (Py_ssize_t i = 0; i < height; i++) {
        const char *row = of->X + (first + i) * of->step + start * size;
        if (first + i + AHEAD < of->N) /* rows are far apart: nobody else would fetch them */
            for (Py_ssize_t line = 0; line < width * size; line += LINE)
                PREFETCH(row + AHEAD * of->step + line);
        float values[PANEL] = {0};
        if (of->is_float)
            for (Py_ssize_t j = 0; j < width; j++)
                values[j] = (float)(((const float *)row)[j] - of->offset[start + j]);
        else
            for (Py_ssize_t j = 0; j < width; j++)
                values[j] = (float)(((const double *)row)[j] - of->offset[start + j]);
        for (int t = 0; t < TILES; t++)
            memcpy(at->x[t] + i * LANES, values + t * LANES, LANES * sizeof(float));
    }
}

/* The sums of all subsets of each group of a block of rows; x may end before the block does. */
INLINE void sum_subsets(const float *x, Py_ssize_t height, float *sums)
{
    for (int g = 0; g < GROUPS; g++, sums += OF_GROUP) {
        *(Sixteen *)sums = (Sixteen){0};
        for (int r = 0; r < FEW; r++) {
            Sixteen more = (Sixteen){0};
            if (g * FEW + r < height)
                more = *(const Sixteen *)(x + (g * FEW + r) * LANES);
            for (int s = 0; s < 1 << r; s++)
                *(Sixteen *)(sums + ((1 << r) + s) * LANES) =
                    PLUS(Sixteen, *(const Sixteen *)(sums + s * LANES), more);
        }
    }
}

/* totals (P + 1, LANES) += the sums that codes (P, GROUPS) tell, and those of all rows. */
INLINE void add_subsets(const float *sums, const unsigned char *codes, Py_ssize_t P, float *totals)
{
    for (Py_ssize_t p = 0; p < P; p++) {
        const unsigned char *code = codes + p * GROUPS;
        Sixteen a = *(const Sixteen *)(totals + p * LANES), b = (Sixteen){0};
        for (int g = 0; g < GROUPS; g += 2) {
            const float *of = sums + g * OF_GROUP;
            a = PLUS(Sixteen, a, *(const Sixteen *)(of + (code[g] & LAST)));
            b = PLUS(Sixteen, b, *(const Sixteen *)(of + OF_GROUP + (code[g + 1] & LAST)));
        }
        *(Sixteen *)(totals + p * LANES) = PLUS(Sixteen, a, b);
    }
    Sixteen all = *(const Sixteen *)(totals + P * LANES);
    for (int g = 0; g < GROUPS; g++)
        all = PLUS(Sixteen, all, *(const Sixteen *)(sums + g * OF_GROUP + LAST));
    *(Sixteen *)(totals + P * LANES) = all;
}

/* Add totals of the columns from `start` on to what is asked for. */
INLINE void write_totals(const Planes *of, const float *totals, Py_ssize_t start)
{
    const Py_ssize_t width = of->n - start;
    for (Py_ssize_t p = 0; p <= of->P; p++, totals += LANES) {
        double *to = of->out + p * of->out_step + start;
        if (width >= LANES)
            for (int j = 0; j < LANES; j++)
                to[j] += totals[j];
        else
            for (int j = 0; j < width; j++)
                to[j] += totals[j];
    }
}

FOR_EACH_PROCESSOR
static void add_planes(const Planes *of, Desk *at)
{
    const Py_ssize_t P = of->P, tile = (P + 1) * LANES;
    for (Py_ssize_t start = 0; start < of->n; start += PANEL) {
        const Py_ssize_t width = of->n - start < PANEL ? of->n - start : PANEL;
        const Py_ssize_t tiles = (width + LANES - 1) / LANES;
        for (Py_ssize_t first = 0; first < of->N; first += RUN) {
            const Py_ssize_t height = of->N - first < RUN ? of->N - first : RUN;
            if (width == PANEL)
                read_panel(of, first, height, start, PANEL, at);
            else
                read_panel(of, first, height, start, width, at);
            memset(at->totals, 0, (size_t)(tiles * tile) * sizeof(float));
            for (Py_ssize_t t = 0; t < tiles; t++)
                for (Py_ssize_t i = 0; i < height; i += BLOCK) {
                    sum_subsets(at->x[t] + i * LANES, height - i, at->sums);
                    add_subsets(at->sums, of->codes + (first + i) / BLOCK * P * GROUPS, P,
                                at->totals + t * tile);
                }
            for (Py_ssize_t t = 0; t < tiles; t++)
                write_totals(of, at->totals + t * tile, start + t * LANES);
        }
    }
}

static PyObject *permuted_sums(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[4];
    Arrays arrays = {.n = 0};
    const char *type;
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]) ||
        (type = float_type(given[0])) == NULL)
        return NULL;
    Py_buffer *X = take_array(&arrays, given[0], type, 2, 0);
    Py_buffer *codes = take_array(&arrays, given[1], "B", 3, 0);
    Py_buffer *offset = take_array(&arrays, given[2], "d", 1, 0);
    Py_buffer *out = take_array(&arrays, given[3], "d", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = X->shape[0], n = X->shape[1], P = codes->shape[1];
    if (codes->shape[0] * BLOCK < N || codes->shape[2] != GROUPS || offset->shape[0] != n ||
        out->shape[0] != P + 1 || out->shape[1] != n ||
        (codes->len && (codes->strides[1] != GROUPS || codes->strides[0] != GROUPS * P)))
        return finish_call(&arrays, NO_FIT);
    char *room = malloc(sizeof(Desk) + (size_t)((P + 1) * PANEL) * sizeof(float) + LINE);
    if (room == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    Desk *at = (Desk *)(room + (LINE - (uintptr_t)room % LINE) % LINE);
    const Planes of = {.X = X->buf, .N = N, .n = n, .step = X->strides[0], .P = P,
                       .out_step = out->strides[0] / 8, .is_float = X->itemsize == 4,
                       .codes = codes->buf, .offset = offset->buf, .out = out->buf};
    Py_BEGIN_ALLOW_THREADS;
    add_planes(&of, at);
    Py_END_ALLOW_THREADS;
    free(room);
    return finish_call(&arrays, NULL);
}

/* Null responses: C (B, m, n) are their products with what is left of the columns, M (B, m, m)
 * what is left of them. The statistic of a column is c'M^-1 c times a factor of the column's own.
 */

enum { SINGULAR = -1 };
static const double LEAST_PIVOT = 1e-5; /* of M, which begins as the identity */

/* T = the inverse of the Cholesky factor of M, both (m, m); return whether M is well away from
 * having none. */
static int inverse_factor(const double *M, Py_ssize_t m, double *T)
{
    double *L = T + m * m; /* room behind it */
    for (Py_ssize_t i = 0; i < m; i++)
        for (Py_ssize_t j = 0; j <= i; j++) {
            double rest = M[i * m + j];
            for (Py_ssize_t k = 0; k < j; k++)
                rest -= L[i * m + k] * L[j * m + k];
            if (i == j && !(rest > LEAST_PIVOT))
                return 0;
            L[i * m + j] = i == j ? sqrt(rest) : rest / L[j * m + j];
        }
    for (Py_ssize_t j = 0; j < m; j++)
        for (Py_ssize_t i = j; i < m; i++) {
            double rest = i == j ? 1.0 : 0.0;
            for (Py_ssize_t k = j; k < i; k++)
                rest -= L[i * m + k] * T[k * m + j];
            T[i * m + j] = rest / L[i * m + i];
        }
    return 1;
}

/* C (m, n) of one null response, from which along r' is taken first, unless along is NULL. */
typedef struct {
    void *C;
    Py_ssize_t m, n, step;
    const double *along;
    const void *r, *factors;
} Null;

#define REAL double
#define NAME(x) x##_double
#include "chance.inc"
#undef NAME
#undef REAL

#define REAL float
#define NAME(x) x##_float
#include "chance.inc"
#undef NAME
#undef REAL

static PyObject *null_best(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[6];
    Arrays arrays = {.n = 0};
    const char *type;
    if (!PyArg_ParseTuple(args, "OOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5]) ||
        (type = float_type(given[0])) == NULL)
        return NULL;
    const int removes = given[1] != Py_None;
    Py_buffer *C = take_array(&arrays, given[0], type, 3, 1);
    Py_buffer *along = removes ? take_array(&arrays, given[1], "d", 2, 0) : NULL;
    Py_buffer *r = removes ? take_array(&arrays, given[2], type, 1, 0) : NULL;
    Py_buffer *M = take_array(&arrays, given[3], "d", 3, 0);
    Py_buffer *factors = take_array(&arrays, given[4], type, 1, 0);
    Py_buffer *best = take_array(&arrays, given[5], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t B = C->shape[0], m = C->shape[1], n = C->shape[2];
    if (M->shape[0] != B || M->shape[1] != m || M->shape[2] != m || factors->shape[0] != n ||
        best->shape[0] != B || (M->len && M->strides[1] != 8 * m) ||
        (removes && (along->shape[0] != B || along->shape[1] != m || r->shape[0] != n)))
        return finish_call(&arrays, NO_FIT);
    double *room = malloc((size_t)(2 * m * m + 1) * sizeof *room);
    char *tail = malloc((size_t)(m + 2) * LINE);
    if (room == NULL || tail == NULL) {
        free(room);
        free(tail);
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t b = 0; b < B; b++) {
        const Null of = {
            .C = (char *)C->buf + b * C->strides[0], .m = m, .n = n,
            .step = C->strides[1] / C->itemsize,
            .along = removes ? (const double *)((char *)along->buf + b * along->strides[0]) : NULL,
            .r = removes ? r->buf : NULL, .factors = factors->buf};
        const double *left = (const double *)((char *)M->buf + b * M->strides[0]);
        const int known = inverse_factor(left, m, room);
        const double most = C->itemsize == 4 ? step_float(&of, room, known, (float *)tail)
                                             : step_double(&of, room, known, (double *)tail);
        ((double *)best->buf)[b] = known ? most : SINGULAR;
    }
    Py_END_ALLOW_THREADS;
    free(room);
    free(tail);
    return finish_call(&arrays, NULL);
}

PyMethodDef chance_methods[] = {
    {"class_planes", class_planes, METH_VARARGS,
     "class_planes(classes, planes, codes): set the bits of rows in codes (blocks, B * planes, 16),\n"
     "which begin as zeros; classes (B, N) are the classes of rows in each permutation. There are\n"
     "at most 255 planes."},
    {"permuted_sums", permuted_sums, METH_VARARGS,
     "permuted_sums(X, codes, offset, out): out[p] += the sum of the rows of X - offset whose bits\n"
     "are set in codes[:, p]; the last of out += the sum of all rows."},
    {"null_best", null_best, METH_VARARGS,
     "null_best(C, along, r, M, factors, best): C[b] -= outer(along[b], r), unless along is None;\n"
     "best[b] = the largest of factors * colsum(C[b] * solve(M[b], C[b])), or -1 where M[b] is\n"
     "nearly singular."},
    {NULL, NULL, 0, NULL},
};
