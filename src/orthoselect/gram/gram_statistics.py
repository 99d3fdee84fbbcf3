"""`GramStatistics`: made from blocks of rows, added up, saved, asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.column_spec import ColumnSpec
from orthoselect.encode.gaps import check_missing
from orthoselect.encode.response import TASKS, check_choice
from orthoselect.errors import InputError
from orthoselect.gram import files
from orthoselect.gram.intake import (
    ReducedRows,
    check_block,
    distinct_classes,
    reduce_table,
    warn_of_dropped,
)
from orthoselect.gram.question import StatisticsTable, exclude_all_but, pose
from orthoselect.matrix.base import Floats
from orthoselect.problem import Problem
from orthoselect.read.frame_block import block_of
from orthoselect.result import SelectionPath
from orthoselect.selection import Progress, select


class GramStatistics:
    """What selecting needs of a table when its rows are gone: means and inner products.

    Statistics of blocks of rows, or of tables in several places, add up (`+`) to those of all rows.
    They answer any later question of `select` as the rows would: how many features, what to
    include or exclude, a subset of the features, one of several responses.

    Parameters
    ----------
    task : {"auto", "classification", "regression"}, default="auto"
        Whether responses hold classes or numbers. "auto" keeps whole numbers as classes; whether
        they are a quantity is decided when a selection is asked for, as in `select`. One with a
        fractional part that comes after whole numbers is an error.
    categorical_features : "from_dtype", "all", None, or names, indices or a mask
        Columns that hold labels, as in `select`.
    exclude : names, indices or a mask, optional
        Columns of which nothing is kept; they may hold anything.
    classes : sequence of labels, optional
        All classes of a response; others are then an error. By default new classes are added as
        they appear.
    missing : {"error", "indicator", "mean", "drop_rows"}, default="error"
        What to do about missing values, as in `select`; the mean is that of all rows in the end.

    See Also
    --------
    OrthogonalSelector.partial_fit : The same as an estimator.

    Notes
    -----
    It stores a triangular factor of the Gram matrix, made by orthogonal transformations of the
    rows, and not the Gram matrix itself: the factor has twice the digits. It takes 8 p² bytes,
    where p counts the numeric features, the levels of categorical ones and the classes.

    The statistics disclose the mean of each feature, its covariance with each other one and with
    the response, and how often each level and class occurs, alone and with each other one. They
    hold no rows. But a level or class with few rows discloses much about these rows: with one row,
    everything.

    Methods of information theory and others that need the rows themselves do not work.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from orthoselect import GramStatistics, select
    >>> wine = load_wine(as_frame=True).frame
    >>> north = GramStatistics.of(wine[:100], "target")
    >>> south = GramStatistics.of(wine[100:], "target")
    >>> both = north + south
    >>> both
    GramStatistics: 178 rows, 13 features, response `target` (3 classes)
    >>> both.select(3).names
    ['flavanoids', 'alcohol', 'color_intensity']
    >>> both.select(3).names == select(wine, "target", 3).names
    True
    """

    def __init__(
        self,
        *,
        task: str = "auto",
        categorical_features: ColumnSpec = "from_dtype",
        exclude: ColumnSpec = None,
        classes: Sequence[Any] | None = None,
        missing: str = "error",
    ) -> None:
        check_choice(task, TASKS, "task")
        settings = {
            "task": task,
            "categorical_features": categorical_features,
            "exclude": exclude,
            "classes": distinct_classes(classes, task),
            "missing": check_missing(missing),
        }
        self._kept = ReducedRows(settings)

    @classmethod
    def of(
        cls,
        data: Any,
        target: Any = None,
        sample_weight: Any = None,
        *,
        task: str = "auto",
        categorical_features: ColumnSpec = "from_dtype",
        exclude: ColumnSpec = None,
        classes: Sequence[Any] | None = None,
        missing: str = "error",
        memory: int | str | None = None,
    ) -> GramStatistics:
        """Return the statistics of a table of any kind.

        A table in blocks of rows is read once, and so is one of Dask: each partition is reduced
        where it is, and only what is kept of the partitions is merged and sent here. So is a Spark
        DataFrame (extra `orthoselect[spark]`), what is kept of each partition being merged here.

        Parameters
        ----------
        data : array-like, SciPy sparse, dataframe (pandas, polars, pyarrow), str or Path, RowBlocks
            What `select` takes: a table, a file, a folder, a pattern or a list of files, a table
            in blocks of rows, an array or dataframe of Dask; or a DataFrame of Spark, whose target
            and weights are columns given by their names. One row will do.
        target : str, list of str or array-like, optional
            The response: the name of a column, several such names, or the values. None for a file
            that knows it; for other tables None means that there is no response, which is enough
            for method "unsupervised".
        sample_weight : array-like of shape (N,) or str, optional
            Row weights: a whole number counts as that many copies of the row. A string names the
            column that holds them, which is then no feature. Rows without weight have to hold
            values all the same, as in `select`.
        task, categorical_features, exclude, classes, missing
            As in the class.
        memory : int or str, optional
            Bytes that may be taken, or text like "2GB"; as in `select`.

        Examples
        --------
        >>> from orthoselect import GramStatistics
        >>> GramStatistics.of("iris", None)
        GramStatistics: 150 rows, 4 features, response `y` (3 classes)
        """
        new = cls(
            task=task,
            categorical_features=categorical_features,
            exclude=exclude,
            classes=classes,
            missing=missing,
        )
        return cls.holding(reduce_table(data, target, sample_weight, new.settings, memory))

    def update(self, X: Any, y: Any = None, sample_weight: Any = None) -> GramStatistics:
        """Take in more rows.

        Parameters
        ----------
        X : array-like, SciPy sparse or dataframe (pandas, polars, pyarrow) of shape (N, n)
            Any number of rows. The columns are those of the first block.
        y : array-like, series or dataframe, str or list of str, optional
            The response: its values, or the names of the columns of X that hold it. Without it
            there is no response, in any block.
        sample_weight : array-like of shape (N,) or str, optional
            Row weights, or the name of the column of X that holds them; without them each row
            counts once.

        Returns
        -------
        self : GramStatistics
            If anything is wrong with the block, nothing of it is added.

        Examples
        --------
        >>> from orthoselect import GramStatistics
        >>> statistics = GramStatistics()
        >>> statistics.update([[1.0, 2.0], [2.0, 1.0]], ["a", "b"])
        GramStatistics: 2 rows, 2 features, response `y` (2 classes)
        >>> statistics.update([[3.0, 2.0]], ["c"])
        GramStatistics: 3 rows, 2 features, response `y` (3 classes)
        """
        check_block(X, "`update`")
        kept = self._kept.with_rows(block_of(X), y, sample_weight)
        n_dropped = kept.n_dropped - self._kept.n_dropped
        if n_dropped:
            warn_of_dropped(n_dropped, kept.n_read - self._kept.n_read, kept.settings["missing"])
        self._kept = kept
        return self

    # What is known

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of the class that they were made with."""
        return dict(self._kept.settings)

    @property
    def n_rows(self) -> int:
        """How many rows with a weight above zero there are so far."""
        return self._kept.n_rows

    @property
    def weight(self) -> float:
        """The sum of their weights."""
        return self._kept.weight

    @property
    def names(self) -> list[str]:
        """Names of the columns of the table, those of the response and excluded ones included."""
        return [] if self._kept.layout is None else list(self._kept.layout.names)

    @property
    def responses(self) -> list[str]:
        """Names of the responses."""
        return [] if self._kept.layout is None else [y.name for y in self._kept.layout.responses]

    @property
    def classes(self) -> dict[str, tuple[Any, ...]]:
        """The classes of each response that has any, in their order."""
        found = [] if self._kept.layout is None else self._kept.layout.responses
        return {y.name: y.classes.levels() for y in found if y.classes is not None}

    @property
    def terms(self) -> list[str]:
        """What the numbers in `means`, `covariance` and `gram` are about.

        A numeric column by its name; a level or class as "name=level", for the column that is 1
        where a row has it, else 0.
        """
        layout, _ = self._kept.known()
        return [layout.describe(term) for term in layout.terms[1:]]

    @property
    def means(self) -> Floats:
        """Weighted means of the terms, (p,); times `weight` those of levels are counts."""
        return self._kept.known()[1].means()[1:]

    @property
    def covariance(self) -> Floats:
        """Weighted covariances of the terms, divided by `weight`, (p, p)."""
        return self._kept.known()[1].scatter()[1:, 1:] / self._kept.weight

    @property
    def gram(self) -> Floats:
        """Weighted sums of products of the terms, (p, p); `means` and `weight` tell the sums."""
        return self._kept.known()[1].gram()[1:, 1:]

    @property
    def varies(self) -> bool:
        """Whether there is anything to explain so far: a response that is not constant.

        Without a response: a feature that is not.
        """
        if self._kept.layout is None or not self._kept.n_rows:
            return False
        layout, whole = self._kept.known()
        explained = ("y", "class") if layout.responses else ("x", "level")
        own = [k for k, term in enumerate(layout.terms) if term[0] in explained]
        return bool(whole.R[:, own].any())

    def __repr__(self) -> str:
        if self._kept.layout is None:
            return "GramStatistics: no rows yet"
        n = len(self._kept.layout.numeric_at) + len(self._kept.layout.labeled)
        responses = [response.describe() for response in self._kept.layout.responses]
        several = "responses" if len(responses) > 1 else "response"
        explained = f"{several} {', '.join(responses)}" if responses else "no response"
        rows = "row" if self._kept.n_rows == 1 else "rows"
        return f"GramStatistics: {self._kept.n_rows} {rows}, {n} features, {explained}"

    # Adding up

    def __add__(self, other: object) -> GramStatistics:
        if isinstance(other, int) and other == 0:  # where `sum` starts
            return self.holding(self._kept)
        if not isinstance(other, GramStatistics):
            return NotImplemented
        return self.holding(self._kept.merge(other._kept))

    __radd__ = __add__

    @classmethod
    def holding(cls, kept: ReducedRows) -> GramStatistics:
        """Return statistics that were made elsewhere in this package."""
        new = cls.__new__(cls)
        new._kept = kept
        return new

    # Asking

    def select(
        self,
        n_features_to_select: int | float | str | None = 10,
        method: str = "socc",
        *,
        response: Any = None,
        features: ColumnSpec = None,
        groups: Any = None,
        include: ColumnSpec = None,
        exclude: ColumnSpec = None,
        task: str = "auto",
        response_encoding: str = "dummy",
        search: str = "forward",
        progress: Progress | bool | None = None,
        **options: Any,
    ) -> SelectionPath:
        """Select features, as `orthoselect.select` would from all rows.

        Parameters
        ----------
        n_features_to_select : int, float, "auto" or None, default=10
            A count, or a fraction in (0, 1) of the features. A group counts as one feature. "auto"
            and None as in `select`; tests compare with random directions in place of permutations,
            as if rows were normal.
        method : {"socc", "obcc", "err", "mser", "unsupervised"}, default="socc"
            What features are judged by. "unsupervised" sets responses aside. Others need the rows.
        response : name or position, or several, optional
            Which of the responses to explain; all by default.
        features : names, indices or a mask, optional
            The only features that may be taken; all by default. The path's options name all others
            in `exclude`.
        groups, include, exclude, response_encoding, search, progress
            As in `select`.
        task : {"auto", "classification", "regression"}, default="auto"
            "regression" reads classes that are numbers as numbers.
        **options
            Options of the method's own, `adjust` of "socc" for one; of the search, `time_limit` for
            one; and `alpha`, `n_permutations`, `random_state` and `p_values`.

        Returns
        -------
        path : SelectionPath
            `feature` and `columns` are positions in the table.

        Examples
        --------
        >>> from orthoselect import GramStatistics
        >>> statistics = GramStatistics.of("wine", None)
        >>> statistics.select(2).names
        ['flavanoids', 'alcohol']
        >>> statistics.select(2, exclude=["flavanoids"]).names
        ['proline', 'od280/od315_of_diluted_wines']
        """
        if features is not None:
            layout = self._kept.known()[0]
            exclude = exclude_all_but(features, layout, include, exclude, groups)
        return select(
            self,
            response,
            n_features_to_select,
            method,
            task=task,
            response_encoding=response_encoding,
            groups=groups,
            include=include,
            exclude=exclude,
            search=search,
            progress=progress,
            **options,
        )

    why_no_rows = StatisticsTable.why_no_rows
    why_no_tests = ""  # there are tests without rows

    def open_problem(
        self, target: Any = None, *, keep_whole_weights: bool = False, **asked: Any
    ) -> Problem:
        """Pose a question as the problem that `orthoselect.select` works on."""
        if asked.pop("permute_within", None) is not None:
            raise InputError(
                "`permute_within` permutes rows, and statistics have none. Omit it, or select from "
                "the rows."
            )
        return pose(self._kept, target, **asked)

    # Files

    def save(self, path: str | Path) -> None:
        """Write the statistics to a file.

        It is a ZIP archive, `.npz` by custom: `header.json`, which people can read, and arrays as
        NumPy writes them. Nothing in it is run when it is loaded.

        Parameters
        ----------
        path : str or Path
            An existing file is replaced once all is written.
        """
        files.save(path, self._kept)

    @classmethod
    def load(cls, path: str | Path) -> GramStatistics:
        """Read statistics that `save` has written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from orthoselect import GramStatistics
        >>> folder = tempfile.TemporaryDirectory()
        >>> file = Path(folder.name) / "wine.npz"
        >>> GramStatistics.of("wine", None).save(file)
        >>> GramStatistics.load(file)
        GramStatistics: 178 rows, 13 features, response `y` (3 classes)
        >>> folder.cleanup()
        """
        kept = files.load(path)
        kept.settings = cls(**kept.settings).settings
        return cls.holding(kept)


def features_of(statistics: GramStatistics) -> tuple[GramStatistics, Sequence[str]]:
    """Return statistics as if the response had been given beside the table, and its columns.

    Estimators get X and y, so that columns of the response and of the weights are none of X.
    """
    kept = statistics._kept.copy()
    kept.layout = statistics._kept.known()[0].features_only()
    return GramStatistics.holding(kept), kept.layout.names


def check_settled(statistics: GramStatistics, settings: Mapping[str, Any], classes: Any) -> None:
    """Raise if a setting that cannot change any more has changed."""
    before = statistics.settings
    given = classes.tolist() if isinstance(classes, np.ndarray) else classes
    if given is not None and set(given) != set(before["classes"] or ()):
        raise InputError(
            f"`classes` should be given in the first call of `partial_fit` and stay the same; "
            f"they were {before['classes']!r}, and are {classes!r} now. Start with a new selector."
        )
    for name, value in settings.items():
        if not _alike(before[name], value):
            raise InputError(
                f"`{name}` should stay the same from one call of `partial_fit` to the next; it was "
                f"{before[name]!r}, and is {value!r} now. Start with a new selector."
            )


def _alike(a: Any, b: Any) -> bool:
    plain = str, int, type(None)
    if isinstance(a, plain) or isinstance(b, plain):
        return type(a) is type(b) and a == b
    return list(a) == list(b)
