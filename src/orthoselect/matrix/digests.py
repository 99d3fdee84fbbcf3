"""What stands for the content of arrays, all of it, at about the speed of reading them.

Blocks of 2048 words are mixed down to eight words each: the halves of each word, after a key has
changed it, are multiplied (as in NH, the universal hash of UMAC, RFC 4418, and in XXH3), and these
go through BLAKE2. Any change of a single word shows for sure; others are missed with a chance of
about 2^-32 for each block that changed, at most. It is no protection against arrays that somebody
made to deceive.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect import native
from orthoselect.matrix.threads import run_tasks

Words = NDArray[np.uint64]

_BLOCK = 2048  # words
_LANES = 8
_TASK = 64  # blocks that one thread takes at a time, 1 MB
_WORD = 8  # bytes
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def digest(parts: Iterable[Any]) -> bytes:
    """Return 16 bytes that stand for some buffers of bytes, in their order.

    >>> x = np.arange(5.0)
    >>> digest([x]) == digest([x.copy()]), digest([x]) == digest([x[::-1].copy()])
    (True, False)
    """
    total = blake2b(digest_size=16)
    for part in parts:
        view = memoryview(part).cast("B")
        whole = len(view) // _WORD * _WORD
        words = native.aligned(np.frombuffer(view[:whole], dtype=np.uint64))
        total.update(len(view).to_bytes(8, "little"))
        total.update(_mixed(words).tobytes())
        total.update(view[whole:])
    return total.digest()


def _mixed(words: Words) -> Words:
    """Return eight words for each block of words, (blocks, 8)."""
    out = np.zeros((-(-len(words) // _BLOCK), _LANES), dtype=np.uint64)
    if len(out) <= _TASK:
        mix_blocks(words, _key(), out)
        return out

    def mix(first: int, total: Any) -> None:
        some = words[first * _BLOCK : (first + _TASK) * _BLOCK]
        mix_blocks(some, _key(), out[first : first + _TASK])

    run_tasks(range(0, len(out), _TASK), mix, cost=float(len(words)), shared=True)
    return out


def mix_blocks(words: Words, key: Words, out: Words) -> None:
    """Mix each block of as many words as the key has, the last one shorter, to a row of out."""
    compiled = native.kernels()
    if compiled is not None:
        compiled.digest_blocks(words, key, out)
        return
    for b in range(len(out)):
        block = words[b * len(key) : (b + 1) * len(key)]
        lanes = np.zeros((2, -(-len(block) // _LANES) * _LANES), dtype=np.uint64)
        mixed = block ^ key[: len(block)]
        np.multiply(mixed & _LOW, mixed >> _HALF, out=lanes[0, : len(block)])
        lanes[1, : len(block)] = block
        products, sums = lanes.reshape(2, -1, _LANES).sum(axis=1)
        out[b] = products + sums[np.arange(_LANES) ^ 1]


@cache
def _key() -> Words:
    """Return words without a pattern."""
    made = (blake2b(k.to_bytes(8, "little")).digest() for k in range(_BLOCK // _LANES))
    return np.frombuffer(b"".join(made), dtype="<u8").astype(np.uint64)
