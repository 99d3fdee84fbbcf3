"""
Information criteria beside SOCC
================================

`socc` sees linear effects. Criteria that count levels see others: a feature both of whose extremes
mean the same class, or two features that say something only together. The price: numbers have to
be cut, and each pair of levels needs rows to be counted.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from orthoselect import select
from orthoselect.errors import NoMoreThanChanceWarning

NAMES = ["straight", "bent", "pair a", "pair b", "noise 1", "noise 2", "noise 3", "noise 4"]
METHODS = ["socc", "socc_discretized", "mim", "mrmr_difference", "jmi", "cmim"]
DRAWS = 20

# %%
# A made table with one feature of each kind, and noise. "pair b" says a little by itself, "pair a"
# next to nothing unless "pair b" is known.


def draw(rng, N=3000):
    X = rng.normal(size=(N, 8))
    X[:, 2:4] = rng.integers(0, 2, (N, 2))
    pair = 2.0 * (X[:, 2] != X[:, 3]) + 0.5 * X[:, 3]
    score = X[:, 0] + X[:, 1] ** 2 + pair + rng.normal(size=N)
    return X, np.where(score > 2, "yes", "no")


# %%
# One table may flatter a method: where all that is left looks like noise, "pair a" is still taken
# now and then. So each method selects four features on many tables, and they are counted. `jmi`
# sums over what two features say together; `cmim` goes by the selected feature beside which a
# candidate says least. Four are wanted of each method, noise or not, so the warning about noise is
# turned off.

warnings.simplefilter("ignore", NoMoreThanChanceWarning)
rng = np.random.default_rng(0)
taken = np.zeros((len(METHODS), len(NAMES)), dtype=int)
for _ in range(DRAWS):
    X, y = draw(rng)
    for row, method in enumerate(METHODS):
        taken[row, select(X, y, 4, method=method).features] += 1
for method, counts in zip(METHODS, taken):
    print(f"{method:<17}", ", ".join(f"{n} {c}" for n, c in zip(NAMES[:4], counts)))

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.imshow(taken, cmap="Reds", vmin=0, vmax=1.6 * DRAWS, aspect="auto")
for (row, column), count in np.ndenumerate(taken):
    ax.text(column, row, count, ha="center", va="center")
ax.set_xticks(range(len(NAMES)), NAMES, rotation=30, ha="right")
ax.set_yticks(range(len(METHODS)), METHODS)
ax.axvline(3.5, color="#1b2a41", linewidth=1)
ax.set_title(f"How often a feature was among the four, of {DRAWS} tables", fontsize=10)
plt.show()
