"""A result on its way out of the command: to standard output, and to files."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any

from orthoselect.cli.loading import Loaded
from orthoselect.cli.terminal import Terminal
from orthoselect.lazy import lazy
from orthoselect.read import output_format, write_blocks, write_columns
from orthoselect.result import Comparison, SelectionPath, Stability


class Answer:
    """A path, a comparison or a stability on its way to standard output, and to files.

    `escape_formulas` says what to do about names and text like formulas in CSV and TSV.
    """

    def __init__(
        self,
        result: SelectionPath | Comparison | Stability,
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
            if isinstance(self._result, SelectionPath):
                for said in (self._result.gaps, self._result.certificate):
                    if said:
                        self._terminal.note(str(said))
                if self._result.size_scores is not None:
                    self._terminal.note(self._result.size_scores.sentence)
        elif isinstance(self._result, (SelectionPath, Stability)):
            print(self._result.to_text(bars=sys.stdout.isatty()))
        else:
            print(self._result.to_text())
        sys.stdout.flush()

    def write_table(self, path: SelectionPath, output: str, *, overwrite_source: bool) -> None:
        """Write the table reduced to the selected columns and the target."""
        dataset, targets = self._loaded.dataset, self._loaded.target_columns
        columns = [dataset.names[column] for column in path.chosen_columns]
        has_target = bool(targets) or (not dataset.in_blocks and dataset.target is not None)
        is_text = output_format(dataset, output) in ("csv", "tsv")
        how: dict[str, Any] = {
            "overwrite_source": overwrite_source,
            "escape_formulas": self._escape_formulas if is_text else None,
        }
        if dataset.in_blocks:
            write_blocks(dataset, [*columns, *targets], output, **how)
        else:
            how["has_target"] = has_target
            write_columns(dataset, columns, targets or None, output, **how)
        beside = " and the target" if has_target else ""
        self._terminal.note(f"wrote {len(columns)} columns{beside} to {output}")

    def write_report(self, report: str) -> None:
        """Write the page."""
        from orthoselect.show import write_report

        with self._terminal.working("writing the report"):
            write_report(self._summary, report)
        self._terminal.note(f"wrote the report to {report}")

    @lazy
    def _summary(self) -> dict[str, Any]:
        """What the report shows and `--format json` prints: with what only the command knows."""
        from orthoselect.show import Reading, outline, summarize

        loaded, dataset, result = self._loaded, self._loaded.dataset, self._result
        typed = shlex.join(["orthoselect", *sys.argv[1:]])
        if isinstance(result, (Comparison, Stability)):
            summary = result.to_dict()
        elif dataset.in_blocks or not loaded.target_name:
            summary = outline(result)
        else:
            named = loaded.target_columns or loaded.target_name
            summary = summarize(
                result,
                dataset,
                loaded.target,
                sample_weight=loaded.weights,
                target_name=named,
                command=typed,
                warnings=self._terminal.warnings,
                reading=Reading(loaded.files, loaded.read_by),
            )
        data = {"rows": dataset.n_rows, "columns": len(dataset.names), **summary.get("data", {})}
        left_out = [{"name": name, "reason": reason} for name, reason in loaded.reasons.items()]
        return {
            **summary,
            "title": dataset.name,
            "target": loaded.target_name or None,
            "data": {**data, "left_out": left_out, "warnings": list(self._terminal.warnings)},
            "reproduce": {**summary.get("reproduce", {}), "command": typed},
        }
