"""The tables that are measured: made ones of given shape, and real ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

FACTORS = 30  # latent factors that correlate the features
TELLING = 10  # of which so many tell the classes apart
_BLOCK_BYTES = 1 << 24
_LARGE_BYTES = 100e6


@dataclass(frozen=True)
class Data:
    """A table and its classes, described so that another process can build them.

    Attributes
    ----------
    source : {"made", "scikit-learn", "file"}
    N, n, classes : int
        Rows, features and classes.
    name : str
        Of a real set: the loader in `sklearn.datasets`, or the file without its ending.
    dtype : str
        "stored" leaves the numbers as the file has them.
    sparse : bool
        Whether the table is CSR.
    density : float
        Share of a made sparse table that is not zero.
    stride : int
        Take each stride-th row of a real set.
    """

    source: str
    N: int
    n: int
    classes: int
    name: str = ""
    dtype: str = "float64"
    sparse: bool = False
    density: float = 1.0
    stride: int = 1

    @property
    def large(self) -> bool:
        """Whether the table holds 100 MB or more as float64."""
        return not self.sparse and 8 * self.N * self.n >= _LARGE_BYTES

    def load(self, folder: str | None = None) -> tuple[Any, np.ndarray]:
        """Return X of shape (N, n), an array or CSR, and y of shape (N,)."""
        if self.source == "made":
            return make_sparse(self) if self.sparse else make_dense(self)
        X, y = _load_bundled(self) if self.source == "scikit-learn" else _load_file(self, folder)
        if self.dtype != "stored":
            X = X.astype(self.dtype)
        return X[:: self.stride], y[:: self.stride]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    t : int
        Features to select.
    kind : {"peers", "float32", "busy"}
        Compare with the peers, with our own float64, or with our own fit on a quiet machine.
    small : bool
        Whether methods that train a classifier for each candidate are run too.
    """

    name: str
    data: Data
    t: int
    kind: str = "peers"
    small: bool = False
    label: str = ""

    @property
    def title(self) -> str:
        """What the table calls the row."""
        d = self.data
        head = f"{self.label}: " if self.label else ""
        return f"{head}{d.N} x {d.n}, {d.classes} classes, t {self.t}"

    def quick(self) -> Row:
        """Return the row shrunk to a fraction of a second."""
        d = self.data
        if d.source == "made":
            small = replace(d, N=max(200, d.N // 50), n=max(30, d.n // 50))
        else:
            stride = max(1, d.N // 1000)
            small = replace(d, N=-(-d.N // stride), stride=stride)
        return replace(self, data=small, t=min(self.t, 4))


def make_dense(data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Make a C-ordered table whose features share latent factors that tell the classes."""
    X = np.empty((data.N, data.n), dtype=data.dtype)
    y = np.empty(0)
    for rows, block, y in _made_blocks(data):  # noqa: B007  (y is the same for each block)
        X[rows] = block
    return X, y


def make_sparse(data: Data) -> tuple[Any, np.ndarray]:
    """Make a CSR table: the dense one with all but a random share of its numbers left out."""
    import scipy.sparse as sp

    rng = np.random.default_rng(1)
    parts, y = [], np.empty(0)
    for _, block, y in _made_blocks(data):  # noqa: B007
        block[rng.random(block.shape) >= data.density] = 0.0
        parts.append(sp.csr_array(block.astype(data.dtype)))
    return sp.vstack(parts, format="csr"), y


def _made_blocks(data: Data) -> Any:
    """Yield (rows, float64 block, all classes): block = factors @ loadings + noise."""
    N, n, classes = data.N, data.n, data.classes
    rng = np.random.default_rng([N, n, classes])
    F = rng.standard_normal((N, FACTORS))
    loadings = rng.standard_normal((FACTORS, n)) / np.sqrt(FACTORS)
    votes = F[:, :TELLING] @ rng.standard_normal((TELLING, classes))
    y = (votes + 2.0 * rng.standard_normal((N, classes))).argmax(axis=1)
    height = max(1, _BLOCK_BYTES // (8 * n))
    for start in range(0, N, height):
        rows = slice(start, min(start + height, N))
        block = rng.standard_normal((rows.stop - start, n))
        block += F[rows] @ loadings
        yield rows, block, y


def _load_bundled(data: Data) -> tuple[np.ndarray, np.ndarray]:
    import sklearn.datasets

    return getattr(sklearn.datasets, f"load_{data.name}")(return_X_y=True)


def _load_file(data: Data, folder: str | None) -> tuple[Any, np.ndarray]:
    """Read an .npz archive; its training part where it has several."""
    with np.load(Path(folder or ".") / f"{data.name}.npz") as archive:
        if "X_train_indptr" not in archive:
            part = "_train" if "X_train" in archive else ""
            return archive[f"X{part}"], archive[f"y{part}"]
        import scipy.sparse as sp

        parts = tuple(archive[f"X_train_{part}"] for part in ("data", "indices", "indptr"))
        X = sp.csr_array(parts, shape=tuple(archive["X_train_shape"]))
        return X if data.sparse else X.toarray(), archive["y_train"]


def _bundled(name: str, N: int, n: int, classes: int, t: int, label: str) -> Row:
    return Row(name, Data("scikit-learn", N, n, classes, name=name), t, small=True, label=label)


def _made(N: int, n: int, classes: int, t: int) -> Row:
    return Row(f"{N}x{n}", Data("made", N, n, classes), t)


def _file(name: str, data: Data, t: int, label: str) -> Row:
    return Row(name, data, t, label=label)


BUNDLED = (
    _bundled("breast_cancer", 569, 30, 2, 10, "Breast cancer"),
    _bundled("digits", 1797, 64, 10, 20, "Digits"),
)
MADE = (
    _made(6000, 5000, 2, 20),
    _made(300, 20000, 2, 20),
    _made(60000, 784, 10, 50),
    _made(100000, 200, 5, 20),
    _made(20000, 2000, 2, 100),
    _made(2000, 649, 10, 20),
    _made(102, 6000, 2, 20),
    _made(1000000, 50, 3, 10),
)
_DEXTER = Data("file", 300, 20000, 2, name="dexter")
_MNIST = Data("file", 60000, 784, 10, name="mnist")
FILES = (
    _file("dexter_sparse", replace(_DEXTER, dtype="stored", sparse=True), 20, "Dexter, CSR"),
    _file("dexter_dense", _DEXTER, 20, "Dexter, dense"),
    _file("mnist_uint8", replace(_MNIST, dtype="stored"), 50, "MNIST, uint8"),
    _file("mnist_float64", _MNIST, 50, "MNIST, float64"),
    _file("mfeat", Data("file", 2000, 649, 10, name="mfeat"), 20, "Mfeat"),
    _file("cnae9", Data("file", 1080, 856, 9, name="cnae9"), 50, "CNAE-9"),
)
FLOAT32 = tuple(
    replace(
        row,
        name=f"{row.name}_float32",
        data=replace(row.data, dtype="float32"),
        kind="float32",
        label="float32",
    )
    for row in MADE
    if row.data.large
)
BUSY = (Row("busy_neighbor", Data("made", 60000, 784, 10), 50, kind="busy", label="busy neighbor"),)
ROWS = (*BUNDLED, *FILES, *MADE, *FLOAT32, *BUSY)
QUICK = ("breast_cancer", "6000x5000", "6000x5000_float32", "busy_neighbor")


def check_names(names: list[str] | None, known: list[str]) -> None:
    """Raise a ValueError if a name is none of those known."""
    if unknown := set(names or []) - set(known):
        raise ValueError(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(known)}")


def choose(names: list[str] | None, *, with_files: bool, quick: bool) -> list[Row]:
    """Return the rows to measure, in the table's order.

    Raises
    ------
    ValueError
        If a name is no row's.
    """
    check_names(names, [row.name for row in ROWS])
    if not names:
        names = list(QUICK) if quick else [r.name for r in ROWS if with_files or r not in FILES]
    rows = [row for row in ROWS if row.name in names]
    if not with_files and (homeless := [row.name for row in rows if row in FILES]):
        raise ValueError(f"--data is needed for {', '.join(homeless)}")
    return [row.quick() for row in rows] if quick else rows
