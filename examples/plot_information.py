"""
Information criteria beside SOCC
================================

`socc` sees linear effects. Criteria that count levels see others: a feature both of whose extremes
mean the same class, or two features that say something only together. The price: numbers have to
be cut, and each pair of levels needs rows to be counted.
"""

import matplotlib.pyplot as plt
import numpy as np

from orthoselect import select

# %%
# A made table with one feature of each kind, and noise. The class depends on four of the columns.

rng = np.random.default_rng(1)
N = 3000
X = rng.normal(size=(N, 8))
names = ["straight", "bent", "pair a", "pair b", "noise 1", "noise 2", "noise 3", "noise 4"]
X[:, 2:4] = rng.integers(0, 2, (N, 2))
score = X[:, 0] + X[:, 1] ** 2 + 2.0 * (X[:, 2] != X[:, 3]) + 0.5 * X[:, 3] + rng.normal(size=N)
y = np.where(score > 2, "yes", "no")

# %%
# Four features by each method. "pair b" says a little by itself, "pair a" nothing unless "pair b"
# is known. `jmi` finds it, since it sums over what two features say together; `cmim` goes by the
# selected feature beside which a candidate says least, and that is another.

METHODS = ["socc", "socc_discretized", "mim", "mrmr_difference", "jmi", "cmim"]
table = np.full((len(METHODS), len(names)), np.nan)
for row, method in enumerate(METHODS):
    path = select(X, y, 4, method=method)
    table[row, path.features] = range(1, 5)
    print(f"{method:<17}", ", ".join(names[feature] for feature in path.features))

# %%
# The same as a picture: the step at which a method took a feature.

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.imshow(table, cmap="Reds_r", vmin=-3, vmax=6, aspect="auto")
for (row, column), step in np.ndenumerate(table):
    if step == step:
        ax.text(column, row, int(step), ha="center", va="center")
ax.set_xticks(range(len(names)), names, rotation=30, ha="right")
ax.set_yticks(range(len(METHODS)), METHODS)
ax.axvline(3.5, color="#1b2a41", linewidth=1)
plt.show()
