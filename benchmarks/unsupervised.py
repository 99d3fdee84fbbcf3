"""Columns chosen without a target: what they explain of all others, and how clusters fare on them.

    python -m benchmarks.unsupervised --data DIR

DIR holds orl.npz and warppie10p.npz (faces: X, and the person y). Of each way to choose columns it
prints the share of all columns that least squares on the chosen ones explains, and accuracy and
normalized mutual information of k-means on them, by scikit-feature's protocol: as many clusters as
persons, repeated with other starts, clusters matched to persons as well as possible; mean and
standard deviation. Digits of scikit-learn stand beside the faces. docs/unsupervised.md shows it.
The experiment `unsupervised` of the study has the same without times.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from orthoselect import select
from orthoselect_study.datasets import DataSource
from orthoselect_study.experiments.unsupervised import (
    WAYS,
    ImageData,
    clustered,
    explained,
    load_images,
)


def line(way: str, data: ImageData, k: int, repeats: int) -> str:
    """Return the row of one way to choose columns."""
    scores, shares, seconds = [], [], 0.0
    chosen = np.zeros(0, dtype=np.intp)
    for seed in range(repeats):
        if seed == 0 or way == "random columns":
            began = time.perf_counter()
            chosen = WAYS[way](data.X, k, seed)
            seconds = time.perf_counter() - began
            shares.append(explained(data.X, chosen))
        scores.append(clustered(data.X[:, chosen], data.y, seed))
    (accuracy, nmi), (sa, sn) = np.mean(scores, axis=0), np.std(scores, axis=0)
    cells = f"{accuracy:.2f} ± {sa:.2f} | {nmi:.2f} ± {sn:.2f} | {seconds:.2f} s"
    return f"| {way} | {np.mean(shares):.3f} | {cells} |"


def main() -> None:
    """Print the table of every set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of orl.npz and warppie10p.npz")
    parser.add_argument("--size", type=int, default=50, help="columns to choose (default: 50)")
    parser.add_argument("--repeats", type=int, default=20, help="starts of k-means (default: 20)")
    options = parser.parse_args()
    for name in ("digits", "ORL", "warpPIE10P"):
        data = load_images(name, DataSource(options.data))
        if isinstance(data, str):
            print(f"\n{name} is left out: {data}")
            continue
        N, n = data.X.shape
        k = min(options.size, n // 3)
        path = select(data.X, None, k, method="unsupervised")
        print(f"\n{name}: {N} x {n}, {len(np.unique(data.y))} classes, {k} columns;")
        print(f"{k} principal components explain {path[-1].components:.3f}\n")
        print("| columns | explained | accuracy | NMI | time to choose |")
        print("| --- | --- | --- | --- | --- |")
        for way in WAYS:
            print(line(way, data, k, options.repeats), flush=True)


if __name__ == "__main__":
    main()
