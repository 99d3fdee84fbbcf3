"""The data sets: each as it is to be used, from its copy or from the program.

Copies are the .npz files of a folder or, without a folder, what OpenML has. Whatever is wrong with
a copy is said with its name. OpenML is asked by scikit-learn's `fetch_openml`, which keeps what it
fetched. Sets come from there as plain arrays, so no dataframe library is needed; categories are
numbered in the order in which the file declares them.

gisette-like is a stand-in for Gisette made from MNIST. It follows the organizers' recipe, not their
draws: it is not Gisette, nor called so.
"""

from __future__ import annotations

import hashlib
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
from orthoselect_study.records import generator

UCI = "UCI Machine Learning Repository, CC BY 4.0"
CHALLENGE = f"Guyon, Gunn, Ben-Hur and Dror, NIPS 2003 feature selection challenge; {UCI}"
NO_TEST_LABELS = "judged on the validation rows: the labels of the test rows were never published"
DEXTER_SUMS = {"train": 2816528, "valid": 2820952}
_MNIST_COUNTS = {
    "train": [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
    "test": [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009],
}
GISETTE_SUMS = {"train": 3197297133, "valid": 529310977}
GISETTE_SHA256 = {
    "gisette_train.data": "6d4c5e998afe67937b9e77a3334e03c85e545ebc65a6eb1333ffc14125cfc389",
    "gisette_train.labels": "42bd681fe51b161f033df773df14a0116e492676555ab14616c1b72edc054075",
    "gisette_valid.data": "5cea897956dd172a006132738254a27a8f61ecc1ceb6f5b20639c281d2942254",
    "gisette_valid.labels": "a6b857a0448023f033c4dda2ef848714b4be2ae45ce598d088fb3efb406e08c5",
}
_GISETTE_ROWS = {"train": 6000, "valid": 1000}
_GISETTE_ARRAYS = ("X_train", "y_train", "X_valid", "y_valid")
_N_REAL = _N_PROBES = 2500
_FOUR, _NINE = 4, 9
_SIDE = 28
_LEVELS = 999
# Where products take their pixels from: the upper middle, where fours and nines differ.
_TOP, _BOTTOM, _LEFT, _RIGHT = 6, 18, 7, 21
_DRAWS = 2003  # the seed of the stand-in: it is one set, whatever the seed of a run
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


def gisette(source: DataSource) -> StudyData:
    """Gisette: fours and nines; half of the 5000 features are probes, which ones is not known."""
    X, y, held_X, held_y = _gisette_copy(source)
    for part, table, labels in (("train", X, y), ("valid", held_X, held_y)):
        what = f"gisette ({part})"
        check(what, "the shape", list(table.shape), [_GISETTE_ROWS[part], _N_REAL + _N_PROBES])
        counts = np.unique(labels, return_counts=True)[1].tolist()
        check(what, "the class counts", counts, [_GISETTE_ROWS[part] // 2] * 2)
        check(what, "the sum of values", int(table.sum(dtype=np.int64)), GISETTE_SUMS[part])
    X, held_X, kinds = X.astype(np.int16), held_X.astype(np.int16), ("numeric",) * X.shape[1]
    notes = (NO_TEST_LABELS,)
    return StudyData("gisette", "Gisette", X, y, kinds, CHALLENGE, held_X, held_y, notes=notes)


def _gisette_copy(source: DataSource) -> tuple[NDArray, ...]:
    """Return a copy: gisette.npz, or UCI's four files, of the folder; or OpenML's."""
    if source.folder and all((Path(source.folder) / file).exists() for file in GISETTE_SHA256):
        return _gisette_files(Path(source.folder))
    try:
        fetched = partial(fetch_parts, 41026, dense, 6000)
        return arrays_of(source, "gisette.npz", _GISETTE_ARRAYS, fetched)
    except Missing:
        if source.folder is None:
            raise
        raise Missing(
            f"there is neither `gisette.npz` (arrays {', '.join(_GISETTE_ARRAYS)}) nor UCI's four "
            f"files ({', '.join(GISETTE_SHA256)}) in the folder of data"
        ) from None


def _gisette_files(folder: Path) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    read = []
    for file, expected in GISETTE_SHA256.items():
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
    X, y, is_real = _make_gisette(digits.X, np.asarray(digits.y))
    train, held = slice(_GISETTE_ROWS["train"]), slice(_GISETTE_ROWS["train"], None)
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


def _make_gisette(images: NDArray, labels: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return X (7000, 5000) as whole numbers, y of -1 and 1, and which columns are real."""
    rng = generator(_DRAWS, "gisette-like")
    rows, y = _drawn_rows(labels, rng)
    pixels = images[rows].astype(np.float32) / 255.0
    pixels[pixels < 0.5] = 0.0
    used = np.flatnonzero(pixels.any(axis=0))
    n_products = _N_REAL - len(used)
    pairs = _drawn_pairs(pixels, used, n_products + _N_PROBES, rng)
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


def _drawn_rows(labels: NDArray, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Draw rows, training ones first, both digits equally often, in random order."""
    fours = rng.permutation(np.flatnonzero(labels == _FOUR))
    nines = rng.permutation(np.flatnonzero(labels == _NINE))
    parts, start = [], 0
    for size in _GISETTE_ROWS.values():
        stop = start + size // 2
        parts.append(rng.permutation(np.concatenate([fours[start:stop], nines[start:stop]])))
        start = stop
    rows = np.concatenate(parts)
    return rows, np.where(labels[rows] == _FOUR, 1, -1).astype(np.int8)


def _drawn_pairs(
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
    X, y = table_of(source, "mfeat.npz", 649, _fetch_mfeat)
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
    X, y = table_of(source, "cnae9.npz", 856, partial(fetch_plain, 1468))
    citation = f"Ciarelli and Oliveira, CNAE-9, 2009, doi 10.24432/C51G7P; {UCI}"
    notes = ("word counts 0 to 4 are levels as they are; they are not cut",)
    kinds = ("count",) * 856
    return StudyData("cnae9", "CNAE-9", X.astype(float), y, kinds, citation, notes=notes)


def lymphography(source: DataSource) -> StudyData:
    """Lymphography: its two large classes, metastases and malign lymph."""
    X, y = table_of(source, "lymphography.npz", 18, _fetch_lymphography)
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
    X, y = table_of(source, "parkinsons.npz", 22, _fetch_parkinsons)
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


def table_of(
    source: DataSource, file: str, n_columns: int, fetched: Callable[[], tuple[Any, ...]]
) -> tuple[NDArray, NDArray]:
    """Return the arrays X and y of a file, or what is fetched; X has `n_columns`."""
    X, y = arrays_of(source, file, ("X", "y"), fetched)
    check_shape(file, X, y, n_columns)
    return X, y


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
    """Raise if a table does not have a row for each label, and `n_columns`."""
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
