"""The data sets but for Gisette: each as it is to be used, from its copy or from the program.

Copies are the .npz files of a folder or, without a folder, what OpenML has. Whatever is wrong with
a copy is said with its name. OpenML is asked by scikit-learn's `fetch_openml`, which keeps what it
fetched. Sets come from there as plain arrays, so no dataframe library is needed; categories are
numbered in the order in which the file declares them.
"""

from __future__ import annotations

import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.errors import InputError
from orthoselect_study.datasets.base import DataSource, Missing, StudyData

UCI = "UCI Machine Learning Repository, CC BY 4.0"
CHALLENGE = f"Guyon, Gunn, Ben-Hur and Dror, NIPS 2003 feature selection challenge; {UCI}"
NO_TEST_LABELS = "judged on the validation rows: the labels of the test rows were never published"
DEXTER_SUMS = {"train": 2816528, "valid": 2820952}
_MNIST_COUNTS = {
    "train": [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
    "test": [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009],
}
_MFEAT = (14, 12, 16, 20, 22, 18)  # its six views at OpenML, in UCI's order of columns
_LYMPH_CLASSES = {"normal": 1, "metastases": 2, "malign_lymph": 3, "fibrosis": 4}
_FLAGS_NOMINAL = ("landmass", "zone", "language", "mainhue", "topleft", "botright")
# Seven rows of iris: sepal length, sepal width, petal length, petal width.
WORKED_EXAMPLE = np.array(
    [
        [5.1, 3.5, 1.4, 0.2],
        [4.9, 3.0, 1.4, 0.2],
        [7.0, 3.2, 4.7, 1.4],
        [6.4, 3.2, 4.5, 1.5],
        [6.3, 3.3, 6.0, 2.5],
        [5.8, 2.7, 5.1, 1.9],
        [7.1, 3.0, 5.9, 2.1],
    ]
)
WORKED_CLASSES = ("setosa",) * 2 + ("versicolor",) * 2 + ("virginica",) * 3
_FISHER = "Fisher, Annals of Eugenics 7, 1936"
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


def iris(source: DataSource) -> StudyData:
    """Return the seven rows of iris of the paper's worked example."""
    y = np.array(WORKED_CLASSES)
    notes = ("seven of its 150 rows",)
    return StudyData("iris", "Iris", WORKED_EXAMPLE, y, ("numeric",) * 4, _FISHER, notes=notes)


def breast(source: DataSource) -> StudyData:
    """Wisconsin diagnostic breast cancer."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    citation = "Street, Wolberg and Mangasarian, Breast Cancer Wisconsin (Diagnostic), 1993; UCI"
    return StudyData("breast", "Breast", X, y, ("numeric",) * 30, citation)


def dexter(source: DataSource) -> StudyData:
    """Dexter: word counts of news; 10054 of the 20000 features are probes."""
    is_real: NDArray | None = None
    notes: tuple[str, ...] = ("which features are probes is not known of this copy",)
    if source.folder is None:
        X, y, held_X, held_y = fetch_parts(4136, partial(sp.csr_matrix, dtype=float), 300, 600)
    else:
        parts = [f"X_{p}_{a}" for p in ("train", "valid") for a in ("data", "indices", "indptr")]
        labels = ["y_train", "y_valid", "feature_is_real"]
        d = read_archive(source.folder, "dexter.npz", [*parts, *labels])
        X, held_X = (_sparse_part("dexter.npz", d, part) for part in ("train", "valid"))
        y, held_y, is_real = (d[name] for name in labels)
        notes = (
            "the file of probes marks 9946 features real; the organizers' report says 9947",
            NO_TEST_LABELS,
        )
    for part, table in (("train", X), ("valid", held_X)):
        check("dexter.npz", f"the sum of values ({part})", int(table.sum()), DEXTER_SUMS[part])
    shared = ("dexter", "Dexter", X, y, ("numeric",) * X.shape[1], CHALLENGE, held_X, held_y)
    return StudyData(*shared, is_real=is_real, notes=notes)


def _sparse_part(file: str, arrays: dict[str, NDArray], part: str) -> Any:
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
    names = ("X_train", "y_train", "X_test", "y_test")
    fetched = partial(fetch_parts, 554, partial(np.asarray, dtype=np.uint8), 60000)
    X, y, held_X, held_y = arrays_of(source, "mnist.npz", names, fetched)
    for part, table, labels in (("train", X, y), ("test", held_X, held_y)):
        check_shape("mnist.npz", table, labels, 784)
        counts = np.bincount(labels, minlength=10).tolist()
        check("mnist.npz", f"the class counts ({part})", counts, _MNIST_COUNTS[part])
    kinds = ("numeric",) * 784
    citation = (
        "LeCun, Bottou, Bengio and Haffner, Proceedings of the IEEE 86(11), 1998; CC BY-SA 3.0"
    )
    return StudyData("mnist", "MNIST", X, y, kinds, citation, held_X, held_y, held_name="test")


def mfeat(source: DataSource) -> StudyData:
    """Mfeat: six views of handwritten digits."""
    X, y = arrays_of(source, "mfeat.npz", ("X", "y"), _fetch_mfeat)
    check_shape("mfeat.npz", X, y, 649)
    citation = f"Duin, Multiple Features, 1998, doi 10.24432/C5HC70; {UCI}"
    return StudyData("mfeat", "Mfeat", X, y, ("numeric",) * 649, citation)


def _fetch_mfeat() -> tuple[NDArray, NDArray]:
    views = [fetch_plain(number) for number in _MFEAT]
    y = views[0][1]
    if not all(np.array_equal(labels, y) for _, labels in views):
        raise Missing("OpenML's six sets of Mfeat do not have their rows in the same order")
    return np.hstack([X for X, _ in views]), y - 1


def cnae9(source: DataSource) -> StudyData:
    """CNAE-9: word counts of descriptions of companies."""
    X, y = arrays_of(source, "cnae9.npz", ("X", "y"), lambda: fetch_plain(1468))
    check_shape("cnae9.npz", X, y, 856)
    citation = f"Ciarelli and Oliveira, CNAE-9, 2009, doi 10.24432/C51G7P; {UCI}"
    notes = ("word counts 0 to 4 are levels as they are; they are not cut",)
    kinds = ("count",) * 856
    return StudyData("cnae9", "CNAE-9", X.astype(float), y, kinds, citation, notes=notes)


def lymphography(source: DataSource) -> StudyData:
    """Lymphography: its two large classes, metastases and malign lymph."""
    X, y = arrays_of(source, "lymphography.npz", ("X", "y"), _fetch_lymphography)
    check_shape("lymphography.npz", X, y, 18)
    kept = np.isin(y, [_LYMPH_CLASSES[name] for name in ("metastases", "malign_lymph")])
    check("lymphography.npz", "so many rows of metastases and malign lymph", int(kept.sum()), 142)
    citation = (
        f"University Medical Centre, Institute of Oncology, Ljubljana (M. Zwitter and M. Soklic), "
        f"doi 10.24432/C54598; {UCI}"
    )
    notes = ("classes metastases and malign lymph only: 142 of 148 rows",)
    X, y, kinds = X[kept].astype(float), y[kept], ("categorical",) * 18
    return StudyData("lymphography", "Lymphography", X, y, kinds, citation, notes=notes)


def _fetch_lymphography() -> tuple[NDArray, NDArray]:
    """Return the table with its classes numbered as UCI does."""
    bunch = fetch(10)
    unknown = sorted(set(bunch.target) - set(_LYMPH_CLASSES))
    if unknown:
        raise InputError(
            f"OpenML's set 10 should have the classes {', '.join(_LYMPH_CLASSES)}; "
            f"it has {', '.join(map(str, unknown))}."
        )
    return dense(bunch.data), np.array([_LYMPH_CLASSES[name] for name in bunch.target])


def flags(source: DataSource) -> StudyData:
    """Return the flags of nations, and the religion of their people."""
    names = ("X", "y", "nominal_columns")
    X, y, nominal = arrays_of(source, "flags.npz", names, _fetch_flags)
    check_shape("flags.npz", X, y, 28)
    named = set(nominal.tolist())
    kinds = tuple("categorical" if j in named else "numeric" for j in range(28))
    citation = f"Forsyth, Flags, 1990, doi 10.24432/C52C7Z; {UCI}"
    notes = (
        "colors are numbered in alphabetical order; how the paper did it is not known",
        "three of the eight classes have fewer than ten rows",
    )
    return StudyData("flags", "Flags", X.astype(float), y, kinds, citation, notes=notes)


def _fetch_flags() -> tuple[NDArray, NDArray, NDArray]:
    """Return the table without the names of countries, and which columns have no order."""
    bunch = fetch(285)
    names = np.array(bunch.feature_names)
    kept = names != "name"
    nominal = np.flatnonzero(np.isin(names[kept], _FLAGS_NOMINAL))
    _, y = np.unique(bunch.target, return_inverse=True)
    return dense(bunch.data)[:, kept], y, nominal


def parkinsons(source: DataSource) -> StudyData:
    """Voices of people with and without Parkinson's disease."""
    X, y = arrays_of(source, "parkinsons.npz", ("X", "y"), _fetch_parkinsons)
    check_shape("parkinsons.npz", X, y, 22)
    citation = (
        f"Little, McSharry, Roberts, Costello and Moroz, BioMedical Engineering OnLine 6:23, 2007, "
        f"doi 10.24432/C59C74; {UCI}"
    )
    notes = ("several recordings of a person may stand on both sides of a fold",)
    kinds = ("numeric",) * 22
    return StudyData("parkinsons", "Parkinsons", X, y, kinds, citation, notes=notes)


def _fetch_parkinsons() -> tuple[NDArray, NDArray]:
    X, y = fetch_plain(1488)
    return X, y - 1  # OpenML's classes 1 and 2 are 0 and 1 here


def arrays_of(
    source: DataSource, file: str, names: Sequence[str], fetched: Callable[[], tuple[Any, ...]]
) -> tuple[Any, ...]:
    """Return some arrays of an .npz file of the folder; without a folder what is fetched."""
    if source.folder is None:
        return fetched()
    arrays = read_archive(source.folder, file, names)
    return tuple(arrays[name] for name in names)


def read_archive(folder: Path, file: str, arrays: Iterable[str]) -> dict[str, NDArray]:
    """Read some arrays of an .npz file, which may be missing, or damaged."""
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


def check_shape(file: str, X: NDArray, y: NDArray, n_columns: int) -> None:
    """Raise if a table does not have a row for each label, and so many columns."""
    check(file, "the shape", list(X.shape), [len(y), n_columns])


@cache
def fetch(number: int) -> Any:
    """Return OpenML's data set of this number, as scikit-learn has it."""
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # If the second try fails, too, the set is missing, and that is told.
            warnings.filterwarnings("ignore", "A network error occurred", UserWarning)
            return fetch_openml(
                data_id=number, as_frame=False, parser="liac-arff", n_retries=1, delay=0.5
            )
    except (OSError, ValueError) as error:  # no network, an answer that is none, a changed file
        raise Missing(
            f"no folder of data is given, and OpenML's set {number} could not be fetched: {error}"
        ) from None


def whole(target: NDArray, number: int) -> NDArray:
    """Return the classes of a set of OpenML as whole numbers."""
    try:
        return np.asarray(target).astype(float).astype(np.int64)
    except ValueError as error:
        raise InputError(
            f"OpenML's set {number} should have numbers for classes; it has others: {error}."
        ) from None


def dense(data: Any) -> NDArray:
    """Return a table of OpenML, written out."""
    return data.toarray().astype(float) if sp.issparse(data) else np.asarray(data, dtype=float)


def fetch_plain(number: int) -> tuple[NDArray, NDArray]:
    """Return a table of numbers of OpenML, and its classes."""
    bunch = fetch(number)
    return dense(bunch.data), whole(bunch.target, number)


def fetch_parts(
    number: int, as_table: Callable[[Any], Any], first: int, last: int | None = None
) -> tuple[Any, NDArray, Any, NDArray]:
    """Return training and held rows, which OpenML has one after the other."""
    bunch = fetch(number)
    X, y = as_table(bunch.data), whole(bunch.target, number)
    return X[:first], y[:first], X[first:last], y[first:last]
