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
    FEW = 4,               /* rows whose subsets are summed */
    SUBSETS = 1 << FEW,
    GROUPS = 8,            /* groups of so many rows whose sums stay in the nearest cache */
    BLOCK = FEW * GROUPS,  /* rows of these: one code of eight bytes for each plane */
    RUN = 16,              /* blocks that are added up in float */
    LANES = 16,
    VECTORS = 4,
    WIDE = LANES * VECTORS, /* columns that are worked on at a time */
};

typedef float Sixteen __attribute__((vector_size(64), aligned(4), may_alias));
typedef float Subsets[GROUPS][SUBSETS][WIDE];

/* codes[block, b * (c - 1) + k, group] has a bit for each row of a group that is of class k. */
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
    const Py_ssize_t N = classes->shape[0], B = classes->shape[1], P = B * planes;
    if (codes->shape[0] * BLOCK < N || codes->shape[1] != P || codes->shape[2] != GROUPS ||
        (codes->len && (codes->strides[1] != GROUPS || codes->strides[0] != GROUPS * P)))
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t i = 0; i < N; i++) {
        const unsigned char *of = (const unsigned char *)classes->buf + i * classes->strides[0];
        unsigned char *to = (unsigned char *)codes->buf + i / BLOCK * P * GROUPS + i % BLOCK / FEW;
        const unsigned char bit = (unsigned char)(1 << i % FEW);
        if (planes == 1)
            for (Py_ssize_t b = 0; b < B; b++)
                to[b * GROUPS] |= of[b] == 0 ? bit : 0;
        else
            for (Py_ssize_t b = 0; b < B; b++)
                if (of[b] < planes)
                    to[(b * planes + of[b]) * GROUPS] |= bit;
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

/* x = the columns from `start` on of row i, less their offset; zeros where there is none. */
INLINE void read_row(const Planes *of, Py_ssize_t i, Py_ssize_t start, Py_ssize_t width, float *x)
{
    if (i >= of->N || width < WIDE)
        memset(x, 0, WIDE * sizeof *x);
    if (i >= of->N)
        return;
    const char *row = of->X + i * of->step;
    const double *offset = of->offset + start;
    if (of->is_float)
        for (Py_ssize_t j = 0; j < width; j++)
            x[j] = (float)(((const float *)row)[start + j] - offset[j]);
    else
        for (Py_ssize_t j = 0; j < width; j++)
            x[j] = (float)(((const double *)row)[start + j] - offset[j]);
}

/* The sums of all subsets of each group of rows from `first` on. */
INLINE void sum_subsets(const Planes *of, Py_ssize_t first, Py_ssize_t start, Py_ssize_t width,
                        Subsets sums)
{
    for (int g = 0; g < GROUPS; g++) {
        memset(sums[g][0], 0, sizeof sums[g][0]);
        for (int r = 0; r < FEW; r++) {
            float *x = sums[g][1 << r];
            const Py_ssize_t i = first + g * FEW + r;
            if (width == WIDE)
                read_row(of, i, start, WIDE, x);
            else
                read_row(of, i, start, width, x);
            for (int s = 1; s < 1 << r; s++)
                for (int v = 0; v < WIDE; v += LANES)
                    *(Sixteen *)&sums[g][(1 << r) + s][v] =
                        *(const Sixteen *)&sums[g][s][v] + *(const Sixteen *)&x[v];
        }
    }
}

FOR_EACH_PROCESSOR
static void add_planes(const Planes *of, float *room)
{
    Subsets sums __attribute__((aligned(64)));
    const Py_ssize_t blocks = (of->N + BLOCK - 1) / BLOCK, P = of->P;
    for (Py_ssize_t start = 0; start < of->n; start += WIDE) {
        const Py_ssize_t width = of->n - start < WIDE ? of->n - start : WIDE;
        for (Py_ssize_t run = 0; run < blocks; run += RUN) {
            const Py_ssize_t end = run + RUN < blocks ? run + RUN : blocks;
            memset(room, 0, (size_t)((P + 1) * WIDE) * sizeof *room);
            for (Py_ssize_t block = run; block < end; block++) {
                sum_subsets(of, block * BLOCK, start, width, sums);
                const unsigned char *codes = of->codes + block * P * GROUPS;
                for (Py_ssize_t p = 0; p <= P; p++) {
                    uint64_t code = 0x0F0F0F0F0F0F0F0F;
                    if (p < P)
                        memcpy(&code, codes + p * GROUPS, sizeof code);
                    Sixteen *total = (Sixteen *)(room + p * WIDE);
                    Sixteen a = total[0], b = total[1], c = total[2], d = total[3];
                    for (int g = 0; g < GROUPS; g++) {
                        const Sixteen *sum = (const Sixteen *)sums[g][code >> 8 * g & 15];
                        a += sum[0], b += sum[1], c += sum[2], d += sum[3];
                    }
                    total[0] = a, total[1] = b, total[2] = c, total[3] = d;
                }
            }
            for (Py_ssize_t p = 0; p <= P; p++) {
                double *to = of->out + p * of->out_step + start;
                for (Py_ssize_t j = 0; j < width; j++)
                    to[j] += room[p * WIDE + j];
            }
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
    float *room = malloc((size_t)((P + 1) * WIDE) * sizeof *room);
    if (room == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    const Planes of = {.X = X->buf, .N = N, .n = n, .step = X->strides[0], .P = P,
                       .out_step = out->strides[0] / 8, .is_float = X->itemsize == 4,
                       .codes = codes->buf, .offset = offset->buf, .out = out->buf};
    Py_BEGIN_ALLOW_THREADS;
    add_planes(&of, room);
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
    char *tail = malloc((size_t)(m + 2) * 64);
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
     "class_planes(classes, planes, codes): set the bits of rows in codes (blocks, B * planes, 8),\n"
     "which begin as zeros; classes (N, B) are the classes of rows in each permutation."},
    {"permuted_sums", permuted_sums, METH_VARARGS,
     "permuted_sums(X, codes, offset, out): out[p] += the sum of the rows of X - offset whose bits\n"
     "are set in codes[:, p]; the last of out += the sum of all rows."},
    {"null_best", null_best, METH_VARARGS,
     "null_best(C, along, r, M, factors, best): C[b] -= outer(along[b], r), unless along is None;\n"
     "best[b] = the largest of factors * colsum(C[b] * solve(M[b], C[b])), or -1 where M[b] is\n"
     "nearly singular."},
    {NULL, NULL, 0, NULL},
};
