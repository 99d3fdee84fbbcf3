"""The best size of each method of a comparison, and the smallest that is as good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from orthoselect.result.findings import figure
from orthoselect.result.fold_scores import (
    ROUNDING,
    FoldScores,
    PairedDifference,
    standard_error,
)

if TYPE_CHECKING:
    from orthoselect.result.comparison import Setting


# What the table of all methods says of the best size of each: the size, the standard error there,
# and the smallest size that is as good.
_ROWS = {"best at": "n_features", "± SE": "validation_se", "as good": "smallest"}


def find_best_sizes(
    cells: Mapping[tuple[str, int], FoldScores], methods: Sequence[str], setting: Setting
) -> list[dict[str, Any]]:
    """Return the best size of each method that has scores, in their order.

    `cells` has the validation scores of each method and size, by fold.
    """
    found = []
    for method in methods:
        scores = {size: by_fold for (name, size), by_fold in cells.items() if name == method}
        if scores:
            found.append({"method": method, **best_size(scores, setting)})
    return found


def cells_of_sizes(best_sizes: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the rows of the table of all methods that are about their best sizes."""
    rows = []
    for label, key in _ROWS.items():
        told = [one[key] for one in best_sizes]
        cells = [figure(t, 4) if isinstance(t, float) else str(t or "-") for t in told]
        rows.append([label, *(f"{cell} " for cell in cells)])
    return rows


def best_size(scores: Mapping[int, FoldScores], setting: Setting) -> dict[str, Any]:
    """Return the size with the highest mean, and the smallest within one standard error of it.

    Parameters
    ----------
    scores : mapping of int to mapping
        The validation scores of each size, by fold. Sizes with fewer folds than others are left
        out.
    setting : Setting

    Returns
    -------
    found : dict
        `n_features`, `validation` and `validation_se` of the best, `smallest`, and of that one
        `smallest_validation` and `smallest_validation_se`. Of equally good sizes the smaller one.
    """
    most = max(map(len, scores.values()))
    full = {size: scores[size] for size in sorted(scores) if len(scores[size]) == most}
    means = {size: fmean(by_fold.values()) for size, by_fold in full.items()}
    best = next(size for size in full if means[size] >= max(means.values()) - ROUNDING)
    smallest = next(size for size in full if _is_as_good(full[best], full[size], setting))
    errors = {
        size: standard_error(list(full[size].values()), setting.folds_in_effect)
        for size in (best, smallest)
    }
    return {
        "n_features": best,
        "validation": means[best],
        "validation_se": errors[best],
        "smallest": smallest,
        "smallest_validation": means[smallest],
        "smallest_validation_se": errors[smallest],
    }


def _is_as_good(best: FoldScores, other: FoldScores, setting: Setting) -> bool:
    below = PairedDifference.of(best, other, setting.folds_in_effect)
    return below is not None and below.is_small
