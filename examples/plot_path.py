"""
The first pixels, and how far they carry
========================================

Which pixels of handwritten digits are selected first, and what a linear classifier makes of them,
beside a ranking of one pixel at a time and pixels at random. ``python examples/plot_path.py FILE``
writes the figure to a file; without one it is shown.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import f_classif
from sklearn.model_selection import StratifiedKFold

from orthoselect import select

SIZES = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40]
SHOWN = 15  # pixels numbered in the picture
INK, MUTED, ACCENT = "#1b2a41", "#8d99ae", "#d1495b"


def main():
    X, y = load_digits(return_X_y=True)
    plt.rcParams.update({"font.size": 9, "axes.edgecolor": MUTED, "text.color": INK})
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8.4, 3.7), width_ratios=[1, 1.5], layout="constrained"
    )
    draw_pixels(left, X, y)
    draw_accuracies(right, accuracies(X, y))
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=130)
    plt.show()


def draw_pixels(axes, X, y):
    """Write the order of the first pixels over the mean image."""
    path = select(X, y, SHOWN)
    axes.imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys", vmax=24)
    for number, step in enumerate(path, start=1):
        row, column = divmod(step.feature, 8)
        axes.scatter(column, row, s=190, color=ACCENT, edgecolor="white", linewidth=0.8)
        axes.text(column, row, number, ha="center", va="center", color="white", weight="bold")
    axes.set(xticks=[], yticks=[])
    axes.set_title(f"The first {SHOWN} pixels, in order", loc="left", color=INK)


def draw_accuracies(axes, curves):
    for label, (values, color) in curves.items():
        axes.plot(SIZES, values, color=color, marker="o", markersize=3, linewidth=1.6, label=label)
    axes.set(xlabel="pixels selected", ylim=(0, 1), xlim=(0, SIZES[-1] + 1))
    axes.set_title("Accuracy of linear discriminant analysis", loc="left", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e5e8ee")
    axes.legend(frameon=False, loc="lower right")


def accuracies(X, y):
    """Mean accuracy on five held-out folds; pixels are ranked on the training rows only."""
    rng = np.random.default_rng(0)
    rankings = {
        "orthoselect": (orthogonal_ranking, ACCENT),
        "best by F test, one by one": (f_ranking, INK),
        "at random (mean of 10 draws)": (None, MUTED),
    }
    curves = {}
    for label, (rank, color) in rankings.items():
        scores = []
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            draws = [rank(X[train], y[train])] if rank else random_rankings(X[train], rng)
            scores += [curve(order, X, y, train, test) for order in draws]
        curves[label] = (np.mean(scores, axis=0), color)
        shown = ", ".join(f"{k}: {v:.3f}" for k, v in zip(SIZES, curves[label][0]))
        print(f"{label}\n  {shown}")
    return curves


def orthogonal_ranking(X, y):
    return select(X, y, max(SIZES)).features


def f_ranking(X, y):
    varies = np.flatnonzero(X.std(axis=0) > 0)
    return varies[np.argsort(-f_classif(X[:, varies], y)[0], kind="stable")]


def random_rankings(X, rng):
    varies = np.flatnonzero(X.std(axis=0) > 0)
    return [rng.permutation(varies) for _ in range(10)]


def curve(order, X, y, train, test):
    model = LinearDiscriminantAnalysis()
    return [
        model.fit(X[np.ix_(train, order[:k])], y[train]).score(X[np.ix_(test, order[:k])], y[test])
        for k in SIZES
    ]


if __name__ == "__main__":
    main()
