"""Each notebook runs from its first cell to its last, and prints what is stored in it."""

import ast
import contextlib
import io
import json
import tempfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def run(source, names):
    """Run a cell as a notebook does; return what it prints, then what its last line is worth."""
    cell = ast.parse(source)
    last = cell.body.pop() if isinstance(cell.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(cell, "cell", "exec"), names)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue() + ("" if value is None else repr(value))


def stored(cell):
    """Return what a cell printed when the notebook was written."""
    text = ""
    for output in cell["outputs"]:
        assert output["output_type"] in ("stream", "execute_result"), output
        assert output.get("name") != "stderr", output
        text += "".join(output.get("text") or output["data"]["text/plain"])
    return text


def in_words(text):
    return text.replace("'", '"').split()  # IPython prints dicts and lists over several lines


def test_there_are_notebooks_for_what_users_ask_first():
    names = [path.stem for path in NOTEBOOKS]
    assert names == ["first_table", "larger_than_memory", "pipeline", "text"]
    page = (FOLDER.parent / "notebooks.md").read_text("utf-8")
    assert all(f"notebooks/{name}.ipynb" in page for name in names)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_prints_what_is_stored_in_it(notebook, monkeypatch, tmp_path):
    pytest.importorskip("pandas")
    if notebook.stem == "larger_than_memory":
        pytest.importorskip("dask.dataframe")
    monkeypatch.chdir(FOLDER)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 5
    names = {"__name__": "__main__"}
    for cell in code:
        assert in_words(run("".join(cell["source"]), names)) == in_words(stored(cell))
