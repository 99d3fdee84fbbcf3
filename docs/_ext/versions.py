"""Add a built site to a folder of sites, one for each version, that any static host can serve.

    python docs/_ext/versions.py docs/_build/html docs/_build/site

copies the site into a folder named after its version, writes `versions.json`, which the switch on
each page reads, and an `index.html` that leads to the latest release. A version that is there
already is replaced; others stay.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

_VERSION = re.compile(r'data-version="([^"]+)"')
_FIRST_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={folder}/index.html">
<link rel="canonical" href="{folder}/index.html">
<title>orthoselect</title>
<p>The documentation is in <a href="{folder}/index.html">{folder}</a>.</p>
</html>
"""


def version_of(built: Path) -> str:
    """Return the version that a built site says it is of."""
    found = _VERSION.search((built / "index.html").read_text("utf-8"))
    if found is None:
        raise SystemExit(f"{built}/index.html should name its version; build it with `make docs`.")
    return found[1]


def rank(version: str) -> tuple[bool, tuple[int, ...], bool]:
    """Return what versions are sorted by: developments of a release come before it.

    Examples
    --------
    >>> sorted(["0.10.0", "0.9.1", "1.0.0rc1", "0.10.0.dev3"], key=rank)
    ['0.9.1', '0.10.0.dev3', '0.10.0', '1.0.0rc1']
    """
    release = re.match(r"\d+(?:\.\d+)*", version)
    numbers = tuple(map(int, release[0].split("."))) if release else ()
    return bool(release), numbers, bool(release) and release[0] == version


def list_versions(folders: list[str]) -> list[dict[str, Any]]:
    """Return what `versions.json` holds, newest first; the latest is the newest release.

    Examples
    --------
    >>> for one in list_versions(["0.1.0", "0.2.0", "0.3.0.dev1"]):
    ...     print(one["version"], one["latest"])
    0.3.0.dev1 False
    0.2.0 True
    0.1.0 False
    """
    newest_first = sorted(folders, key=rank, reverse=True)
    latest = next((v for v in newest_first if rank(v)[2]), newest_first[0])
    return [{"version": v, "folder": v, "latest": v == latest} for v in newest_first]


def add_version(built: Path, site: Path) -> list[dict[str, Any]]:
    """Copy a built site into the folder of sites; return what its list of versions holds now."""
    version = version_of(built)
    shutil.rmtree(site / version, ignore_errors=True)
    shutil.copytree(built, site / version)
    versions = list_versions([page.parent.name for page in site.glob("*/index.html")])
    (site / "versions.json").write_text(json.dumps(versions, indent=1) + "\n", "utf-8")
    latest = next(one["folder"] for one in versions if one["latest"])
    (site / "index.html").write_text(_FIRST_PAGE.format(folder=latest), "utf-8")
    (site / ".nojekyll").touch()  # folders that begin with an underscore are served, too
    return versions


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    for one in add_version(Path(sys.argv[1]), Path(sys.argv[2])):
        print(one["version"], "(latest)" if one["latest"] else "")
