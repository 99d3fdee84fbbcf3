"""The method's ancestors at work: terms of models over time, on public records and a made one.

Not in the paper, whose table of methods names ERR (Chen, Billings and Luo 1989) and MSER (Korenberg
1989). Published figures stand beside ours.

Records are looked for in the folder of the data: `silverbox.npz` (u, y), `cascaded_tanks.npz`
(u_train, y_train, u_test, y_test), and `x_cc.csv` and `y_cc.csv`, as in the source distributions of
sysidentpy up to 0.5: an electric generator. Its page has samples 1, 501, 1001 and so on of these,
counted from 0.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect import NARX, LaggedTerms, select
from orthoselect_study.datasets import DataSource
from orthoselect_study.experiments.base import Arguments, Experiment, absence_sentences
from orthoselect_study.experiments.tank_structure import choose_structure, free_run_error
from orthoselect_study.figures import Figure, draw_bars
from orthoselect_study.pages import Table
from orthoselect_study.records import Plan, Results, Row, Task, generator
from orthoselect_study.settings import Settings

_RECORDS = {
    "silverbox": ["silverbox.npz"],
    "tanks": ["cascaded_tanks.npz"],
    "generator": ["x_cc.csv", "y_cc.csv"],
}
_REPEATS = 40
# Silverbox in mV: Champneys et al. 2024 (arXiv 2405.10779); tanks in V: the same.
_PUBLISHED = {
    ("silverbox", "multisine, mV"): 0.640,
    ("silverbox", "arrow, mV"): 2.25,
    ("silverbox", "arrow without extrapolation, mV"): 0.571,
    ("tanks", "test, V"): 0.413,
    ("generator", "terms as published, of 20"): 20.0,
}
# sysidentpy's page on an electromechanical system; u for u^2, which is the same for two levels.
_GENERATOR = """y(k-1), u(k-1), y(k-2)^2, y(k-1) u(k-1), y(k-2), y(k-2) u(k-1), y(k-1) y(k-3),
u(k-4), y(k-3) u(k-1), y(k-1) y(k-4), u(k-1) u(k-4), y(k-2) y(k-4), y(k-1) u(k-5), u(k-2) u(k-3),
u(k-1) u(k-2), u(k-3), y(k-5) u(k-1), y(k-1) u(k-3), y(k-1) u(k-4), 1"""
_TRUE = 0.2  # the coefficient that noise hides


@dataclass(frozen=True)
class RecordData:
    """Signals of one record by name, and letters that stand for their values."""

    name: str
    signals: dict[str, NDArray[np.float64]]
    fingerprint: str


class Dynamics(Experiment):
    """Errors of free runs, terms found, and coefficients under noise that is not white."""

    name = "dynamics"
    title = "Models over time"
    about = "terms by ERR on public records, beside published figures; noise terms on a made one"
    uses = frozenset({"repeats"})

    def plan(self, settings: Settings, source: DataSource) -> Plan:
        tasks, absent = [], {}
        for name in _RECORDS:
            record = _load(name, source)
            if isinstance(record, str):
                absent[name] = "missing", record
            else:
                tasks.append(Task(self.name, {"dataset": name}, record, cost=3.0))
        for repeat in range(settings.or_else("repeats", _REPEATS)):
            arguments = {"dataset": "made", "repeat": repeat, "seed": settings.seed}
            tasks.append(Task(self.name, arguments, None, cost=0.1))
        return Plan(tasks, [], absent)

    def work(self, arguments: Arguments, data: Any) -> list[Row]:
        if arguments["dataset"] == "made":
            return _made(
                arguments["repeat"], generator(arguments["seed"], "dynamics", arguments["repeat"])
            )
        measure = {"silverbox": _silverbox, "tanks": _tanks, "generator": _generator}
        values = measure[data.name](data.signals)
        return [Row(data.name, "ERR", measure=name, value=v) for name, v in values.items()]

    def tables(self, results: Results) -> list[Table]:
        rows: list[list[Any]] = []
        for row in results.rows:
            if row.dataset == "made":
                continue
            published = _PUBLISHED.get((row.dataset, row.measure))
            rows.append([row.dataset, row.measure, f"{row.value:.4g}", published])
        for method, (mean, spread) in _coefficients(results).items():
            rows.append(["made", method, f"{mean:.3f} ± {spread:.3f}", _TRUE])
        for name, (state, _) in results.absent.items():
            rows.append([name, state, None, None])
        note = (
            "Root mean squared errors of free runs from 50 given rows; lags, terms and their count "
            "are chosen on training rows (the fewest terms within one standard error of the best). "
            "Published: the polynomial "
            "NARX of Champneys et al. 2024, and the 20 terms on sysidentpy's page. The made "
            "record: a coefficient of 0.2, mean and standard deviation over the repeats."
        )
        columns = ["record", "figure", "ours", "published or true"]
        return [Table("dynamics", "Models over time", columns, rows, note)]

    def figures(self, results: Results) -> list[Figure]:
        bars = {"coefficient of y(k-1)": {m: c[0] for m, c in _coefficients(results).items()}}
        bars["coefficient of y(k-1)"]["true"] = _TRUE
        title = "What noise does to a coefficient, and noise terms undo"
        return [draw_bars("dynamics", title, bars, "mean over the repeats", best=min)]

    def findings(self, results: Results) -> list[str]:
        found = []
        ours = {(row.dataset, row.measure): row.value for row in results.rows}
        for key, published in _PUBLISHED.items():
            if key in ours and key[0] != "generator":
                word = "less than" if ours[key] < published else "more than"
                found.append(
                    f"{key[0]}, {key[1]}: {ours[key]:.3g}, {word} the {published} published."
                )
        coefficients = _coefficients(results)
        if len(coefficients) == 2:
            (biased, _), (right, _) = coefficients.values()
            found.append(
                f"Noise with a memory makes least squares say {biased:.2f} for a coefficient of "
                f"{_TRUE}; with noise terms that are selected it is {right:.2f}."
            )
        return [*found, *absence_sentences(results)]


def _load(name: str, source: DataSource) -> RecordData | str:
    """Return a record, or why there is none."""
    if source.folder is None:
        return "it is not on OpenML, and no folder with a copy was given"
    files = [Path(source.folder) / file for file in _RECORDS[name]]
    if not all(file.is_file() for file in files):
        return "the folder has no copy of it"
    if name == "generator":
        signals = {key: np.loadtxt(file)[1::500] for key, file in zip("uy", files)}
    else:
        with np.load(files[0]) as archive:
            signals = {key: archive[key].astype(np.float64) for key in archive.files}
    sha = hashlib.sha256(b"".join(values.tobytes() for values in signals.values()))
    return RecordData(name, signals, sha.hexdigest()[:16])


def _silverbox(signals: dict[str, Any]) -> dict[str, float]:
    u, y = 1e3 * signals["u"], 1e3 * signals["y"]  # volts
    cut = 40650 + int(0.75 * (127400 - 40650))
    model = NARX(order="free-run").fit(u[40650:cut], y[40650:cut])
    tests = {
        "multisine, mV": slice(cut, 127400),
        "arrow, mV": slice(100, 40575),
        "arrow without extrapolation, mV": slice(100, 32100),
    }
    errors = {name: free_run_error(model, u[rows], y[rows]) for name, rows in tests.items()}
    return {**errors, "terms": float(model.n_terms_)}


def _tanks(signals: dict[str, Any]) -> dict[str, float]:
    u, y = signals["u_train"], signals["y_train"]
    model = NARX(fit="free-run", include=["1"], **choose_structure(u, y)).fit(u, y)
    error = free_run_error(model, signals["u_test"], signals["y_test"])
    return {"test, V": error, "terms": float(model.n_terms_)}


def _generator(signals: dict[str, Any]) -> dict[str, float]:
    data = {name: signals[name][:500] for name in ("y", "u")}
    path = select(LaggedTerms(data, "y", "u", lags=5, degree=2, delay=1), None, 20, "err")
    published = _GENERATOR.replace("\n", " ").split(", ")
    as_published = sum(ours == theirs for ours, theirs in zip(path.names, published))
    return {"terms as published, of 20": float(as_published)}


def _made(repeat: int, rng: np.random.Generator) -> list[Row]:
    """Fit a record whose noise has a memory, without and with noise terms."""
    u, e, y = rng.normal(size=1000), 0.35 * rng.normal(size=1000), np.zeros(1000)
    for k in range(2, 1000):
        y[k] = _TRUE * y[k - 1] + 0.1 * y[k - 1] * u[k - 1] + 0.9 * u[k - 2]
        y[k] += 0.8 * e[k - 1] + e[k]
    process = ["y(k-1)", "y(k-1) u(k-1)", "u(k-2)"]
    rows = []
    for method, lags in (("least squares", 0), ("with noise terms", 1)):
        model = NARX(3, y_lags=2, u_lags=2, degree=2, include=process, noise_lags=lags).fit(u, y)
        at = Row("made", method, repeat=repeat, measure="coefficient")
        rows.append(at._replace(value=float(model.coef_[0])))
    return rows


def _coefficients(results: Results) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of the coefficient, by how it was fitted."""
    found = {}
    for method in ("least squares", "with noise terms"):
        values = [r.value for r in results.where(measure="coefficient") if r.method == method]
        if values:
            found[method] = float(np.mean(values)), float(np.std(values))
    return found
