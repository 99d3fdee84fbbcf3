"""What a search knows about the set it has found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class SizedSet:
    """The best set of one size that a search has found.

    Attributes
    ----------
    size : int
        How many features it has.
    features : tuple of int
        Their columns in the table, for groups the first of each; in the order in which forward
        selection among them takes them. Fewer than `size` where the others would add nothing.
    names : tuple of str
    total : float
        What they reach together.
    """

    size: int
    features: tuple[int, ...]
    names: tuple[str, ...]
    total: float

    def to_dict(self) -> dict[str, Any]:
        """Return the same, plain."""
        return {
            "size": self.size,
            "features": list(self.features),
            "names": list(self.names),
            "total": self.total,
        }


@dataclass(frozen=True)
class Certificate:
    """How good a set is among all sets of its size; prints as a sentence or two.

    Attributes
    ----------
    search : str
        The search that found it.
    size : int
        How many features it was looked for with.
    optimal : bool or None
        True: no other set of that size does better, which is proved. False: the search could prove
        it and was stopped before. None: the search proves nothing.
    value : float
        What sets are compared by: their total; where features have different ranks, what they
        explain beyond chance.
    bound : float or None
        What no set of that size exceeds, if anything is known of it.
    n_sets : int
        Sets that were looked at.
    seconds : float
        What the search has taken.
    greedy_total : float
        What the set of forward selection reaches.
    added, dropped : tuple of str
        Features that forward selection does not have, and those that it has instead.
    note : str
        What else to know about the way the search went.
    forward : str
        What forward selection means here, where `search="forward"` by itself does something else.

    Examples
    --------
    >>> print(Certificate("exact", 5, True, 0.61, 0.61, 3120, 0.01, 0.58, ("age",), ("bmi",)))
    No other set of 5 does better (proved). Against forward selection: age in place of bmi.
    >>> print(Certificate("exact", 5, False, 0.5, 0.502, 9, 60.0, 0.5, note="the time was over"))
    The best possible set of 5 is at most 0.4 % better (the time was over). It is the set of forward
    selection.
    """

    search: str
    size: int
    optimal: bool | None
    value: float
    bound: float | None
    n_sets: int
    seconds: float
    greedy_total: float
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    note: str = ""
    forward: str = ""

    @property
    def gap(self) -> float | None:
        """By which share a better set could be better, at most; 0 if none is, None if unknown."""
        if self.optimal:
            return 0.0
        if self.bound is None or self.value <= 0:
            return None
        return max(self.bound / self.value - 1.0, 0.0)

    def __str__(self) -> str:
        return f"{self._proved()} {self._changed()}"

    def _proved(self) -> str:
        """Say what is proved."""
        note = f" ({self.note})" if self.note else ""
        if self.optimal:
            return f"No other set of {self.size} does better (proved)."
        if self.gap is not None:
            return (
                f"The best possible set of {self.size} is at most {_percent(self.gap)} better"
                f"{note}."
            )
        return (
            f"Search {self.search!r} found no better set of {self.size} than this; nothing is "
            f"proved{note}."
        )

    def _changed(self) -> str:
        """Say what is not as in forward selection."""
        forward = "forward selection" + (f" {self.forward}" if self.forward else "")
        if not self.added and not self.dropped:
            return f"It is the set of {forward}."
        if not self.added:
            return f"Against {forward}: without {', '.join(self.dropped)}."
        instead = f" in place of {', '.join(self.dropped)}" if self.dropped else " besides"
        return f"Against {forward}: {', '.join(self.added)}{instead}."

    def to_dict(self) -> dict[str, Any]:
        """Return the same, plain, with the gap and the words."""
        plain = {**asdict(self), "added": list(self.added), "dropped": list(self.dropped)}
        return {**plain, "gap": self.gap, "says": str(self)}


def _percent(share: float) -> str:
    """Return a share as people write it, never less than it is.

    >>> _percent(0.004), _percent(0.0123), _percent(2.5)
    ('0.4 %', '1.3 %', '250 %')
    """
    tenths = -int(-share * 1000 // 1) if share * 1000 % 1 > 1e-9 else round(share * 1000)
    return f"{tenths / 10:.0f} %" if tenths >= 1000 else f"{tenths / 10:.1f} %"
