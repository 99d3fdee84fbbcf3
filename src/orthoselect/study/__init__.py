"""The paper's empirical study: data sets, methods, experiments, and what comes out."""

from orthoselect.study.damage import DamagedResultsWarning
from orthoselect.study.datasets import DATASETS
from orthoselect.study.experiments import EXPERIMENTS
from orthoselect.study.methods import METHODS
from orthoselect.study.reporting import report
from orthoselect.study.runner import Step, StudyFailed, list_experiments, run
from orthoselect.study.settings import Settings
from orthoselect.study.store import Store

__all__ = [
    "DATASETS",
    "EXPERIMENTS",
    "METHODS",
    "DamagedResultsWarning",
    "Settings",
    "Step",
    "Store",
    "StudyFailed",
    "list_experiments",
    "report",
    "run",
]
