"""The files of a release agree; `make release-check` does the rest."""

import re
from importlib import metadata

from release import facts

from orthoselect import __version__


def test_changelog_citation_and_recipe_are_of_this_version():
    assert facts.version() == __version__
    assert facts.wrong_in_all() == []


def test_a_newer_version_would_have_to_be_told_everywhere(monkeypatch):
    monkeypatch.setattr(facts, "version", lambda: "9.9.9")
    told = " ".join(facts.wrong_in_all())
    for name in ("CHANGELOG.md", "CITATION.cff", "conda/recipe.yaml"):
        assert name in told


def test_a_new_dependency_would_have_to_be_in_the_recipe(monkeypatch):
    known = facts.dependencies()
    monkeypatch.setattr(facts, "dependencies", lambda: [*known, "another>=1.0"])
    assert "another >=1.0" in " ".join(facts.wrong_in_all())


def test_files_that_an_sdist_lacks_are_named():
    tracked = ["a.py", ".github/dependabot.yml", "docs/b.md"]
    assert facts.missing_from_sdist(tracked, ["a.py"]) == ["docs/b.md"]


def test_actions_are_pinned_by_commit():
    workflows = list((facts.ROOT / ".github/workflows").glob("*.yml"))
    used = [
        line.strip()
        for file in workflows
        for line in file.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(- )?uses:", line)
    ]
    assert all(re.search(r"@[0-9a-f]{40} # v\d", line) for line in used), used
    assert used or not workflows  # an sdist has none


def test_the_installed_version_is_that_of_the_sources():
    assert metadata.version("orthoselect") == __version__
