"""Columns chosen without a target: what they explain of all others, and how clusters fare on them.

Not in the paper: an ancestor of its method (Wei and Billings 2007) on faces, by the protocol of
scikit-feature for clusters: as many as there are persons, matched to persons as well as possible.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import kneighbors_graph

from orthoselect import select
from orthoselect_study.datasets import DataSource
from orthoselect_study.experiments.base import Arguments, Experiment, absence_sentences
from orthoselect_study.figures import Figure, draw_bars
from orthoselect_study.pages import Table
from orthoselect_study.records import Plan, Results, Row, Task
from orthoselect_study.settings import Settings

_FACES = {"ORL": "orl", "warpPIE10P": "warppie10p"}  # files
_CITATIONS = {
    "digits": "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, 1998; UCI",
    "ORL": "Samaria and Harter, IEEE Workshop on Applications of Computer Vision, 1994",
    "warpPIE10P": "Sim, Baker and Bsat, the CMU PIE database, 2002, as scikit-feature has it",
}
_STARTS, _COLUMNS = 20, 50
_NEIGHBORS = 5  # of a row, for the Laplacian score
_MEASURES = ("explained", "accuracy", "NMI")
COMPONENTS = "principal components"  # which are no columns
Chosen = NDArray[np.intp]


@dataclass(frozen=True)
class ImageData:
    """Images as rows, who is on them, and letters that stand for both."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    fingerprint: str


def _laplacian_score(X: NDArray, k: int, seed: int) -> Chosen:
    """He, Cai and Niyogi 2005: columns that are alike in neighboring rows; small is good."""
    near = kneighbors_graph(X, _NEIGHBORS, mode="connectivity").toarray()
    squares = euclidean_distances(X, squared=True)
    S = np.exp(-squares / squares.mean()) * np.maximum(near, near.T)
    degree = S.sum(axis=1)
    F = X - (degree @ X) / degree.sum()
    spread = np.einsum("ij,i,ij->j", F, degree, F)
    rough = spread - np.einsum("ij,ij->j", F, S @ F)
    scores = np.divide(rough, spread, out=np.full(X.shape[1], np.inf), where=spread > 0)
    return np.argsort(scores, kind="stable")[:k]


def _selected(**options: Any) -> Callable[[NDArray, int, int], Chosen]:
    def choose(X: NDArray, k: int, seed: int) -> Chosen:
        return np.array(select(X, None, k, method="unsupervised", **options).features)

    return choose


# A table, how many columns and a seed -> the columns.
WAYS: dict[str, Callable[[NDArray, int, int], Chosen]] = {
    "unsupervised": _selected(),
    "unsupervised, center=False": _selected(center=False),
    "unsupervised, search='swap'": _selected(search="swap"),
    "largest variance": lambda X, k, seed: np.argsort(-X.var(axis=0), kind="stable")[:k],
    "Laplacian score": _laplacian_score,
    "random columns": lambda X, k, seed: np.random.default_rng(seed).permutation(X.shape[1])[:k],
    "all columns": lambda X, k, seed: np.arange(X.shape[1]),
}


def explained(X: NDArray, chosen: Chosen) -> float:
    """Return the mean share of columns, centered and at norm one, that the chosen ones explain."""
    Z = X - X.mean(axis=0)
    norms = np.linalg.norm(Z, axis=0)
    Z = Z[:, norms > 0] / norms[norms > 0]
    U, s, _ = np.linalg.svd(X[:, chosen] - X[:, chosen].mean(axis=0), full_matrices=False)
    Q = U[:, s > 1e-10 * s.max(initial=0.0)]
    return float(((Q.T @ Z) ** 2).sum() / Z.shape[1])


def clustered(X: NDArray, y: NDArray, seed: int) -> tuple[float, float]:
    """Return accuracy and normalized mutual information of k-means with as many clusters."""
    people, codes = np.unique(y, return_inverse=True)
    found = KMeans(len(people), n_init=1, random_state=seed).fit_predict(X)
    table = np.zeros((len(people), len(people)))
    np.add.at(table, (found, codes), 1)
    right = table[linear_sum_assignment(-table)].sum()
    return float(right / len(y)), float(normalized_mutual_info_score(codes, found))


def load_images(name: str, source: DataSource) -> ImageData | str:
    """Return images, or why there are none."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        if source.folder is None:
            return "it is not on OpenML, and no folder with a copy was given"
        file = Path(source.folder) / f"{_FACES[name]}.npz"
        if not file.is_file():
            return "the folder has no copy of it"
        with np.load(file) as archive:
            X, y = archive["X"].astype(np.float64), archive["y"]
    sha = hashlib.sha256(X.tobytes() + np.asarray(y).tobytes())
    return ImageData(name, X, y, sha.hexdigest()[:16])


def _facts(images: ImageData) -> dict[str, Any]:
    """Return what the report says of images; none are held out, and none are probes."""
    rows, features = images.X.shape
    return {
        **{"name": images.name, "title": images.name, "rows": rows, "features": features},
        **{"classes": len(np.unique(images.y)), "probes": None, "held": None, "held_name": None},
        **{"citation": _CITATIONS[images.name], "notes": []},
    }


class Unsupervised(Experiment):
    """What some columns explain of all, and clusters on them."""

    name = "unsupervised"
    title = "Columns chosen without a target"
    about = "what they explain of all others, and k-means on them, beside other choices; faces"
    uses = frozenset({"repeats", "features"})

    def plan(self, settings: Settings, source: DataSource) -> Plan:
        tasks, absent, data = [], {}, []
        for name in ("digits", *_FACES):
            images = load_images(name, source)
            if isinstance(images, str):
                absent[name] = "missing", images
                continue
            k = min(settings.or_else("features", _COLUMNS), images.X.shape[1] // 3)
            data.append({**_facts(images), "selected": k})
            for way in WAYS:
                arguments = {"dataset": name, "method": way, "features": k, "seed": settings.seed}
                arguments["repeats"] = settings.or_else("repeats", _STARTS)
                tasks.append(Task(self.name, arguments, images, cost=3.0))
        return Plan(tasks, data, absent, {"methods": list(WAYS)})

    def work(self, arguments: Arguments, data: Any) -> list[Row]:
        way, k, rows = arguments["method"], arguments["features"], []
        chosen = np.zeros(0, dtype=np.intp)
        at = Row(data.name, way, n_features=k)
        for repeat in range(arguments["repeats"]):
            if not repeat or way == "random columns":
                chosen = WAYS[way](data.X, k, arguments["seed"] + repeat)
            values = (
                explained(data.X, chosen),
                *clustered(data.X[:, chosen], data.y, arguments["seed"] + repeat),
            )
            rows += [
                at._replace(repeat=repeat, measure=measure, value=value)
                for measure, value in zip(_MEASURES, values)
            ]
        if way == "unsupervised":
            path = select(data.X, None, k, method="unsupervised")
            bound = path[-1].components or 0.0
            rows.append(at._replace(method=COMPONENTS, measure="explained", value=bound))
        return rows

    def tables(self, results: Results) -> list[Table]:
        rows: list[list[Any]] = []
        for facts in results.data:
            for method in (COMPONENTS, *WAYS):
                cells = []
                for measure in _MEASURES:
                    found = results.where(dataset=facts["name"], method=method, measure=measure)
                    values = [row.value for row in found]
                    shown = None if not values else f"{np.mean(values):.3f}"
                    if measure != "explained" and values:
                        shown = f"{np.mean(values):.2f} ± {np.std(values):.2f}"
                    cells.append(shown)
                if any(cells):
                    rows.append([facts["name"], facts["selected"], method, *cells])
        rows += [
            [name, None, state, None, None, None] for name, (state, _) in results.absent.items()
        ]
        note = (
            "Explained: mean share of all columns, at norm one, by least squares on those chosen; "
            "principal components are the bound. Accuracy and NMI: k-means from several starts, "
            "mean and standard deviation over them."
        )
        columns = ["data", "columns", "chosen by", "explained", "accuracy", "NMI"]
        return [Table(self.name, self.title, columns, rows, note)]

    def figures(self, results: Results) -> list[Figure]:
        bars = {facts["name"]: _shares(results, facts["name"]) for facts in results.data}
        title = "Share of all columns that the chosen ones explain"
        return [draw_bars(self.name, title, bars, "explained", best=max)]

    def findings(self, results: Results) -> list[str]:
        found = []
        for facts in results.data:
            shares = _shares(results, facts["name"])
            others = {w: s for w, s in shares.items() if not w.startswith("unsup")}
            bound = others.pop(COMPONENTS, None)
            if "unsupervised" in shares and others and bound is not None:
                next_best = max(others, key=lambda way: others[way])
                found.append(
                    f"{facts['name']}: {facts['selected']} columns explain "
                    f"{shares['unsupervised']:.1%} of all, where {next_best} explain "
                    f"{others[next_best]:.1%}, and as many principal components {bound:.1%}."
                )
        return [*found, *absence_sentences(results)]


def _shares(results: Results, dataset: str) -> dict[str, float]:
    """Return what is explained by each choice of columns."""
    shares = {}
    for method in (COMPONENTS, *WAYS):
        rows = results.where(dataset=dataset, method=method, measure="explained")
        if rows and method != "all columns":
            shares[method] = float(np.mean([row.value for row in rows]))
    return shares
