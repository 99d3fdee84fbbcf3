"""Try on every selector what the two tables in README.md say of it, and print these tables.

Each cell is the outcome of a call made here, not a statement from somebody's manual; a "no" to
groups, include or exclude means that the selector has no argument for it. Selectors that are not
installed are not tried, and the last line says so; ``pip install fastcan mrmr_selection boruta
shap`` brings them in.

Run with ``python examples/peers.py``.
"""

import importlib.metadata
import time
import tracemalloc
import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectKBest, SequentialFeatureSelector, f_classif
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from orthoselect import OrthogonalSelector, __version__

X, y = load_wine(return_X_y=True)
WITH_GAPS = np.where(np.random.default_rng(2).random(X.shape) < 0.02, np.nan, X)
RENUMBERED = np.array([1, 2, 0])[y]
NAMED = np.array(["red", "white", "pink"])[y]
SOIL = np.array(["clay", "lime", "sand"])[(y + (X[:, 1] > 3)) % 3]
TABLE_32 = np.random.default_rng(0).normal(size=(20000, 100)).astype(np.float32)
LABELS_32 = np.random.default_rng(1).integers(0, 2, 20000)


class Peer:
    """How one selector is called; what it cannot be asked raises."""

    package = "scikit-learn"

    def select(self, X, y, k=3, weights=None, **options):
        fit = {} if weights is None else {"sample_weight": weights}
        return self.make(k, **options).fit(X, y, **fit).get_support(indices=True).tolist()

    def text_column(self):
        return self.select(with_text(), y)

    def gaps(self):
        return self.select(WITH_GAPS, y)

    def many_levels(self, **options):
        """Whether a thousand levels of noise come before a feature that matters, and how soon."""
        table, classes = with_many_levels()
        begun = time.perf_counter()
        first, *_ = self.select(table, classes, 1, **options)
        seconds = time.perf_counter() - begun
        place = "last" if first in (0, "size") else "first"
        return f"{place}, {'under' if seconds < 1 else 'over'} 1 s"

    def whole_numbers(self):
        """Divided by 7 they are surely a quantity: is that the same?"""
        table, target = load_diabetes(return_X_y=True)
        found = [self.select(table, numbers, 5) for numbers in (target, target / 7)]
        return "a quantity" if found[0] == found[1] else "classes"

    def memory(self):
        """Memory that NumPy takes beside a float32 table, in tables."""
        tracemalloc.start()
        self.select(TABLE_32, LABELS_32, 2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        tables = peak / TABLE_32.nbytes
        return f"{tables:.1f} tables" if tables >= 0.1 else "under 0.1 tables"


class Orthogonal(Peer):
    """Greedy orthogonal least squares, orthoselect."""

    name, package = "orthoselect", "orthoselect"
    include, exclude, groups = {"include": [3]}, {"exclude": [6]}, {"groups": {"a": [0, 1]}}
    make = OrthogonalSelector

    def gaps(self):
        return self.select(WITH_GAPS, y, missing="indicator")


class Fastcan(Peer):
    """Greedy canonical correlation, fastcan."""

    name, package = "fastcan", "fastcan"
    include, exclude = {"indices_include": [3]}, {"indices_exclude": [6]}

    def make(self, k, **options):
        from fastcan import FastCan

        return FastCan(k, verbose=0, **options)


class Mrmr(Peer):
    """Least redundancy and most relevance, mrmr_selection."""

    name, package = "mrmr_selection", "mrmr_selection"

    def select(self, X, y, k=3, **options):
        import pandas as pd
        from mrmr import mrmr_classif

        if sp.issparse(X):
            X = pd.DataFrame.sparse.from_spmatrix(X)
        X = X if hasattr(X, "columns") else pd.DataFrame(X)
        X.columns = [str(name) for name in X.columns]
        return mrmr_classif(X, pd.Series(y), k, n_jobs=1, show_progress=False, **options)

    def text_column(self):
        try:
            return super().text_column()
        except ValueError:
            self.select(with_text(), y, cat_features=["soil"])
            return "if named"

    def many_levels(self):
        return super().many_levels(cat_features=["street"])

    def whole_numbers(self):
        return "as you choose"  # there is a function for each


class Sequential(Peer):
    """Greedy search by cross-validating an estimator, scikit-learn."""

    name = "SequentialFeatureSelector"

    def make(self, k, estimator=None):
        estimator = estimator or KNeighborsClassifier()
        return SequentialFeatureSelector(estimator, n_features_to_select=k, cv=3)

    def select(self, X, y, k=3, weights=None, **options):
        if weights is None:
            return super().select(X, y, k, **options)
        with sklearn.config_context(enable_metadata_routing=True):
            tree = DecisionTreeClassifier(random_state=0)
            tree.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
            super().select(X, y, k, weights, estimator=tree)
        return "by routing"

    def gaps(self):
        self.select(WITH_GAPS, y, estimator=DecisionTreeClassifier(random_state=0))
        return "up to the estimator"

    def whole_numbers(self):
        return "as you choose"  # there are estimators for each

    def memory(self):
        return "up to the estimator"


class KBest(Peer):
    """One column at a time, scikit-learn."""

    name = "SelectKBest"

    def make(self, k):
        return SelectKBest(f_classif, k=k)

    def whole_numbers(self):
        return "as you choose"  # there are tests for each


def with_text():
    """Return the table with a column of text; it takes pandas."""
    import pandas as pd

    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(soil=SOIL)


def with_many_levels(N=5000):
    """Return a number that matters a little, and text of 1,000 levels that does not; classes."""
    import pandas as pd

    rng = np.random.default_rng(3)
    size = rng.normal(size=N)
    street = np.char.add("street ", rng.integers(0, 1000, N).astype(str))
    classes = size + 2 * rng.normal(size=N) > 0
    return pd.DataFrame({"size": size, "street": street}), classes.astype(int)


def takes(peer, option):
    return peer.select(X, y, **getattr(peer, option))


def same(peer, labels):
    return "yes" if peer.select(X, y, 5) == peer.select(X, labels, 5) else "no"


def used_up(peer):
    """Ask for five of three columns and their copies."""
    twice = np.hstack([X[:, :3], X[:, :3]])
    found = len(peer.select(twice, y, 5))
    return f"stops at {found}" if found == 3 else f"takes {found}"


TRIALS = {
    "sparse table": lambda peer: peer.select(sp.csr_array(X), y),
    "class labels may be text": lambda peer: peer.select(X, NAMED),
    "classes renumbered, same features": partial(same, labels=RENUMBERED),
    "several responses at once": lambda peer: peer.select(X, np.eye(3, dtype=int)[y]),
    "text column in the table": lambda peer: peer.text_column(),
    "1,000 levels of noise come": lambda peer: peer.many_levels(),
    "missing values": lambda peer: peer.gaps(),
    "whole numbers, 25 to 346, are read as": lambda peer: peer.whole_numbers(),
    "groups of columns": partial(takes, option="groups"),
    "row weights": lambda peer: peer.select(X, y, weights=1.0 + (y == 0)),
    "columns to include": partial(takes, option="include"),
    "columns to exclude": partial(takes, option="exclude"),
    "5 of 3 columns and their copies": used_up,
    "memory beside a float32 table": lambda peer: peer.memory(),
}


def outcome(trial, peer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answer = trial(peer)
        except ImportError:  # no pandas to make a table with text
            return "not tried"
        except Exception as error:
            return f"raises {type(error).__name__}" if trial is used_up else "no"
    return answer if isinstance(answer, str) else "yes"


class CountingForest(RandomForestClassifier):
    """A random forest that counts how often one is fitted."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        CountingForest.fits += 1
        return super().fit(X, y, sample_weight)


def forest():
    return CountingForest(30, max_depth=6, random_state=0)


# The columns of `with_bend` that tell the same; all others are noise.
LINEAR, BENT, N_NOISE = ({0, 4}, {1, 5}, {2}), {3}, 10
DRAWS = 5


def with_bend(seed, N=400):
    """Return three linear effects, a bent one, noisy copies of two of them, noise; and classes."""
    X = np.random.default_rng(seed).normal(size=(N, 6 + N_NOISE))
    X[:, 4:6] = X[:, :2] + 0.3 * X[:, 4:6]
    score = X[:, :3].sum(axis=1) + 2.5 * np.abs(X[:, 3])
    return X, (score > np.median(score)).astype(int)


def by_orthoselect(X, y, k):
    return OrthogonalSelector(k).fit(X, y).get_support()


def by_rfe(X, y, k):
    return RFE(forest(), n_features_to_select=k).fit(X, y).support_


def by_boruta(X, y, k):  # which decides on the number by itself
    from boruta import BorutaPy

    return BorutaPy(forest(), n_estimators=50, max_iter=40, random_state=0).fit(X, y).support_


def by_shap(X, y, k):
    import shap

    values = shap.TreeExplainer(forest().fit(X, y)).shap_values(X)  # (N, n, classes)
    order = np.argsort(-np.abs(values).mean(axis=(0, 2)))
    return np.isin(np.arange(X.shape[1]), order[:k])


MODELS = {
    "orthoselect": ("orthoselect", by_orthoselect),
    "RFE": ("scikit-learn", by_rfe),
    "Boruta": ("boruta", by_boruta),
    "SHAP": ("shap", by_shap),
}


FOUND = ["linear effects", "bent effect", "copy and original", "noise", "models fitted"]


def by_model(select):
    """Return what a selector finds when asked for four features, and what it fits: means."""
    CountingForest.fits = 0
    found = np.zeros(len(FOUND) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(DRAWS):
            taken = set(np.flatnonzero(select(*with_bend(seed), 4)).tolist())
            linear = sum(1 for effect in LINEAR if effect & taken)
            beside = sum(1 for effect in LINEAR if len(effect & taken) == 2)
            noise = sum(1 for feature in taken if feature > 5)
            found += [linear, len(BENT & taken), beside, noise]
    most = [len(LINEAR), len(BENT), 2, N_NOISE]
    cells = [f"{mean:.1f} of {count}" for mean, count in zip(found / DRAWS, most)]
    return [*cells, f"{CountingForest.fits / DRAWS:.0f}"]


def version(package):
    if package == "orthoselect":
        return __version__
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def show(rows):
    """Print a table in Markdown."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in (rows[0], ["-" * width for width in widths], *rows[1:]):
        print("| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |")
    print()


def main():
    kinds = (Orthogonal, Fastcan, Mrmr, Sequential, KBest)
    packages = dict.fromkeys([kind.package for kind in kinds] + [m[0] for m in MODELS.values()])
    installed = {package: version(package) for package in packages if version(package)}
    print(", ".join(f"{package} {number}" for package, number in installed.items()), end="\n\n")

    peers = [kind() for kind in kinds if kind.package in installed]
    cells = [[what, *(outcome(trial, peer) for peer in peers)] for what, trial in TRIALS.items()]
    show([["", *(peer.name for peer in peers)], *cells])

    models = {name: trial for name, (package, trial) in MODELS.items() if package in installed}
    taken = [[name, *by_model(trial)] for name, trial in models.items()]
    show([["", *FOUND], *taken])

    if missing := [package for package in packages if package not in installed]:
        print(f"Not installed, so not tried: {', '.join(missing)}")


if __name__ == "__main__":
    main()
