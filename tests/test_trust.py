"""What docs/trust.md promises, where no other test shows it: no code from files, no network."""

import io
import os
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from orthoselect import GramStatistics, RowBlocks, select
from orthoselect.errors import InputError
from orthoselect.methods import METHODS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/trust.md"


class Bomb:
    """A value whose pickle leaves a file behind when it is opened."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def as_npy(bomb):
    content = io.BytesIO()
    np.save(content, np.array([bomb, bomb], dtype=object), allow_pickle=True)
    return content.getvalue()


def as_npz(bomb, names=("X.npy", "y.npy")):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, as_npy(bomb))
    return content.getvalue()


FILES = {
    "array.npy": as_npy,
    "arrays.npz": as_npz,
    "sparse.npz": lambda bomb: as_npz(bomb, ["data.npy", "indices.npy", "indptr.npy", "shape.npy"]),
    **{f"pickle.{ending}": pickle.dumps for ending in ("npy", "npz", "csv", "parquet", "pkl")},
}


@pytest.fixture
def trace(tmp_path):
    return tmp_path / "trace"


def test_the_bombs_of_these_tests_do_go_off(trace):
    np.load(io.BytesIO(as_npy(Bomb(trace))), allow_pickle=True)
    assert trace.exists()


@pytest.mark.parametrize("name", FILES)
def test_no_file_given_as_data_runs_code(name, trace, tmp_path):
    file = tmp_path / name
    file.write_bytes(FILES[name](Bomb(trace)))
    with pytest.raises((InputError, OSError, ImportError)):
        select(file, "y", 1)
    with pytest.raises(InputError):
        GramStatistics.load(file)
    assert not trace.exists()


def test_no_array_among_saved_statistics_runs_code(trace, tmp_path, rng):
    file = tmp_path / "statistics.npz"
    GramStatistics.of(rng.normal(size=(20, 3)), rng.normal(size=20)).save(file)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    arrays = [name for name in members if name.endswith(".npy")]
    assert arrays
    for spoiled in arrays:
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, as_npy(Bomb(trace)) if name == spoiled else content)
        with pytest.raises(InputError):
            GramStatistics.load(file)
    assert not trace.exists()


# Python itself reports every attempt to reach the network, whichever library makes it.
FORBID_NETWORK = """
import sys

def refuse(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.client.")) and event != "socket.__new__":
        print("reached for the network:", event, arguments, file=sys.stderr, flush=True)
        import os
        os._exit(99)

sys.addaudithook(refuse)
"""
USE_EVERYTHING = """
import pathlib, warnings
import numpy as np
from orthoselect import GramStatistics, OrthogonalSelector, compare, report, select, stability

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 6))
y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
np.savetxt("table.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,d,e,f,y", comments="")
path = select("table.csv", "y", 3)
path.report("path.html")
OrthogonalSelector(2).fit(X, y)
stability(X, y, 2, n_pairs=2)
compare(X, y, ["socc", "lasso"], sizes=[1, 2], folds=2).report("compared.html")
GramStatistics.of(X, y).save("kept.npz")
GramStatistics.load("kept.npz").select(2)
from orthoselect.cli import main
try:
    main(["select", "table.csv", "--target", "y", "-k", "2", "--quiet", "--report", "command.html"])
except SystemExit as end:
    assert not end.code, end.code
assert pathlib.Path("command.html").stat().st_size > 1000
print("done")
"""


def run_without_network(script, folder):
    return subprocess.run(
        [sys.executable, "-c", FORBID_NETWORK + script],
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
    )


def test_an_attempt_to_reach_the_network_is_noticed(tmp_path):
    script = "import socket; socket.create_connection(('localhost', 9))"
    assert run_without_network(script, tmp_path).returncode == 99


def test_nothing_reaches_for_the_network(tmp_path):
    done = run_without_network(USE_EVERYTHING, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "done"


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"lasso", "elastic_net", "shapley"}))
def test_no_method_depends_on_the_number_of_threads(method, rng):
    X = rng.normal(size=(5000, 40))
    y = (X[:, 0] + X[:, 7] + rng.normal(size=5000) > 0).astype(int)
    tables = [X, sp.csr_array(X * (X > 1))]
    tables += [RowBlocks([X[:2000], X[2000:]])] if METHODS[method].takes_blocks else []
    y = y if METHODS[method].needs_target else None
    for table in tables:
        found = set()
        for n_threads in (1, 2, 3):
            with threadpool_limits(n_threads):
                target = y if METHODS[method].needs_target else None
                path = select(table, target, 4, method=method)
            found.add((tuple(path.features), tuple(path.gains)))  # to the last digit
        assert len(found) == 1


def commands():
    return re.findall(r"^python -m pytest (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_names_commands():
    assert len(commands()) >= 5


@pytest.mark.parametrize("command", commands())
def test_every_command_of_the_page_names_tests_that_exist(command):
    paths, _, words = command.partition(" -k ")
    for path in paths.split():
        assert (ROOT / path).exists(), path
    claims = "\n".join(
        line
        for path in paths.split()
        for file in ([ROOT / path] if (ROOT / path).is_file() else (ROOT / path).rglob("test_*.py"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("def test")
    )
    for word in re.findall(r"\w+", words.strip("'\"")):
        assert word == "or" or word in claims, word
