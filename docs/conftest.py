"""The pages hold examples that are tested; what is built from them holds copies."""

from pathlib import Path

import pytest

collect_ignore = ["conf.py", "_build", "gallery", "generated"]


@pytest.fixture(autouse=True)
def beside_the_file(request, monkeypatch):
    """Run the tutorial where its readers are: in the folder of the file they have saved."""
    if request.node.name == "tutorial.md":
        monkeypatch.chdir(Path(__file__).parent / "files")
