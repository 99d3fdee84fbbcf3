"""The result of a comparison in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from orthoselect.result.fold_scores import ROUNDING

if TYPE_CHECKING:
    from orthoselect.result.comparison import Comparison

# What people call scores.
_SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "r2": "R squared",
}
_LARGE = 1000  # from here on, digits behind the point say nothing
_NOTHING = {"classification": "the most frequent class", "regression": "the mean"}


def sentence(comparison: Comparison) -> str:
    """Name the fewest features that are as good as the best cell, and the best cell."""
    highest, chosen = comparison.highest, comparison.recommended
    if highest is None or chosen is None:
        return "No method selected a feature, so there is nothing to compare."
    s = comparison.setting
    score, folds = score_name(s.scoring), count(highest["folds"], "validation fold")
    best = f"{_scored(highest)} by {_cell(highest)}{_of_how_many(comparison)}"
    if not chosen["n_features"]:
        words = (
            f"No method is clearly better than no features ({_NOTHING[s.task]}), mean {score} "
            f"{_scored(chosen)} on {folds}: the highest is within two standard errors, {best}"
        )
    elif chosen["n_features"] == highest["n_features"]:
        words = f"The highest mean {score} on {folds} is {best}"
        if highest["n_features"] > s.sizes[0]:
            words += "; no smaller number of features comes within one standard error of it"
    else:
        come = "comes" if chosen["n_features"] == 1 else "come"
        words = (
            f"{count(chosen['n_features'], 'feature')} by {chosen['method']} {come} within one "
            f"standard error of the best: mean {score} {_scored(chosen)} on {folds}, the highest "
            f"is {best}"
        )
    words += _all_are_better(comparison)
    return words + ("." if comparison.complete else ", as far as it was run.")


def _all_are_better(comparison: Comparison) -> str:
    """Say so where all features are clearly better than the best cell."""
    every = _baseline(comparison, with_features=True)
    if every is None or every["difference"] is None:
        return ""
    if every["difference"] >= -(every["difference_se"] or 0.0) - ROUNDING:
        return ""
    return f"; all {every['n_features']} features do better, {_scored(every)}"


def all_findings(comparison: Comparison) -> list[str]:
    """Return what a reader of the scores should know."""
    if comparison.highest is None:
        return []
    found = [_baselines(comparison), _optimism(comparison)]
    if comparison.setting.scoring_reason:
        found.append(f"Scored by {comparison.setting.scoring_reason}.")
    found.append(comparison.setting.estimator_reason)
    found.append(errors_in_words(comparison.setting.folds, comparison.highest["folds"]))
    return [words for words in found if words]


def errors_in_words(n_folds: int, n_scores: int, ratio: float | None = None) -> str:
    """Say what the standard errors are, and what they are not.

    `ratio` is that of validation rows to training rows, where it is not 1 / (n_folds - 1).
    """
    of = f"{n_scores} scores" if n_scores > 1 else "1 score"
    shared = f"1/{n_folds - 1}" if ratio is None else f"{ratio:.3g}"
    what = "" if ratio is None else f"; {shared} is validation rows over training rows"
    return (
        f"± is one standard error, s √(1/{n_scores} + {shared}), where s is the standard "
        f"deviation of {of} in {n_folds} folds{what}. Folds share training rows, so it is "
        f"approximate. Differences are taken fold by fold; as good as the best means at most one "
        f"standard error of the difference below it."
    )


def _of_how_many(comparison: Comparison) -> str:
    """Say beside the highest score that it is optimistic, unless there is no other."""
    n_cells = _n_cells(comparison)
    return f" (the best of {n_cells} scores, so optimistic)" if n_cells > 1 else ""


def _n_cells(comparison: Comparison) -> int:
    """Return how many methods and sizes compete."""
    highest = comparison.highest
    assert highest is not None
    return sum(point["folds"] == highest["folds"] for point in comparison.curves)


def _optimism(comparison: Comparison) -> str:
    n_cells = _n_cells(comparison)
    if n_cells == 1:
        return ""
    return (
        f"The highest of {n_cells} scores is optimistic: chance had a part in which of them came "
        f"first. So is the best of each size. Score it on rows kept apart from all this."
    )


def _baselines(comparison: Comparison) -> str:
    """Say how all features and no features do beside the best cell."""
    said = []
    every = _baseline(comparison, with_features=True)
    if every is not None:
        said.append(f"All {every['n_features']} features: {_scored(every)}{_beside(every)}")
    none = _baseline(comparison, with_features=False)
    if none is not None:
        what = _NOTHING[comparison.setting.task]
        said.append(f"No features, {what}: {_scored(none)}{_beside(none)}")
    return " ".join(f"{words}." for words in said)


def _beside(baseline: Mapping[str, Any]) -> str:
    """Say how a baseline stands beside the best cell."""
    if baseline["difference"] is None or baseline["difference_se"] is None:
        return ""
    below = baseline["difference"] >= 0
    by = with_error(abs(baseline["difference"]), baseline["difference_se"])
    return f", {by} {'below' if below else 'above'} the highest"


def _baseline(comparison: Comparison, *, with_features: bool) -> dict[str, Any] | None:
    found = (row for row in comparison.baseline_scores if bool(row["n_features"]) is with_features)
    return next(found, None)


def _cell(point: Mapping[str, Any]) -> str:
    return f"{point['method']} with {count(point['n_features'], 'feature')}"


def _scored(point: Mapping[str, Any]) -> str:
    return with_error(point["validation"], point["validation_se"])


def score_name(scoring: str) -> str:
    """Return what people call a score.

    Examples
    --------
    >>> score_name("auc"), score_name("neg_log_loss")
    ('AUC', 'neg_log_loss')
    """
    return _SCORES.get(scoring, scoring)


def count(number: int, thing: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> count(1, "feature"), count(2, "feature")
    ('1 feature', '2 features')
    """
    return f"1 {thing}" if number == 1 else f"{number} {thing}s"


def figure(value: float, digits: int = 3) -> str:
    """Return a score as it is written: so many digits behind the point, fewer of large numbers.

    Examples
    --------
    >>> figure(0.5), figure(-123456.7)
    ('0.500', '-1.235e+05')
    """
    return f"{value:.{digits}f}" if abs(value) < _LARGE else f"{value:.4g}"


def with_error(value: float, error: float | None, digits: int = 3) -> str:
    """Return a mean and its standard error.

    Examples
    --------
    >>> with_error(0.5, 0.01), with_error(0.5, None)
    ('0.500 ± 0.010', '0.500')
    """
    return figure(value, digits) + ("" if error is None else f" ± {figure(error, digits)}")
