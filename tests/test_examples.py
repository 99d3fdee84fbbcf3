"""Every example runs without a warning and says or draws something."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
# Run a script, then tell how many figures it leaves; nothing can be shown here, which is no news.
DRAW = """
import runpy, sys, warnings
import matplotlib.pyplot as plt
warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
print("figures:", len(plt.get_fignums()))
"""


def draws(script):
    return script.name.startswith("plot_")


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-W", "error", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "script", [path for path in EXAMPLES if not draws(path)], ids=lambda path: path.name
)
def test_example_runs(script):
    assert len(run(script)) > 3


@pytest.mark.parametrize("script", list(filter(draws, EXAMPLES)), ids=lambda path: path.name)
def test_example_draws(script, tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "figure.png"
    *said, figures = run("-c", DRAW, script, file)
    assert said
    assert figures == "figures: 1"
    assert file.exists() == (script.name == "plot_path.py")  # it alone writes, and where it is told


def test_readme_says_of_us_what_the_peers_table_does():
    pytest.importorskip("pandas")
    readme = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
    said = dict(re.findall(r"^\| (\S[^|]*?) +\| (\S[^|]*?) +\|", readme, re.MULTILINE))
    peers = runpy.run_path(str(EXAMPLES[0].parent / "peers.py"))
    for what, trial in peers["TRIALS"].items():
        found = peers["outcome"](trial, peers["Orthogonal"]())
        if "memory" in what:  # which depends on the machine, as do seconds
            assert what in said
        else:
            assert said[what].partition(",")[0] == found.partition(",")[0], what
    assert set(peers["MODELS"]) <= set(said)
