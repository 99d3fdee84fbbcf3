"""The command: try one part or all of them, tell what is wrong, and write the page's tables."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import platform
import time
from pathlib import Path
from typing import Any

from fuzz.outcome import Outcome

# A part is a module with `run(minutes, seed)` that returns an `Outcome`, or the number of failures.
PARTS = ["problems", "files", "kernels"]
VERSIONS = ["numpy", "scipy", "pandas", "polars", "pyarrow", "dask"]
START, END = "<!-- last run: begin -->", "<!-- last run: end -->"


def main(arguments: list[str] | None = None) -> int:
    """Run the parts that were asked for; the exit code says whether anything was wrong."""
    options = _parser().parse_args(arguments)
    parts = PARTS if options.part == "all" else [options.part]
    wrong, tables = 0, []
    for part in parts:
        module = _module(part)
        if module is None:
            print(f"{part}: there is no fuzz/{part}.py; it is left out.")
            wrong += options.part != "all"
            continue
        print(f"{part}: seed {options.seed}, {options.minutes / len(parts):g} minutes")
        began = time.monotonic()
        found = _run(module, options, options.minutes / len(parts))
        minutes = (time.monotonic() - began) / 60
        if isinstance(found, Outcome):
            print(f"{found.summary()}, {minutes:.1f} minutes", found.markdown(), sep="\n\n")
            tables.append((found, minutes))
            wrong += found.n_wrong
        else:
            wrong += int(found or 0)
    if options.page is not None:
        _write(options.page, tables)
    return int(wrong > 0)


def _module(part: str) -> Any:
    name = f"fuzz.{part}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def _run(module: Any, options: argparse.Namespace, minutes: float) -> Any:
    """Call a part with those of the options that it takes."""
    given = {"only": options.only, "count": options.count}
    if options.families:
        given["families"] = options.families.split(",")
    given = {name: value for name, value in given.items() if value is not None}
    unknown = given.keys() - inspect.signature(module.run).parameters.keys()
    if unknown:
        said = ", ".join(f"--{name}" for name in sorted(unknown))
        raise SystemExit(f"python -m fuzz: {module.__name__} does not take {said}; leave it out.")
    return module.run(minutes, options.seed, **given)


def _write(page: Path, tables: list[tuple[Outcome, float]]) -> None:
    """Put the tables where the page has room for them."""
    versions = ", ".join(_version(name) for name in VERSIONS)
    lines = [f"{_version('orthoselect')}, Python {platform.python_version()}, {versions}."]
    for outcome, minutes in tables:
        lines += [
            f"### {outcome.part.capitalize()}",
            f"{outcome.summary()}, {minutes:.0f} minutes.",
        ]
        lines.append(outcome.markdown())
    told = "\n\n".join([START, *lines, END])
    text = page.read_text(encoding="utf-8") if page.exists() else f"{START}{END}\n"
    if START not in text or END not in text:
        raise SystemExit(f"python -m fuzz: {page} should hold {START!r} and {END!r}.")
    before, after = text[: text.index(START)], text[text.index(END) + len(END) :]
    page.write_text(before + told + after, encoding="utf-8")


def _version(name: str) -> str:
    try:
        return f"{name} {importlib.import_module(name).__version__}"
    except ImportError:
        return f"no {name}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    add = parser.add_argument
    add("part", nargs="?", choices=[*PARTS, "all"], default="all")
    add("--minutes", type=float, default=5.0, help="for all parts together")
    add("--seed", type=int, default=0)
    add("--only", type=int, metavar="NUMBER", help="one problem or file, by its number")
    add("--count", type=int, metavar="NUMBER", help="so many problems or files at most")
    add("--families", metavar="A,B", help="problems of these families only")
    add("--page", type=Path, metavar="FILE", help="write the tables into this page")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
