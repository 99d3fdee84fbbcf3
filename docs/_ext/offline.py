"""Hold the built pages to loading nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

# Links that a reader may follow are fine; what a browser fetches by itself is not.
_LOADS = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b"
    r"[^>]*?\bsrc(?:set)?\s*=\s*[\"']?\s*((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?=[^>]*\brel\s*=\s*[\"']?(?:stylesheet|preload|preconnect|icon|manifest|shortcut))"
    r"[^>]*?\bhref\s*=\s*[\"']?\s*((?:https?:)?//[^\"'\s>]+)",
    re.IGNORECASE,
)
_STYLE_LOADS = re.compile(
    r"(?:@import\s+|url\()\s*(?:url\()?[\"']?((?:https?:)?//[^\"')\s]+)", re.IGNORECASE
)


def external_loads(text: str, *, is_style: bool = False) -> list[str]:
    """Return the addresses elsewhere that a browser would fetch for this page or style sheet.

    Examples
    --------
    >>> external_loads('<a href="https://a.org"><script src="//b.org/c.js"><img src="d.png">')
    ['//b.org/c.js']
    >>> external_loads('<link href="https://e.org/f.css" rel="stylesheet">')
    ['https://e.org/f.css']
    >>> external_loads("@import url(https://g.org/h.css); a { src: url(i.woff) }", is_style=True)
    ['https://g.org/h.css']
    """
    pattern = _STYLE_LOADS if is_style else _LOADS
    return [next(filter(None, match.groups())) for match in pattern.finditer(text)]


def check_site(app: Any, exception: Exception | None) -> None:
    """Fail the build if a page of it would fetch something."""
    if exception is not None or app.builder.format != "html":
        return
    from sphinx.errors import ExtensionError

    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in (".html", ".css"):
            found = external_loads(path.read_text("utf-8"), is_style=path.suffix == ".css")
            if found:
                raise ExtensionError(
                    f"the site should load nothing from elsewhere; {path} loads {found[0]}. "
                    f"Leave it out, or keep a copy in docs/_static."
                )


def setup(app: Any) -> dict[str, bool]:
    """Register the check."""
    app.connect("build-finished", check_site)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
