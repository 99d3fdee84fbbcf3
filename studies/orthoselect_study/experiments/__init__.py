"""The experiments of the study.

In: `Settings` and the data sets. Out: a `Plan` of tasks; then, from the rows that these leave,
tables, figures, sentences, and how the methods stand. A new experiment is a subclass of
`Experiment`, and a line in `EXPERIMENTS` here.

base.py       what every experiment can be asked, and what those on data sets share
iris.py       the paper's worked example
simulated.py  tables made at random, of two and three classes
folds.py      data sets by cross-validation
held_out.py   data sets with rows to judge by: sets with probes, MNIST
speed.py      the time of a selection
dynamics.py   models over time, by the method's ancestors
unsupervised.py  columns chosen without a target, by another of them
channels.py   channels of series
how_many.py   how many features: "auto" beside other rules, on the simulated tables
"""

from __future__ import annotations

from orthoselect_study.experiments.base import Experiment
from orthoselect_study.experiments.channels import Channels
from orthoselect_study.experiments.dynamics import Dynamics
from orthoselect_study.experiments.folds import Recent, Uci
from orthoselect_study.experiments.held_out import Challenge, Mnist
from orthoselect_study.experiments.how_many import HowMany
from orthoselect_study.experiments.iris import Iris
from orthoselect_study.experiments.simulated import Binomial, Multinomial
from orthoselect_study.experiments.speed import Speed
from orthoselect_study.experiments.unsupervised import Unsupervised

__all__ = ["EXPERIMENTS", "Experiment"]

# In the order of the paper; the last line is not in it.
_KINDS = (
    *(Iris, Binomial, Multinomial, Challenge, Mnist, Uci, Recent, Speed),
    *(Dynamics, Unsupervised, HowMany, Channels),
)
EXPERIMENTS: dict[str, Experiment] = {kind.name: kind() for kind in _KINDS}
