"""
Several labels at once
======================

Each row has six labels, yes or no, that four hidden causes decide together. The table has a good
measurement of each cause, a rough guess at each label, and noise. Selected for all labels at once,
the causes come first: they serve every label. Selected for one label after the other, each label
brings its own guess, and the set of the same size knows less about the labels together.

Two measures are usual (Tsoumakas and Katakis 2007): subset accuracy, the share of rows with all
labels right, and Hamming loss, the share of single labels that are wrong.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from orthoselect import select

SIZE = 4


def main():
    X, Y, names = table()
    train, test = slice(0, 600), slice(600, None)
    together = select(X[train], Y[train], SIZE).features
    apart = one_by_one(X[train], Y[train])
    for way, chosen in ("all labels at once", together), ("label by label", apart):
        model = MultiOutputClassifier(LogisticRegression()).fit(X[train][:, chosen], Y[train])
        found = model.predict(X[test][:, chosen])
        print(f"{way}: {', '.join(sorted(names[j] for j in chosen))}")
        print(f"  subset accuracy {subset_accuracy(Y[test], found):.3f}", end=", ")
        print(f"Hamming loss {hamming_loss(Y[test], found):.3f}")


def one_by_one(X, Y):
    """Take the best features of each label in turn, until there are enough unlike ones."""
    paths = [select(X, y, SIZE).features for y in Y.T]
    in_turn = [path[step] for step in range(SIZE) for path in paths]
    return list(dict.fromkeys(in_turn))[:SIZE]


def subset_accuracy(Y, found):
    return np.mean((found == Y).all(axis=1))


def hamming_loss(Y, found):
    return np.mean(found != Y)


def table(N=1200, seed=0):
    """Make four causes, six labels that follow from them, and what was measured."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(N, 4))
    scores = causes @ rng.normal(size=(4, 6))
    Y = (scores + 0.3 * rng.normal(size=scores.shape) > 0).astype(int)
    measured = causes + 0.2 * rng.normal(size=causes.shape)
    guesses = scores / scores.std(axis=0) + 0.5 * rng.normal(size=scores.shape)
    X = np.hstack([measured, guesses, rng.normal(size=(N, 20))])
    kinds = {"cause": 4, "guess": 6, "noise": 20}
    return X, Y, [f"{kind} {j}" for kind, count in kinds.items() for j in range(count)]


if __name__ == "__main__":
    main()
