"""The command: parse, measure, print and write."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import Any

from benchmarks import (
    environment,
    importtime,
    information,
    report,
    scaling,
    shapes,
    table,
    targets,
)
from benchmarks.methods import METHODS

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    """Run the page that was asked for."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that cells are ended too
    options = _parser().parse_args()
    if options.page == "importtime":
        return importtime.check()
    if options.quick:
        options.repeats = 1
    if options.quick or options.page != "table":
        options.threads = options.threads[:1]
    folder = None if options.data is None else str(options.data.resolve())
    settings = table.Settings(folder, options.repeats, options.limit)
    pages = {"table": _table, "scaling": _scaling, "information": _information}
    return pages[options.page](options, settings)


def _table(options: argparse.Namespace, settings: table.Settings) -> int:
    try:
        rows = shapes.choose(options.rows, with_files=options.data is not None, quick=options.quick)
    except ValueError as error:
        _parser().error(str(error))
    result = _start(options)
    result["rows"] = []
    for line in table.run(rows, options.threads, options.methods, settings):
        result["rows"].append(line)
        result["targets"] = targets.judge(result["rows"])
        report.write(options.output, "benchmark", result, report.table_markdown(result))
    print(report.table_text(result))
    return 0


def _scaling(options: argparse.Namespace, settings: table.Settings) -> int:
    result = _start(options)
    result |= {"base": scaling.base_text(quick=options.quick), "parameters": []}
    for part in scaling.run(options.threads[0], settings, quick=options.quick):
        result["parameters"].append(part)
        report.write(options.output, "scaling", result, report.scaling_markdown(result))
    print(report.scaling_text(result))
    return 0


def _information(options: argparse.Namespace, settings: table.Settings) -> int:
    result = _start(options)
    result["cases"] = []
    for case in information.run(options.threads[0], settings, quick=options.quick):
        result["cases"].append(case)
        report.write(options.output, "information", result, report.information_markdown(result))
    print(report.information_text(result))
    return 0


def _start(options: argparse.Namespace) -> dict[str, Any]:
    settings = {name: getattr(options, name) for name in ("threads", "repeats", "limit", "quick")}
    return {"environment": environment.describe(options.threads), "settings": settings}


def _parser() -> argparse.ArgumentParser:
    names = [method.name for method in METHODS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add(
        "page",
        nargs="?",
        choices=["table", "scaling", "information", "importtime"],
        default="table",
    )
    add("--rows", nargs="+", metavar="NAME", help="rows to measure; all by default")
    add("--methods", nargs="+", choices=names, default=names, help="peers to compare with")
    add("--threads", nargs="+", type=int, default=[2, 1], metavar="COUNT")
    add("--repeats", type=int, default=5, help="fits at least, unless one takes over 10 s")
    add("--limit", type=float, default=120.0, help="seconds after which a fit is given up")
    add("--data", type=Path, metavar="DIR", help="folder of the real sets as .npz archives")
    add("--output", type=Path, metavar="DIR", default=RESULTS)
    add("--quick", action="store_true", help="a smoke run on shrunken shapes")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
