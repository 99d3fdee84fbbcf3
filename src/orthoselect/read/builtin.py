"""The built-in data sets, which come with scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from orthoselect.read.dataset import Dataset


@dataclass(frozen=True)
class BuiltIn:
    """What there is to say of a built-in data set before it is loaded."""

    name: str
    rows: int
    columns: int
    target: str
    summary: str


BUILT_IN: Mapping[str, BuiltIn] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            BuiltIn("iris", 150, 4, "species", "three species of iris by their flowers"),
            BuiltIn("breast_cancer", 569, 30, "diagnosis", "tumors by the nuclei of their cells"),
            BuiltIn("wine", 178, 13, "cultivar", "three cultivars by their wine's chemistry"),
            BuiltIn("digits", 1797, 64, "digit", "handwritten digits by their pixels"),
            BuiltIn("diabetes", 442, 10, "progression", "a year's progression, a number"),
        )
    }
)


def read_built_in(name: str) -> Dataset:
    """Load a built-in data set; classes have their names where scikit-learn knows them."""
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{name}")()
    target = bunch.target
    if name not in ("digits", "diabetes"):  # the digits' names are the digits
        target = np.asarray(bunch.target_names).astype(str)[target]
    return Dataset(
        np.asarray(bunch.data, dtype=np.float64),
        [str(column) for column in bunch.feature_names],
        target=target,
        target_name=BUILT_IN[name].target,
        name=name,
        format="built-in",
        # Its numbers are whole and would be taken for classes.
        task="regression" if name == "diabetes" else "auto",
    )
