"""The experiments by name, in the order of the paper."""

from __future__ import annotations

from orthoselect_study.experiments.base import Experiment
from orthoselect_study.experiments.binomial import Binomial
from orthoselect_study.experiments.challenge import Challenge
from orthoselect_study.experiments.iris import Iris
from orthoselect_study.experiments.mnist import Mnist
from orthoselect_study.experiments.multinomial import Multinomial
from orthoselect_study.experiments.recent import Recent
from orthoselect_study.experiments.speed import Speed
from orthoselect_study.experiments.uci import Uci

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Iris(),
        Binomial(),
        Multinomial(),
        Challenge(),
        Mnist(),
        Uci(),
        Recent(),
        Speed(),
    )
}
