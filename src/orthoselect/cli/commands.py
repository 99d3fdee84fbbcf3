"""`orthoselect select` and `orthoselect compare`: from their options to their answers."""

from __future__ import annotations

import ast
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import typer

from orthoselect.cli import options as o
from orthoselect.cli.how_many import (
    SIZE_WORDS,
    find_jobs,
    read_count,
    significance_options,
    size_options,
)
from orthoselect.cli.terminal import INTERRUPTED, Bar, Terminal, connected, ending_well
from orthoselect.encode.gaps import check_missing
from orthoselect.errors import ComparisonInterrupted, InputError, SelectionInterrupted, listing
from orthoselect.lazy import lazy
from orthoselect.methods import find_method
from orthoselect.output import check_keeps_source, check_place
from orthoselect.read import (
    BUILT_IN,
    Dataset,
    check_output,
    files_of,
    find_names,
    on_dask,
    output_format,
    read_table,
    split_names,
    write_blocks,
    write_columns,
)
from orthoselect.result import Comparison, SelectionPath, SelectionStep, Stability
from orthoselect.roles import clean
from orthoselect.selection import TIME_LIMIT, check_blocks, select

_REPORTS = (".html", ".htm", ".json")


def select_command(
    source: o.Sources,
    *,
    target: o.Target,
    count: o.Count = None,
    p_values: o.PValues = False,
    alpha: o.Alpha = None,
    permutations: o.Permutations = None,
    permute_within: o.PermuteWithin = None,
    seed: o.SelectSeed = None,
    method: o.Method = "socc",
    option: o.OwnOption,
    search: o.Search = "forward",
    time_limit: o.TimeLimit = TIME_LIMIT,
    rule: o.Rule = None,
    largest: o.LargestSize = None,
    estimator: o.SizeEstimator = None,
    scoring: o.SizeScoring = None,
    folds: o.SizeFolds = None,
    jobs: o.SizeJobs = None,
    task: o.Task = "auto",
    include: o.Include,
    exclude: o.Exclude,
    group: o.Group,
    categorical: o.Categorical,
    drop: o.Drop,
    weights: o.Weights = None,
    memory: o.Memory = None,
    scheduler: o.Scheduler = None,
    missing: o.Missing = "indicator",
    dates: o.Dates = "drop",
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = None,
    header: o.Header = True,
    input_format: o.InputFormat = None,
    format: o.Format = "table",
    output: o.Output = None,
    report: o.Report = None,
    overwrite_source: o.OverwriteSource = False,
    escape_formulas: o.EscapeFormulas = None,
    quiet: o.Quiet = False,
) -> None:
    """Select the features that together explain a column best.

    Standard output holds the answer only; everything else goes to standard error.
    """
    terminal = Terminal(quiet)
    workers = connected(scheduler) if scheduler is not None else nullcontext()
    with ending_well(terminal), workers:
        wanted = None if count is None else read_count(count, words=SIZE_WORDS)
        of_tests = significance_options(wanted, p_values, alpha, permutations, permute_within, seed)
        of_size = size_options(wanted, rule, largest, estimator, scoring, folds, jobs)
        has_target = find_method(method).needs_target
        if not has_target:
            _check_no_target(method, target, wanted, p_values=p_values, report=report)
        own = {**read_own_options(option), **of_tests, **of_size}
        own |= {"search": search, "time_limit": time_limit}
        files = source[0] if len(source) == 1 else source
        check_are_files(source[1:])
        check_files(files, {"--output": output, "--report": report}, overwrite_source)
        written_as = {
            "format": input_format,
            "delimiter": delimiter,
            "encoding": encoding,
            "header": None if header else False,
        }
        given: dict[str, Any] = {name: v for name, v in written_as.items() if v is not None}
        given |= {"drop": drop} if drop else {}
        reading = {"source": files, "options": given}
        with terminal.working(f"reading {' '.join(source)}"):
            table = read_table(files, memory=memory, in_blocks=scheduler is not None, **given)
            if table.in_blocks:
                _check_blocks(table, method, report, wanted)
            written = None if output is None else output_format(table, output)
            if escape_formulas is not None and not {format, written} & {"csv", "tsv"}:
                raise InputError(
                    "`--escape-formulas` and `--no-escape-formulas` are for CSV and TSV; neither "
                    "`--format csv` nor an `--output` of these is given. Omit them."
                )
            loaded = load(
                table,
                missing,
                target=target,
                categorical=categorical,
                group=group,
                include=include,
                exclude=exclude,
                weights=[weights] if weights else [],
                dates=dates,
                within=[permute_within] if permute_within else [],
                has_target=has_target,
            )
            if scheduler is not None:
                loaded = loaded._replace(dataset=on_dask(loaded.dataset))
        if wanted == "cv" and jobs is None:
            own["n_jobs"] = find_jobs(None, loaded.dataset)
        path, interrupted = _select(loaded, wanted, method, task, own, terminal)
        if not len(path):
            raise InputError(f"nothing could be selected: {path.stopped}")
        answer = Answer(path, loaded, terminal, escape_formulas, reading)
        try:
            answer.show(format)
            if output is not None:
                answer.write_table(path, output, overwrite_source=overwrite_source)
            if report is not None:
                answer.write_report(report)
        except KeyboardInterrupt:
            terminal.error(
                f"interrupted while writing; the {len(path)} feature(s) are found, and files that "
                f"were not complete are as they were."
            )
            raise typer.Exit(INTERRUPTED) from None
    if interrupted:
        terminal.error(f"interrupted after {len(path)} feature(s), which are kept.")
        raise typer.Exit(INTERRUPTED)


def compare_command(
    source: o.Source,
    *,
    target: o.Target,
    count: o.Largest = 10,
    method: o.Methods,
    option: o.OwnOption,
    estimator: o.Estimator = "auto",
    scoring: o.Scoring = "auto",
    folds: o.Folds = 5,
    repeats: o.Repeats = 1,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    task: o.Task = "auto",
    exclude: o.Exclude,
    group: o.Group,
    categorical: o.Categorical,
    drop: o.Drop,
    missing: o.Missing = "indicator",
    dates: o.Dates = "drop",
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = None,
    header: o.Header = True,
    input_format: o.InputFormat = None,
    format: o.Format = "table",
    report: o.Report = None,
    overwrite_source: o.OverwriteSource = False,
    quiet: o.Quiet = False,
) -> None:
    """Compare methods: the score of a model against the number of selected features.

    Selection happens inside each fold, on its training rows only. All features and none stand
    beside the methods.
    """
    terminal = Terminal(quiet)
    with ending_well(terminal):
        check_files(source, {"--report": report}, overwrite_source)
        with terminal.working(f"reading {source}"):
            table = read_table(
                source,
                format=input_format,
                delimiter=delimiter,
                encoding=encoding,
                header=None if header else False,
                drop=drop,
            )
            if table.in_blocks:
                raise InputError(
                    f"`compare` should have a table that fits into memory, to cut it into folds; "
                    f"`{table.name}` is too large. Give it some of the rows."
                )
            roles: dict[str, Any] = {"target": target, "exclude": exclude}
            roles["categorical"] = categorical
            loaded = load(table, missing, group=group, dates=dates, **roles)
        methods = [name.strip() for item in method for name in item.split(",") if name.strip()]
        settings = {
            "methods": methods or None,
            "sizes": count,
            "estimator": estimator,
            "scoring": scoring,
            "folds": folds,
            "repeats": repeats,
            "random_state": seed,
            "n_jobs": find_jobs(jobs, loaded.dataset),
            "task": task,
            "options": read_own_options(option),
        }
        comparison, interrupted = _compare(loaded, settings, terminal)
        answer = Answer(comparison, loaded, terminal)
        answer.show(format)
        if report is not None:
            answer.write_report(report)
    if interrupted:
        terminal.error("interrupted; the folds that were done are kept.")
        raise typer.Exit(INTERRUPTED)


def read_own_options(given: Sequence[str]) -> dict[str, Any]:
    """Read ``name=value``; a value that is no number, truth value or None is text.

    Examples
    --------
    >>> read_own_options(["bins=5", "cut=auto", "capped=False"])
    {'bins': 5, 'cut': 'auto', 'capped': False}
    """
    options = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not (name and equals):
            raise InputError(f"`--option` should be NAME=VALUE; got {item!r}.")
        try:
            options[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[name] = value
    return options


def check_are_files(words: Sequence[str]) -> None:
    """Raise for a word after the first source that is no file, and may be the target."""
    for word in words:
        is_source = Path(word).exists() or Path(word).suffix or word in BUILT_IN
        if not is_source and not any(sign in word for sign in "*?["):
            raise InputError(
                f"what follows the first source should be more files of the same table; there is "
                f"no file `{word}`. If it is the column to explain, write `--target {word}`."
            )


def check_files(
    source: str | list[str], written: Mapping[str, str | None], overwrite: bool
) -> None:
    """Raise before the work if its result could not be written, or would replace the table.

    `written` has each option that names a file to write, and the file if there is to be one.
    """
    places = {option: file for option, file in written.items() if file is not None}
    report = places.get("--report")
    if report is not None and Path(report).suffix.lower() not in _REPORTS:
        raise InputError(
            f"`--report` should end in .html (a page) or .json (its figures); got {report!r}."
        )
    if "--output" in places:
        check_output(places["--output"])
    for file in places.values():
        check_place(file)
    if overwrite and not places:
        raise InputError(
            f"`--overwrite-source` is for {' and '.join(f'`{option}`' for option in written)}, "
            f"which should name the file to replace; it is not given. Omit it."
        )
    files = files_of(source) if places else []
    for option, file in places.items():
        check_keeps_source(file, files, option, overwrite=overwrite)


def _check_blocks(table: Dataset, method: str, report: str | None, wanted: Any) -> None:
    """Raise before the work for what cannot be done with a table in blocks."""
    check_blocks(table, find_method(method))
    if wanted == "cv":
        raise InputError(
            f"`-k cv` needs the table in memory, to cut it into folds; `{table.name}` is too large "
            f"for that. Give a number, or some of the rows."
        )
    if report is not None:
        raise InputError(
            f"`--report` needs the table in memory, to draw its rows; `{table.name}` is too large "
            f"for that. Omit it, or report on some of the rows."
        )


def _check_no_target(
    method: str, target: Sequence[str], wanted: Any, *, p_values: bool, report: str | None
) -> None:
    """Raise for what makes no sense where there is nothing to explain."""
    if wanted in SIZE_WORDS or p_values:
        what = "`--p-values`" if p_values else f"`-k {wanted}`"
        raise InputError(
            f"{what} asks whether features tell about a target; method {method!r} has none. Give "
            f"a number, and compare the total with what principal components could explain."
        )
    if target:
        raise InputError(
            f"`--target` is for methods that explain one; method {method!r} explains all columns. "
            f"Omit it, and write `--exclude {target[0]}` if that column is to stay out."
        )
    if report is not None:
        raise InputError(
            f"`--report` makes a page about a target; method {method!r} has none. Omit it; "
            f"`--format json` has all figures."
        )


class Loaded(NamedTuple):
    """A table, and what is wanted of its columns.

    Attributes
    ----------
    dataset : Dataset
    target : str, list of str or None
        A column's name, or several; None for values that the source has apart.
    target_name : str
        What to call it; empty where there is none.
    options : dict
        What `select` and `compare` are to know of the columns.
    weights : str or None
        The column of the row weights.
    target_columns : list of str
        The columns that the target was taken from.
    reasons : dict
        Why columns are no candidates.
    """

    dataset: Dataset
    target: Any
    target_name: str
    options: dict[str, Any]
    weights: str | None
    target_columns: list[str]
    reasons: dict[str, str]


def load(
    dataset: Dataset,
    missing: str,
    *,
    target: Sequence[str],
    categorical: Sequence[str],
    group: Sequence[str],
    exclude: Sequence[str],
    include: Sequence[str] = (),
    weights: Sequence[str] = (),
    dates: str = "drop",
    within: Sequence[str] = (),
    has_target: bool = True,
) -> Loaded:
    """Find the columns that were named, and rid the table of what cannot be selected from."""
    names, missing = dataset.names, check_missing(missing, also=["drop_columns"])
    roles = {"target": target, "categorical": categorical, "include": include}
    roles |= {"exclude": exclude, "weights": weights, "permute-within": within}
    for option, given in roles.items():
        for name in given:
            if name in dataset.dropped:
                raise InputError(
                    f"a column should have one role; `{name}` is named in `--{option}` and in "
                    f"`--drop`."
                )
    explained = _target(target, dataset) if has_target else None
    weights = find_names(weights, names, "--weights")
    if len(weights) > 1:
        raise InputError(f"`--weights` should name one column; got {listing(weights)}.")
    weight = weights[0] if weights else None
    groups = _groups(group, names)
    excluded = find_names(exclude, names, "--exclude")
    columns: dict[str, Any] = {
        "categorical_features": find_names(categorical, names, "--categorical") or "from_dtype",
        "include": find_names(include, [*names, *groups], "--include") or None,
        "groups": groups or None,
        "exclude": excluded or None,
    }
    within = find_names(within, names, "--permute-within")
    apart_too = {"exclude": [*excluded, *within] or None}
    dataset = clean(
        dataset,
        explained,
        missing,
        has_target=has_target,
        sample_weight=weight,
        dates=dates,
        **(columns | apart_too),
    )
    if within:
        columns["permute_within"] = within[0]
    # What is left without these columns has gaps no more but in its target.
    columns["missing"] = "drop_rows" if missing == "drop_columns" else missing
    columns["dates"] = dates
    targets = [explained] if isinstance(explained, str) else explained or []
    own = dataset.target_name or ("y" if targets else "target")
    apart = (targets or not has_target) and dataset.target is not None
    apart = apart and not isinstance(dataset.target, str)
    return Loaded(
        dataset,
        explained,
        ", ".join(targets) or own if has_target else "",
        columns,
        weight,
        targets,
        {
            **dict.fromkeys(dataset.dropped, "dropped on request"),
            **dataset.left_out,
            **({own: "the source's own target, not asked for"} if apart else {}),
            **dict.fromkeys(excluded, "excluded on request"),
            **dict.fromkeys(weights, "the row weights"),
            **dict.fromkeys(within, "rows are permuted within it"),
        },
    )


def _target(given: Sequence[str], dataset: Dataset) -> str | list[str] | None:
    """Return the target's column, or several; None where its values stand apart."""
    if not given and dataset.target is None:
        raise InputError(
            f"`--target` should name the column to explain; `{dataset.name}` does not tell which "
            f"one that is. Its columns are {listing(dataset.names)}."
        )
    if not given or list(given) == [dataset.target_name]:
        return dataset.target if isinstance(dataset.target, str) else None
    dataset.check_together([part for item in given for part in split_names(item)])
    found = find_names(given, dataset.names, "--target")
    return found[0] if len(found) == 1 else found


def _groups(given: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    """Return groups from ``name=column,column``.

    Examples
    --------
    >>> _groups(["left=a,b", "right=x*"], ["a", "b", "x1", "x2"])
    {'left': ['a', 'b'], 'right': ['x1', 'x2']}
    """
    groups: dict[str, list[str]] = {}
    for item in given:
        name, equals, columns = item.partition("=")
        if not (name and equals and columns):
            raise InputError(
                f"`--group` should be NAME=COLUMN,COLUMN,...; got {item!r}. "
                f"For example `--group size=width,height`."
            )
        if name in groups:
            raise InputError(f"`--group` should name each group once; `{name}` is repeated.")
        groups[name] = find_names([columns], names, "--group")
    return groups


class _Shown:
    """The steps of a selection, and the gap of a search, on a bar."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar

    def __call__(self, step: SelectionStep, number: int, size: int) -> None:
        """Show a step."""
        self._bar.show(number, size, step.name)

    def searching(self, gap: float | None) -> None:
        """Show by how much a better set could be better."""
        self._bar.searching(gap)


def _select(
    loaded: Loaded,
    wanted: int | float | str | None,
    method: str,
    task: str,
    own: Mapping[str, Any],
    terminal: Terminal,
) -> tuple[SelectionPath, bool]:
    """Return the path as far as it came, and whether it was interrupted."""
    try:
        with terminal.working("selecting") as bar:
            if loaded.dataset.in_blocks:
                loaded.dataset.data.progress = bar.read
            path = select(
                loaded.dataset,
                loaded.target,
                wanted,
                method,
                task=task,
                sample_weight=loaded.weights,
                progress=_Shown(bar),
                **loaded.options,
                **own,
            )
    except SelectionInterrupted as stopped:
        if not len(stopped.path):
            raise
        return stopped.path, True
    return path, False


def _compare(
    loaded: Loaded, settings: Mapping[str, Any], terminal: Terminal
) -> tuple[Comparison, bool]:
    """Return the comparison as far as it came, and whether it was interrupted."""
    from orthoselect.comparison import compare  # with scikit-learn, which other commands spare

    columns = {k: v for k, v in loaded.options.items() if k != "include"}
    try:
        with terminal.working("comparing") as bar:
            comparison = compare(
                loaded.dataset,
                loaded.target,
                **settings,
                **columns,
                progress=lambda done, total, method, fold: bar.show(done, total, method),
            )
    except ComparisonInterrupted as stopped:
        if stopped.comparison is None:
            raise
        return stopped.comparison, True
    return comparison, False


class Answer:
    """A path, a comparison or a stability on its way to standard output, and to files.

    `escape_formulas` says what to do about names and text like formulas in CSV and TSV, `reading`
    how the table was read, as `orthoselect.show.Reading` has it.
    """

    def __init__(
        self,
        result: SelectionPath | Comparison | Stability,
        loaded: Loaded,
        terminal: Terminal,
        escape_formulas: bool | None = None,
        reading: Mapping[str, Any] | None = None,
    ) -> None:
        self._result, self._loaded, self._terminal = result, loaded, terminal
        self._escape_formulas, self._reading = escape_formulas, reading

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
                reading=None if self._reading is None else Reading(**self._reading),
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
