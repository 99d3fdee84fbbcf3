/* Products of a tall block with a few columns, at the speed of reading the block.
 *
 * A BLAS copies the block into an order of its own before it multiplies, which pays for square
 * products; for thin ones the copy costs more than the product.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

enum {
    THIN = 32,   /* the most columns Z may have */
    GROUP = 6,   /* columns of Z whose sums fit the registers */
    PANEL = 512, /* columns whose sums stay in the nearest cache */
    BLOCK = 256, /* rows of Z that are made at a time */
    FLOAT_RUN = 64, /* rows whose products are added up in float32 */
};

/* How Z is made from columns of B; all but the weights is padded to a multiple of four columns. */
typedef struct {
    Py_ssize_t b_padded;
    int64_t J[THIN];
    double means[THIN], factors[THIN], sums[THIN], peaks[THIN];
    const double *weights; /* or NULL */
} Gather;

#define REAL double
#define STORED double
#define NAME(x) x##_double
#include "thin.inc"
#undef NAME
#undef STORED

#define STORED float
#define NAME(x) x##_mixed
#include "thin.inc"
#undef NAME
#undef REAL

#define REAL float
#define NAME(x) x##_float
#include "thin.inc"
#undef NAME
#undef STORED
#undef REAL

/* Z is of the type of B; `in_double`, it is of double. */
static void multiply(void *Z, int in_double, Py_ssize_t z_step, Py_ssize_t b, Gather *from,
                     const Py_buffer *B, const Py_buffer *out, double *squares)
{
    const Py_ssize_t N = B->shape[0], n = B->shape[1], b_step = B->strides[0] / B->itemsize;
    const Py_ssize_t out_step = out->strides[0] / 8;
    if (B->itemsize == 4 && in_double)
        thin_mixed(Z, z_step, b, from, B->buf, b_step, N, n, out->buf, out_step, squares);
    else if (B->itemsize == 4)
        thin_float(Z, z_step, b, from, B->buf, b_step, N, n, out->buf, out_step, squares);
    else
        thin_double(Z, z_step, b, from, B->buf, b_step, N, n, out->buf, out_step, squares);
}

static PyObject *cross(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[4];
    Arrays arrays = {.n = 0};
    const char *type, *type_of_Z;
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]) ||
        (type = float_type(given[1])) == NULL || (type_of_Z = float_type(given[0])) == NULL)
        return NULL;
    if (type[0] == 'd')
        type_of_Z = type;
    Py_buffer *Z = take_array(&arrays, given[0], type_of_Z, 2, 0);
    Py_buffer *B = take_array(&arrays, given[1], type, 2, 0);
    Py_buffer *out = take_array(&arrays, given[2], "d", 2, 1);
    const int with_squares = given[3] != Py_None;
    Py_buffer *squares = with_squares ? take_array(&arrays, given[3], "d", 1, 1) : NULL;
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (Z->shape[0] != B->shape[0] || out->shape[0] != Z->shape[1] ||
        out->shape[1] != B->shape[1] || Z->shape[1] > THIN ||
        (squares && squares->shape[0] != B->shape[1]))
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    multiply(Z->buf, Z->itemsize == 8, Z->strides[0] / Z->itemsize, Z->shape[1], NULL, B, out,
             squares ? squares->buf : NULL);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

/* Columns past b are copies of the first that nobody reads; they are made zero. */
static Gather gather_from(const Py_buffer *J, const Py_buffer *means, const Py_buffer *factors,
                          const Py_buffer *weights)
{
    const Py_ssize_t b = J->shape[0];
    Gather from = {.b_padded = (b + 3) / 4 * 4, .weights = weights ? weights->buf : NULL};
    for (Py_ssize_t g = 0; g < from.b_padded; g++) {
        from.J[g] = ((const int64_t *)J->buf)[g < b ? g : 0];
        from.means[g] = g < b ? ((const double *)means->buf)[g] : 0.0;
        from.factors[g] = g < b ? ((const double *)factors->buf)[g] : 0.0;
    }
    return from;
}

static PyObject *gram(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[8];
    int in_double;
    Arrays arrays = {.n = 0};
    const char *type;
    if (!PyArg_ParseTuple(args, "OOOOOOOOp", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &given[6], &given[7], &in_double) ||
        (type = float_type(given[0])) == NULL)
        return NULL;
    Py_buffer *B = take_array(&arrays, given[0], type, 2, 0);
    Py_buffer *J = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *means = take_array(&arrays, given[2], "d", 1, 0);
    Py_buffer *factors = take_array(&arrays, given[3], "d", 1, 0);
    Py_buffer *weights =
        given[4] == Py_None ? NULL : take_array(&arrays, given[4], "d", 1, 0);
    Py_buffer *out = take_array(&arrays, given[5], "d", 2, 1);
    Py_buffer *sums = take_array(&arrays, given[6], "d", 1, 1);
    Py_buffer *errors2 = take_array(&arrays, given[7], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t b = J->shape[0], N = B->shape[0];
    if (b > THIN || means->shape[0] != b || factors->shape[0] != b || sums->shape[0] != b ||
        errors2->shape[0] != b || out->shape[0] != b || out->shape[1] != B->shape[1] ||
        (weights && weights->shape[0] != N) || !are_columns(J, B))
        return finish_call(&arrays, NO_FIT);
    Gather from = gather_from(J, means, factors, weights);
    double Z[BLOCK * THIN];
    Py_BEGIN_ALLOW_THREADS;
    if (b > 0)
        multiply(Z, in_double, from.b_padded, b, &from, B, out, NULL);
    Py_END_ALLOW_THREADS;
    for (Py_ssize_t g = 0; g < b; g++) {
        double *error2 = (double *)errors2->buf + g;
        const double here = FLOAT_RUN * from.peaks[g];
        ((double *)sums->buf)[g] += from.sums[g];
        *error2 = *error2 < here ? here : *error2;
    }
    return finish_call(&arrays, NULL);
}

/* A[i, g] = B[i, J[g]], as double. */
static PyObject *take(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[3];
    Arrays arrays = {.n = 0};
    const char *type;
    if (!PyArg_ParseTuple(args, "OOO", &given[0], &given[1], &given[2]) ||
        (type = float_type(given[0])) == NULL)
        return NULL;
    Py_buffer *B = take_array(&arrays, given[0], type, 2, 0);
    Py_buffer *J = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *A = take_array(&arrays, given[2], "d", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = B->shape[0], t = J->shape[0];
    const int64_t *columns = J->buf;
    if (A->shape[0] != N || A->shape[1] != t || !are_columns(J, B))
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t i = 0; i < N; i++) {
        const char *row = (const char *)B->buf + i * B->strides[0];
        double *to = (double *)((char *)A->buf + i * A->strides[0]);
        PREFETCH(row + 16 * B->strides[0]);
        if (B->itemsize == 4)
            for (Py_ssize_t g = 0; g < t; g++)
                to[g] = ((const float *)row)[columns[g]];
        else
            for (Py_ssize_t g = 0; g < t; g++)
                to[g] = ((const double *)row)[columns[g]];
    }
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

PyMethodDef product_methods[] = {
    {"cross", cross, METH_VARARGS,
     "cross(Z, B, out, squares): out += Z'B, and squares += the column sums of B*B unless None. Z\n"
     "is of the type of B, or in double, and then so are all products."},
    {"gram", gram, METH_VARARGS,
     "gram(B, J, means, factors, weights, out, sums, errors2, in_double): out += Z'B and sums += the\n"
     "column sums of Z = weights * (B[:, J] - means) * factors; weights may be None. Unless in_double,\n"
     "means and factors are rounded to the type of B, and so is Z. errors2 are raised to the largest\n"
     "sum of Z**2 / weights over a run of rows, times the rows of a run in float32."},
    {"take", take, METH_VARARGS, "take(B, J, A): A = B[:, J], as double."},
    {NULL, NULL, 0, NULL},
};
