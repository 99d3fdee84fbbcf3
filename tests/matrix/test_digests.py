"""What stands for the content of arrays shows each change, and is the same without kernels."""

import numpy as np
import pytest

from orthoselect import native
from orthoselect.matrix.digests import digest


@pytest.mark.parametrize("n_bytes", [0, 1, 7, 8, 64, 2048 * 8, 2048 * 8 + 3, 300_001])
def test_kernel_and_numpy_mix_alike(n_bytes, monkeypatch, rng):
    words = rng.integers(0, 256, n_bytes).astype(np.uint8)
    compiled = digest([words])
    monkeypatch.setattr(native, "_kernels", None)
    assert digest([words]) == compiled
    assert len(compiled) == 16


def test_each_change_of_one_byte_shows(rng):
    words = rng.integers(0, 256, 40_003).astype(np.uint8)
    seen = {digest([words])}
    places = rng.choice(len(words), 200, replace=False)
    for place in [*places, 0, len(words) - 1]:
        changed = words.copy()
        changed[place] ^= 1 << int(rng.integers(8))
        seen.add(digest([changed]))
    assert len(seen) == 203


def test_rows_that_change_places_show(rng):
    X = rng.integers(0, 3, (400, 64)).astype(float)
    seen = {digest([X])}
    for _ in range(200):
        order = np.arange(len(X))
        a, b = rng.choice(len(X), 2, replace=False)
        order[[a, b]] = order[[b, a]]
        seen.add(digest([X[order]]))
    assert len(seen) == 201


def test_where_one_buffer_ends_shows():
    x = np.arange(6.0)
    assert len({digest([x]), digest([x[:3], x[3:]]), digest([x[:4], x[4:]]), digest([x, b""])}) == 4


def test_content_counts_and_not_where_it_is(rng):
    x = rng.normal(size=1000)
    room = np.zeros(8008, dtype=np.uint8)
    room[3:8003] = x.view(np.uint8)
    assert digest([room[3:8003]]) == digest([x]) == digest([x.tobytes()])
