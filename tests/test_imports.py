"""Who may import whom, and what a plain import brings along."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OPTIONAL = ["pandas", "polars", "pyarrow", "matplotlib", "dask"]


def run(code, *flags):
    done = subprocess.run(
        [sys.executable, *flags, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_imports_follow_the_contract():
    pytest.importorskip("importlinter")
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_plain_import_brings_no_optional_library():
    """Nor scikit-learn, which looks for dataframe libraries itself; selectors load it."""
    code = "import sys, orthoselect; print([m for m in {} if m in sys.modules])"
    others = ["sklearn", "typer", "rich", "jinja2"]
    assert run(code.format([*OPTIONAL, *others])).strip() == "[]"


def test_the_command_starts_light():
    """Asked for its methods it loads neither scikit-learn nor what reports and files need."""
    code = """
import sys
from orthoselect.cli import main
try:
    main(["methods"])
except SystemExit:
    print([m for m in {} if m in sys.modules])
"""
    said = run(code.format([*OPTIONAL, "sklearn", "jinja2", "joblib"]))
    assert said.splitlines()[-1] == "[]"


def test_the_command_needs_no_extra_for_arrays():
    """Built-in data sets are selected from without pyarrow and matplotlib."""
    code = f"""
import sys

class Forbidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {OPTIONAL}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Forbidden())
from orthoselect.cli import main
try:
    main(["select", "iris", "-k", "1", "-f", "csv"])
except SystemExit as left:
    print(left.code)
try:
    main(["select", "iris", "-k", "1", "-q", "--report", "never.html"])
except SystemExit as left:
    print(left.code)
"""
    lines = run(code).splitlines()
    assert lines[1].startswith("1,2,petal length (cm),")
    assert lines[2] == "0"
    assert lines[-1] == "2"
    assert not Path("never.html").exists()


def test_modules_import_no_optional_library_when_imported():
    """scikit-learn may have brought one along already, so look into the source too."""
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "studies").rglob("*.py")]:
        for node in ast.parse(path.read_text()).body:
            names = [alias.name for alias in getattr(node, "names", [])]
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else names
            assert not {name.split(".")[0] for name in names} & set(OPTIONAL), path


def test_arrays_need_no_optional_library():
    """The library, a selection and a transformation with every optional import forbidden."""
    code = f"""
import sys

class Forbidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {OPTIONAL}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Forbidden())
import numpy as np, scipy.sparse as sp
from orthoselect import OrthogonalSelector, select
X = np.random.default_rng(0).normal(size=(30, 4))
y = np.array(["a", "b"])[(X[:, 1] > 0).astype(int)]
print(select(X, y, 2)[0].name, select(sp.csr_array(X), y, 2)[0].name)
print(OrthogonalSelector(2).fit(X.astype(object), y.tolist()).transform(X).shape)
"""
    assert run(code).split("\n")[:2] == ["x1 x1", "(30, 2)"]


def test_import_warns_of_nothing():
    run("import orthoselect", "-W", "error")


def test_public_names_exist():
    import orthoselect

    for name in orthoselect.__all__:
        assert getattr(orthoselect, name) is not None
