"""The paper's empirical study: data sets, methods, experiments, and what comes out.

In: `Settings`, what a run is asked for. `run` plans the tasks of each experiment, does those that
have no results yet and keeps each in the `Store` of the folder; `report` makes tables, figures and
pages of what is there. Out: that folder. To know: `Experiment`, what a task is and what is made
of its rows.

settings.py    what a run is asked for            methods.py    the paper's methods, by its names
datasets/      tables and their classes           binarizer.py  grey levels as bits, for MNIST
experiments/   what is tried, and what it shows   learners.py   classifiers of selected features
records.py     tasks, rows and chance             paper.py      what the paper printed
runner.py      tasks -> results                   store.py      results on disk, and damage
reporting.py   results -> report                  findings.py   errors, ranks, sentences
pages.py       tables, Markdown, HTML             figures.py    drawings
command.py     `orthoselect study`

It stands on the library's public functions (`select`, `encode`, `statistics`, `InputError`), on the
base class of its discretizers, and on its support for reports and commands: the page that a
template fills (`show.page.fill`), the style of charts (`plots`, `show.charts`), the terminal
(`cli.terminal`, `cli.options`) and files written whole (`output.replacing`).
"""

from orthoselect_study.binarizer import RandomBinarizer
from orthoselect_study.datasets import DATASETS
from orthoselect_study.experiments import EXPERIMENTS
from orthoselect_study.methods import METHODS
from orthoselect_study.reporting import report
from orthoselect_study.runner import Step, StudyFailed, list_experiments, run
from orthoselect_study.settings import Settings
from orthoselect_study.store import DamagedResultsWarning, Store

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
