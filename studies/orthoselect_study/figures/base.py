"""What a figure is: a drawing in two widths, a name, and the files it is saved in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthoselect.lazy import lazy
from orthoselect.output import replacing
from orthoselect.plots.style import PALETTE, TEXT, new_figure, require_matplotlib
from orthoselect.plots.svg import as_file, to_svg
from orthoselect.show.charts import in_two_widths

if TYPE_CHECKING:
    from markupsafe import Markup

_DPI = 110
Size = tuple[float, float]


@dataclass(frozen=True)
class Drawing:
    """What is drawn, and how large.

    Attributes
    ----------
    draw : callable
        Draws on a `matplotlib.figure.Figure`, told whether it is the narrow one.
    wide, narrow : tuple of float
        Width and height in pixels, for wide screens and paper and for phones.
    """

    draw: Callable[[Any, bool], None]
    wide: Size
    narrow: Size

    def on_canvas(self, *, narrow: bool = False) -> Any:
        """Return a new figure with the drawing, everything in its place."""
        with _default_settings():
            canvas: Any = new_figure(*(self.narrow if narrow else self.wide))
            self.draw(canvas, narrow)
            canvas.get_layout_engine().execute(canvas)
            canvas.set_layout_engine("none")  # places are found: files of all kinds keep them
        return canvas


@dataclass(frozen=True)
class Figure:
    """A figure of a report.

    Attributes
    ----------
    name : str
        For file names.
    title : str
    drawing : Drawing
    """

    name: str
    title: str
    drawing: Drawing

    @property
    def _label(self) -> str:
        return f"{self.title}. The numbers are in the tables of this section."

    @lazy
    def _canvas(self) -> Any:
        return self.drawing.on_canvas()

    @lazy
    def _wide(self) -> str:
        return to_svg(self._canvas, self._label, prefix=f"{self.name}-w")

    def save(self, folder: Path) -> dict[str, str]:
        """Write NAME.png and NAME.svg; return name, title and the names of the files."""
        files = {kind: f"{self.name}.{kind}" for kind in ("png", "svg")}
        canvas = self._canvas
        with replacing(folder / files["png"]) as temporary, _default_settings():
            canvas.savefig(temporary, format="png", dpi=_DPI, metadata={"Software": None})
        with replacing(folder / files["svg"]) as temporary:
            temporary.write_text(as_file(self._wide), encoding="utf-8")
        return {"name": self.name, "title": self.title, **files}

    def chart(self) -> Markup:
        """Return the figure for a page, wide and narrow."""
        canvas = self.drawing.on_canvas(narrow=True)
        return in_two_widths(self._wide, to_svg(canvas, self._label, prefix=f"{self.name}-n"))


@contextmanager
def _default_settings() -> Iterator[None]:
    """Draw alike whatever the user's settings are."""
    require_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        yield


def head(axes: Any, text: str) -> None:
    """Write what a panel shows above it."""
    axes.set_title(
        text, loc="left", fontsize=TEXT, color=PALETTE["ink"], parse_math=False, fontweight="bold"
    )
