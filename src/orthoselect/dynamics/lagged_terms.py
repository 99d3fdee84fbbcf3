"""Records of signals as something to select terms from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.dynamics.records import check_finite, check_no_dates
from orthoselect.encode import TargetColumn, build_response
from orthoselect.encode.lagged import (
    LaggedSignals,
    TermTable,
    as_input_lags,
    as_lags,
    check_degree,
    check_names,
    check_rows,
    find_sessions,
)
from orthoselect.encode.weights import check_weights
from orthoselect.errors import InputError, listing
from orthoselect.matrix.base import Floats
from orthoselect.problem import Problem
from orthoselect.read import Dataset, find_table, open_source, why_not_whole
from orthoselect.roles import ColumnSpec, check_one_role, find_asked, find_columns


class LaggedTerms:
    """The terms of a NARX model as candidates for `orthoselect.select`: products of lagged signals.

    A term is a product of up to `degree` of the target's past values, y(k-1), y(k-2) and so on,
    and of the inputs, u(k), u(k-1) and so on; the constant 1 is one, too. Terms are not written
    out: 4495 of them over 65,000 rows would take 2.3 GB where the signals take one.

    Parameters
    ----------
    data : dataframe, array, mapping of names to columns, str or Path
        The signals, one column each and one row for each time, in order; in memory.
    target : str, or list of str
        What to explain; its own past is among the factors. Of several targets, all pasts are.
    inputs : str or list of str, optional
        The signals that drive it. By default none: the target is explained by its own past.
    lags : int, list of int, or mapping of names to these, default=3
        The lags that factors have: an int is the longest. Those of targets begin at 1, those of
        inputs at `delay`. 0 or an empty list: none of a target.
    degree : int, default=3
        The most factors of a term.
    delay : int, default=0
        The shortest lag of inputs, where `lags` is an int. Some systems react at once: without u(k)
        their models are far worse.
    noise : str or list of str, optional
        Signals whose past are factors like that of the targets, residuals of a model for example.
    sessions : list of int, array-like of shape (rows,) or str, optional
        Records that do not follow each other: their lengths, or a label for each row, or the name
        of a column of labels. A row with a missing value ends a session, too.
    constant : bool, default=True
        Whether the constant 1 is a candidate.

    Attributes
    ----------
    names : list of str
        What the terms are called, in their order: by degree, the target's past first.
    rows : integer array
        The rows of the data that have all their lags in their own session.

    See Also
    --------
    orthoselect.NARX : Selects terms, fits them, predicts and validates.

    Examples
    --------
    >>> import numpy as np
    >>> from orthoselect import LaggedTerms, select
    >>> rng = np.random.default_rng(0)
    >>> u, y = rng.normal(size=500), np.zeros(500)
    >>> for k in range(2, 500):
    ...     y[k] = 0.5 * y[k - 1] - 0.3 * u[k - 2] * y[k - 1] + u[k - 1] ** 2
    >>> terms = LaggedTerms({"y": y, "u": u}, target="y", inputs="u", lags=2, degree=2)
    >>> len(terms.names), terms.names[:4]
    (21, ['1', 'y(k-1)', 'y(k-2)', 'u(k)'])
    >>> select(terms, None, 3, method="err").names
    ['y(k-1)', 'u(k-1)^2', 'y(k-1) u(k-2)']
    """

    why_no_rows = TermTable.why_no_rows
    why_no_tests = (
        "rows of series cannot stand for each other: what comes next depends on what came before. "
        "Pass a number of terms, or let an order criterion choose it: `NARX(order='bic')`."
    )

    def __init__(
        self,
        data: Any,
        target: str | Sequence[str],
        inputs: str | Sequence[str] | None = None,
        lags: Any = 3,
        degree: int = 3,
        *,
        delay: int = 0,
        noise: str | Sequence[str] | None = None,
        sessions: Any = None,
        constant: bool = True,
    ) -> None:
        source = _open(data)
        columns = source.names
        asked = {"target": target, "inputs": inputs, "noise": noise}
        places = {role: find_columns(names, columns, role) for role, names in asked.items()}
        if not places["target"]:
            raise InputError(f"`target` should name a column; got {target!r}.")
        used = [c for found in places.values() for c in found]
        names = tuple(columns[c] for c in used)
        check_names(names)
        check_no_dates(data, names)
        _check_numbers(source, used)
        values = _numbers(source, used)
        check_finite(values, names)
        firsts = _firsts(places, delay)
        drives = [role == "inputs" for role, found in places.items() for _ in found]
        self._source = source
        if isinstance(sessions, str):
            sessions = source.column(find_columns(sessions, columns, "sessions")[0])
        self._signals = LaggedSignals(
            names,
            values,
            _lags_of(lags, names, firsts, drives),
            check_degree(degree),
            find_sessions(sessions, values.shape[1], values),
            constant,
        )
        check_rows(self._signals)
        n_targets = len(places["target"])
        self._responses: list[NDArray] = list(values[:n_targets])

    @classmethod
    def of(cls, signals: LaggedSignals, responses: Sequence[NDArray]) -> LaggedTerms:
        """Return the terms of signals at hand, for responses of one value for each time."""
        made = cls.__new__(cls)
        made._signals, made._responses, made._source = signals, list(responses), None
        check_rows(signals)
        return made

    @property
    def names(self) -> list[str]:
        """What the terms are called."""
        return self._signals.term_names

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows of the data that have all their lags in their own session."""
        return self._signals.at

    @property
    def nbytes(self) -> int:
        """How many bytes the signals take."""
        return self._signals.values.nbytes

    def columns(self, names: ColumnSpec) -> Floats:
        """Return some terms written out, one row for each of `rows`.

        Parameters
        ----------
        names : names or indices of terms

        Examples
        --------
        >>> LaggedTerms({"y": [1.0, 2.0, 3.0]}, "y", lags=1, degree=2).columns(["y(k-1)^2"])
        array([[1.],
               [4.]])
        """
        J = np.array(find_columns(self._own(names), self.names, "names"), dtype=np.intp)
        return np.ascontiguousarray(self._signals.matrix().columns(J))

    def __repr__(self) -> str:
        signals = self._signals
        return (
            f"LaggedTerms: {len(self.names)} terms to degree {signals.degree} of "
            f"{', '.join(signals.factor_names)}; {len(self.rows)} rows in "
            f"{len(signals.sessions)} session(s)"
        )

    def open_problem(
        self,
        target: Any = None,
        *,
        task: str = "auto",
        response_encoding: str = "dummy",
        categorical_features: ColumnSpec = "from_dtype",
        sample_weight: Any = None,
        keep_whole_weights: bool = False,
        missing: str = "error",
        groups: Any = None,
        include: ColumnSpec = None,
        exclude: ColumnSpec = None,
        has_target: bool = True,
    ) -> Problem:
        """Pose a question as the problem that `orthoselect.select` works on."""
        if not has_target:
            raise InputError(
                "lagged terms explain a target; this method has "
                "none. Choose 'socc' or 'err', or pass the signals as a table."
            )
        if target is not None:
            raise InputError(
                f"the target of lagged terms is named when they are made, and should be None here; "
                f"got {target!r}."
            )
        if not isinstance(categorical_features, str):
            raise InputError("`categorical_features` does not apply to lagged terms. Omit it.")
        table = self._signals.table()
        include, exclude = self._own(include), self._own(exclude)
        asked, grouped = find_asked(self.names, None, groups, include, exclude, None)
        check_one_role(asked, self.names, grouped)
        weights = self._weights(sample_weight, keep_whole_weights)
        named = len(self._responses) > 1
        columns = [
            TargetColumn(f"target `{name}`" if named else "y", values[self.rows])
            for name, values in zip(self._signals.names, self._responses)
        ]
        response = build_response(columns, task, response_encoding, weights)
        left_out = asked["exclude"]
        return Problem(
            table, response, weights, grouped, asked["include"], left_out, {*left_out}, missing
        )

    def _own(self, names: ColumnSpec) -> Any:
        """Return names of terms with their factors in our order; masks and places as they are."""
        if isinstance(names, str):
            return self._signals.own_name(names)
        if isinstance(names, (list, tuple)):
            return [self._signals.own_name(n) if isinstance(n, str) else n for n in names]
        return names

    def _weights(self, given: Any, keep_whole: bool) -> Floats | None:
        """Return the weights of the rows, of those that were given one for each time."""
        if given is None:
            return None
        if isinstance(given, str):
            if self._source is None:
                raise InputError("`sample_weight` should be an array; there are no columns here.")
            column = find_columns(given, self._source.names, "sample_weight")[0]
            given = _numbers(self._source, [column])[0]
        given, n_times = np.asarray(given), self._signals.values.shape[1]
        if given.shape != (n_times,):
            raise InputError(
                f"`sample_weight` should have one weight for each of the {n_times} rows of the "
                f"data; its shape is {given.shape}."
            )
        return check_weights(given[self.rows], len(self.rows), keep_whole=keep_whole)

    def explaining(self, responses: Sequence[NDArray]) -> LaggedTerms:
        """Return the same terms for other responses, of one value for each time."""
        return LaggedTerms.of(self._signals, responses)


def _open(data: Any) -> Any:
    """Look at a table of signals, which has to be in memory."""
    if isinstance(data, Mapping):
        names = [str(name) for name in data]
        columns = [np.asarray(column) for column in data.values()]
        lengths = {column.shape for column in columns}
        if len(lengths) != 1 or len(next(iter(lengths))) != 1:
            raise InputError(
                f"signals should be columns of one length; got shapes "
                f"{', '.join(str(column.shape) for column in columns) or 'of none'}."
            )
        return open_source(Dataset(np.column_stack(columns), names))
    table = find_table(data)
    words = why_not_whole(table)
    if words is not None:
        raise InputError(f"signals should be in memory; this table {words[0]}. Or {words[1]}.")
    return open_source(table)


def _numbers(source: Any, used: Sequence[int]) -> Floats:
    """Return columns as signals, (signals, T), in the order given."""
    in_order = np.sort(used)  # as blocks want them
    found = source.first.numeric(in_order)
    found = found.toarray() if hasattr(found, "toarray") else found
    return np.ascontiguousarray(found[:, np.searchsorted(in_order, used)].T, dtype=np.float64)


def _check_numbers(source: Any, used: Sequence[int]) -> None:
    labeled = [source.names[c] for c in used if c in source.first.categorical_columns()]
    if labeled:
        raise InputError(f"signals should hold numbers; {listing(labeled)} holds labels.")


def _firsts(places: Mapping[str, Sequence[int]], delay: int) -> list[int]:
    """Return the shortest lag that each signal may have."""
    if isinstance(delay, bool) or not isinstance(delay, (int, np.integer)) or delay < 0:
        raise InputError(f"`delay` should be a whole number of at least 0; got {delay!r}.")
    shortest = {"target": 1, "inputs": int(delay), "noise": 1}
    return [shortest[role] for role, found in places.items() for _ in found]


def _lags_of(
    lags: Any, names: Sequence[str], firsts: Sequence[int], drives: Sequence[bool]
) -> tuple[tuple[int, ...], ...]:
    """Return the lags of each signal."""
    by_name = isinstance(lags, Mapping)
    if by_name:
        unknown = [name for name in lags if name not in names]
        lacking = [name for name in names if name not in lags]
        if unknown or lacking:
            raise InputError(
                f"`lags` should have an entry for each signal, {listing(names)}; "
                + (f"there is no {listing(unknown)}." if unknown else f"{listing(lacking)} lacks.")
            )
    found = []
    for name, first, is_input in zip(names, firsts, drives):
        own, argument = (lags[name], f"lags[{name!r}]") if by_name else (lags, "lags")
        found.append((as_input_lags if is_input else as_lags)(own, argument, first))
    return tuple(found)
