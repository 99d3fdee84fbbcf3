"""A figure as SVG text that sits inside a page: its colors, fonts and width are the page's."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from orthoselect.plots.style import PALETTE, clean, default_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROLES = {color: f"var(--chart-{role}, {color})" for role, color in PALETTE.items()}
_NUMBER = re.compile(r"-?\d+\.\d+")
_VARIABLE = re.compile(r"var\(--chart-[\w-]+, (#\w+)\)")
_LINK = re.compile(r"(^|url\()#([^)\s]+)")


def to_svg(figure: Figure, label: str, *, prefix: str | None = None) -> str:
    """Return the figure as one SVG element for the inside of an HTML page.

    Colors of the palette become CSS variables (``--chart-ink`` and so on), text stays text in the
    page's font, and nothing but the figure itself is styled.

    Parameters
    ----------
    figure : matplotlib Figure
    label : str
        What the chart shows, for those who do not see it.
    prefix : str, optional
        What the ids in it begin with; no two on a page may be equal. By default it is made from
        what the figure shows.

    Returns
    -------
    svg : str

    Examples
    --------
    >>> from orthoselect.plots import new_figure, to_svg
    >>> figure = new_figure(100, 50)
    >>> to_svg(figure, "nothing").startswith('<svg viewBox="0 0 100 50" role="img"')
    True
    """
    root = ET.fromstring(_drawn(figure))
    _strip(root)
    # A digest of what is drawn: other figures get other ids, the same figure the same ones.
    prefix = prefix or "c" + hashlib.sha256(ET.tostring(root) + label.encode()).hexdigest()[:10]
    for element in root.iter():
        _tidy(element)
    _rename(root, prefix)
    _flatten(root)
    width, height = (round(72 * inches, 2) for inches in figure.get_size_inches())
    root.attrib = {
        "viewBox": f"0 0 {width:g} {height:g}",
        "role": "img",
        "aria-label": clean(label),
        "style": f"--width: {width:g}px; stroke-linejoin: round",
    }
    return ET.tostring(root, encoding="unicode")


def as_file(svg: str) -> str:
    """Return what `to_svg` gave as a file of its own: on white, in the light colors.

    >>> from orthoselect.plots import new_figure, to_svg
    >>> "var(" in as_file(to_svg(new_figure(100, 50), "nothing"))
    False
    """
    root = ET.fromstring(_VARIABLE.sub(r"\1", svg))
    _, _, width, height = root.attrib["viewBox"].split()
    root.insert(0, ET.Element("rect", width=width, height=height, fill=PALETTE["paper"]))
    root.attrib |= {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": width,
        "height": height,
        "style": "font-family: sans-serif; stroke-linejoin: round",
    }
    # Browsers of today read plain href, other programs that of XLink only.
    for element in root.iter("use"):
        element.attrib["xlink:href"] = element.attrib.pop("href")
        root.attrib["xmlns:xlink"] = "http://www.w3.org/1999/xlink"
    return ET.tostring(root, encoding="unicode") + "\n"


def _drawn(figure: Figure) -> bytes:
    """Draw with the default settings, whatever the user's are, and text as text."""
    buffer = io.BytesIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": "orthoselect"}
    # Names in scripts that the font lacks are only measured with it; the browser has the glyphs.
    with default_settings(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    return buffer.getvalue()


def _strip(root: ET.Element) -> None:
    """Drop namespaces, line breaks, metadata, and the style sheet that would reach the page."""
    for element in list(root.iter()):
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
        element[:] = [child for child in element if not child.tag.endswith(("}metadata", "}style"))]
        element.tail = None
        if element.tag != "text":
            element.text = None


def _tidy(element: ET.Element) -> None:
    """Replace colors of the palette by variables and fonts by the page's, and round numbers."""
    if "style" in element.attrib:
        declared = []
        for declaration in element.attrib["style"].split(";"):
            name, _, value = (part.strip() for part in declaration.partition(":"))
            if name == "font":
                declared.append("font-size: " + value.split("px")[0].split()[-1] + "px")
            elif name and name != "font-family":
                declared.append(f"{name}: {_ROLES.get(value.lower(), value)}")
        element.attrib["style"] = "; ".join(declared)
    # Two decimals of a pixel are more than a screen shows, and half the text.
    for name in ("d", "x", "y", "transform", "points"):
        if name in element.attrib:
            shorter = _NUMBER.sub(lambda n: f"{float(n[0]):.2f}", element.attrib[name])
            element.attrib[name] = " ".join(shorter.split())
    if element.attrib.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]


def _rename(root: ET.Element, prefix: str) -> None:
    """Give every id that is referred to a name of its own, and drop the others."""
    values = [value for element in root.iter() for value in element.attrib.values()]
    used = dict.fromkeys(found[2] for value in values for found in _LINK.finditer(value))
    names = {old: f"{prefix}-{number}" for number, old in enumerate(used)}
    for element in root.iter():
        identity = names.get(element.attrib.pop("id", ""))
        for name, value in element.attrib.items():
            element.attrib[name] = _LINK.sub(lambda link: f"{link[1]}#{names[link[2]]}", value)
        if identity is not None:
            element.attrib["id"] = identity


def _flatten(parent: ET.Element) -> None:
    """Take out groups that say nothing and shapes that nobody sees; say a common style once."""
    styles = {child.attrib.get("style", "") for child in parent}
    points = parent.tag == "g" and len(parent) > 1 and all(child.tag == "use" for child in parent)
    style = styles.pop() if points and len(styles) == 1 else ""
    if style:
        parent.attrib["style"] = style
        for child in parent:
            del child.attrib["style"]
    kept: list[ET.Element] = []
    for child in parent:
        _flatten(child)
        unseen = child.tag == "path" and child.attrib.get("style") == "fill: none"
        if child.tag == "g" and not child.attrib:
            kept.extend(child)
        elif not unseen and (len(child) or child.tag not in ("g", "defs")):
            kept.append(child)
    parent[:] = kept
