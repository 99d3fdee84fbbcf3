/* The small loops of one step of a greedy search, over all columns at once.
 *
 * Notation as in criteria/cancorr.py: L (k, n) rows of the factor, C (m, n), d (n,). With a few
 * hundred columns a step is a few microseconds of work, less than NumPy takes to be called.
 */
#include "native.h"

#include <math.h>
#include <string.h>

enum { PIECE = 512 }; /* columns whose numbers stay in the nearest cache */

/* r = (g - coefficients'L) / left, over the k rows of L. */
FOR_EACH_PROCESSOR
static void row_from_gram(const double *g, const double *L, Py_ssize_t L_step, Py_ssize_t k,
                          const double *coefficients, double left, Py_ssize_t n, double *r)
{
    const double inverse = 1.0 / left;
    for (Py_ssize_t start = 0; start < n; start += PIECE) {
        const Py_ssize_t end = start + PIECE < n ? start + PIECE : n;
        double piece[PIECE];
        memcpy(piece, g + start, (size_t)(end - start) * sizeof(double));
        for (Py_ssize_t s = 0; s < k; s++) {
            const double *row = L + s * L_step + start;
            const double along = coefficients[s];
            for (Py_ssize_t i = 0; i < end - start; i++)
                piece[i] -= along * row[i];
        }
        for (Py_ssize_t i = 0; i < end - start; i++)
            r[start + i] = piece[i] * inverse;
    }
}

/* C -= c r', d -= r * r. */
FOR_EACH_PROCESSOR
static void remove_row(const double *r, const double *c, Py_ssize_t m, Py_ssize_t n, double *C,
                       Py_ssize_t C_step, double *d)
{
    for (Py_ssize_t start = 0; start < n; start += PIECE) {
        const Py_ssize_t end = start + PIECE < n ? start + PIECE : n;
        for (Py_ssize_t i = start; i < end; i++)
            d[i] -= r[i] * r[i];
        for (Py_ssize_t row = 0; row < m; row++) {
            double *Ci = C + row * C_step;
            const double along = c[row];
            for (Py_ssize_t i = start; i < end; i++)
                Ci[i] -= along * r[i];
        }
    }
}

/* scores = min(colsum(C * C) / d, 1) where d >= plenty, else 0; return how many have less. */
FOR_EACH_PROCESSOR
static Py_ssize_t score_columns(const double *C, Py_ssize_t C_step, Py_ssize_t m, const double *d,
                                Py_ssize_t n, double plenty, double *scores)
{
    Py_ssize_t scarce = 0;
    for (Py_ssize_t start = 0; start < n; start += PIECE) {
        const Py_ssize_t end = start + PIECE < n ? start + PIECE : n;
        for (Py_ssize_t i = start; i < end; i++)
            scores[i] = 0.0;
        for (Py_ssize_t row = 0; row < m; row++) {
            const double *Ci = C + row * C_step;
            for (Py_ssize_t i = start; i < end; i++)
                scores[i] += Ci[i] * Ci[i];
        }
        for (Py_ssize_t i = start; i < end; i++) {
            const int enough = d[i] >= plenty;
            const double score = scores[i] / (enough ? d[i] : 1.0);
            scores[i] = enough ? (score < 1.0 ? score : 1.0) : 0.0;
            scarce += !enough;
        }
    }
    return scarce;
}

static PyObject *row_from_gram_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    enum { GRAM, FACTOR, COEFFICIENTS, ROW, COUNT };
    static const int axes[COUNT] = {1, 2, 1, 1};
    PyObject *given[COUNT];
    Py_buffer views[COUNT];
    double left;
    int taken = 0, failed = -1;
    if (!PyArg_ParseTuple(args, "OOOdO", &given[0], &given[1], &given[2], &left, &given[3]))
        return NULL;
    for (; taken < COUNT; taken++)
        if (get_array(given[taken], &views[taken], "d", axes[taken], taken == ROW) < 0)
            goto release;
    const Py_ssize_t n = views[GRAM].shape[0], k = views[COEFFICIENTS].shape[0];
    if (views[FACTOR].shape[0] < k || views[FACTOR].shape[1] != n || views[ROW].shape[0] != n) {
        bad_shapes();
        goto release;
    }
    Py_BEGIN_ALLOW_THREADS;
    row_from_gram(views[GRAM].buf, views[FACTOR].buf, views[FACTOR].strides[0] / 8, k,
                  views[COEFFICIENTS].buf, left, n, views[ROW].buf);
    Py_END_ALLOW_THREADS;
    failed = 0;
release:
    while (taken-- > 0)
        PyBuffer_Release(&views[taken]);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *remove_row_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    enum { ROW, ALONG, PRODUCTS, LEFT, COUNT };
    static const int axes[COUNT] = {1, 1, 2, 1};
    PyObject *given[COUNT];
    Py_buffer views[COUNT];
    int taken = 0, failed = -1;
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    for (; taken < COUNT; taken++)
        if (get_array(given[taken], &views[taken], "d", axes[taken], taken >= PRODUCTS) < 0)
            goto release;
    const Py_ssize_t n = views[ROW].shape[0], m = views[ALONG].shape[0];
    if (views[PRODUCTS].shape[0] != m || views[PRODUCTS].shape[1] != n ||
        views[LEFT].shape[0] != n) {
        bad_shapes();
        goto release;
    }
    Py_BEGIN_ALLOW_THREADS;
    remove_row(views[ROW].buf, views[ALONG].buf, m, n, views[PRODUCTS].buf,
               views[PRODUCTS].strides[0] / 8, views[LEFT].buf);
    Py_END_ALLOW_THREADS;
    failed = 0;
release:
    while (taken-- > 0)
        PyBuffer_Release(&views[taken]);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *score_columns_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    enum { PRODUCTS, LEFT, SCORES, COUNT };
    static const int axes[COUNT] = {2, 1, 1};
    PyObject *given[COUNT];
    Py_buffer views[COUNT];
    double plenty;
    int taken = 0, failed = -1;
    Py_ssize_t scarce = 0;
    if (!PyArg_ParseTuple(args, "OOdO", &given[0], &given[1], &plenty, &given[2]))
        return NULL;
    for (; taken < COUNT; taken++)
        if (get_array(given[taken], &views[taken], "d", axes[taken], taken == SCORES) < 0)
            goto release;
    const Py_ssize_t n = views[LEFT].shape[0];
    if (views[PRODUCTS].shape[1] != n || views[SCORES].shape[0] != n) {
        bad_shapes();
        goto release;
    }
    Py_BEGIN_ALLOW_THREADS;
    scarce = score_columns(views[PRODUCTS].buf, views[PRODUCTS].strides[0] / 8,
                           views[PRODUCTS].shape[0], views[LEFT].buf, n, plenty,
                           views[SCORES].buf);
    Py_END_ALLOW_THREADS;
    failed = 0;
release:
    while (taken-- > 0)
        PyBuffer_Release(&views[taken]);
    return failed ? NULL : PyLong_FromSsize_t(scarce);
}

PyMethodDef step_methods[] = {
    {"row_from_gram", row_from_gram_py, METH_VARARGS,
     "row_from_gram(g, L, coefficients, left, r): r = (g - coefficients'L) / left."},
    {"remove_row", remove_row_py, METH_VARARGS,
     "remove_row(r, c, C, d): C -= c r', d -= r * r."},
    {"score_columns", score_columns_py, METH_VARARGS,
     "score_columns(C, d, plenty, scores): min(colsum(C * C) / d, 1) where d >= plenty, else 0;\n"
     "returns how many columns have less."},
    {NULL, NULL, 0, NULL},
};
