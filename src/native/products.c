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
};

#define INLINE __attribute__((always_inline)) static inline

/* How Z is made from columns of B. */
typedef struct {
    const int64_t *J;
    const double *means, *factors, *weights; /* weights may be NULL */
    double *sums;
} Gather;

#define REAL double
#define NAME(x) x##_double
#include "thin.inc"
#undef NAME
#undef REAL

#define REAL float
#define NAME(x) x##_float
#include "thin.inc"
#undef NAME
#undef REAL

/* The type of a block: "f" or "d", or NULL with an error set. */
static const char *float_type(PyObject *block)
{
    Py_buffer view;
    if (PyObject_GetBuffer(block, &view, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return NULL;
    const char *type = view.itemsize == 4 ? "f" : "d";
    PyBuffer_Release(&view);
    return type;
}

static void multiply(void *Z, Py_ssize_t z_step, Py_ssize_t b, const Gather *from,
                     const Py_buffer *B, const Py_buffer *out, double *squares)
{
    const Py_ssize_t N = B->shape[0], n = B->shape[1], b_step = B->strides[0] / B->itemsize;
    const Py_ssize_t out_step = out->strides[0] / 8;
    if (B->itemsize == 4)
        thin_float(Z, z_step, b, from, B->buf, b_step, N, n, out->buf, out_step, squares);
    else
        thin_double(Z, z_step, b, from, B->buf, b_step, N, n, out->buf, out_step, squares);
}

static PyObject *cross(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[4];
    Arrays arrays = {.n = 0};
    const char *type;
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]) ||
        (type = float_type(given[1])) == NULL)
        return NULL;
    Py_buffer *Z = take_array(&arrays, given[0], type, 2, 0);
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
    multiply(Z->buf, Z->strides[0] / Z->itemsize, Z->shape[1], NULL, B, out,
             squares ? squares->buf : NULL);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

/* Whether all of columns J are columns of B. */
static int are_columns(const Py_buffer *J, const Py_buffer *B)
{
    const int64_t *column = J->buf;
    int fits = 1;
    for (Py_ssize_t g = 0; g < J->shape[0]; g++)
        fits = fits && column[g] >= 0 && column[g] < B->shape[1];
    return fits;
}

static PyObject *gram(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[7];
    Arrays arrays = {.n = 0};
    const char *type;
    if (!PyArg_ParseTuple(args, "OOOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &given[6]) ||
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
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t b = J->shape[0], N = B->shape[0];
    if (b > THIN || means->shape[0] != b || factors->shape[0] != b || sums->shape[0] != b ||
        out->shape[0] != b || out->shape[1] != B->shape[1] ||
        (weights && weights->shape[0] != N) || !are_columns(J, B))
        return finish_call(&arrays, NO_FIT);
    const Gather from = {J->buf, means->buf, factors->buf, weights ? weights->buf : NULL,
                         sums->buf};
    void *Z = malloc((size_t)(N * b * B->itemsize + 1));
    if (Z == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    Py_BEGIN_ALLOW_THREADS;
    multiply(Z, b, b, &from, B, out, NULL);
    Py_END_ALLOW_THREADS;
    free(Z);
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
        __builtin_prefetch(row + 16 * B->strides[0]);
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
     "cross(Z, B, out, squares): out += Z'B, and squares += the column sums of B*B unless None."},
    {"gram", gram, METH_VARARGS,
     "gram(B, J, means, factors, weights, out, sums): out += Z'B and sums += the column sums of\n"
     "Z = weights * (B[:, J] - means) * factors; weights may be None."},
    {"take", take, METH_VARARGS, "take(B, J, A): A = B[:, J], as double."},
    {NULL, NULL, 0, NULL},
};
