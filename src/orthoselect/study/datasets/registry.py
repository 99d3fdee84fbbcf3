"""The data sets by name."""

from __future__ import annotations

from collections.abc import Iterable

from orthoselect.study.datasets import archives, embedded, gisette
from orthoselect.study.datasets.base import DataSource, Loader, Missing, StudyData

DATASETS = {
    loader.name: loader
    for loader in (
        Loader("iris", "Iris", embedded.iris),
        Loader("dexter", "Dexter", archives.dexter),
        Loader("gisette", "Gisette", gisette.gisette),
        Loader("gisette-like", "gisette-like", gisette.gisette_like),
        Loader("mnist", "MNIST", archives.mnist),
        Loader("mfeat", "Mfeat", archives.mfeat),
        Loader("breast", "Breast", embedded.breast),
        Loader("cnae9", "CNAE-9", archives.cnae9),
        Loader("lymphography", "Lymphography", archives.lymphography),
        Loader("flags", "Flags", archives.flags),
        Loader("parkinsons", "Parkinsons", archives.parkinsons),
    )
}


def load(names: Iterable[str], source: DataSource) -> tuple[dict[str, StudyData], dict[str, str]]:
    """Return the sets that are to be had, and why the others are not.

    Examples
    --------
    >>> sets, missing = load(["iris", "breast"], DataSource())
    >>> sets["breast"].X.shape, missing
    ((569, 30), {})
    """
    sets: dict[str, StudyData] = {}
    missing: dict[str, str] = {}
    for name in names:
        try:
            if name not in source.loaded:
                source.loaded[name] = DATASETS[name].load(source)
            sets[name] = source.loaded[name]
        except Missing as reason:
            missing[name] = str(reason)
    return sets, missing
