"""The data sets by name."""

from __future__ import annotations

from collections.abc import Iterable

from orthoselect.errors import InputError
from orthoselect_study.datasets import archives, embedded, gisette
from orthoselect_study.datasets.base import DataSource, Loaded, Loader, Missing, StudyData

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


def title_of(name: str) -> str:
    """Return what tables call a set; its name if it is one that a user added to another run."""
    return DATASETS[name].title if name in DATASETS else name


def load(names: Iterable[str], source: DataSource) -> Loaded:
    """Return the sets that are to be had, and why the others are not.

    Examples
    --------
    >>> found = load(["iris", "breast"], DataSource())
    >>> found.sets["breast"].X.shape, found.missing, found.damaged
    ((569, 30), {}, {})
    """
    found = Loaded()
    for name in names:
        if name not in source.tried:
            source.tried[name] = _try(DATASETS[name], source)
        outcome = source.tried[name]
        if isinstance(outcome, StudyData):
            found.sets[name] = outcome
        elif isinstance(outcome, Missing):
            found.missing[name] = str(outcome)
        else:
            found.damaged[name] = str(outcome)
    return found


def _try(loader: Loader, source: DataSource) -> StudyData | Missing | InputError:
    try:
        return loader.load(source)
    except (Missing, InputError) as reason:
        return reason
