"""How orthoselect's time grows when one parameter at a time is doubled."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchmarks import runner
from benchmarks.shapes import Data
from benchmarks.table import OURS, Settings


@dataclass(frozen=True)
class Point:
    """One measurement: the parameter's value and the problem it makes."""

    value: float
    data: Data
    t: int


@dataclass(frozen=True)
class Series:
    """A parameter and its doublings."""

    parameter: str
    title: str
    points: tuple[Point, ...]


BASE, BASE_T = Data("made", 20000, 500, 4), 20
QUICK_BASE, QUICK_T = Data("made", 500, 40, 2), 4
DOUBLINGS = 4


def series(*, quick: bool) -> list[Series]:
    """Return what is doubled, and how."""
    base, t = (QUICK_BASE, QUICK_T) if quick else (BASE, BASE_T)
    factors = [2**k for k in range(2 if quick else DOUBLINGS + 1)]
    sparse = replace(base, n=4 * base.n, sparse=True)

    def points(field: str, start: int) -> tuple[Point, ...]:
        return tuple(Point(start * f, replace(base, **{field: start * f}), t) for f in factors)

    densities = [0.005 * f for f in factors]
    return [
        Series("N", "Rows N", points("N", base.N // 2)),
        Series("n", "Features n", points("n", base.n // 2)),
        Series(
            "t",
            "Features to select t",
            tuple(Point(f * t // 2, base, f * t // 2) for f in factors),
        ),
        Series("classes", "Classes", points("classes", 2)),
        Series(
            "density",
            f"Share of a sparse table ({sparse.N} x {sparse.n}) that is not zero",
            tuple(Point(d, replace(sparse, density=d), t) for d in densities),
        ),
    ]


def base_text(*, quick: bool) -> str:
    """Return the shape that the doublings start from, in words."""
    base, t = (QUICK_BASE, QUICK_T) if quick else (BASE, BASE_T)
    return f"{base.N} x {base.n}, {base.classes} classes, t {t}"


def run(threads: int, settings: Settings, *, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield each parameter's measurements as a plain dict."""
    for one in series(quick=quick):
        points: list[dict[str, Any]] = []
        for point in one.points:
            result = _run_point(one, point, threads, settings)
            result["growth"] = _growth(points, result)
            points.append(result)
        yield {"parameter": one.parameter, "title": one.title, "points": points}


def _run_point(one: Series, point: Point, threads: int, settings: Settings) -> dict[str, Any]:
    print(f"{one.parameter} = {point.value:g} ...", end=" ", file=sys.stderr, flush=True)
    result = runner.run(
        runner.Cell(point.data, None, OURS, point.t, threads, settings.repeats, settings.limit)
    )
    print(result.get("why") or f"{result['seconds']:.4g} s", file=sys.stderr)
    return result | {"value": point.value}


def _growth(before: list[dict[str, Any]], result: dict[str, Any]) -> float | None:
    """Return the time over that of the point before, if both were measured."""
    if not before or before[-1]["status"] != "ok" or result["status"] != "ok":
        return None
    return result["seconds"] / before[-1]["seconds"]
