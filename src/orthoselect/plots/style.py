"""What all charts share: figures, colors, markers, points, and what is written on them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from orthoselect.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Every role has a color that no other role has: `to_svg` knows the role by it. The first four
# series differ by 18 or more (CIELAB) for each kind of color blindness, all ten by 25 or more to
# eyes that see all colors. Markers tell all apart.
PALETTE = {
    "ink": "#1c2430",
    "muted": "#566070",
    "line": "#d5dbe2",
    "paper": "#ffffff",
    "accent": "#0f5ea8",
    "faint": "#bcd3ea",
    "plus": "#2a6fb5",
    "minus": "#b5541a",
    "series-1": "#1763b0",
    "series-2": "#d46f10",
    "series-3": "#12936f",
    "series-4": "#8a1c50",
    "series-5": "#9278dd",
    "series-6": "#5c4a00",
    "series-7": "#2f97bd",
    "series-8": "#6b7480",
    "series-9": "#d8324f",
    "series-10": "#5a9a2a",
}
N_COLORS = 10
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHED = (0, (4, 3))
TEXT, SMALL = 12, 11  # sizes of type, in points (pixels of an SVG)

# What XML or HTML cannot hold (controls, lone surrogates), and what would turn the text around.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
NAMELESS = "(no name)"

# Where a curve ends (x and y), what it is called, its color and dash.
End = tuple[float, float, str, str, Any]
ROW = 15.0  # pixels between two names
_WIDEST = 22
# Nothing is cut off the line from a name to its curve: that took a fifth of the time of a chart.
_LEADER = {"arrowstyle": "-", "lw": 1.2, "relpos": (-0.06, 0.5), "patchA": None}
_LEADER |= {"shrinkA": 0.0, "shrinkB": 0.0}


def replace_unfit(text: str) -> str:
    """Replace characters that cannot be shown; spaces and line breaks stay."""
    return _UNFIT.sub("\ufffd", text)


def clean(text: object) -> str:
    r"""Return text on one line, with what cannot be shown replaced.

    >>> clean("two\nlines")
    'two lines'
    """
    return " ".join(replace_unfit(str(text)).split())


def shorten(text: object, width: int) -> str:
    """Return the text in at most `width` characters, its middle left out if need be.

    Names that begin alike often end differently, so the end is kept.

    >>> shorten("mean concave points of the left cell", 16)
    'mean conca… cell'
    """
    line = clean(text)
    if len(line) <= width:
        return line
    tail = (width - 1) // 3
    return f"{line[: width - 1 - tail]}…{line[len(line) - tail :]}"


def series_color(number: int) -> str:
    """Return the color of the series with this number, counted from 0."""
    return PALETTE[f"series-{number % N_COLORS + 1}"]


def series_marker(number: int) -> str:
    """Return the marker of the series; color and marker together repeat after 80."""
    return MARKERS[(number + number // N_COLORS) % len(MARKERS)]


def require_matplotlib() -> None:
    """Raise an InputError that says what to install if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as missing:
        raise InputError(
            "drawing needs matplotlib; install it with `pip install 'orthoselect[report]'`."
        ) from missing


@contextmanager
def default_settings(settings: Any = ()) -> Iterator[None]:
    """Draw alike, with these settings of matplotlib's, whatever the user's are."""
    require_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of so many pixels that belongs to no window.

    Examples
    --------
    >>> new_figure(360, 144).get_size_inches().tolist()
    [5.0, 2.0]
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width / 72, height / 72), dpi=72, layout="constrained")


def new_axes(width: float, height: float) -> Axes:
    """Return the axes of a new pyplot figure, which notebooks and `plt.show()` show.

    For those who call `plot()` without axes; pages draw on `new_figure` and leave pyplot alone.
    """
    require_matplotlib()
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(width / 72, height / 72), layout="constrained")
    return axes


def plain(axes: Axes, *, grid: Literal["x", "y"] | None = None) -> None:
    """Dress the axes: no box, thin lines, quiet ticks, a grid along the axis "x" or "y"."""
    axes.set_facecolor("none")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(
        length=0, labelsize=SMALL, labelcolor=PALETTE["muted"], color=PALETTE["line"], pad=5
    )
    axes.grid(False)
    if grid is not None:
        axes.grid(True, axis=grid, color=PALETTE["line"], linewidth=0.8)
    axes.set_axisbelow(True)
    for text in (axes.xaxis.label, axes.yaxis.label):
        text.set_color(PALETTE["muted"])
        text.set_fontsize(TEXT)
        text.set_parse_math(False)


def whole_numbers(axes: Axes) -> None:
    """Let the ticks of the x axis be whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=True, min_n_ticks=1))


def pixels(axes: Axes) -> tuple[float, float]:
    """Return width and height of the figure in pixels of an SVG."""
    figure = axes.figure
    return figure.bbox.width * 72 / figure.dpi, figure.bbox.height * 72 / figure.dpi


def write(axes: Axes, x: float, y: float, text: str, **looks: Any) -> Any:
    """Write text that is never read as mathematics; say `xycoords` for other coordinates."""
    looks = {"color": PALETTE["ink"], "fontsize": SMALL, **looks}
    return axes.annotate(text, (x, y), parse_math=False, annotation_clip=False, **looks)


def name_ticks(axes: Axes, axis: str, places: Sequence[float], names: Sequence[str]) -> None:
    """Put names at places along the axis "x" or "y"."""
    put = axes.set_xticks if axis == "x" else axes.set_yticks
    put(list(places), [name or NAMELESS for name in names], parse_math=False)


def name_rows(axes: Axes, places: Sequence[float], names: Sequence[str]) -> None:
    """Put the names of rows, which are read first, along the y axis."""
    name_ticks(axes, "y", places, names)
    axes.tick_params(axis="y", labelcolor=PALETTE["ink"])


def dots(axes: Axes, points: Sequence[Sequence[float]], size: float, **looks: Any) -> list[Any]:
    """Draw points, pairs of x and y, without a line between them."""
    x, y = [point[0] for point in points], [point[1] for point in points]
    looks = {"marker": "o", "markersize": size, "markeredgewidth": 0, **looks}
    return axes.plot(x, y, linestyle="", **looks)


def legend(axes: Axes, handles: Sequence[Any], names: Sequence[str], **looks: Any) -> None:
    """Draw a legend; names may begin with an underscore or hold dollar signs."""
    # matplotlib leaves out names that begin with an underscore, so they come in afterwards.
    made = axes.legend(list(handles), ["-"] * len(handles), frameon=False, fontsize=SMALL, **looks)
    for text, name in zip(made.get_texts(), names):
        text.set_parse_math(False)
        text.set_text(name)
        text.set_color(PALETTE["ink"])


def name_ends(ends: Sequence[End], axes: Axes, height: float) -> None:
    """Write the name of each curve right of its end, with a line from the one to the other.

    The limits of the axes should be final; they are about `height` pixels (of an SVG) high.

    >>> from orthoselect.plots import new_figure
    >>> axes = new_figure(300, 200).subplots()
    >>> ends = [(1, 0.5, "socc", "#0f5ea8", "-"), (1, 0.5, "mim", "#b5541a", "-")]
    >>> name_ends(ends, axes, 150)
    >>> [text.get_text() for text in axes.texts]
    ['socc', 'mim']
    """
    low, high = axes.get_ylim()
    scale = height / ((high - low) or 1.0)
    ranked = sorted(((max(y, low), *rest) for _, y, *rest in ends), key=lambda end: -end[0])
    heights = apart([end[0] * scale for end in ranked], ROW)
    if heights:  # none is above the axes, and few are below them
        shift = min(max(low * scale - heights[-1], 0.0), high * scale - heights[0])
        heights = [place + shift for place in heights]
    right = max((end[0] for end in ends), default=1)
    for (y, name, color, dash), place in zip(ranked, heights):
        write(
            axes,
            right,
            y,
            shorten(name, _WIDEST),
            xytext=(22, place - y * scale),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            arrowprops={**_LEADER, "color": color, "linestyle": dash},
        )


def apart(heights: Sequence[float], gap: float) -> list[float]:
    """Move falling heights as little as is simple until neighbors are `gap` apart.

    >>> apart([10.0, 9.0, 1.0], 4.0)
    [11.0, 7.0, 2.0]
    """
    placed: list[float] = []
    for height in heights:
        placed.append(min(height, placed[-1] - gap) if placed else height)
    shift = sum(a - b for a, b in zip(heights, placed)) / len(placed) if placed else 0.0
    return [height + shift for height in placed]
