"""The data sets of the study; a new one is a loader and one line here."""

from orthoselect.study.datasets.base import DataSource, Loader, Missing, StudyData
from orthoselect.study.datasets.registry import DATASETS, load

__all__ = ["DATASETS", "DataSource", "Loader", "Missing", "StudyData", "load"]
