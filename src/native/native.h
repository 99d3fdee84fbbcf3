/* What the files of this extension share.
 *
 * Every kernel has a NumPy twin that answers when there was no compiler, so a kernel is only ever a
 * quicker way to the same numbers. Arrays come in through the buffer protocol; kernels run without
 * the interpreter's lock, and keep nothing from one call to the next. setup.py says which API of
 * Python there is (Py_LIMITED_API, but not where Python has no global lock).
 */
#ifndef ORTHOSELECT_NATIVE_H
#define ORTHOSELECT_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "portable.h"

/* Arrays of one call, released together. */
enum { MOST_ARRAYS = 16 };
typedef struct {
    Py_buffer views[MOST_ARRAYS];
    int n;
} Arrays;

/* Take an array argument. `format` is the struct code expected ("d", "f", "B", "q", ...; "i" also
 * takes what NumPy calls a long of four bytes), `writable` whether the kernel writes to it. Only the
 * last axis has to be contiguous. NULL, with an error set, if this one or one before was wrong. */
Py_buffer *take_array(Arrays *arrays, PyObject *object, const char *format, int ndim, int writable);

/* Release all arrays; raise if an error was set, or a ValueError if there is a complaint. */
PyObject *finish_call(Arrays *arrays, const char *complaint);

/* Release all arrays; return the value. */
PyObject *finish_with(Arrays *arrays, PyObject *value);

/* The type of a block: "f" or "d", or NULL with an error set. */
const char *float_type(PyObject *block);

/* Whether all of columns J are columns of B. */
int are_columns(const Py_buffer *J, const Py_buffer *B);

/* Whether what is written stands apart from all other arrays: indices are checked before the first
 * number is written, and would not be what they were. */
int stands_apart(const Arrays *arrays, const Py_buffer *written);

#define NO_FIT "shapes do not fit each other"

extern PyMethodDef product_methods[];
extern PyMethodDef sparse_methods[];
extern PyMethodDef exact_methods[];
extern PyMethodDef look_methods[];
extern PyMethodDef lookahead_methods[];
extern PyMethodDef step_methods[];
extern PyMethodDef count_methods[];
extern PyMethodDef leaps_methods[];
extern PyMethodDef simulation_methods[];
extern PyMethodDef chance_methods[];
extern PyMethodDef byte_methods[];
extern PyMethodDef digest_methods[];
extern PyMethodDef coding_methods[];

#endif
