"""Features are tested as if every permutation were fitted anew, and the test keeps its promise."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import beta, binom

import naive
from matrices import row_blocks
from orthoselect import GramStatistics, OrthogonalSelector, select
from orthoselect.criteria import gains, significance
from orthoselect.criteria.tails import adjusted, effective_candidates, least_statistic, rarity
from orthoselect.encode import spread_permuted
from orthoselect.errors import InputError, NothingSignificantWarning, RareColumnsWarning
from orthoselect.matrix import permuted
from orthoselect.matrix.permuted import Shuffle, scrambled

pytestmark = pytest.mark.filterwarnings("ignore::orthoselect.errors.SelectionWarning")
B = 9


@pytest.fixture
def looks(monkeypatch):
    """What the test said at each step."""
    found = []
    look = gains.Gains.look

    def watched(self, *args):
        found.append(look(self, *args))
        return found[-1]

    monkeypatch.setattr(gains.Gains, "look", watched)
    return found


def table(seed):
    """Columns of several kinds, a response with some signal, weights, and what goes along."""
    rng = np.random.default_rng(seed)
    N, n = int(rng.integers(25, 60)), int(rng.integers(4, 12))
    X = rng.normal(size=(N, n))
    if rng.random() < 0.4:
        X = np.round(2 * X)
    if rng.random() < 0.3:
        X[:, 1] = 3.0
    if rng.random() < 0.3:
        X[:, 2] = 2 * X[:, 0] - 1
    if rng.random() < 0.3:
        X = X * 10.0 ** rng.integers(-8, 9, n) + 10
    signal = (X[:, 0] - X[:, 0].mean()) / (X[:, 0].std() + 1e-300) + rng.normal(size=N)
    kind = rng.choice(["two", "three", "number", "several"])
    if kind in ("two", "three"):
        y = np.digitize(signal, [0] if kind == "two" else [-0.7, 0.7])
        order, Y, task = np.sort(y), naive.one_hot, "classification"
    else:
        y = signal if kind == "number" else np.column_stack([signal, rng.normal(size=N)])
        order, Y, task = y, np.asarray, "regression"
    return rng, X, y, order, Y, task


def as_matrix(Y, values):
    coded = Y(values)
    return coded[:, None] if coded.ndim == 1 else coded


def check_steps(looks, path, blocks, order, Y, sources, included=()):
    """Compare every look with fits of each permutation, by definition."""
    names = [step.columns for step in path]
    places = {columns: f for f, (columns, _) in enumerate(blocks)}
    done = [places[c] for c in names[: len(included)]]
    for look, columns in zip(looks, names[len(included) :]):
        taken = np.column_stack([np.ones(len(order)), *(blocks[f][1] for f in done)])
        open_ = [block for f, (_, block) in enumerate(blocks) if f not in done]
        expected = [
            naive.rarest(open_, as_matrix(Y, order[sources[:, b]]), taken)
            for b in range(sources.shape[1])
        ]
        np.testing.assert_allclose(look.null, expected, rtol=2e-4, atol=2e-4)
        done.append(places[columns])


@pytest.mark.parametrize("seed", range(24))
def test_null_minima_are_those_of_fits_of_each_permutation(seed, looks):
    rng, X, y, order, Y, task = table(seed)
    w = rng.integers(0, 3, len(X)) if rng.random() < 0.3 else None
    if w is not None:
        w[:5] = 1
    copies = np.ones(len(X), dtype=int) if w is None else w
    each = np.repeat(np.arange(len(X)), copies)
    include = [3] if rng.random() < 0.3 else None
    stored = {0: np.asarray, 1: sp.csr_array, 2: row_blocks}[seed % 3](X)
    options = {"task": task, "n_permutations": B, "random_state": seed, "p_values": True}
    path = select(stored, y, 4, sample_weight=w, include=include, **options)
    order = np.sort(y[each]) if task == "classification" else y[each]
    blocks = [((j,), X[each][:, [j]]) for j in range(X.shape[1])]
    sources = Shuffle(len(each), B, seed).sources(np.arange(len(each)))
    check_steps(looks, path, blocks, order, Y, sources, include or ())


@pytest.mark.parametrize("seed", range(12))
def test_weights_that_are_no_copies_stay_with_their_rows(seed, looks):
    rng, X, y, order, Y, task = table(seed + 200)
    w = rng.random(len(X)) * (rng.random(len(X)) < 0.9)
    stored = {0: np.asarray, 1: sp.csr_array, 2: row_blocks}[seed % 3](X)
    options = {"task": task, "n_permutations": B, "random_state": seed, "p_values": True}
    path = select(stored, y, 3, sample_weight=w, **options)
    live = np.flatnonzero(w)
    order = np.sort(y[live]) if task == "classification" else y[live]
    sources = Shuffle(len(live), B, seed).sources(np.arange(len(live)))
    A, done = X[live], []
    for look, feature in zip(looks, path.features):
        blocks = [A[:, [j]] for j in range(A.shape[1]) if j not in done]
        expected = [
            naive.rarest_weighted(blocks, as_matrix(Y, order[sources[:, b]]), A[:, done], w[live])
            for b in range(B)
        ]
        np.testing.assert_allclose(look.null, expected, rtol=2e-4, atol=2e-4)
        done.append(feature)


@pytest.mark.parametrize("seed", range(12))
def test_blocks_are_tested_as_by_definition(seed, looks):
    rng, X, y, order, Y, task = table(seed + 100)
    X[:, -1] = rng.integers(0, 5, len(X))
    groups = {"two": [0, X.shape[1] - 2]} if rng.random() < 0.7 else None
    options = {"task": task, "n_permutations": B, "random_state": seed, "p_values": True}
    last = X.shape[1] - 1
    path = select(X, y, 3, groups=groups, categorical_features=[last], **options)
    alone = [j for j in range(last) if not groups or j not in groups["two"]]
    blocks = [((j,), X[:, [j]]) for j in alone] + [((last,), naive.one_hot(X[:, last]))]
    if groups:
        blocks.append((tuple(groups["two"]), X[:, groups["two"]]))
    check_steps(looks, path, blocks, order, Y, Shuffle(len(X), B, seed).sources(np.arange(len(X))))


@pytest.mark.parametrize("leads", [True, False])
def test_features_of_many_columns_are_tested_as_by_definition(leads, looks):
    rng = np.random.default_rng(5)
    N = 300
    a, b = rng.integers(0, 70, N), rng.integers(0, 66, N)
    x = rng.normal(size=(N, 3))
    y = (a % 2) * (4.0 if leads else 1.2) + x[:, 0] + rng.normal(size=N)
    X = np.column_stack([x, a, b])
    path = select(X, y, 4, categorical_features=[3, 4], n_permutations=2, p_values=True)
    blocks = [((j,), x[:, [j]]) for j in range(3)]
    blocks += [((3,), naive.one_hot(a)), ((4,), naive.one_hot(b))]
    sources = Shuffle(N, 2, 0).sources(np.arange(N))
    assert (path.names[0] == "x3") == leads
    check_steps(looks, path, blocks, y, np.asarray, sources)


def test_rows_are_permuted_within_labels_only(looks):
    rng, N = np.random.default_rng(2), 60
    g, X = rng.integers(0, 4, N), rng.normal(size=(N, 5))
    y = X[:, 0] + 3 * g + rng.normal(size=N)
    path = select(X, y, 2, permute_within=g, n_permutations=B, p_values=True)
    sources = Shuffle(N, B, 0, g).sources(np.arange(N))
    assert (g[sources] == g[:, None]).all()
    blocks = [((j,), X[:, [j]]) for j in range(5)]
    check_steps(looks, path, blocks, y, np.asarray, sources)


@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("drawn", [False, True])
def test_every_permutation_is_one(strata, drawn, monkeypatch):
    monkeypatch.setattr(permuted, "_DRAWN", 1 << 22 if drawn else 0)
    monkeypatch.setattr(permuted, "_ORDERED", 0)
    N = 301
    labels = np.random.default_rng(0).integers(0, 9, N) if strata else None
    sources = Shuffle(N, 50, 3, labels).sources(np.arange(N))
    assert (np.sort(sources, axis=0) == np.arange(N)[:, None]).all()
    assert len(np.unique(sources, axis=1).T) == 50
    if strata:
        assert (labels[sources] == labels[:, None]).all()


@pytest.mark.parametrize("count", [2, 3, 100, 1025])
def test_scrambling_permutes(count):
    keys = np.array([7, 1, 9, 4], dtype=np.uint64)
    assert sorted(scrambled(np.arange(count, dtype=np.uint64), count, keys).tolist()) == list(
        range(count)
    )


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("weights", [None, "copies", "shares"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_all_storages_have_the_same_p_values(kind, weights, drawn, monkeypatch):
    da = pytest.importorskip("dask.array")
    monkeypatch.setattr(permuted, "_DRAWN", 1 << 22 if drawn else 0)
    monkeypatch.setattr(permuted, "_ORDERED", 0)
    rng, N = np.random.default_rng(3), 120
    X = rng.normal(size=(N, 6))
    y = X[:, 0] + rng.normal(size=N)
    y = np.digitize(y, [-1, 1]) if kind == "classes" else y
    w = {None: None, "copies": rng.integers(0, 4, N), "shares": rng.random(N)}[weights]
    asked = {"n_permutations": 39, "p_values": True}
    expected = select(X, y, 4, sample_weight=w, **asked)
    parts = [da.from_array(a, chunks=(50, *a.shape[1:])) for a in (X, y)]
    spread = None if w is None else da.from_array(w, chunks=50)
    others = [
        select(sp.csc_array(X), y, 4, sample_weight=w, **asked),
        select(row_blocks(X), y, 4, sample_weight=w, **asked),
        select(*parts, 4, sample_weight=spread, **asked),
        select(X.astype(np.float32), y, 4, sample_weight=w, **asked),
    ]
    if weights == "copies":
        others.append(select(np.repeat(X, w, axis=0), np.repeat(y, w), 4, **asked))
    for path in others:
        assert path.names == expected.names
        np.testing.assert_allclose(path.p_values, expected.p_values, rtol=0.02)


@pytest.mark.parametrize("weights", [None, "copies"])
def test_a_sample_stands_for_many_rows_of_numbers_in_pieces(weights, monkeypatch):
    da = pytest.importorskip("dask.array")
    monkeypatch.setattr(spread_permuted, "_MOST_ROWS", 500)
    rng, N = np.random.default_rng(3), 2000
    X = rng.normal(size=(N, 5))
    y = 0.1 * X[:, 0] + 0.1 * X[:, 3] + rng.normal(size=N)
    w = None if weights is None else rng.integers(0, 3, N)
    spread = None if w is None else da.from_array(w, chunks=600)
    made = []
    values = spread_permuted._values
    monkeypatch.setattr(spread_permuted, "_values", lambda *a: made.append(values(*a)) or made[-1])
    parts = [da.from_array(a, chunks=(600, *a.shape[1:])) for a in (X, y)]
    path = select(*parts, "auto", sample_weight=spread)
    assert 300 < len(made[0].table) <= 700
    assert made[0].modulus == len(made[0].table)
    exact = select(X, y, "auto", sample_weight=w)
    assert path.names == exact.names
    assert path.chosen == exact.chosen == 2
    for mine, theirs in zip(path.p_values[2:], exact.p_values[2:]):
        assert mine == pytest.approx(theirs, abs=0.15)  # of 199 permutations each


# What p-values promise


def test_p_values_of_noise_are_what_they_say():
    n_draws, rng = 200, np.random.default_rng(0)
    first = []
    for _ in range(n_draws):
        common = rng.normal(size=(40, 2))
        X = common @ rng.normal(size=(2, 25)) + 0.5 * rng.normal(size=(40, 25))
        y = rng.integers(0, 3, 40)
        first.append(select(X, y, 1, task="classification", n_permutations=39, p_values=True))
    p = np.array([path.p_values[0] for path in first])
    for level in (0.05, 0.25, 0.5):  # bounds that chance alone crosses once in 10,000
        low, high = binom.ppf([0.5e-4, 1 - 0.5e-4], n_draws, level)
        assert low <= (p <= level + 1e-9).sum() <= high


def test_a_wide_feature_does_not_win_by_width():
    rng, taken = np.random.default_rng(1), []
    for _ in range(40):
        y = rng.normal(size=60)
        X = np.column_stack([rng.normal(size=(60, 3)), rng.integers(0, 20, 60)])
        path = select(X, y, "auto", categorical_features=[3], n_permutations=39)
        taken += path.names[: path.chosen]
    assert len(taken) <= binom.ppf(1 - 1e-4, 40, 0.05)


def test_auto_finds_the_true_features_and_stops():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 40))
    y = X[:, 5] - X[:, 9] + rng.normal(size=300)
    path = select(X, y, "auto")
    assert sorted(path.features[: path.chosen]) == [5, 9]
    assert len(path) == path.chosen + 3
    assert path.chosen_columns == path.features[:2]
    assert "not significant" in path.to_text()
    assert "not significant" in path._repr_html_()
    assert "exchangeable" in path.to_text()
    selector = OrthogonalSelector("auto").fit(X, y)
    assert selector.transform(X).shape == (300, 2)


def test_a_gain_of_a_wide_feature_hides_no_significant_one():
    rng = np.random.default_rng(0)
    N = 60
    wide, x = rng.integers(0, 40, N), rng.normal(size=N)
    y = 0.8 * x + rng.normal(size=N)
    X = np.column_stack([wide, x])
    path = select(X, y, "auto", categorical_features=[0], adjust=None)
    assert path.names[0] == "x1"
    assert path.chosen == 1


def test_nothing_significant_is_said():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 8)), rng.normal(size=50)
    with pytest.warns(NothingSignificantWarning, match="no feature is significant at 0.05"):
        path = select(X, y, "auto")
    assert path.chosen == 0
    assert path.total == 0.0
    assert len(path) == 3


def test_a_number_of_features_is_tested_on_request_only():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 10))
    y = X[:, 3] + rng.normal(size=80)
    plain, tested = select(X, y, 4), select(X, y, 4, p_values=True)
    assert plain.names == tested.names
    assert plain.gains == tested.gains
    assert plain.p_values == [None] * 4
    assert "p_value" not in plain.to_dict()["steps"][0]
    assert tested.chosen == 4
    assert list(tested.to_frame("pandas").columns)[-1] == "p"
    assert tested.stats["passes"] <= plain.stats["passes"] + 1


def test_included_features_are_chosen_and_not_tested():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 8))
    y = X[:, 0] + X[:, 1] + rng.normal(size=90)
    path = select(X, y, "auto", include=[5])
    assert path.names[0] == "x5"
    assert path.p_values[0] is None
    assert sorted(path.features[1 : path.chosen]) == [0, 1]


def test_p_value_ranks_by_rarity():
    rng = np.random.default_rng(2)
    N = 200
    wide = rng.integers(0, 30, N)
    x = rng.normal(size=N)
    y = x + rng.normal(size=N) + 0.4 * rng.normal(size=30)[wide]
    X = np.column_stack([wide, x])
    path = select(X, y, 2, categorical_features=[0], adjust="p_value")
    logs = [
        naive.own_log_p(block, y[:, None], np.ones((N, 1)), 0)
        for block in (naive.one_hot(wide), x[:, None])
    ]
    assert path.names[0] == f"x{int(np.argmax(logs))}"


def test_statistics_are_tested_by_random_directions_and_warn_where_columns_are_rare():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    X[:, 5] = rng.random(400) < 0.02
    y = X[:, 1] + rng.normal(size=400)
    with pytest.warns(RareColumnsWarning, match="`x5` hardly varies"):
        path = GramStatistics().update(X, y).select("auto")
    assert path.names[: path.chosen] == ["x1"]
    assert "as if rows were normal" in path.to_text()


# Errors


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 0.001}, "`n_permutations=999` or more"),
        ({"alpha": 2}, "`alpha` should be a number between 0 and 1; got 2"),
        ({"n_permutations": 0}, "`n_permutations` should be a whole number of at least 1"),
        (
            {"method": "jmi"},
            "'socc', 'socc_discretized' and 'socc_splines'; got method 'jmi'. Choose one of",
        ),
        ({"permute_within": [1, 2]}, "one label for each of the 20 rows"),
        ({"random_state": -1}, "`random_state` should be a whole number"),
    ],
)
def test_what_cannot_be_tested_is_refused(options, words):
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=words):
        select(rng.normal(size=(20, 3)), rng.integers(0, 2, 20), "auto", **options)


@pytest.mark.parametrize("size", [1, None, "cv"])
@pytest.mark.parametrize(
    "given", [{"permute_within": [0, 0, 1, 1]}, {"alpha": 0.01}, {"n_permutations": 99}]
)
def test_what_only_tests_use_is_refused_without_a_test(given, size):
    words = "is for tests of features" if size == "cv" else "should come with"
    with pytest.raises(InputError, match=f"`{next(iter(given))}` {words}"):
        select(np.eye(4), [0, 1, 0, 1], size, **given)
    if size != "cv":
        with pytest.raises(InputError, match=f"`{next(iter(given))}` {words}"):
            OrthogonalSelector(size, **given).fit(np.eye(4), [0, 1, 0, 1])


# Formulas


@pytest.mark.parametrize(("U", "z", "m", "R"), [(0.1, 1, 1, 30), (0.7, 2, 3, 25), (1.2, 5, 2, 40)])
def test_rarity_is_that_of_pillais_trace(U, z, m, R):
    s, larger = min(z, m), max(z, m)
    expected = -beta.logsf(U / s, s * larger / 2, s * (R - larger) / 2)
    assert rarity(U, z, m, R) == pytest.approx(expected)
    assert least_statistic(float(rarity(U, z, m, R)), z, m, R) == pytest.approx(U, rel=1e-6)


def test_rarity_goes_on_where_numbers_end():
    x = np.linspace(0.05, 0.9, 40)
    logs = rarity(x, 1, 1, 20_000)
    slopes = np.diff(logs) / np.diff(x)
    assert np.isfinite(logs).all()
    assert (slopes > 0).all()
    # The largest that the incomplete beta function gives meets the smallest that it does not.
    edge = np.array([0.0615, 0.0625, 0.0635, 0.0645])
    steps = np.diff(rarity(edge, 1, 1, 20_000))
    assert np.ptp(steps) < 0.02 * steps.mean()


def test_independent_candidates_count_as_many_as_they_are():
    rng = np.random.default_rng(0)
    null = -np.log(rng.random((4000, 50)).min(axis=1))
    assert effective_candidates(null) == pytest.approx(50, rel=0.06)


def test_a_fitted_tail_goes_on_where_counting_ends():
    rng = np.random.default_rng(1)
    null = -np.log(rng.random((199, 50)).min(axis=1))
    truth = 50 * np.exp(-16.0)
    assert truth / 30 < adjusted(16.0, 0, null, 0.05) < 30 * truth
    assert adjusted(float(np.median(null)), 100, null, 0.05) == pytest.approx(0.5, abs=0.02)


def test_fewer_permutations_of_many_classes():
    plan = significance.PermutationPlan(0.05, 199, 0, True)
    assert (plan.count(1), plan.count(2), plan.count(9), plan.count(40)) == (199, 199, 119, 99)
    assert significance.PermutationPlan(0.05, 299, 0, True).count(9) == 299


def test_a_feature_that_explains_all_ties_with_permutations_that_do():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:, 2] = np.arange(30) == 4
    path = select(X, X[:, 2].astype(int), 1, p_values=True, n_permutations=1999)
    assert path.p_values[0] == pytest.approx(1 / 30, abs=0.015)  # one of 30 places of the one
    halves = np.arange(8) % 2
    rest = np.random.default_rng(1).normal(size=(8, 2))
    path = select(np.column_stack([halves, rest]), halves, 1, p_values=True, n_permutations=1999)
    assert path.p_values[0] == pytest.approx(2 / 70, abs=0.012)


def test_where_nothing_can_be_permuted_nothing_is_significant():
    x = np.arange(12) % 2
    within = np.where(x == 1, "u", "v")
    assert select(x[:, None], x, "auto", permute_within=within).p_values == [1.0]


def test_rare_flags_of_noise_are_not_significant_more_often_than_alpha_says():
    rejected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = np.zeros((30, 10))
        X[rng.integers(0, 30, 10), np.arange(10)] = 1
        y = np.zeros(30, int)
        y[rng.integers(0, 30)] = 1
        p = select(X, y, 1, task="classification", p_values=True, n_permutations=39).p_values[0]
        rejected += p <= 0.05
    assert rejected <= binom.ppf(1 - 1e-4, 60, 0.05)


def test_p_is_counted_where_permutations_are_as_rare():
    rng = np.random.default_rng(2)
    pairs = np.repeat(np.arange(5), 2)
    y = np.tile([0, 1], 5)
    x = y + 0.01 * rng.normal(size=10)
    path = select(x[:, None], y, 1, task="classification", permute_within=pairs, p_values=True)
    assert path.p_values[0] >= 1 / 32  # 2^5 ways, of which two are as rare


def test_frames_say_which_steps_are_chosen():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 6))
    path = select(X, X[:, 2] + 0.5 * rng.normal(size=100), "auto", n_permutations=39)
    counts = [number < path.chosen for number in range(len(path))]
    assert path.to_frame("pandas")["chosen"].tolist() == counts
    assert 1 <= path.chosen < len(path)
    assert path.to_csv().splitlines()[0] == "step,feature,name,gain,total,p,chosen"
    assert "chosen" not in select(X, X[:, 2], 1).to_csv()


def test_a_report_of_nothing_significant_says_so_throughout(tmp_path):
    rng = np.random.default_rng(5)
    with pytest.warns(NothingSignificantWarning):
        path = select(rng.normal(size=(60, 3)), rng.normal(size=60), "auto", n_permutations=39)
    page = path.report(tmp_path / "noise.html").read_text("utf-8")
    assert "None of 3 features was selected" in page
    assert "As selected" not in page
    assert path.stopped == "no other feature is significant at 0.05."


def test_why_auto_stopped_is_told_where_few_candidates_are_left_too(rng):
    X = rng.normal(size=(80, 3))
    path = select(X, X[:, 0] + 0.3 * rng.normal(size=80), "auto")
    assert (path.chosen, len(path)) == (1, 3)
    assert path.stopped == "no other feature is significant at 0.05."


def test_statistics_have_no_rows_to_permute_within(rng):
    X = rng.normal(size=(40, 3))
    found = GramStatistics.of(X, X[:, 0] > 0)
    with pytest.raises(
        InputError, match="`permute_within` permutes rows, and statistics have none"
    ):
        found.select(2, p_values=True, permute_within=np.zeros(40))
