/* Conditional mutual information maximization in one thread, evaluated lazily: a rival in plain C.
 *
 * What is known of a feature's score from some of those selected can only fall; a feature is looked at
 * again only while it is above the best of the step so far. Written from F. Fleuret, 2004,
 * https://www.jmlr.org/papers/v5/fleuret04a.html, section 5; `benchmarks/lazy_cmim.py` compiles it.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sums of c ln c over the cells (a, b, class) and over (a, b) of two features, b of one level or more. */
static void sums(const uint8_t *x, const uint8_t *z, const uint8_t *y, int64_t N, int levels, int classes,
                 const double *c_ln_c, int32_t *cells, double *xz, double *xzy)
{
    const int size = levels * levels * classes;
    memset(cells, 0, size * sizeof *cells);
    if (z == NULL)
        for (int64_t i = 0; i < N; i++)
            cells[x[i] * levels * classes + y[i]]++;
    else
        for (int64_t i = 0; i < N; i++)
            cells[(x[i] * levels + z[i]) * classes + y[i]]++;
    *xz = *xzy = 0;
    for (int cell = 0; cell < size; cell += classes) {
        int32_t count = 0;
        for (int class = 0; class < classes; class++) {
            count += cells[cell + class];
            *xzy += c_ln_c[cells[cell + class]];
        }
        *xz += c_ln_c[count];
    }
}

/* Select t of n features of a table (N, n), row by row, of levels below `levels`. 0, or 1 if there is
 * no memory. */
int lazy_cmim(const uint8_t *table, const uint8_t *y, int64_t N, int64_t n, int levels, int classes,
              int64_t t, int64_t *selected)
{
    uint8_t *columns = malloc(N * n);
    double *c_ln_c = calloc(N + 1, sizeof *c_ln_c), *score = malloc(n * sizeof *score);
    double *x_alone = malloc(n * sizeof *x_alone), *xy_alone = malloc(n * sizeof *xy_alone);
    int64_t *seen = calloc(n, sizeof *seen);
    int32_t *cells = malloc(levels * levels * classes * sizeof *cells);
    const int short_of =
        !columns || !c_ln_c || !score || !x_alone || !xy_alone || !seen || !cells;
    if (!short_of) {
        double y_alone = 0;
        int32_t *of_class = cells;
        for (int64_t i = 0; i < N; i += 64) /* a tile at a time, for the cache */
            for (int64_t k = 0; k < n; k++)
                for (int64_t r = i; r < i + 64 && r < N; r++)
                    columns[k * N + r] = table[r * n + k];
        for (int64_t c = 2; c <= N; c++)
            c_ln_c[c] = c * log((double)c);
        memset(of_class, 0, classes * sizeof *of_class);
        for (int64_t i = 0; i < N; i++)
            of_class[y[i]]++;
        for (int class = 0; class < classes; class++)
            y_alone += c_ln_c[of_class[class]];
        for (int64_t k = 0; k < n; k++) {
            sums(columns + k * N, NULL, y, N, levels, classes, c_ln_c, cells, x_alone + k, xy_alone + k);
            score[k] = xy_alone[k] - x_alone[k] - y_alone + c_ln_c[N];
        }
        for (int64_t step = 0; step < t; step++) {
            double best = -1;
            int64_t winner = -1;
            for (int64_t k = 0; k < n; k++) {
                while (score[k] > best && seen[k] < step) {
                    const int64_t j = selected[seen[k]++];
                    double xz, xzy;
                    sums(columns + k * N, columns + j * N, y, N, levels, classes, c_ln_c, cells, &xz, &xzy);
                    const double given = xzy - xz - xy_alone[j] + x_alone[j];
                    score[k] = given < score[k] ? given : score[k];
                }
                if (score[k] > best) {
                    best = score[k];
                    winner = k;
                }
            }
            selected[step] = winner;
            score[winner] = -2;
        }
    }
    free(columns);
    free(c_ln_c);
    free(score);
    free(x_alone);
    free(xy_alone);
    free(seen);
    free(cells);
    return short_of;
}
