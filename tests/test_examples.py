"""Every example runs and says something."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize(
    "script",
    [path for path in sorted(EXAMPLES.glob("*.py")) if not path.name.startswith("plot_")],
    ids=lambda path: path.name,
)
def test_example_runs(script):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 3
