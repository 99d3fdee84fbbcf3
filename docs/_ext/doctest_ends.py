"""Leave out the blank line that ends an example of a page.

Doctest takes the closing fence for expected output without it; on a page it is a gap.
"""

from __future__ import annotations

import re
from typing import Any

_EXAMPLE = re.compile(r"(```python\n(?:(?!```).)*?)\n(?=\n *```)", re.DOTALL)


def without_gaps(text: str) -> str:
    r"""Return Markdown whose examples end without a blank line.

    Examples
    --------
    >>> without_gaps("```python\n>>> 1\n1\n\n```\n\n```")
    '```python\n>>> 1\n1\n```\n\n```'
    """
    return _EXAMPLE.sub(r"\1", text)


def close_gaps(app: Any, name: str, source: list[str]) -> None:
    """Mend the source of a page as it is read."""
    source[0] = without_gaps(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Register it."""
    app.connect("source-read", close_gaps)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
