"""A report of a study as the page gets it, with figures of every kind."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np

from orthoselect_study import Settings, figures
from orthoselect_study.methods import TWELVE
from orthoselect_study.reporting import how_to_reproduce

WRITTEN = "2025-03-01T12:30:00+00:00"
SETS = ("Dexter", "gisette-like", "Lymphography")


def leave_figures_out(patch):
    """Draw nothing: figures take most of the time of a report."""

    def saved(figure, folder):
        kinds = {kind: f"{figure.name}.{kind}" for kind in ("png", "svg")}
        return {"name": figure.name, "title": figure.title, **kinds}

    patch.setattr(figures.Figure, "save", saved)
    patch.setattr(figures.Figure, "chart", lambda figure: figure.title)


def report():
    """Return a report and the charts of its figures."""
    return told(), charts()


@cache
def charts():
    """Return a chart of every kind."""
    rng = np.random.default_rng(1)
    orders = {m: rng.permutation(784)[:50] for m in TWELVE}
    times = {name: {"by definition": 54390.0, "ours": 7.9} for name in SETS[:2]}
    drawn = [
        figures.draw_curves("curves", "curves", {s: panels(rng) for s in SETS}, "accuracy"),
        figures.draw_counts("counts", "counts", *counts(rng), "found in 100 tables"),
        figures.draw_maps("maps", "maps", orders, (28, 28)),
        figures.draw_bars("bars", "bars", times, "milliseconds", best=min, logarithmic=True),
        figures.draw_ranks("ranks", "ranks", *ranks(rng), 5),
    ]
    return {figure.name: figure.chart() for figure in drawn}


def told(attack=None):
    """Return a report; `attack` stands wherever text may."""
    rng = np.random.default_rng(1)
    parts = [
        part("curves", attack, rng, quick=True),
        part("counts", attack, rng, data=None),
        part("maps", attack, rng, batches=2),
        part("bars", attack, rng, failed=[["bars Dexter MIM", attack or "it broke"]]),
    ]
    return {
        "kind": "study",
        "title": attack or "The paper's study, run again",
        "created": WRITTEN,
        "sentence": attack or "The claim holds here. OLS has a mean rank of 2.0, the best of 12.",
        "paper": attack or "Somebody, Something, 2022, https://doi.org/10.1/2",
        "experiments": parts,
        "overall": {
            "findings": [attack or "By the score: OLS is number 1."],
            "tables": [table("ranks", ["data", *TWELVE], 3, attack)],
            "figures": [figure("ranks", attack)],
        },
        "reproduce": how_to_reproduce(parts, "results"),
    }


def part(name, attack, rng, *, failed=(), **options):
    settings = Settings(Path("results"), **{"data": Path(__file__).parent, **options}).to_dict()
    facts = {"name": "dexter", "title": attack or "Dexter"}
    data = table(f"{name}_data", ["data", "rows", "notes"], 2, attack)
    data["rows"][0][2] = attack or "a note that `goes` on " * 8
    scores = table(f"{name}_held", ["method", "Dexter (20)", "paper", "apart"], 12, attack)
    for at, row in enumerate(scores["rows"]):
        row[:] = [TWELVE[at], f"{rng.uniform():.4f} ± 0.0100", float(rng.uniform()), "-0.9"]
    scores["rows"][3][1:] = ["missing", None, attack or "+1.1"]
    return {
        "name": name,
        "title": attack or f"An experiment called {name}",
        "about": attack or "what it is about",
        "complete": 11,
        "tasks": 12,
        "tables": [data, scores],
        "figures": [figure(name, attack)],
        "findings": [attack or "Not complete: 11 of 12 tasks have results.", "Look at `x.npz`."],
        "settings": settings,
        "facts": {"methods": [*TWELVE], "folds": 10},
        "data": [facts],
        "absent": {
            "gisette": ("missing", attack or "it was never found"),
            "mnist": ("damaged", attack or "it is cut off"),
        },
        "versions": {"python": "3.11.2", "orthoselect": "0.1.0", "numpy": attack or "2.0"},
        "seconds": 200.0,
        "selecting": {"penalized": 90.0, "others": 30.0},
        "written": WRITTEN,
        "failed": [*failed],
    }


def figure(name, attack):
    return {"name": name, "title": attack or f"A figure of {name}", "png": "x.png", "svg": "x.svg"}


def table(name, columns, n_rows, attack):
    rows = [[attack or f"row {n}", *range(n, n + len(columns) - 1)] for n in range(n_rows)]
    title, note = (attack, attack) if attack else (f"A table of {name}", "A note below it.")
    return {"name": name, "title": title, "columns": columns, "rows": rows, "note": note}


def panels(rng):
    """Return curves that end close together, as real ones do."""
    return {
        part: {
            m: [0.95 - math.exp(-k / 3) / 2 + rng.normal(0, 0.004) for k in range(1, 21)]
            for m in TWELVE
        }
        for part in ("training", "validation")
    }


def counts(rng):
    spread = {m: rng.uniform(70, 95, size=3).tolist() for m in TWELVE}
    return {m: (sum(c) / 3, 2.0) for m, c in spread.items()}, spread, dict.fromkeys(TWELVE, 80)


def ranks(rng):
    table = {name: dict(zip(TWELVE, (rng.permutation(12) + 1).tolist())) for name in SETS}
    return table, {m: sum(row[m] for row in table.values()) / 3 for m in TWELVE}
