/* The small loops of one step of a greedy search, over all columns at once.
 *
 * Notation as in criteria/cancorr.py: L (k, n) rows of the factor, C (m, n), d (n,). With a few
 * hundred columns a step is a few microseconds of work, less than NumPy takes to be called.
 */
#include "native.h"

#include <math.h>
#include <string.h>

enum {
    PIECE = 512, /* columns whose numbers stay in the nearest cache */
    SOME = 64,   /* gains that are looked at together */
};

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

/* What is known of the columns: C (m, n), d (n,). */
typedef struct {
    double *C, *d;
    Py_ssize_t step, m, n;
} State;

/* C -= c r', d -= r * r, from one column to another. */
INLINE void remove_piece(const double *r, const double *c, const State *of, Py_ssize_t start,
                         Py_ssize_t end)
{
    for (Py_ssize_t i = start; i < end; i++)
        of->d[i] -= r[i] * r[i];
    for (Py_ssize_t row = 0; row < of->m; row++) {
        double *Ci = of->C + row * of->step;
        const double along = c[row];
        for (Py_ssize_t i = start; i < end; i++)
            Ci[i] -= along * r[i];
    }
}

FOR_EACH_PROCESSOR
static void remove_row(const double *r, const double *c, const State *of)
{
    for (Py_ssize_t start = 0; start < of->n; start += PIECE)
        remove_piece(r, c, of, start, start + PIECE < of->n ? start + PIECE : of->n);
}

/* scores = min(colsum(C * C) / d, 1) where d >= plenty, else 0; return how many have less. A row
 * that is not NULL is removed first. */
FOR_EACH_PROCESSOR
static Py_ssize_t score_columns(const double *r, const double *c, const State *of, double plenty,
                                double *scores)
{
    Py_ssize_t scarce = 0;
    const double *d = of->d;
    for (Py_ssize_t start = 0; start < of->n; start += PIECE) {
        const Py_ssize_t end = start + PIECE < of->n ? start + PIECE : of->n;
        if (r)
            remove_piece(r, c, of, start, end);
        for (Py_ssize_t i = start; i < end; i++)
            scores[i] = 0.0;
        for (Py_ssize_t row = 0; row < of->m; row++) {
            const double *Ci = of->C + row * of->step;
            for (Py_ssize_t i = start; i < end; i++)
                scores[i] += Ci[i] * Ci[i];
        }
        int64_t less = 0; /* of the width of a double, so that the loop becomes one over vectors */
        for (Py_ssize_t i = start; i < end; i++) {
            const double enough = d[i] >= plenty ? 1.0 : 0.0;
            const double score = scores[i] / (d[i] >= plenty ? d[i] : 1.0);
            scores[i] = enough * (score < 1.0 ? score : 1.0);
            less += d[i] >= plenty ? 0 : 1;
        }
        scarce += less;
    }
    return scarce;
}

/* The first of the largest gains of open features, and the largest of the others; gains below zero
 * and features that are not open are out. */
FOR_EACH_PROCESSOR
static Py_ssize_t leader(const double *gains, const int64_t *names, const unsigned char *open,
                         Py_ssize_t n, double *runner_up)
{
    Py_ssize_t top = -1;
    double most = -1.0, second = -1.0;
    for (Py_ssize_t start = 0; start < n; start += SOME) {
        const Py_ssize_t end = start + SOME < n ? start + SOME : n;
        int64_t closer = 0; /* whether any of these is worth a look; mostly none is */
        for (Py_ssize_t f = start; f < end; f++)
            closer |= gains[f] > second ? 1 : 0;
        for (Py_ssize_t f = start; closer && f < end; f++) {
            const double gain = gains[f];
            if (!(gain > second) || gain < 0.0 || !open[names[f]])
                continue;
            second = gain > most ? most : gain;
            top = gain > most ? f : top;
            most = gain > most ? gain : most;
        }
    }
    *runner_up = second;
    return top;
}

/* Whether all names are places in a list so long. */
FOR_EACH_PROCESSOR
static int are_places(const int64_t *names, Py_ssize_t n, Py_ssize_t length)
{
    int64_t wrong = 0; /* negative if any of the names, or of the places after them, is */
    for (Py_ssize_t f = 0; f < n; f++)
        wrong |= names[f] | (int64_t)((uint64_t)length - 1 - (uint64_t)names[f]);
    return wrong >= 0;
}

static PyObject *leader_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[3];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOO", &given[0], &given[1], &given[2]))
        return NULL;
    Py_buffer *gains = take_array(&arrays, given[0], "d", 1, 0);
    Py_buffer *names = take_array(&arrays, given[1], "q", 1, 0);
    Py_buffer *open = take_array(&arrays, given[2], "?", 1, 0);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t n = gains->shape[0];
    if (names->shape[0] != n || !are_places(names->buf, n, open->shape[0]))
        return finish_call(&arrays, NO_FIT);
    double runner_up;
    const Py_ssize_t top = leader(gains->buf, names->buf, open->buf, n, &runner_up);
    return finish_with(&arrays, Py_BuildValue("nd", top, runner_up));
}

static PyObject *row_from_gram_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[4];
    Arrays arrays = {.n = 0};
    double left;
    if (!PyArg_ParseTuple(args, "OOOdO", &given[0], &given[1], &given[2], &left, &given[3]))
        return NULL;
    Py_buffer *g = take_array(&arrays, given[0], "d", 1, 0);
    Py_buffer *L = take_array(&arrays, given[1], "d", 2, 0);
    Py_buffer *coefficients = take_array(&arrays, given[2], "d", 1, 0);
    Py_buffer *r = take_array(&arrays, given[3], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t n = g->shape[0], k = coefficients->shape[0];
    if (L->shape[0] < k || L->shape[1] != n || r->shape[0] != n)
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    row_from_gram(g->buf, L->buf, L->strides[0] / 8, k, coefficients->buf, left, n, r->buf);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

static PyObject *remove_row_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[4];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    Py_buffer *r = take_array(&arrays, given[0], "d", 1, 0);
    Py_buffer *c = take_array(&arrays, given[1], "d", 1, 0);
    Py_buffer *C = take_array(&arrays, given[2], "d", 2, 1);
    Py_buffer *d = take_array(&arrays, given[3], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const State of = {C->buf, d->buf, C->strides[0] / 8, C->shape[0], d->shape[0]};
    if (C->shape[1] != of.n || r->shape[0] != of.n || c->shape[0] != of.m)
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    remove_row(r->buf, c->buf, &of);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

static PyObject *score_columns_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[5];
    Arrays arrays = {.n = 0};
    double plenty;
    Py_ssize_t scarce = 0;
    if (!PyArg_ParseTuple(args, "OOOOdO", &given[0], &given[1], &given[2], &given[3], &plenty,
                          &given[4]))
        return NULL;
    const int removes = given[0] != Py_None;
    Py_buffer *r = removes ? take_array(&arrays, given[0], "d", 1, 0) : NULL;
    Py_buffer *c = removes ? take_array(&arrays, given[1], "d", 1, 0) : NULL;
    Py_buffer *C = take_array(&arrays, given[2], "d", 2, removes);
    Py_buffer *d = take_array(&arrays, given[3], "d", 1, removes);
    Py_buffer *scores = take_array(&arrays, given[4], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const State of = {C->buf, d->buf, C->strides[0] / 8, C->shape[0], d->shape[0]};
    if (C->shape[1] != of.n || scores->shape[0] != of.n ||
        (removes && (r->shape[0] != of.n || c->shape[0] != of.m)))
        return finish_call(&arrays, NO_FIT);
    Py_BEGIN_ALLOW_THREADS;
    scarce = score_columns(removes ? r->buf : NULL, removes ? c->buf : NULL, &of, plenty,
                           scores->buf);
    Py_END_ALLOW_THREADS;
    return finish_with(&arrays, PyLong_FromSsize_t(scarce));
}

/* Steps without doubts, over columns whose inner products G are all there.
 *
 * What has to hold for a step is that of Gains._stands_out in criteria/gains.py, by the errors of
 * criteria/uncertainty.py, whose names these are. */
typedef struct {
    double plenty, tie, trusted, nothing;
    double independent; /* d of a column that depends on no others, beside the largest rounding */
    double sure;        /* the root of that, beside one rounding of all that is taken */
    double largest_size, error, initial2;
} Rules;

typedef struct {
    double largest_e2, largest_b2, gamma2, spread2, reach2;
} Doubts;

/* How far rounding may have carried a gain of a column that has d left. */
static double slack_of(const Doubts *by, double gain, double d, double lost, double initial2)
{
    const double carried = 1.0 + by->largest_b2 * lost;
    const double C2 =
        initial2 + by->spread2 * carried + by->largest_e2 * (1.0 + by->gamma2) * lost;
    const double d2 = initial2 + 4.0 * by->largest_e2 * lost * carried;
    return 2.0 * sqrt(gain / d) * sqrt(C2) + C2 / d + gain * sqrt(d2) / d;
}

/* Whether a gain that no other comes near is beyond doubt, and none does come near. */
static int stands_out(const Rules *rules, const Doubts *by, double gain, double runner_up, double d,
                      double initial)
{
    const double noise = rules->largest_size + sqrt(by->reach2);
    const double sure = rules->sure * noise;
    if (d < rules->plenty || d < rules->independent || d < sure * sure)
        return 0;
    const double slack = slack_of(by, gain, d, 1.0 - d > 0.0 ? 1.0 - d : 0.0, initial * initial);
    if (!(slack <= rules->trusted * gain) || !(gain > rules->nothing))
        return 0;
    const double within = (1.0 - rules->tie) * gain - slack;
    const double spread =
        slack_of(by, within > 0.0 ? within : 0.0, rules->plenty, 1.0, rules->initial2);
    return runner_up < (within - spread > 0.0 ? within - spread : 0.0);
}

/* What a walk reads and writes: `above` (steps,), `marks` (3, steps) for e^2, b^2 and reach of
 * each row of L. */
typedef struct {
    const double *G, *sizes, *initial;
    double *L, *scores, *above, *marks;
    Py_ssize_t G_step, L_step, steps;
} Walk;

/* Take column j as row k of L; the columns before it are `taken`. */
static void take_by_gram(const Walk *walk, const Rules *rules, Doubts *by, const State *of,
                         const int64_t *taken, Py_ssize_t k, double *c)
{
    const Py_ssize_t j = taken[k];
    const double d = of->d[j], left = sqrt(d);
    double *above = walk->above, *r = walk->L + k * walk->L_step;
    double *e2s = walk->marks, *b2s = e2s + walk->steps, *reaches = b2s + walk->steps;
    double e2 = rules->error * rules->error, b2 = 1.0, reach = walk->sizes[j], along2 = 0.0;
    for (Py_ssize_t s = 0; s < k; s++) {
        above[s] = walk->L[s * walk->L_step + j];
        e2 += e2s[s] * above[s] * above[s];
        b2 += b2s[s] * above[s] * above[s];
        reach += reaches[s] * fabs(above[s]);
    }
    row_from_gram(walk->G + j * walk->G_step, walk->L, walk->L_step, k, above, left, of->n, r);
    for (Py_ssize_t s = 0; s < k; s++)
        r[taken[s]] = 0.0;
    for (Py_ssize_t row = 0; row < of->m; row++) {
        c[row] = of->C[row * of->step + j] / left;
        along2 += c[row] * c[row];
    }
    e2s[k] = e2 /= d;
    b2s[k] = b2 /= d;
    reaches[k] = reach /= left;
    by->largest_e2 = e2 > by->largest_e2 ? e2 : by->largest_e2;
    by->largest_b2 = b2 > by->largest_b2 ? b2 : by->largest_b2;
    by->gamma2 += b2 * along2;
    by->spread2 += e2 * along2;
    by->reach2 += reach * reach;
}

/* Make steps until one is in doubt, or there are enough; return how many. Each of them is taken out
 * of all columns as the next one begins. */
static Py_ssize_t walk_steps(const Walk *walk, const Rules *rules, const State *of,
                             const int64_t *names, unsigned char *open, double *c, int64_t *taken,
                             double *gains)
{
    Doubts by = {0.0, 1.0, 0.0, 0.0, 0.0};
    for (Py_ssize_t k = 0; k < walk->steps; k++) {
        const double *r = NULL;
        if (k > 0) {
            take_by_gram(walk, rules, &by, of, taken, k - 1, c);
            r = walk->L + (k - 1) * walk->L_step;
        }
        if (score_columns(r, c, of, rules->plenty, walk->scores) > k)
            return k; /* little is left of columns that were not taken */
        double runner_up;
        const Py_ssize_t top = leader(walk->scores, names, open, of->n, &runner_up);
        if (top < 0 || !stands_out(rules, &by, walk->scores[top], runner_up, of->d[top],
                                   walk->initial[top]))
            return k;
        taken[k] = top;
        gains[k] = walk->scores[top];
        open[names[top]] = 0;
    }
    return walk->steps;
}

static PyObject *walk_py(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[11];
    Rules rules;
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOOOOOO(ddddddddd)OOOO", &given[0], &given[1], &given[2],
                          &given[3], &given[4], &given[5], &given[6], &rules.plenty, &rules.tie,
                          &rules.trusted, &rules.nothing, &rules.independent, &rules.sure,
                          &rules.largest_size, &rules.error, &rules.initial2, &given[7], &given[8],
                          &given[9], &given[10]))
        return NULL;
    Py_buffer *G = take_array(&arrays, given[0], "d", 2, 0);
    Py_buffer *C = take_array(&arrays, given[1], "d", 2, 1);
    Py_buffer *d = take_array(&arrays, given[2], "d", 1, 1);
    Py_buffer *sizes = take_array(&arrays, given[3], "d", 1, 0);
    Py_buffer *initial = take_array(&arrays, given[4], "d", 1, 0);
    Py_buffer *names = take_array(&arrays, given[5], "q", 1, 0);
    Py_buffer *open = take_array(&arrays, given[6], "?", 1, 1);
    Py_buffer *L = take_array(&arrays, given[7], "d", 2, 1);
    Py_buffer *room = take_array(&arrays, given[8], "d", 1, 1);
    Py_buffer *taken = take_array(&arrays, given[9], "q", 1, 1);
    Py_buffer *gains = take_array(&arrays, given[10], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t n = d->shape[0], m = C->shape[0], steps = taken->shape[0];
    if (C->shape[1] != n || G->shape[0] != n || G->shape[1] != n || sizes->shape[0] != n ||
        initial->shape[0] != n || names->shape[0] != n || L->shape[0] != steps ||
        L->shape[1] != n || room->shape[0] != n + m + 4 * steps || gains->shape[0] != steps ||
        !are_places(names->buf, n, open->shape[0]) || !stands_apart(&arrays, names) ||
        !stands_apart(&arrays, taken))
        return finish_call(&arrays, NO_FIT);
    const State of = {C->buf, d->buf, C->strides[0] / 8, m, n};
    double *scores = room->buf;
    const Walk walk = {G->buf, sizes->buf,       initial->buf,      L->buf,
                       scores, scores + n + m,   scores + n + m + steps,
                       G->strides[0] / 8, L->strides[0] / 8, steps};
    Py_ssize_t made;
    Py_BEGIN_ALLOW_THREADS;
    made = walk_steps(&walk, &rules, &of, names->buf, open->buf, scores + n, taken->buf,
                      gains->buf);
    Py_END_ALLOW_THREADS;
    return finish_with(&arrays, PyLong_FromSsize_t(made));
}

PyMethodDef step_methods[] = {
    {"leader", leader_py, METH_VARARGS,
     "leader(gains, names, open): the first of the largest gains of features that are open[name],\n"
     "-1 if there is none, and the largest of the others."},
    {"row_from_gram", row_from_gram_py, METH_VARARGS,
     "row_from_gram(g, L, coefficients, left, r): r = (g - coefficients'L) / left."},
    {"remove_row", remove_row_py, METH_VARARGS,
     "remove_row(r, c, C, d): C -= c r', d -= r * r."},
    {"score_columns", score_columns_py, METH_VARARGS,
     "score_columns(r, c, C, d, plenty, scores): remove a row first, unless it is None; then\n"
     "min(colsum(C * C) / d, 1) where d >= plenty, else 0; returns how many columns have less."},
    {"walk", walk_py, METH_VARARGS,
     "walk(G, C, d, sizes, initial, names, open, rules, L, room, taken, gains): make up to len(taken)\n"
     "steps on columns with inner products G, and stop before one that is in doubt; return how many.\n"
     "C, d and open are overwritten; L (steps, n) and room (n + m + 4 steps,) are room."},
    {NULL, NULL, 0, NULL},
};
