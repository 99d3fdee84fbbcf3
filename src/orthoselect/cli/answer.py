"""The answer of `select`: on standard output, and in files."""

from __future__ import annotations

import json
import os
import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from orthoselect.cli.loading import Loaded
from orthoselect.cli.terminal import Terminal
from orthoselect.errors import InputError
from orthoselect.lazy import lazy
from orthoselect.methods import METHODS
from orthoselect.output import check_place
from orthoselect.read import check_output, write_blocks, write_columns
from orthoselect.read.paths import find_files, is_several
from orthoselect.result import SelectionPath

_REPORTS = (".html", ".htm", ".json")


def check_writable(output: str | None, report: str | None) -> None:
    """Raise before the work if its result could not be written after it."""
    if report is not None and Path(report).suffix.lower() not in _REPORTS:
        raise InputError(
            f"`--report` should end in .html (a page) or .json (its figures); got {report!r}."
        )
    if output is not None:
        check_output(output)
    for file in (output, report):
        if file is not None:
            check_place(file)


def check_keeps_source(output: str | None, source: str | list[str]) -> None:
    """Raise if the output would take the place of one of several files that are the table."""
    if output is None or not is_several(source) or not os.path.exists(output):
        return
    for file in find_files(source):
        if os.path.samefile(file.path, output):
            raise InputError(
                f"`--output` should leave the files of the table as they are; `{output}` is one of "
                f"them. Name another file, in another folder."
            )


class Answer:
    """A path on its way to the user.

    Parameters
    ----------
    path : SelectionPath
    loaded : Loaded
    terminal : Terminal
    """

    def __init__(self, path: SelectionPath, loaded: Loaded, terminal: Terminal) -> None:
        self._path, self._loaded, self._terminal = path, loaded, terminal

    def show(self, format: str) -> None:
        """Print the path."""
        if format == "json":
            print(json.dumps(self._summary, indent=2, ensure_ascii=False))
        elif format == "csv":
            print(self._path.to_csv(), end="")
        else:
            print(self._path.to_text(bars=sys.stdout.isatty()))
        sys.stdout.flush()

    def write(self, output: str | None, report: str | None) -> None:
        """Write the reduced table and the page, where they are wanted."""
        dataset, path = self._loaded.dataset, self._path
        if output is not None:
            columns = [dataset.names[column] for column in path.columns]
            targets = self._loaded.target_columns
            if dataset.in_blocks:
                write_blocks(dataset, [*columns, *targets], output)
            else:
                write_columns(dataset, columns, targets or None, output)
            self._terminal.note(f"wrote {len(columns)} columns and the target to {output}")
        if report is not None:
            from orthoselect.show import write_report

            with self._terminal.working("writing the report"):
                write_report(self._summary, report)
            self._terminal.note(f"wrote the report to {report}")

    @lazy
    def _summary(self) -> dict[str, Any]:
        """What the report shows and `--format json` prints."""
        from orthoselect.show import summarize

        loaded = self._loaded
        if loaded.dataset.in_blocks:
            return annotated(_told_of_blocks(self._path), loaded, self._terminal)
        summary = summarize(
            self._path,
            loaded.dataset,
            loaded.target,
            sample_weight=loaded.weights,
            target_name=loaded.target_columns or loaded.target_name,
        )
        return annotated(summary, loaded, self._terminal)


def _told_of_blocks(path: SelectionPath) -> dict[str, Any]:
    """Return what a summary tells that needs no row of the table."""
    method = METHODS[path.method]
    return {
        "kind": "selection",
        "created": datetime.now().astimezone().isoformat(timespec="seconds"),
        **path.to_dict(),
        "method_summary": method.summary,
        "method_source": method.source,
    }


def annotated(summary: dict[str, Any], loaded: Loaded, terminal: Terminal) -> dict[str, Any]:
    """Return the summary with what only the command knows."""
    dataset = loaded.dataset
    data = {"rows": dataset.n_rows, "columns": len(dataset.names), **summary.get("data", {})}
    left_out = [{"name": name, "reason": reason} for name, reason in loaded.reasons.items()]
    return {
        **summary,
        "title": dataset.name,
        "target": loaded.target_name,
        "data": {**data, "left_out": left_out, "warnings": list(terminal.warnings)},
        "reproduce": {**summary.get("reproduce", {}), "command": command_line()},
    }


def command_line() -> str:
    """Return what was typed, so that it can be typed again."""
    return shlex.join(["orthoselect", *sys.argv[1:]])
