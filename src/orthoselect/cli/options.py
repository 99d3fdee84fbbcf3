"""The options that commands share, each said once."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from glob import glob
from pathlib import Path
from typing import Annotated, Any

import typer

from orthoselect.errors import InputError
from orthoselect.methods import METHODS
from orthoselect.read import BUILT_IN

_TABLE, _CHOICE, _ANSWER = "The table", "The choice", "The answer"


class Task(StrEnum):
    """What the response holds."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Missing(StrEnum):
    """What to do about missing values."""

    error = "error"
    drop_rows = "drop-rows"
    drop_columns = "drop-columns"


class Format(StrEnum):
    """How the answer is printed."""

    table = "table"
    json = "json"
    csv = "csv"


def complete_method(incomplete: str) -> list[tuple[str, str]]:
    """Return the methods that begin so, for the shell."""
    return [(m.name, m.summary) for m in METHODS.values() if m.name.startswith(incomplete)]


def complete_source(incomplete: str) -> list[str]:
    """Return the data sets and files that begin so, for the shell."""
    files = [name + ("/" if Path(name).is_dir() else "") for name in glob(f"{incomplete}*")]
    return [*(name for name in BUILT_IN if name.startswith(incomplete)), *sorted(files)]


def _option(panel: str, help: str, flags: str = "", **more: Any) -> Any:
    """Return an option that goes by these flags, or by the name of its parameter."""
    return typer.Option(*flags.split(), help=help, rich_help_panel=panel, **more)


# An option whose default says nothing, as it means "not given"; and one that can be repeated.
_silent = partial(_option, show_default=False)
_repeated = partial(_silent, metavar="NAME", default_factory=list)


def _source(metavar: str, several: str) -> Any:
    return typer.Argument(
        metavar=metavar,
        autocompletion=complete_source,
        help="A file (.csv, .tsv, .parquet, .feather, .arrow, .npy, .npz, .svm, .libsvm), a folder "
        f"or pattern of such,{several} a built-in data set (see `orthoselect datasets`), or - for "
        "standard input.",
        show_default=False,
    )


Source = Annotated[str, _source("SOURCE", "")]
Sources = Annotated[list[str], _source("SOURCE...", " several files of one table,")]

# The table.
Target = Annotated[
    list[str],
    _repeated(
        _TABLE,
        "The column to explain; repeat it for several. Built-in sets, LIBSVM files and "
        "archives with a y know theirs.",
        "--target -t",
    ),
]
Categorical = Annotated[
    list[str],
    _repeated(_TABLE, "Columns of numbers that are codes of categories; text columns are anyway."),
]
Drop = Annotated[
    list[str],
    _repeated(_TABLE, "Columns that are not even read, as if the table did not have them."),
]
Weights = Annotated[
    str | None,
    _silent(
        _TABLE,
        "A column of row weights; a whole number counts as so many copies of the row.",
        metavar="COLUMN",
    ),
]
Memory = Annotated[
    str | None,
    _silent(
        _TABLE,
        "What may be taken of the memory, for example 2GB; a larger table is read in blocks "
        "of rows. Half of what is free if not given.",
        metavar="AMOUNT",
    ),
]
Scheduler = Annotated[
    str | None,
    _silent(
        _TABLE,
        "A scheduler of Dask, for example tcp://10.0.0.1:8786, whose workers read the files, "
        "one each at a time, and do the work.",
        metavar="ADDRESS",
    ),
]
MissingOption = Annotated[
    Missing,
    _option(
        _TABLE,
        "What to do about missing values: complain, or drop the rows or columns with any.",
        "--missing",
    ),
]
Delimiter = Annotated[
    str | None,
    _silent(_TABLE, "What stands between the values of a text file; found out by itself, mostly."),
]
Encoding = Annotated[
    str | None,
    _silent(
        _TABLE, "The encoding of a text file, for example latin-1. UTF-8 and UTF-16 need no hint."
    ),
]
Header = Annotated[
    bool,
    _option(
        _TABLE,
        "Whether the first line of a text file names the columns; without they are x0, x1, "
        "and so on.",
        "--header/--no-header",
    ),
]
InputFormat = Annotated[
    str | None,
    _silent(
        _TABLE,
        "csv, tsv, parquet, feather, arrow, npy, npz or libsvm, where the file's name does "
        "not tell.",
        metavar="FORMAT",
    ),
]

# The choice.
Count = Annotated[
    str,
    _option(
        _CHOICE,
        "How many features: a count, or a fraction between 0 and 1.",
        "--count -k",
        metavar="COUNT",
    ),
]
Largest = Annotated[int, _option(_CHOICE, "The most features that are selected.", "--count -k")]
Method = Annotated[
    str,
    _option(
        _CHOICE,
        "What features are judged by; `orthoselect methods` lists the names.",
        "--method -m",
        autocompletion=complete_method,
    ),
]
Methods = Annotated[
    list[str],
    _repeated(
        _CHOICE,
        "A method to compare; repeat it, or put commas between. A handful if not given.",
        "--method -m",
        metavar=None,
        autocompletion=complete_method,
    ),
]
OwnOption = Annotated[
    list[str],
    _repeated(
        _CHOICE,
        "An option of the method's own, for example bins=5; `orthoselect methods NAME` shows them.",
        "--option",
        metavar="NAME=VALUE",
    ),
]
TaskOption = Annotated[
    Task,
    _option(
        _CHOICE,
        "Whether the target holds classes or numbers; auto takes whole numbers and text "
        "for classes.",
        "--task",
    ),
]
Group = Annotated[
    list[str],
    _repeated(
        _CHOICE, "Columns taken together, for example size=width,height.", metavar="NAME=COLUMNS"
    ),
]
Include = Annotated[list[str], _repeated(_CHOICE, "Features taken first, in this order.")]
Exclude = Annotated[list[str], _repeated(_CHOICE, "Columns never taken; they may hold anything.")]
Estimator = Annotated[
    str,
    _option(
        _CHOICE,
        "The linear model that is scored: auto, lda, svm or logistic for classes, "
        "least_squares or ridge for numbers.",
    ),
]
Scoring = Annotated[
    str, _option(_CHOICE, "What counts: auto, accuracy, balanced_accuracy, auc or r2.")
]
Folds = Annotated[int, _option(_CHOICE, "Folds of the cross-validation.")]
Repeats = Annotated[int, _option(_CHOICE, "How often the folds are drawn anew.")]
Seed = Annotated[int, _option(_CHOICE, "Seed of the folds.")]
Jobs = Annotated[
    int | None,
    _silent(
        _CHOICE,
        "Processes at work, -1 for all processors; as many as pay if not given.",
        "--jobs -j",
    ),
]

# The answer.
FormatOption = Annotated[Format, _option(_ANSWER, "How to print the answer.", "--format -f")]
Quiet = Annotated[bool, _option(_ANSWER, "No bar, notes or warnings; errors only.", "--quiet -q")]
Report = Annotated[
    str | None,
    _silent(
        _ANSWER,
        "Write a page that tells what was found and why; to FILE.json its figures alone.",
        metavar="FILE.html",
    ),
]
Output = Annotated[
    str | None,
    _silent(
        _ANSWER,
        "Write the table reduced to the selected columns and the target, in its own format "
        "unless the suffix names another.",
        metavar="FILE",
    ),
]
OverwriteSource = Annotated[
    bool,
    _option(
        _ANSWER,
        "Let what is written take the place of a file of the table, which else is refused.",
        "--overwrite-source",
    ),
]
EscapeFormulas = Annotated[
    bool | None,
    _silent(
        _ANSWER,
        "In CSV and TSV, put an apostrophe before names and text that a spreadsheet would run "
        "as formulas (=, +, -, @, tab first); if not given, they are left so and warned of.",
        "--escape-formulas/--no-escape-formulas",
    ),
]


def own_options(given: Sequence[str]) -> dict[str, Any]:
    """Read ``name=value``; a value that is no number, truth value or None is text.

    Examples
    --------
    >>> own_options(["bins=5", "cut=auto", "capped=False"])
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
