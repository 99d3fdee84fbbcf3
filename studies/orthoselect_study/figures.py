"""Figures from results: drawn on demand, as PNG and SVG files and for the inside of a page.

All colors are those of the charts' palette, so that figures follow the page to dark and to print.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthoselect.output import replacing
from orthoselect.plots import PALETTE, new_figure, style, to_svg
from orthoselect.plots.svg import as_file
from orthoselect.show.charts import NARROW, WIDE, in_two_widths

if TYPE_CHECKING:
    from markupsafe import Markup

Curve = Sequence[float]  # scores by 1, 2, ... features
Size = tuple[float, float]

_DPI = 110
_PANEL, _AROUND_PANEL = 195, 62  # pixels: the height of a panel, of its title and numbers
_DEEPEST = 0.6  # the strongest tint that text stays readable on
_NAMES, _LETTER = 90.0, 7.5  # pixels: about the names beside the cells, and one letter
_SOLID, _DASHED, _DOTTED = "-", (0, (4, 2)), (0, (1, 1.5))
# The number of its color, and its dash; kin share a color.
_LOOKS: dict[str, tuple[int, Any]] = {
    "OLS": (0, _SOLID),
    "OLSd": (0, _DASHED),
    "mRMRd": (4, _SOLID),
    "mRMRq": (4, _DASHED),
    "MIM": (7, _SOLID),
    "JMI": (2, _SOLID),
    "CMIM": (1, _SOLID),
    "CIFE": (3, _SOLID),
    "ICAP": (3, _DASHED),
    "DISR": (2, _DASHED),
    "LASSO": (6, _SOLID),
    "Net": (6, _DASHED),
    "OBCC": (5, _SOLID),
    "Shapley": (1, _DASHED),
    "by summaries": (0, _SOLID),
    "by segments": (0, _DASHED),
    "each alone": (2, _SOLID),
}
_OTHER = (7, _DOTTED)


@dataclass(frozen=True)
class Figure:
    """A figure of a report: what is drawn, and how large, in pixels."""

    name: str  # for file names, too
    title: str
    draw: Callable[[Any, bool], None]  # on a `matplotlib.figure.Figure`, which may be narrow
    wide: Size  # for wide screens and paper
    narrow: Size  # for phones

    def on_canvas(self, *, narrow: bool = False) -> Any:
        """Return a new figure of Matplotlib with the drawing, everything in its place."""
        with style.default_settings():
            canvas: Any = new_figure(*(self.narrow if narrow else self.wide))
            self.draw(canvas, narrow)
            canvas.get_layout_engine().execute(canvas)
            canvas.set_layout_engine("none")  # places are found: files of all kinds keep them
        return canvas

    @cached_property
    def _wide_canvas(self) -> Any:
        return self.on_canvas()

    @cached_property
    def _wide_svg(self) -> str:
        return self._svg(self._wide_canvas, "w")

    def _svg(self, canvas: Any, suffix: str) -> str:
        label = f"{self.title}. The numbers are in the tables of this section."
        return to_svg(canvas, label, prefix=f"{self.name}-{suffix}")

    def save(self, folder: Path) -> dict[str, str]:
        """Write NAME.png and NAME.svg; return name, title and the names of the files."""
        files = {kind: f"{self.name}.{kind}" for kind in ("png", "svg")}
        canvas = self._wide_canvas
        with replacing(folder / files["png"]) as temporary, style.default_settings():
            canvas.savefig(temporary, format="png", dpi=_DPI, metadata={"Software": None})
        with replacing(folder / files["svg"]) as temporary:
            temporary.write_text(as_file(self._wide_svg), encoding="utf-8")
        return {"name": self.name, "title": self.title, **files}

    def chart(self) -> Markup:
        """Return the figure for a page, wide and narrow."""
        return in_two_widths(self._wide_svg, self._svg(self.on_canvas(narrow=True), "n"))


def head(axes: Any, text: str) -> None:
    """Write what a panel shows above it."""
    looks = {"fontsize": style.TEXT, "fontweight": "bold", "color": PALETTE["ink"]}
    axes.set_title(text, loc="left", parse_math=False, **looks)


def look(method: str) -> dict[str, Any]:
    """Return color, dash, width and marker of a method's line."""
    number, dash = _LOOKS.get(method, _OTHER)
    first = dash == _SOLID
    return {
        "color": style.series_color(number),
        "linestyle": dash,
        "linewidth": 2.4 if method == "OLS" else 1.3,
        "marker": style.series_marker(number if first else number + 3),
        "markersize": 5.5 if method == "OLS" else 4.5,
        "markeredgewidth": 0.6,
        "markeredgecolor": PALETTE["paper"],
    }


def draw_curves(
    name: str,
    title: str,
    panels: Mapping[str, Mapping[str, Mapping[str, Curve]]],
    score: str,
    along: str = "number of features",
) -> Figure:
    """Return scores against the number of features, or of what `along` says.

    Methods are named at the ends. `panels` has the curve of each method, for each part (training,
    validation) of each data set.
    """
    n_columns = max(len(row) for row in panels.values())
    row = _PANEL + _AROUND_PANEL

    def draw(canvas: Any, narrow: bool) -> None:
        shape = (len(panels) * n_columns, 1) if narrow else (len(panels), n_columns)
        axes = canvas.subplots(*shape, squeeze=False).reshape(len(panels), n_columns)
        for line, (data, parts) in zip(axes, panels.items()):
            for place, (part, curves) in zip(line, parts.items()):
                ends = _draw_panel(place, curves, along)
                head(place, f"{data}, {part}")
                place.set_ylabel(score if narrow or place is line[0] else "")
            limits = [limit for place in line for limit in place.get_ylim()]
            for place in line:
                place.set_ylim(min(limits), max(limits))
            style.name_ends(ends, line[len(parts) - 1], _PANEL)

    heights = 10 + row * len(panels), 10 + row * len(panels) * n_columns
    return Figure(name, title, draw, (WIDE, heights[0]), (NARROW, heights[1]))


def _draw_panel(axes: Any, curves: Mapping[str, Curve], along: str) -> list[style.End]:
    """Draw the curves of methods; return where they end."""
    ends: list[style.End] = []
    for method, scores in curves.items():
        looks = {**look(method), "markevery": max(1, len(scores) // 6)}
        axes.plot(range(1, len(scores) + 1), scores, zorder=3 if method == "OLS" else 2, **looks)
        if scores:
            last = len(scores), scores[-1]
            ends.append((*last, method, looks["color"], looks["linestyle"]))
    style.whole_numbers(axes)
    axes.set_xlabel(along)
    style.plain(axes, grid="y")
    return ends


def draw_counts(
    name: str,
    title: str,
    ours: Mapping[str, tuple[float, float]],
    spread: Mapping[str, Sequence[float]],
    paper: Mapping[str, float],
    label: str,
) -> Figure:
    """Return counts with their errors beside those of the paper, a line for each method.

    Methods are mapped to count and standard error, to the counts of batches, to the printed count.
    """
    dots = {"linestyle": "", "markeredgewidth": 0}
    batch = {**dots, "marker": "o", "markersize": 4, "color": PALETTE["accent"], "alpha": 0.5}
    mine = {"fmt": "o", "color": PALETTE["accent"], "markersize": 7.5}
    mine |= {"ecolor": PALETTE["faint"], "elinewidth": 4}
    printed = {**dots, "marker": "D", "markersize": 6, "color": PALETTE["minus"]}

    def draw(canvas: Any, narrow: bool) -> None:
        axes = canvas.subplots()
        for at, (method, (count, error)) in enumerate(ours.items()):
            axes.plot(spread[method], [at - 0.28] * len(spread[method]), **batch)
            drawn = axes.errorbar(count, at, xerr=2 * error, **mine)
            if method in paper:
                axes.plot(paper[method], at + 0.28, **printed)
        names = ["ours, ± 2 standard errors", "ours, each batch", "paper"]
        handles = [drawn, axes.plot([], [], **batch)[0], axes.plot([], [], **printed)[0]]
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0}
        style.legend(axes, handles, names, ncols=1 if narrow else 3, **place)
        axes.set_xlabel(label)
        _name_lines(axes, list(ours), 0.6)

    height = 27 * len(ours)
    return Figure(name, title, draw, (WIDE, 90 + height), (NARROW, 125 + height))


def draw_maps(
    name: str, title: str, orders: Mapping[str, Sequence[int]], shape: tuple[int, int]
) -> Figure:
    """Return selected pixels as images, those selected first deepest."""
    n_wide, n_narrow = min(6, len(orders)), min(3, len(orders))

    def draw(canvas: Any, narrow: bool) -> None:
        from matplotlib.colors import to_rgba

        columns = n_narrow if narrow else n_wide
        axes = canvas.subplots(-(-len(orders) // columns), columns, squeeze=False)
        for place in axes.flat[len(orders) :]:
            place.set_axis_off()
        for place, (method, chosen) in zip(axes.flat, orders.items()):
            corners = [(j % shape[1], j // shape[1]) for j in chosen]
            depths = [1 - 0.75 * step / max(len(chosen) - 1, 1) for step in range(len(chosen))]
            _fill(place, corners, (1, 1), [to_rgba(PALETTE["accent"], depth) for depth in depths])
            place.set(xlim=(0, shape[1]), ylim=(shape[0], 0), aspect="equal", xticks=[], yticks=[])
            place.set_facecolor("none")
            for side in place.spines.values():
                side.set_color(PALETTE["line"])
            head(place, method)

    def size(width: float, columns: int) -> Size:
        return width, -(-len(orders) // columns) * (width / columns + 22)

    return Figure(name, title, draw, size(WIDE, n_wide), size(NARROW, n_narrow))


def draw_bars(
    name: str,
    title: str,
    groups: Mapping[str, Mapping[str, float]],
    label: str,
    *,
    best: Callable[..., float],
    logarithmic: bool = False,
) -> Figure:
    """Return a bar for each number of each group, the best of a group (`min`, `max`) stronger."""
    groups = {key: group for key, group in groups.items() if group}
    sizes = [len(group) for group in groups.values()]

    def draw(canvas: Any, narrow: bool) -> None:
        from matplotlib.ticker import LogLocator

        axes = canvas.subplots(len(groups), squeeze=False, sharex=True, height_ratios=sizes)[:, 0]
        # Values stand right of their bars: room for them is left there.
        largest = max(max(group.values()) for group in groups.values())
        for place, (title, group) in zip(axes, groups.items()):
            _draw_group(place, group, best(group.values()))
            head(place, title)
            if logarithmic:
                place.set_xscale("log")
                place.xaxis.set_major_locator(LogLocator(numticks=4 if narrow else 7))
                place.xaxis.set_major_formatter(
                    lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"
                )
                place.set_xlim(right=largest * (20 if narrow else 5))
            else:
                place.set_xlim(0, largest * (1.25 if narrow else 1.12))
        axes[-1].set_xlabel(label)

    height = 50 + 24 * sum(sizes) + 32 * len(groups)
    return Figure(name, title, draw, (WIDE, height), (NARROW, height))


def _draw_group(axes: Any, group: Mapping[str, float], best: float) -> None:
    beside = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
    for at, value in enumerate(group.values()):
        axes.barh(at, value, 0.62, color=PALETTE["accent" if value == best else "faint"])
        digits = ",.0f" if value >= 100 else ".3g" if value >= 1 else ".3f"
        style.write(axes, value, at, f"{value:{digits}}", **beside)
    _name_lines(axes, list(group), 0.5)
    axes.tick_params(which="minor", length=0)


def _name_lines(axes: Any, names: Sequence[str], margin: float) -> None:
    """Dress the axes of horizontal lines, the first one on top, with names beside them."""
    style.plain(axes, grid="x")
    style.name_rows(axes, range(len(names)), names)
    axes.set_ylim(len(names) - 1 + margin, -margin)


def draw_ranks(
    name: str,
    title: str,
    table: Mapping[str, Mapping[str, int]],
    averages: Mapping[str, float],
    first: int,
) -> Figure:
    """Return the rank of every method on every data set, and the mean.

    Methods are in the order of `averages`, their mean ranks. Ranks up to `first` are one color,
    those beyond it another.
    """
    methods = list(averages)
    rows = [*table, "mean rank"]

    def draw(canvas: Any, narrow: bool) -> None:
        axes = canvas.subplots()
        middle: dict[str, Any] = {"ha": "center", "va": "center"}

        def place(row: int, column: int) -> tuple[int, int]:
            return (row, column) if narrow else (column, row)

        corners, tints = [], []
        for row, found in enumerate(table.values()):
            for column, name in enumerate(methods):
                at = place(row, column)
                corners.append((at[0] - 0.48, at[1] - 0.46))
                tints.append(_tint(found[name], first, len(methods)))
                style.write(axes, *at, f"{found[name]:d}", **middle)
        for column, name in enumerate(methods):
            at = place(len(table), column)
            style.write(axes, *at, f"{averages[name]:.1f}", fontweight="bold", **middle)
        _fill(axes, corners, (0.96, 0.92), tints)
        _name_cells(axes, *((rows, methods) if narrow else (methods, rows)))

    wide = (WIDE, 40 + 28 * len(rows))
    return Figure(name, title, draw, wide, (NARROW, 95 + 26 * len(methods)))


def _tint(rank: int, first: int, last: int) -> tuple[float, float, float, float]:
    """Return the color of a cell: the deeper, the farther from the border of the two colors."""
    from matplotlib.colors import to_rgba

    if rank <= first:
        return to_rgba(PALETTE["plus"], _DEEPEST * (first - rank + 1) / first)
    return to_rgba(PALETTE["minus"], _DEEPEST * (rank - first) / max(last - first, 1))


def _fill(axes: Any, corners: Sequence[Size], size: Size, tints: Sequence[Any]) -> None:
    """Draw rectangles, all of one size, without a border."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    shapes = [Rectangle(corner, *size) for corner in corners]
    axes.add_collection(PatchCollection(shapes, facecolors=tints, linewidths=0))


def _name_cells(axes: Any, across: Sequence[str], down: Sequence[str]) -> None:
    axes.set_xlim(-0.6, len(across) - 0.4)
    axes.set_ylim(len(down) - 0.4, -0.6)
    style.plain(axes)
    axes.xaxis.tick_top()
    style.name_ticks(axes, "x", range(len(across)), across)
    style.name_ticks(axes, "y", range(len(down)), down)
    axes.tick_params(labelcolor=PALETTE["ink"], labelsize=style.SMALL)
    cell = (style.pixels(axes)[0] - _NAMES) / len(across)
    if _LETTER * max(map(len, across)) > cell:
        axes.tick_params(axis="x", rotation=90)
