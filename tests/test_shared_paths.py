"""Fits of many sizes that share one path: each is what it would be by itself."""

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from orthoselect import MutualInformationSelector, OrthogonalSelector, SelectorCV, shared_paths
from orthoselect.errors import InputError
from orthoselect.selectors import CRITERIA

STORAGES = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: np.rint(X).astype(np.int16),
    "sparse": sp.csr_array,
    "pandas": lambda X: pd.DataFrame(X).add_prefix("c"),
}
ORTHOGONAL = ("socc", "obcc", "err", "mser", "unsupervised")
SELECTORS = [
    *(pytest.param(OrthogonalSelector, name, id=name) for name in ORTHOGONAL),
    *(pytest.param(MutualInformationSelector, name, id=name) for name in CRITERIA),
]


@pytest.fixture(autouse=True)
def nothing_kept():
    shared_paths.KEPT.clear()
    yield
    shared_paths.KEPT.clear()


@pytest.fixture
def selections(monkeypatch):
    """The sizes that were selected, one after the other."""
    made, select = [], shared_paths.select

    def counted(data, target, size, **options):
        made.append(size)
        return select(data, target, size, **options)

    monkeypatch.setattr(shared_paths, "select", counted)
    return made


def problem(seed=0, n_rows=60, n=8):
    """Return a table whose last column depends on the others, and two classes."""
    rng = np.random.default_rng(seed)
    X = np.rint(rng.normal(size=(n_rows, n)) * 3)
    X[:, -1] = X[:, 0] + X[:, 1]
    return X, (X[:, 0] - X[:, 2] + rng.normal(size=n_rows) > 0).astype(int)


def fitted(selector, *given, **more):
    """Return the fitted selector, and what it has warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        selector.fit(*given, **more)
    return selector, sorted(str(warning.message) for warning in said)


def assert_same(mine, alone):
    (mine, said), (alone, said_alone) = mine, alone
    assert mine.selected_.tolist() == alone.selected_.tolist()
    assert np.array_equal(mine.support_, alone.support_)
    a, b = mine.path_.to_dict(), alone.path_.to_dict()
    for told in (a, b):
        told.pop("stats")
        (told.get("certificate") or {}).pop("seconds", None)
    steps, steps_alone = a.pop("steps"), b.pop("steps")
    assert a == b
    for step, other in zip(steps, steps_alone, strict=True):
        assert step.keys() == other.keys()
        for name, value in step.items():
            number = isinstance(value, float)
            near = pytest.approx(other[name], rel=1e-9, abs=1e-12) if number else other[name]
            assert value == near
    assert said == said_alone


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(("kind", "criterion"), SELECTORS)
def test_a_shared_path_has_the_steps_of_each_size(kind, criterion, storage, selections):
    """In any order of sizes, the whole rank and more than there is among them."""
    X, y = problem()
    X = STORAGES[storage](X)
    y = None if criterion == "unsupervised" else y
    for size in (3, 1, 9, 7, 8):
        mine = fitted(kind(size, criterion=criterion, shared_path=10), X, y)
        assert mine[0].path_.stats["shared_path"] >= len(mine[0].path_)
        assert_same(mine, fitted(kind(size, criterion=criterion), X, y))
    assert [size for size in selections if size == 10] == [10]


def test_options_weights_and_the_response_are_part_of_what_is_shared(selections):
    X, y = problem()
    weights = np.arange(60) % 3 + 1.0
    groups = {"a": [0, 1], "b": [2, 3]}
    asks = [
        ({}, y, None),
        ({"groups": groups}, y, None),
        ({"exclude": [0]}, y, None),
        ({"categorical_features": [2]}, y, None),
        ({"categorical_features": np.array([2, 3])}, y, None),
        ({"missing": "mean"}, y, None),
        ({}, y, weights),
        ({}, 1 - y, None),
        ({}, y.astype(str), None),
        ({}, y.tolist(), None),
        ({}, pd.Series(X[:, 3] + y), None),
    ]
    for options, target, given in asks:
        for size in (2, 4, 3):
            mine = fitted(OrthogonalSelector(size, shared_path=5, **options), X, target, given)
            assert "shared_path" in mine[0].path_.stats
            assert_same(mine, fitted(OrthogonalSelector(size, **options), X, target, given))
    assert selections.count(5) == len(asks)


def test_what_is_said_of_chance_and_of_rows_is_said_at_every_size():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame["level"] = rng.integers(0, 6, 60).astype(str)
    frame["gap"] = np.where(rng.random(60) < 0.1, np.nan, rng.normal(size=60))
    y = (frame["a"] + rng.normal(size=60) > 0).astype(int)
    said = []
    for size in (5, 4, 1, 9):
        given = {"missing": "drop_rows"}
        mine = fitted(OrthogonalSelector(size, shared_path=9, **given), frame, y)
        assert_same(mine, fitted(OrthogonalSelector(size, **given), frame, y))
        said.append(" ".join(mine[1]))
    assert "by chance" in said[0]
    assert "by chance" not in said[2]
    assert "to choose from" in said[3]
    assert all("dropped" in words for words in said)


def test_rows_changed_in_place_are_another_table(selections):
    X, y = problem()
    for place, value in (((3, 2), 50.0), ((59, 7), 1e-300), ((0, 0), -0.0)):
        before = fitted(OrthogonalSelector(2, shared_path=4), X, y)
        X[place] = value
        after = fitted(OrthogonalSelector(2, shared_path=4), X, y)
        assert_same(after, fitted(OrthogonalSelector(2), X, y))
        assert before[0].path_.stats["shared_path"] == 4
    y[:2] = 1 - y[:2]
    assert_same(
        fitted(OrthogonalSelector(2, shared_path=4), X, y), fitted(OrthogonalSelector(2), X, y)
    )
    assert selections.count(4) == 5


@pytest.mark.parametrize(
    "options",
    [
        {"n_features_to_select": 0.5},
        {"n_features_to_select": "auto"},
        {"n_features_to_select": "cv"},
        {"n_features_to_select": None},
        {"n_features_to_select": 6},
        {"include": [3]},
        {"search": "swap"},
        {"search": "exact"},
        {"p_values": True},
        {"progress": lambda step, number, planned: None},
        {"shared_path": None},
    ],
    ids=lambda options: "-".join(map(str, options)),
)
def test_what_is_no_prefix_is_selected_by_itself(options):
    X, y = problem()
    given = {"n_features_to_select": 3, "shared_path": 5, **options}
    mine = fitted(OrthogonalSelector(**given), X, y)
    assert_same(mine, fitted(OrthogonalSelector(**{**given, "shared_path": None}), X, y))
    assert "shared_path" not in mine[0].path_.stats
    assert len(shared_paths.KEPT) == 0


def test_tables_that_are_not_in_memory_are_selected_by_themselves(tmp_path):
    X, y = problem()
    pd.DataFrame(X).add_prefix("c").assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    shared = OrthogonalSelector(2, shared_path=4).fit(str(tmp_path / "t.csv"), "y")
    alone = OrthogonalSelector(2).fit(str(tmp_path / "t.csv"), "y")
    assert shared.path_ == alone.path_
    assert len(shared_paths.KEPT) == 0


def test_an_error_is_the_same_and_nothing_is_kept():
    X, y = problem()
    X[4, 5] = np.nan
    with pytest.raises(InputError) as alone:
        OrthogonalSelector(2).fit(X, y)
    with pytest.raises(InputError) as shared:
        OrthogonalSelector(2, shared_path=5).fit(X, y)
    assert str(alone.value) == str(shared.value)
    assert len(shared_paths.KEPT) == 0


@pytest.mark.parametrize("size", [0, -1, 2.5, "many", True])
def test_the_size_of_a_shared_path_is_a_count(size):
    X, y = problem()
    with pytest.raises(InputError, match="`shared_path` should be the largest number"):
        OrthogonalSelector(2, shared_path=size).fit(X, y)


def test_a_grid_of_sizes_costs_one_selection_a_fold(selections):
    X, y = problem(n_rows=90)
    sizes = {"orthogonalselector__n_features_to_select": [*range(1, 8)]}
    found = []
    for shared in (7, None):
        model = make_pipeline(OrthogonalSelector(shared_path=shared), LogisticRegression())
        found.append(GridSearchCV(model, sizes, cv=5).fit(X, y))
        assert len(selections) == (6 if shared else 36)  # five folds, and the whole table
        selections.clear()
    shared, alone = found
    for name in ("mean_test_score", "std_test_score", "rank_test_score"):
        assert shared.cv_results_[name].tolist() == alone.cv_results_[name].tolist()
    assert shared.best_params_ == alone.best_params_


def test_a_selector_that_cross_validates_its_size_takes_one_that_would_share():
    X, y = problem()
    alone = SelectorCV(OrthogonalSelector(4)).fit(X, y)
    shared = SelectorCV(OrthogonalSelector(4, shared_path=4)).fit(X, y)
    assert shared.path_ == alone.path_


def test_threads_share_paths_and_keep_their_warnings():
    tables = [problem(seed) for seed in range(3)]
    asks = [(X, y, size) for size in (7, 2, 8, 5) for X, y in tables]
    expected = [OrthogonalSelector(min(size, 7)).fit(X, y).selected_ for X, y, size in asks]
    found, failed = [None] * len(asks), []

    def work(places):
        try:
            for place in places:
                X, y, size = asks[place]
                found[place] = OrthogonalSelector(min(size, 7), shared_path=7).fit(X, y).selected_
        except BaseException as error:  # told below
            failed.append(error)

    threads = [threading.Thread(target=work, args=(range(k, len(asks), 3),)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert all(np.array_equal(a, b) for a, b in zip(found, expected))
    assert len(shared_paths.KEPT) == 3


def test_few_paths_are_kept_and_in_few_bytes(monkeypatch):
    monkeypatch.setattr(shared_paths, "MOST_PATHS", 3)
    for seed in range(5):
        OrthogonalSelector(1, shared_path=2).fit(*problem(seed))
    kept = shared_paths.KEPT
    assert len(kept) == 3
    assert kept.n_bytes == sum(entry.n_bytes for entry in kept._kept.values())
    monkeypatch.setattr(shared_paths, "MOST_BYTES", kept.n_bytes - 1)
    OrthogonalSelector(1, shared_path=2).fit(*problem(9))
    assert 0 < kept.n_bytes <= shared_paths.MOST_BYTES
    monkeypatch.setattr(shared_paths, "MOST_BYTES", 10)
    OrthogonalSelector(1, shared_path=2).fit(*problem(11))
    assert kept.n_bytes <= 10 or len(kept) < 3


def test_a_kept_path_holds_no_table_and_each_fit_has_its_own(tmp_path):
    X, y = problem()
    first = OrthogonalSelector(2, shared_path=4).fit(X, y)
    (kept,) = shared_paths.KEPT._kept.values()
    assert kept.path._origin is None
    first.path_.options["task"] = "spoiled"
    first.path_.stats.clear()
    second = OrthogonalSelector(2, shared_path=4).fit(X.copy(), y)
    assert second.path_.options["task"] == "auto"
    assert second.path_._origin.recall()[1] is y
