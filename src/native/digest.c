/* What stands for the content of an array; see matrix/digests.py.
 *
 * A block of words is mixed with a key of the same length, eight lanes side by side: the halves of
 * word ^ key are multiplied and added up, and the word itself is added to the lane beside it, so
 * that any single change changes something.
 */
#include "native.h"

enum { LANES = 8 };

FOR_EACH_PROCESSOR
static void mix_block(const uint64_t *words, const uint64_t *key, Py_ssize_t n, uint64_t *out)
{
    uint64_t products[LANES] = {0}, sums[LANES] = {0};
    Py_ssize_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const uint64_t x = words[i + lane], mixed = x ^ key[i + lane];
            products[lane] += (mixed & 0xffffffffu) * (mixed >> 32);
            sums[lane] += x;
        }
    for (int lane = 0; i + lane < n; lane++) {
        const uint64_t x = words[i + lane], mixed = x ^ key[i + lane];
        products[lane] += (mixed & 0xffffffffu) * (mixed >> 32);
        sums[lane] += x;
    }
    for (int lane = 0; lane < LANES; lane++)
        out[lane] = products[lane] + sums[lane ^ 1];
}

static PyObject *digest_blocks(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *given[3];
    Arrays arrays = {.n = 0};
    if (!PyArg_ParseTuple(args, "OOO", &given[0], &given[1], &given[2]))
        return NULL;
    Py_buffer *words = take_array(&arrays, given[0], "Q", 1, 0);
    Py_buffer *key = take_array(&arrays, given[1], "Q", 1, 0);
    Py_buffer *out = take_array(&arrays, given[2], "Q", 2, 1);
    if (PyErr_Occurred())
        return finish_call(&arrays, NULL);
    const Py_ssize_t n = words->shape[0], size = key->shape[0];
    if (size == 0 || out->shape[1] != LANES || out->shape[0] != (n + size - 1) / size)
        return finish_call(&arrays, NO_FIT);
    const uint64_t *from = words->buf;
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t b = 0; b < out->shape[0]; b++) {
        const Py_ssize_t left = n - b * size;
        mix_block(from + b * size, key->buf, left < size ? left : size,
                  (uint64_t *)((char *)out->buf + b * out->strides[0]));
    }
    Py_END_ALLOW_THREADS;
    return finish_call(&arrays, NULL);
}

PyMethodDef digest_methods[] = {
    {"digest_blocks", digest_blocks, METH_VARARGS,
     "digest_blocks(words, key, out): out[b] = what stands for block b of the words, each as long as\n"
     "the key and the last one shorter, in eight lanes: the sum over words x of the product of the\n"
     "halves of x ^ key, and of x in the lane beside it."},
    {NULL, NULL, 0, NULL},
};
