"""
Many classes: pixels chosen together, and one by one
====================================================

Ten digits, 64 pixels. Three methods choose twelve pixels each: `socc` and `jmi` judge a pixel by
what it adds to those already chosen, `mim` judges each by itself and takes neighbors that say the
same.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score

from orthoselect import select

X, y = load_digits(return_X_y=True)
METHODS = {"socc": "together, linear", "jmi": "in pairs, by levels", "mim": "one by one"}

# %%
# The number in a pixel is the step at which it was chosen. Grey levels 0 to 16 are whole numbers,
# so the two methods that count take them as levels.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.5), layout="constrained")
for ax, (method, how) in zip(axes, METHODS.items()):
    path = select(X, y, 12, method=method)
    ax.imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys", vmax=26)
    for number, pixel in enumerate(path.features, start=1):
        row, column = divmod(pixel, 8)
        ax.scatter(column, row, s=230, color="#d1495b")
        ax.text(column, row, number, color="white", weight="bold", ha="center", va="center")
    ax.set(title=f"{method}: {how}", xticks=[], yticks=[])
plt.show()

# %%
# What a linear classifier makes of them. The choice was made on all rows here, to have one picture;
# to judge a method, choose within each fold, as in :ref:`sphx_glr_gallery_plot_leak.py`.

for method in METHODS:
    chosen = select(X, y, 12, method=method).features
    accuracy = cross_val_score(LinearDiscriminantAnalysis(), X[:, chosen], y, cv=5).mean()
    print(f"{method:<5} accuracy with 12 pixels: {accuracy:.3f}")
