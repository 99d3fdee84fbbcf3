"""Two classes by a logistic model of three features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthoselect_study.experiments.simulated import Floats, Simulated


class Binomial(Simulated):
    """Two classes: logit -2 x5 - 3 x10 + 4 x15."""

    name = "binomial"
    title = "Simulated tables, two classes"
    about = "how often three of 100 features are found that make a class of two"
    n_rows = 600

    def classes(self, x: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        chance = 1.0 / (1.0 + np.exp(-(x @ [-2.0, -3.0, 4.0])))
        return (rng.uniform(size=len(x)) < chance).astype(np.int64)
