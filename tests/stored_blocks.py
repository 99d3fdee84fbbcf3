"""Blocks of numbers, stored in one way or another."""

import numpy as np

KINDS = ["plain", "wider", "every other row", "by columns", "backwards", "read-only", "unaligned"]


def block(rng, shape, dtype, kind):
    """The same sort of numbers, stored one way or another."""
    N, n = shape
    B = rng.normal(size=(N, n)).astype(dtype)
    if kind == "wider":
        return np.concatenate([B, B, B], axis=1)[:, n : 2 * n]
    if kind == "every other row":
        return np.repeat(B, 2, axis=0)[::2]
    if kind == "by columns":
        return np.asfortranarray(B)
    if kind == "backwards":
        return B[::-1]
    if kind == "read-only":
        B.setflags(write=False)
    return unaligned(B) if kind == "unaligned" else B


def unaligned(values):
    """The same values, the first of which begins at an odd byte."""
    return np.frombuffer(b"." + values.tobytes(), values.dtype, offset=1).reshape(values.shape)
