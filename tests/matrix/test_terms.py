"""Terms made when they are asked for are the terms written out."""

import tracemalloc
from itertools import product

import numpy as np
import pytest

import naive
from orthoselect import LaggedTerms, select
from orthoselect.errors import InputError
from orthoselect.matrix import DenseMatrix, TermMatrix, center
from orthoselect.matrix.terms import count_terms, list_terms


def problem(seed):
    """Some signals, factors and times; integers now and then, so that terms tie."""
    rng = np.random.default_rng(seed)
    n_signals, T = int(rng.integers(1, 4)), int(rng.integers(20, 120))
    signals = rng.normal(size=(n_signals, T)) + rng.choice([0.0, 3.0])
    if seed % 3 == 0:
        signals = np.rint(signals)
    every = list(product(range(n_signals), range(4)))
    factors = [every[i] for i in sorted(rng.permutation(len(every))[: rng.integers(1, 6)])]
    at = np.sort(rng.permutation(np.arange(3, T))[: rng.integers(8, T - 3)])
    return signals, factors, int(rng.integers(1, 4)), at, bool(rng.integers(2))


@pytest.mark.parametrize("seed", range(30))
def test_every_product_is_that_of_the_terms_written_out(seed):
    signals, factors, degree, at, constant = problem(seed)
    X = naive.terms(signals, factors, degree, at, constant)
    matrix = TermMatrix(signals, factors, degree, at, constant=constant)
    assert matrix.shape == X.shape
    rng = np.random.default_rng(seed)
    J = rng.integers(0, X.shape[1], 7)
    np.testing.assert_allclose(matrix.columns(J), X[:, J], rtol=1e-14)
    rows = slice(2, 5)
    np.testing.assert_allclose(matrix.columns_at(J, rows), X[rows][:, J], rtol=1e-14)
    np.testing.assert_array_equal(matrix.pilot(np.array([1, 3]))[:, J], matrix.columns(J)[[1, 3]])
    np.testing.assert_allclose(matrix.every(3).columns(J), X[::3][:, J], rtol=1e-14)
    shift, scale = rng.normal(size=X.shape[1]), rng.uniform(0.5, 2, X.shape[1])
    for kind, B in (matrix, X), (matrix.rescaled(shift, scale), (X - shift) * scale):
        Z = rng.normal(size=(len(X), 2))
        large = np.abs(B).max() * len(B)
        np.testing.assert_allclose(kind.cross(Z), Z.T @ B, atol=1e-14 * large)
        root = np.sqrt(rng.random(len(X)))
        scan = kind.scan(Z, root, gram=True)
        np.testing.assert_allclose(scan.gram, (root[:, None] * B).T @ (root[:, None] * B), 1e-9)
        np.testing.assert_allclose(scan.sums, root**2 @ B, atol=1e-13 * large)
        np.testing.assert_allclose(scan.VtX, (root[:, None] * Z).T @ B, atol=1e-13 * large)


def test_many_rows_in_two_threads_add_up(two_threads):
    rng = np.random.default_rng(0)
    signals, at = rng.normal(size=(2, 30_000)), np.arange(2, 30_000)
    factors = [(0, 1), (0, 2), (1, 0), (1, 1)]
    X, Z = naive.terms(signals, factors, 3, at, True), rng.normal(size=(len(at), 1))
    matrix = TermMatrix(signals, factors, 3, at)
    np.testing.assert_allclose(matrix.cross(Z), Z.T @ X, atol=1e-9)
    V = (Z - Z.mean()) / np.linalg.norm(Z - Z.mean())
    ours, theirs = center(matrix, V, gram=True), center(DenseMatrix(X), V, gram=True)
    np.testing.assert_allclose(ours[0].whole, theirs[0].whole, atol=1e-12)


def test_terms_are_counted_without_being_listed():
    for n_factors, degree, constant in product(range(1, 6), range(1, 5), [False, True]):
        listed = list_terms(n_factors, degree, constant=constant)
        assert len(listed) == count_terms(n_factors, degree, constant=constant)


def records(seed=0, T=400):
    rng = np.random.default_rng(seed)
    u, v, y = rng.normal(size=T), rng.integers(0, 2, T) * 1.0, np.zeros(T)
    for k in range(2, T):
        y[k] = 0.5 * y[k - 1] - 0.2 * u[k] * y[k - 2] + v[k - 1] + 0.1 * rng.normal()
    return {"y": y, "u": u, "v": v}


@pytest.mark.parametrize("method", ["err", "mser", "socc", "obcc"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_is_that_of_the_terms_written_out(method, weighted):
    data = records()
    terms = LaggedTerms(data, "y", ["u", "v"], lags=2, degree=2, sessions=[150, 3, 247])
    X = terms.columns(list(range(len(terms.names))))
    w = np.random.default_rng(1).random(400) if weighted else None
    asked = {"method": method, "task": "regression", "include": [1], "exclude": [0, 4]}
    ours = select(terms, None, 8, sample_weight=w, **asked)
    rows = None if w is None else w[terms.rows]
    theirs = select(X, data["y"][terms.rows], 8, sample_weight=rows, **asked)
    assert ours.features == theirs.features
    assert ours.names == [terms.names[j] for j in theirs.features]
    np.testing.assert_allclose(ours.gains, theirs.gains, rtol=1e-9)


def test_sessions_and_missing_rows_are_not_reached_across():
    data = records(T=40)
    data["u"][20] = np.nan
    terms = LaggedTerms(data, "y", "u", lags={"y": 2, "u": [1]}, degree=1, sessions=[10, 30])
    assert terms.rows.tolist() == [*range(2, 10), *range(12, 20), *range(23, 40)]
    labels = ["a"] * 10 + ["b"] * 30
    same = LaggedTerms(data, "y", "u", lags={"y": 2, "u": [1]}, degree=1, sessions=labels)
    assert same.rows.tolist() == terms.rows.tolist()
    assert terms.names == ["1", "y(k-1)", "y(k-2)", "u(k-1)"]
    np.testing.assert_array_equal(terms.columns(["u(k-1)"])[:, 0], data["u"][terms.rows - 1])


def test_every_kind_of_frame_gives_the_same_terms(library):
    data = {**records(T=60), "run": ["a"] * 30 + ["b"] * 30, "w": np.linspace(1, 2, 60)}
    how = {"target": "y", "inputs": ["u", "v"], "lags": 2, "degree": 2}
    terms = LaggedTerms(library.frame(data), sessions="run", **how)
    assert terms.rows.tolist() == [*range(2, 30), *range(32, 60)]
    ours = select(terms, None, 5, "err", sample_weight="w")
    signals = {name: data[name] for name in "yuv"}
    theirs = LaggedTerms(signals, sessions=[30, 30], **how)
    assert ours == select(theirs, None, 5, "err", sample_weight=data["w"])


def test_two_targets_share_their_pasts():
    data = records()
    terms = LaggedTerms(data, ["y", "v"], "u", lags=1, degree=1)
    assert terms.names == ["1", "y(k-1)", "v(k-1)", "u(k)", "u(k-1)"]
    path = select(terms, None, 3, "err", task="regression")
    X = terms.columns(list(range(5)))
    Y = np.column_stack([data["y"], data["v"]])[terms.rows]
    assert path.features == select(X, Y, 3, "err", task="regression").features


def test_signals_are_all_that_is_held():
    """4495 terms of 6000 rows would take 216 MB."""
    data = {name: values for name, values in records(T=6000).items() if name != "v"}
    terms = LaggedTerms(data, "y", "u", lags={"y": 14, "u": range(1, 15)}, degree=3)
    assert len(terms.names) == 4495
    assert terms.nbytes == 2 * 8 * 6000
    tracemalloc.start()
    select(terms, None, 2, "err")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


BAD = {
    "the longest lag is 50, and the longest session has 40": {"lags": 50},
    "`target` should name columns of the table; there is no `z`": {"target": "z"},
    "`inputs` should name columns": {"inputs": ["w"]},
    "signals should have different names; `y` occurs twice": {"inputs": ["y"]},
    "`lags` should be the longest lag, a whole number, or a list": {"lags": -1},
    "from 1 on; got [0, 1]": {"lags": {"y": [0, 1], "u": 1}},
    "`lags` should have an entry for each signal": {"lags": {"y": 1}},
    "`degree` should be a whole number of at least 1; got 0": {"degree": 0},
    "`delay` should be a whole number of at least 0; got -1": {"delay": -1},
    "at most 1,000,000 terms; 7 lagged signals to degree 30": {"degree": 30},
    "`sessions` should be lengths that add up to the 40 rows": {"sessions": [10, 10]},
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_one_clear_line(words):
    how = {"target": "y", "inputs": ["u"], **BAD[words]}
    with pytest.raises(InputError) as error:
        LaggedTerms({name: records(T=40)[name] for name in "yu"}, **how)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_infinity_a_target_and_methods_that_need_rows_are_refused():
    data = records(T=40)
    terms = LaggedTerms(data, "y", "u", lags=1, degree=1)
    with pytest.raises(InputError, match="needs the rows of the table; lagged terms are made"):
        select(terms, None, 2, "jmi")
    with pytest.raises(InputError, match="should be None here"):
        select(terms, "y", 2, "err")
    with pytest.raises(InputError, match="one weight for each of the 40 rows"):
        select(terms, None, 2, "err", sample_weight=np.ones(3))
    data["u"][3] = np.inf
    with pytest.raises(InputError, match=r"`u` has 1 infinite value"):
        LaggedTerms(data, "y", "u", lags=1, degree=1)


@pytest.mark.parametrize(
    "asked",
    [
        {"n_features_to_select": "auto"},
        {"n_features_to_select": 2, "p_values": True},
        {"n_features_to_select": "auto", "permute_within": "u"},
    ],
)
def test_rows_of_series_are_not_permuted(asked):
    terms = LaggedTerms(records(T=60), "y", "u", lags=1, degree=1)
    with pytest.raises(
        InputError, match=r"rows of series cannot .* `NARX\(order='bic'\)`"
    ) as error:
        select(terms, None, method="socc", **asked)
    assert "\n" not in str(error.value)


def test_a_constant_signal_ties_with_the_constant_and_lower_degrees_win():
    data = records(T=200)
    data["u"] = np.full(200, 2.0)
    path = select(LaggedTerms(data, "y", ["u", "v"], lags=1, degree=2), None, 4, "err")
    assert not any("u" in name for name in path.names)
    assert "v(k-1)^2" not in path.names
