"""What all charts share: colors, markers, labels, and where a figure comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from orthoselect.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Every role has a color that no other role has: `to_svg` knows the role by it. The first four
# series differ by 18 or more (CIELAB) for each kind of color blindness; markers tell all apart.
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
}
N_COLORS = 8
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
TEXT, SMALL = 12, 11  # sizes of type, in points (pixels of an SVG)

# What XML or HTML cannot hold (controls, lone surrogates), and what would turn the text around.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
NAMELESS = "(no name)"


def replace_unfit(text: str) -> str:
    """Replace characters that cannot be shown; spaces and line breaks stay."""
    return _UNFIT.sub("\ufffd", text)


def clean(text: object) -> str:
    r"""Return text on one line, with what cannot be shown replaced.

    Examples
    --------
    >>> clean("two\nlines")
    'two lines'
    """
    return " ".join(replace_unfit(str(text)).split())


def shorten(text: object, width: int) -> str:
    """Return the text in at most `width` characters, its middle left out if need be.

    Names that begin alike often end differently, so the end is kept.

    Examples
    --------
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
    """Return the marker of the series; color and marker together repeat after 64."""
    return MARKERS[(number + number // N_COLORS) % len(MARKERS)]


def require_matplotlib() -> None:
    """Raise an InputError that says what to install if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as missing:
        raise InputError(
            "drawing needs matplotlib; install it with `pip install 'orthoselect[report]'`."
        ) from missing


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


def legend(axes: Axes, handles: Sequence[Any], names: Sequence[str], **looks: Any) -> None:
    """Draw a legend; names may begin with an underscore or hold dollar signs."""
    # matplotlib leaves out names that begin with an underscore, so they come in afterwards.
    made = axes.legend(list(handles), ["-"] * len(handles), frameon=False, fontsize=SMALL, **looks)
    for text, name in zip(made.get_texts(), names):
        text.set_parse_math(False)
        text.set_text(name)
        text.set_color(PALETTE["ink"])
