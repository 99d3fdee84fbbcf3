"""Gisette, whose copy is checked, and a stand-in for it made from MNIST.

The stand-in follows the organizers' recipe, not their draws: it is not Gisette, nor called so.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orthoselect.errors import InputError
from orthoselect_study.datasets.base import DataSource, Missing, StudyData
from orthoselect_study.datasets.sets import (
    CHALLENGE,
    NO_TEST_LABELS,
    arrays_of,
    check,
    dense,
    fetch_parts,
    mnist,
)
from orthoselect_study.records import generator

SUMS = {"train": 3197297133, "valid": 529310977}
SHA256 = {
    "gisette_train.data": "6d4c5e998afe67937b9e77a3334e03c85e545ebc65a6eb1333ffc14125cfc389",
    "gisette_train.labels": "42bd681fe51b161f033df773df14a0116e492676555ab14616c1b72edc054075",
    "gisette_valid.data": "5cea897956dd172a006132738254a27a8f61ecc1ceb6f5b20639c281d2942254",
    "gisette_valid.labels": "a6b857a0448023f033c4dda2ef848714b4be2ae45ce598d088fb3efb406e08c5",
}
_ROWS = {"train": 6000, "valid": 1000}
_ARRAYS = ("X_train", "y_train", "X_valid", "y_valid")
_N_REAL = _N_PROBES = 2500
_FOUR, _NINE = 4, 9
_SIDE = 28
_LEVELS = 999
# Where products take their pixels from: the upper middle, where fours and nines differ.
_TOP, _BOTTOM, _LEFT, _RIGHT = 6, 18, 7, 21
_DRAWS = 2003  # the seed of the stand-in: it is one set, whatever the seed of a run


def gisette(source: DataSource) -> StudyData:
    """Gisette: fours and nines; half of the 5000 features are probes, which ones is not known."""
    X, y, held_X, held_y = _copy(source)
    for part, table, labels in (("train", X, y), ("valid", held_X, held_y)):
        what = f"gisette ({part})"
        check(what, "the shape", list(table.shape), [_ROWS[part], _N_REAL + _N_PROBES])
        counts = np.unique(labels, return_counts=True)[1].tolist()
        check(what, "the class counts", counts, [_ROWS[part] // 2] * 2)
        check(what, "the sum of values", int(table.sum(dtype=np.int64)), SUMS[part])
    X, held_X, kinds = X.astype(np.int16), held_X.astype(np.int16), ("numeric",) * X.shape[1]
    notes = (NO_TEST_LABELS,)
    return StudyData("gisette", "Gisette", X, y, kinds, CHALLENGE, held_X, held_y, notes=notes)


def _copy(source: DataSource) -> tuple[NDArray, ...]:
    """Return a copy: gisette.npz, or UCI's four files, of the folder; or OpenML's."""
    if source.folder and all((Path(source.folder) / file).exists() for file in SHA256):
        return _uci_files(Path(source.folder))
    try:
        return arrays_of(source, "gisette.npz", _ARRAYS, lambda: fetch_parts(41026, dense, 6000))
    except Missing:
        if source.folder is None:
            raise
        raise Missing(
            f"there is neither `gisette.npz` (arrays {', '.join(_ARRAYS)}) nor UCI's four files "
            f"({', '.join(SHA256)}) in the folder of data"
        ) from None


def _uci_files(folder: Path) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    read = []
    for file, expected in SHA256.items():
        content = (folder / file).read_bytes()
        check(str(folder / file), "the SHA-256", hashlib.sha256(content).hexdigest(), expected)
        read.append(np.array(content.split(), dtype=np.int64))
    X, y, held_X, held_y = read
    columns = _N_REAL + _N_PROBES
    return X.reshape(-1, columns), y, held_X.reshape(-1, columns), held_y


def gisette_like(source: DataSource) -> StudyData:
    """Fours and nines of MNIST by the organizers' recipe: a stand-in that is not Gisette.

    Pixels are scaled to [0, 1], and values below 0.5 set to 0. Features are all pixels that are
    not always zero, and products of random pairs of pixels, drawn more often from the upper part
    of the image, where fours and nines differ; 2500 together. The probes are 2500 more products,
    each permuted over the rows. Columns are shuffled, values rounded to 0, 1, ..., 999.
    """
    digits = mnist(source)
    if digits.X.shape[1] != _SIDE**2:
        raise InputError(f"MNIST should have {_SIDE**2} pixels; it has {digits.X.shape[1]}.")
    X, y, is_real = _make(digits.X, np.asarray(digits.y))
    train, held = slice(_ROWS["train"]), slice(_ROWS["train"], None)
    return StudyData(
        name="gisette-like",
        title="gisette-like",
        X=X[train],
        y=y[train],
        kinds=("numeric",) * X.shape[1],
        citation=f"made from MNIST ({digits.citation}) by the recipe of the NIPS 2003 challenge",
        held_X=X[held],
        held_y=y[held],
        is_real=is_real,
        notes=("a stand-in, not Gisette: same recipe and size, other draws, other probes",),
    )


def _make(images: NDArray, labels: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return X (7000, 5000) as whole numbers, y of -1 and 1, and which columns are real."""
    rng = generator(_DRAWS, "gisette-like")
    rows, y = _rows(labels, rng)
    pixels = images[rows].astype(np.float32) / 255.0
    pixels[pixels < 0.5] = 0.0
    used = np.flatnonzero(pixels.any(axis=0))
    n_products = _N_REAL - len(used)
    pairs = _pairs(pixels, used, n_products + _N_PROBES, rng)
    X = np.empty((len(rows), _N_REAL + _N_PROBES), dtype=np.int16)
    places = rng.permutation(X.shape[1])
    for at, pixel in zip(places, used):
        X[:, at] = np.rint(pixels[:, pixel] * _LEVELS)
    for number, (at, (a, b)) in enumerate(zip(places[len(used) :], pairs)):
        product = np.rint(pixels[:, a] * pixels[:, b] * _LEVELS)
        X[:, at] = product if number < n_products else rng.permutation(product)
    is_real = np.zeros(X.shape[1], dtype=bool)
    is_real[places[:_N_REAL]] = True
    return X, y, is_real


def _rows(labels: NDArray, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Draw rows, training ones first, both digits equally often, in random order."""
    fours = rng.permutation(np.flatnonzero(labels == _FOUR))
    nines = rng.permutation(np.flatnonzero(labels == _NINE))
    parts, start = [], 0
    for size in _ROWS.values():
        stop = start + size // 2
        parts.append(rng.permutation(np.concatenate([fours[start:stop], nines[start:stop]])))
        start = stop
    rows = np.concatenate(parts)
    return rows, np.where(labels[rows] == _FOUR, 1, -1).astype(np.int8)


def _pairs(
    pixels: NDArray, used: NDArray, count: int, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Draw pairs of pixels whose product is not always zero, upper ones more often."""
    row, column = used // _SIDE, used % _SIDE
    inside = (row >= _TOP) & (row < _BOTTOM) & (column >= _LEFT) & (column < _RIGHT)
    weights = np.where(inside, _BOTTOM - row, 0.0)
    weights /= weights.sum()
    lit = (pixels > 0).astype(np.float32)
    together = lit.T @ lit  # rows in which two pixels are both lit
    found: dict[tuple[int, int], None] = {}
    while len(found) < count:
        drawn = rng.choice(used, size=(count, 2), p=weights)
        for a, b in np.sort(drawn, axis=1).tolist():
            if a != b and together[a, b] > 0 and len(found) < count:
                found[a, b] = None
    return list(found)
