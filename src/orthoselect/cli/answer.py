"""The answer of `select`: on standard output, and in files."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from orthoselect.cli.loading import Loaded
from orthoselect.cli.terminal import Terminal
from orthoselect.errors import InputError
from orthoselect.lazy import lazy
from orthoselect.methods import METHODS
from orthoselect.output import check_keeps_source, check_place
from orthoselect.read import check_output, files_of, output_format, write_blocks, write_columns
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


def check_source_stays(
    source: str | list[str], written: Mapping[str, str | None], overwrite: bool
) -> None:
    """Raise before the work if its result would take the place of the table.

    Parameters
    ----------
    source : str or list of str
    written : mapping of str to str or None
        Each option that names a file to write, and the file, if there is to be one.
    overwrite : bool
        Whether the table may be replaced.
    """
    places = {option: file for option, file in written.items() if file is not None}
    if overwrite and not places:
        raise InputError(
            f"`--overwrite-source` is for {' and '.join(f'`{option}`' for option in written)}, "
            f"which should name the file to replace; it is not given. Omit it."
        )
    files = files_of(source) if places else []
    for option, file in places.items():
        check_keeps_source(file, files, option, overwrite=overwrite)


class Answer:
    """A path on its way to the user.

    Parameters
    ----------
    path : SelectionPath
    loaded : Loaded
    terminal : Terminal
    escape_formulas : bool or None
        What to do about names and text like formulas in CSV and TSV.
    """

    def __init__(
        self,
        path: SelectionPath,
        loaded: Loaded,
        terminal: Terminal,
        escape_formulas: bool | None = None,
    ) -> None:
        self._path, self._loaded, self._terminal = path, loaded, terminal
        self._escape_formulas = escape_formulas

    def show(self, format: str) -> None:
        """Print the path."""
        if format == "json":
            print(json.dumps(self._summary, indent=2, ensure_ascii=False))
        elif format == "csv":
            print(self._path.to_csv(escape_formulas=self._escape_formulas), end="")
        else:
            print(self._path.to_text(bars=sys.stdout.isatty()))
        sys.stdout.flush()

    def write(
        self, output: str | None, report: str | None, *, overwrite_source: bool = False
    ) -> None:
        """Write the reduced table and the page, where they are wanted."""
        dataset, path = self._loaded.dataset, self._path
        if output is not None:
            columns = [dataset.names[column] for column in path.columns]
            targets = self._loaded.target_columns
            is_text = output_format(dataset, output) in ("csv", "tsv")
            how: dict[str, Any] = {
                "overwrite_source": overwrite_source,
                "escape_formulas": self._escape_formulas if is_text else None,
            }
            if dataset.in_blocks:
                write_blocks(dataset, [*columns, *targets], output, **how)
            else:
                write_columns(dataset, columns, targets or None, output, **how)
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
