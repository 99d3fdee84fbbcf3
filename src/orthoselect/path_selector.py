"""What all selectors are: a scikit-learn transformer that calls `select` and stores its path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from orthoselect.encode import NumberedNames
from orthoselect.errors import InputError, listing
from orthoselect.gram import GramStatistics
from orthoselect.gram.gram_statistics import features_of
from orthoselect.problem import check_has_rows
from orthoselect.read import is_kept_elsewhere
from orthoselect.result import SelectionPath
from orthoselect.roles import set_apart, take_target
from orthoselect.shared_paths import select_shared

_ABOUT_COLUMNS = ("categorical_features", "groups", "include", "exclude")


def check_ignored(y: Any) -> None:
    """Raise for names of columns as a target, where values that a pipeline has are ignored."""
    named = y if isinstance(y, (list, tuple)) else [y]
    if named and all(isinstance(name, str) for name in named):
        raise InputError(
            f"criterion 'unsupervised' has no target; got the name {listing(list(named))}. Omit y, "
            f"and name the column in `exclude` to leave it out."
        )


class PathSelector(SelectorMixin, BaseEstimator):
    """What the selectors share: call `select`, store its path.

    A subclass has the parameters `n_features_to_select`, `categorical_features`, `groups`,
    `include`, `exclude`, `search` and `missing`, and says by `_options` what else `select` is to
    know.
    """

    progress: Any = None  # a parameter of those that show how far they are
    shared_path: Any = None  # and of those whose fits of many sizes have one path

    def _options(self) -> dict[str, Any]:
        """Return the method and its own options."""
        raise NotImplementedError

    @property
    def _needs_target(self) -> bool:
        """Whether there is something to explain."""
        return True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : array-like, SciPy sparse or dataframe (pandas, polars, pyarrow) of shape (N, n)
            Or what `orthoselect.read.read_table` reads (a file, a folder, a pattern, a list of
            files), or a table in blocks of rows, `orthoselect.RowBlocks` for one. Or, for
            `OrthogonalSelector`, `GramStatistics`: what was kept of a table.
        y : array-like, series or dataframe of shape (N,) or (N, responses)
            Classes, numbers, or several of either; `MutualInformationSelector` takes classes, and
            several columns as one, whose classes are their combinations. Where X has named
            columns: or the name of a column, which is then no feature, or several such
            names. Where X is statistics: names of their responses, or None for all. Ignored by
            criterion "unsupervised", as scikit-learn has it.
        sample_weight : array-like of shape (N,), default=None
            Row weights: a whole number counts as that many copies of the row. Where X is a file or
            comes in blocks: or the name of a column.

        Returns
        -------
        self : the selector
        """
        return self._fit(self, X, y, sample_weight)

    def _fit(self, asked: PathSelector, X: Any, y: Any, sample_weight: Any, **by_size: Any) -> Self:
        """Select as `asked` says, and store; `by_size` says how the size is cross-validated."""
        names: Any = None
        self.__dict__.pop("_target_names", None)
        columns = {name: getattr(asked, name) for name in _ABOUT_COLUMNS}
        has_target = asked._needs_target
        if not has_target:
            check_ignored(y)
            y = None
        if isinstance(X, GramStatistics):
            X, names = features_of(X)
        elif is_kept_elsewhere(X, y, sample_weight):
            X, y, names, columns = set_apart(X, y, sample_weight, columns, has_target=has_target)
        else:
            self._target_names, X, y = take_target(X, y)
        options = {
            "search": asked.search,
            "dates": asked.dates,
            "progress": self.progress,
            "sample_weight": sample_weight,
            "missing": asked.missing,
            **columns,
            **asked._options(),
            **by_size,
        }
        wanted = "cv" if by_size else asked.n_features_to_select
        path = select_shared(X, y, wanted, asked.shared_path, options)
        if names is None and (type(X) is np.ndarray or sp.issparse(X)):
            names = NumberedNames(X.shape[1])  # as scikit-learn does, which takes long
        if names is None:
            validate_data(self, X, skip_check_array=True)
        else:
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = len(names)
            if not isinstance(names, NumberedNames):
                self.feature_names_in_ = np.array([str(name) for name in names], dtype=object)
        self._store(path)
        return self

    _target_names: Sequence[str] = ()  # columns of the table that was fitted, by their names

    def _store(self, path: SelectionPath) -> None:
        self.__dict__.pop("statistics_", None)
        self.path_ = path
        self.selected_ = np.array(path.chosen_columns, dtype=np.intp)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self.selected_] = True

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array-like, SciPy sparse or dataframe of shape (N, n_features_in_)
            A table in memory, whatever the selector was fitted on.

        Returns
        -------
        X_selected : of shape (N, number of selected features)
        """
        check_has_rows(X, "`transform`")
        if is_kept_elsewhere(X):
            raise InputError(
                "`transform` should have a table in memory; got a file, a table in blocks of rows, "
                "or one of Dask. Take the columns that `get_feature_names_out` lists yourself, for "
                "example with `pyarrow.parquet.read_table(file, columns=...)`, or transform block "
                "by block."
            )
        X = self._without_target(X)
        wanted = _get_output_config("transform", self)["dense"]
        if wanted == "polars" and nw.dependencies.is_polars_dataframe(X):
            # scikit-learn would make an array of it, of objects where columns are of unlike types.
            validate_data(self, X, skip_check_array=True, reset=False)
            return X[:, np.flatnonzero(self._get_support_mask()).tolist()]
        return super().transform(X)

    def _without_target(self, X: Any) -> Any:
        """Return a table without the response, if `fit` took that from it by name."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or not nw.dependencies.is_into_dataframe(X):
            return X
        frame = nw.from_native(X, eager_only=True)
        known = set(names.tolist())
        named = [c for c in self._target_names if c in frame.columns and c not in known]
        return frame.drop(*named).to_native() if named else X

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        # Excluded columns may hold anything.
        tags.input_tags.allow_nan = self.exclude is not None or self.missing != "error"
        tags.target_tags.required = self._needs_target
        tags.target_tags.multi_output = True
        return tags
