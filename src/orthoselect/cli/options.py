"""The options that commands share, each said once."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import StrEnum
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


Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        autocompletion=complete_source,
        help="A file (.csv, .tsv, .parquet, .feather, .arrow, .npy, .npz, .svm, .libsvm), a folder "
        "or pattern of such, a built-in data set (see `orthoselect datasets`), or - for standard "
        "input.",
        show_default=False,
    ),
]
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        autocompletion=complete_source,
        help="A file (.csv, .tsv, .parquet, .feather, .arrow, .npy, .npz, .svm, .libsvm), a folder "
        "or pattern of such, several files of one table, a built-in data set (see `orthoselect "
        "datasets`), or - for standard input.",
        show_default=False,
    ),
]
Target = Annotated[
    list[str],
    typer.Option(
        "--target",
        "-t",
        default_factory=list,
        metavar="NAME",
        help="The column to explain; repeat it for several. Built-in sets, LIBSVM files and "
        "archives with a y know theirs.",
        show_default=False,
        rich_help_panel=_TABLE,
    ),
]
Categorical = Annotated[
    list[str],
    typer.Option(
        default_factory=list,
        metavar="NAME",
        help="Columns of numbers that are codes of categories; text columns are anyway.",
        show_default=False,
        rich_help_panel=_TABLE,
    ),
]
Group = Annotated[
    list[str],
    typer.Option(
        default_factory=list,
        metavar="NAME=COLUMNS",
        help="Columns taken together, for example size=width,height.",
        show_default=False,
        rich_help_panel=_CHOICE,
    ),
]
Include = Annotated[
    list[str],
    typer.Option(
        default_factory=list,
        metavar="NAME",
        help="Features taken first, in this order.",
        show_default=False,
        rich_help_panel=_CHOICE,
    ),
]
Exclude = Annotated[
    list[str],
    typer.Option(
        default_factory=list,
        metavar="NAME",
        help="Columns never taken; they may hold anything.",
        show_default=False,
        rich_help_panel=_CHOICE,
    ),
]
Drop = Annotated[
    list[str],
    typer.Option(
        default_factory=list,
        metavar="NAME",
        help="Columns that are not even read, as if the table did not have them.",
        show_default=False,
        rich_help_panel=_TABLE,
    ),
]
TaskOption = Annotated[
    Task,
    typer.Option(
        "--task",
        help="Whether the target holds classes or numbers; auto takes whole numbers and text "
        "for classes.",
        rich_help_panel=_CHOICE,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="A column of row weights; a whole number counts as so many copies of the row.",
        show_default=False,
        rich_help_panel=_TABLE,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="What may be taken of the memory, for example 2GB; a larger table is read in blocks "
        "of rows. Half of what is free if not given.",
        show_default=False,
        rich_help_panel=_TABLE,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="A scheduler of Dask, for example tcp://10.0.0.1:8786, whose workers read the files, "
        "one each at a time, and do the work.",
        show_default=False,
        rich_help_panel=_TABLE,
    ),
]
MissingOption = Annotated[
    Missing,
    typer.Option(
        "--missing",
        help="What to do about missing values: complain, or drop the rows or columns with any.",
        rich_help_panel=_TABLE,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What stands between the values of a text file; found out by itself, mostly.",
        show_default=False,
        rich_help_panel=_TABLE,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="The encoding of a text file, for example latin-1. UTF-8 and UTF-16 need no hint.",
        show_default=False,
        rich_help_panel=_TABLE,
    ),
]
Header = Annotated[
    bool,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a text file names the columns; without they are x0, x1, "
        "and so on.",
        rich_help_panel=_TABLE,
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help="csv, tsv, parquet, feather, arrow, npy, npz or libsvm, where the file's name does "
        "not tell.",
        show_default=False,
        rich_help_panel=_TABLE,
    ),
]
FormatOption = Annotated[
    Format,
    typer.Option("--format", "-f", help="How to print the answer.", rich_help_panel=_ANSWER),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="No bar, notes or warnings; errors only.", rich_help_panel=_ANSWER
    ),
]
Report = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.html",
        help="Write a page that tells what was found and why; to FILE.json its figures alone.",
        show_default=False,
        rich_help_panel=_ANSWER,
    ),
]
Count = Annotated[
    str,
    typer.Option(
        "--count",
        "-k",
        metavar="COUNT",
        help="How many features: a count, or a fraction between 0 and 1.",
        rich_help_panel=_CHOICE,
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        help="What features are judged by; `orthoselect methods` lists the names.",
        autocompletion=complete_method,
        rich_help_panel=_CHOICE,
    ),
]
OwnOption = Annotated[
    list[str],
    typer.Option(
        "--option",
        default_factory=list,
        metavar="NAME=VALUE",
        help="An option of the method's own, for example bins=5; `orthoselect methods NAME` shows "
        "them.",
        show_default=False,
        rich_help_panel=_CHOICE,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Write the table reduced to the selected columns and the target, in its own format "
        "unless the suffix names another.",
        show_default=False,
        rich_help_panel=_ANSWER,
    ),
]
OverwriteSource = Annotated[
    bool,
    typer.Option(
        "--overwrite-source",
        help="Let what is written take the place of a file of the table, which else is refused.",
        rich_help_panel=_ANSWER,
    ),
]
EscapeFormulas = Annotated[
    bool | None,
    typer.Option(
        "--escape-formulas/--no-escape-formulas",
        help="In CSV and TSV, put an apostrophe before names and text that a spreadsheet would run "
        "as formulas (=, +, -, @, tab first); if not given, they are left so and warned of.",
        show_default=False,
        rich_help_panel=_ANSWER,
    ),
]
Methods = Annotated[
    list[str],
    typer.Option(
        "--method",
        "-m",
        default_factory=list,
        help="A method to compare; repeat it, or put commas between. A handful if not given.",
        autocompletion=complete_method,
        show_default=False,
        rich_help_panel=_CHOICE,
    ),
]
Largest = Annotated[
    int,
    typer.Option(
        "--count", "-k", help="The most features that are selected.", rich_help_panel=_CHOICE
    ),
]
Estimator = Annotated[
    str,
    typer.Option(
        help="The linear model that is scored: auto, lda, svm or logistic for classes, "
        "least_squares or ridge for numbers.",
        rich_help_panel=_CHOICE,
    ),
]
Scoring = Annotated[
    str,
    typer.Option(
        help="What counts: auto, accuracy, balanced_accuracy, auc or r2.", rich_help_panel=_CHOICE
    ),
]
Folds = Annotated[int, typer.Option(help="Folds of the cross-validation.", rich_help_panel=_CHOICE)]
Repeats = Annotated[
    int, typer.Option(help="How often the folds are drawn anew.", rich_help_panel=_CHOICE)
]
Seed = Annotated[int, typer.Option(help="Seed of the folds.", rich_help_panel=_CHOICE)]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        help="Processes at work, -1 for all processors; as many as pay if not given.",
        show_default=False,
        rich_help_panel=_CHOICE,
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
