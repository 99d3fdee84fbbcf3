/* A greedy search run ahead on a few hundred columns; see criteria/steps.py.
 *
 * Notation as there: G (q, q) are about the inner products of the q leading columns; rows (k, q)
 * those of the factor, followed by room for one row a step; C (m, q), d (q,).
 */
#include "native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const double *G;
    double *rows, *C, *d;
    uint8_t *open;
    const uint8_t *known;
    Py_ssize_t q, m, k, steps, G_step, rows_step, C_step;
} Ahead;

/* r += a0 x0 + a1 x1 + ... over `count` rows x. */
INLINE void add_rows(const double *x, Py_ssize_t step, const double *a, Py_ssize_t count,
                     Py_ssize_t q, double *restrict r)
{
    Py_ssize_t s = 0;
    for (; s + 4 <= count; s += 4, x += 4 * step)
        for (Py_ssize_t j = 0; j < q; j++)
            r[j] += a[s] * x[j] + a[s + 1] * x[j + step] + a[s + 2] * x[j + 2 * step] +
                    a[s + 3] * x[j + 3 * step];
    for (; s < count; s++, x += step)
        for (Py_ssize_t j = 0; j < q; j++)
            r[j] += a[s] * x[j];
}

/* Take column p: write its row r, and update C and d. */
INLINE void take_column(const Ahead *to, Py_ssize_t p, Py_ssize_t k, double floor, double *a,
                        double *restrict r)
{
    const Py_ssize_t q = to->q;
    const double left = sqrt(to->d[p] > floor ? to->d[p] : floor), own = sqrt(to->d[p]);
    memcpy(r, to->G + p * to->G_step, (size_t)q * sizeof *r);
    for (Py_ssize_t s = 0; s < k; s++)
        a[s] = -to->rows[s * to->rows_step + p];
    add_rows(to->rows, to->rows_step, a, k, q, r);
    for (Py_ssize_t j = 0; j < q; j++) {
        r[j] /= left;
        if (r[j] * r[j] > to->d[j]) /* no row has more of a column than is left; guesses may */
            r[j] = r[j] < 0 ? -sqrt(to->d[j]) : sqrt(to->d[j]);
    }
    r[p] = own;
    for (Py_ssize_t row = 0; row < to->m; row++) {
        double *restrict C = to->C + row * to->C_step;
        const double along = C[p] / left;
        for (Py_ssize_t j = 0; j < q; j++)
            C[j] -= along * r[j];
    }
    for (Py_ssize_t j = 0; j < q; j++) {
        const double less = to->d[j] - r[j] * r[j];
        to->d[j] = less > floor ? less : floor;
    }
}

/* Return the column that adds most, or -1 if none adds anything; scores is room. */
INLINE Py_ssize_t best_column(const Ahead *to, double *restrict scores)
{
    Py_ssize_t best = -1;
    double most = 0.0;
    for (Py_ssize_t j = 0; j < to->q; j++)
        scores[j] = 0.0;
    for (Py_ssize_t row = 0; row < to->m; row++) {
        const double *C = to->C + row * to->C_step;
        for (Py_ssize_t j = 0; j < to->q; j++)
            scores[j] += C[j] * C[j];
    }
    for (Py_ssize_t j = 0; j < to->q; j++)
        if (to->open[j] && scores[j] > most * to->d[j]) {
            best = j;
            most = scores[j] / to->d[j];
        }
    return best;
}

/* Take the first column, then the best again and again; winners (count,) are those not known. */
FOR_EACH_PROCESSOR
static Py_ssize_t search(const Ahead *to, double floor, double *room, int64_t *winners,
                         Py_ssize_t count)
{
    Py_ssize_t found = 0, p = 0;
    double *a = room, *scores = room + to->k + to->steps;
    for (Py_ssize_t k = to->k; k < to->k + to->steps && found < count; k++) {
        to->open[p] = 0;
        take_column(to, p, k, floor, a, to->rows + k * to->rows_step);
        p = best_column(to, scores);
        if (p < 0)
            break;
        if (!to->known[p])
            winners[found++] = p;
    }
    return found;
}

static PyObject *look_ahead(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[7];
    Arrays arrays = {.n = 0};
    Py_ssize_t steps, found = 0;
    double floor;
    if (!PyArg_ParseTuple(args, "OOOOOOndO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &steps, &floor, &given[6]))
        return NULL;
    Py_buffer *G = take_array(&arrays, given[0], "d", 2, 0);
    Py_buffer *rows = take_array(&arrays, given[1], "d", 2, 1);
    Py_buffer *C = take_array(&arrays, given[2], "d", 2, 1);
    Py_buffer *d = take_array(&arrays, given[3], "d", 1, 1);
    Py_buffer *open = take_array(&arrays, given[4], "B", 1, 1);
    Py_buffer *known = take_array(&arrays, given[5], "B", 1, 0);
    Py_buffer *winners = take_array(&arrays, given[6], "q", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t q = G->shape[1], k = steps < 0 ? -1 : rows->shape[0] - steps;
    if (q < 1 || k < 0 || G->shape[0] != q || rows->shape[1] != q ||
        C->shape[1] != q || d->shape[0] != q || open->shape[0] != q || known->shape[0] != q)
        return finish_call(&arrays, NO_FIT);
    const Ahead to = {
        .G = G->buf, .rows = rows->buf, .C = C->buf, .d = d->buf, .open = open->buf,
        .known = known->buf, .q = q, .m = C->shape[0], .k = k, .steps = steps,
        .G_step = G->strides[0] / 8, .rows_step = rows->strides[0] / 8,
        .C_step = C->strides[0] / 8};
    double *room = malloc((size_t)(k + steps + q) * sizeof(double));
    if (room == NULL) {
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    Py_BEGIN_ALLOW_THREADS;
    found = search(&to, floor, room, winners->buf, winners->shape[0]);
    Py_END_ALLOW_THREADS;
    free(room);
    return finish_with(&arrays, PyLong_FromSsize_t(found));
}

PyMethodDef lookahead_methods[] = {
    {"look_ahead", look_ahead, METH_VARARGS,
     "look_ahead(G, rows, C, d, open, known, steps, floor, winners): run a greedy search ahead on\n"
     "q columns, the first of which is taken first; returns how many winners it has written."},
    {NULL, NULL, 0, NULL},
};
