"""The library's messages in the words of the command."""

from __future__ import annotations

import re
from collections.abc import Mapping

from orthoselect.methods import METHODS

# What a message of the library calls an argument, and what the command calls it.
_OPTIONS = {
    "n_features_to_select": "-k",
    "categorical_features": "--categorical",
    "sample_weight": "--weights",
    "response_encoding": "--option response_encoding",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "groups": "--group",
    "format": "--input-format",
    "methods": "--method",
    "names": "NAME",
    "sizes": "-k",
    **{
        name: f"--{name}"
        for name in (
            "data",
            "delimiter",
            "drop",
            "encoding",
            "estimator",
            "exclude",
            "features",
            "folds",
            "include",
            "memory",
            "method",
            "missing",
            "output",
            "repeats",
            "scoring",
            "target",
            "task",
        )
    },
}
_SETTING = re.compile(r"`(\w+)='?([^'`]*)'?`")
_PHRASES = {
    "encoding to `read_table`, for": "encoding, for",
    "give `read_table` another `delimiter`": "give another with `--delimiter`",
    "tell `read_table` what": "say what",
    "`header=False`": "`--no-header`",
    "use OrthogonalSelector, which": "use `--method socc`, which",
    "pass `overwrite_source=True`": "give `--overwrite-source`",
    "pass `escape_formulas=True`": "give `--escape-formulas`",
    "`escape_formulas=False`": "`--no-escape-formulas`",
}
# Where a name in backquotes is an argument and not a column of the table.
_NAME = re.compile(r"(^|\bin |\btake |\bset )`(\w+)`")


def in_command_words(message: str, own: Mapping[str, str] = {}) -> str:
    """Name options as the command has them, and keep to one line.

    Parameters
    ----------
    message : str
    own : mapping of str to str
        What a command calls arguments that others call otherwise.

    Examples
    --------
    >>> in_command_words("Drop them, or name the column in `exclude`.")
    'Drop them, or name the column in `--exclude`.'
    >>> in_command_words("if it is a quantity pass `task='regression'`.")
    'if it is a quantity pass `--task regression`.'
    >>> in_command_words("Give its encoding to `read_table`, for example `encoding='latin-1'`.")
    'Give its encoding, for example `--encoding latin-1`.'
    >>> in_command_words("Choose `folds=19`.")
    'Choose `--folds 19`.'
    >>> in_command_words("cut it by `bins=5`; column `a=5` is left out.")
    'cut it by `--option bins=5`; column `a=5` is left out.'
    >>> in_command_words("there is no column `target`.")
    'there is no column `target`.'
    """
    for library, command in _PHRASES.items():
        message = message.replace(library, command)
    names = {**_OPTIONS, **own}
    message = _SETTING.sub(_setting, message)
    message = _NAME.sub(lambda found: f"{found[1]}`{names.get(found[2], found[2])}`", message)
    return " ".join(message.split())


def _setting(found: re.Match[str]) -> str:
    name, value = found.groups()
    if name in _OPTIONS:
        return f"`{_OPTIONS[name]} {value}`"
    is_own = any(name in method.options for method in METHODS.values())
    return f"`--option {name}={value}`" if is_own else found[0]
