"""The data sets of the study.

In: a `DataSource`, a folder of copies or OpenML. Out: `StudyData`, a table with its classes, kinds
of columns, notes and a fingerprint. A new set is a loader, and a line in `DATASETS` here.

base.py  the record that loaders fill, and where they look
sets.py  a loader for each set, and its copy: .npz files and OpenML, read and checked
"""

from __future__ import annotations

from collections.abc import Iterable

from orthoselect.errors import InputError
from orthoselect_study.datasets import sets
from orthoselect_study.datasets.base import DataSource, Loader, Missing, StudyData
from orthoselect_study.records import Absent

__all__ = ["DATASETS", "DataSource", "Loader", "Missing", "StudyData", "load", "title_of"]

DATASETS = {
    loader.name: loader
    for loader in (
        Loader("iris", "Iris", sets.iris),
        Loader("dexter", "Dexter", sets.dexter),
        Loader("gisette", "Gisette", sets.gisette),
        Loader("gisette-like", "gisette-like", sets.gisette_like),
        Loader("mnist", "MNIST", sets.mnist),
        Loader("mfeat", "Mfeat", sets.mfeat),
        Loader("breast", "Breast", sets.breast),
        Loader("cnae9", "CNAE-9", sets.cnae9),
        Loader("lymphography", "Lymphography", sets.lymphography),
        Loader("flags", "Flags", sets.flags),
        Loader("parkinsons", "Parkinsons", sets.parkinsons),
    )
}


def title_of(name: str) -> str:
    """Return what tables call a set; its name if it is one that a user added to another run."""
    return DATASETS[name].title if name in DATASETS else name


def load(names: Iterable[str], source: DataSource) -> tuple[dict[str, StudyData], Absent]:
    """Return the sets that can be loaded, and why the others cannot."""
    sets: dict[str, StudyData] = {}
    absent: Absent = {}
    for name in names:
        if name not in source.tried:
            try:
                source.tried[name] = DATASETS[name].load(source)
            except (Missing, InputError) as reason:
                source.tried[name] = reason
        outcome = source.tried[name]
        if isinstance(outcome, StudyData):
            sets[name] = outcome
        else:
            state = "missing" if isinstance(outcome, Missing) else "damaged"
            absent[name] = state, str(outcome)
    return sets, absent
