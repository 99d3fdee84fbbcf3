"""The data sets of the study; a new one is a loader and one line here."""

from orthoselect_study.datasets.base import DataSource, Loaded, Loader, Missing, StudyData
from orthoselect_study.datasets.registry import DATASETS, load, title_of

__all__ = ["DATASETS", "DataSource", "Loaded", "Loader", "Missing", "StudyData", "load", "title_of"]
