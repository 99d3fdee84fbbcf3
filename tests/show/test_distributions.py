"""Values of the selected features, by class or along the response."""

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import select
from orthoselect.show.pictures import MOST_COLUMNS, N_BINS, cut
from orthoselect.show.summary import summarize


def distributions(X, y, t, **options):
    path = select(X, y, t, **options)
    return summarize(path, X, y, sample_weight=options.get("sample_weight"))["distributions"]


def test_counts_are_those_of_a_histogram(rng):
    x, y = rng.uniform(size=500), rng.integers(0, 2, 500)
    (entry,) = distributions(x[:, None], y, 1)
    assert len(entry["edges"]) == N_BINS + 1
    for code, one in enumerate(entry["by_class"]):
        assert one["class"] == str(code)
        assert one["counts"] == np.histogram(x[y == code], entry["edges"])[0].tolist()
        assert one["n"] == (y == code).sum()


def test_few_distinct_values_have_a_bin_each():
    x = np.array([0.0, 0.0, 1.0, 10.0, 10.0, 10.0])
    edges, codes = cut(x)
    assert edges.tolist() == [-0.5, 0.5, 5.5, 14.5]
    assert codes.tolist() == [0, 0, 1, 2, 2, 2]


def test_a_single_value_has_a_bin_of_its_own():
    edges, codes = cut(np.full(5, 1e12))
    assert edges[0] < 1e12 < edges[1]
    assert codes.tolist() == [0] * 5


def test_outliers_are_collected_at_the_ends(rng):
    x = np.concatenate([rng.normal(size=1000), [1e6, -1e9]])
    edges, codes = cut(x)
    assert edges[0] > -4
    assert edges[-1] < 4
    assert codes[-2:].tolist() == [N_BINS - 1, 0]
    assert np.bincount(codes).sum() == 1002


def test_values_up_to_the_ends_of_the_float_range_are_cut(rng):
    x = rng.uniform(-1, 1, 500) * 1.7e308
    edges, _ = cut(x)
    assert np.isfinite(edges).all()
    assert (np.diff(edges / 4) > 0).all()
    assert np.isfinite(cut(np.array([-1.7e308, 1.7e308]))[0]).all()
    assert np.bincount(cut(x * 1e-300 * 1e-15)[1], minlength=N_BINS).sum() == 500


def test_most_values_alike_are_cut_over_the_whole_range(rng):
    x = np.zeros(10_000)
    x[:30] = rng.uniform(1, 2, 30)
    edges, _ = cut(x)
    assert edges[0] == 0
    assert edges[-1] == x.max()


def test_rare_classes_are_merged(rng):
    y = np.concatenate([np.repeat(np.arange(11), 20), np.arange(11, 16)])
    X = y[:, None] + rng.normal(size=(225, 1))
    (entry,) = distributions(X, y, 1, task="classification")
    named = [*map(str, range(11)), "other (5 classes)"]
    assert [one["class"] for one in entry["by_class"]] == named
    assert [one["number"] for one in entry["by_class"]] == [*range(11), None]
    assert entry["by_class"][-1]["n"] == 5
    assert sum(sum(one["counts"]) for one in entry["by_class"]) == 225


@pytest.mark.parametrize(("n_classes", "n_drawn"), [(10, 10), (12, 12), (30, 12)])
def test_classes_of_about_equal_size_have_no_other(n_classes, n_drawn, rng):
    y = np.arange(40 * n_classes) % n_classes
    X = y[:, None] + rng.normal(size=(len(y), 1))
    (entry,) = distributions(X, y, 1)
    assert [one["class"] for one in entry["by_class"]] == [str(k) for k in range(n_drawn)]
    assert [one["n"] for one in entry["by_class"]] == [40] * n_drawn


def test_levels_go_by_frequency_and_rare_ones_are_merged(rng):
    levels = np.repeat([f"level{k:02}" for k in range(15)], np.arange(5, 20))
    y = rng.integers(0, 2, len(levels))
    X = np.array(levels, dtype=object)[:, None]
    (entry,) = distributions(X, y, 1)
    assert entry["kind"] == "categorical"
    assert entry["levels"] == [*(f"level{k:02}" for k in range(14, 3, -1)), "other (4 levels)"]
    assert sum(one["counts"][0] for one in entry["by_class"]) == 19
    assert sum(one["counts"][-1] for one in entry["by_class"]) == 5 + 6 + 7 + 8


def test_rows_are_counted_not_weighted_and_absent_ones_left_out(rng):
    x, y = rng.normal(size=100), np.arange(100) % 2
    w = np.where(np.arange(100) < 40, 0.0, 2.5 + y)
    (entry,) = distributions(x[:, None], y, 1, sample_weight=w)
    assert [one["n"] for one in entry["by_class"]] == [30, 30]


def test_groups_have_an_entry_for_each_column(rng):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    y = (frame["a"] + frame["c"] > 0).to_numpy()
    entries = distributions(frame, y, 1, groups={"both": ["a", "c"]})
    assert [entry["name"] for entry in entries] == ["both: a", "both: c"]
    assert [one["class"] for one in entries[0]["by_class"]] == ["False", "True"]


def test_only_the_first_columns_are_shown(rng):
    X, y = rng.normal(size=(80, 40)), rng.integers(0, 2, 80)
    assert len(distributions(X, y, 40)) == MOST_COLUMNS


def test_sparse_columns_are_spread_as_dense_ones(rng):
    X = rng.normal(size=(100, 5)) * (rng.random((100, 5)) < 0.3)
    y = (X[:, 1] > 0).astype(int)
    assert distributions(sp.csr_array(X), y, 2) == distributions(X, y, 2)


def test_numbers_have_their_mean_response_in_each_bin(rng):
    x = rng.uniform(size=700)
    y = 3 * x + rng.normal(size=700)
    (entry,) = distributions(x[:, None], y, 1)
    assert entry["kind"] == "numeric-response"
    assert len(entry["points"]) == 500
    bins = np.clip(np.digitize(x, entry["edges"]) - 1, 0, N_BINS - 1)
    means = [y[bins == b].mean() for b in range(N_BINS)]
    assert entry["means"] == pytest.approx(means, rel=1e-5)


def test_bins_without_rows_have_no_mean(rng):
    x = np.concatenate([rng.uniform(0, 1, 30), rng.uniform(9, 10, 30)])
    (entry,) = distributions(x[:, None], x + rng.normal(size=60), 1)
    assert entry["means"][N_BINS // 2] is None


def test_levels_have_the_quartiles_of_the_response():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"kind": ["a"] * 5 + ["b"] * 3})
    y = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 10.5, 11.5, 12.5])
    (entry,) = distributions(frame, y, 1)
    assert entry == {
        "name": "kind",
        "kind": "categorical-response",
        "levels": ["a", "b"],
        "quartiles": [[2.0, 3.0, 4.0], [11.0, 11.5, 12.0]],
        "n": [5, 3],
    }
