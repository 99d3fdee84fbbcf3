"""Columns chosen without a target: what they explain of all others, and how clusters fare on them.

    python -m benchmarks.unsupervised --data DIR

DIR holds orl.npz and warppie10p.npz (faces: X, and the person y). Of each way to choose columns it
prints the share of all columns that least squares on the chosen ones explains, and accuracy and
normalized mutual information of k-means on them, by scikit-feature's protocol: as many clusters as
persons, repeated with other starts, clusters matched to persons as well as possible; mean and
standard deviation. Digits of scikit-learn stand beside the faces. docs/unsupervised.md shows it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import kneighbors_graph

from orthoselect import select

FACES = ("orl", "warppie10p")
NEIGHBORS = 5  # of a row, for the Laplacian score
Chosen = NDArray[np.intp]


def forward(X: NDArray, k: int, seed: int) -> Chosen:
    """Choose by this package."""
    return np.array(select(X, None, k, method="unsupervised").features)


def forward_uncentered(X: NDArray, k: int, seed: int) -> Chosen:
    """Choose as the paper does."""
    return np.array(select(X, None, k, method="unsupervised", center=False).features)


def swapped(X: NDArray, k: int, seed: int) -> Chosen:
    """Choose by whole sets."""
    return np.array(select(X, None, k, method="unsupervised", search="swap").features)


def largest_variance(X: NDArray, k: int, seed: int) -> Chosen:
    """Choose the columns that vary most."""
    return np.argsort(-X.var(axis=0), kind="stable")[:k]


def laplacian_score(X: NDArray, k: int, seed: int) -> Chosen:
    """He, Cai and Niyogi 2005: columns that are alike in neighboring rows; small is good."""
    near = kneighbors_graph(X, NEIGHBORS, mode="connectivity").toarray()
    squares = euclidean_distances(X, squared=True)
    S = np.exp(-squares / squares.mean()) * np.maximum(near, near.T)
    degree = S.sum(axis=1)
    F = X - (degree @ X) / degree.sum()
    spread = np.einsum("ij,i,ij->j", F, degree, F)
    rough = spread - np.einsum("ij,ij->j", F, S @ F)
    scores = np.divide(rough, spread, out=np.full(X.shape[1], np.inf), where=spread > 0)
    return np.argsort(scores, kind="stable")[:k]


def at_random(X: NDArray, k: int, seed: int) -> Chosen:
    """Choose any."""
    return np.random.default_rng(seed).choice(X.shape[1], k, replace=False)


WAYS: dict[str, Callable[[NDArray, int, int], Chosen]] = {
    "unsupervised": forward,
    "unsupervised, center=False": forward_uncentered,
    "unsupervised, search='swap'": swapped,
    "largest variance": largest_variance,
    "Laplacian score": laplacian_score,
    "random columns": at_random,
}


def explained(X: NDArray, chosen: Chosen) -> float:
    """Return the mean share of columns, centered and at norm one, that the chosen ones explain."""
    Z = X - X.mean(axis=0)
    Z = Z[:, (norms := np.linalg.norm(Z, axis=0)) > 0] / norms[norms > 0]
    A = X[:, chosen] - X[:, chosen].mean(axis=0)
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    Q = U[:, s > 1e-10 * s.max(initial=0.0)]
    return float(((Q.T @ Z) ** 2).sum() / Z.shape[1])


def clustered(X: NDArray, y: NDArray, seed: int) -> tuple[float, float]:
    """Return accuracy and normalized mutual information of k-means with as many clusters."""
    people, codes = np.unique(y, return_inverse=True)
    found = KMeans(len(people), n_init=1, random_state=seed).fit_predict(X)
    table = np.zeros((len(people), len(people)))
    np.add.at(table, (found, codes), 1)
    right = table[linear_sum_assignment(-table)].sum()
    return right / len(y), normalized_mutual_info_score(codes, found)


def tables(folder: Path | None) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Yield the name, the columns and the classes of each table."""
    yield "digits", *load_digits(return_X_y=True)
    for name in FACES if folder is not None else ():
        with np.load(folder / f"{name}.npz") as file:
            yield name, file["X"].astype(float), file["y"]


def line(name: str, X: NDArray, y: NDArray, k: int, repeats: int) -> str:
    """Return the row of one way to choose columns."""
    choose = WAYS.get(name)
    scores, shares, seconds = [], [], 0.0
    for seed in range(repeats):
        if choose is None:
            chosen = np.arange(X.shape[1])
        elif seed == 0 or name == "random columns":
            began = time.perf_counter()
            chosen = choose(X, k, seed)
            seconds = time.perf_counter() - began
            shares.append(explained(X, chosen))
        scores.append(clustered(X[:, chosen], y, seed))
    (accuracy, nmi), (sa, sn) = np.mean(scores, axis=0), np.std(scores, axis=0)
    share = f"{np.mean(shares):.3f}" if shares else "1"
    return (
        f"| {name} | {share} | {accuracy:.2f} ± {sa:.2f} | {nmi:.2f} ± {sn:.2f} | {seconds:.2f} s |"
    )


def main() -> None:
    """Print the table of every set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of orl.npz and warppie10p.npz")
    parser.add_argument("--size", type=int, default=50, help="columns to choose (default: 50)")
    parser.add_argument("--repeats", type=int, default=20, help="starts of k-means (default: 20)")
    options = parser.parse_args()
    for name, X, y in tables(options.data):
        k = min(options.size, X.shape[1] // 3)
        path = select(X, None, k, method="unsupervised")
        print(f"\n{name}: {X.shape[0]} x {X.shape[1]}, {len(np.unique(y))} classes, {k} columns; ")
        print(f"{k} principal components explain {path[-1].components:.3f}\n")
        print("| columns | explained | accuracy | NMI | time to choose |")
        print("| --- | --- | --- | --- | --- |")
        for way in [*WAYS, "all columns"]:
            print(line(way, X, y, k, options.repeats), flush=True)


if __name__ == "__main__":
    main()
