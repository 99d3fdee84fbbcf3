"""A model over time as a plain dictionary, and the page made of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.dynamics import NARX, Validation
from orthoselect.output import replacing
from orthoselect.plots import draw_simulation, draw_tests, new_figure, to_svg
from orthoselect.result import SelectionPath
from orthoselect.versions import __version__

_NARROW = 320  # pixels of a chart on a phone
SECTIONS = {
    "answer": "The model",
    "terms": "Terms",
    "simulation": "Simulation",
    "residuals": "Residuals",
    "reproduce": "Again",
}


def summarize_model(
    model: NARX,
    validation: Validation,
    *,
    title: str,
    target: str,
    where: str,
    command: str,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what is known of a fitted model, as plain values ready for JSON.

    Parameters
    ----------
    model : NARX
    validation : Validation
    title, target : str
        What to call the records, and the output.
    where : str
        A sentence that says which rows it was validated on.
    command : str
        What gave the model.
    warnings : sequence of str
    """
    free, path = validation.errors["free run"], model.path_
    assert isinstance(path, SelectionPath)  # of one output, as validations are
    share = free / validation.spread if validation.spread else math.nan
    off = f"is off by {free:.3g}, which is {share:.1%} of the spread."
    sentence = (
        f"{len(model.terms_)} terms of {path.n_candidates} describe {target}: the free run "
        f"{off if math.isfinite(free) else 'diverges.'}"
    )
    return {
        "kind": "model",
        "title": title,
        "created": datetime.now().astimezone().isoformat(timespec="seconds"),
        "target": target,
        "sentence": sentence,
        "where": where,
        "equation": model.equation_,
        "longest_lag": model.longest_lag_,
        "n_candidates": path.n_candidates,
        "path": path.to_dict(),
        "terms": [
            {
                "term": term.name,
                "err": term.err,
                "coef": term.coef,
                "standard_error": _finite(term.error),
                "is_noise": term.is_noise,
            }
            for term in model.terms_
        ],
        "errors": {name: _finite(error) for name, error in validation.errors.items()},
        "spread": validation.spread,
        "tests": [
            {
                "name": test.name,
                "lags": list(test.lags),
                "values": list(test.values),
                "bound": test.bound,
                "share_outside": test.share_outside,
            }
            for test in validation.tests
        ],
        "warnings": list(warnings),
        "reproduce": {"command": command, "versions": {"orthoselect": __version__}},
    }


def write_model_report(
    summary: Mapping[str, Any],
    file: str | Path,
    measured: NDArray,
    simulated: NDArray,
    validation: Validation,
) -> None:
    """Write the summary as a page with charts (.html), or as it is (.json)."""
    if Path(file).suffix.lower() == ".json":
        text = json.dumps(summary, allow_nan=False, ensure_ascii=False, indent=1) + "\n"
    else:
        text = model_page(summary, measured, simulated, validation)
    with replacing(file) as temporary:
        temporary.write_text(text, encoding="utf-8")


def model_page(
    summary: Mapping[str, Any], measured: NDArray, simulated: NDArray, validation: Validation
) -> str:
    """Return the page of a model: equation, terms, measured against simulated, residuals."""
    from orthoselect.show.charts import in_two_widths
    from orthoselect.show.page import fill

    target = str(summary["target"])

    def simulation(width: int) -> str:
        figure = new_figure(width, 240)
        draw_simulation(measured, simulated, target, figure.subplots())
        label = f"{target}, measured and simulated, row by row"
        return to_svg(figure, label, prefix=f"simulation-{width}")

    def tests(columns: int) -> str:
        figure = draw_tests(validation.tests, columns=columns)
        return to_svg(figure, "correlations of the residuals", prefix=f"tests-{columns}")

    charts = {
        "simulation_chart": in_two_widths(simulation(640), simulation(_NARROW)),
        "tests_chart": in_two_widths(tests(2), tests(1)),
    }
    return fill("model.html", {"sections": SECTIONS, **summary, **charts})


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
