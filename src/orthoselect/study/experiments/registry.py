"""The experiments by name, in the order of the paper."""

from __future__ import annotations

from orthoselect.study.experiments.base import Experiment
from orthoselect.study.experiments.binomial import Binomial
from orthoselect.study.experiments.challenge import Challenge
from orthoselect.study.experiments.iris import Iris
from orthoselect.study.experiments.mnist import Mnist
from orthoselect.study.experiments.multinomial import Multinomial
from orthoselect.study.experiments.recent import Recent
from orthoselect.study.experiments.speed import Speed
from orthoselect.study.experiments.uci import Uci

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
