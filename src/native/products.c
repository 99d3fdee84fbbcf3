/* Products of a tall block with a few columns, at the speed of reading the block.
 *
 * A BLAS copies the block into an order of its own before it multiplies, which pays for square
 * products; for thin ones the copy costs more than the product.
 */
#include "native.h"

#include <string.h>

enum {
    RUN = 32,    /* rows whose sums stay in registers */
    PANEL = 512, /* columns whose sums stay in the nearest cache */
};

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

static PyObject *thin(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[4];
    Py_buffer Z, B, out, squares = {0};
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    if (PyObject_GetBuffer(given[1], &B, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return NULL;
    const int single = B.itemsize == 4;
    PyBuffer_Release(&B);
    const char *type = single ? "f" : "d";
    if (get_array(given[0], &Z, type, 2, 0) < 0)
        return NULL;
    if (get_array(given[1], &B, type, 2, 0) < 0)
        goto release_Z;
    if (get_array(given[2], &out, "d", 2, 1) < 0)
        goto release_B;
    const int with_squares = given[3] != Py_None;
    if (with_squares && get_array(given[3], &squares, "d", 1, 1) < 0)
        goto release_out;
    const Py_ssize_t N = B.shape[0], n = B.shape[1], b = Z.shape[1];
    if (Z.shape[0] != N || out.shape[0] != b || out.shape[1] != n ||
        (with_squares && squares.shape[0] != n)) {
        PyErr_SetString(PyExc_ValueError, "shapes should be (N, b), (N, n), (b, n) and (n,)");
        goto release_squares;
    }
    Py_BEGIN_ALLOW_THREADS;
    const Py_ssize_t size = B.itemsize;
    if (single)
        thin_float(Z.buf, Z.strides[0] / size, b, B.buf, B.strides[0] / size, N, n, out.buf,
                   out.strides[0] / 8, with_squares ? squares.buf : NULL);
    else
        thin_double(Z.buf, Z.strides[0] / size, b, B.buf, B.strides[0] / size, N, n, out.buf,
                    out.strides[0] / 8, with_squares ? squares.buf : NULL);
    Py_END_ALLOW_THREADS;
release_squares:
    if (with_squares)
        PyBuffer_Release(&squares);
release_out:
    PyBuffer_Release(&out);
release_B:
    PyBuffer_Release(&B);
release_Z:
    PyBuffer_Release(&Z);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

PyMethodDef product_methods[] = {
    {"thin", thin, METH_VARARGS,
     "thin(Z, B, out, squares): out += Z'B, and squares += the column sums of B*B unless None."},
    {NULL, NULL, 0, NULL},
};
