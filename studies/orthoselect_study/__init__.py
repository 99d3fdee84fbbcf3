"""The paper's empirical study: data sets, methods, experiments, and what comes out."""

from orthoselect_study.binarizer import RandomBinarizer
from orthoselect_study.damage import DamagedResultsWarning
from orthoselect_study.datasets import DATASETS
from orthoselect_study.experiments import EXPERIMENTS
from orthoselect_study.methods import METHODS
from orthoselect_study.reporting import report
from orthoselect_study.runner import Step, StudyFailed, list_experiments, run
from orthoselect_study.settings import Settings
from orthoselect_study.store import Store

__all__ = [
    "DATASETS",
    "EXPERIMENTS",
    "METHODS",
    "DamagedResultsWarning",
    "RandomBinarizer",
    "Settings",
    "Step",
    "Store",
    "StudyFailed",
    "list_experiments",
    "report",
    "run",
]
