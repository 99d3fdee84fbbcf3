"""The answer of `select` and `compare`: on standard output, and in files."""

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
from orthoselect.result import Comparison, SelectionPath

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
    """A path or a comparison on its way to the user.

    Parameters
    ----------
    result : SelectionPath or Comparison
    loaded : Loaded
    terminal : Terminal
    escape_formulas : bool or None
        What to do about names and text like formulas in CSV and TSV.
    """

    def __init__(
        self,
        result: SelectionPath | Comparison,
        loaded: Loaded,
        terminal: Terminal,
        escape_formulas: bool | None = None,
    ) -> None:
        self._result, self._loaded, self._terminal = result, loaded, terminal
        self._escape_formulas = escape_formulas

    def show(self, format: str) -> None:
        """Print the result."""
        if format == "json":
            print(json.dumps(self._summary, indent=2, ensure_ascii=False))
        elif format == "csv":
            print(self._result.to_csv(escape_formulas=self._escape_formulas), end="")
        elif isinstance(self._result, SelectionPath):
            print(self._result.to_text(bars=sys.stdout.isatty()))
        else:
            print(self._result.to_text())
        sys.stdout.flush()

    def write_table(self, path: SelectionPath, output: str, *, overwrite_source: bool) -> None:
        """Write the table reduced to the selected columns and the target."""
        dataset, targets = self._loaded.dataset, self._loaded.target_columns
        columns = [dataset.names[column] for column in path.columns]
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

    def write_report(self, report: str) -> None:
        """Write the page."""
        from orthoselect.show import write_report

        with self._terminal.working("writing the report"):
            write_report(self._summary, report)
        self._terminal.note(f"wrote the report to {report}")

    @lazy
    def _summary(self) -> dict[str, Any]:
        """What the report shows and `--format json` prints: with what only the command knows."""
        loaded = self._loaded
        dataset, summary = loaded.dataset, self._told()
        data = {"rows": dataset.n_rows, "columns": len(dataset.names), **summary.get("data", {})}
        left_out = [{"name": name, "reason": reason} for name, reason in loaded.reasons.items()]
        typed = shlex.join(["orthoselect", *sys.argv[1:]])
        return {
            **summary,
            "title": dataset.name,
            "target": loaded.target_name,
            "data": {**data, "left_out": left_out, "warnings": list(self._terminal.warnings)},
            "reproduce": {**summary.get("reproduce", {}), "command": typed},
        }

    def _told(self) -> dict[str, Any]:
        """Return what the library tells of the result."""
        from orthoselect.show import summarize

        loaded, result = self._loaded, self._result
        if isinstance(result, Comparison):
            return result.to_dict()
        if loaded.dataset.in_blocks:
            return _told_of_blocks(result)
        return summarize(
            result,
            loaded.dataset,
            loaded.target,
            sample_weight=loaded.weights,
            target_name=loaded.target_columns or loaded.target_name,
        )


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
