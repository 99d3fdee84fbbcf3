/* Models of signals over time run on their own output; see dynamics/free_run.py.
 *
 * S (s, T) are the signals as measured, the first q of them outputs; Y (q, T) the outputs as
 * simulated. Term m belongs to one output and is theta[m] times its factors, a signal at a lag
 * each. Within a segment, an output at a time from the segment's start on is taken from Y, before
 * it from S. D (T, q, n) are the derivatives of Y by theta; without times if nobody wants them.
 */
#include "native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Py_ssize_t s, q, T, n, n_factors, n_segments, longest, S_step, Y_step;
    const double *S, *theta;
    double *Y, *D; /* D is NULL if nobody wants derivatives */
    int64_t *output, *starts, *signal, *lag, *segments; /* copies: nobody changes them meanwhile */
} Model;

INLINE double value_of(const Model *to, Py_ssize_t signal, Py_ssize_t t, Py_ssize_t from)
{
    return signal < to->q && t >= from ? to->Y[signal * to->Y_step + t]
                                       : to->S[signal * to->S_step + t];
}

/* The product of the factors of term m at time k, but one of them (-1: of all). */
INLINE double product_of(const Model *to, Py_ssize_t m, Py_ssize_t k, Py_ssize_t from,
                         Py_ssize_t but)
{
    double product = 1.0;
    for (Py_ssize_t f = to->starts[m]; f < to->starts[m + 1]; f++)
        if (f != but)
            product *= value_of(to, to->signal[f], k - to->lag[f], from);
    return product;
}

/* Derivatives at time k; `slopes` (q, longest + 1) is room: of an output by outputs before it. */
static void differentiate(const Model *to, Py_ssize_t k, Py_ssize_t from, double *slopes)
{
    const Py_ssize_t width = to->longest + 1;
    for (Py_ssize_t a = 0; a < to->q; a++) {
        double *row = to->D + (k * to->q + a) * to->n;
        memset(row, 0, (size_t)to->n * sizeof *row);
        memset(slopes, 0, (size_t)(to->q * width) * sizeof *slopes);
        for (Py_ssize_t m = 0; m < to->n; m++) {
            if (to->output[m] != a)
                continue;
            row[m] = product_of(to, m, k, from, -1);
            for (Py_ssize_t f = to->starts[m]; f < to->starts[m + 1]; f++)
                if (to->signal[f] < to->q && k - to->lag[f] >= from)
                    slopes[to->signal[f] * width + to->lag[f]] +=
                        to->theta[m] * product_of(to, m, k, from, f);
        }
        for (Py_ssize_t b = 0; b < to->q; b++)
            for (Py_ssize_t lag = 1; lag < width; lag++) {
                const double slope = slopes[b * width + lag];
                if (slope == 0.0)
                    continue;
                const double *before = to->D + ((k - lag) * to->q + b) * to->n;
                for (Py_ssize_t m = 0; m < to->n; m++)
                    row[m] += slope * before[m];
            }
    }
}

/* Run one segment; return the time at which an output leaves its bound, -1 if none does. */
static int64_t run_segment(const Model *to, Py_ssize_t from, Py_ssize_t stop, double limit,
                           double *slopes)
{
    for (Py_ssize_t k = from; k < stop; k++) {
        for (Py_ssize_t a = 0; a < to->q; a++)
            slopes[a] = 0.0;
        for (Py_ssize_t m = 0; m < to->n; m++)
            slopes[to->output[m]] += to->theta[m] * product_of(to, m, k, from, -1);
        for (Py_ssize_t a = 0; a < to->q; a++)
            if (!(fabs(slopes[a]) <= limit))
                return k;
        for (Py_ssize_t a = 0; a < to->q; a++)
            to->Y[a * to->Y_step + k] = slopes[a];
        if (to->D != NULL)
            differentiate(to, k, from, slopes);
    }
    return -1;
}

/* Whether the copies describe a model that stays within its arrays; finds the longest lag. */
static int is_sound(Model *to)
{
    int sound = to->q <= to->s && to->starts[0] == 0 && to->starts[to->n] == to->n_factors;
    to->longest = 0;
    for (Py_ssize_t m = 0; m < to->n && sound; m++)
        sound = to->output[m] >= 0 && to->output[m] < to->q && to->starts[m + 1] >= to->starts[m];
    for (Py_ssize_t f = 0; f < to->n_factors && sound; f++) {
        const int is_output = to->signal[f] < to->q;
        sound = to->signal[f] >= 0 && to->signal[f] < to->s && to->lag[f] >= is_output &&
                to->lag[f] <= to->T;
        if (sound && to->lag[f] > to->longest)
            to->longest = to->lag[f];
    }
    for (Py_ssize_t g = 0; g < to->n_segments && sound; g++)
        sound = to->segments[2 * g] >= to->longest &&
                to->segments[2 * g + 1] >= to->segments[2 * g] &&
                to->segments[2 * g + 1] <= to->T;
    return sound;
}

/* Copy an array of whole numbers to `room`, and return what is behind the copy. */
static int64_t *copied(const Py_buffer *from, int64_t *room, int64_t **place)
{
    const Py_ssize_t count = from->len / 8;
    *place = room;
    for (Py_ssize_t i = 0; i < count; i++)
        room[i] = from->ndim == 1 ? ((const int64_t *)from->buf)[i]
                                  : *(const int64_t *)((const char *)from->buf +
                                                       (i / 2) * from->strides[0] + (i % 2) * 8);
    return room + count;
}

static PyObject *free_run(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[10];
    Arrays arrays = {.n = 0};
    double limit;
    if (!PyArg_ParseTuple(args, "OOOOOOOdOOO", &given[0], &given[1], &given[2], &given[3],
                          &given[4], &given[5], &given[6], &limit, &given[7], &given[8],
                          &given[9]))
        return NULL;
    Py_buffer *S = take_array(&arrays, given[0], "d", 2, 0);
    Py_buffer *segments = take_array(&arrays, given[1], "q", 2, 0);
    Py_buffer *output = take_array(&arrays, given[2], "q", 1, 0);
    Py_buffer *starts = take_array(&arrays, given[3], "q", 1, 0);
    Py_buffer *signal = take_array(&arrays, given[4], "q", 1, 0);
    Py_buffer *lag = take_array(&arrays, given[5], "q", 1, 0);
    Py_buffer *theta = take_array(&arrays, given[6], "d", 1, 0);
    Py_buffer *Y = take_array(&arrays, given[7], "d", 2, 1);
    Py_buffer *D = take_array(&arrays, given[8], "d", 3, 1);
    Py_buffer *diverged = take_array(&arrays, given[9], "q", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t q = Y->shape[0], T = S->shape[1], n = theta->shape[0];
    const int wanted = D->shape[0] != 0;
    const int stands = D->len == 0 || (D->strides[1] == 8 * n && D->strides[0] == 8 * n * q);
    if (Y->shape[1] != T || output->shape[0] != n || starts->shape[0] != n + 1 ||
        signal->shape[0] != lag->shape[0] || segments->shape[1] != 2 ||
        diverged->shape[0] != segments->shape[0] || D->shape[1] != q || D->shape[2] != n ||
        (wanted && D->shape[0] != T) || !stands)
        return finish_call(&arrays, NO_FIT);
    Model to = {.s = S->shape[0], .q = q, .T = T, .n = n, .n_factors = signal->shape[0],
                .n_segments = segments->shape[0], .S = S->buf, .theta = theta->buf, .Y = Y->buf,
                .D = wanted && D->len ? D->buf : NULL, .S_step = S->strides[0] / 8,
                .Y_step = Y->strides[0] / 8};
    const size_t count = (size_t)(segments->len + output->len + starts->len + 2 * signal->len) / 8;
    int64_t *room = malloc((count + 1) * sizeof *room);
    double *slopes = NULL;
    if (room != NULL) {
        int64_t *rest = copied(segments, room, &to.segments);
        rest = copied(output, rest, &to.output);
        rest = copied(starts, rest, &to.starts);
        rest = copied(signal, rest, &to.signal);
        copied(lag, rest, &to.lag);
        if (!is_sound(&to)) {
            free(room);
            return finish_call(&arrays, "terms or segments reach beyond the signals");
        }
        slopes = malloc((size_t)(q * (to.longest + 1) + 1) * sizeof *slopes);
    }
    if (slopes == NULL) {
        free(room);
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t g = 0; g < to.n_segments; g++)
        ((int64_t *)diverged->buf)[g] =
            run_segment(&to, to.segments[2 * g], to.segments[2 * g + 1], limit, slopes);
    Py_END_ALLOW_THREADS;
    free(slopes);
    free(room);
    return finish_call(&arrays, NULL);
}

PyMethodDef simulation_methods[] = {
    {"free_run", free_run, METH_VARARGS,
     "free_run(S, segments, output, starts, signal, lag, theta, limit, Y, D, diverged): run a model\n"
     "on its own output over each segment, with derivatives by theta if D has times; `diverged`\n"
     "are the times at which an output left its bound, -1 where none did."},
    {NULL, NULL, 0, NULL},
};
