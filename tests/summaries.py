"""Summaries of real tables as the page gets them, computed here step by step from definitions."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import StratifiedKFold

from orthoselect import select
from orthoselect.methods import METHODS
from orthoselect.show.summary import summarize

NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "$x_1$ {{ 7 * 7 }}",
    "_hidden & 'quoted'",
    "two\nlines\tand a tab",
    "体重 (kg) \N{GRINNING FACE}",
    "\u202eright to left\u202c \x00\x07",
    "long " * 60 + "end",
    '#0f5ea8; style="fill: #1c2430" </style></svg>',
    "",
)
LOADERS = {
    "iris": load_iris,
    "breast_cancer": load_breast_cancer,
    "wine": load_wine,
    "digits": load_digits,
    "diabetes": load_diabetes,
}


def selection_of(name, size, names=None):
    """Return the summary of a selection from one of scikit-learn's tables."""
    table = LOADERS[name]()
    own = [str(one) for one in table.feature_names]
    names = own if names is None else (list(names) + own)[: len(own)]
    if name == "diabetes":
        return selection(table.data, table.target, names, size, title=name, target="progression")
    labels = [str(one) for one in table.target_names]
    return selection(table.data, table.target, names, size, labels, title=name, target="kind")


def selection(X, y, names, size, labels=None, *, title="made up", target="target"):
    """Return the summary of a selection; `labels` name the classes, None for numbers."""
    task = "regression" if labels is None else "classification"
    path = select(X, y, size, task=task)
    chosen = path.features
    V = basis(y[:, None] if labels is None else np.eye(len(labels))[y])
    made = path.to_dict()
    for step in made["steps"]:
        step["name"] = names[step["feature"]]
    correlations = np.linalg.svd(V.T @ basis(X[:, chosen]), compute_uv=False).tolist()
    squares = float(np.square(correlations).sum())
    classes = None if labels is None else np.bincount(y, minlength=len(labels)).tolist()
    listed = ", ".join(step["name"] for step in made["steps"][:3])
    return {
        "kind": "selection",
        "title": title,
        "created": "2025-03-01T12:30:00+00:00",
        "target": target,
        "responses": [{"name": target, "kind": "numbers" if labels is None else "classes"}],
        "task": task,
        "cautions": ["Column “id” has as many levels as rows."],
        "sentence": f"{len(chosen)} of {X.shape[1]} features tell most about {target}: {listed}.",
        **made,
        "options": {"task": task, "exclude": None, "search": "forward"},
        "adds_up": True,
        "judged_by": None,
        "reachable": [min(t, path.ceiling) for t in range(1, len(chosen) + 1)],
        "method_summary": METHODS["socc"].summary,
        "method_source": METHODS["socc"].source,
        "set": {
            "canonical_correlations": correlations,
            "fisher": None if labels is None else [r * r / (1 - r * r) for r in correlations],
            "r2": squares if labels is None else None,
            "sum_of_squares": squares,
        },
        "features": feature_rows(X, V, chosen, names),
        "substitutes": substitutes(X, V, chosen, names),
        "what_if": None,
        "separation": separation(X[:, chosen], y, [names[j] for j in chosen], labels, target),
        "distributions": [distribution(X[:, j], y, names[j], labels) for j in chosen],
        "correlations": {
            "names": [names[j] for j in chosen],
            "matrix": np.atleast_2d(np.corrcoef(X[:, chosen].T)).tolist(),
            "signed": [[True] * len(chosen)] * len(chosen),
        },
        "clusters": clusters(X, V, chosen, names),
        "recipes": {
            "names": f"features = {[names[j] for j in chosen]!r}",
            "pipeline": "from sklearn.pipeline import make_pipeline\nX, y = data, target",
            "command": f"orthoselect select {title} --target {target} -k {size}",
        },
        "data": {
            "rows": len(X),
            "columns": X.shape[1] + 1,
            "classes": classes and [{"name": a, "count": b} for a, b in zip(labels, classes)],
            "response": describe(y) if labels is None else None,
            "kinds": {"numeric": X.shape[1], "categorical": 0, "group": 0},
            "left_out": [{"name": "id", "reason": "every value is a different text"}],
            "weighted": False,
            "warnings": [],
        },
        "reproduce": reproduce(f"orthoselect select {title} --target {target} -k {size}"),
    }


def reproduce(command, seed=None):
    python = 'import orthoselect\n\npath = orthoselect.select("table.csv", "target", 3)'
    versions = {"orthoselect": "0.1.0", "python": "3.11.2", "numpy": np.__version__}
    options = {"task": "auto", "exclude": [f"column {n}" for n in range(30)], "groups": None}
    return {
        "command": command,
        "python": python,
        "options": options,
        "seed": seed,
        "versions": versions,
    }


def describe(y):
    return {
        "min": float(y.min()),
        "max": float(y.max()),
        "mean": float(y.mean()),
        "std": float(y.std()),
    }


def basis(X):
    """Return an orthonormal basis of the centered columns."""
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return U[:, s > 1e-9 * max(s.max(initial=0), 1)]


def gains(X, V, chosen):
    """Return what every feature would add to the chosen ones, and the share that remains of it."""
    W = X - X.mean(axis=0)
    norms = np.square(W).sum(axis=0)
    if chosen:
        Q = basis(X[:, chosen])
        W = W - Q @ (Q.T @ W)
    left = np.square(W).sum(axis=0)
    known = left > 1e-9 * np.where(norms > 0, norms, 1)
    safe = np.where(known, left, 1)
    return np.where(known, np.square(V.T @ W).sum(axis=0) / safe, 0), np.where(
        norms > 0, left / np.where(norms > 0, norms, 1), 0
    )


def squared_correlations(X, columns):
    Z = X - X.mean(axis=0)
    norms = np.linalg.norm(Z, axis=0)
    Z = Z / np.where(norms > 0, norms, 1)
    return np.square(Z.T @ Z[:, columns])


def feature_rows(X, V, chosen, names):
    alone, _ = gains(X, V, [])
    now, remains = gains(X, V, chosen)
    shared = squared_correlations(X, chosen)
    constant = np.ptp(X, axis=0) == 0
    rows = []
    for j, name in enumerate(names):
        row = {"feature": j, "name": name, "kind": "numeric", "step": None, "verdict": "useful"}
        if j in chosen:
            row |= {"verdict": "selected", "step": chosen.index(j) + 1}
        elif constant[j]:
            row |= {"verdict": "constant"}
        elif now[j] > 0.05:
            row |= {"verdict": "nearly chosen"}
        elif remains[j] < 0.2:
            row |= {"verdict": "redundant"}
        elif alone[j] < 0.05:
            row |= {"verdict": "irrelevant"}
        by = chosen[int(shared[j].argmax())]
        explained = j not in chosen and not constant[j]
        row |= {
            "relevance": None if constant[j] else float(alone[j]),
            "gain": float(now[j]) if explained else None,
            "remains": float(remains[j]) if explained else None,
            "explained_by": names[by] if explained else None,
            "explained": float(shared[j].max()) if explained else None,
        }
        rows.append(row)
    return rows


def substitutes(X, V, chosen, names):
    shared = squared_correlations(X, chosen)
    found = []
    for step, winner in enumerate(chosen):
        now, _ = gains(X, V, chosen[:step])
        others = [j for j in np.argsort(-now) if j not in chosen[: step + 1]][:3]
        runners = [
            {
                "feature": int(j),
                "name": names[j],
                "gain": float(now[j]),
                "margin": float(1 - now[j] / now[winner]),
                "explained": float(shared[j, step]),
                "chosen_at": chosen.index(j) + 1 if j in chosen else None,
            }
            for j in others
        ]
        one = {"step": step + 1, "name": names[winner], "gain": float(now[winner])}
        found.append({**one, "runners_up": runners})
    return found


def clusters(X, V, chosen, names):
    """Return the tree of the chosen features and the best two others."""
    now, _ = gains(X, V, chosen)
    others = [int(j) for j in np.argsort(-now) if j not in chosen and np.ptp(X[:, j])][:2]
    shown = [*chosen, *others]
    if len(shown) < 2:
        return None
    distances = 1 - np.square(np.corrcoef(X[:, shown].T))
    tree = linkage(distances[np.triu_indices(len(shown), 1)], "average")
    order = leaves_list(tree).tolist()
    place = {leaf: at for at, leaf in enumerate(order)}
    return {
        "names": [names[shown[leaf]] for leaf in order],
        "steps": [leaf + 1 if leaf < len(chosen) else None for leaf in order],
        "joins": [
            {"of": [place.get(int(k), int(k)) for k in (a, b)], "share": float(1 - d)}
            for a, b, d, _ in tree
        ],
        "left_out": 0,
    }


def separation(X, y, names, labels, target):
    if labels is None:
        fitted = LinearRegression().fit(X, y).predict(X)
        r2 = float(np.corrcoef(fitted, y)[0, 1] ** 2)
        return {
            "kind": "numbers",
            "response": target,
            "observed": y.astype(float).tolist(),
            "fitted": fitted.tolist(),
            "r2": r2,
            "shown": len(y),
            "rows": len(y),
        }
    lda = LinearDiscriminantAnalysis(n_components=min(2, len(labels) - 1, X.shape[1]))
    Z = lda.fit_transform(X, y)
    n_axes = Z.shape[1]
    loadings = [[float(np.corrcoef(x, z)[0, 1]) for z in Z.T] for x in X.T]
    return {
        "kind": "classes",
        "classes": labels,
        "axes": [
            {"label": f"direction {n + 1}", "canonical_correlation": 0.9 / (n + 1)}
            for n in range(n_axes)
        ],
        "points": [
            [float(z[0]), float(z[1]) if n_axes > 1 else None, int(c)] for z, c in zip(Z, y)
        ],
        "shown": len(y),
        "rows": len(y),
        "loadings": [{"name": n, "values": v} for n, v in zip(names, loadings)],
    }


def distribution(x, y, name, labels):
    edges = np.histogram_bin_edges(x, 10 if labels is None else 20)
    one = {"name": name, "edges": edges.tolist()}
    if labels is None:
        bins = np.clip(np.digitize(x, edges[1:-1]), 0, len(edges) - 2)
        means = [
            float(y[bins == b].mean()) if np.any(bins == b) else None for b in range(len(edges) - 1)
        ]
        points = np.column_stack([x, y]).astype(float).tolist()
        return {**one, "kind": "numeric-response", "points": points, "means": means}
    by_class = [
        {
            "class": label,
            "n": int(np.sum(y == number)),
            "counts": np.histogram(x[y == number], edges)[0].tolist(),
        }
        for number, label in enumerate(labels)
    ]
    return {**one, "kind": "numeric", "by_class": by_class}


def made_up(n_rows, n_features, n_classes, size, names=None):
    """Return the summary of a random table whose first features tell the classes."""
    rng = np.random.default_rng(5)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_features))
    told = min(size, n_features)
    X[:, :told] += 2.5 * rng.normal(size=(n_classes, told))[y]
    names = names or [f"feature {j}" for j in range(n_features)]
    return selection(X, y, names, size, [f"class {c}" for c in range(n_classes)])


def mixed():
    """Return a summary with categorical features and a group."""
    summary = selection_of("iris", 3)
    levels = [f"shop {n}" for n in range(14)]
    classes = [one["name"] for one in summary["data"]["classes"]]
    summary["distributions"][1] = {
        "name": "shop",
        "kind": "categorical",
        "levels": levels,
        "by_class": [
            {"class": c, "n": 50, "counts": [(3 * n + 5 * k) % 9 for n in range(14)]}
            for k, c in enumerate(classes)
        ],
    }
    summary["features"][1] |= {"kind": "categorical", "name": "shop"}
    summary["features"][3] |= {"kind": "group", "name": "petal"}
    summary["correlations"]["signed"] = [[a == b for a in range(3)] for b in range(3)]
    summary["steps"][0]["columns"] = [2, 3]
    summary["data"]["kinds"] = {"numeric": 2, "categorical": 1, "group": 1}
    summary["data"]["warnings"] = ["column `id` has 150 levels in 150 rows."]
    summary["cautions"] = ["Column “id” has 150 levels in 150 rows."]
    return summary


def levels_of_numbers():
    """Return a regression whose selected features are categorical, one level without rows."""
    summary = selection_of("diabetes", 3)
    summary["distributions"][1] = {
        "name": "region",
        "kind": "categorical-response",
        "levels": ["north", "south", "nowhere"],
        "quartiles": [[90.0, 120.0, 180.0], [100.0, 160.0, 210.0], [None, None, None]],
        "n": [200, 242, 0],
    }
    return summary


def with_what_if():
    """Return the summary of a selection that the page can redo, names of all kinds."""
    import pandas as pd

    table = load_breast_cancer()
    names = [*NASTY, *table.feature_names][: table.data.shape[1]]
    data = pd.DataFrame(table.data, columns=names)
    return summarize(select(data, table.target, 6), data, table.target, source="breast cancer")


def with_sizes():
    """Return the summary of a selection whose size was cross-validated, names of all kinds."""
    import pandas as pd

    X, y = load_wine(return_X_y=True)
    frame = pd.DataFrame(X[:, : len(NASTY)], columns=NASTY)
    return summarize(select(frame, y, "cv", cv=2, largest=5), frame, y, source="wine")


def bare():
    """Return a summary in which everything that may be None or empty is."""
    summary = selection_of("iris", 1)
    summary |= {"steps": [], "ceiling": None, "stopped": "the response is constant.", "stats": {}}
    summary |= {"substitutes": [], "separation": None, "distributions": [], "reachable": None}
    summary |= {"cautions": [], "clusters": None}
    summary["recipes"] = {"names": "features = []", "pipeline": None, "command": None}
    summary["set"] = {
        "canonical_correlations": [],
        "fisher": None,
        "r2": None,
        "sum_of_squares": None,
    }
    for feature in summary["features"]:
        nothing = dict.fromkeys(["relevance", "gain", "remains", "explained_by", "explained"])
        feature |= {"verdict": "irrelevant", "step": None, **nothing}
    summary["correlations"] = {"names": [], "matrix": [], "signed": []}
    summary["data"] |= {"classes": None, "left_out": []}
    summary["reproduce"] |= {"command": None, "options": {}}
    return summary


@cache
def _scores(methods, sizes, folds):
    table = load_breast_cancer()
    records = []
    parts = StratifiedKFold(folds, shuffle=True, random_state=0).split(table.data, table.target)
    for fold, (train, test) in enumerate(parts):
        X, y = table.data[train], table.target[train]
        for method in methods:
            begun = time.perf_counter()
            features = select(X, y, max(sizes), method=method).features
            spent = time.perf_counter() - begun
            for size in sizes:
                J = features[:size]
                lda = LinearDiscriminantAnalysis().fit(X[:, J], y)
                record = {"method": method, "repeat": 0, "fold": fold, "n_features": size}
                record["train"] = lda.score(X[:, J], y)
                record["validation"] = lda.score(table.data[test][:, J], table.target[test])
                names = [str(table.feature_names[j]) for j in J]
                records.append({**record, "seconds": spent, "features": names})
    return records


def comparison(
    methods=("socc", "err", "mim", "jmi", "mrmr_difference"), sizes=(1, 2, 3, 4, 6, 8, 10)
):
    """Return what a comparison on the breast cancer table gives."""
    folds = 5
    records = _scores(methods, sizes, folds)
    curves = [curve(records, method, size) for method in methods for size in sizes]
    top = max(curves, key=lambda c: c["validation"])
    for one in curves:
        one["difference"] = top["validation"] - one["validation"]
        one |= {"difference_se": 0.01, "as_good": one["difference"] <= 0.01}
    best = []
    for size in sizes:
        own = sorted((c for c in curves if c["n_features"] == size), key=lambda c: -c["validation"])
        within = [c["method"] for c in own[1:] if own[0]["validation"] - c["validation"] <= 0.01]
        best.append({**own[0], "within": within})
    summary = selection_of("breast_cancer", 2)
    return {
        "kind": "comparison",
        "title": "breast_cancer",
        "created": "2025-03-01T12:30:00+00:00",
        "target": "diagnosis",
        "task": "classification",
        "estimator": "linear discriminant analysis",
        "estimator_reason": "",
        "scoring": "accuracy",
        "scoring_reason": "accuracy, since the classes are about equal",
        "folds": folds,
        "repeats": 1,
        "seed": 0,
        "sizes": list(sizes),
        "methods": [described(records, method) for method in methods],
        "baselines": [
            baseline("all features", 30, 0.955, 0.975),
            baseline("no features", 0, 0.627, 0.627),
        ],
        "curves": curves,
        "best": best,
        "highest": top,
        "recommended": best[0],
        "selected": [
            {"method": method, "features": stability(records, method)} for method in methods
        ],
        "records": records,
        "sentence": f"With {sizes[-1]} features, {best[-1]['method']} does best.",
        "findings": ["The highest of many scores is optimistic."],
        "data": summary["data"],
        "reproduce": reproduce("orthoselect compare breast_cancer", seed=0),
    }


def curve(records, method, size):
    own = [r for r in records if r["method"] == method and r["n_features"] == size]
    made = {"method": method, "n_features": size, "folds": len(own)}
    for part in ("train", "validation"):
        made[part] = float(np.mean([r[part] for r in own]))
        made[f"{part}_std"] = float(np.std([r[part] for r in own], ddof=1))
    return {**made, "validation_se": made["validation_std"] * (1 / 5 + 1 / 4) ** 0.5}


def baseline(name, n_features, validation, train):
    scores = {"validation": validation, "validation_se": 0.008, "train": train}
    below = {"difference": 0.01, "difference_se": 0.004, "as_good": False}
    words = {"name": name, "summary": f"what {name} are", "failed": None}
    return {**words, "method": name, "n_features": n_features, **scores, **below}


def described(records, method):
    spent = float(np.mean([r["seconds"] for r in records if r["method"] == method]))
    summary = METHODS[method].summary
    return {"name": method, "summary": summary, "seconds": spent, "failed": None}


def stability(records, method):
    size = max(r["n_features"] for r in records)
    picked = [
        n
        for r in records
        if (r["method"], r["n_features"]) == (method, size)
        for n in r["features"]
    ]
    counts = {name: picked.count(name) for name in dict.fromkeys(picked)}
    return [{"name": n, "folds": k} for n, k in sorted(counts.items(), key=lambda p: -p[1])]
