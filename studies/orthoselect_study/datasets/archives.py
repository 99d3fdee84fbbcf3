"""The .npz files of a folder: opened, checked, turned into records.

Whatever is wrong with a file is said with its name. Without a folder OpenML is asked.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.errors import InputError
from orthoselect_study.datasets import openml
from orthoselect_study.datasets.base import DataSource, Missing, StudyData

UCI = "UCI Machine Learning Repository, CC BY 4.0"
DEXTER_SUMS = {"train": 2816528, "valid": 2820952}
_MNIST_COUNTS = {
    "train": [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
    "test": [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009],
}
_METASTASES, _MALIGN = 2, 3
# What reading an archive raises that is damaged inside.
_DAMAGED = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    TypeError,
    AttributeError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_archive(folder: Path, file: str, arrays: Iterable[str]) -> dict[str, NDArray]:
    """Read some arrays of an .npz file.

    Raises
    ------
    Missing
        If there is no such file.
    InputError
        If it is damaged, or lacks an array.
    """
    path = Path(folder) / file
    if not path.exists():
        raise Missing(f"there is no `{file}` in the folder of data")
    if not zipfile.is_zipfile(path):  # NumPy would take it for a pickle, and advise to open it
        raise _damage(path, "it is no archive, or cut off")
    try:
        # Opened here: NumPy does not close a file that turns out to be no archive.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            lacking = [name for name in arrays if name not in archive.files]
            if not lacking:
                return {name: archive[name] for name in arrays}
            held = ", ".join(archive.files)
    except _DAMAGED as error:
        # NumPy names the option that would open a pickle; nobody should.
        pickled = "pickle" in str(error)
        reason = "it holds Python objects" if pickled else str(error).rstrip(".")
        raise _damage(path, reason) from None
    raise InputError(f"`{path}` should hold the arrays {', '.join(lacking)}; it holds {held}.")


def _damage(path: Path, reason: str) -> InputError:
    return InputError(
        f"`{path}` should be an .npz archive of plain arrays; it is damaged: {reason}. Get another "
        f"copy, or take the file away to go on without this set."
    )


def check(what: str, name: str, found: Any, expected: Any) -> None:
    """Raise if a copy of a set is not the set."""
    if found != expected:
        raise InputError(
            f"`{what}` should have {name} {expected}; it has {found}. It is another set, or "
            f"damaged: get another copy, or take it away to go on without this set."
        )


def _table(file: str, X: NDArray, y: NDArray, n_columns: int) -> None:
    check(file, "the shape", list(X.shape), [len(y), n_columns])


def dexter(source: DataSource) -> StudyData:
    """Dexter: word counts of news; 10054 of the 20000 features are probes."""
    is_real: NDArray | None = None
    notes: tuple[str, ...] = ("which features are probes is not known of this copy",)
    if source.folder is None:
        X, y, held_X, held_y = openml.dexter()
    else:
        parts = [f"X_{p}_{a}" for p in ("train", "valid") for a in ("data", "indices", "indptr")]
        labels = ["y_train", "y_valid", "feature_is_real"]
        d = read_archive(source.folder, "dexter.npz", [*parts, *labels])
        X, held_X = (_sparse("dexter.npz", d, part) for part in ("train", "valid"))
        y, held_y, is_real = d["y_train"], d["y_valid"], d["feature_is_real"]
        notes = (
            "the file of probes marks 9946 features real; the organizers' report says 9947",
            "judged on the validation rows: the labels of the test rows were never published",
        )
    for part, table in (("train", X), ("valid", held_X)):
        check("dexter.npz", f"the sum of values ({part})", int(table.sum()), DEXTER_SUMS[part])
    return StudyData(
        "dexter",
        "Dexter",
        X,
        y,
        ("numeric",) * X.shape[1],
        f"Guyon, Gunn, Ben-Hur and Dror, NIPS 2003 feature selection challenge; {UCI}",
        held_X,
        held_y,
        is_real=is_real,
        notes=notes,
    )


def _sparse(file: str, arrays: dict[str, NDArray], part: str) -> Any:
    data, indices, indptr = (arrays[f"X_{part}_{a}"] for a in ("data", "indices", "indptr"))
    try:
        X = sp.csr_matrix((data.astype(float), indices, indptr), shape=(len(indptr) - 1, 20000))
        X.check_format()
    except ValueError as error:
        raise InputError(f"`{file}` should hold sparse rows; its {part} rows: {error}.") from None
    check(file, f"as many labels as rows ({part})", len(arrays[f"y_{part}"]), X.shape[0])
    return X


def mnist(source: DataSource) -> StudyData:
    """MNIST: 784 pixels of handwritten digits."""
    if source.folder is None:
        X, y, held_X, held_y = openml.mnist()
    else:
        names = ["X_train", "y_train", "X_test", "y_test"]
        d = read_archive(source.folder, "mnist.npz", names)
        X, y, held_X, held_y = (d[name] for name in names)
    for part, table, labels in (("train", X, y), ("test", held_X, held_y)):
        _table("mnist.npz", table, labels, 784)
        counts = np.bincount(labels, minlength=10).tolist()
        check("mnist.npz", f"the class counts ({part})", counts, _MNIST_COUNTS[part])
    return StudyData(
        "mnist",
        "MNIST",
        X,
        y,
        ("numeric",) * 784,
        "LeCun, Bottou, Bengio and Haffner, Proceedings of the IEEE 86(11), 1998; CC BY-SA 3.0",
        held_X,
        held_y,
        held_name="test",
    )


def mfeat(source: DataSource) -> StudyData:
    """Mfeat: six views of handwritten digits."""
    if source.folder is None:
        X, y = openml.mfeat()
    else:
        d = read_archive(source.folder, "mfeat.npz", ["X", "y"])
        X, y = d["X"], d["y"]
    _table("mfeat.npz", X, y, 649)
    citation = f"Duin, Multiple Features, 1998, doi 10.24432/C5HC70; {UCI}"
    return StudyData("mfeat", "Mfeat", X, y, ("numeric",) * 649, citation)


def cnae9(source: DataSource) -> StudyData:
    """CNAE-9: word counts of descriptions of companies."""
    if source.folder is None:
        X, y = openml.cnae9()
    else:
        d = read_archive(source.folder, "cnae9.npz", ["X", "y"])
        X, y = d["X"].astype(float), d["y"]
    _table("cnae9.npz", X, y, 856)
    citation = f"Ciarelli and Oliveira, CNAE-9, 2009, doi 10.24432/C51G7P; {UCI}"
    notes = ("word counts 0 to 4 are levels as they are; they are not cut",)
    return StudyData("cnae9", "CNAE-9", X, y, ("count",) * 856, citation, notes=notes)


def lymphography(source: DataSource) -> StudyData:
    """Lymphography: its two large classes, metastases and malign lymph."""
    if source.folder is None:
        X, y = openml.lymphography()
    else:
        d = read_archive(source.folder, "lymphography.npz", ["X", "y"])
        X, y = d["X"].astype(float), d["y"]
    _table("lymphography.npz", X, y, 18)
    kept = np.isin(y, (_METASTASES, _MALIGN))
    check("lymphography.npz", "so many rows of metastases and malign lymph", int(kept.sum()), 142)
    citation = (
        f"University Medical Centre, Institute of Oncology, Ljubljana (M. Zwitter and M. Soklic), "
        f"doi 10.24432/C54598; {UCI}"
    )
    notes = ("classes metastases and malign lymph only: 142 of 148 rows",)
    kinds = ("categorical",) * 18
    return StudyData("lymphography", "Lymphography", X[kept], y[kept], kinds, citation, notes=notes)


def flags(source: DataSource) -> StudyData:
    """Return the flags of nations, and the religion of their people."""
    if source.folder is None:
        X, y, nominal = openml.flags()
    else:
        d = read_archive(source.folder, "flags.npz", ["X", "y", "nominal_columns"])
        X, y, nominal = d["X"].astype(float), d["y"], d["nominal_columns"].tolist()
    _table("flags.npz", X, y, 28)
    named = set(nominal)
    kinds = tuple("categorical" if j in named else "numeric" for j in range(28))
    citation = f"Forsyth, Flags, 1990, doi 10.24432/C52C7Z; {UCI}"
    notes = (
        "colors are numbered in alphabetical order; how the paper did it is not known",
        "three of the eight classes have fewer than ten rows",
    )
    return StudyData("flags", "Flags", X, y, kinds, citation, notes=notes)


def parkinsons(source: DataSource) -> StudyData:
    """Voices of people with and without Parkinson's disease."""
    if source.folder is None:
        X, y = openml.parkinsons()
    else:
        d = read_archive(source.folder, "parkinsons.npz", ["X", "y"])
        X, y = d["X"], d["y"]
    _table("parkinsons.npz", X, y, 22)
    citation = (
        f"Little, McSharry, Roberts, Costello and Moroz, BioMedical Engineering OnLine 6:23, 2007, "
        f"doi 10.24432/C59C74; {UCI}"
    )
    notes = ("several recordings of a person may stand on both sides of a fold",)
    kinds = ("numeric",) * 22
    return StudyData("parkinsons", "Parkinsons", X, y, kinds, citation, notes=notes)
