"""
A tank, its equation, and what is left
======================================

Water runs into a tank by a valve and out of it by its own weight. A model of the level is selected
from 15 terms and judged on rows that it has not seen: measured against simulated, and the
correlations of what is left. Most of them stay within their bounds: little more is to be found.
"""

import matplotlib.pyplot as plt
import numpy as np

from orthoselect import NARX

TRAIN = 700


def main():
    u, y = record()
    model = NARX(y_lags=2, u_lags=2, delay=1, degree=2).fit(u[:TRAIN], y[:TRAIN])
    validation = model.validate(u[TRAIN:], y[TRAIN:])
    print(model.terms_)
    print(model.equation_)
    print(validation)
    figure = plt.figure(figsize=(8.4, 8.0), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[1, 2])
    axes = model.plot(u[TRAIN:], y[TRAIN:], axes=upper.subplots())
    axes.set_ylabel("level")
    validation.plot(lower)
    plt.show()


def record(T=1000, seed=0):
    """Make the record of a valve, which moves in steps, and of a level that waves disturb."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(0.2, 1.0, T // 10), 10)
    level = np.full(T, 0.3)
    for k in range(1, T):
        outflow = 0.12 * np.sqrt(max(level[k - 1], 0.0))
        level[k] = level[k - 1] + 0.1 * u[k - 1] - outflow + 0.004 * rng.normal()
    return u, level


if __name__ == "__main__":
    main()
