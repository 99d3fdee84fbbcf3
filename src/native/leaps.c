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

typedef struct {
    double *M;         /* (rows, stride): columns of the open features, then z */
    Py_ssize_t *order; /* open features */
    Py_ssize_t *level; /* rows after each column */
    double *bounds;    /* of children: what all features that they may have explain */
    Py_ssize_t n_open, n_columns, n_rows, n_fixed, next, width;
    double total; /* of the fixed features */
} Node;

typedef struct {
    Py_ssize_t n, p, q, k, n_included, least_width, widest;
    int64_t *widths, *starts; /* of features, in columns of R; copies, since others may change */
    const double *floors;           /* of columns of R */
    double ceiling, rows, tolerance;
    double *best;    /* (k + 1,) values */
    int64_t *sets;   /* (k + 1, k) features of the best sets */
    int64_t *counts; /* nodes and sets looked at */
    Py_ssize_t *fixed, *columns, *bottom, *order;
    double *costs, *inverse, *room, *v, *w;
    Node *nodes;
} Leaps;

static double value_of(const Leaps *to, double total, Py_ssize_t width)
{
    if (to->rows <= 0.0)
        return total;
    double left = to->rows - 1.0 - (double)width;
    return to->ceiling - (to->ceiling - total) * (to->rows - 1.0) / (left > 1.0 ? left : 1.0);
}

static int is_better(const Leaps *to, double value, double than)
{
    double size = fabs(than) > fabs(value) ? fabs(than) : fabs(value);
    return value - than > to->tolerance * (size > 1e-5 ? size : 1e-5) || than == -INFINITY;
}

/* Turn rows so that column j has nothing below row level[j]. Columns are those of `columns` in R,
 * `bottom` says how many rows of each there are, and w is room. Returns how many rows are left. */
INLINE Py_ssize_t make_steps(double *M, Py_ssize_t stride, Py_ssize_t n_columns, Py_ssize_t q,
                             const Py_ssize_t *bottom, const Py_ssize_t *columns,
                             const double *floors, Py_ssize_t *level, double *v, double *restrict w)
{
    Py_ssize_t row = 0, reach = 0;
    const Py_ssize_t end = n_columns + q;
    for (Py_ssize_t j = 0; j < n_columns; j++) {
        if (bottom[j] > reach)
            reach = bottom[j];
        const Py_ssize_t height = reach - row;
        if (height <= 0) {
            level[j] = row;
            continue;
        }
        double *top = M + row * stride;
        double squares = 0.0;
        for (Py_ssize_t r = 0; r < height; r++) {
            v[r] = top[r * stride + j];
            squares += v[r] * v[r];
        }
        const double norm = sqrt(squares), floor = floors[columns[j]];
        if (norm <= floor) { /* it depends on those before it */
            for (Py_ssize_t r = 0; r < height; r++)
                top[r * stride + j] = 0.0;
            level[j] = row;
            continue;
        }
        if (height > 1 && squares > v[0] * v[0]) {
            const double head = v[0] < 0 ? -norm : norm;
            v[0] += head;
            const double factor = 1.0 / (head * v[0]);
            for (Py_ssize_t c = j + 1; c < end; c++)
                w[c] = v[0] * top[c];
            for (Py_ssize_t r = 1; r < height; r++) {
                const double *x = top + r * stride;
                const double a = v[r];
                for (Py_ssize_t c = j + 1; c < end; c++)
                    w[c] += a * x[c];
            }
            for (Py_ssize_t r = 0; r < height; r++) {
                double *restrict x = top + r * stride;
                const double a = v[r] * factor;
                for (Py_ssize_t c = j + 1; c < end; c++)
                    x[c] -= a * w[c];
                x[j] = 0.0;
            }
            top[j] = -head;
        }
        level[j] = ++row;
    }
    return row;
}

INLINE double squares_of(const double *M, Py_ssize_t stride, Py_ssize_t first, Py_ssize_t q,
                         Py_ssize_t from, Py_ssize_t until)
{
    double sum = 0.0;
    for (Py_ssize_t r = from; r < until; r++)
        for (Py_ssize_t c = first; c < first + q; c++)
            sum += M[r * stride + c] * M[r * stride + c];
    return sum;
}

static void keep_set(Leaps *to, Py_ssize_t size, double value, const Py_ssize_t *open,
                     Py_ssize_t n_open, Py_ssize_t n_fixed)
{
    int64_t *set = to->sets + size * to->k;
    to->best[size] = value;
    for (Py_ssize_t f = 0; f < n_fixed; f++)
        set[f] = to->fixed[f];
    for (Py_ssize_t f = 0; f < n_open; f++)
        set[n_fixed + f] = open[f];
}

/* Compare the sets of the fixed features and the first so many open ones. */
static void report_leading(Leaps *to, const Node *node)
{
    const Py_ssize_t stride = node->n_columns + to->q;
    double total = node->total;
    Py_ssize_t width = node->width, column = 0, row = 0;
    for (Py_ssize_t i = 0; i < node->n_open && node->n_fixed + i < to->k; i++) {
        column += to->widths[node->order[i]];
        width += to->widths[node->order[i]];
        const Py_ssize_t until = node->level[column - 1];
        total += squares_of(node->M, stride, node->n_columns, to->q, row, until);
        row = until;
        const double value = value_of(to, total, width);
        const Py_ssize_t size = node->n_fixed + i + 1;
        to->counts[1]++;
        if (is_better(to, value, to->best[size]))
            keep_set(to, size, value, node->order, i + 1, node->n_fixed);
    }
}

/* Compare the sets of the fixed features and any one of the open ones. */
INLINE void report_singles(Leaps *to, const Node *node)
{
    const Py_ssize_t stride = node->n_columns + to->q, size = node->n_fixed + 1, q = to->q;
    Py_ssize_t column = 0;
    for (Py_ssize_t i = 0; i < node->n_open; i++) {
        const Py_ssize_t f = node->order[i], p = to->widths[f];
        double gain = 0.0;
        if (p == 1) {
            const Py_ssize_t rows = node->level[column];
            double left = 0.0;
            for (Py_ssize_t r = 0; r < rows; r++)
                left += node->M[r * stride + column] * node->M[r * stride + column];
            for (Py_ssize_t c = node->n_columns; c < node->n_columns + q; c++) {
                double along = 0.0;
                for (Py_ssize_t r = 0; r < rows; r++)
                    along += node->M[r * stride + column] * node->M[r * stride + c];
                gain += along * along;
            }
            const double floor = to->floors[to->starts[f]];
            gain = left > floor * floor ? gain / left : 0.0;
        } else {
            const Py_ssize_t rows = node->n_rows;
            for (Py_ssize_t r = 0; r < rows; r++) {
                for (Py_ssize_t c = 0; c < p; c++)
                    to->room[r * (p + q) + c] = node->M[r * stride + column + c];
                for (Py_ssize_t c = 0; c < q; c++)
                    to->room[r * (p + q) + p + c] = node->M[r * stride + node->n_columns + c];
            }
            for (Py_ssize_t c = 0; c < p; c++) {
                to->bottom[c] = rows;
                to->columns[c] = to->starts[f] + c;
            }
            const Py_ssize_t rank = make_steps(to->room, p + q, p, q, to->bottom, to->columns,
                                               to->floors, to->bottom + p, to->v, to->w);
            gain = squares_of(to->room, p + q, p, q, 0, rank);
        }
        column += p;
        to->counts[1]++;
        const double value = value_of(to, node->total + gain, node->width + p);
        if (is_better(to, value, to->best[size]))
            keep_set(to, size, value, &node->order[i], 1, node->n_fixed);
    }
}

/* What each open feature loses if it is dropped, or less: costs (n_open,).
 *
 * With U the inverse of the steps of the columns that add a row, dropping columns g loses
 * b_g' (U_g U_g')^-1 b_g, where b = U z. A feature that a dependent column is made of loses
 * nothing, as that column can stand in for it. */
INLINE void find_costs(Leaps *to, const Node *node)
{
    const Py_ssize_t stride = node->n_columns + to->q, a = node->n_rows, q = to->q;
    const Py_ssize_t wide = a + q;
    Py_ssize_t *alive = to->columns, *owner = to->bottom;
    double *U = to->inverse; /* (a, a + q), with b beside */
    Py_ssize_t n_alive = 0, column = 0;
    for (Py_ssize_t i = 0; i < node->n_open; i++) {
        to->costs[i] = 0.0;
        for (Py_ssize_t c = 0; c < to->widths[node->order[i]]; c++, column++)
            if (node->level[column] > (column ? node->level[column - 1] : 0)) {
                alive[n_alive] = column;
                owner[n_alive++] = i;
            }
    }
    for (Py_ssize_t r = a - 1; r >= 0; r--) {
        double *restrict x = U + r * wide;
        const double *M = node->M + r * stride;
        const double pivot = 1.0 / M[alive[r]];
        for (Py_ssize_t c = r; c < wide; c++)
            x[c] = 0.0;
        x[r] = 1.0;
        for (Py_ssize_t c = 0; c < q; c++)
            x[a + c] = M[node->n_columns + c];
        for (Py_ssize_t s = r + 1; s < a; s++) {
            const double *restrict y = U + s * wide;
            const double m = M[alive[s]];
            for (Py_ssize_t c = s; c < wide; c++)
                x[c] -= m * y[c];
        }
        for (Py_ssize_t c = r; c < wide; c++)
            x[c] *= pivot;
    }
    Py_ssize_t at = 0;
    for (Py_ssize_t i = 0; i < node->n_open; i++) {
        const Py_ssize_t p = to->widths[node->order[i]];
        Py_ssize_t own = 0;
        while (at + own < a && owner[at + own] == i)
            own++;
        if (own == p && p == 1) {
            const double *x = U + at * wide;
            double length = 0.0, squares = 0.0;
            for (Py_ssize_t c = at; c < a; c++)
                length += x[c] * x[c];
            for (Py_ssize_t c = a; c < wide; c++)
                squares += x[c] * x[c];
            to->costs[i] = squares / length;
        } else if (own == p) {
            /* An orthonormal basis of the rows of U_g, and b_g turned along. */
            double *B = to->room;
            for (Py_ssize_t r = 0; r < p; r++) {
                for (Py_ssize_t c = 0; c < a; c++)
                    B[r * wide + c] = c >= at + r ? U[(at + r) * wide + c] : 0.0;
                for (Py_ssize_t c = a; c < wide; c++)
                    B[r * wide + c] = U[(at + r) * wide + c];
            }
            double squares = 0.0;
            for (Py_ssize_t r = p - 1; r >= 0; r--) {
                double before = 0.0, after = 0.0;
                for (Py_ssize_t c = 0; c < a; c++)
                    before += B[r * wide + c] * B[r * wide + c];
                for (Py_ssize_t s = r + 1; s < p; s++) {
                    double along = 0.0;
                    for (Py_ssize_t c = 0; c < a; c++)
                        along += B[r * wide + c] * B[s * wide + c];
                    for (Py_ssize_t c = 0; c < wide; c++)
                        B[r * wide + c] -= along * B[s * wide + c];
                }
                for (Py_ssize_t c = 0; c < a; c++)
                    after += B[r * wide + c] * B[r * wide + c];
                if (!(after > 1e-8 * before)) { /* too few digits; less is said than could be */
                    squares = 0.0;
                    break;
                }
                const double scale = 1.0 / sqrt(after);
                for (Py_ssize_t c = 0; c < wide; c++)
                    B[r * wide + c] *= scale;
                for (Py_ssize_t c = a; c < wide; c++)
                    squares += B[r * wide + c] * B[r * wide + c];
            }
            to->costs[i] = squares;
        }
        at += own;
    }
    for (column = 0; column < node->n_columns; column++) {
        const Py_ssize_t level = node->level[column];
        if (level > (column ? node->level[column - 1] : 0))
            continue;
        for (Py_ssize_t r = 0; r < level; r++) { /* coefficients of a dependent column */
            double coefficient = 0.0;
            for (Py_ssize_t s = r; s < level; s++)
                coefficient += U[r * wide + s] * node->M[s * stride + column];
            if (fabs(coefficient) > 1e-10)
                to->costs[owner[r]] = 0.0;
        }
    }
}

/* Put the open features in the order of their costs, the dearest first. */
INLINE void sort_open(Leaps *to, Node *node)
{
    const Py_ssize_t n = node->n_open, stride = node->n_columns + to->q;
    Py_ssize_t *at = to->order, moved = 0;
    for (Py_ssize_t i = 0; i < n; i++) { /* nearly in order, mostly */
        Py_ssize_t j = i;
        for (; j > 0 && to->costs[at[j - 1]] < to->costs[i]; j--)
            at[j] = at[j - 1];
        at[j] = i;
        moved += j != i;
    }
    if (moved == 0)
        return;
    Py_ssize_t *starts = to->bottom, column = 0; /* of the open features in M */
    for (Py_ssize_t i = 0; i < n; i++) {
        starts[i] = column;
        column += to->widths[node->order[i]];
    }
    double *copy = to->inverse;
    memcpy(copy, node->M, (size_t)(node->n_rows * stride) * sizeof *copy);
    Py_ssize_t *from = to->columns;
    column = 0;
    for (Py_ssize_t i = 0; i < n; i++)
        for (Py_ssize_t c = 0; c < to->widths[node->order[at[i]]]; c++)
            from[column++] = starts[at[i]] + c;
    Py_ssize_t *bottom = to->bottom; /* the starts are not needed any more */
    for (column = 0; column < node->n_columns; column++)
        bottom[column] = node->level[from[column]];
    for (Py_ssize_t r = 0; r < node->n_rows; r++)
        for (column = 0; column < node->n_columns; column++)
            node->M[r * stride + column] = copy[r * stride + from[column]];
    for (Py_ssize_t i = 0; i < n; i++)
        at[i] = node->order[at[i]];
    memcpy(node->order, at, (size_t)n * sizeof *at);
    column = 0;
    for (Py_ssize_t i = 0; i < n; i++)
        for (Py_ssize_t c = 0; c < to->widths[node->order[i]]; c++)
            from[column++] = to->starts[node->order[i]] + c;
    node->n_rows = make_steps(node->M, stride, node->n_columns, to->q, bottom, from, to->floors,
                              node->level, to->v, to->w);
}

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
