"""Try on every selector what the table in README.md says of it, and print that table.

Each cell is the outcome of a call made here, not a statement from somebody's manual; a "no" to
groups, include or exclude means that the selector has no argument for it. Selectors that are not
installed are left out: ``pip install fastcan mrmr_selection`` brings them in.

Run with ``python examples/peers.py``.
"""

import importlib.metadata
import tracemalloc
import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest, SequentialFeatureSelector, f_classif
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from orthoselect import OrthogonalSelector, __version__

X, y = load_wine(return_X_y=True)
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

    def memory(self):
        """Memory that NumPy takes beside a float32 table, in tables."""
        tracemalloc.start()
        self.select(TABLE_32, LABELS_32, 2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return f"{peak / TABLE_32.nbytes:.1f} tables"


class Orthogonal(Peer):
    """Greedy orthogonal least squares, orthoselect."""

    name, package = "orthoselect", "orthoselect"
    include, exclude, groups = {"include": [3]}, {"exclude": [6]}, {"groups": {"a": [0, 1]}}
    make = OrthogonalSelector


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

    def memory(self):
        return "up to the estimator"


class KBest(Peer):
    """One column at a time, scikit-learn."""

    name = "SelectKBest"

    def make(self, k):
        return SelectKBest(f_classif, k=k)


def with_text():
    """Return the table with a column of text; it takes pandas."""
    import pandas as pd

    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(soil=SOIL)


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


def version(package):
    if package == "orthoselect":
        return __version__
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def main():
    kinds = (Orthogonal, Fastcan, Mrmr, Sequential, KBest)
    peers = [kind() for kind in kinds if version(kind.package)]
    packages = dict.fromkeys(peer.package for peer in peers)
    print(", ".join(f"{package} {version(package)}" for package in packages), end="\n\n")
    rows = [["", *(peer.name for peer in peers)]]
    rows += [[what, *(outcome(trial, peer) for peer in peers)] for what, trial in TRIALS.items()]
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows.insert(1, ["-" * width for width in widths])
    for row in rows:
        print("| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |")


if __name__ == "__main__":
    main()
