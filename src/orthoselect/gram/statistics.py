"""`GramStatistics`: made from blocks of rows, added up, saved, asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.arguments import ColumnSpec, check_choice, find_columns, read_weights
from orthoselect.encode.target import TASKS, check_finite
from orthoselect.errors import InputError, ShapeError
from orthoselect.gram import files
from orthoselect.gram.alike import check_layouts, check_settings
from orthoselect.gram.layout import Layout, ResponseColumn
from orthoselect.gram.look import (
    ReadTarget,
    TargetBeside,
    distinct_classes,
    first_look,
    look_again,
)
from orthoselect.gram.question import pose
from orthoselect.matrix.base import Floats
from orthoselect.matrix.memory import free_memory
from orthoselect.matrix.passes import name_of_block
from orthoselect.matrix.triangle import Triangle, Triangles
from orthoselect.problem import Opened, Problem, look_at
from orthoselect.read import Source, is_block_source
from orthoselect.read.blocks import bytes_of, check_names
from orthoselect.read.table import source_of
from orthoselect.result import SelectionPath
from orthoselect.selection import Progress, select

_COPIES = 4  # of the triangle, while it is worked on


class GramStatistics:
    """What is kept of a table to select from it without its rows: means and inner products.

    Statistics of blocks of rows, or of tables in several places, add up (`+`) to those of all rows.
    They answer any later question of `select` as the rows would: how many features, what to
    include or exclude, a subset of the features, one of several responses.

    Parameters
    ----------
    task : {"auto", "classification", "regression"}, default="auto"
        Whether responses hold classes or numbers. "auto" takes whole numbers for classes, until
        one with a fractional part has come.
    categorical_features : "from_dtype", "all", None, or names, indices or a mask
        Columns that hold labels, as in `select`.
    exclude : names, indices or a mask, optional
        Columns of which nothing is kept; they may hold anything.
    classes : sequence of labels, optional
        All classes of a response; others are then an error. By default classes are found as they
        come.

    See Also
    --------
    OrthogonalSelector.partial_fit : The same as an estimator.

    Notes
    -----
    Not the Gram matrix itself is stored but a triangular factor of it, made by orthogonal
    transformations of the rows: it has twice the digits. It takes 8 p² bytes, where p counts the
    numeric features, the levels of categorical ones and the classes.

    The statistics disclose the mean of each feature, its covariance with each other one and with
    the response, and how often each level and class occurs, alone and with each other one. They
    hold no rows. But a level or class that few rows have tells about these rows: with one row,
    everything.

    Methods of information theory and others that need the rows themselves cannot be asked for.

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
    ) -> None:
        self._settings = {
            "task": check_choice(task, TASKS, "task"),
            "categorical_features": categorical_features,
            "exclude": exclude,
            "classes": distinct_classes(classes, task),
        }
        self._layout: Layout | None = None
        self._triangles = Triangles()
        self._whole: Triangle | None = None  # of all rows, once somebody has asked
        self._n_blocks = 0
        self._n_rows, self._weight = 0, 0.0

    @classmethod
    def of(
        cls,
        data: Any,
        target: Any,
        sample_weight: Any = None,
        *,
        task: str = "auto",
        categorical_features: ColumnSpec = "from_dtype",
        exclude: ColumnSpec = None,
        classes: Sequence[Any] | None = None,
    ) -> GramStatistics:
        """Return the statistics of a table of any kind.

        A table in blocks of rows is read once, with `progress` called after each block.

        Parameters
        ----------
        data : what `select` takes
        target : str or array-like
            The response: the name of a column, or the values. None for a file that knows it.
        sample_weight : array-like of shape (N,), optional
            Row weights: a whole number counts as so many copies of the row.
        task, categorical_features, exclude, classes
            As in the class.

        Examples
        --------
        >>> from orthoselect import GramStatistics
        >>> GramStatistics.of("iris", None)
        GramStatistics: 150 rows, 4 features, response `y` (3 classes)
        """
        opened = look_at(
            data, target, task=task, categorical_features=categorical_features, exclude=exclude
        )
        statistics = cls(
            task=opened.task,
            categorical_features=categorical_features,
            exclude=opened.exclude or None,
            classes=classes,
        )
        if is_block_source(opened.data):
            statistics._take_blocks(opened, sample_weight)
            return statistics
        assert isinstance(opened.source, Source)
        y = opened.source.names[opened.taken[0]] if opened.taken else opened.target
        statistics._take(opened.source, y, sample_weight)
        return statistics

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> GramStatistics:
        """Take in more rows.

        Parameters
        ----------
        X : array-like, SciPy sparse or dataframe (pandas, polars, pyarrow) of shape (N, n)
            Any number of rows. The columns are those of the first block.
        y : array-like, series or dataframe, or str
            The response: its values, or the name of the column of X that holds it.
        sample_weight : array-like of shape (N,), optional
            Row weights; without them each row counts once.

        Returns
        -------
        self : GramStatistics
            If anything is wrong with the block nothing of it is taken in.

        Examples
        --------
        >>> from orthoselect import GramStatistics
        >>> statistics = GramStatistics()
        >>> statistics.update([[1.0, 2.0], [2.0, 1.0]], ["a", "b"])
        GramStatistics: 2 rows, 2 features, response `y` (2 classes)
        >>> statistics.update([[3.0, 2.0]], ["c"])
        GramStatistics: 3 rows, 2 features, response `y` (3 classes)
        """
        self._take(source_of(X), y, sample_weight)
        return self

    # What is known

    @property
    def settings(self) -> dict[str, Any]:
        """What they were made with: `task`, `categorical_features`, `exclude`, `classes`."""
        return dict(self._settings)

    @property
    def n_rows(self) -> int:
        """How many rows have come that have weight."""
        return self._n_rows

    @property
    def weight(self) -> float:
        """The sum of their weights."""
        return self._weight

    @property
    def names(self) -> list[str]:
        """Names of the columns of the table, those of the response and excluded ones included."""
        return [] if self._layout is None else list(self._layout.names)

    @property
    def responses(self) -> list[str]:
        """Names of the responses."""
        return [] if self._layout is None else [y.name for y in self._layout.responses]

    @property
    def classes(self) -> dict[str, tuple[Any, ...]]:
        """The classes of each response that has any, in their order."""
        found = [] if self._layout is None else self._layout.responses
        return {y.name: y.classes.levels() for y in found if y.classes is not None}

    @property
    def terms(self) -> list[str]:
        """What the numbers in `means`, `covariance` and `gram` are about.

        A numeric column by its name; a level or class as "name=level", for the column that is 1
        where a row has it, else 0.
        """
        layout, _ = self._known()
        return [layout.describe(term) for term in layout.terms[1:]]

    @property
    def means(self) -> Floats:
        """Weighted means of the terms, (p,); times `weight` those of levels are counts."""
        return self._known()[1].means()[1:]

    @property
    def covariance(self) -> Floats:
        """Weighted covariances of the terms, divided by `weight`, (p, p)."""
        return self._known()[1].scatter()[1:, 1:] / self._weight

    @property
    def gram(self) -> Floats:
        """Weighted sums of products of the terms, (p, p); `means` and `weight` tell the sums."""
        return self._known()[1].gram()[1:, 1:]

    @property
    def varies(self) -> bool:
        """Whether there is anything to explain: a response that is not constant so far."""
        if self._layout is None or not self._n_rows:
            return False
        layout, whole = self._known()
        own = [k for k, term in enumerate(layout.terms) if term[0] in ("y", "class")]
        return bool(whole.R[:, own].any())

    def __repr__(self) -> str:
        if self._layout is None:
            return "GramStatistics: no rows yet"
        n = len(self._layout.numeric_at) + len(self._layout.labeled)
        found = ", ".join(_words(response) for response in self._layout.responses)
        several = "responses" if len(self._layout.responses) > 1 else "response"
        rows = "row" if self._n_rows == 1 else "rows"
        return f"GramStatistics: {self._n_rows} {rows}, {n} features, {several} {found}"

    # Adding up

    def __add__(self, other: object) -> GramStatistics:
        if isinstance(other, int) and other == 0:  # where `sum` starts
            return self._copy()
        if not isinstance(other, GramStatistics):
            return NotImplemented
        if self._layout is None or other._layout is None:
            check_settings(self._settings, other._settings)
            return self._copy() if other._layout is None else other._copy()
        new, theirs = self._copy(), other._copy()
        assert new._layout is not None
        assert theirs._layout is not None
        new._agree_on_numbers(theirs)
        check_layouts(new._layout, theirs._layout)
        height, whole = theirs._triangles.height, theirs._triangle()
        columns = new._layout.take_in(theirs._layout)
        if whole is not None:
            new._triangles.flush(len(new._layout.terms))
            new._triangles.push(height, whole.combined(columns))
        new._n_rows += other._n_rows
        new._weight += other._weight
        return new

    __radd__ = __add__

    def _agree_on_numbers(self, other: GramStatistics) -> None:
        """Let whole numbers that were taken for classes be numbers if they are so elsewhere."""
        assert self._layout is not None
        assert other._layout is not None
        pairs = list(zip(self._layout.responses, other._layout.responses))
        if any(a.kind != b.kind and a.is_number and b.is_number for a, b in pairs):
            for statistics in (self, other):
                if statistics._settings["task"] == "auto":
                    statistics._to_numbers()

    def _to_numbers(self) -> None:
        assert self._layout is not None
        p = len(self._layout.terms)
        self._triangles = self._triangles.combined(p, self._layout.to_numbers())
        self._whole = None

    def _copy(self) -> GramStatistics:
        new = GramStatistics(**self._settings)
        new._layout = None if self._layout is None else self._layout.copy()
        new._triangles = self._triangles.copy()
        new._n_blocks = self._n_blocks
        new._n_rows, new._weight = self._n_rows, self._weight
        return new

    # Asking

    def select(
        self,
        n_features_to_select: int | float = 10,
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
        progress: Progress | None = None,
    ) -> SelectionPath:
        """Select features, as `orthoselect.select` would from all rows.

        Parameters
        ----------
        n_features_to_select : int or float, default=10
            A count, or a fraction in (0, 1) of the features. A group counts as one feature.
        method : {"socc", "obcc", "err", "mser"}, default="socc"
            What features are judged by. Others need the rows.
        response : name or position, or several, optional
            Which of the responses to explain; all by default.
        features : names, indices or a mask, optional
            The only features that may be taken; all by default.
        groups, include, exclude, response_encoding, search, progress
            As in `select`.
        task : {"auto", "classification", "regression"}, default="auto"
            "regression" reads classes that are numbers as numbers.

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
        asked = exclude
        if features is not None:
            layout = self._known()[0]
            only = set(find_columns(features, layout.names, "features"))
            left_out = find_columns(exclude, layout.names, "exclude")
            others = [c for c in range(len(layout.names)) if c not in only]
            exclude = sorted({*left_out, *others} - set(layout.taken))
        path = select(
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
        )
        if features is not None:
            left_out = find_columns(asked, layout.names, "exclude")
            path.options["exclude"] = [layout.names[c] for c in left_out] or None
            path.options["features"] = [layout.names[c] for c in sorted(only)]
        return path

    def open_problem(
        self,
        target: Any = None,
        *,
        task: str = "auto",
        response_encoding: str = "dummy",
        categorical_features: ColumnSpec = "from_dtype",
        sample_weight: Any = None,
        keep_whole_weights: bool = False,
        **columns: Any,
    ) -> Problem:
        """Pose a question as the problem that `orthoselect.select` works on."""
        layout, whole = self._known()
        if self._n_rows < 2:
            raise ShapeError(
                f"Found statistics of {self._n_rows} sample(s); a minimum of 2 is required."
            )
        settled = {"categorical_features": categorical_features, "sample_weight": sample_weight}
        for name, default in (("categorical_features", "from_dtype"), ("sample_weight", None)):
            given = settled[name]
            if given is not default and not (isinstance(given, str) and given == default):
                raise InputError(
                    f"`{name}` is settled when statistics are made; it cannot be given when they "
                    f"are asked. Give it to `GramStatistics`."
                )
        return pose(
            layout,
            whole,
            self._n_rows,
            target,
            task=task,
            response_encoding=response_encoding,
            **columns,
        )

    def _known(self) -> tuple[Layout, Triangle]:
        """Return the columns and the triangle of all rows."""
        whole = self._triangle()
        if self._layout is None or whole is None:
            raise InputError("there should be rows to know anything of; `update` takes them in.")
        return self._layout, whole

    def _triangle(self) -> Triangle | None:
        """Return the triangle of all rows, None if there are none."""
        if self._layout is not None and self._whole is None:
            self._whole = self._triangles.whole(len(self._layout.terms))
        return self._whole

    # Files

    def save(self, path: str | Path) -> None:
        """Write the statistics to a file.

        It is a ZIP archive, `.npz` by custom: `header.json`, which people can read, and arrays as
        NumPy writes them. Nothing in it is run when it is loaded.

        Parameters
        ----------
        path : str or Path
            A file that is there is replaced, once all is written.
        """
        layout, whole = self._known()
        known = {"n_rows": self._n_rows, "weight": self._weight, "n_blocks": self._n_blocks}
        settings = {name: self._settings[name] for name in ("task", "classes")}
        files.save(path, layout, whole, {**known, "height": self._triangles.height}, settings)

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
        layout, whole, known, settings = files.load(path)
        new = cls(**settings)
        new._layout = layout
        new._triangles = Triangles([(known["height"], whole)])
        new._n_rows, new._weight = known["n_rows"], known["weight"]
        new._n_blocks = known["n_blocks"]
        return new

    # Taking rows in

    def _take_blocks(self, opened: Opened, sample_weight: Any) -> None:
        """Read a table in blocks once."""
        names = opened.source.names
        beside = None if opened.taken else TargetBeside(opened.target)
        weights = None if sample_weight is None else np.atleast_1d(np.asarray(sample_weight))
        progress = getattr(opened.data, "progress", None)
        memory = getattr(opened.data, "memory", None)
        start = n_bytes = 0
        for number, block in enumerate(opened.data.blocks(None)):
            source = source_of(block)
            rows = slice(start, start + source.n_rows)
            check_names(names, source.names, number)
            source.names = names
            y = names[opened.taken[0]] if beside is None else beside.rows(rows)
            if source.n_rows:
                try:
                    self._take(source, y, None if weights is None else weights[rows], memory)
                except InputError as error:
                    raise error.at(name_of_block(number, rows)) from None
            start, n_bytes = rows.stop, n_bytes + bytes_of(block)
            if progress is not None:
                progress(1, n_bytes)
        if beside is not None:
            beside.check_end(start)
        if weights is not None:
            read_weights(weights, start)

    def _take(self, source: Source, y: Any, sample_weight: Any, memory: int | None = None) -> None:
        """Take in the rows of a block, or none of them."""
        if self._layout is None and not source.n_rows:
            return  # dtypes of nothing tell nothing
        weights = None if sample_weight is None else read_weights(sample_weight, source.n_rows)
        target = ReadTarget.of(source, y)
        check_finite(target.columns)
        new = self._copy()
        layout = new._look(source, target, weights)
        table = source.read(set(layout.labeled), layout.skip)
        coded = layout.code(table, target.columns, weights)
        _check_memory(len(layout.terms), free_memory() if memory is None else memory)
        for A, w in coded.tiles():
            new._triangles.add(A, w)
            new._n_rows += len(A)
            new._weight += float(len(A) if w is None else w.sum())
        new._n_blocks += 1
        vars(self).update(vars(new))

    def _look(self, source: Source, target: ReadTarget, weights: Floats | None) -> Layout:
        """Find what the columns hold, or check that they hold what they did."""
        numbers = self._settings["task"] == "regression"
        if self._settings["task"] == "auto" and self._settings["classes"] is None:
            numbers = target.has_fractions(weights)
        if self._layout is None:
            self._layout = first_look(source, target, self._settings, numbers=numbers)
            return self._layout
        look_again(self._layout, source, target, self._n_blocks)
        if numbers and any(y.is_number and y.classes is not None for y in self._layout.responses):
            self._to_numbers()
        return self._layout


def _check_memory(p: int, free: int) -> None:
    needed = _COPIES * 8 * p * p
    if needed > free:
        raise InputError(
            f"statistics of {p} columns (features, levels and classes) take about {needed:.1e} "
            f"bytes while they are made, and {free:.1e} are free. Exclude columns, or select from "
            f"the rows."
        )


def _words(response: ResponseColumn) -> str:
    if response.classes is None:
        return f"`{response.name}` (numbers)"
    n = len(response.classes.levels())
    return f"`{response.name}` ({n} {'class' if n == 1 else 'classes'})"
