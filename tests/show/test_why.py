"""Relevance, what remains, who explains it, substitutes and verdicts."""

import itertools
import warnings
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine

import naive
from orthoselect import select
from orthoselect.encode import build_design
from orthoselect.errors import SelectionWarning
from orthoselect.show.replay import replay
from orthoselect.show.summary import summarize
from orthoselect.show.verdicts import weigh_evidence
from problems import EXPLAINING, random_block_problem, random_problem
from show import naive_summary

INFORMATION = ["mim", "mrmr_difference", "mrmr_quotient", "jmi", "cmim", "cife", "icap", "disr"]


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return function(*args, **kwargs)


def summary_of(X, y, t, method="socc", sample_weight=None, **options):
    path = quietly(select, X, y, t, method, sample_weight=sample_weight, **options)
    return summarize(path, X, y, sample_weight=sample_weight)


def verdicts(summary):
    return [feature["verdict"] for feature in summary["features"]]


# Against plain least squares


def check_against_twin(summary, blocks, Y, w):
    features = summary["features"]
    order = sorted((f for f in features if f["step"]), key=lambda f: f["step"])
    places = [features.index(f) for f in order]
    for f, feature in enumerate(features):
        before = places if feature["step"] is None else places[: feature["step"] - 1]
        check_feature(feature, f, before, places, blocks, Y, w)
    for step, entry in enumerate(summary["substitutes"]):
        rank = naive_summary.rank(blocks[places[step]], w)
        chance = summary["steps"][step].get("chance", 0.0) / rank
        check_runners_up(entry, step, features, places, blocks, Y, w, chance)


def check_feature(feature, f, before, places, blocks, Y, w):
    taken = np.hstack([np.zeros((len(Y), 0)), *(blocks[s] for s in places)])
    seen = np.hstack([np.zeros((len(Y), 0)), *(blocks[s] for s in before)])
    left = naive_summary.remains(blocks[f], seen, w)
    if left is None:
        assert feature["verdict"] in ("constant", "selected")
        assert feature["remains"] is feature["explained_by"] is feature["explained"] is None
        return
    assert feature["remains"] == pytest.approx(left, abs=1e-8)
    assert feature["relevance"] == pytest.approx(naive_summary.relevance(blocks[f], Y, w), abs=1e-8)
    if feature["step"] is None and feature["gain"] is not None:
        assert feature["gain"] == pytest.approx(
            naive_summary.gain(blocks[f], taken, Y, w) or 0.0, abs=1e-5
        )
    by = [naive_summary.explained(blocks[f], blocks[s], w) for s in before]
    if not by:
        assert feature["explained_by"] is None
        return
    assert feature["explained"] == pytest.approx(max(by), abs=1e-8)
    assert feature["explained"] <= 1 - feature["remains"] + 1e-8


def check_runners_up(entry, step, features, places, blocks, Y, w, chance):
    twins = naive_summary.runners_up(blocks, places, step, Y, w, chance)
    ups = entry["runners_up"]

    def merit(f, gain):
        return gain - chance * naive_summary.rank(blocks[f], w)

    merits = [merit(f, gain) for f, gain in twins if gain > 1e-8]
    place = {one["feature"]: f for f, one in enumerate(features)}
    told = [merit(place[up["feature"]], up["gain"]) for up in ups]
    assert told[: len(merits)] == pytest.approx(merits, abs=1e-5)
    for up in ups:
        f = next(k for k, one in enumerate(features) if one["feature"] == up["feature"])
        assert f not in places[: step + 1]
        assert up["chosen_at"] == features[f]["step"]
        winner = blocks[places[step]]
        told = naive_summary.explained(blocks[f], winner, w)
        assert up["explained"] == pytest.approx(told, abs=1e-8)
        best = merit(places[step], entry["gain"])
        if up["margin"] is not None and best > 1e-3:
            assert up["margin"] == pytest.approx(1 - max(merit(f, up["gain"]), 0) / best, abs=1e-2)


@pytest.mark.parametrize("seed", range(120))
def test_columns_are_told_as_by_plain_least_squares(seed):
    problem = random_problem(seed, offset=1e3)
    summary = summary_of(
        problem.stored,
        problem.y,
        problem.t,
        sample_weight=problem.weights,
        **problem.options,
    )
    check_against_twin(summary, problem.blocks, problem.Y, problem.weights)


@pytest.mark.parametrize("seed", range(120))
def test_blocks_are_told_as_by_plain_least_squares(seed):
    problem = random_block_problem(seed)
    labels = problem.options["groups"]
    order = list(dict.fromkeys(label or c for c, label in enumerate(labels)))
    first = [labels.index(order[f]) if order[f] in labels else order[f] for f in problem.include]
    summary = summary_of(
        problem.X,
        problem.y,
        problem.t,
        sample_weight=problem.weights,
        include=first,
        **problem.options,
    )
    check_against_twin(summary, problem.blocks, problem.Y, problem.weights)


@pytest.mark.parametrize("method", EXPLAINING)
def test_what_remains_is_linear_whatever_the_method(method, rng):
    X = rng.normal(size=(80, 6))
    X[:, 4] = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=80)
    y = (X[:, 0] + X[:, 2] > 0).astype(int)
    summary = summary_of(X, y, 3, method)
    taken = X[:, [step["feature"] for step in summary["steps"]]]
    for f, feature in enumerate(summary["features"]):
        if feature["step"] is None:
            told = naive_summary.remains(X[:, [f]], taken)
            assert feature["remains"] == pytest.approx(told, abs=1e-10)


def test_nearly_dependent_blocks_keep_their_digits(rng):
    """Inner products would say nothing: what is left of the second column is 1e-12 of it."""
    x, noise, z = rng.normal(size=(3, 300))
    X = np.column_stack([x, x + 1e-6 * noise, noise, z])
    y = (z > 0).astype(int)
    summary = summary_of(X, y, 1, groups={"pair": [0, 1]}, include=[2])
    pair = summary["features"][0]
    assert pair["remains"] == pytest.approx(naive_summary.remains(X[:, :2], X[:, [2]]), abs=1e-6)
    assert pair["remains"] == pytest.approx(0.5, abs=0.01)


def test_with_fewer_rows_than_features_nothing_may_remain(rng):
    X, y = rng.normal(size=(12, 40)), rng.normal(size=12)
    summary = summary_of(X, y, 11)
    others = [f for f in summary["features"] if f["step"] is None]
    assert [f["remains"] for f in others] == pytest.approx([0.0] * 29, abs=1e-12)
    assert {f["verdict"] for f in others} == {"redundant"}


def test_float32_tells_the_same(rng):
    X = rng.normal(size=(200, 8))
    X[:, 5] = X[:, 0]
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    exact = summary_of(X.astype(np.float32).astype(float), y, 3)
    told = summary_of(X.astype(np.float32), y, 3)
    for a, b in zip(exact["features"], told["features"]):
        assert a["verdict"] == b["verdict"]
        assert a["remains"] == pytest.approx(b["remains"], abs=1e-5)
        assert a["relevance"] == pytest.approx(b["relevance"], abs=1e-5)


def test_sparse_tells_the_same(rng):
    X = rng.normal(size=(200, 30)) * (rng.random((200, 30)) < 0.2)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    dense, sparse = summary_of(X, y, 3), summary_of(sp.csr_array(X), y, 3)
    for a, b in zip(dense["features"], sparse["features"]):
        assert a["remains"] == pytest.approx(b["remains"], abs=1e-12)
        assert (a["verdict"], a["explained_by"]) == (b["verdict"], b["explained_by"])


def test_what_was_chosen_later_is_a_runner_up_until_then():
    wine = load_wine(as_frame=True)
    summary = summary_of(wine.data, wine.target, 4)
    steps = {step["name"]: step["step"] for step in summary["steps"]}
    first = summary["substitutes"][0]
    assert first["name"] == "flavanoids"
    up = first["runners_up"][0]
    assert (up["name"], up["chosen_at"]) == ("proline", steps["proline"])
    assert up["gain"] == pytest.approx(0.7038, abs=1e-4)
    for entry in summary["substitutes"]:
        later = [u["chosen_at"] for u in entry["runners_up"] if u["chosen_at"] is not None]
        assert all(step > entry["step"] for step in later)
        assert all(steps.get(u["name"]) == u["chosen_at"] for u in entry["runners_up"])


# Verdicts


def made_table(rng, N=400, n_noise=200):
    """Two signals, the first twice, a constant, and noise."""
    a, b = rng.normal(size=(2, N))
    y = (2 * a + b + 0.5 * rng.normal(size=N) > 0).astype(int)
    X = np.column_stack([a, b, 3 * a - 7, np.full(N, 5.0), rng.normal(size=(N, n_noise))])
    return X, y


@pytest.mark.parametrize("method", ["socc", "socc_discretized", *INFORMATION, "obcc"])
def test_a_copy_is_redundant_a_constant_constant_and_noise_irrelevant(method, rng):
    X, y = made_table(rng)
    told = verdicts(summary_of(X, y, 1, method))
    assert told[0] == "selected"
    assert told[2:4] == ["redundant", "constant"]
    assert Counter(told[4:])["irrelevant"] > 0.95 * len(told[4:])


@pytest.mark.parametrize("method", ["lasso", "elastic_net", "err", "mser", "shapley"])
def test_other_methods_tell_noise_too(method, rng):
    X, y = made_table(rng)
    told = verdicts(summary_of(np.delete(X, [2, 3], axis=1), y, 2, method))
    assert told[0] == "selected"
    assert Counter(told[2:])["irrelevant"] > 0.93 * len(told[2:])


@pytest.mark.parametrize("kind", ["several classes", "numbers", "weights", "blocks"])
def test_noise_is_irrelevant_of_every_kind(kind, rng):
    X, y = made_table(rng, n_noise=300)
    options = {}
    if kind == "several classes":
        y = y + 2 * (X[:, 1] > 0) + 4 * (rng.random(len(y)) < 0.3)
    if kind == "numbers":
        y = X[:, 0] + rng.normal(size=len(y))
    if kind == "weights":
        options["sample_weight"] = rng.exponential(size=len(y))
    if kind == "blocks":
        X[:, 4:] = rng.integers(0, 5, size=(len(y), 300))
        y = y + (X[:, 1] > 0)
        options["categorical_features"] = list(range(4, 304))
    told = verdicts(summary_of(X, y, 1, **options))
    assert Counter(told[4:])["irrelevant"] > 0.95 * 300


def test_a_rival_that_still_adds_something_was_nearly_chosen(rng):
    X = rng.normal(size=(400, 5))
    X = np.linalg.qr(X - X.mean(axis=0))[0]
    y = X[:, 0] + 0.99 * X[:, 1] + 0.5 * X[:, 2]
    summary = summary_of(X[:, [0, 1, 3, 4]], y, 1)
    assert verdicts(summary) == ["selected", "nearly chosen", "irrelevant", "irrelevant"]
    assert summary["features"][1]["gain"] > 0.4


def test_a_twin_that_adds_nothing_is_redundant_though_it_came_close(rng):
    X, y = made_table(rng)
    X[:, 2] = X[:, 0] + 0.15 * rng.normal(size=len(y))
    summary = summary_of(X, y, 2)
    twin = summary["features"][2]
    assert 0.01 < twin["remains"] < 0.05
    assert twin["verdict"] == "redundant"
    assert twin["name"] in summary["clusters"]["names"]
    (up,) = [u for u in summary["substitutes"][0]["runners_up"] if u["feature"] == 2]
    assert 0 < up["margin"] < 0.05


def test_a_feature_that_the_set_explains_is_redundant(rng):
    X, y = made_table(rng)
    X[:, 2] = X[:, 0] + 0.7 * rng.normal(size=len(y))
    summary = summary_of(X, y, 2)
    feature = summary["features"][2]
    assert feature["relevance"] > 0.2
    assert feature["verdict"] == "redundant"
    assert feature["explained_by"] == "x0"


def test_what_still_adds_is_useful(rng):
    X, y = made_table(rng)
    summary = summary_of(X, y, 1)
    assert summary["features"][1]["verdict"] == "useful"


def test_what_only_adds_given_the_selected_is_useful(rng):
    """A suppressor tells nothing alone, but takes the noise out of another feature."""
    noise, signal = rng.normal(size=(2, 2000))
    X = np.column_stack([signal + 3 * noise, noise])
    summary = summary_of(X, signal, 1)
    assert summary["features"][1]["relevance"] < 0.003
    assert summary["features"][1]["verdict"] == "useful"


def test_what_was_included_is_no_yardstick_for_nearly_chosen(rng):
    X, y = made_table(rng)
    X[:, 2] = rng.normal(size=len(y))
    summary = summary_of(X, y, 1, include=[5])
    margins = [up["margin"] for up in summary["substitutes"][0]["runners_up"]]
    assert margins[0] < 0  # x0 would have been far better than what was included
    assert "nearly chosen" not in verdicts(summary)


def test_scores_that_are_no_gains_need_a_zero_for_nearly_chosen(rng):
    """jmi adds up what the selected features tell by themselves: all candidates look alike."""
    N = 2000
    a, b, c = rng.normal(size=(3, N))
    y = (3 * a + 0.9 * b + 0.7 * c + 0.2 * rng.normal(size=N) > 0).astype(int)
    X = np.column_stack([a, b, c, rng.normal(size=(N, 5))])
    summary = summary_of(X, y, 2, "jmi")
    assert [step["feature"] for step in summary["steps"]] == [0, 1]
    (up,) = [u for u in summary["substitutes"][1]["runners_up"] if u["feature"] == 2]
    assert up["margin"] < 0.05
    assert summary["features"][2]["verdict"] == "useful"


def test_a_feature_that_has_lost_its_relevance_is_redundant_however_many_rows_there_are(rng):
    """In so many rows the little that it adds is more than chance."""
    a, b, noise, more = rng.normal(size=(4, 20_000))
    X = np.column_stack([a, a + 0.5 * noise + 0.03 * b])
    summary = summary_of(X, a + b + more, 1)
    feature = summary["features"][1]
    assert 0.1 < feature["remains"] < 0.3
    assert 0.0006 < feature["gain"] < 0.1 * feature["relevance"]
    assert feature["verdict"] == "redundant"


def evidence_of(X, y, t, method="socc", sample_weight=None, **options):
    path = select(X, y, t, method, sample_weight=sample_weight, **options)
    walked = replay(path, X, y, sample_weight)
    problem = walked.problem
    design = build_design(problem.table, problem.groups, problem.skip)
    return weigh_evidence(walked, design, path.total, len(path))


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("p", [1, 4])
def test_one_noise_feature_of_a_hundred_passes(m, p, rng):
    """Alone, and given a feature that explains most of the response; single columns and blocks."""
    N, n = 100, 3000
    y = np.arange(N) % (m + 1)
    X = rng.normal(size=(N, 1 + n))
    X[:, 0] = y + 0.2 * X[:, 0]
    options = {"include": [0], "task": "classification"}
    if p > 1:  # as many rows of every level
        X[:, 1:] = rng.permuted(np.tile(np.arange(N) % (p + 1), (n, 1)), axis=1).T
        options["categorical_features"] = list(range(1, 1 + n))
    alone, by_chance, left, left_by_chance = evidence_of(X, y, 1, **options)
    assert 0.006 < (alone > by_chance)[1:].mean() < 0.016
    if m == 1:  # else what is left to explain is not alike in all directions
        assert 0.006 < (left > left_by_chance)[1:].mean() < 0.016


@pytest.mark.parametrize("weighted", [False, True])
def test_one_noise_feature_of_a_hundred_passes_by_information(weighted, rng):
    X, y = rng.integers(0, 3, size=(400, 4000)), np.arange(400) % 3
    w = rng.exponential(size=400) if weighted else None
    alone, by_chance, _, _ = evidence_of(X, y, 1, "mim", sample_weight=w)
    assert 0.005 < (alone > by_chance).mean() < 0.017


def test_what_beats_every_permutation_is_not_irrelevant():
    wine = load_wine(as_frame=True)
    options = {"bins": "mean_std_3"}
    summary = summary_of(wine.data, wine.target, 3, "mim", **options)
    at = list(wine.data.columns).index("alcalinity_of_ash")
    rng = np.random.default_rng(0)
    shuffled = rng.permuted(np.tile(wine.data.iloc[:, at], (500, 1)), axis=1).T
    alone, by_chance, _, _ = evidence_of(shuffled, wine.target, 1, "mim", **options)
    feature = summary["features"][at]
    assert feature["relevance"] > 2 * alone.max()
    assert (alone > by_chance).mean() < 0.03
    assert feature["verdict"] == "useful"
    for one in summary["features"]:
        if one["verdict"] == "irrelevant":
            assert one["relevance"] <= by_chance[0]


@pytest.mark.parametrize("levels", [30, 75, 140])
def test_noise_of_rare_levels_is_irrelevant(levels, rng):
    """Rare levels fit any response: chance has to be given more."""
    X, y = rng.integers(0, levels, size=(150, 100)), np.arange(150) % 2
    told = verdicts(summary_of(X, y, 1, "mim", bins="from_data"))
    assert Counter(told)["irrelevant"] > 0.95 * 99


def test_features_without_any_relation_to_the_response_are_irrelevant():
    X = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
    X, y = np.vstack([X, X]), np.arange(32) // 16
    assert verdicts(summary_of(X, y, 2)) == ["irrelevant"] * 4


def test_gains_without_bound_are_none(rng):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 30)
    X = np.column_stack([X, rng.integers(0, 2, 120)])
    y = X[:, 0] * 2 + X[:, 1]
    summary = summary_of(X, y, 2, "mrmr_quotient")
    assert summary["steps"][1]["gain"] is None
    assert summary["substitutes"][1]["runners_up"][0]["margin"] is None


def test_relevance_is_the_methods_own_score(rng):
    X, y = made_table(rng, n_noise=3)
    codes = [np.digitize(x, [x.mean() - x.std(), x.mean() + x.std()]).tolist() for x in X.T]
    infos = naive.Informations([*codes[:2], *codes[4:]], y.tolist())
    summary = summary_of(np.delete(X, [2, 3], axis=1), y, 2, "cmim")
    told = [feature["relevance"] for feature in summary["features"]]
    assert told == pytest.approx([infos.I((k,), ("y",)) for k in range(5)], abs=1e-9)
