"""Made data sets in the place of those of the study."""

from dataclasses import replace

import numpy as np

from orthoselect_study import DATASETS
from orthoselect_study.datasets import Loader, Missing, StudyData


def made(name, n_rows=60, n_columns=12, n_classes=2, held=0, kinds=None, probes=False):
    """Return a small set whose first columns tell the class."""
    rng = np.random.default_rng(len(name))
    y = np.arange(n_rows + held) % n_classes
    X = rng.integers(0, 5, size=(n_rows + held, n_columns)).astype(float)
    X[:, :2] += 3 * y[:, None]
    is_real = np.arange(n_columns) < n_columns // 2 if probes else None
    data = StudyData(
        name,
        DATASETS[name].title,
        X[:n_rows],
        y[:n_rows],
        kinds or ("numeric",) * n_columns,
        "made for a test",
        is_real=is_real,
    )
    if not held:
        return data
    return replace(data, held_X=X[n_rows:], held_y=y[n_rows:], fingerprint="")


MADE = {
    "dexter": {"held": 20, "probes": True},
    "gisette-like": {"held": 20, "probes": True},
    "mnist": {"held": 30, "n_columns": 784, "n_classes": 3},
    "mfeat": {"n_classes": 3},
    "cnae9": {"n_classes": 3, "kinds": ("count",) * 12},
    "lymphography": {"kinds": ("categorical",) * 12},
    "flags": {"n_classes": 4},
    "parkinsons": {},
}


def replace_all(patch, missing=("gisette",)):
    """Put made sets in the place of the real ones, but for those that are to be missing."""

    def gone(source):
        raise Missing("it was never found")

    for name, shape in MADE.items():
        data = made(name, **shape)
        loader = Loader(name, DATASETS[name].title, lambda source, data=data: data)
        patch.setitem(DATASETS, name, loader)
    for name in missing:
        patch.setitem(DATASETS, name, Loader(name, DATASETS[name].title, gone))
