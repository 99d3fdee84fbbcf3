"""The data sets that come with scikit-learn: what each is, and how it is read.

scikit-learn itself takes seconds to load, with all that it looks for. The small tables are files of
its own, so they are read without it; where an edition of it keeps them otherwise, it reads them.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from orthoselect.read.dataset import Dataset


@dataclass(frozen=True)
class BuiltIn:
    """What there is to say of a built-in data set before it is loaded."""

    name: str
    rows: int
    columns: int
    target: str
    summary: str


_SETS = (
    BuiltIn("iris", 150, 4, "species", "three species of iris by their flowers"),
    BuiltIn("breast_cancer", 569, 30, "diagnosis", "tumors by the nuclei of their cells"),
    BuiltIn("wine", 178, 13, "cultivar", "three cultivars by their wine's chemistry"),
    BuiltIn("digits", 1797, 64, "digit", "handwritten digits by their pixels"),
    BuiltIn("diabetes", 442, 10, "progression", "a year's progression, a number"),
)
BUILT_IN: Mapping[str, BuiltIn] = MappingProxyType({entry.name: entry for entry in _SETS})

_NUCLEI = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
    "concave points", "symmetry", "fractal dimension",
)  # fmt: skip
# The file of a set, and the names of its features.
_FILES: Mapping[str, tuple[str, Sequence[str]]] = {
    "iris": ("iris.csv", [f"{part} (cm)" for part in (
        "sepal length", "sepal width", "petal length", "petal width"
    )]),
    "breast_cancer": ("breast_cancer.csv", [
        *(f"mean {name}" for name in _NUCLEI),
        *(f"{name} error" for name in _NUCLEI),
        *(f"worst {name}" for name in _NUCLEI),
    ]),
    "wine": ("wine_data.csv", [
        "alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols",
        "flavanoids", "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue",
        "od280/od315_of_diluted_wines", "proline",
    ]),
    "digits": ("digits.csv.gz", [f"pixel_{r}_{c}" for r, c in product(range(8), repeat=2)]),
}  # fmt: skip


def read_built_in(name: str) -> Dataset:
    """Load a built-in data set; classes have their names where scikit-learn knows them."""
    numbers, names, target = _from_file(name) or _by_loader(name)
    return Dataset(
        numbers,
        names,
        target=target,
        target_name=BUILT_IN[name].target,
        name=name,
        format="built-in",
        # Its numbers are whole and would be taken for classes.
        task="regression" if name == "diabetes" else "auto",
    )


def _from_file(name: str) -> tuple[NDArray, list[str], NDArray] | None:
    """Return numbers, names and target by scikit-learn's file; None if it is not as expected."""
    found = find_spec("sklearn")
    if name not in _FILES or found is None or not found.submodule_search_locations:
        return None
    file, names = _FILES[name]
    path = Path(found.submodule_search_locations[0]) / "datasets" / "data" / file
    if not path.is_file():
        return None
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        # The first line has the numbers of rows and columns, and the names of the classes.
        head = [] if path.suffix == ".gz" else next(lines).strip().split(",")
        rows = np.loadtxt(lines, delimiter=",", ndmin=2)
    said = BUILT_IN[name]
    is_as_said = rows.shape == (said.rows, said.columns + 1)
    if not is_as_said or head[:2] not in ([], [str(said.rows), str(said.columns)]):
        return None
    target: NDArray = rows[:, -1].astype(np.int64)
    if head:
        target = np.array(head[2:])[target]
    return np.ascontiguousarray(rows[:, :-1]), list(names), target


def _by_loader(name: str) -> tuple[NDArray, list[str], NDArray]:
    """Return numbers, names and target as scikit-learn loads them."""
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{name}")()
    target = bunch.target
    if name not in ("digits", "diabetes"):  # the digits' names are the digits
        target = np.asarray(bunch.target_names).astype(str)[target]
    numbers = np.asarray(bunch.data, dtype=np.float64)
    return numbers, [str(column) for column in bunch.feature_names], target
