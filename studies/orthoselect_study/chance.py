"""Random numbers that depend on what they are for, never on the order or number of processes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np


def digest(value: Any) -> str:
    """Return 16 letters that stand for a plain value; the order of keys does not matter.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sequence(*purpose: Any) -> np.random.SeedSequence:
    """Return the seeds for a purpose, named by plain values."""
    return np.random.SeedSequence(int(digest(list(purpose)), 16))


def generator(*purpose: Any) -> np.random.Generator:
    """Return the generator for a purpose.

    Examples
    --------
    >>> first = generator(0, "binomial", 3).normal()
    >>> first == generator(0, "binomial", 3).normal()
    True
    >>> first == generator(0, "binomial", 4).normal()
    False
    """
    return np.random.default_rng(sequence(*purpose))


def number(*purpose: Any) -> int:
    """Return a seed as scikit-learn takes them, for a purpose."""
    return int(sequence(*purpose).generate_state(1)[0] >> 1)
