"""Standard errors, paired differences and the rule of one standard error, against slow twins."""

import math

import numpy as np
import pytest

from orthoselect.result import (
    ALL_FEATURES,
    NO_FEATURES,
    ComparedMethod,
    Comparison,
    FoldRun,
    Setting,
)
from orthoselect.result.fold_scores import PairedDifference, standard_error

METHODS, SIZES = ("a", "b", "c"), (1, 2, 4)


# The twins: sums written out, one fold after the other


def slow_error(values, n_folds):
    """Nadeau and Bengio: variance times 1/J plus validation rows per training row."""
    if len(values) < 2:
        return None
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    validation, training = 1 / n_folds, 1 - 1 / n_folds
    return math.sqrt(variance * (1 / len(values) + validation / training))


def slow_difference(frame, first, second, n_folds):
    """Look up both scores of every fold, and subtract them."""
    differences = []
    for _, rows in frame.groupby(["repeat", "fold"]):
        found = [
            rows[(rows.method == method) & (rows.n_features == size)].validation.tolist()
            for method, size in (first, second)
        ]
        if all(found):
            differences.append(found[0][0] - found[1][0])
    return sum(differences) / len(differences), slow_error(differences, n_folds)


def slow_choice(frame, n_folds):
    """Try no features, then sizes upward: the best method, if the best cell is not far above."""
    means = frame.groupby(["method", "n_features"]).validation.mean()
    cells = [(m, s) for s in SIZES for m in METHODS]
    best = max(cells, key=lambda cell: means[cell])
    mean, error = slow_difference(frame, best, (NO_FEATURES, 0), n_folds)
    if mean <= 2 * error:
        return NO_FEATURES, 0
    for size in SIZES:
        leader = max(METHODS, key=lambda m: means[m, size])
        mean, error = slow_difference(frame, best, (leader, size), n_folds)
        if mean <= error + 1e-9:
            return leader, size
    raise AssertionError("the best cell is as good as itself")


def drawn(seed, n_folds=5, repeats=1, effect=0.1):
    """Draw scores that rise with the size, with a part that all methods of a fold share."""
    rng = np.random.default_rng(seed)
    runs = []
    for repeat in range(1, repeats + 1):
        for fold in range(1, n_folds + 1):
            shared = rng.normal(scale=0.05)
            sizes = dict.fromkeys(METHODS, SIZES) | {NO_FEATURES: (0,), ALL_FEATURES: (9,)}
            for method, own in sizes.items():
                scores = {
                    s: (1.0, 0.5 + effect * math.sqrt(s) + shared + rng.normal(scale=0.03))
                    for s in own
                }
                runs.append(FoldRun(method, repeat, fold, ("x",) * max(own), 0.1, scores))
    setting = Setting(
        **{"title": "t", "target": "y", "task": "classification", "estimator": "lda"},
        **{"scoring": "accuracy", "folds": n_folds, "repeats": repeats, "seed": 0, "sizes": SIZES},
    )
    methods = [ComparedMethod(name, "") for name in METHODS]
    baselines = [ComparedMethod(name, "") for name in (ALL_FEATURES, NO_FEATURES)]
    return Comparison(runs, methods, setting, baselines)


def close(found, expected):
    return found == expected or found == pytest.approx(expected, abs=1e-12)


# The claims


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("n_folds", "repeats"), [(5, 1), (3, 4), (10, 1), (2, 2)])
def test_standard_errors_and_differences_are_those_of_the_slow_twin(seed, n_folds, repeats):
    comparison = drawn(seed, n_folds, repeats)
    frame = comparison.to_frame()
    highest = comparison.highest
    top = highest["method"], highest["n_features"]
    for point in [*comparison.curves, *comparison.baseline_scores]:
        cell = point["method"], point["n_features"]
        own = frame[(frame.method == cell[0]) & (frame.n_features == cell[1])].validation
        assert close(point["validation_se"], slow_error(own.tolist(), n_folds))
        mean, error = slow_difference(frame, top, cell, n_folds)
        assert close(point["difference"], mean)
        assert close(point["difference_se"], error)
        assert point["as_good"] == (mean <= error + 1e-9)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("effect", [0.0, 0.02, 0.1])
def test_the_recommended_size_is_that_of_the_slow_twin(seed, effect):
    comparison = drawn(seed, effect=effect)
    found = comparison.recommended
    assert (found["method"], found["n_features"]) == slow_choice(comparison.to_frame(), 5)


@pytest.mark.parametrize("seed", range(8))
def test_methods_within_the_best_of_a_size_are_those_of_the_slow_twin(seed):
    comparison = drawn(seed)
    frame = comparison.to_frame()
    for row in comparison.best:
        size, near = row["n_features"], []
        for method in METHODS:
            mean, error = slow_difference(frame, (row["method"], size), (method, size), 5)
            if method != row["method"] and mean <= error:
                near.append(method)
        assert set(row["within"]) == set(near)


def test_pairing_tells_apart_what_shares_its_ups_and_downs():
    up_and_down = [0.7, 0.9, 0.8, 0.6, 1.0]
    first = {(1, k): v for k, v in enumerate(up_and_down)}
    second = {fold: score - 0.02 - 0.001 * fold[1] for fold, score in first.items()}
    difference = PairedDifference.of(first, second, 5)
    assert not difference.is_small
    assert difference.mean < standard_error(up_and_down, 5) / 3


def test_one_fold_alone_never_tells_two_methods_apart():
    first = {(1, 1): 1.0, (1, 2): 0.9, (1, 3): 0.9}
    second = {**first, (1, 1): 0.5}
    assert PairedDifference.of(first, second, 3).is_small


def test_repeats_do_not_make_the_standard_error_vanish():
    rng = np.random.default_rng(0)
    values = rng.normal(size=5000).tolist()
    assert standard_error(values, 5) == pytest.approx(np.std(values) / 2, rel=0.01)


def test_the_standard_error_covers_the_mean_where_the_plain_one_does_not():
    """Scores of folds correlate by 1/K, as where training rows are shared."""
    rng, K, inside, plainly = np.random.default_rng(1), 5, 0, 0
    for _ in range(4000):
        scores = math.sqrt(1 / K) * rng.normal() + math.sqrt(1 - 1 / K) * rng.normal(size=K)
        inside += abs(scores.mean()) <= standard_error(scores.tolist(), K)
        plainly += abs(scores.mean()) <= scores.std(ddof=1) / math.sqrt(K)
    assert 0.60 < inside / 4000 < 0.68  # of t with 4 degrees of freedom, 0.626 lie within one
    assert plainly / 4000 < 0.5


def test_one_score_has_no_standard_error():
    assert standard_error([0.5], 5) is None
    alone = PairedDifference.of({(1, 1): 0.9}, {(1, 1): 0.8}, 5)
    assert alone.error is None
    assert not alone.is_small
    assert PairedDifference.of({(1, 1): 0.9}, {(1, 2): 0.8}, 5) is None
