"""The selectors for scikit-learn: their parameters, and what they ask of `select`."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from orthoselect.argument_names import COUNT_IS, telling_names
from orthoselect.criteria.information import CRITERIA
from orthoselect.encode.gaps import check_missing
from orthoselect.encode.response import check_choice
from orthoselect.gram import GramStatistics
from orthoselect.gram.gram_statistics import check_settled
from orthoselect.gram.intake import check_block
from orthoselect.path_selector import PathSelector, check_ignored
from orthoselect.read.survey import no_target
from orthoselect.roles import as_values

_UNSUPERVISED = "unsupervised"
_ORTHOGONAL = ("socc", "obcc", "err", "mser", _UNSUPERVISED)


class OrthogonalSelector(PathSelector):
    """Select the features that together explain the response best, by orthogonal least squares.

    Features are taken one after the other; each is judged by its squared orthogonal correlation
    with the response (SOCC). That is what it adds to the sum of squared canonical correlations of
    those already taken. Relevance, redundancy and interaction are in this one number. Older
    criteria of the same family are available for comparison.

    Parameters
    ----------
    n_features_to_select : int, float, "auto", "cv" or None, default=10
        A count, or a fraction in (0, 1) of the features. A group counts as one feature. "auto": as
        many as are significant, each given those before it; `path_` shows three more. "cv": as many
        as a cross-validation chooses; `SelectorCV` has its settings. None: at most ten. It stops
        earlier if features own several columns and no other feature gains more than it would by
        chance.
    criterion : {"socc", "obcc", "err", "mser", "unsupervised"}, default="socc"
        "socc": as above. "err": the error reduction ratio, "mser": the reduction of the mean
        squared error, "obcc": the squared correlation with what is left of a candidate. These three
        do not center columns before they orthogonalize them, read classes as the numbers 0, 1, 2
        and so on in sorted order, and take no `response_encoding`, `categorical_features` or
        `groups`. "unsupervised": the share of all columns that the selected ones explain; y is
        ignored.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or numbers. "auto": strings, booleans, categories and few whole
        numbers are classes, other numbers are quantities; where whole numbers are read as a
        quantity a warning says so. `select` has the rule.
    response_encoding : {"dummy", "onehot", "effects", "contrast", "ordinal"}, default="dummy"
        How classes become numbers. All but "ordinal" select the same features.
    categorical_features : "from_dtype", "all", None, or names, indices or a mask
        Columns coded as blocks of indicators and selected whole. "from_dtype" (the default): those
        of string or category dtype; columns named here are categorical in addition to those.
    groups : mapping of name to columns, or one label per column, default=None
        Columns that are selected together.
    include : names or indices, default=None
        Features taken first, in this order.
    exclude : names, indices or a mask, default=None
        Columns never taken; in `fit` they may hold anything, missing values too.
    search : {"forward", "backward", "floating", "swap", "beam", "exact"}, default="forward"
        How sets of features are searched. "forward" takes the best feature again and again. The
        others compare whole sets, and are never worse; "exact" proves the best set of a few dozen
        features. `select` says more, and `path_.certificate` what is proved.
    time_limit : float, default=60.0
        Seconds after which searches that compare sets return the best set so far.
    n_starts : int, default=1
        Sets that "swap" begins with; only for that search.
    width : int, default=5
        Sets of each size that "beam" keeps; only for that search.
    missing : {"error", "indicator", "mean", "drop_rows"}, default="error"
        What to do about missing values (NaN or null) in `fit`. "error": raise an error that names
        the columns. "indicator": a column of numbers is filled by its mean, and an indicator of its
        gaps is part of the feature. "mean": a column of numbers is filled by its mean only. With
        both, a gap in a categorical column is a level of its own. "drop_rows": rows with a gap in
        any candidate are dropped. With all but "error", rows without a target or a weight are
        dropped, too; warnings say how many. `transform` leaves gaps as they are.
    dates : {"drop", "parts"}, default="drop"
        Whether columns of dates are left out, or each is year, month, weekday, hour and the number
        of days, selected together.
    adjust : {"chance", "p_value", None}, default="chance"
        What features of several columns are ranked by. A feature of rank z gains z (m - total)/(N -
        1 - s) by chance alone, where m - total is left to explain and s is the rank of those
        selected. "chance": what it gains beyond that. "p_value": how rare its gain would be by
        chance. None: the plain gain, as in the paper. If all features and the response are single
        columns, all three give the same ranking.
    center : bool, default=True
        Whether "unsupervised" removes the mean of each column first; only for that criterion.
    alpha : float, default=0.05
        With "auto", the largest p-value that counts as significant.
    n_permutations : int, default=199
        Permutations of the response that candidates are compared with. The default makes fewer than
        199, at least 99, if the response has many columns or classes.
    permute_within : str or array-like of shape (N,), default=None
        The name of a column, which is then no feature, or labels: rows are exchanged only with rows
        of the same label.
    random_state : int, default=0
        Seed of the permutations.
    p_values : bool, default=False
        Whether to test the features also if the size of the path is given.
    progress : bool or callable, default=None
        True: show a bar while features are selected. Or a function, as `select` explains it.
    shared_path : int, default=None
        For a grid over `n_features_to_select`: its largest number. Fits of so many features or
        fewer on the same data, also copies of it, and with the same other options share one path
        of this size, so that a grid costs one selection a fold. The path is kept by its content,
        without the table. For a plain number, ``search="forward"``, tables in memory, and without
        `include`, `p_values` and `progress`; other fits select by themselves.

    Attributes
    ----------
    selected_ : integer array
        Column indices in order of selection; the columns of a group are together.
    support_ : boolean array of shape (n_features_in_,)
        Mask of the selected columns.
    path_ : SelectionPath
        One step for each feature: index, name, gain and running total.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X has column names.
    statistics_ : GramStatistics
        Only after `partial_fit`.

    See Also
    --------
    orthoselect.select : The same as a function of a table and a column's name.

    References
    ----------
    S. Zhang and Z.-Q. Lang, "Orthogonal least squares based fast feature selection for linear
    classification", Pattern Recognition 123, 2022. https://doi.org/10.1016/j.patcog.2021.108419

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from orthoselect import OrthogonalSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = OrthogonalSelector(n_features_to_select=3).fit(X, y)
    >>> selector.selected_
    array([27, 20, 21])
    >>> selector.transform(X).shape
    (569, 3)
    """

    @telling_names(COUNT_IS, "OrthogonalSelector")
    def __init__(
        self,
        n_features_to_select: int | float | str | None = 10,
        *,
        criterion: str = "socc",
        task: str = "auto",
        response_encoding: str = "dummy",
        categorical_features: Any = "from_dtype",
        groups: Any = None,
        include: Any = None,
        exclude: Any = None,
        search: str = "forward",
        time_limit: float = 60.0,
        n_starts: int = 1,
        width: int = 5,
        missing: str = "error",
        dates: str = "drop",
        adjust: str | None = "chance",
        center: bool = True,
        alpha: float = 0.05,
        n_permutations: int = 199,
        permute_within: Any = None,
        random_state: int = 0,
        p_values: bool = False,
        progress: Any = None,
        shared_path: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.n_permutations = n_permutations
        self.permute_within = permute_within
        self.random_state = random_state
        self.p_values = p_values
        self.progress = progress
        self.shared_path = shared_path
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.task = task
        self.response_encoding = response_encoding
        self.categorical_features = categorical_features
        self.groups = groups
        self.include = include
        self.exclude = exclude
        self.search = search
        self.time_limit = time_limit
        self.n_starts = n_starts
        self.width = width
        self.missing = missing
        self.dates = dates
        self.adjust = adjust
        self.center = center

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> OrthogonalSelector:
        """Add more rows, and select from all rows so far.

        Of the rows only their `GramStatistics` are kept, in `statistics_`. `fit` starts again from
        nothing. As long as there are fewer than two rows, or the response has only one value,
        nothing is selected.

        Parameters
        ----------
        X : array-like, SciPy sparse or dataframe (pandas, polars, pyarrow) of shape (N, n)
        y : array-like, series or dataframe of shape (N,) or (N, responses)
            Classes, numbers, or several of either. With ``task="auto"`` whole numbers may turn out
            to be a quantity when more rows come. Set ``task="regression"`` if numbers with a
            fractional part may follow.
            Ignored by criterion "unsupervised".
        classes : array-like, default=None
            All classes, in the first call; others are then an error. By default new classes are
            added as they appear.
        sample_weight : array-like of shape (N,), default=None
            Row weights: a whole number counts as that many copies of the row.

        Returns
        -------
        self : OrthogonalSelector

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from orthoselect import OrthogonalSelector
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> selector = OrthogonalSelector(3)
        >>> for start in range(0, len(X), 100):
        ...     _ = selector.partial_fit(X[start : start + 100], y[start : start + 100])
        >>> selector.selected_
        array([27, 20, 21])
        """
        check_block(X, "`partial_fit`")
        options = self._options()
        if not self._needs_target:
            check_ignored(y)
            y = None
        elif y is None:
            raise no_target()
        started = hasattr(self, "statistics_")
        validate_data(self, X, skip_check_array=True, reset=not started)
        settings = {k: getattr(self, k) for k in ("task", "categorical_features", "exclude")}
        settings["missing"] = check_missing(self.missing)
        before = getattr(self, "statistics_", None) or GramStatistics(**settings, classes=classes)
        check_settled(before, settings, classes)
        statistics = copy(before).update(X, as_values(y), sample_weight)
        path = None
        if statistics.n_rows > 1 and statistics.varies:
            size: Any = self.n_features_to_select  # what is no number is refused there
            path = statistics.select(
                size,
                options["method"],
                response_encoding=self.response_encoding,
                groups=self.groups,
                include=self.include,
                search=self.search,
                **self._searching(),
                **self._adjusted(),
                **self._tests(),
            )
        for attribute in ("path_", "selected_", "support_"):
            self.__dict__.pop(attribute, None)
        if path is not None:
            self._store(path)
        self.statistics_ = statistics
        return self

    def _get_support_mask(self) -> np.ndarray:
        if hasattr(self, "statistics_") and not hasattr(self, "support_"):
            raise NotFittedError(
                f"This OrthogonalSelector instance is not fitted yet: `partial_fit` has too few "
                f"rows so far to select from, {self.statistics_!r}. Call it with more rows."
            )
        return super()._get_support_mask()

    def _options(self) -> dict[str, Any]:
        method = check_choice(self.criterion, _ORTHOGONAL, "criterion")
        options = {"method": method, **self._adjusted(), **self._searching()}
        tests = self._tests()
        return {
            **options,
            **tests,
            "task": self.task,
            "response_encoding": self.response_encoding,
        }

    def _tests(self) -> dict[str, Any]:
        """Return what is asked about tests."""
        names = ("alpha", "n_permutations", "permute_within", "random_state", "p_values")
        return {name: getattr(self, name) for name in names}

    def _searching(self) -> dict[str, Any]:
        """Return options of the search that are not the default: one that takes none says so."""
        defaults = {"time_limit": 60.0, "n_starts": 1, "width": 5}
        given = {name: getattr(self, name) for name in defaults}
        return {name: value for name, value in given.items() if value != defaults[name]}

    def _adjusted(self) -> dict[str, Any]:
        """Return `adjust` and `center` if not the default: a method without them says so."""
        adjusted = {} if self.adjust == "chance" else {"adjust": self.adjust}
        return adjusted if self.center is True else {**adjusted, "center": self.center}

    @property
    def _needs_target(self) -> bool:
        return bool(self.criterion != _UNSUPERVISED)


class MutualInformationSelector(PathSelector):
    """Select the features that tell most about the class, by a criterion of information theory.

    Features are taken one after the other. Each is judged by what it says about the class and by
    what it has in common with those already taken, as the criterion sees it; everything is counted
    from levels, so that columns of numbers are cut into bins first.

    Parameters
    ----------
    n_features_to_select : int, float or "cv", default=10
        A count, or a fraction in (0, 1) of the features. A group counts as one feature. "cv": as
        many as a cross-validation chooses; `SelectorCV` has its settings.
    criterion : str, default="jmi"
        "mim", "mrmr_difference", "mrmr_quotient", "jmi", "cmim", "cife", "icap" or "disr".
    bins : {"auto", "from_data", "mean_std_3", "mean_std_4"}, int or discretizer, default="auto"
        How numeric columns become levels. "auto": those of whole numbers, at most 256 distinct
        ones, are taken as they are, all others are cut at mean plus and minus one standard
        deviation. "from_data": every distinct value is a level, at most 256. "mean_std_3" and
        "mean_std_4": cut all numeric columns, as `MeanStdDiscretizer` does. A number: so many
        bins of equal width. A discretizer, such as scikit-learn's
        ``KBinsDiscretizer(encode="ordinal")``: a copy of it is fitted and used.
    task : {"auto", "classification"}, default="auto"
        "classification" says that whole numbers are classes, however many there are; "auto" takes
        many for a quantity (see `OrthogonalSelector`), which this selector does not explain.
    categorical_features : "from_dtype", "all", None, or names, indices or a mask
        Columns whose values are levels as they are. "from_dtype" (the default): those of string or
        category dtype; columns named here are categorical in addition to those.
    groups : mapping of name to columns, or one label per column, default=None
        Columns that are selected together. A group is one variable; its levels are the
        combinations that occur.
    include : names or indices, default=None
        Features taken first, in this order.
    exclude : names, indices or a mask, default=None
        Columns never taken; in `fit` they may hold anything, missing values too.
    search : {"forward"}, default="forward"
        How sets of features are searched.
    missing : {"error", "indicator", "mean", "drop_rows"}, default="error"
        What to do about missing values (NaN or null) in `fit`. "error": raise an error that names
        the columns. "indicator": gaps of a column of numbers are a level of their own. "mean": they
        are filled by its mean. With both, a gap in a categorical column is a level of its own.
        "drop_rows": rows with a gap in any candidate are dropped. With all but "error", rows
        without a target or a weight are dropped, too; warnings say how many. `transform` leaves
        gaps as they are.
    dates : {"drop", "parts"}, default="drop"
        Whether columns of dates are left out, or each is year, month, weekday, hour and the number
        of days, selected together.
    constant : float, default=0.0
        Added to the denominator of "mrmr_quotient", in nats; only for that criterion.
    capped : bool, default=True
        Whether "cmim" is at most I(k;Y), as Fleuret has it; only for that criterion.
    adjust : {None, "miller_madow"}, default=None
        Observed frequencies overstate information, the more the more levels there are.
        "miller_madow" corrects each entropy for it; informations may then be negative. Not for the
        two quotients, and with whole weights only.
    progress : bool or callable, default=None
        True: show a bar while features are selected. Or a function, as `select` explains it.
    shared_path : int, default=None
        For a grid over `n_features_to_select`: its largest number. Fits of so many features or
        fewer on the same data, also copies of it, and with the same other options share one path
        of this size, so that a grid costs one selection a fold. The path is kept by its content,
        without the table. For a plain number, ``search="forward"``, tables in memory, and without
        `include`, `p_values` and `progress`; other fits select by themselves.

    Attributes
    ----------
    selected_ : integer array
        Column indices in order of selection; the columns of a group are together.
    support_ : boolean array of shape (n_features_in_,)
        Mask of the selected columns.
    path_ : SelectionPath
        One step a feature: index, name, gain (the score of the feature when it was taken, in nats
        where the criterion is no quotient) and the running sum of the gains.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X has column names.

    See Also
    --------
    OrthogonalSelector : Needs no bins, and takes numbers as the response, too.
    orthoselect.select : The same as a function; `method` is the criterion.

    Notes
    -----
    Equal scores go to the lowest index, exactly. Scores may be negative, and their features are
    taken all the same; constant features never are. Row weights count as copies of rows in all
    eight criteria and in the bins; weights that are not whole make ties a matter of rounding.

    The bins are found to select by; `transform` returns the selected columns as they were. To have
    the codes themselves, put a discretizer before the selector in a pipeline.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from orthoselect import MutualInformationSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = MutualInformationSelector(3, criterion="jmi").fit(X, y)
    >>> selector.selected_
    array([27,  2,  7])
    """

    @telling_names(COUNT_IS, "MutualInformationSelector")
    def __init__(
        self,
        n_features_to_select: int | float | str = 10,
        *,
        criterion: str = "jmi",
        bins: Any = "auto",
        task: str = "auto",
        categorical_features: Any = "from_dtype",
        groups: Any = None,
        include: Any = None,
        exclude: Any = None,
        search: str = "forward",
        missing: str = "error",
        dates: str = "drop",
        constant: float = 0.0,
        capped: bool = True,
        adjust: str | None = None,
        progress: Any = None,
        shared_path: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.bins = bins
        self.task = task
        self.categorical_features = categorical_features
        self.groups = groups
        self.include = include
        self.exclude = exclude
        self.search = search
        self.missing = missing
        self.dates = dates
        self.constant = constant
        self.capped = capped
        self.adjust = adjust
        self.progress = progress
        self.shared_path = shared_path

    def _options(self) -> dict[str, Any]:
        method = check_choice(self.criterion, CRITERIA, "criterion")
        options = {"method": method, "bins": self.bins, "task": self.task}
        # Only what differs from the default: the method raises for what is not its own.
        if self.constant != 0.0:
            options["constant"] = self.constant
        if self.capped is not True:
            options["capped"] = self.capped
        if self.adjust is not None:
            options["adjust"] = self.adjust
        return options
