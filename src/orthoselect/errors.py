"""The errors and warnings a user may meet; each class words its own message.

Every message says what was expected, what was found and what to do about it.
"""

from __future__ import annotations

import difflib
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

_PACKAGE = str(Path(__file__).parent)
_LISTED = 5  # how many names a message shows before it says "and so many more"
_HEAD, _TAIL = 120, 57  # characters shown of a name or value that is longer than both together
# Whatever stands between a pair of backquotes, long or not, so that no pair is taken for another.
_NAME = re.compile(rf"`([^`]*)`|\S{{{_HEAD + _TAIL},}}")
_READABLE = 2_000  # characters of a message


def listing(names: Iterable[object]) -> str:
    """Names in backquotes, the first few spelt out.

    >>> listing(range(7))
    '`0`, `1`, `2`, `3`, `4` and 2 more'
    """
    names = list(names)
    shown = ", ".join(f"`{name}`" for name in names[:_LISTED])
    more = len(names) - _LISTED
    return f"{shown} and {more} more" if more > 0 else shown


def _are(count: int, what: str) -> str:
    return f"is 1 {what}" if count == 1 else f"are {count} {what}s"


def did_you_mean(unknown: Iterable[object], known: Sequence[str], most: int = 3) -> str:
    """Return a question with the known names nearest to unknown ones, "" if none is near."""
    by_lower = {name.lower(): name for name in reversed(known)}
    near = []
    for name in map(str, unknown):
        same = by_lower.get(name.lower())
        near += [same] if same else difflib.get_close_matches(name, known, n=most)
    return f"did you mean {listing(dict.fromkeys(near))}?" if near else ""


def shortened(words: str) -> str:
    """Return a message without the middle of names and values that are too long to read."""
    words = _NAME.sub(_without_middle, words)
    if len(words) > _READABLE:
        words = f"{words[: _READABLE // 2]} ... {words[-_READABLE // 2 :]}"
    return words


def _without_middle(found: re.Match[str]) -> str:
    quoted, mark = found[1], "" if found[1] is None else "`"
    name = found[0] if quoted is None else quoted
    if len(name) < _HEAD + _TAIL:
        return found[0]
    return f"{mark}{name[:_HEAD]}...{name[-_TAIL:]}{mark}"


_collecting: ContextVar[list[Warning] | None] = ContextVar("collecting", default=None)


@contextmanager
def collecting_warnings() -> Iterator[list[Warning]]:
    """Keep back what this package warns of, in this thread; where an error ends it, say it all."""
    collected: list[Warning] = []
    token = _collecting.set(collected)
    failed = True
    try:
        yield collected
        failed = False
    finally:
        _collecting.reset(token)
        if failed:
            for warning in collected:
                warn(warning)


def warn(warning: Warning, package: str = _PACKAGE) -> None:
    """Issue a warning at the line outside a package, by its folder, that led to it."""
    collected = _collecting.get()
    if collected is not None:
        collected.append(warning)
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def with_text(kind: type[Warning], text: str) -> Warning:
    """Return a warning of this kind that says something else than its class would."""
    warning = kind.__new__(kind, text)
    warning.args = (text,)
    return warning


def _restore(kind: type[BaseException], args: tuple, state: dict[str, Any]) -> BaseException:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class _Worded:
    """A message built by the class; a pickle carries the words, not what they were made from."""

    def __reduce__(self) -> tuple:
        return _restore, (type(self), self.args, self.__dict__)  # type: ignore[attr-defined]


class InputError(_Worded, ValueError):
    """Something about the data or an argument that the user can fix."""

    def __init__(self, words: str) -> None:
        super().__init__(shortened(words))

    def at(self, place: str) -> InputError:
        """Return the same error, with the part of the table that it is about.

        Examples
        --------
        >>> InputError("column `a` should hold numbers.").at("block 3 (rows 30 to 39)")
        InputError('column `a` should hold numbers. This is about block 3 (rows 30 to 39).')
        """
        words = f"{self} This is about {place}."
        return _restore(type(self), (words,), self.__dict__)  # type: ignore[return-value]

    def reworded(self, words: Mapping[str, str]) -> InputError:
        """Return the same error in the words of a caller who calls arguments otherwise.

        Examples
        --------
        >>> InputError("`k` should be 2; got 3.").reworded({"`k`": "`n_channels`"})
        InputError('`n_channels` should be 2; got 3.')
        """
        return _restore(type(self), (exchanged(str(self), words),), self.__dict__)  # type: ignore[return-value]


def exchanged(text: str, words: Mapping[str, str]) -> str:
    """Return a text with some words in the place of others, one after the other."""
    for word, other in words.items():
        text = text.replace(word, other)
    return text


class ShapeError(InputError):
    """The table or the response has a shape that nothing can be selected from."""


class UnknownColumnError(InputError):
    """A column was named that the table does not have."""

    def __init__(self, argument: str, unknown: Sequence[object], available: Sequence[str]) -> None:
        hint = did_you_mean(unknown, available) or f"the columns are {listing(available)}."
        super().__init__(
            f"`{argument}` should name columns of the table; there is no {listing(unknown)}: {hint}"
        )


class ConstantTargetError(InputError):
    """A response that is the same in all rows."""

    def __init__(self, name: str, value: object, others: int = 0) -> None:
        also = f", and {others} more column(s) of it are constant, too" if others else ""
        super().__init__(
            f"{name} should have at least two classes or different numbers; every row has "
            f"{value!r}{also}. Choose another `target`, or more rows."
        )
        self.name, self.value = name, value

    def within(self, part: str, advice: str) -> ConstantTargetError:
        """Return the error for a part of the rows that was chosen for the user.

        Examples
        --------
        >>> str(ConstantTargetError("y", 0).within("fold 2", "Take fewer folds."))
        'y should have at least two classes or different numbers in fold 2; every row there has 0. \
Take fewer folds.'
        """
        words = (
            f"{self.name} should have at least two classes or different numbers in {part}; every "
            f"row there has {self.value!r}. {advice}"
        )
        return _restore(type(self), (words,), self.__dict__)  # type: ignore[return-value]


class NonFiniteError(InputError):
    """The table holds NaN or infinity."""

    def __init__(self, counts: dict[str, tuple[int, int]], place: str | None = None) -> None:
        (name, (n_nan, n_inf)) = next(iter(counts.items()))
        kinds = [f"{n_nan} NaN"] * bool(n_nan) + [f"{n_inf} infinity (inf)"] * bool(n_inf)
        others = len(counts) - 1
        elsewhere = f", and {others} more column(s), too" if others else ""
        first = f", the first in {place}" if place else ""
        super().__init__(
            f"X should hold finite numbers; column `{name}` has {' and '.join(kinds)} "
            f"value(s){first}{elsewhere}. Drop or fill them, or name the column in `exclude`."
        )


class InfiniteSignalError(NonFiniteError):
    """A signal over time holds infinity."""

    def __init__(self, name: str, count: int, first: int) -> None:
        InputError.__init__(
            self,
            f"signals should hold finite numbers; `{name}` has {count} infinite value(s), the "
            f"first in row {first}. Replace it, or put NaN there, which ends a session.",
        )


class MissingValueError(NonFiniteError):
    """A column, the response or the row weights lack values."""

    def __init__(self, what: str, count: int, remedy: str) -> None:
        self.count = count
        are = "is" if count == 1 else "are"
        InputError.__init__(
            self,
            f"{what} should have no missing values; {count} {are} missing (NaN or null). {remedy}",
        )


class GapsError(MissingValueError):
    """Columns lack values; all of them are counted, the target among them, the worst first."""

    def __init__(
        self,
        counts: Mapping[str, tuple[int, int]],
        n_rows: int,
        *,
        roles: Mapping[str, str] = {},
        place: str | None = None,
        remedy: str = "Pass `missing='indicator'` ('mean' and 'drop_rows' are other ways), fill "
        "them, or name columns in `exclude`.",
    ) -> None:
        self.count = sum(n_missing for n_missing, _ in counts.values())
        worst = sorted(counts.items(), key=lambda column: -sum(column[1]))
        told = [
            f"`{name}` ({f'{roles[name]}, ' if name in roles else ''}{counted(*each)} of {n_rows})"
            for name, each in worst
        ]
        more = f" and {len(told) - _LISTED} more" if len(told) > _LISTED else ""
        columns = "1 column has some" if len(told) == 1 else f"{len(told)} columns have some"
        first = f", the first in {place}" if place else ""
        finite = ""
        if any(n_infinite for _, n_infinite in counts.values()):
            finite = " Infinite values (inf) have to be replaced."
        InputError.__init__(
            self,
            f"there should be no missing values (NaN or null); {columns}{first}: "
            f"{', '.join(told[:_LISTED])}{more}. {remedy}{finite}",
        )


def counted(n_missing: int, n_infinite: int) -> str:
    """Return how many values are missing and infinite, in words.

    Examples
    --------
    >>> counted(2, 0), counted(1, 3)
    ('2 missing', '1 missing and 3 infinite')
    """
    told = [f"{n_missing} missing"] * bool(n_missing)
    return " and ".join(told + [f"{n_infinite} infinite"] * bool(n_infinite))


class SelectionWarning(_Worded, UserWarning):
    """The selection is right, but something about it deserves a look."""


class SearchStoppedWarning(SelectionWarning):
    """Fewer features were selected than asked for."""

    def __init__(self, found: int, wanted: int, reason: str, what: str = "features") -> None:
        super().__init__(f"selected {found} of the {wanted} {what} asked for: {reason}")


class NoMoreThanChanceWarning(SelectionWarning):
    """A feature was selected that gains no more than it would by chance."""

    def __init__(self, step: int, name: str) -> None:
        super().__init__(
            f"from step {step} on (`{name}`) no feature gains more than it would by chance: with "
            f"what is left to explain, as many columns of noise would gain as much on average. "
            f"Select {step - 1 or 'none'}, or pass `n_features_to_select=None` to stop there."
        )


class NothingSignificantWarning(SelectionWarning):
    """No feature is significant, so that none is chosen."""

    def __init__(self, alpha: float, p_value: float | None, name: str | None) -> None:
        best = "" if p_value is None else f" The best is `{name}`, p = {p_value:.2g}."
        super().__init__(
            f"no feature is significant at {alpha:g}: the best gains no more than the best would "
            f"by chance.{best} None is chosen; pass a number to take features anyway."
        )


class NoBetterThanNoneWarning(SelectionWarning):
    """A cross-validated size that is not clearly better than no features."""

    def __init__(self, chosen: int, score: str, best: str, none: str) -> None:
        are, them = ("1 feature is", "it") if chosen == 1 else (f"{chosen} features are", "them")
        super().__init__(
            f"no size is clearly better than no features: the best mean {score} is {best}, that of "
            f"no features {none}. {are} chosen anyway; use none unless you have another reason "
            f"to keep {them}, or use more rows."
        )


class RareColumnsWarning(SelectionWarning):
    """A test without rows whose assumption is doubtful for some columns or classes."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"p-values of statistics assume that columns and classes are not rare; "
            f"{listing(list(names))} hardly varies, and so p-values may be far too small. Select "
            f"from the rows."
        )


class OversampledWarning(SelectionWarning):
    """A signal changes so little from one time to the next that its last value explains it."""

    def __init__(self, last: str, share: float, done: bool, included: str | None = None) -> None:
        if done:
            what = (
                "terms were selected for the change from one time to the next, with that term "
                "included, which gives the same terms with all their digits"
            )
        elif included is not None:
            what = (
                f"`include` begins with `{included}`; begin it with `{last}`, or omit it, and "
                f"terms are selected for the change from one time to the next"
            )
        else:
            what = (
                "use criterion 'err', which then selects for the change from one time to the next"
            )
        super().__init__(
            f"`{last}` alone explains {share:.6%} of the target, so that little is left for other "
            f"terms: {what}. If one-step predictions are good and free runs are not, keep every "
            f"k-th row only: the target is sampled much faster than it changes."
        )


class DoubtfulOrderWarning(SelectionWarning):
    """A criterion of order says how many terms to take, and there is reason to doubt it."""

    def __init__(self, order: str, n_terms: int, n_rows: int, n_candidates: int) -> None:
        few = n_rows < n_candidates
        why = (
            f"{n_rows} rows are fewer than the {n_candidates} candidates, of which some fit by "
            f"chance"
            if few
            else "its best value lies at the end of the path, and more terms might be better still"
        )
        further = "" if few else "; or let the path go further, `max_terms`"
        super().__init__(
            f"`order={order!r}` takes {n_terms} {'term' if n_terms == 1 else 'terms'}, which is "
            f"doubtful: {why}. Use more rows, fewer lags or a lower degree{further}. Validate on "
            f"rows that were not fitted."
        )


class GapsInPastWarning(SelectionWarning):
    """Predictions from what was measured, where some of it is missing."""

    def __init__(self, rows: Sequence[int], longest: int) -> None:
        others = f", and {len(rows) - 1} more row(s) have" if len(rows) > 1 else ""
        super().__init__(
            f"row {rows[0]} of `y0` has a missing value{others}: predictions are NaN there, and "
            f"start again {longest} row(s) later."
        )


class DivergedWarning(SelectionWarning):
    """A model that is run on its own output left every bound."""

    def __init__(self, rows: Sequence[int], n_runs: int, limit: float) -> None:
        more = f" (and {len(rows) - 1} more of {n_runs} runs diverge)" if len(rows) > 1 else ""
        super().__init__(
            f"the free run diverges at row {rows[0]}{more}: the output exceeds {limit:.3g} there, "
            f"and is NaN until the end of the run. Choose fewer terms, `order='free-run'` or "
            f"`fit='free-run'`."
        )


class NotSettledWarning(SelectionWarning):
    """Residuals and noise terms kept changing."""

    def __init__(self, rounds: int, change: float) -> None:
        super().__init__(
            f"residuals should settle as noise terms are selected; after {rounds} rounds they "
            f"still change by {change:.1%}. The round with the smallest residuals was kept. Use "
            f"fewer `noise_lags`."
        )


class TooManyRequestedWarning(SelectionWarning):
    """More features were asked for than there are to choose from."""

    def __init__(
        self,
        wanted: int,
        available: int,
        argument: str = "n_features_to_select",
        what: str = "feature",
    ) -> None:
        super().__init__(
            f"`{argument}` is {wanted}, but there {_are(available, what)} to choose from; all that "
            f"add anything are selected, in order."
        )


class ReadAsQuantityWarning(SelectionWarning):
    """Whole numbers that were read as a quantity, and could be classes."""

    def __init__(self, name: str, n_distinct: str) -> None:
        super().__init__(
            f"{name} holds {n_distinct} distinct whole numbers and is read as a quantity; pass "
            f"`task='classification'` if these are classes, or `task='regression'` if they are not."
        )


class ReadAsClassesWarning(SelectionWarning):
    """Few whole numbers that were read as classes, and could be a quantity."""

    def __init__(self, name: str, numbers: Sequence[object]) -> None:
        told = ", ".join(map(str, numbers))
        super().__init__(
            f"{name} holds the whole numbers {told} and is read as {len(numbers)} classes; pass "
            f"`task='regression'` if it is a quantity, or `task='classification'` if it is not."
        )


class ReadAsNamesWarning(SelectionWarning):
    """Text that was read as classes, and looks like names."""

    def __init__(self, name: str, n_levels: int, n_rows: int, n_alone: int) -> None:
        super().__init__(
            f"{name} holds {n_levels} different labels in {n_rows} rows, {n_alone} of them in one "
            f"row each, and is read as classes; it looks like names. Choose another `target`, or "
            f"merge rare labels; pass `task='classification'` if these are classes."
        )


class OneRowClassWarning(SelectionWarning):
    """Classes of a single row."""

    def __init__(self, name: str, classes: Sequence[object]) -> None:
        if len(classes) == 1:
            who, those = f"class {listing(classes)} of {name} has 1 row only", "this row"
        else:
            who, those = f"classes {listing(classes)} of {name} have 1 row each", "such a row"
        super().__init__(
            f"{who}: a feature that differs in {those} alone gains as much as one that tells a "
            f"whole class apart. Merge rare classes, or drop such rows."
        )


class ManyLevelsWarning(SelectionWarning):
    """A categorical feature with nearly as many levels as rows."""

    def __init__(self, what: str, n_levels: int, n_rows: int) -> None:
        super().__init__(
            f"{what} has {n_levels} levels in {n_rows} rows: so many that it "
            f"fits any response. Name it in `exclude` if it is an identifier, or convert it if "
            f"these are numbers stored as text."
        )


class UncutNumbersWarning(SelectionWarning):
    """Whole numbers taken as levels, nearly as many as rows."""

    def __init__(self, name: str, n_levels: int, n_rows: int, others: int) -> None:
        elsewhere = f", and {others} more column(s), too" if others else ""
        super().__init__(
            f"column `{name}` holds {n_levels} distinct whole numbers in {n_rows} rows, which are "
            f"taken as they are{elsewhere}: so many levels that they fit any response. Cut "
            f"quantities (`bins='mean_std_3'`, or a number of bins); labels are fine where they "
            f"are named in `categorical_features`."
        )


class LeftOutWarning(SelectionWarning):
    """Columns of a file that are no candidates, each with the reason."""

    def __init__(self, reasons: Mapping[str, str], remedy: str) -> None:
        by_reason: dict[str, list[str]] = {}
        for name, reason in reasons.items():
            by_reason.setdefault(reason, []).append(name)
        told = "; ".join(f"{listing(names)} ({reason})" for reason, names in by_reason.items())
        super().__init__(f"left out {len(reasons)} column(s): {told}. {remedy}")


class LooksNumericWarning(SelectionWarning):
    """Columns of text whose values look like numbers.

    For each: how many values look so, how many there are, and one of them.
    """

    def __init__(self, columns: Mapping[str, tuple[int, int, str]]) -> None:
        (name, (n_like, n_values, example)), *others = columns.items()
        also = f", and so are {listing(other for other, _ in others)}" if others else ""
        them = "them" if others else "it"
        super().__init__(
            f"column `{name}` is read as text though {n_like} of {n_values} values look like "
            f"numbers, for example {example!r}{also}; clean {them}, or name {them} in "
            f"`categorical_features` if these are labels."
        )


class ReadAsNumbersWarning(SelectionWarning):
    """Columns of text that are read as numbers, each with one of its values."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        told = listing(columns)
        name, example = next(iter(columns.items()))
        of = f" of `{name}`" if len(columns) > 1 else ""
        super().__init__(
            f"read the text of {told} as numbers, for example {example!r}{of}; name a column in "
            f"`categorical_features` if these are labels."
        )


class CutShortWarning(SelectionWarning):
    """A file whose last line does not end."""

    def __init__(self, name: str, end: str) -> None:
        super().__init__(
            f"`{name}` should end with a newline; its last line has none and may be cut short: it "
            f"ends with {end!r}. Get the file again, or add a newline if it is whole."
        )


class FormulaWarning(SelectionWarning):
    """Text in a CSV or TSV file that a spreadsheet would run as formulas."""

    def __init__(self, where: str, count: int, example: str) -> None:
        super().__init__(
            f"{where} holds {count} name(s) or value(s) that a spreadsheet would run as formulas, "
            f"for example {example!r}; pass `escape_formulas=True` to put an apostrophe before "
            f"each, or `escape_formulas=False` if they are fine."
        )


class RowsDroppedWarning(SelectionWarning):
    """Rows with missing values were dropped."""

    def __init__(self, dropped: int, n_rows: int, where: str) -> None:
        super().__init__(f"dropped {dropped} of {n_rows} rows, which have missing values{where}.")


class SelectionInterrupted(_Worded, KeyboardInterrupt):
    """Ctrl-C during a selection; `path` holds the steps made until then."""

    def __init__(self, path: Any) -> None:
        super().__init__(f"interrupted after {len(path)} feature(s); see the attribute `path`.")
        self.path = path


class ComparisonInterrupted(_Worded, KeyboardInterrupt):
    """Ctrl-C during a comparison; `comparison` holds what was done until then, None if nothing."""

    def __init__(self, comparison: Any, done: int, total: int) -> None:
        kept = "see the attribute `comparison`." if done else "nothing was compared yet."
        super().__init__(f"interrupted after {done} of {total} runs; {kept}")
        self.comparison = comparison


class StabilityInterrupted(_Worded, KeyboardInterrupt):
    """Ctrl-C among the halves; `stability` holds what those done until then say, None if none."""

    def __init__(self, stability: Any, done: int, total: int) -> None:
        kept = "see the attribute `stability`." if done else "no pair was done yet."
        super().__init__(f"interrupted after {done} of {total} pairs of halves; {kept}")
        self.stability = stability
