"""Which methods are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from orthoselect.comparison.data import ComparedData
from orthoselect.errors import InputError, listing
from orthoselect.methods import METHODS, Method
from orthoselect.result import ComparedMethod

# A handful that differ, quick enough for any table: methods of one family often agree.
_USUAL = {
    "classification": ("socc", "mrmr_difference", "jmi", "cmim", "mim", "lasso"),
    "regression": ("socc", "socc_discretized", "err", "lasso", "elastic_net"),
}


@dataclass(frozen=True)
class Entry:
    """A method with its options, under the name that the result calls it.

    Attributes
    ----------
    name : str
        What the result calls it.
    method : str
        What `select` calls it.
    options : mapping
        Options of the method's own.
    unfit : str or None
        Why it is left out, if so.
    """

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    unfit: str | None = None

    def compared(self, failed: str | None) -> ComparedMethod:
        """Return what the result says of it."""
        own = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        summary = METHODS[self.method].summary + (f" ({own})" if own else "")
        return ComparedMethod(self.name, summary, self.unfit if failed is None else failed)


def find_entries(methods: Any) -> list[Entry]:
    """Return the methods that were asked for; none for None, which is the usual ones.

    Parameters
    ----------
    methods : str, list of str, mapping of str to options, or None

    Examples
    --------
    >>> find_entries(["socc"])
    [Entry(name='socc', method='socc', options={}, unfit=None)]
    >>> entries = find_entries({"jmi": {}, "jmi, 5 bins": {"method": "jmi", "bins": 5}})
    >>> entries[1].method, entries[1].options
    ('jmi', {'bins': 5})
    """
    if methods is None:
        return []
    if isinstance(methods, Mapping):
        entries = [_entry(name, options) for name, options in methods.items()]
    else:
        names = [methods] if isinstance(methods, str) else list(methods)
        entries = [Entry(name, METHODS.find(name).name) for name in names]
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise InputError(
                f"`methods` should name each method once; {listing(twice)} is repeated. One with "
                f"several options needs a mapping: `{{'a': {{'method': {twice[0]!r}, ...}}, ...}}`."
            )
    if not entries:
        raise InputError("`methods` should name at least one method, or be None for a handful.")
    return entries


def _entry(name: Any, options: Any) -> Entry:
    if not isinstance(name, str) or not isinstance(options, Mapping):
        raise InputError(
            f"`methods` as a mapping should have names, and for each a mapping of options (empty "
            f"for none); got {name!r}: {options!r}."
        )
    own = {k: v for k, v in options.items() if k != "method"}
    method = METHODS.find(options.get("method", name))
    method.make(**own)  # says what is wrong with them before any work is done
    return Entry(name, method.name, own)


def usual_entries(data: ComparedData) -> list[Entry]:
    """Return the usual methods, some of which may not be made for the table."""
    usual = [METHODS[name] for name in _USUAL[data.task]]
    return [Entry(m.name, m.name, unfit=_unfit(m, data)) for m in usual]


def with_options(entries: list[Entry], options: Mapping[str, Any]) -> list[Entry]:
    """Give options to the methods that have them; one that none has is an error.

    Examples
    --------
    >>> entries = with_options(find_entries(["socc", "jmi"]), {"bins": 5})
    >>> [entry.options for entry in entries]
    [{}, {'bins': 5}]
    """
    own = [METHODS[entry.method].options for entry in entries]
    unknown = [name for name in options if not any(name in known for known in own)]
    if unknown:
        available = dict.fromkeys(name for known in own for name in known)
        raise InputError(
            f"`options` should be options of the compared methods; none has {listing(unknown)}. "
            f"They have {', '.join(f'`{name}`' for name in available) or 'none'}."
        )
    given = []
    for entry, known in zip(entries, own):
        more = {name: value for name, value in options.items() if name in known}
        METHODS[entry.method].make(**{**more, **entry.options})  # says what is wrong with them
        given.append(replace(entry, options={**more, **entry.options}))
    return given


def _unfit(method: Method, data: ComparedData) -> str | None:
    labels = [data.source.names[column] for column in sorted(data.categorical)]
    if labels and "categorical_features" not in method.takes:
        hold = "holds" if len(labels) == 1 else "hold"
        return f"left out, since it takes columns of numbers, and {listing(labels)} {hold} labels."
    if data.groups and "groups" not in method.takes:
        return "left out, since it does not take `groups`."
    return None


def as_argument(entries: list[Entry]) -> Any:
    """Return the argument that stands for these methods: names, or a mapping if any has options."""
    if all(entry.name == entry.method and not entry.options for entry in entries):
        return [entry.name for entry in entries]
    return {e.name: {"method": e.method, **e.options} for e in entries}
