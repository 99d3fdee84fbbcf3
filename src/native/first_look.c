/* Sums of the columns of a block class by class: all that a first look asks, in double.
 *
 * Rows of a response of classes are alike within a class, so that its products with a table follow
 * from these sums; they take one addition for each number, however many classes there are.
 */
#include "native.h"

enum {
    RUN = 64,    /* rows whose squares stay in registers */
    FOURS = 8,   /* strips of so many times four columns */
    PANEL = 512, /* columns of a run that stay in a near cache until the next run needs them */
};

#define INLINE __attribute__((always_inline)) static inline

typedef double Four __attribute__((vector_size(32), aligned(1), may_alias));
typedef float FourFloats __attribute__((vector_size(16), aligned(1), may_alias));

typedef struct {
    const uint8_t *codes;
    const double *weights; /* or NULL */
    double *sums, *squares;
    Py_ssize_t step; /* between the sums of classes */
} Looks;

/* One run of a strip of `fours` times four columns; `weighted` and `in_float` are constants too. */
INLINE void strip(const int fours, const int weighted, const int in_float, const char *B,
                  Py_ssize_t B_step, Py_ssize_t rows, Py_ssize_t ahead, Looks to)
{
    Four square[FOURS];
    for (int at = 0; at < fours; at++)
        square[at] = (Four){0};
    for (Py_ssize_t i = 0; i < rows; i++, B += B_step) {
        Four *sums = (Four *)(to.sums + to.codes[i] * to.step);
        __builtin_prefetch(B + ahead);
        __builtin_prefetch(B + ahead + 64);
        for (int at = 0; at < fours; at++) {
            const Four x = in_float ? __builtin_convertvector(((const FourFloats *)B)[at], Four)
                                    : (Four)((const Four *)B)[at];
            const Four wx = x * (weighted ? to.weights[i] : 1.0);
            square[at] += wx * x;
            sums[at] += wx;
        }
    }
    for (int at = 0; at < fours; at++)
        ((Four *)to.squares)[at] += square[at];
}

/* One column. */
INLINE void single(const char *B, const int in_float, Py_ssize_t B_step, Py_ssize_t rows, Looks to)
{
    double square = 0.0;
    for (Py_ssize_t i = 0; i < rows; i++, B += B_step) {
        const double x = in_float ? (double)*(const float *)B : *(const double *)B;
        const double wx = to.weights ? x * to.weights[i] : x;
        square += wx * x;
        to.sums[to.codes[i] * to.step] += wx;
    }
    *to.squares += square;
}

/* All columns of one run. */
INLINE void run(const int in_float, const char *B, Py_ssize_t B_step, Py_ssize_t rows,
                Py_ssize_t ahead, Py_ssize_t n, Looks to)
{
    const Py_ssize_t size = in_float ? 4 : 8;
    for (Py_ssize_t j = 0, width; j < n; j += width) {
        width = n - j >= 4 * FOURS ? 4 * FOURS : n - j >= 16 ? 16 : n - j >= 4 ? 4 : 1;
        Looks at = to;
        at.sums += j;
        at.squares += j;
#define STRIP(FOURS) strip(FOURS, weighted, in_float, B + j * size, B_step, rows, ahead, at)
#define STRIPS                                                                                     \
    switch (width) {                                                                               \
        case 4 * FOURS: STRIP(FOURS); break;                                                       \
        case 16: STRIP(4); break;                                                                  \
        case 4: STRIP(1); break;                                                                   \
        default: single(B + j * size, in_float, B_step, rows, at);                                 \
    }
        if (to.weights) {
            const int weighted = 1;
            STRIPS
        } else {
            const int weighted = 0;
            STRIPS
        }
#undef STRIPS
#undef STRIP
    }
}

FOR_EACH_PROCESSOR
static void add_class_sums(const char *B, int in_float, Py_ssize_t B_step, Py_ssize_t N,
                           Py_ssize_t n, Looks to)
{
    for (Py_ssize_t j = 0; j < n; j += PANEL)
        for (Py_ssize_t i = 0; i < N; i += RUN) {
            const Py_ssize_t rows = N - i < RUN ? N - i : RUN, width = n - j < PANEL ? n - j : PANEL;
            const Py_ssize_t ahead = i + RUN < N ? RUN * B_step : 0;
            const char *block = B + i * B_step + j * (in_float ? 4 : 8);
            const Looks at = {to.codes + i, to.weights ? to.weights + i : NULL, to.sums + j,
                              to.squares + j, to.step};
            if (in_float)
                run(1, block, B_step, rows, ahead, width, at);
            else
                run(0, block, B_step, rows, ahead, width, at);
        }
}

static int are_classes(const Py_buffer *codes, Py_ssize_t c)
{
    const uint8_t *code = codes->buf;
    int most = 0;
    for (Py_ssize_t i = 0; i < codes->shape[0]; i++)
        most = code[i] > most ? code[i] : most;
    return codes->shape[0] == 0 || most < c;
}

static PyObject *class_sums(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *given[5];
    Arrays arrays = {.n = 0};
    const char *type;
    if (!PyArg_ParseTuple(args, "OOOOO", &given[0], &given[1], &given[2], &given[3], &given[4]) ||
        (type = float_type(given[0])) == NULL)
        return NULL;
    Py_buffer *B = take_array(&arrays, given[0], type, 2, 0);
    Py_buffer *codes = take_array(&arrays, given[1], "B", 1, 0);
    Py_buffer *weights = given[2] == Py_None ? NULL : take_array(&arrays, given[2], "d", 1, 0);
    Py_buffer *sums = take_array(&arrays, given[3], "d", 2, 1);
    Py_buffer *squares = take_array(&arrays, given[4], "d", 1, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t N = B->shape[0], n = B->shape[1];
    if (codes->shape[0] != N || (weights && weights->shape[0] != N) || sums->shape[1] != n ||
        squares->shape[0] != n || !are_classes(codes, sums->shape[0]))
        return finish_call(&arrays, NO_FIT);
    const Looks to = {codes->buf, weights ? weights->buf : NULL, sums->buf, squares->buf,
                      sums->strides[0] / 8};
    Py_BEGIN_ALLOW_THREADS;
    add_class_sums(B->buf, B->itemsize == 4, B->strides[0], N, n, to);
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

PyMethodDef look_methods[] = {
    {"class_sums", class_sums, METH_VARARGS,
     "class_sums(B, codes, weights, sums, squares): sums[codes[i]] += weights[i] * B[i] and\n"
     "squares += weights[i] * B[i]**2 in double; codes are of one byte, weights may be None."},
    {NULL, NULL, 0, NULL},
};
