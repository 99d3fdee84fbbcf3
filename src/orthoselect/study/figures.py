"""Figures from results: drawn on demand, saved as PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.errors import InputError
from orthoselect.output import replacing

_DPI = 110
# One look for a method in all figures: color, dash. The paper's own methods stand out.
_LOOKS: dict[str, tuple[str, str]] = {
    "OLS": ("#c1121f", "-"),
    "OLSd": ("#c1121f", "--"),
    "mRMRd": ("#1d6996", "-"),
    "mRMRq": ("#1d6996", "--"),
    "MIM": ("#73767a", "-"),
    "JMI": ("#0f8554", "-"),
    "CMIM": ("#e17c05", "-"),
    "CIFE": ("#94346e", "-"),
    "ICAP": ("#94346e", "--"),
    "DISR": ("#0f8554", "--"),
    "LASSO": ("#38a6a5", "-"),
    "Net": ("#38a6a5", "--"),
    "OBCC": ("#5f4690", "-"),
    "Shapley": ("#edad08", "-"),
}
_OTHER = ("#444444", ":")
_BARS = ("#73767a", "#1d6996", "#e17c05", "#c1121f")


@dataclass(frozen=True)
class Figure:
    """A figure of a report.

    Attributes
    ----------
    name : str
        For file names.
    title : str
    draw : callable
        Draws on a `matplotlib.figure.Figure`.
    size : tuple of float
        Width and height in inches.
    """

    name: str
    title: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (9.0, 4.0)

    def save(self, folder: Path) -> dict[str, str]:
        """Write NAME.png and NAME.svg; return name, title and the names of the files."""
        try:
            from matplotlib import rc_context
            from matplotlib.figure import Figure as Canvas
        except ImportError:
            raise InputError(
                "drawing figures needs matplotlib; install it with "
                "`pip install 'orthoselect[report]'`."
            ) from None
        files = {}
        look: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": self.name, "font.size": 9.0}
        with rc_context(look):
            canvas = Canvas(figsize=self.size, layout="constrained")
            self.draw(canvas)
            for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
                file = Path(folder) / f"{self.name}.{kind}"
                with replacing(file) as temporary:
                    canvas.savefig(temporary, format=kind, dpi=_DPI, metadata=metadata)
                files[kind] = file.name
                canvas.set_layout_engine("none")  # places are found: the second file keeps them
        return {"name": self.name, "title": self.title, **files}


def look(method: str) -> dict[str, Any]:
    """Return color, dash and width of a method's line."""
    color, dash = _LOOKS.get(method, _OTHER)
    return {"color": color, "linestyle": dash, "linewidth": 2.2 if method == "OLS" else 1.2}


Curve = tuple[Sequence[int], Sequence[float]]


def curves(
    panels: Mapping[str, Mapping[str, Mapping[str, Curve]]], score: str
) -> Callable[[Any], None]:
    """Return what draws scores against the number of features.

    Parameters
    ----------
    panels : mapping
        For each row of panels (a data set), for each panel of it (training, validation), the curve
        of each method: sizes and scores.
    score : str
    """

    def draw(canvas: Any) -> None:
        columns = max(len(row) for row in panels.values())
        axes = canvas.subplots(len(panels), columns, squeeze=False, sharey="row")
        handles: dict[str, Any] = {}
        for line, (title, row) in zip(axes, panels.items()):
            for place, (part, methods) in zip(line, row.items()):
                for method, (sizes, scores) in methods.items():
                    handles[method] = place.plot(sizes, scores, **look(method))[0]
                place.set_title(f"{title}, {part}", loc="left")
                place.set_xlabel("features")
                place.xaxis.get_major_locator().set_params(integer=True)
                place.grid(alpha=0.25)
                place.spines[["top", "right"]].set_visible(False)
            line[0].set_ylabel(score)
        canvas.legend(handles.values(), handles.keys(), loc="outside right center", frameon=False)

    return draw


def counts(
    ours: Mapping[str, tuple[float, float]],
    spread: Mapping[str, Sequence[float]],
    paper: Mapping[str, float],
    label: str,
) -> Callable[[Any], None]:
    """Return what draws counts with their errors beside those of the paper.

    Parameters
    ----------
    ours : mapping of method to count and standard error
    spread : mapping of method to the counts of the batches
    paper : mapping of method to the printed count
    label : str
    """

    def draw(canvas: Any) -> None:
        place = canvas.subplots()
        for at, (method, (count, error)) in enumerate(ours.items()):
            color = look(method)["color"]
            batches = spread[method]
            place.plot([at] * len(batches), batches, ".", color=color, alpha=0.35)
            place.errorbar(at, count, yerr=2 * error, fmt="o", color=color, capsize=3)
            if method in paper:
                place.plot(at + 0.28, paper[method], "D", color="black", markersize=4)
        place.plot([], [], "o", color="black", label="ours: mean of the batches, 2 standard errors")
        place.plot([], [], ".", color="black", alpha=0.4, label="ours: each batch")
        place.plot([], [], "D", color="black", markersize=4, label="paper")
        canvas.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=8)
        place.set_xticks(range(len(ours)), list(ours), rotation=35, ha="right")
        place.set_ylabel(label)
        place.grid(alpha=0.25, axis="y")
        place.spines[["top", "right"]].set_visible(False)

    return draw


def maps(orders: Mapping[str, Sequence[int]], shape: tuple[int, int]) -> Callable[[Any], None]:
    """Return what draws selected pixels as images, those selected first darkest."""

    def draw(canvas: Any) -> None:
        columns = min(6, len(orders))
        lines = -(-len(orders) // columns)
        axes = canvas.subplots(lines, columns, squeeze=False)
        for place in axes.flat:
            place.set_axis_off()
        image = None
        for place, (method, features) in zip(axes.flat, orders.items()):
            steps = np.full(shape[0] * shape[1], np.nan)
            steps[list(features)] = np.arange(1, len(features) + 1)
            image = place.imshow(
                steps.reshape(shape), cmap="inferno", vmin=1, vmax=1.15 * max(2, len(features))
            )
            place.set_facecolor("#eeeeee")
            place.set_axis_on()
            place.set_xticks([])
            place.set_yticks([])
            place.set_title(method)
        if image is not None:
            bar = canvas.colorbar(image, ax=axes, label="step", shrink=0.7)
            bar.ax.set_ylim(1, max(2, *map(len, orders.values())))

    return draw


def bars(
    groups: Mapping[str, Mapping[str, float]], label: str, *, logarithmic: bool = False
) -> Callable[[Any], None]:
    """Return what draws a bar for each number of each group."""

    def draw(canvas: Any) -> None:
        place = canvas.subplots()
        names = list(dict.fromkeys(name for group in groups.values() for name in group))
        width = 0.8 / len(names)
        for k, name in enumerate(names):
            at = [i + (k - (len(names) - 1) / 2) * width for i in range(len(groups))]
            heights = [group.get(name, np.nan) for group in groups.values()]
            drawn = place.bar(at, heights, width, label=name, color=_BARS[k % len(_BARS)])
            place.bar_label(drawn, [_short(height) for height in heights], fontsize=7)
        if logarithmic:
            place.set_yscale("log")
        place.set_xticks(range(len(groups)), list(groups))
        place.set_ylabel(label)
        place.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        place.spines[["top", "right"]].set_visible(False)

    return draw


def _short(height: float) -> str:
    """Return a number as it stands on a bar; nothing for no number."""
    if height != height:
        return ""
    return f"{height:,.0f}" if height >= 100 else f"{height:.3g}"


def ranks(table: Mapping[str, Mapping[str, int]], methods: Sequence[str]) -> Callable[[Any], None]:
    """Return what draws the rank of every method on every data set, and a line after the fifth."""

    def draw(canvas: Any) -> None:
        place = canvas.subplots()
        grid = np.array([[row.get(m, np.nan) for m in methods] for row in table.values()])
        place.imshow(grid, cmap="RdYlGn_r", vmin=1, vmax=len(methods), aspect="auto", alpha=0.75)
        for i, j in np.ndindex(*grid.shape):
            if np.isfinite(grid[i, j]):
                place.text(j, i, f"{grid[i, j]:.0f}", ha="center", va="center")
        place.set_xticks(range(len(methods)), methods, rotation=35, ha="right")
        place.set_yticks(range(len(table)), list(table))

    return draw
