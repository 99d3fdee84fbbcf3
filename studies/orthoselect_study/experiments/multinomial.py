"""Three classes by a logistic model of three features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthoselect_study.experiments.simulated import Floats, Simulated


class Multinomial(Simulated):
    """Three classes: log ratios to the third -x5 - x10 + x15 and x5 - x10 - x15."""

    name = "multinomial"
    title = "Simulated tables, three classes"
    about = "how often three of 100 features are found that make a class of three"
    n_rows = 900

    def classes(self, x: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        ratios = np.exp(x @ np.array([[-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]))  # (N, 2)
        total = 1.0 + ratios.sum(axis=1)
        chances = np.column_stack([ratios, np.ones(len(x))]) / total[:, None]
        drawn = rng.uniform(size=len(x))
        return (drawn[:, None] >= chances.cumsum(axis=1)[:, :2]).sum(axis=1)
