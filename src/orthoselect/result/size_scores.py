"""How many features: cross-validated scores against the size, and the size that they choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orthoselect.errors import NoBetterThanNoneWarning
from orthoselect.lazy import lazy
from orthoselect.result.comparison import Comparison
from orthoselect.result.findings import count, errors_in_words, score_name, with_error
from orthoselect.result.fold_scores import CLEARLY, ROUNDING
from orthoselect.result.tabular import Tabular
from orthoselect.result.text import as_table, plain

RULES = ("one_se", "best")
# What may be said of a cross-validation; what is not the default is among a path's options.
SIZE_OPTIONS = {
    "cv": 5,
    "estimator": None,
    "scoring": None,
    "rule": "one_se",
    "largest": None,
    "random_state": 0,
    "n_jobs": None,
    "row_groups": None,
}
_NOTHING = {"classification": "the most frequent class", "regression": "the mean"}
# The columns of the scores as a table, and what they hold.
_COLUMNS = {
    "n_features": "Int64",
    "validation": "Float64",
    "validation_se": "Float64",
    "train": "Float64",
    "folds": "Int64",
    "difference": "Float64",
    "difference_se": "Float64",
}


class SizeScores(Tabular):
    """Cross-validated scores of the sizes of a path, and which of them they choose.

    The best size is the one with the highest mean. Others are set against it fold by fold; one that
    lies at most one standard error of that difference below it is as good. The standard errors are
    those of `Comparison`.

    As a table (`to_frame`, `to_csv`) it has one row for each size: the number of features, mean and
    standard error of the validation scores, the mean in training, the number of folds, how far it
    lies below the best size, and the standard error of that.

    Parameters
    ----------
    comparison : Comparison
        The scores of one method.
    rule : {"one_se", "best"}
        "one_se": the smallest size that is as good as the best; "best": the best.
    n_candidates : int
        How many features there were to choose from.

    Attributes
    ----------
    comparison : Comparison
    rule : str
    n_candidates : int

    Examples
    --------
    >>> from orthoselect import select
    >>> scores = select("wine", None, "cv").size_scores
    >>> scores.chosen, scores.best["n_features"], len(scores.points)
    (7, 10, 10)
    >>> print(scores.sentence)
    7 features by cross-validation: mean accuracy 0.972 ± 0.019 on 5 folds, within one standard
    error of the best, 0.989 ± 0.010 with 10 features (the best of 10 sizes, so optimistic).
    """

    def __init__(self, comparison: Comparison, rule: str, n_candidates: int) -> None:
        self.comparison, self.rule, self.n_candidates = comparison, rule, n_candidates

    @property
    def points(self) -> list[dict[str, Any]]:
        """What is known of each size, the smallest first: see `Comparison.curves`."""
        return self.comparison.curves

    @lazy
    def by_size(self) -> dict[int, dict[str, Any]]:
        """The same by the number of features."""
        return {point["n_features"]: point for point in self.points}

    @property
    def best(self) -> dict[str, Any]:
        """The size with the highest mean score; of equal ones the smallest."""
        highest = self.comparison.highest
        assert highest is not None  # there is none without scores
        return highest

    @property
    def at_chosen(self) -> dict[str, Any]:
        """What is known of the chosen size."""
        if self.rule == "best":
            return self.best
        return next(point for point in self.points if point["as_good"])

    @property
    def chosen(self) -> int:
        """How many features the rule chooses."""
        return self.at_chosen["n_features"]

    @property
    def without_features(self) -> dict[str, Any] | None:
        """The scores of the model that knows no feature, None if it could not be scored."""
        return next(iter(self.comparison.baseline_scores), None)

    @property
    def is_clear(self) -> bool:
        """Whether the best size is more than two standard errors better than no features."""
        none = self.without_features
        if none is None or none["difference"] is None:
            return True
        return none["difference"] > CLEARLY * (none["difference_se"] or 0.0) + ROUNDING

    @property
    def warning(self) -> NoBetterThanNoneWarning | None:
        """What to warn of: that no size is clearly better than no features. None if one is."""
        none = self.without_features
        if none is None or self.is_clear:
            return None
        return NoBetterThanNoneWarning(
            self.chosen, self.score_name, _scored(self.best), _scored(none)
        )

    def scores(self, n_features: int) -> list[float | None]:
        """Return the validation scores of a size, fold by fold; None where there is none."""
        by_fold = [run.scores.get(n_features) for run in self._runs]
        return [None if pair is None else pair[1] for pair in by_fold]

    @property
    def _runs(self) -> list[Any]:
        name = self.comparison.methods[0].name
        return [run for run in self.comparison.runs if run.method == name]

    @property
    def score_name(self) -> str:
        """What the scores are, as people call it."""
        return score_name(self.comparison.setting.scoring)

    @property
    def sentence(self) -> str:
        """The result in words: the chosen size and the best one, with their scores."""
        chosen, best, n_sizes = self.at_chosen, self.best, len(self.points)
        folds = count(chosen["folds"], "fold")
        words = (
            f"{count(chosen['n_features'], 'feature')} by cross-validation: mean "
            f"{self.score_name} {_scored(chosen)} on {folds}"
        )
        optimistic = f"the best of {n_sizes} sizes, so optimistic"
        if chosen["n_features"] != best["n_features"]:
            words += (
                f", within one standard error of the best, {_scored(best)} with "
                f"{count(best['n_features'], 'feature')} ({optimistic})"
            )
        elif n_sizes > 1:
            words += f", {optimistic}"
            if self.rule == "one_se" and best["n_features"] > self.points[0]["n_features"]:
                words += "; no smaller size comes within one standard error of it"
        none = self.without_features
        if none is not None and not self.is_clear:
            words += f". No size is clearly better than no features, {_scored(none)}"
        return f"{words}."

    @property
    def notes(self) -> list[str]:
        """What a reader of the scores should know, a sentence or two each."""
        setting, found = self.comparison.setting, []
        none = self.without_features
        if none is not None and none["difference"] is not None:
            far = with_error(abs(none["difference"]), none["difference_se"])
            side = "above" if none["difference"] < 0 else "below"
            found.append(
                f"No features, {_NOTHING[setting.task]}: {_scored(none)}, {far} {side} the best."
            )
        largest = self.points[-1]["n_features"]
        if self.best["n_features"] == largest < self.n_candidates:
            found.append("The best size is the largest that was tried; more may do better.")
        if len(self.points) > 1:
            found.append(
                "The size was chosen by these scores, so they are optimistic; for an honest score "
                "cross-validate the whole choice, or keep rows apart."
            )
        if setting.scoring_reason:
            found.append(f"Scored by {setting.scoring_reason}.")
        if setting.estimator_reason:
            found.append(setting.estimator_reason)
        found.append(errors_in_words(setting.folds, self.best["folds"], setting.ratio))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists, ready for JSON."""
        setting = self.comparison.setting
        return {
            "rule": self.rule,
            "chosen": self.chosen,
            "best": self.best["n_features"],
            "estimator": setting.estimator,
            "estimator_reason": setting.estimator_reason,
            "scoring": setting.scoring,
            "score_name": self.score_name,
            "scoring_reason": setting.scoring_reason,
            "folds": setting.folds,
            "seed": setting.seed,
            "sizes": [
                _plain_point(point, self.scores(point["n_features"])) for point in self.points
            ],
            "no_features": None
            if self.without_features is None
            else _plain_point(self.without_features),
            "is_clear": self.is_clear,
            "sentence": self.sentence,
            "notes": self.notes,
        }

    @property
    def _columns(self) -> Mapping[str, str]:
        return _COLUMNS

    def _rows(self) -> list[list[Any]]:
        return [[point[name] for name in _COLUMNS] for point in self.points]

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores against the number of features, the chosen and the best size marked.

        Whiskers are one standard error.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        ax : matplotlib Axes

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from orthoselect import select
        >>> ax = select("iris", None, "cv").size_scores.plot(Figure().subplots())
        >>> ax.get_xlabel()
        'number of features'
        """
        from orthoselect import plots

        ax = plots.new_axes(600, 360) if ax is None else ax
        return plots.draw_size_scores(self.to_dict(), ax)

    def to_text(self) -> str:
        """Return the result in words, and the sizes as a table."""
        header = ["features", f"{self.score_name} ± SE", "below the best", ""]
        rows = [
            [
                str(point["n_features"]),
                _scored(point, 4),
                with_error(point["difference"], point["difference_se"], 4),
                self.mark(point["n_features"]),
            ]
            for point in self.points
        ]
        table = as_table(header, rows, left={3}, indent="  ")
        return "\n".join([self.sentence, table, *(f"  {n}" for n in self.notes)])

    def mark(self, n_features: int) -> str:
        """Return "chosen" or "best" beside the sizes that are, "" beside others."""
        if n_features == self.chosen:
            return "chosen"
        return "best" if n_features == self.best["n_features"] else ""


def _scored(point: Mapping[str, Any], digits: int = 3) -> str:
    return with_error(point["validation"], point["validation_se"], digits)


def _plain_point(
    point: Mapping[str, Any], scores: Sequence[float | None] | None = None
) -> dict[str, Any]:
    told = {name: point[name] for name in (*_COLUMNS, "as_good")}
    return plain(told | ({} if scores is None else {"scores": list(scores)}))
