"""From the words that name a table and its columns to a table that a command works on.

All commands check their files and read their tables here; the class to know is `Loaded`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from orthoselect.cli.options import ColumnOptions, ReadingOptions
from orthoselect.cli.terminal import Terminal
from orthoselect.encode.gaps import check_missing
from orthoselect.errors import InputError, listing
from orthoselect.matrix.memory import count_bytes, resident_memory, say_bytes
from orthoselect.output import check_keeps_source, check_place
from orthoselect.read import (
    BUILT_IN,
    Dataset,
    check_output,
    files_of,
    find_names,
    on_dask,
    read_table,
    split_names,
)
from orthoselect.read.arrow import load_pyarrow, spare_memory
from orthoselect.roles import clean

_LOADED_LATER = 60_000_000  # bytes of modules and threads that come after the table is opened
_LEAST_LEFT = 110_000_000  # bytes that reading in blocks takes, however small they are
_PLENTY = 1_000_000_000  # bytes beside which what allocators keep is little
_REPORTS = (".html", ".htm", ".json")


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
    files : str or list of str
        What the table was read from.
    read_by : dict
        The options of `read_table` that were given.
    """

    dataset: Dataset
    target: Any
    target_name: str
    options: dict[str, Any]
    weights: str | None
    target_columns: list[str]
    reasons: dict[str, str]
    files: str | list[str] = ""
    read_by: Mapping[str, Any] = {}


def load(
    source: str | Sequence[str],
    target: Sequence[str],
    columns: ColumnOptions,
    reading: ReadingOptions,
    terminal: Terminal,
    *,
    include: Sequence[str] = (),
    weights: str | None = None,
    within: str | None = None,
    memory: str | None = None,
    scheduler: str | None = None,
    check: Callable[[Dataset], None] | None = None,
    has_target: bool = True,
) -> Loaded:
    """Read a table, and find the columns that were named; the options are those of the command.

    `check` may refuse the table before its columns are looked at.
    """
    files = one_or_several(source)
    given = reading.given(columns.drop)
    with terminal.working(f"reading {' '.join([files] if isinstance(files, str) else files)}"):
        left, note = (None, "") if memory is None else _left_of(memory, files)
        table = read_table(files, memory=left, in_blocks=scheduler is not None, **given)
        if check is not None:
            check(table)
        loaded = settle_columns(
            table, target, columns, include, weights, within, has_target=has_target
        )
        if note:
            terminal.note(note)
        if scheduler is not None:
            loaded = loaded._replace(dataset=on_dask(loaded.dataset))
    return loaded._replace(files=files, read_by=given)


def _left_of(memory: str, files: str | list[str]) -> tuple[int, str]:
    """Return what a limit of the whole process leaves to a table, and a note if that is nothing.

    Then the table is read as if the process itself took nothing, in the smallest blocks.
    """
    limit = count_bytes(memory)
    if not (isinstance(files, str) and files in BUILT_IN):
        if limit < _PLENTY:
            spare_memory()
        with suppress(InputError):  # without pyarrow there are other files
            load_pyarrow()
    resident = resident_memory()
    if resident is None:
        return limit, ""
    itself = resident + _LOADED_LATER
    if itself + _LEAST_LEFT <= limit:
        return limit - itself, ""
    return limit, (
        f"`--memory {memory}` is less than the command itself takes (about {say_bytes(itself)}) "
        f"and the smallest blocks ({say_bytes(_LEAST_LEFT)}); it will take more."
    )


def one_or_several(source: str | Sequence[str]) -> str | list[str]:
    """Return one source as it is, several as a list of files."""
    words = [source] if isinstance(source, str) else list(source)
    check_are_files(words[1:])
    return words[0] if len(words) == 1 else words


def settle_columns(
    dataset: Dataset,
    target: Sequence[str],
    asked: ColumnOptions,
    include: Sequence[str] = (),
    weights: str | None = None,
    within: str | None = None,
    *,
    has_target: bool = True,
) -> Loaded:
    """Find the columns that were named, and rid the table of what cannot be selected from."""
    names, missing = dataset.names, check_missing(asked.missing, also=["drop_columns"])
    weighing, permuting = [weights] if weights else [], [within] if within else []
    roles = {"target": target, "categorical": asked.categorical, "include": include}
    roles |= {"exclude": asked.exclude, "weights": weighing, "permute-within": permuting}
    for option, given in roles.items():
        for name in given:
            if name in dataset.dropped:
                raise InputError(
                    f"a column should have one role; `{name}` is named in `--{option}` and in "
                    f"`--drop`."
                )
    explained = _target(target, dataset) if has_target else None
    weighing = find_names(weighing, names, "--weights")
    if len(weighing) > 1:
        raise InputError(f"`--weights` should name one column; got {listing(weighing)}.")
    weight = weighing[0] if weighing else None
    groups = _groups(asked.group, names)
    excluded = find_names(asked.exclude, names, "--exclude")
    columns: dict[str, Any] = {
        "categorical_features": find_names(asked.categorical, names, "--categorical")
        or "from_dtype",
        "include": find_names(include, [*names, *groups], "--include") or None,
        "groups": groups or None,
        "exclude": excluded or None,
    }
    permuting = find_names(permuting, names, "--permute-within")
    apart_too = {"exclude": [*excluded, *permuting] or None}
    dataset = clean(
        dataset,
        explained,
        missing,
        has_target=has_target,
        sample_weight=weight,
        dates=asked.dates,
        **(columns | apart_too),
    )
    if permuting:
        columns["permute_within"] = permuting[0]
    # What is left without these columns has gaps no more but in its target.
    columns["missing"] = "drop_rows" if missing == "drop_columns" else missing
    columns["dates"] = asked.dates
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
            **dict.fromkeys(weighing, "the row weights"),
            **dict.fromkeys(permuting, "rows are permuted within it"),
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
    source: str | list[str], written: Mapping[str, str | None], overwrite: bool | None = None
) -> None:
    """Raise before the work if its result could not be written, or would replace the table.

    `written` has each option that names a file to write, and the file if there is to be one.
    `overwrite` is None where a command has no option that allows to replace the table.
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
