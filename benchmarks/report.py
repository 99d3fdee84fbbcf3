"""Renders results, which are plain dicts, as text, Markdown and JSON; measures nothing."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from benchmarks.information_peers import PEERS
from benchmarks.methods import METHODS
from benchmarks.table import OURS

Grid = list[list[list[str]]]  # rows of cells of lines
WIDTH = 18  # of a column of the table in a terminal


def write(folder: Path, name: str, result: dict[str, Any], markdown: str) -> None:
    """Write NAME.json and NAME.md."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(markdown, encoding="utf-8")


def table_text(result: dict[str, Any]) -> str:
    """Return the table, the targets and where they were measured, for a terminal."""
    parts = [
        as_text(*_table_grid(result)),
        _quick_note(result),
        as_text(*_targets_grid(result)),
        "\n".join(environment_lines(result["environment"])),
    ]
    return "\n\n".join(part for part in parts if part)


def table_markdown(result: dict[str, Any]) -> str:
    """Return the same as a Markdown page."""
    about = [f"- {line}" for line in environment_lines(result["environment"])]
    settings = result["settings"]
    parts = [
        "# Benchmark",
        "Time (best of several), ratio to orthoselect, time in reads of X (`X.sum()`), peak memory "
        "over the size of X, and whether the selection is orthoselect's. "
        f"At least {settings['repeats']} fits unless one takes over 10 s; "
        f"given up after {settings['limit']:g} s.",
        _quick_note(result),
        as_markdown(*_table_grid(result)),
        "## Targets",
        as_markdown(*_targets_grid(result)),
        "## Where",
        "\n".join(about),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def scaling_text(result: dict[str, Any]) -> str:
    """Return the scaling page for a terminal."""
    tables = [f"{part['title']}\n{as_text(*_scaling_grid(part))}" for part in result["parameters"]]
    return "\n\n".join([*tables, "\n".join(environment_lines(result["environment"]))])


def scaling_markdown(result: dict[str, Any]) -> str:
    """Return the scaling page in Markdown."""
    tables = [
        f"## {part['title']}\n\n{as_markdown(*_scaling_grid(part))}"
        for part in result["parameters"]
    ]
    about = "\n".join(f"- {line}" for line in environment_lines(result["environment"]))
    head = f"# Scaling\n\nOne parameter at a time is doubled from {result['base']}."
    return "\n\n".join([head, *tables, f"## Where\n\n{about}"]) + "\n"


def information_text(result: dict[str, Any]) -> str:
    """Return the page of the information criteria for a terminal."""
    selections = result["selections"]
    parts = [
        as_text(*_information_grid(result)),
        *(f"{_selection_title(part)}\n{as_text(*_selection_grid(part))}" for part in selections),
        _quick_note(result),
        "\n".join(environment_lines(result["environment"])),
    ]
    return "\n\n".join(part for part in parts if part)


def information_markdown(result: dict[str, Any]) -> str:
    """Return the same as a Markdown page."""
    about = "\n".join(f"- {line}" for line in environment_lines(result["environment"]))
    head = (
        "# Information criteria\n\nBest time of a step: every feature counted against the last "
        "selected and the class. The loop calls `np.bincount` once for each feature."
    )
    parts = [
        head,
        _quick_note(result),
        as_markdown(*_information_grid(result)),
        "## Whole selections\n\nBest time with coding, ratio to orthoselect, and whether the "
        f"selection is orthoselect's. Given up after {result['settings']['limit']:g} s.",
        *(
            f"### {_selection_title(part)}\n\n{as_markdown(*_selection_grid(part))}"
            for part in result["selections"]
        ),
        f"## Where\n\n{about}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def products_text(result: dict[str, Any]) -> str:
    """Return the page of the products for a terminal."""
    return _text_page(result, _products_grid(result), _model_grid(result))


def products_markdown(result: dict[str, Any]) -> str:
    """Return the same as a Markdown page."""
    parts = [
        "# Products\n\nBest times in reads of X (`X.sum()`): of a scan with m response columns, of "
        "b columns of the Gram matrix, and of all of it. From a line through the times of b "
        "columns: what one more column costs, in reads; what a read of the table costs, in "
        "columns; and the whole Gram matrix, in columns for each of its own.",
        _quick_note(result),
        as_markdown(*_products_grid(result)),
        "## The model in criteria/plan.py",
        as_markdown(*_model_grid(result)),
    ]
    return _markdown_page(result, parts)


def limits_text(result: dict[str, Any]) -> str:
    """Return the page of the limits for a terminal."""
    return _text_page(result, _limits_grid(result), _limit_ratios_grid(result))


def limits_markdown(result: dict[str, Any]) -> str:
    """Return the same as a Markdown page."""
    parts = [
        "# Limits\n\nWhat the passes and Gram columns of a selection would take if all threads did "
        "nothing but read, as quick as they add up whole numbers, and multiply at the same time, "
        "as quick as they do in a near cache; beside the time of `fit`, best of several. The read "
        "in which gains of float32 tables are made exact counts as a pass.",
        _quick_note(result),
        as_markdown(*_limits_grid(result)),
        "## float32 beside float64\n\nHow many times as quick float32 could be, and is.",
        as_markdown(*_limit_ratios_grid(result)),
    ]
    return _markdown_page(result, parts)


def _text_page(result: dict[str, Any], *grids: tuple[list[str], Grid]) -> str:
    """Return tables for a terminal, and where they were measured."""
    about = "\n".join(environment_lines(result["environment"]))
    parts = [*(as_text(*grid) for grid in grids), _quick_note(result), about]
    return "\n\n".join(part for part in parts if part)


def _markdown_page(result: dict[str, Any], parts: list[str]) -> str:
    """Return the parts of a page, and where it was measured."""
    about = "\n".join(f"- {line}" for line in environment_lines(result["environment"]))
    return "\n\n".join(part for part in [*parts, f"## Where\n\n{about}"] if part) + "\n"


def environment_lines(environment: dict[str, Any]) -> list[str]:
    """Return where a measurement was made, in a few lines."""
    packages = environment["packages"].items()
    lines = [
        f"{environment['processor']}, {environment['usable_cores']} of "
        f"{environment['cores']} cores, {environment['system']}",
        f"Python {environment['python']}, "
        + ", ".join(f"{name} {version or 'not installed'}" for name, version in packages),
    ]
    for threads, pools in environment["blas"].items():
        named = [
            f"{pool['internal_api']} {pool.get('version') or ''} "
            f"({pool.get('architecture', pool['user_api'])}, {pool['num_threads']} threads)"
            for pool in pools
        ]
        lines.append(f"{threads} threads asked for: " + ", ".join(named))
    if environment["load_average"]:
        lines.append(f"load average at the start: {environment['load_average'][0]}")
    return lines


def seconds_text(seconds: float) -> str:
    """Return a time with three digits."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def number_text(number: float) -> str:
    """Return a number with three digits, or all of those before the point."""
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def _quick_note(result: dict[str, Any]) -> str:
    quick = result["settings"]["quick"]
    return "A quick run on shrunken shapes: it shows that all works, nothing else." if quick else ""


def _table_grid(result: dict[str, Any]) -> tuple[list[str], Grid]:
    used = {name for line in result["rows"] for name in line["cells"]}
    methods = [method for method in METHODS if method.name in used]
    heads = ["shape", *(method.title for method in methods)]
    rows = []
    for line in result["rows"]:
        cells = [_cell_lines(line, method.name) for method in methods]
        rows.append([[line["title"], f"{line['threads']} threads"], *cells])
    return heads, rows


def _cell_lines(line: dict[str, Any], name: str) -> list[str]:
    cell = line["cells"].get(name)
    if cell is None:
        return [""]
    if cell["status"] != "ok":
        return [cell["why"]]
    lines = [seconds_text(cell["seconds"])]
    if cell["steps"] < line["t"]:
        lines[0] += f" for {cell['steps']} steps"
    if "ratio" in cell:
        lines += [
            _ratio_text(line, cell),
            f"{number_text(cell['reads'])} reads",
            f"memory {number_text(cell['peak_over_x'])} X",
            _agreement_text(line, cell),
        ]
    return lines + _stats_lines(cell["stats"]) if name == OURS else lines


def _ratio_text(line: dict[str, Any], cell: dict[str, Any]) -> str:
    against = {"float32": " of float64", "busy": " of quiet"}.get(line["kind"], "")
    more = "> " if cell["steps"] < line["t"] else ""
    return f"{more}{number_text(cell['ratio'])}x{against}"


def _agreement_text(line: dict[str, Any], cell: dict[str, Any]) -> str:
    found = cell.get("agreement")
    if found is None:
        return "-"
    if found["verdict"] != "differs":
        return found["verdict"]
    ours = (line["reference"] or line["cells"][OURS])["total"]
    shared = f"differs, {found['shared']} of {found['steps']}"
    return f"{shared}, total {cell['total']:.6g} (ours {ours:.6g})"


def _stats_lines(stats: dict[str, Any] | None) -> list[str]:
    stats = stats or {}
    passes = [f"{stats['passes']} passes"] if "passes" in stats else []
    return passes + ([str(stats["strategy"])] if "strategy" in stats else [])


def _targets_grid(result: dict[str, Any]) -> tuple[list[str], Grid]:
    heads = ["target", "what", "threads", "bound", "measured", "verdict"]
    rows = []
    for found in result["targets"]:
        value = "" if found["measured"] is None else number_text(found["measured"])
        threads = str(found["threads"] or "")
        verdict = "shrunken" if result["settings"]["quick"] else found["verdict"]
        texts = (found["row"], found["what"], threads, found["bound"], value, verdict)
        rows.append([[text] for text in texts])
    return heads, rows


def _scaling_grid(part: dict[str, Any]) -> tuple[list[str], Grid]:
    heads = [part["parameter"], "time", "growth", "reads", "work"]
    rows = []
    for point in part["points"]:
        value = f"{point['value']:g}"
        if point["status"] != "ok":
            rows.append([[value], [point["why"]], [""], [""], [""]])
            continue
        growth = "" if point["growth"] is None else f"{point['growth']:.2f}"
        reads = number_text(point["seconds"] / point["read_seconds"])
        work = ", ".join(_stats_lines(point["stats"]))
        rows.append([[value], [seconds_text(point["seconds"])], [growth], [reads], [work]])
    return heads, rows


def _information_grid(result: dict[str, Any]) -> tuple[list[str], Grid]:
    heads = ["table", "kind", "build", "margins", "step", "no kernels", "bincount loop", "ratio"]
    heads += ["target", "ns a filled cell"]
    rows = []
    for case in result["cases"]:
        seconds = case["seconds"]
        names = ("build", "margins", "step", "numpy", "loop")
        kind = case["kind"] if case["kernels"] else f"{case['kind']}, no kernels"
        texts = [case["title"], kind, *(seconds_text(seconds[name]) for name in names)]
        texts.append(f"{number_text(case['ratio'])}x")
        texts.append("" if case["target"] is None else _target_text(case))
        filled = case["filled"]
        texts.append("" if filled is None else number_text(1e9 * seconds["step"] / filled))
        rows.append([[text] for text in texts])
    return heads, rows


def _target_text(case: dict[str, Any]) -> str:
    verdict = "pass" if case["ratio"] >= case["target"] else "FAIL"
    return f">= {case['target']:g}: {verdict}"


def _selection_title(part: dict[str, Any]) -> str:
    return f"{part['title']}: {part['steps']} features"


def _selection_grid(part: dict[str, Any]) -> tuple[list[str], Grid]:
    used = {name for line in part["criteria"] for name in line["cells"]}
    peers = [peer for peer in PEERS if peer.name in used]
    heads = ["criterion", *(peer.title for peer in peers)]
    rows = []
    for line in part["criteria"]:
        cells = [_selection_text(line["cells"].get(peer.name)) for peer in peers]
        rows.append([[text] for text in (line["criterion"], *cells)])
    return heads, rows


def _selection_text(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    if cell["status"] != "ok":
        return cell["why"]
    texts = [seconds_text(cell["seconds"])]
    if "ratio" in cell:
        texts.append(f"{number_text(cell['ratio'])}x")
        texts.append(_verdict_text(cell.get("agreement")))
    return ", ".join(texts)


def _verdict_text(found: dict[str, Any] | None) -> str:
    if found is None:
        return "another criterion"
    if found["verdict"] != "differs":
        return found["verdict"]
    return f"differs ({found['shared']} of {found['steps']} shared)"


def _products_grid(result: dict[str, Any]) -> tuple[list[str], Grid]:
    first = result["lines"][0]
    heads = ["table", "kernels", "X.sum()", *(f"scan, m {m}" for m in first["scan_seconds"])]
    heads += [f"gram, b {b}" for b in first["gram_seconds"]]
    heads += ["whole Gram", "one more column", "a read, in columns", "whole, for each column"]
    rows = []
    for line in result["lines"]:
        read = line["read_seconds"]
        times = [*line["scan_seconds"].values(), *line["gram_seconds"].values()]
        times.append(line["whole_seconds"])
        texts = [line["title"], "yes" if line["kernels"] else "no", seconds_text(read)]
        texts += [_known_text(None if t is None else t / read) for t in times]
        texts += [_known_text(line[name]) for name in ("column", "read", "whole")]
        rows.append([[text] for text in texts])
    return heads, rows


def _model_grid(result: dict[str, Any]) -> tuple[list[str], Grid]:
    heads = ["number", "what", "kernels", "in the model", "measured: least", "median", "most"]
    rows = []
    for found in result["model"]:
        kernels = "yes" if found["kernels"] else "no"
        texts = [f"plan.{found['name']}", found["what"], kernels, number_text(found["model"])]
        texts += [_known_text(found[name]) for name in ("least", "median", "most")]
        rows.append([[text] for text in texts])
    return heads, rows


def _limits_grid(result: dict[str, Any]) -> tuple[list[str], Grid]:
    heads = ["table", "dtype", "a read", "products a second", "passes", "Gram columns"]
    heads += ["limit", "fit", "limit over fit"]
    rows = []
    for line in result["lines"]:
        limit, seconds = line["limit_seconds"], line["seconds"]
        texts = [line["title"], line["dtype"], seconds_text(line["read_seconds"])]
        texts += [f"{line['products_per_second']:.2g}", str(line["passes"]), str(line["columns"])]
        texts += [seconds_text(limit), seconds_text(seconds), f"{100 * limit / seconds:.0f} %"]
        rows.append([[text] for text in texts])
    return heads, rows


def _limit_ratios_grid(result: dict[str, Any]) -> tuple[list[str], Grid]:
    rows = []
    for double, single in zip(result["lines"][::2], result["lines"][1::2]):
        ratios = [double[of] / single[of] for of in ("limit_seconds", "seconds")]
        rows.append([[double["title"]], *([number_text(ratio)] for ratio in ratios)])
    return ["table", "limits", "fits"], rows


def _known_text(number: float | None) -> str:
    return "" if number is None else number_text(number)


def as_markdown(heads: list[str], rows: Grid) -> str:
    """Return a table in Markdown."""
    lines = [heads, ["---"] * len(heads)]
    lines += [["<br>".join(cell).replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def as_text(heads: list[str], rows: Grid) -> str:
    """Lay out cells side by side; where some have several lines, long lines are wrapped."""
    tall = any(len(cell) > 1 for row in rows for cell in row)
    wrap = _wrap if tall else list
    wrapped = [[wrap([head]) for head in heads]]
    wrapped += [[wrap(cell) for cell in row] for row in rows]
    widths = [max(len(line) for cell in column for line in cell) for column in zip(*wrapped)]
    blocks = [_block(row, widths) for row in wrapped]
    blocks.insert(1, "  ".join("-" * width for width in widths))
    return ("\n\n" if tall else "\n").join(blocks)


def _wrap(lines: list[str]) -> list[str]:
    return [part for line in lines for part in textwrap.wrap(line, WIDTH) or [""]]


def _block(cells: list[list[str]], widths: list[int]) -> str:
    height = max(map(len, cells))
    padded = [cell + [""] * (height - len(cell)) for cell in cells]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip()
        for line in zip(*padded)
    )
