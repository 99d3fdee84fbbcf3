/* The module: what its files offer, put together. */
#include "native.h"

#include <string.h>

int get_array(PyObject *object, Py_buffer *view, const char *format, int ndim, int writable)
{
    int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) < 0)
        return -1;
    /* NumPy tells 64-bit integers as "l" or "q", whichever the platform calls them. */
    const char *given = view->format ? view->format : "B";
    int same = strcmp(given, format) == 0 ||
               (view->itemsize == 8 && strcmp(format, "q") == 0 && strcmp(given, "l") == 0) ||
               (view->itemsize == 8 && strcmp(format, "Q") == 0 && strcmp(given, "L") == 0);
    if (!same || view->ndim != ndim) {
        PyErr_Format(PyExc_TypeError, "expected %d axes of type %s, got %d of type %s", ndim,
                     format, view->ndim, given);
        PyBuffer_Release(view);
        return -1;
    }
    if (view->len > 0 && view->shape[ndim - 1] > 1 && view->strides[ndim - 1] != view->itemsize) {
        PyErr_SetString(PyExc_TypeError, "the last axis should be contiguous");
        PyBuffer_Release(view);
        return -1;
    }
    return 0;
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
                         PyModule_AddFunctions(made, count_methods) < 0)) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
