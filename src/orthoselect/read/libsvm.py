"""LIBSVM files, by scikit-learn."""

from __future__ import annotations

import os
from typing import BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.errors import CutShortWarning, InputError, warn
from orthoselect.read.content import Content
from orthoselect.read.dataset import Dataset


def read_libsvm(content: Content, format: str) -> Dataset:
    """Read a LIBSVM file; a column is called x and its index in the file."""
    from sklearn.datasets import load_svmlight_file

    with content.open() as file:
        end = _unfinished(file)
        X, y = load_svmlight_file(file, zero_based=True)
    first = 0 if X.shape[1] and X[:, [0]].nnz else 1  # counted from 1, as most files are
    if not X.shape[0] or X.shape[1] <= first:
        raise InputError(
            f"`{content.name}` should hold lines such as `1 3:0.5 7:1`; it has none with a value."
        )
    if end is not None:
        warn(CutShortWarning(content.name, end))
    return Dataset(
        sp.csr_array(X[:, first:]),
        [f"x{index}" for index in range(first, X.shape[1])],
        target=whole_if_possible(y),
        target_name="target",
        format=format,
    )


def _unfinished(file: BinaryIO) -> str | None:
    """Return the last entry of a file that does not end with a newline: `1:0.53` may be `1:0.`."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 100))
    end = file.read()
    file.seek(0)
    if not end.strip() or end.endswith((b"\n", b"\r")):
        return None
    return end.split()[-1].decode(errors="replace")


def whole_if_possible(values: NDArray[np.float64]) -> NDArray:
    """Return numbers as integers if all of them are whole: classes are 1 and 2, not 1.0 and 2.0."""
    small = np.abs(values) < 2.0**53
    return values.astype(np.int64) if (small & (values == np.rint(values))).all() else values
