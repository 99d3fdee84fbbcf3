"""The eight information criteria against their definitions, and what must hold of them."""

import itertools
import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coded_problems import CRITERIA, coded_problem
from conftest import _feed_in_blocks
from orthoselect import native, select
from orthoselect.counts import Logarithms
from orthoselect.criteria.information import InformationCriterion, Quotient, SumOfQuotients
from orthoselect.encode import NumberedNames, Table, build_codes, build_response
from orthoselect.errors import (
    ConstantTargetError,
    InputError,
    SearchStoppedWarning,
    SelectionWarning,
)
from orthoselect.read import read_target
from problems import constant_and_refused

pytestmark = pytest.mark.usefixtures("rows_come")


@pytest.fixture(params=["in memory", "in blocks", "in blocks, coded in every pass"])
def rows_come(request, monkeypatch):
    """Tables as they are, and in blocks of rows whose codes are kept, or made in every pass."""
    if request.param != "in memory":
        _feed_in_blocks(monkeypatch)
    if "every pass" in request.param:
        monkeypatch.setattr("orthoselect.encode.coded_design._codes_fit", lambda *_: False)
    return request.param


def run(X, y, t, method, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return select(X, y, t, method, **options)


@pytest.fixture(params=["kernels", "no kernels"])
def way(request, monkeypatch):
    """With and without compiled kernels."""
    if request.param == "no kernels":
        monkeypatch.setattr(native, "_kernels", None)
    elif not native.available():
        pytest.skip("no kernels were built")


@pytest.mark.parametrize("method", CRITERIA)
def test_equals_the_definition(method, way, numbers):
    for seed in numbers(100):
        p = coded_problem(seed)
        selected, gains = naive.forward_information(method, p.infos, p.t, p.include)
        path = run(
            p.X, p.y, p.t, method, include=p.include, sample_weight=p.weights, bins="from_data"
        )
        assert path.features == selected, seed
        assert path.gains == pytest.approx(gains, rel=1e-9, abs=1e-9), seed
        assert len(set(path.features)) == len(path)


@pytest.mark.parametrize("method", [m for m in CRITERIA if m not in ("mrmr_quotient", "disr")])
def test_adjusted_entropies_are_those_of_miller_and_madow(method, way, numbers):
    for seed in numbers(60):
        p = coded_problem(seed)
        weights = None if p.weights is None else p.weights.tolist()
        infos = naive.CorrectedInformations(p.X.T.tolist(), p.y.tolist(), weights)
        selected, gains = naive.forward_information(method, infos, p.t, p.include)
        options = {"include": p.include, "sample_weight": p.weights, "bins": "from_data"}
        path = run(p.X, p.y, p.t, method, adjust="miller_madow", **options)
        assert path.features == selected, seed
        assert path.gains == pytest.approx(gains, rel=1e-9, abs=1e-9), seed


def test_adjusted_information_of_noise_is_about_zero_whatever_its_levels(rng):
    N, draws = 300, 200
    y = rng.integers(0, 3, N)
    for levels in (2, 20):
        columns = rng.integers(0, levels, (N, draws))
        # What "mim" says of a column does not depend on the others.
        plain, fair = (
            run(columns, y, draws, "mim", bins="from_data", adjust=adjust).gains
            for adjust in (None, "miller_madow")
        )
        assert len(plain) == len(fair) == draws
        plain = np.mean(plain)
        assert plain > 0.9 * (levels - 1) * 2 / (2 * N)
        assert abs(np.mean(fair)) < 0.1 * plain + 4 * np.std(fair) / np.sqrt(draws)


def test_quotients_and_fractional_weights_are_not_adjusted(rng):
    X, y = rng.integers(0, 3, (40, 3)), rng.integers(0, 2, 40)
    with pytest.raises(InputError, match="which 'disr' could not divide by"):
        select(X, y, 1, "disr", adjust="miller_madow")
    with pytest.raises(InputError, match="`sample_weight` should be whole numbers"):
        select(X, y, 1, "jmi", adjust="miller_madow", sample_weight=0.5 + rng.random(40))
    with pytest.raises(InputError, match="None or 'miller_madow'; got 'chance'"):
        select(X, y, 1, "jmi", adjust="chance")


@pytest.mark.parametrize("kind", ["sparse", "columns", "uint8", "float32", "int64"])
def test_storage_changes_nothing(kind, way, numbers):
    for seed in numbers(100):
        p = coded_problem(seed)
        method = CRITERIA[seed % len(CRITERIA)]
        if kind == "uint8" and (p.X.min() < 0 or p.X.max() > 255):
            continue
        options = {"include": p.include, "sample_weight": p.weights}
        expected = run(p.X, p.y, p.t, method, **options)
        path = run(p.stored(kind), p.y, p.t, method, **options)
        assert path.features == expected.features, seed
        assert path.gains == expected.gains, seed


def test_strategies_are_really_different(rows_come):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 5)), rng.integers(0, 2, 200)
    kinds = {
        select(X, y, 2, "jmi").stats["strategy"],
        select(X * rng.integers(1, 200, (200, 5)), y, 2, "jmi").stats["strategy"],
        run(coded_problem(0).stored("sparse"), coded_problem(0).y, 1, "jmi").stats["strategy"],
        select(X, y, 2, "jmi", sample_weight=1 + y).stats["strategy"],
    }
    assert len(kinds) == (1 if "every pass" in rows_come else 4)


def test_uncapped_cmim_equals_the_definition(numbers):
    differs = 0
    for seed in numbers(80):
        p = coded_problem(seed)
        selected, gains = naive.forward_information("cmim", p.infos, p.t, p.include, capped=False)
        options = {"include": p.include, "sample_weight": p.weights}
        path = run(p.X, p.y, p.t, "cmim", capped=False, **options)
        assert path.features == selected, seed
        assert path.gains == pytest.approx(gains, abs=1e-9)
        differs += path != run(p.X, p.y, p.t, "cmim", **options)
    assert differs


@pytest.mark.parametrize("constant", [1e-4, 0.01, 1 / 3])
def test_quotient_with_a_constant_equals_the_definition(constant, numbers):
    differs = 0
    for seed in numbers(80):
        p = coded_problem(seed)
        expected = naive.forward_information(
            "mrmr_quotient", p.infos, p.t, p.include, constant=constant
        )
        options = {"include": p.include, "sample_weight": p.weights}
        path = run(p.X, p.y, p.t, "mrmr_quotient", constant=constant, **options)
        assert path.features == expected[0], seed
        assert path.gains == pytest.approx(expected[1], rel=1e-9, abs=1e-9)
        differs += path.gains != run(p.X, p.y, p.t, "mrmr_quotient", **options).gains
    assert differs


def test_fractional_weights_equal_the_definition(numbers):
    for seed in numbers(150):
        p = coded_problem(seed)
        rng = np.random.default_rng(seed)
        w = rng.random(len(p.y)) + 0.1
        infos = naive.Informations(p.X.T.tolist(), p.y.tolist(), w.tolist())
        method = CRITERIA[seed % len(CRITERIA)]
        selected, gains = naive.forward_information(method, infos, p.t, tie=1e-10)
        path = run(p.X, p.y, p.t, method, sample_weight=w)
        assert path.features == selected, seed
        assert path.gains == pytest.approx(gains, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("method", CRITERIA)
@pytest.mark.parametrize("rest", [1e-2, 1e-3, 1e-4])
def test_weights_of_which_one_row_has_nearly_all_equal_the_definition(rest, method, way):
    exact = {"rel": 1e-7} if method in ("mrmr_quotient", "disr") else {"abs": 1e-12}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, (12, 5)), rng.integers(0, 2, 12)
        w = rest * (rng.random(12) + 0.5)
        w[0] = 1.0
        infos = naive.Informations(X.T.tolist(), y.tolist(), w.tolist())
        selected, gains = naive.forward_information(method, infos, 4, tie=1e-9)
        path = run(X, y, 4, method, sample_weight=w)
        assert path.features == selected, seed
        assert path.gains == pytest.approx(gains, **exact), seed


@pytest.mark.parametrize("tiny", [1e-1, 1e-2, 1e-3, 1e-4])
def test_a_quotient_is_as_certain_as_its_two_informations(tiny, way):
    """Of features that vary in rows of little weight only: both informations are tiny."""
    quotients = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y, w = np.zeros((12, 3), dtype=int), rng.integers(0, 2, 12), rng.random(12) + 0.5
        rows = rng.permutation(12)[:4]
        w[rows] *= tiny
        X[:, 0] = rng.integers(0, 2, 12)
        X[rows, 1:] = rng.integers(0, 3, (4, 2))
        infos = naive.Informations(X.T.tolist(), y.tolist(), w.tolist())
        path = run(X, y, 2, "mrmr_quotient", sample_weight=w, include=[0])
        k = path.features[1]
        top, bottom = infos.I((k,), ("y",)), infos.I((k,), (0,))
        if top > 1e-11 and bottom > 1e-11:
            lost = 1e-13 / top + 1e-13 / bottom
            assert path.gains[1] == pytest.approx(top / bottom, rel=lost + 1e-12), seed
            quotients += 1
    assert quotients > 5


@pytest.mark.parametrize("method", CRITERIA)
def test_whole_weights_are_copies_of_rows(method, numbers):
    for seed in numbers(40):
        p = coded_problem(seed)
        w = np.random.default_rng(seed).integers(0, 4, len(p.y))
        w[:2] = 1
        w[(p.y != p.y[0]).argmax()] += 1  # of another class, so that two are left
        weighted = run(p.X, p.y, p.t, method, sample_weight=w)
        copied = run(np.repeat(p.X, w, axis=0), np.repeat(p.y, w), p.t, method)
        assert weighted.features == copied.features
        assert weighted.gains == pytest.approx(copied.gains, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("method", CRITERIA)
@pytest.mark.parametrize("largest", [10**2, 10**3, 10**5, 10**6, 10**9])
def test_gains_of_large_whole_weights_are_right_to_their_digits(largest, method, way):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, (60, 6)), rng.integers(0, 2, 60)
        w = rng.integers(1, largest, 60)
        infos = naive.Informations(X.T.tolist(), y.tolist(), w.tolist())
        selected, gains = naive.forward_information(method, infos, 4)
        path = run(X, y, 4, method, sample_weight=w)
        assert path.features == selected, seed
        exact = 1e-11 if w.sum() <= 10_000 else 1e-12
        assert path.gains == pytest.approx(gains, rel=100 * exact, abs=exact), seed


def test_independent_features_of_large_whole_weights_share_nothing(way):
    """Their redundancy is nothing, so that the quotient is infinite; ties: the lowest index."""
    a, b, c, d = (np.arange(64) >> bit & 1 for bit in range(4))
    w = 999_983 * (1 + d)  # which has nothing to do with the columns
    path = run(np.column_stack([a, c, b]), 2 * a + b, 3, "mrmr_quotient", sample_weight=w)
    assert path.features == [0, 2, 1]
    assert path.gains == pytest.approx([math.log(2), math.inf, 0.0])


@pytest.mark.parametrize("bins", ["auto", "from_data", "mean_std_3", "mean_std_4", 3])
@pytest.mark.parametrize("base", [0.0, 0.5, 1000.5])
@pytest.mark.parametrize("tiny", [1e-12, 1e-16, 1e-24, 1e-40, 1e-200])
def test_a_feature_that_varies_in_rows_of_hardly_any_weight_is_not_constant(tiny, base, bins):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, 60), np.full((60, 2), base)])
    X[5::10, 1] += 1.0
    y, w = rng.integers(0, 2, 60), np.where(np.arange(60) % 10 == 5, tiny, 1.0)
    with pytest.warns(SearchStoppedWarning, match="constant"):
        path = select(X, y, 3, "mim", sample_weight=w, bins=bins)
    assert path.features == [0, 1]
    assert path.gains[1] == pytest.approx(0.0, abs=1e-10)
    with pytest.warns(SearchStoppedWarning, match="constant"):
        sparse = select(sp.csr_array(X), y, 3, "jmi", sample_weight=w, bins=bins)
    assert sparse.features == [0, 1]


def test_joint_information_has_two_forms(numbers):
    """sum_j I(k,j;Y) = sum_j I(k;Y|j) + sum_j I(j;Y), of which the last does not depend on k."""
    for seed in numbers(60):
        p = coded_problem(seed)
        path = run(p.X, p.y, p.t, "jmi", sample_weight=p.weights)
        for step in range(1, len(path)):
            k, S = (path.features[step],), [(j,) for j in path.features[:step]]
            other = sum(p.infos.I(k, ("y",), j) + p.infos.I(j, ("y",)) for j in S)
            assert path.gains[step] == pytest.approx(other, abs=1e-9)


def test_all_begin_with_the_most_informative_feature(numbers):
    for seed in numbers(60):
        p = coded_problem(seed)
        paths = [run(p.X, p.y, 1, method, sample_weight=p.weights) for method in CRITERIA]
        assert len({tuple(path.features) for path in paths}) == 1
        assert len({tuple(path.gains) for path in paths}) == 1


@pytest.mark.parametrize("method", CRITERIA)
def test_base_of_the_logarithm_changes_no_order(method, monkeypatch, numbers):
    """Units are nats times a power of two; with any other base scores only scale."""
    from orthoselect.counts import logarithms

    def in_bits(total, unit):
        return np.rint(np.array(logs(total, unit)) / math.log(2)).astype(np.int64)

    logs = logarithms._logarithms
    problems = [coded_problem(seed) for seed in numbers(40)]
    expected = [run(p.X, p.y, p.t, method).features for p in problems]
    # Rounding each logarithm anew would part ties; so only problems without any are compared.
    monkeypatch.setattr(logarithms, "_logarithms", in_bits)
    found = [run(p.X, p.y, p.t, method).features for p in problems]
    untied = [k for k, p in enumerate(problems) if not has_ties(method, p)]
    assert untied
    assert [found[k] for k in untied] == [expected[k] for k in untied]


def has_ties(method, p):
    infos = naive.Informations(p.X.T.tolist(), p.y.tolist())
    selected, _ = naive.forward_information(method, infos, p.t)
    for step in range(len(selected)):
        scores = sorted(
            naive.information_score(method, k, selected[:step], infos)
            for k in range(p.X.shape[1])
            if k not in selected[:step]
        )
        if any(not b - a > 1e-6 for a, b in itertools.pairwise(scores)):
            return True
    return False


@pytest.mark.parametrize("method", CRITERIA)
def test_names_of_levels_and_order_of_rows_change_nothing(method, numbers):
    for seed in numbers(40):
        p = coded_problem(seed)
        rng = np.random.default_rng(seed)
        expected = run(p.X, p.y, p.t, method)
        names = rng.permutation(400)  # negative ones are counted from the end
        order = rng.permutation(len(p.y))
        path = run(names[p.X][order], names[p.y][order], p.t, method, task="classification")
        assert path.features == expected.features, seed
        assert path.gains == expected.gains, seed


@pytest.mark.parametrize("method", CRITERIA)
def test_copies_behind_the_table_never_come_before_their_originals(method, numbers):
    for seed in numbers(40):
        p = coded_problem(seed)
        n = p.X.shape[1]
        path = run(np.hstack([p.X, 9 - p.X]), p.y, 2 * n, method)
        place = {feature: step for step, feature in enumerate(path.features)}
        assert all(place[k] < place[k + n] for k in range(n) if k in place)


@pytest.mark.parametrize("method", CRITERIA)
@pytest.mark.parametrize("kind", [np.array, sp.csr_array, sp.csc_array])
def test_classes_of_one_kind_only_are_refused(kind, method):
    X, y = np.random.default_rng(0).integers(0, 3, (30, 6)), np.arange(30) % 2
    assert constant_and_refused(y * 0, lambda: select(kind(X), y * 0, 6, method))
    with pytest.raises(ConstantTargetError, match=r"every row has 1\."):
        select(kind(X), y, 6, method, sample_weight=y)  # the other class has no weight


def test_features_that_tell_nothing_keep_the_order_of_the_table():
    """All scores are 0: no feature comes twice."""
    X = np.array(list(itertools.product([0, 1], repeat=6)))
    X, y = np.vstack([X, X]), np.arange(128) // 64
    for method in CRITERIA:
        path = run(X, y, 6, method)
        assert path.features == list(range(6))
        assert path.gains[0] == 0.0


def test_icap_adds_up_where_others_take_one_maximum():
    """Three copies of the selected feature's noise cost three times, not once."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 400)
    X = np.array([np.where(rng.random(400) < 0.8, y, 1 - y) for _ in range(4)]).T
    infos = naive.Informations(X.T.tolist(), y.tolist())
    path = select(X, y, 4, "icap")
    k, S = path.features[3], path.features[:3]
    terms = [max(0.0, infos.I((k,), (j,)) - infos.I((k,), (j,), ("y",))) for j in S]
    assert path.gains[3] == pytest.approx(infos.I((k,), ("y",)) - sum(terms), abs=1e-9)
    assert sum(term > 1e-3 for term in terms) > 1  # else the sum would be the maximum


def test_quotient_without_redundancy_ranks_by_relevance():
    rows = list(itertools.product([0, 1], repeat=4))
    X = np.array(rows)
    y = 4 * X[:, 0] + 2 * X[:, 2] + (X[:, 1] & X[:, 3])
    path = select(X, y, 4, "mrmr_quotient")
    assert path.features == [0, 2, 1, 3]
    assert path.gains[1:] == [math.inf] * 3


def test_constant_features_are_never_taken():
    X = np.column_stack([np.ones(20), np.arange(20) % 2, np.zeros(20)])
    for method in CRITERIA:
        with pytest.warns(SearchStoppedWarning, match="1 of the 3 .*constant"):
            path = select(X, np.arange(20) % 2, 3, method)
        assert path.features == [1]


def test_negative_scores_are_taken():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 60)
    path = select(np.column_stack([x, x, x]), x, 3, "cife")
    assert path.features == [0, 1, 2]
    assert path.gains[2] < -0.5
    assert path.total == pytest.approx(sum(path.gains))
    assert math.isnan(path.ceiling)


def test_several_responses_are_one_of_their_combinations():
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 3, (50, 6)), rng.integers(0, 2, (50, 2))
    for method in CRITERIA:
        assert select(X, Y, 4, method) == select(X, 2 * Y[:, 0] + Y[:, 1], 4, method)


def test_a_group_is_one_variable():
    """Neither half of an exclusive or tells anything; together they tell all."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (100, 5))
    y = X[:, 1] ^ X[:, 3]
    path = select(X, y, 1, "mim", groups={"both": [1, 3]})
    assert path[0].columns == (1, 3)
    joint = naive.Informations([y.tolist()], y.tolist()).H("y")
    assert path[0].gain == pytest.approx(joint)


def test_numbers_as_response_are_refused():
    X = np.eye(5)
    with pytest.raises(InputError, match=r"classes.*Cut them.*OrthogonalSelector"):
        select(X, np.linspace(0.1, 1, 5), 1, "jmi")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"name": "nonsense"}, "one of mim, .*disr; got 'nonsense'"),
        ({"name": "jmi", "constant": 0.1}, "belongs to 'mrmr_quotient'; 'jmi'"),
        ({"name": "jmi", "capped": False}, "belongs to 'cmim'; 'jmi'"),
        ({"name": "mrmr_quotient", "constant": -1.0}, "at least 0; got -1.0"),
        ({"name": "mrmr_quotient", "constant": math.nan}, "at least 0; got nan"),
        ({"name": "cmim", "capped": "no"}, "True or False; got 'no'"),
        ({"name": "jmi", "bins": 1}, "from 2 to 256.*got 1"),
    ],
)
def test_wrong_options_are_named(options, match):
    with pytest.raises(InputError, match=match):
        InformationCriterion(**options)


@pytest.mark.parametrize("method", CRITERIA)
def test_options_of_other_criteria_are_refused(method):
    X, y = np.eye(4, dtype=int), [0, 1, 0, 1]
    for option, value, owner in (("constant", 0.5, "mrmr_quotient"), ("capped", False, "cmim")):
        if method == owner:
            assert len(run(X, y, 2, method, **{option: value})) == 2
            continue
        with pytest.raises(InputError, match=f"{method}.*no option `{option}`"):
            select(X, y, 2, method, **{option: value})
    with pytest.raises(InputError, match="response_encoding"):
        select(X, y, 2, method, response_encoding="onehot")


def test_state_that_takes_more_than_planned_says_so():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (20, 300))
    table = Table(20, NumberedNames(300), X, np.arange(300), {})
    response = build_response(read_target(X[:, 0], 20), "auto", "dummy", None)
    state = InformationCriterion("jmi").start(build_codes(table, {}, set()), response, size=1)
    for f in range(256):
        state.add(f)
    with pytest.raises(InputError, match="larger `size`"):
        state.add(256)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_small_table_equals_the_definition(data):
    N, n = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 4))
    cells = st.lists(st.integers(0, 2), min_size=N, max_size=N)
    X = [data.draw(cells) for _ in range(n)]
    y = data.draw(cells)
    method = data.draw(st.sampled_from(CRITERIA))
    if constant_and_refused(y, lambda: select(np.array(X).T, y, n, method)):
        return
    infos = naive.Informations(X, y)
    selected, gains = naive.forward_information(method, infos, n)
    path = run(np.array(X).T, y, n, method)
    assert path.features == selected
    assert path.gains == pytest.approx(gains, rel=1e-9, abs=1e-9)


def scored(make, *pairs):
    """A score that has learned pairs; T of seven rows, for nats that are no round numbers."""
    T = Logarithms(7, 8)
    relevance = pairs[0].relevance
    score = make(relevance, T)
    for pair in pairs:
        score.take(pair)
    return score


def test_sums_of_quotients_are_not_decided_by_rounding():
    """1/10 + 2/10 + 3/10 is another float than 3/10 + 2/10 + 1/10."""
    for tops in itertools.permutations([1, 2, 3]):
        pairs = [
            SimpleNamespace(
                relevance=np.ones(2, dtype=np.int64),
                joint=np.array([mine, theirs]),
                entropy=np.array([10, 10]),
            )
            for mine, theirs in zip(tops, reversed(tops))
        ]
        assert scored(SumOfQuotients, *pairs).best(np.array([True, True])) == 0


def test_sums_of_quotients_that_floats_cannot_part_are_parted():
    large = 2**60
    pair = SimpleNamespace(
        relevance=np.ones(3, dtype=np.int64),
        joint=np.array([large, large + 1, large + 1]),
        entropy=np.full(3, 2 * large),
    )
    score = scored(SumOfQuotients, pair)
    assert score.values(np.array([0])) == score.values(np.array([1]))
    assert score.best(np.array([True, True, True])) == 1


@pytest.mark.parametrize("constant", [0.0, 0.25])
def test_quotients_are_not_decided_by_rounding(constant):
    """r/d is often another float than kr/kd; as fractions they are the same."""

    def make(relevance, T):
        return Quotient(relevance, T, constant)

    unlike = 0
    for r, d, k in itertools.product(range(1, 8), range(1, 8), (3, 5, 7)):
        shift = 0 if not constant else int(constant * 7 * Logarithms(7, 8).unit)
        pair = SimpleNamespace(
            relevance=np.array([r, k * r]), redundancy=np.array([d, k * (d + shift) - shift])
        )
        score = scored(make, pair)
        first, second = score.values(np.arange(2))
        unlike += first < second
        assert score.best(np.array([True, True])) == 0
    assert constant or unlike


def test_quotients_that_floats_cannot_part_are_parted():
    large = 2**60
    pair = SimpleNamespace(
        relevance=np.array([large, large + 1, large + 1]), redundancy=np.full(3, 3)
    )
    score = scored(lambda relevance, T: Quotient(relevance, T, 0.0), pair)
    assert score.values(np.array([0])) == score.values(np.array([1]))
    assert score.best(np.array([True, True, True])) == 1
