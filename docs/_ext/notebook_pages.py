"""Show notebooks as pages: their text, their code, and what is stored that the code printed.

Nothing is run here. The tests run the notebooks and compare what they print with what is stored.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def _fence(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def _printed(output: dict[str, Any]) -> str:
    return "".join(output["text"] if "text" in output else output["data"]["text/plain"])


def to_markdown(notebook: str, name: str) -> str:
    r"""Return a page with the cells of a notebook, which readers can download by its name.

    Examples
    --------
    >>> code = {"cell_type": "code", "source": ["1 + 1"], "outputs": [{"text": ["2"]}]}
    >>> title = {"cell_type": "markdown", "source": ["# Sums"]}
    >>> page = to_markdown(json.dumps({"cells": [title, code]}), "sums.ipynb").split("\n\n")
    >>> page[:2]
    ['# Sums', '{download}`Download this notebook <sums.ipynb>`']
    >>> page[2:]
    ['```python\n1 + 1\n```', '```text\n2\n```']
    """
    parts = []
    for cell in json.loads(notebook)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            printed = "".join(map(_printed, cell["outputs"]))
            parts.append(_fence("python", source))
            parts += [_fence("text", printed)] if printed.strip() else []
    title, _, rest = parts[0].partition("\n")
    parts[:1] = [title, f"{{download}}`Download this notebook <{name}>`", rest.strip()]
    return "\n\n".join(filter(None, parts))


def show_notebook(app: Any, docname: str, source: list[str]) -> None:
    """Turn the source of a page that is a notebook into Markdown."""
    path = Path(app.env.doc2path(docname))
    if path.suffix == ".ipynb":
        source[0] = to_markdown(source[0], path.name)


def setup(app: Any) -> dict[str, bool]:
    """Register it, before what else changes sources."""
    app.connect("source-read", show_notebook, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
