"""The options that commands share, each said once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import partial, wraps
from glob import glob
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from orthoselect.methods import METHODS
from orthoselect.read import BUILT_IN


def complete_method(incomplete: str) -> list[tuple[str, str]]:
    """Return the methods that begin so, for the shell."""
    return [(m.name, m.summary) for m in METHODS.values() if m.name.startswith(incomplete)]


def complete_source(incomplete: str) -> list[str]:
    """Return the data sets and files that begin so, for the shell."""
    files = [name + ("/" if Path(name).is_dir() else "") for name in glob(f"{incomplete}*")]
    return [*(name for name in BUILT_IN if name.startswith(incomplete)), *sorted(files)]


# Options by the part of the help they stand in. One without a flag goes by its parameter's name.
_table = partial(typer.Option, rich_help_panel="The table")
_choice = partial(typer.Option, rich_help_panel="The choice")
_answer = partial(typer.Option, rich_help_panel="The answer")
_names: dict[str, Any] = {"metavar": "NAME", "default_factory": list, "show_default": False}

_source = partial(typer.Argument, autocompletion=complete_source, show_default=False)
_SOURCES = (
    "A file (.csv, .tsv, .parquet, .feather, .arrow, .npy, .npz, .svm, .libsvm), a folder or "
    "pattern of such,{} a built-in data set (see `orthoselect datasets`), or - for standard input."
)
Source = Annotated[str, _source(metavar="SOURCE", help=_SOURCES.format(""))]
Sources = Annotated[
    list[str], _source(metavar="SOURCE...", help=_SOURCES.format(" several files of one table,"))
]

_TARGET = (
    "The column to explain; repeat it for several. Built-in sets, LIBSVM files and archives with a "
    "y know theirs; method unsupervised has none."
)
_CATEGORICAL = (
    "Columns of numbers that are codes of categories; text columns are always categories."
)
_DROP = "Columns that are not even read, as if the table did not have them."
_WEIGHTS = "A column of row weights; a whole number counts as that many copies of the row."
_MEMORY = (
    "The limit of memory of the whole command, for example 2GB; a larger table is read in "
    "blocks of rows. Half of what is free if not given."
)
_SCHEDULER = (
    "A scheduler of Dask, for example tcp://10.0.0.1:8786, whose workers read the files, one each "
    "at a time, and do the work."
)
_MISSING = (
    "What to do about missing values: indicator (fill by the mean, and add an indicator of the "
    "gaps), mean, drop-rows, drop-columns, or error."
)
_DATES = "Whether columns of dates are left out, or used by their parts: year, month and so on."
_DELIMITER = "What separates the values of a text file; detected if you omit it."
_ENCODING = "The encoding of a text file, for example latin-1. UTF-8 and UTF-16 need no hint."
_HEADER = (
    "Whether the first line of a text file names the columns; without names they are x0, x1, "
    "and so on."
)
_INPUT_FORMAT = (
    "csv, tsv, parquet, feather, arrow, npy, npz or libsvm, if the file's name does not tell."
)
Target = Annotated[list[str], _table("--target", "-t", help=_TARGET, **_names)]
Categorical = Annotated[list[str], _table(help=_CATEGORICAL, **_names)]
Drop = Annotated[list[str], _table(help=_DROP, **_names)]
Weights = Annotated[str | None, _table(help=_WEIGHTS, metavar="COLUMN")]
Memory = Annotated[str | None, _table(help=_MEMORY, metavar="AMOUNT")]
Scheduler = Annotated[str | None, _table(help=_SCHEDULER, metavar="ADDRESS")]
Missing = Annotated[str, _table(help=_MISSING, metavar="WAY")]
Dates = Annotated[Literal["drop", "parts"], _table(help=_DATES)]
Delimiter = Annotated[str | None, _table(help=_DELIMITER)]
Encoding = Annotated[str | None, _table(help=_ENCODING)]
Header = Annotated[bool, _table("--header/--no-header", help=_HEADER)]
InputFormat = Annotated[str | None, _table(help=_INPUT_FORMAT, metavar="FORMAT")]

_COUNT = (
    "How many features: a count, a fraction between 0 and 1, auto for as many as are significant, "
    "or cv for as many as cross-validation chooses. By default at most ten; fewer if features "
    "own several columns and no other feature gains more than it would by chance."
)
_ALPHA = "The largest p-value that counts as significant; 0.05 if not given."
_PERMUTATIONS = (
    "Permutations of the target that p-values are counted over; if not given 199, or fewer, at "
    "least 99, with many classes."
)
_WITHIN = "A column of labels: rows are exchanged only within the same label. It is no feature."
_METHOD = "What features are judged by; `orthoselect methods` lists the names."
_METHODS = "A method to compare; repeat it, or put commas between. A few common ones if not given."
_METHOD_OPTION = (
    "An option of the method, for example bins=5; `orthoselect methods NAME` shows them."
)
_OWN_OPTION = f"{_METHOD_OPTION} Or of the search: n_starts of swap, width of beam."
_SEARCH = (
    "How sets of features are searched. All but forward compare whole sets; exact proves the best "
    "set of a few dozen features."
)
_TIME_LIMIT = "Seconds after which a search of sets ends with the best set so far."
_TASK = (
    "Whether the target holds classes or numbers; auto takes text and few whole numbers for "
    "classes."
)
_GROUP = "Columns taken together, for example size=width,height."
_ESTIMATOR = (
    "The model that is scored: auto, lda, svm or logistic for classes, least_squares or ridge for "
    "numbers, splines or gradient_boosting for either."
)
_SCORING = (
    "The score: auto, which suits the response, accuracy, balanced_accuracy, auc, r2, or another "
    "name of scikit-learn's scorers."
)
_JOBS = "Processes at work, -1 for all processors; if not given, as many as save time."
_method = partial(_choice, "--method", "-m", autocompletion=complete_method)
Count = Annotated[str | None, _choice("--count", "-k", help=_COUNT, metavar="COUNT")]
_tests = partial(typer.Option, rich_help_panel="With -k auto or --p-values")
Alpha = Annotated[float | None, _tests(help=_ALPHA)]
Permutations = Annotated[int | None, _tests(help=_PERMUTATIONS)]
PermuteWithin = Annotated[str | None, _tests(help=_WITHIN, metavar="COLUMN")]
PValues = Annotated[
    bool, _choice("--p-values", help="P-values also for a given count of features.")
]
SelectSeed = Annotated[
    int | None,
    _choice("--seed", help="Seed of the permutations, or of the folds; 0 if not given."),
]
Largest = Annotated[int, _choice("--count", "-k", help="The most features that are selected.")]
Method = Annotated[str, _method(help=_METHOD)]
Methods = Annotated[list[str], _method(help=_METHODS, **_names | {"metavar": None})]
OwnOption = Annotated[list[str], _choice(help=_OWN_OPTION, **_names | {"metavar": "NAME=VALUE"})]
MethodOption = Annotated[
    list[str], _choice(help=_METHOD_OPTION, **_names | {"metavar": "NAME=VALUE"})
]
Search = Annotated[
    Literal["forward", "backward", "floating", "swap", "beam", "exact"], _choice(help=_SEARCH)
]
TimeLimit = Annotated[float, _choice(help=_TIME_LIMIT, metavar="SECONDS")]
Task = Annotated[Literal["auto", "classification", "regression"], _choice(help=_TASK)]
Group = Annotated[list[str], _choice(help=_GROUP, **_names | {"metavar": "NAME=COLUMNS"})]
Include = Annotated[list[str], _choice(help="Features taken first, in this order.", **_names)]
Exclude = Annotated[
    list[str], _choice(help="Columns never taken; they may hold anything.", **_names)
]
Estimator = Annotated[str, _choice(help=_ESTIMATOR)]
Scoring = Annotated[str, _choice(help=_SCORING)]
Folds = Annotated[int, _choice(help="Folds of the cross-validation.")]
Repeats = Annotated[int, _choice(help="How often new folds are drawn.")]
Seed = Annotated[int, _choice(help="Seed of the folds.")]
Jobs = Annotated[int | None, _choice("--jobs", "-j", help=_JOBS)]

# Those of `-k cv`; what is not given is as usual.
_cross_validation = partial(typer.Option, rich_help_panel="With -k cv")
_RULE = (
    "The smallest size within one standard error of the best (one-se), or the best itself. one-se "
    "if not given."
)
_LARGEST = "The largest size to try, a count or a fraction; ten at most if not given."
Rule = Annotated[Literal["one-se", "best"] | None, _cross_validation(help=_RULE)]
LargestSize = Annotated[str | None, _cross_validation("--largest", help=_LARGEST, metavar="COUNT")]
SizeEstimator = Annotated[str | None, _cross_validation("--estimator", help=_ESTIMATOR)]
SizeScoring = Annotated[str | None, _cross_validation("--scoring", help=_SCORING)]
SizeFolds = Annotated[
    int | None,
    _cross_validation("--folds", help="Folds of the cross-validation; five if not given."),
]
SizeJobs = Annotated[int | None, _cross_validation("--jobs", "-j", help=_JOBS)]
_PER_HALF = (
    "How many features each half takes: a count, or a fraction between 0 and 1. By default as many "
    "as --threshold and --pfer allow."
)
_THRESHOLD = (
    "The share of halves, above 0.5, that must take a feature. By default 0.75, or with -k the "
    "lowest that keeps --pfer."
)
_PFER = (
    "Expected number of false features among those chosen, at most. By default 1, unless -k and "
    "--threshold are both given."
)
_ASSUMPTION = "What the bound assumes of false features; none is the most cautious."
PerHalf = Annotated[str | None, _choice("--count", "-k", help=_PER_HALF, metavar="COUNT")]
Threshold = Annotated[float | None, _choice(help=_THRESHOLD)]
Pfer = Annotated[float | None, _choice(help=_PFER)]
Pairs = Annotated[int, _choice(help="How often the rows are cut into two halves.")]
Assumption = Annotated[Literal["unimodal", "r_concave", "none"], _choice(help=_ASSUMPTION)]
SeedOfHalves = Annotated[int, _choice("--seed", help="Seed of the halves.")]

_REPORT = "Write a page that tells what was found and why; to FILE.json its figures alone."
_OUTPUT = (
    "Write the table reduced to the selected columns and the target, in its own format unless the "
    "suffix names another."
)
_OVERWRITE = "Let the output replace a file of the table; otherwise that is refused."
_ESCAPE = (
    "In CSV and TSV, put an apostrophe before names and text that a spreadsheet would run as "
    "formulas (=, +, -, @, tab first); if not given, they stay, with a warning."
)
Format = Annotated[
    Literal["table", "json", "csv"], _answer("--format", "-f", help="How to print the answer.")
]
Quiet = Annotated[bool, _answer("--quiet", "-q", help="No bar, notes or warnings; errors only.")]
Report = Annotated[str | None, _answer(help=_REPORT, metavar="FILE.html")]
Output = Annotated[str | None, _answer(help=_OUTPUT, metavar="FILE")]
OverwriteSource = Annotated[bool, _answer("--overwrite-source", help=_OVERWRITE)]
EscapeFormulas = Annotated[
    bool | None, _answer("--escape-formulas/--no-escape-formulas", help=_ESCAPE)
]


# Options that commands have in common


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How a file is written: what all commands that read a table take."""

    delimiter: Delimiter = None
    encoding: Encoding = None
    header: Header = True
    input_format: InputFormat = None

    def given(self, drop: Sequence[str] = ()) -> dict[str, Any]:
        """Return what was given, as `read_table` has it."""
        options = {
            "format": self.input_format,
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "header": None if self.header else False,
            "drop": list(drop) or None,
        }
        return {name: value for name, value in options.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """What columns are for and how they are cleaned: what all commands that select take."""

    exclude: Exclude
    group: Group
    categorical: Categorical
    drop: Drop
    missing: Missing = "indicator"
    dates: Dates = "drop"


def with_option_sets(command: Callable[..., None]) -> Callable[..., None]:
    """Let parameters whose type is one of these sets stand for its options, one by one.

    What is returned is called with the options by their names, as Typer does.
    """
    hints = get_type_hints(command, include_extras=True)
    sets: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        own = parameter.replace(annotation=hints[name])
        parameters += _as_parameters(sets[name]) if name in sets else [own]

    @wraps(command)
    def called(**given: Any) -> None:
        made = {}
        for name, kind in sets.items():
            made[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given, **made)

    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _as_parameters(kind: Any) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
