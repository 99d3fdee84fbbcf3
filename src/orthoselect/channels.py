"""Channels of series are selected as groups of columns are: a function and a transformer."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from orthoselect.argument_names import COUNT_IS, telling_names
from orthoselect.column_spec import find_columns, is_whole
from orthoselect.encode.response import check_choice
from orthoselect.errors import (
    InputError,
    SelectionWarning,
    ShapeError,
    TooManyRequestedWarning,
    exchanged,
    warn,
    with_text,
)
from orthoselect.methods import METHODS, find_method
from orthoselect.path_selector import check_ignored
from orthoselect.read.panel import Panel, as_series
from orthoselect.read.survey import no_target
from orthoselect.result import SelectionPath
from orthoselect.selection import select

# What `ChannelSelector` calls what `select` calls otherwise.
_OWN_WORDS = {
    "`n_features_to_select='auto'` or `p_values=True`": "`n_channels='auto'`",
    "Pass one of them, or omit it": "Pass that, or omit it",
    ", or 'cv' where a table in memory is selected from;": " or 'cv';",
    "`n_features_to_select": "`n_channels",
    "method '": "criterion '",
    "another method": "another criterion",
    "`target`": "`y`",
    "Pass `missing='indicator'` ('mean' and 'drop_rows' are other ways), fill them, or name "
    "columns in `exclude`": "Fill them, or drop those cases",
}


def select_channels(
    data: Any,
    target: Any,
    n_channels: Any,
    method: str,
    represent: Any,
    channel_names: Any,
    asked: dict[str, Any],
    *,
    called: str = "n_features_to_select",
) -> SelectionPath:
    """Select channels of a panel; steps of the path are channels, by name and position.

    `asked` are further options of `select`; those about columns are about channels. `called` is
    what the caller calls `n_channels`.
    """
    panel = Panel.of(data, channel_names)
    table, groups = panel.table(represent)
    if asked.pop("groups", None) is not None:
        raise InputError("`groups` are the channels of a panel. Omit it.")
    if not isinstance(asked.pop("categorical_features", "from_dtype"), str):
        raise InputError("`categorical_features` does not apply to a panel. Omit it.")
    if target is None and find_method(method).needs_target:
        raise no_target()
    for argument, values in (("target", target), ("sample_weight", asked.get("sample_weight"))):
        if isinstance(values, str):
            raise InputError(
                f"`{argument}` should hold a value for each case; got the name {values!r}, and "
                f"series have no columns to name."
            )
    owned = list(groups.values())
    for argument in ("include", "exclude"):
        places = find_columns(asked.get(argument), panel.names, argument)
        asked[argument] = [column for c in places for column in owned[c]] or None
    if is_whole(n_channels) and n_channels > len(owned):
        warn(TooManyRequestedWarning(n_channels, len(owned), called, "channel"))
        n_channels = len(owned)
    path = select(table, target, n_channels, method, groups=groups, **asked)
    return _by_channel(path, owned)


def _by_channel(path: SelectionPath, owned: list[list[int]]) -> SelectionPath:
    """Return the path with positions of channels in place of those of columns."""
    channel_of = {column: c for c, columns in enumerate(owned) for column in columns}
    found = copy(path)
    found._steps = tuple(
        replace(step, feature=channel_of[step.feature], columns=(channel_of[step.feature],))
        for step in path
    )
    if path._by_size is not None:
        found._by_size = tuple(
            replace(each, features=tuple(channel_of[f] for f in each.features))
            for each in path._by_size
        )
    return found


class ChannelSelector(TransformerMixin, BaseEstimator):
    """Select the channels of series that together tell most, each given those before it.

    Each channel is represented by a few numbers for each case, and these are selected as a whole:
    a channel that repeats what another says adds nothing, whatever it is worth alone. What it gains
    by chance, having several columns, is taken off.

    Parameters
    ----------
    n_channels : int, float, "auto", "cv" or None, default="auto"
        How many channels: a count, or a fraction in (0, 1). "auto": as many as are significant,
        each given those before it; "cv" and None as of `orthoselect.select`.
    represent : {"summaries", "segments"} or callable, default="summaries"
        "summaries": mean, deviation, least and largest value, slope, lag-one correlation, and
        roughness, the root mean square of differences. "segments": means of eight segments. A
        function makes numbers (cases,) or (cases, columns) of one channel, (cases, times).
    channel_names : list of str, default=None
        What channels are called in the path.
    criterion : str, default="socc"
        What channels are judged by, a method of `orthoselect.select` that takes groups. With
        "unsupervised" y is ignored.
    task : {"auto", "classification", "regression"}, default="auto"
    search : str, default="forward"
        How sets of channels are searched.
    alpha : float, default=0.05
        With "auto", the most that the p-value of a channel may be.
    random_state : int, default=0
        Seed of the permutations.

    Attributes
    ----------
    channels_selected_ : list of int
        The channels in order of selection.
    path_ : SelectionPath
        One step a channel.
    n_channels_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from orthoselect import ChannelSelector
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 5, 40))
    >>> X[:, 3] *= 1 + y[:, None]
    >>> selector = ChannelSelector().fit(X, y)
    >>> selector.channels_selected_
    [3]
    >>> selector.transform(X).shape
    (60, 1, 40)
    """

    @telling_names(COUNT_IS, "ChannelSelector")
    def __init__(
        self,
        n_channels: int | float | str = "auto",
        *,
        represent: Any = "summaries",
        channel_names: Any = None,
        criterion: str = "socc",
        task: str = "auto",
        search: str = "forward",
        alpha: float = 0.05,
        random_state: int = 0,
    ) -> None:
        self.n_channels = n_channels
        self.represent = represent
        self.channel_names = channel_names
        self.criterion = criterion
        self.task = task
        self.search = search
        self.alpha = alpha
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Select channels.

        Parameters
        ----------
        X : array of shape (cases, channels, times), or list of arrays (channels, times)
        y : array-like of shape (cases,) or (cases, responses)
        sample_weight : array-like of shape (cases,), optional

        Returns
        -------
        self : ChannelSelector
        """
        asked = {name: getattr(self, name) for name in ("task", "search", "alpha", "random_state")}
        asked["sample_weight"] = sample_weight
        grouping = [name for name, method in METHODS.items() if "groups" in method.takes]
        check_choice(self.criterion, grouping, "criterion")
        if not METHODS[self.criterion].needs_target:
            check_ignored(y)
            y = None
        if self.represent is None:
            raise InputError("`represent` should be 'summaries', 'segments' or a function.")
        how = self.represent, self.channel_names
        with _InOwnWords():
            self.path_ = select_channels(
                X, y, self.n_channels, self.criterion, *how, asked, called="n_channels"
            )
        self.channels_selected_ = [step.feature for step in self.path_[: self.path_.chosen]]
        self.n_channels_in_ = len(X[0])
        return self

    def transform(self, X: Any) -> Any:
        """Return the selected channels of X, an array of shape (cases, selected, times)."""
        check_is_fitted(self, "channels_selected_")
        values = as_series(X)
        if values.shape[1] != self.n_channels_in_:
            raise ShapeError(
                f"X should have shape (cases, {self.n_channels_in_}, times), as in `fit`; got "
                f"{values.shape}."
            )
        return values[:, self.channels_selected_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        method = METHODS.get(self.criterion)
        tags.target_tags.required = method is None or method.needs_target
        return tags


class _InOwnWords:
    """Lets errors and warnings of a block name the parameters of `ChannelSelector`.

    A class, not a generator: warnings are told of the first line outside this package.
    """

    def __enter__(self) -> None:
        self._catching = warnings.catch_warnings(record=True)
        caught = self._catching.__enter__()
        self._caught: list[warnings.WarningMessage] = [] if caught is None else caught
        warnings.simplefilter("always")

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._catching.__exit__(kind, error, trace)
        if isinstance(error, InputError):
            raise error.reworded(_OWN_WORDS) from None
        for each in self._caught:
            if isinstance(each.message, SelectionWarning):
                words = exchanged(str(each.message), _OWN_WORDS)
                warn(with_text(type(each.message), words))
            else:
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
