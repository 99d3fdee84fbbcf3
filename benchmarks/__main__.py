"""The command: parse, measure, print and write."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

from benchmarks import (
    auto,
    calibration,
    channels,
    csv_reading,
    environment,
    footprint,
    grid,
    importtime,
    information,
    information_peers,
    levels,
    limits,
    narx,
    products,
    rbf,
    report,
    scaling,
    search,
    selections,
    shapes,
    table,
    targets,
)
from benchmarks.large import page as large
from benchmarks.methods import METHODS
from benchmarks.real_tables import page as real_tables

RESULTS = Path(__file__).parent / "results"
CHECKS = {"importtime": importtime.check, "footprint": footprint.check, "csv": csv_reading.check}


def main() -> int:
    """Run the page that was asked for."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that cells are ended too
    options = _parser().parse_args()
    if options.page in CHECKS:
        return CHECKS[options.page]()
    if options.quick:
        options.repeats = 1
    if options.quick or options.page != "table":
        options.threads = options.threads[:1]
    folder = None if options.data is None else str(options.data.resolve())
    settings = table.Settings(folder, options.repeats, options.limit)
    return PAGES[options.page](options, settings)


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
    with_files = options.data is not None
    try:
        cases = information.choose(options.rows, with_files=with_files, quick=options.quick)
    except ValueError as error:
        _parser().error(str(error))
    result = _start(options)
    result |= {"cases": [], "selections": []}

    def write() -> None:
        report.write(options.output, "information", result, report.information_markdown(result))

    threads = options.threads[0]
    for case in information.run(cases, threads, settings):
        result["cases"].append(case)
        write()
    compared = [case for case in cases if case.selected]
    for part in selections.run(compared, threads, options.methods, settings, quick=options.quick):
        result["selections"].append(part)
        write()
    print(report.information_text(result))
    return 0


def _products(options: argparse.Namespace, settings: table.Settings) -> int:
    try:
        chosen = products.choose(options.rows, quick=options.quick)
    except ValueError as error:
        _parser().error(str(error))
    result = _start(options)
    result["lines"] = []
    for line in products.run(chosen, options.threads[0], settings):
        result["lines"].append(line)
        result["model"] = products.model(result["lines"])
        report.write(options.output, "products", result, report.products_markdown(result))
    print(report.products_text(result))
    return 0


def _limits(options: argparse.Namespace, settings: table.Settings) -> int:
    try:
        chosen = limits.choose(options.rows, quick=options.quick)
    except ValueError as error:
        _parser().error(str(error))
    result = _start(options)
    lines: list[dict[str, Any]] = []
    for line in limits.run(chosen, options.threads[0], settings, quick=options.quick):
        lines.append(line)
        result["lines"] = limits.with_limits(lines)
        report.write(options.output, "limits", result, report.limits_markdown(result))
    print(report.limits_text(result))
    return 0


def _large(options: argparse.Namespace, settings: table.Settings) -> int:
    try:
        chosen = large.choose(options.rows, quick=options.quick)
    except ValueError as error:
        _parser().error(str(error))
    result = _start(options)
    result["lines"] = []
    about = report.environment_lines(result["environment"])
    for line in large.run(chosen, options.folder):
        result["lines"].append(line)
        report.write(options.output, "large", result, large.markdown(result, about))
    print(large.markdown(result, about))
    return 0


def _levels(options: argparse.Namespace, settings: table.Settings) -> int:
    try:
        chosen = levels.choose(options.rows, quick=options.quick)
    except ValueError as error:
        _parser().error(str(error))
    result = _start(options)
    result["lines"] = []
    about = report.environment_lines(result["environment"])
    for line in levels.run(chosen, options.threads[0], settings.repeats):
        result["lines"].append(line)
        report.write(options.output, "levels", result, levels.markdown(result, about))
    print(levels.markdown(result, about))
    return 0


def _search(options: argparse.Namespace, settings: table.Settings) -> int:
    result = _start(options)
    result |= {"speeds": [], "optimal": []}
    about, threads = report.environment_lines(result["environment"]), options.threads[0]

    def write() -> None:
        report.write(options.output, "search", result, search.markdown(result, about))

    for line in search.time_searches(threads, settings.repeats, quick=options.quick):
        result["speeds"].append(line)
        write()
    for line in search.count_optimal(threads, quick=options.quick):
        result["optimal"].append(line)
        write()
    print(search.markdown(result, about))
    return 0


def _real_tables(options: argparse.Namespace, settings: table.Settings) -> int:
    try:
        chosen = real_tables.choose(options.rows, quick=options.quick)
    except ValueError as error:
        _parser().error(str(error))
    result = _start(options)
    result |= {"command": real_tables.command(options.page), "lines": []}
    if options.scores is None:
        found = real_tables.run(chosen, options.threads[0], settings.limit)
    else:
        earlier = json.loads(options.scores.read_text("utf-8"))["lines"]
        kept = [line for line in earlier if line["name"] in {entry.name for entry in chosen}]
        result["scores_from"] = str(options.scores)
        found = real_tables.time_again(kept, options.threads[0], settings.limit)
    for line in found:
        result["lines"].append(line)
        real_tables.write(options.output, result)
    print(real_tables.text(result))
    return 0


def _calibration(options: argparse.Namespace, settings: table.Settings) -> int:
    try:
        chosen = calibration.choose(options.rows, options.data)
    except ValueError as error:
        _parser().error(str(error))
    result = _start(options)
    result["lines"] = []
    about = report.environment_lines(result["environment"])
    draws = 20 if options.quick else options.draws
    for line in calibration.run(chosen, draws, options.data):
        result["lines"].append(line)
        report.write(options.output, "calibration", result, calibration.markdown(result, about))
    print(calibration.markdown(result, about))
    return 0


def _auto(options: argparse.Namespace, settings: table.Settings) -> int:
    try:
        chosen = auto.choose(options.rows)
    except ValueError as error:
        _parser().error(str(error))
    result = _start(options)
    result["lines"] = []
    about = report.environment_lines(result["environment"])
    for line in auto.run(chosen, settings.repeats, quick=options.quick):
        result["lines"].append(line)
        report.write(options.output, "auto", result, auto.markdown(result, about))
    print(auto.markdown(result, about))
    return 0


def _narx(options: argparse.Namespace, settings: table.Settings) -> int:
    result = _start(options)
    result["lines"] = []
    about = report.environment_lines(result["environment"])
    for line in narx.run(options.data, settings.repeats, quick=options.quick):
        result["lines"].append(line)
        report.write(options.output, "narx", result, narx.markdown(result, about))
    print(narx.markdown(result, about))
    return 0


def _rbf(options: argparse.Namespace, settings: table.Settings) -> int:
    result = _start(options)
    result["lines"] = []
    about = report.environment_lines(result["environment"])
    run = rbf.costs if options.costs else rbf.run
    for line in run(quick=options.quick, first_seed=options.first_seed):
        result["lines"].append(line)
        report.write(options.output, "rbf", result, rbf.markdown(result, about))
    print(rbf.markdown(result, about))
    return 0


def _channels(options: argparse.Namespace, settings: table.Settings) -> int:
    result = _start(options)
    result["lines"] = []
    about = report.environment_lines(result["environment"])
    for line in channels.run(options.data):
        result["lines"].append(line)
        report.write(options.output, "channels", result, channels.markdown(result, about))
    print(channels.markdown(result, about))
    return 0


def _grid(options: argparse.Namespace, settings: table.Settings) -> int:
    result = _start(options)
    result["lines"] = []
    about = report.environment_lines(result["environment"])
    for line in grid.run(quick=options.quick):
        result["lines"].append(line)
        report.write(options.output, "grid", result, grid.markdown(result, about))
    print(grid.markdown(result, about))
    return 0


PAGES = {
    "auto": _auto,
    "calibration": _calibration,
    "channels": _channels,
    "grid": _grid,
    "table": _table,
    "scaling": _scaling,
    "information": _information,
    "products": _products,
    "limits": _limits,
    "large": _large,
    "levels": _levels,
    "search": _search,
    "real_tables": _real_tables,
    "narx": _narx,
    "rbf": _rbf,
}


def _start(options: argparse.Namespace) -> dict[str, Any]:
    settings = {name: getattr(options, name) for name in ("threads", "repeats", "limit", "quick")}
    return {"environment": environment.describe(options.threads), "settings": settings}


def _parser() -> argparse.ArgumentParser:
    peers = [peer.name for peer in information_peers.PEERS]
    names = list(dict.fromkeys([*(method.name for method in METHODS), *peers]))
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add("page", nargs="?", choices=[*PAGES, *CHECKS], default="table")
    add("--rows", nargs="+", metavar="NAME", help="rows to measure; all by default")
    add("--methods", nargs="+", choices=names, default=names, help="peers to compare with")
    add("--threads", nargs="+", type=int, default=[2, 1], metavar="COUNT")
    add("--repeats", type=int, default=5, help="fits at least, unless one takes over 10 s")
    add("--limit", type=float, default=120.0, help="seconds after which a fit is given up")
    add("--data", type=Path, metavar="DIR", help="folder of the real sets as .npz archives")
    add("--output", type=Path, metavar="DIR", default=RESULTS,
        help="where results go; for real_tables also a FILE.md")  # fmt: skip
    add("--scores", type=Path, metavar="FILE.json",
        help="of real_tables, scores of an earlier run; only times are taken anew")  # fmt: skip
    add("--folder", type=Path, metavar="DIR", default=RESULTS / "tables",
        help="where the large page keeps its tables, 12 GB")  # fmt: skip
    add("--draws", type=int, default=1000, help="tables of each line of the calibration page")
    add("--first-seed", type=int, default=0, metavar="SEED",
        help="seed of the rbf page's first series, of 20")  # fmt: skip
    add("--costs", action="store_true", help="of the rbf page, only other values of center_cost")
    add("--quick", action="store_true", help="a smoke run on shrunken shapes")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
