"""Searches that compare whole sets, against trying all of them."""

import itertools
import signal
import warnings
from dataclasses import replace
from threading import Timer
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from matrices import row_blocks
from orthoselect import GramStatistics, OrthogonalSelector, RowBlocks, native, select
from orthoselect.errors import InputError, SelectionInterrupted
from orthoselect.search import SEARCHES, leaps
from orthoselect.search.leaps import Tree, best_sets
from problems import columns, random_block_problem, random_problem, response

SETS = [name for name, search in SEARCHES.items() if search.compares_sets]
MOST_FEATURES, MOST_STEPS = 14, 4


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(params=["kernels", "NumPy"])
def arithmetic(request, monkeypatch):
    if request.param == "NumPy":
        monkeypatch.setattr(native, "_kernels", None)
    return request.param


def is_wide(blocks):
    return any(np.asarray(block).reshape(len(block), -1).shape[1] > 1 for block in blocks)


def n_rows_of(problem):
    """Rows by which sets are adjusted for chance: whole weights are copies."""
    if not is_wide(problem.blocks):
        return None
    w = problem.weights
    return len(problem.Y) if w is None or not np.ptp(w) else float(np.sum(w))


def block_of_column(problem):
    """The place in `blocks` of each column of X."""
    labels, keys = problem.options.get("groups") or [None] * problem.X.shape[1], []
    for c, label in enumerate(labels):
        keys.append(label or c)
    order = list(dict.fromkeys(keys))
    return [order.index(key) for key in keys]


def check_against_all_sets(problem, searches, **options):
    """No set is better than the exact one, greedy is never better, and totals are true."""
    n = len(problem.blocks)
    at, k = block_of_column(problem), min(problem.t, MOST_STEPS, n)
    include = [at.index(f) for f in problem.include] or None
    given = {
        **problem.options,
        **options,
        "sample_weight": problem.weights,
        "include": include,
    }
    forward = select(problem.stored, problem.y, k, **given)
    if len(forward) <= len(problem.include):
        return
    best, value_of = naive.best_subsets(
        problem.blocks, problem.Y, len(forward), problem.weights, problem.include,
        n_rows_of(problem),
    )  # fmt: skip
    greedy = value_of([at[f] for f in forward.features])[0]
    for search in searches:
        path = select(problem.stored, problem.y, k, search=search, **given)
        chosen = [at[f] for f in path.features]
        value, total = value_of(chosen)
        assert path.total == pytest.approx(total, abs=1e-8), search
        assert sum(path.gains) == pytest.approx(path.total)
        assert value >= greedy - 1e-8, search
        assert chosen[: len(problem.include)] == list(problem.include)
        if search == "exact":
            assert path.certificate.optimal
            for one in path.by_size:
                found = value_of([at[f] for f in one.features])
                assert one.total == pytest.approx(found[1], abs=1e-8)
                if one.size > len(problem.include) and len(one.features) == one.size:
                    assert found[0] >= best[one.size][0] - 1e-8, one


def random_columns(seed):
    """A plain problem of few columns."""
    problem = random_problem(seed, offset=1e3)
    stored = problem.stored.tocsc() if sp.issparse(problem.stored) else problem.stored
    return replace(
        problem,
        X=problem.X[:, :MOST_FEATURES],
        stored=stored[:, :MOST_FEATURES],
        blocks=problem.blocks[:MOST_FEATURES],
    )


@pytest.mark.parametrize("seed", range(210))
def test_no_set_of_single_columns_is_better_than_the_exact_one(seed):
    check_against_all_sets(random_columns(seed), ["exact", SETS[seed % len(SETS)]])


@pytest.mark.parametrize("seed", range(150))
def test_no_set_of_groups_and_categories_is_better_than_the_exact_one(seed):
    check_against_all_sets(random_block_problem(seed), ["exact", SETS[seed % len(SETS)]])


@pytest.mark.parametrize("seed", range(24))
def test_numpy_finds_what_kernels_find(seed, monkeypatch):
    monkeypatch.setattr(native, "_kernels", None)
    make = random_block_problem if seed % 2 else random_columns
    check_against_all_sets(make(1000 + seed), ["exact"])


@pytest.mark.parametrize("seed", range(36))
def test_sets_in_blocks_of_rows_are_the_same(seed):
    problem = random_block_problem(2000 + seed) if seed % 2 else random_problem(2000 + seed, 1e3)
    given = {**problem.options, "sample_weight": problem.weights}
    search = SETS[seed % len(SETS)]
    k = min(problem.t, 4)
    path = select(problem.X, problem.y, k, search=search, **given)
    blocks = select(row_blocks(problem.X), problem.y, k, search=search, **given)
    assert blocks.total == pytest.approx(path.total, abs=1e-8)


@pytest.mark.parametrize("seed", range(60))
def test_exact_sets_of_the_older_criteria(seed):
    """err, mser and obcc: what least squares explains, without an intercept or with one."""
    rng = np.random.default_rng(seed)
    N, n = int(rng.integers(8, 40)), int(rng.integers(3, 9))
    X = columns(rng, N, n, offset=3.0)
    y, Y, task = response(rng, N, X)
    method = ["err", "mser", "obcc"][seed % 3]
    Y = y if Y.shape[1] != np.ndim(y) and task == "classification" and np.ndim(y) == 1 else Y
    Y = np.asarray(Y, dtype=float).reshape(N, -1)
    if task == "classification" and np.ndim(y) == 1:
        Y = np.unique(y, return_inverse=True)[1][:, None].astype(float)

    def measure(S):
        A = X[:, S] / np.maximum(np.abs(X[:, S]).max(axis=0), 1e-300)
        Z = Y
        if method == "obcc":
            A, Z = A - A.mean(axis=0), Y - Y.mean(axis=0)
            flat = np.ptp(X[:, S], axis=0) == 0
            A = A[:, ~flat]
        U = naive.span(A / np.maximum(np.linalg.norm(A, axis=0), 1e-300)) if A.size else A
        squares, energy = ((U.T @ Z) ** 2).sum(axis=0), (Z**2).sum(axis=0)
        some = energy > 1e-20
        shares = squares[some] if method == "mser" else squares[some] / energy[some]
        return shares.sum() / (N if method == "mser" else 1)

    forward = select(X, y, min(3, n), method, task=task)
    path = select(X, y, min(3, n), method, task=task, search="exact")
    best = naive.best_subsets([X[:, [j]] for j in range(n)], Y, len(path), measure=measure)[0]
    size = float(np.abs(Y).max()) ** 2
    if path.features and len(path) in best:
        assert path.total == pytest.approx(measure(path.features), abs=1e-8 * size)
        assert path.total >= best[len(path)][1] - 1e-8 * size
    if method != "obcc":  # whose greedy totals depend on the order
        assert path.total >= forward.total - 1e-8 * size


def test_obcc_gains_add_up_to_the_squared_multiple_correlation(rng):
    X = rng.normal(size=(60, 8)) + 5
    Y = X[:, :3] @ rng.normal(size=(3, 2)) + rng.normal(size=(60, 2))
    path = select(X, Y, 3, "obcc", search="swap")
    A = X[:, path.features] - X[:, path.features].mean(axis=0)
    Z = Y - Y.mean(axis=0)
    rest = Z - A @ np.linalg.lstsq(A, Z, rcond=None)[0]
    assert path.total == pytest.approx((1 - (rest**2).sum(0) / (Z**2).sum(0)).sum())
    assert "forward selection with the constant taken first" in str(path.certificate)
    assert "constant" not in str(select(X, Y, 3, "err", search="swap").certificate)


def correlated(rng, N=200, n=40, rho=0.9, n_true=10):
    """Columns that share a factor; the response is made of the first few."""
    X = np.sqrt(1 - rho) * rng.normal(size=(N, n)) + np.sqrt(rho) * rng.normal(size=(N, 1))
    return X, X[:, :n_true] @ rng.normal(size=n_true) + 3 * rng.normal(size=N)


def test_every_storage_has_the_same_best_set(rng):
    X, _ = correlated(rng, n=20)
    X = np.where(rng.random(X.shape) < 0.5, 0.0, X)
    y = X[:, 5:8].sum(axis=1) + 0.1 * rng.normal(size=200)
    X[:, 9] = X[:, 5:8].sum(axis=1) + 0.5 * rng.normal(size=200)  # greedy takes it first
    path = select(X, y, 3, search="exact")
    assert set(path.features) != set(select(X, y, 3).features)  # else it says little
    stored = [np.asfortranarray(X), sp.csr_array(X), sp.csc_array(X), row_blocks(X)]
    for table in stored:
        other = select(table, y, 3, search="exact")
        assert other.features == path.features
        np.testing.assert_allclose(other.gains, path.gains, rtol=1e-9)
    statistics = GramStatistics().update(X, y)
    for search in SETS:
        kept = statistics.select(3, search=search)
        assert set(kept.features) == set(select(X, y, 3, search=search).features)
        assert kept.certificate.search == search
    single = select(X.astype(np.float32), y, 3, search="exact")
    assert single.features == path.features
    np.testing.assert_allclose(single.gains, path.gains, rtol=1e-4)


def test_dask_has_the_same_best_set(rng):
    da = pytest.importorskip("dask.array")
    X, y = correlated(rng, n=15)
    path = select(da.from_array(X, chunks=(70, 15)), y, 4, search="exact")
    assert path.features == select(X, y, 4, search="exact").features


def test_levels_of_cut_columns_move_as_wholes(rng):
    X, y = correlated(rng, n=10)
    path = select(X, y, 3, "socc_discretized", search="exact")
    forward = select(X, y, 3, "socc_discretized")
    assert path.certificate.optimal
    assert path.total >= forward.total - 1e-9


def test_swaps_find_more_than_forward(rng):
    better = 0
    for _ in range(8):
        X, y = correlated(rng)
        forward, swap = select(X, y, 5), select(X, y, 5, search="swap")
        more = select(X, y, 5, search="swap", n_starts=4)
        exact = select(X, y, 5, search="exact")
        assert forward.total <= swap.total + 1e-12
        assert swap.total <= more.total + 1e-12
        assert more.total <= exact.total + 1e-12
        better += swap.total > forward.total + 1e-6
    assert better >= 3


def test_a_wider_beam_finds_more(rng):
    totals = []
    for _ in range(6):
        X, y = correlated(rng)
        totals.append([select(X, y, 5, search="beam", width=w).total for w in (1, 40)])
    narrow, wide = np.array(totals).T
    assert (wide >= narrow - 1e-12).all()
    assert (wide > narrow + 1e-6).any()


def test_a_beam_stops_within_a_level(rng, monkeypatch):
    X, y = correlated(rng)
    seen, clock = [], itertools.count()
    ticking = SimpleNamespace(monotonic=lambda: float(next(clock)))
    monkeypatch.setattr("orthoselect.search.base.time", ticking)
    for limit in (60, 200):  # the clock goes on by one whenever somebody looks
        path = select(X, y, 8, search="beam", width=500, time_limit=limit)
        assert path.certificate.note == "the time was over"
        assert path.total >= select(X, y, 8).total - 1e-9
        seen.append(path.certificate.n_sets)
    assert seen[0] < seen[1] < 300


def test_exchanges_are_those_that_refits_find(rng):
    """No single exchange is better than what swap ends with, by least squares."""
    X, y = correlated(rng, n=15)
    path = select(X, y, 4, search="swap")
    for out in path.features:
        for new in set(range(15)) - set(path.features):
            S = [f for f in path.features if f != out] + [new]
            assert naive.value(X[:, S], y[:, None]) <= path.total + 1e-9


def test_backward_drops_what_refits_would_drop(rng):
    X, y = correlated(rng, n=12, rho=0.5)
    S = list(range(12))
    while len(S) > 4:
        kept = [[f for f in S if f != out] for out in S]
        S = max(kept, key=lambda T: naive.value(X[:, T], y[:, None]))
    by_hand = naive.value(X[:, S], y[:, None])
    path = select(X, y, 4, search="backward")
    assert path.total >= by_hand - 1e-12
    assert set(path.features) == set(S) or path.certificate.added == ()


def test_backward_of_more_features_than_rows_says_where_it_began(rng):
    X, y = rng.normal(size=(20, 40)), rng.normal(size=20)
    path = select(X, y, 3, search="backward")
    assert path.certificate.note == "it began with the first 19 of a forward path"
    assert path.total >= select(X, y, 3).total


def test_included_features_stay_and_excluded_ones_never_come(rng):
    X, y = correlated(rng, n=12)
    for search in SETS:
        path = select(X, y, 4, search=search, include=[11, 3], exclude=[0, 1])
        assert path.features[:2] == [11, 3]
        assert not {0, 1} & set(path.features)
        assert path.by_size[-1].size == 4
    free = select(X, y, 4, search="exact", include=[11], exclude=[0])
    Z = np.delete(X, 0, axis=1)
    best = naive.best_subsets([Z[:, [j]] for j in range(11)], y[:, None], 4, include=(10,))[0]
    assert free.total == pytest.approx(best[4][1])


def test_what_is_all_included_needs_no_search(rng):
    X, y = correlated(rng, n=12)
    path = select(X, y, 2, search="exact", include=[1, 2])
    assert path.features == [1, 2]


def test_steps_stand_in_the_order_of_forward_selection_among_them(rng):
    X, y = correlated(rng)
    path = select(X, y, 5, search="exact")
    among = select(X[:, sorted(path.features)], y, 5)
    assert [sorted(path.features)[f] for f in among.features] == path.features
    np.testing.assert_allclose(among.gains, path.gains, rtol=1e-9)


def test_certificate_tells_what_changed_and_what_is_proved(rng):
    X, y = correlated(rng)
    path, forward = select(X, y, 5, search="exact"), select(X, y, 5)
    assert forward.certificate is None
    assert [one.features for one in forward.by_size] == [
        tuple(forward.features[:size]) for size in range(1, 6)
    ]
    about = path.certificate
    assert about.optimal
    assert about.gap == 0.0
    assert about.value == pytest.approx(path.total)
    assert about.greedy_total == pytest.approx(forward.total)
    assert set(about.added) == set(path.names) - set(forward.names)
    assert set(about.dropped) == set(forward.names) - set(path.names)
    assert "No other set of 5 does better (proved)." in path.to_text()
    swapped = select(X, y, 5, search="swap")
    assert "found no better set of 5 than this; nothing is proved." in swapped.to_text()
    assert "(proved)" in path._repr_html_()
    plain = path.to_dict()
    assert plain["certificate"]["optimal"] is True
    assert plain["certificate"]["gap"] == 0.0
    assert [one["size"] for one in plain["by_size"]] == [1, 2, 3, 4, 5]
    assert path == select(X, y, 5, search="exact")  # seconds do not count


def test_no_time_leaves_a_set_and_a_gap(rng, arithmetic):
    X, y = correlated(rng, N=100, n=60)
    path = select(X, y, 8, search="exact", time_limit=1e-9)
    about = path.certificate
    assert about.optimal is False
    assert 0 < about.gap < 10
    assert about.bound >= select(X, y, 8, search="swap", n_starts=3).total - 1e-9
    assert "at most" in str(about)
    assert "time was over" in str(about)
    assert path.total >= select(X, y, 8).total


def test_ctrl_c_keeps_the_best_set_and_the_gap(rng, monkeypatch, arithmetic):
    X, y = correlated(rng, N=100, n=60)
    monkeypatch.setattr(leaps.best_sets, "__kwdefaults__", {"budget": 5})

    class Interrupting:
        def __call__(self, step, number, size):
            pass

        def searching(self, gap):
            raise KeyboardInterrupt

    monkeypatch.setattr("orthoselect.search.exact.SECONDS_BETWEEN", -1.0)
    with pytest.raises(SelectionInterrupted) as caught:
        select(X, y, 8, search="exact", progress=Interrupting())
    path = caught.value.path
    assert len(path) == 8
    assert path.certificate.optimal is False
    assert "interrupted" in str(path.certificate)


def test_a_real_ctrl_c_ends_an_exact_search_as_the_time_limit_does(rng, arithmetic):
    X, y = rng.normal(size=(150, 80)), rng.normal(size=150)
    late = select(X, y, 10, search="exact", time_limit=0.05).certificate
    timer = Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(SelectionInterrupted) as caught:
        select(X, y, 10, search="exact", time_limit=20)
    timer.join()
    path = caught.value.path
    about = path.certificate
    assert len(path) == 10
    assert about.optimal is False
    assert about.value <= about.bound <= late.bound + 1e-9
    assert about.n_sets > late.n_sets
    assert about.seconds < 10
    assert "is at most" in str(about)
    assert "(interrupted)" in str(about)


def test_ctrl_c_before_the_first_node_leaves_what_all_features_explain(rng, monkeypatch):
    X, y = correlated(rng)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("orthoselect.search.exact.best_sets", interrupted)
    with pytest.raises(SelectionInterrupted) as caught:
        select(X, y, 5, search="exact")
    about = caught.value.path.certificate
    assert about.bound == pytest.approx(select(X, y, 40).total)
    assert about.gap > 0


def test_ctrl_c_among_exchanges_keeps_the_set_so_far(rng, monkeypatch):
    X, y = correlated(rng)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("orthoselect.search.exchange.exchange", interrupted)
    with pytest.raises(SelectionInterrupted) as caught:
        select(X, y, 5, search="swap")
    path = caught.value.path
    assert path.features == select(X, y, 5).features
    assert "nothing is proved (interrupted)" in str(path.certificate)


def test_ctrl_c_while_sets_are_measured_keeps_the_greedy_one(rng, monkeypatch):
    X = rng.normal(size=(100, 8))
    y = X[:, :2].sum(axis=1) + 0.1 * rng.normal(size=100)
    X[:, 7] = X[:, :2].sum(axis=1) + 0.5 * rng.normal(size=100)  # greedy takes it first
    forward = select(X, y, 2)
    assert set(forward.features) != set(select(X, y, 2, search="exact").features) == {0, 1}

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("orthoselect.search.base._walk_among", interrupted)
    with pytest.raises(SelectionInterrupted) as caught:
        select(X, y, 2, search="exact")
    assert caught.value.path.features == forward.features


def test_progress_sees_the_gap_shrink(rng, monkeypatch):
    X, y = correlated(rng, N=300, n=40)
    monkeypatch.setattr("orthoselect.search.exact.SECONDS_BETWEEN", -1.0)
    monkeypatch.setattr(leaps.best_sets, "__kwdefaults__", {"budget": 20})
    gaps = []

    class Watching:
        def __call__(self, step, number, size):
            pass

        def searching(self, gap):
            gaps.append(gap)

    assert select(X, y, 6, search="exact", progress=Watching()).certificate.optimal
    assert len(gaps) > 2
    assert gaps[-1] <= gaps[0]


def test_kernel_and_numpy_bound_alike(rng, monkeypatch):
    """Stopped after the same nodes they know the same."""
    X, y = correlated(rng, N=100, n=20)
    A = X - X.mean(axis=0)
    Q, R = np.linalg.qr(A / np.linalg.norm(A, axis=0))
    V = (y - y.mean()) / np.linalg.norm(y - y.mean())
    from orthoselect.criteria.inner_products import Objective

    def stopped():
        tree = Tree(
            R, Q.T @ V[:, None], np.ones(20, dtype=np.int64), np.full(20, 1e-12), 0,
            Objective(1.0), np.full(5, -np.inf), np.zeros((5, 4), dtype=np.int64),
            np.zeros(2, dtype=np.int64),
        )  # fmt: skip
        return best_sets(tree, lambda bound: False, budget=7), tree

    bound, tree = stopped()
    monkeypatch.setattr(native, "_kernels", None)
    other, twin = stopped()
    assert bound == pytest.approx(other)
    np.testing.assert_allclose(tree.best, twin.best)
    assert tree.counts.tolist() == twin.counts.tolist()


def test_chance_does_not_let_width_win(rng):
    """A group of noise explains more than a useful column, by chance; sets are compared beyond."""
    N = 60
    X = rng.normal(size=(N, 22))
    y = X[:, 0] + 0.7 * X[:, 1] + 1.5 * rng.normal(size=N)
    groups = {"noise": list(range(2, 22))}
    adjusted = select(X, y, 2, groups=groups, search="exact")
    plain = select(X, y, 2, groups=groups, search="exact", adjust=None)
    assert adjusted.names == ["x0", "x1"]
    assert "noise" in plain.names
    assert plain.total > adjusted.total


@pytest.mark.parametrize("search", SETS)
def test_constant_features_are_never_taken(search, rng):
    X = np.ones((30, 4))
    X[:, 2] = rng.normal(size=30)
    path = select(X, X[:, 2] + rng.normal(size=30), 2, search=search)
    assert path.features == [2]
    assert path.stopped


@pytest.mark.parametrize("search", SETS)
def test_none_stops_where_chance_does(search, rng):
    X = rng.normal(size=(80, 6))
    y = X[:, 0] + rng.normal(size=80)
    groups = {"a": [1, 2], "b": [3, 4, 5]}
    path, forward = (select(X, y, None, groups=groups, search=s) for s in (search, "forward"))
    assert len(path) == len(forward) < 3
    assert path.stopped == forward.stopped


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"search": "sideways"}, "`search` should be one of 'forward', 'backward'"),
        ({"search": "swap", "method": "jmi"}, "method 'jmi' judges one feature after the other"),
        ({"search": "exact", "method": "lasso"}, "Use `search='forward'`"),
        ({"search": "exact", "time_limit": 0}, "seconds above 0; got 0"),
        ({"search": "exact", "time_limit": -3.5}, "got -3.5"),
        ({"search": "exact", "time_limit": float("nan")}, "got nan"),
        ({"search": "exact", "time_limit": "1"}, "got '1'"),
        ({"search": "exact", "time_limit": True}, "got True"),
        ({"search": "forward", "time_limit": 5}, "`time_limit` is for searches that compare sets"),
        ({"search": "swap", "n_starts": 0}, "`n_starts` should be a whole number"),
        ({"search": "beam", "width": 2.5}, "`width` should be a whole number, at least 1; got 2.5"),
        ({"search": "beam", "n_starts": 2}, "an option of `search='swap'`"),
        ({"n_starts": 2}, "got it with `search='forward'`"),
        ({"search": "swap", "n_features_to_select": "cv"}, "sets of search 'swap' are not nested"),
    ],
)
def test_bad_input_is_one_clear_line(options, words):
    X = np.random.default_rng(0).normal(size=(20, 4))
    with pytest.raises(InputError) as caught:
        select(X, np.arange(20) % 2, **{"n_features_to_select": 2, **options})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_too_many_features_for_exact_say_what_it_would_take(monkeypatch):
    monkeypatch.setattr("orthoselect.search.exact.free_memory", lambda: 10_000_000)
    X = np.random.default_rng(0).normal(size=(20, 200))
    words = r"among 1e\+06 sets of 3 .*200 features.*21 MB of memory.*search='swap'"
    with pytest.raises(InputError, match=words):
        select(X, np.arange(20) % 2, 3, search="exact")


def test_too_little_memory_for_gram_columns_says_what_would_do(rng):
    X = rng.normal(size=(50, 400))
    y = X[:, 0] + rng.normal(size=50)
    with pytest.raises(InputError, match=r"Gram columns.*`exclude`.*`search='forward'`"):
        select(RowBlocks([X[:20], X[20:]]), y, 4, search="beam", width=10, memory=20_000)


def test_selector_takes_searches(rng):
    X, y = correlated(rng, n=15)
    selector = OrthogonalSelector(4, search="swap", n_starts=2, time_limit=5.0).fit(X, y)
    assert selector.path_.certificate.search == "swap"
    assert selector.path_.options["n_starts"] == 2
    with pytest.raises(InputError, match="width"):
        OrthogonalSelector(4, search="swap", width=2).fit(X, y)
    whole = OrthogonalSelector(4, search="exact").partial_fit(X, y)
    assert sorted(whole.selected_) == sorted(select(X, y, 4, search="exact").features)
