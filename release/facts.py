"""What the files of a release say about each other: one version, one list of dependencies.

Each function returns what is wrong, in words; nothing is built, so the tests ask them too.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]

# What a release does not need to contain: it is for those who work in the repository.
NOT_IN_SDIST = (".github/", ".gitignore", ".pre-commit-config.yaml")


def version() -> str:
    """Return the version, from its one place."""
    text = (ROOT / "src/orthoselect/versions.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)[1]


def dependencies() -> list[str]:
    """Return what an installation needs, as in pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "dependencies"
    ]


def wrong_in_changelog() -> list[str]:
    """Return what is wrong if the newest section is not that of this version."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    newest = headings[0] if headings else None
    if newest == version():
        return []
    return [f"CHANGELOG.md should begin with a section [{version()}], got [{newest}]."]


def wrong_in_citation() -> list[str]:
    """Return what is wrong if CITATION.cff is of another version."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = re.search(r"^version: (.+)$", text, re.MULTILINE)[1].strip("\"'")
    return [] if cited == version() else [f"CITATION.cff should be of {version()}, got {cited}."]


def wrong_in_recipe() -> list[str]:
    """Return what is wrong if the conda recipe has another version, or other dependencies."""
    text = (ROOT / "conda/recipe.yaml").read_text(encoding="utf-8")
    found = re.search(r'^  version: "(.+)"$', text, re.MULTILINE)[1]
    run = re.search(r"^  run:\n((?:    - .+\n)+)", text, re.MULTILINE)[1]
    needed = [line.removeprefix("    - ") for line in run.splitlines()]
    wanted = ["python", *(re.sub(r"(?=>=)", " ", one) for one in dependencies())]
    wrong = [] if found == version() else [f"conda/recipe.yaml: expected {version()}, got {found}."]
    if needed != wanted:
        wrong.append(f"conda/recipe.yaml should need {wanted}, got {needed}.")
    return wrong


def wrong_in_all() -> list[str]:
    """Return all that is wrong."""
    return [*wrong_in_changelog(), *wrong_in_citation(), *wrong_in_recipe()]


def missing_from_sdist(tracked: list[str], packed: list[str]) -> list[str]:
    """Return the files of the repository that are not in the sdist and should be."""
    wanted = [name for name in tracked if not name.startswith(NOT_IN_SDIST)]
    return sorted(set(wanted) - set(packed))
