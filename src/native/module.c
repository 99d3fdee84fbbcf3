/* The module: what its files offer, put together. */
#include "native.h"

#include <string.h>

/* NumPy tells integers of four and eight bytes by any of the names that the platform has. */
static int is_format(const Py_buffer *view, const char *format)
{
    const char *given = view->format ? view->format : "B";
    if (strcmp(given, format) == 0)
        return 1;
    return (view->itemsize == 8 && strcmp(format, "q") == 0 && strcmp(given, "l") == 0) ||
           (view->itemsize == 8 && strcmp(format, "Q") == 0 && strcmp(given, "L") == 0) ||
           (view->itemsize == 4 && strcmp(format, "i") == 0 && strcmp(given, "l") == 0) ||
           (view->itemsize == 4 && strcmp(format, "I") == 0 && strcmp(given, "L") == 0);
}

static int check_array(const Py_buffer *view, const char *format, int ndim)
{
    if (!is_format(view, format) || view->ndim != ndim) {
        PyErr_Format(PyExc_TypeError, "expected %d axes of type %s, got %d of type %s", ndim,
                     format, view->ndim, view->format ? view->format : "B");
        return -1;
    }
    if (view->len > 0 && view->shape[ndim - 1] > 1 && view->strides[ndim - 1] != view->itemsize) {
        PyErr_SetString(PyExc_TypeError, "the last axis should be contiguous");
        return -1;
    }
    int aligned = (uintptr_t)view->buf % (size_t)view->itemsize == 0;
    for (int axis = 0; axis < ndim; axis++)
        aligned = aligned && (view->shape[axis] < 2 || view->strides[axis] % view->itemsize == 0);
    if (view->len > 0 && !aligned) {
        PyErr_SetString(PyExc_TypeError, "numbers should be aligned in memory");
        return -1;
    }
    return 0;
}

Py_buffer *take_array(Arrays *arrays, PyObject *object, const char *format, int ndim, int writable)
{
    Py_buffer *view = &arrays->views[arrays->n];
    const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyErr_Occurred() || PyObject_GetBuffer(object, view, flags) < 0)
        return NULL;
    if (check_array(view, format, ndim) < 0) {
        PyBuffer_Release(view);
        return NULL;
    }
    arrays->n++;
    return view;
}

const char *float_type(PyObject *block)
{
    Py_buffer view;
    if (PyObject_GetBuffer(block, &view, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return NULL;
    const char *type = view.itemsize == 4 ? "f" : "d";
    PyBuffer_Release(&view);
    return type;
}

int are_columns(const Py_buffer *J, const Py_buffer *B)
{
    const int64_t *column = J->buf;
    int fits = 1;
    for (Py_ssize_t g = 0; g < J->shape[0]; g++)
        fits = fits && column[g] >= 0 && column[g] < B->shape[1];
    return fits;
}

/* The first byte of an array, and the one past its last; rows may be stored in any order. */
static void extent(const Py_buffer *view, const char **low, const char **high)
{
    const Py_ssize_t last = view->ndim - 1;
    Py_ssize_t back = 0, forth = view->shape[last] * view->itemsize;
    for (Py_ssize_t axis = 0; axis < last; axis++) {
        const Py_ssize_t step = (view->shape[axis] - 1) * view->strides[axis];
        back += step < 0 ? step : 0;
        forth += step > 0 ? step : 0;
    }
    const int empty = view->len == 0;
    *low = (const char *)view->buf + (empty ? 0 : back);
    *high = (const char *)view->buf + (empty ? 0 : forth);
}

/* Whether what is written stands apart from all other arrays: indices are checked before the first
 * number is written, and would not be what they were. */
int stands_apart(const Arrays *arrays, const Py_buffer *written)
{
    const char *low, *high, *from, *to;
    extent(written, &low, &high);
    for (int k = 0; k < arrays->n; k++) {
        if (&arrays->views[k] == written)
            continue;
        extent(&arrays->views[k], &from, &to);
        if (low < to && from < high)
            return 0;
    }
    return 1;
}

PyObject *finish_call(Arrays *arrays, const char *complaint)
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

PyObject *finish_with(Arrays *arrays, PyObject *value)
{
    while (arrays->n > 0)
        PyBuffer_Release(&arrays->views[--arrays->n]);
    return value;
}

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    "_native",
    "Compiled twins of a few NumPy loops; see orthoselect.native.",
    0,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && (PyModule_AddFunctions(made, product_methods) < 0 ||
                         PyModule_AddFunctions(made, exact_methods) < 0 ||
                         PyModule_AddFunctions(made, look_methods) < 0 ||
                         PyModule_AddFunctions(made, lookahead_methods) < 0 ||
                         PyModule_AddFunctions(made, step_methods) < 0 ||
                         PyModule_AddFunctions(made, sparse_methods) < 0 ||
                         PyModule_AddFunctions(made, count_methods) < 0 ||
                         PyModule_AddFunctions(made, leaps_methods) < 0 ||
                         PyModule_AddFunctions(made, simulation_methods) < 0 ||
                         PyModule_AddFunctions(made, chance_methods) < 0 ||
                         PyModule_AddFunctions(made, byte_methods) < 0 ||
                         PyModule_AddFunctions(made, coding_methods) < 0 ||
                         PyModule_AddFunctions(made, digest_methods) < 0)) {
        Py_DECREF(made);
        return NULL;
    }
#ifdef Py_GIL_DISABLED
    if (made != NULL)
        PyUnstable_Module_SetGIL(made, Py_MOD_GIL_NOT_USED);
#endif
    return made;
}
