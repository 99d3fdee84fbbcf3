/* The best sets of features of every size, by branch and bound; see search/leaps.py.
 *
 * A node has features that are fixed and others that are open, in an order. Of the open ones it
 * keeps a factor M (rows, columns) with steps: what is left of their columns once the fixed ones are
 * projected out, turned so that column j has nothing below row level[j]. The products z (rows, q) of
 * the response go along as q more columns. What open features 0..i explain together is the sum of
 * z^2 over the first level rows. A column that depends on those before it adds no row.
 *
 * Child i fixes open features 0..i-1 and drops feature i. So every set is met once.
 */
#include "native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "leaps.inc"

/* Whether a child may have a set that is better: it fixes so many features, of such a width, and
 * all that it may have explain `total`. */
static int may_be_better(const Leaps *to, double total, Py_ssize_t fixed, Py_ssize_t open,
                         Py_ssize_t width)
{
    for (Py_ssize_t size = fixed + 1; size <= to->k && size <= fixed + open; size++) {
        const Py_ssize_t least = width + (size - fixed) * to->least_width;
        if (is_better(to, value_of(to, total, least), to->best[size]))
            return 1;
    }
    return 0;
}

/* Bring a node that has its factor to where its children can be made. */
INLINE void open_node(Leaps *to, Node *node)
{
    const Py_ssize_t stride = node->n_columns + to->q;
    to->counts[0]++;
    node->next = -1;
    if (node->n_open == 0)
        return;
    if (node->n_fixed + 1 == to->k) {
        report_singles(to, node);
        return;
    }
    double total = node->total;
    total += squares_of(node->M, stride, node->n_columns, to->q, 0, node->n_rows);
    if (!may_be_better(to, total, node->n_fixed, node->n_open, node->width))
        return;
    find_costs(to, node);
    sort_open(to, node);
    for (Py_ssize_t i = 1; i < node->n_open; i++) {
        const double key = to->costs[i];
        Py_ssize_t j = i;
        for (; j > 0 && to->costs[j - 1] < key; j--)
            to->costs[j] = to->costs[j - 1];
        to->costs[j] = key;
    }
    report_leading(to, node);
    const Py_ssize_t most = to->k - node->n_fixed; /* children that fix less than k */
    const Py_ssize_t n = node->n_open - 1 < most ? node->n_open - 1 : most;
    for (Py_ssize_t i = 0; i < n; i++)
        node->bounds[i] = total - (1.0 - 1e-7) * to->costs[i];
    node->next = n - 1;
}

/* Make the next child of a node that may have better sets; 0 if there is none. */
INLINE int make_child(Leaps *to, Node *node, Node *child)
{
    const Py_ssize_t stride = node->n_columns + to->q;
    while (node->next >= 0) {
        const Py_ssize_t i = node->next--;
        Py_ssize_t fixed_columns = 0, width = node->width;
        for (Py_ssize_t f = 0; f < i; f++)
            fixed_columns += to->widths[node->order[f]];
        width += fixed_columns;
        const Py_ssize_t n_open = node->n_open - i - 1, n_fixed = node->n_fixed + i;
        if (!may_be_better(to, node->bounds[i], n_fixed, n_open, width))
            continue;
        const Py_ssize_t first = fixed_columns + to->widths[node->order[i]];
        const Py_ssize_t row = fixed_columns ? node->level[fixed_columns - 1] : 0;
        child->n_open = n_open;
        child->n_fixed = n_fixed;
        child->width = width;
        child->n_columns = node->n_columns - first;
        child->total = node->total +
                       squares_of(node->M, stride, node->n_columns, to->q, 0, row);
        for (Py_ssize_t f = 0; f < i; f++)
            to->fixed[node->n_fixed + f] = node->order[f];
        memcpy(child->order, node->order + i + 1, (size_t)n_open * sizeof *child->order);
        const Py_ssize_t own = child->n_columns + to->q;
        for (Py_ssize_t r = row; r < node->n_rows; r++)
            memcpy(child->M + (r - row) * own, node->M + r * stride + first,
                   (size_t)own * sizeof(double));
        Py_ssize_t column = 0;
        for (Py_ssize_t f = 0; f < n_open; f++)
            for (Py_ssize_t c = 0; c < to->widths[child->order[f]]; c++)
                to->columns[column++] = to->starts[child->order[f]] + c;
        for (Py_ssize_t c = 0; c < child->n_columns; c++)
            to->bottom[c] = node->level[first + c] - row;
        child->n_rows = make_steps(child->M, own, child->n_columns, to->q, to->bottom, to->columns,
                                   to->floors, child->level, to->v, to->w);
        return 1;
    }
    return 0;
}

/* What no set of k features exceeds, by the best so far and by all that has not been looked at. */
static double open_bound(const Leaps *to, Py_ssize_t depth)
{
    double bound = to->best[to->k];
    for (Py_ssize_t d = 0; d <= depth; d++) {
        const Node *node = &to->nodes[d];
        Py_ssize_t width = node->width;
        for (Py_ssize_t i = 0; i <= node->next; i++) {
            const Py_ssize_t fixed = node->n_fixed + i, open = node->n_open - i - 1;
            if (fixed + open >= to->k) {
                const Py_ssize_t least = width + (to->k - fixed) * to->least_width;
                const double value = value_of(to, node->bounds[i], least);
                if (value > bound)
                    bound = value;
            }
            width += to->widths[node->order[i]];
        }
    }
    return bound;
}

/* Look at up to so many nodes below the one at `depth`; return the depth of the node to go on with,
 * -1 if all is done. */
FOR_EACH_PROCESSOR
static Py_ssize_t climb(Leaps *to, Py_ssize_t depth, Py_ssize_t budget)
{
    while (depth >= 0 && budget > 0) {
        if (make_child(to, &to->nodes[depth], &to->nodes[depth + 1])) {
            open_node(to, &to->nodes[++depth]);
            budget--;
        } else {
            depth--;
        }
    }
    return depth;
}

FOR_EACH_PROCESSOR
static void open_root(Leaps *to, Node *root)
{
    open_node(to, root);
}

static void *room_for(Py_ssize_t count, size_t size)
{
    return calloc((size_t)(count > 0 ? count : 1), size);
}

static void free_all(Leaps *to)
{
    if (to->nodes != NULL)
        for (Py_ssize_t d = 0; d < to->n + 2; d++) {
            free(to->nodes[d].M);
            free(to->nodes[d].order);
            free(to->nodes[d].level);
            free(to->nodes[d].bounds);
        }
    free(to->nodes);
    free(to->widths);
    free(to->starts);
    free(to->fixed);
    free(to->columns);
    free(to->bottom);
    free(to->order);
    free(to->costs);
    free(to->inverse);
    free(to->room);
    free(to->v);
    free(to->w);
}

/* Take memory: at depth d at least d features are dropped, each of one column or more. Before its
 * rows are turned, a child has those of the feature dropped, too. */
static int take_memory(Leaps *to)
{
    const Py_ssize_t n = to->n, p = to->p, q = to->q;
    to->fixed = room_for(n + 1, sizeof(Py_ssize_t));
    to->columns = room_for(2 * p + n, sizeof(Py_ssize_t));
    to->bottom = room_for(2 * p + n, sizeof(Py_ssize_t));
    to->order = room_for(n, sizeof(Py_ssize_t));
    to->costs = room_for(n, sizeof(double));
    to->inverse = room_for(p * (p + q), sizeof(double));
    to->room = room_for(p * (p + q), sizeof(double));
    to->v = room_for(p + 1, sizeof(double));
    to->w = room_for(p + q, sizeof(double));
    to->nodes = room_for(n + 2, sizeof(Node));
    if (!to->fixed || !to->columns || !to->bottom || !to->order || !to->costs ||
        !to->inverse || !to->room || !to->v || !to->w || !to->nodes)
        return -1;
    for (Py_ssize_t d = 0; d < n + 2; d++) {
        const Py_ssize_t left = p > d ? p - d : 0;
        Node *node = &to->nodes[d];
        node->M = room_for((left + to->widest) * (left + q), sizeof(double));
        node->order = room_for(n, sizeof(Py_ssize_t));
        node->level = room_for(left, sizeof(Py_ssize_t));
        node->bounds = room_for(n, sizeof(double));
        if (!node->M || !node->order || !node->level || !node->bounds)
            return -1;
    }
    return 0;
}

/* The root: included features, which come first in R, are fixed. */
static void make_root(Leaps *to, const Py_buffer *R, const Py_buffer *z)
{
    Node *root = &to->nodes[0];
    const Py_ssize_t p = to->p, q = to->q, stride = p + q;
    double *M = to->room;
    for (Py_ssize_t r = 0; r < p; r++) {
        memcpy(M + r * stride, (const char *)R->buf + r * R->strides[0], (size_t)p * sizeof *M);
        memcpy(M + r * stride + p, (const char *)z->buf + r * z->strides[0],
               (size_t)q * sizeof *M);
    }
    for (Py_ssize_t c = 0; c < p; c++) {
        to->bottom[c] = p;
        to->columns[c] = c;
    }
    Py_ssize_t *level = to->bottom + p;
    const Py_ssize_t rank =
        make_steps(M, stride, p, q, to->bottom, to->columns, to->floors, level, to->v, to->w);
    const Py_ssize_t first = to->n_included ? to->starts[to->n_included] : 0;
    const Py_ssize_t row = first ? level[first - 1] : 0;
    root->n_fixed = to->n_included;
    root->n_open = to->n - to->n_included;
    root->n_columns = p - first;
    root->n_rows = rank - row;
    root->width = first;
    root->total = squares_of(M, stride, p, q, 0, row);
    for (Py_ssize_t f = 0; f < to->n_included; f++)
        to->fixed[f] = f;
    for (Py_ssize_t f = 0; f < root->n_open; f++)
        root->order[f] = to->n_included + f;
    const Py_ssize_t own = root->n_columns + q;
    for (Py_ssize_t r = row; r < rank; r++)
        memcpy(root->M + (r - row) * own, M + r * stride + first, (size_t)own * sizeof *M);
    for (Py_ssize_t c = 0; c < root->n_columns; c++)
        root->level[c] = level[first + c] - row;
}

static int fits(const Py_buffer *R, const Py_buffer *z, const Py_buffer *starts,
                const Py_buffer *widths, const Py_buffer *floors, const Py_buffer *best,
                const Py_buffer *sets, const Py_buffer *counts, Py_ssize_t n_included)
{
    const Py_ssize_t p = R->shape[0], n = widths->shape[0], k = best->shape[0] - 1;
    const int64_t *start = starts->buf, *width = widths->buf;
    if (R->shape[1] != p || z->shape[0] != p || floors->shape[0] != p || n < 1 || k < 1 || k > n ||
        starts->shape[0] != n + 1 || sets->shape[0] != k + 1 || sets->shape[1] != k ||
        sets->strides[0] != k * 8 || counts->shape[0] != 2 || n_included < 0 || n_included >= n ||
        n_included >= k || start[0] != 0 || start[n] != p)
        return 0;
    for (Py_ssize_t f = 0; f < n; f++)
        if (width[f] < 1 || width[f] > p || start[f + 1] - start[f] != width[f])
            return 0;
    return 1;
}

static PyObject *best_sets(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[8], *watch;
    Arrays arrays = {.n = 0};
    Py_ssize_t n_included, budget;
    double ceiling, rows, tolerance;
    if (!PyArg_ParseTuple(args, "OOOOOndddOOOnO", &given[0], &given[1], &given[2], &given[3],
                          &given[4], &n_included, &ceiling, &rows, &tolerance, &given[5],
                          &given[6], &given[7], &budget, &watch))
        return NULL;
    Py_buffer *R = take_array(&arrays, given[0], "d", 2, 0);
    Py_buffer *z = take_array(&arrays, given[1], "d", 2, 0);
    Py_buffer *starts = take_array(&arrays, given[2], "q", 1, 0);
    Py_buffer *widths = take_array(&arrays, given[3], "q", 1, 0);
    Py_buffer *floors = take_array(&arrays, given[4], "d", 1, 0);
    Py_buffer *best = take_array(&arrays, given[5], "d", 1, 1);
    Py_buffer *sets = take_array(&arrays, given[6], "q", 2, 1);
    Py_buffer *counts = take_array(&arrays, given[7], "q", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    if (budget < 1 || !fits(R, z, starts, widths, floors, best, sets, counts, n_included))
        return finish_call(&arrays, NO_FIT);
    Leaps to = {.n = widths->shape[0], .p = R->shape[0], .q = z->shape[1],
                .k = best->shape[0] - 1, .n_included = n_included, .floors = floors->buf, .ceiling = ceiling, .rows = rows,
                .tolerance = tolerance, .best = best->buf, .sets = sets->buf,
                .counts = counts->buf};
    to.widths = room_for(to.n, sizeof(int64_t));
    to.starts = room_for(to.n + 1, sizeof(int64_t));
    if (to.widths == NULL || to.starts == NULL) {
        free_all(&to);
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    memcpy(to.widths, widths->buf, (size_t)to.n * sizeof(int64_t));
    memcpy(to.starts, starts->buf, (size_t)(to.n + 1) * sizeof(int64_t));
    to.least_width = to.p;
    for (Py_ssize_t f = 0; f < to.n; f++) {
        if (to.widths[f] < to.least_width)
            to.least_width = to.widths[f];
        if (to.widths[f] > to.widest)
            to.widest = to.widths[f];
    }
    if (take_memory(&to) < 0) {
        free_all(&to);
        PyErr_NoMemory();
        return finish_call(&arrays, NULL);
    }
    Py_ssize_t depth = 0;
    Py_BEGIN_ALLOW_THREADS;
    make_root(&to, R, z);
    open_root(&to, &to.nodes[0]);
    Py_END_ALLOW_THREADS;
    int goes_on = 1;
    while (depth >= 0 && goes_on) {
        Py_BEGIN_ALLOW_THREADS;
        depth = climb(&to, depth, budget);
        Py_END_ALLOW_THREADS;
        if (depth < 0)
            break;
        PyObject *answer = PyObject_CallFunction(watch, "d", open_bound(&to, depth));
        goes_on = answer != NULL && PyObject_IsTrue(answer) == 1;
        Py_XDECREF(answer);
    }
    const double bound = depth < 0 ? to.best[to.k] : open_bound(&to, depth);
    free_all(&to);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    return finish_with(&arrays, PyFloat_FromDouble(bound));
}

PyMethodDef leaps_methods[] = {
    {"best_sets", best_sets, METH_VARARGS,
     "best_sets(R, z, starts, widths, floors, n_included, ceiling, rows, tolerance, best, sets,\n"
     "counts, budget, watch): look for better sets of every size up to k, by branch and bound.\n"
     "After every `budget` nodes watch(bound) is called, and says whether to go on. Returns what\n"
     "no set of size k exceeds."},
    {NULL, NULL, 0, NULL},
};
