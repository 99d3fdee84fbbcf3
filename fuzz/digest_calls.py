"""Calls of the kernel that mixes words: valid arguments, and what it gives."""

from __future__ import annotations

from typing import Any

import numpy as np

Rng = np.random.Generator
_LANES, _LOW = 8, (1 << 32) - 1


def make_digest_blocks(rng: Rng) -> dict[str, Any]:
    """Return words, a key of a few, and room for what stands for each block."""
    n, size = int(rng.choice([0, 1, 7, 8, 40, 129])), int(rng.choice([1, 8, 13, 64]))
    words, key = (rng.integers(0, 2**64, k, dtype=np.uint64) for k in (n, size))
    return {"words": words, "key": key, "out": np.ones((-(-n // size), _LANES), np.uint64)}


def digest_blocks_twin(words: Any, key: Any, out: Any) -> dict[str, Any]:
    """Return what stands for each block, word by word."""
    size, told = len(key), np.zeros_like(out)
    for b in range(len(out)):
        lanes = [0] * _LANES
        for place, (word, own) in enumerate(zip(words[b * size : (b + 1) * size].tolist(), key)):
            mixed, lane = word ^ int(own), place % _LANES
            lanes[lane] += (mixed & _LOW) * (mixed >> 32)
            lanes[lane ^ 1] += word
        told[b] = [lane % 2**64 for lane in lanes]
    return {"out": told}
