"""Statistics of a table that has nothing to explain: what method "unsupervised" asks of it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse as sp

from matrices import row_blocks
from orthoselect import GramStatistics, OrthogonalSelector, select, stability
from orthoselect.errors import InputError


@pytest.fixture
def table(rng):
    """Numbers, one of them twice, labels, weights."""
    found = pd.DataFrame(rng.normal(size=(90, 5)), columns=list("abcde"))
    found["b"] += found["a"]
    found["again"] = found["a"]
    found["kind"] = np.where(found["c"] > 0.3, "x", np.where(found["c"] > -0.5, "y", "z"))
    found["w"] = rng.integers(1, 4, 90)
    return found


def of_rows(data, k=4, **asked):
    return select(data, None, k, method="unsupervised", **asked)


def assert_same(path, rows):
    assert path.names == rows.names
    assert path.gains == pytest.approx(rows.gains, abs=1e-10)
    assert [s.components for s in path] == pytest.approx([s.components for s in rows])


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kind", ["frame", "array", "sparse", "parts", "file", "blocks", "dask"])
def test_statistics_without_a_response_answer_as_the_rows(table, kind, center, tmp_path):
    table = table.drop(columns=["w", "kind"] if not center else "w")
    kept = None
    if kind in ("array", "sparse"):
        table = table.drop(columns="kind", errors="ignore").to_numpy()
        data = sp.csr_array(table) if kind == "sparse" else table
    elif kind == "parts":
        kept = GramStatistics.of(table[:50]) + GramStatistics().update(table[50:])
    elif kind == "file":
        data = tmp_path / "table.csv"
        table.to_csv(data, index=False)
    elif kind == "dask":
        data = pytest.importorskip("dask.dataframe").from_pandas(table, npartitions=3)
    else:
        data = table if kind == "frame" else row_blocks(table)
    kept = GramStatistics.of(data) if kept is None else kept
    rows = of_rows(table, center=center)
    assert_same(kept.select(4, "unsupervised", center=center), rows)
    assert_same(select(kept, None, 4, method="unsupervised", center=center), rows)
    assert not kept.responses
    assert not kept.classes
    assert repr(kept).endswith("features, no response")


@pytest.mark.filterwarnings("ignore::orthoselect.errors.RowsDroppedWarning")
@pytest.mark.parametrize("missing", ["indicator", "mean", "drop_rows"])
def test_gaps_weights_groups_and_searches_work_without_a_response(table, missing):
    table.loc[::7, "b"] = np.nan
    table.loc[3, "w"] = np.nan
    asked = {"groups": {"pair": ["d", "e"]}, "exclude": ["c"], "include": ["kind"]}
    known = {"sample_weight": "w", "missing": missing}
    kept = sum(GramStatistics.of(part, **known) for part in (table[:40], table[40:]))
    rows = of_rows(table, 3, **known, **asked)
    swapped = of_rows(table, 3, search="swap", **known, **asked)
    assert_same(kept.select(3, "unsupervised", **asked), rows)
    assert_same(kept.select(3, "unsupervised", search="swap", **asked), swapped)


def test_statistics_without_a_response_are_saved_and_loaded(table, tmp_path):
    kept = GramStatistics.of(table, sample_weight="w")
    kept.save(tmp_path / "kept.npz")
    loaded = GramStatistics.load(tmp_path / "kept.npz")
    assert repr(loaded) == repr(kept)
    assert loaded.select(4, "unsupervised") == kept.select(4, "unsupervised")
    both = loaded + GramStatistics.of(table, sample_weight="w")
    assert both.n_rows == 2 * len(table)
    assert_same(both.select(3, "unsupervised"), kept.select(3, "unsupervised"))


def test_what_a_table_knows_as_its_target_is_kept_as_the_response(table):
    assert GramStatistics.of("wine").responses == ["y"]
    assert GramStatistics.of("wine").select(2).names == select("wine", None, 2).names
    assert GramStatistics.of(table.rename(columns={"e": "target"})).responses == []


def test_parts_are_taken_in_by_a_selector_that_needs_no_y(table):
    X = table[list("abcde")]
    selector = OrthogonalSelector(3, criterion="unsupervised")
    selector.partial_fit(X[:30]).partial_fit(X[30:], table["kind"][30:])  # as `fit` ignores y
    assert selector.path_.names == of_rows(X, 3).names
    assert selector.statistics_.responses == []
    few = OrthogonalSelector(2, criterion="unsupervised").partial_fit(X[:1])
    assert not hasattr(few, "path_")
    fitted = OrthogonalSelector(3, criterion="unsupervised").fit(GramStatistics.of(X))
    assert fitted.selected_.tolist() == selector.selected_.tolist()


_NEEDED = r"should have a response to explain; these were made without one.*`GramStatistics.of"


def test_what_needs_a_response_says_so(table):
    kept = GramStatistics.of(table.drop(columns="w"))
    for method in ("socc", "err", "mser"):
        with pytest.raises(InputError, match=_NEEDED):
            kept.select(2, method)
    with pytest.raises(InputError, match=_NEEDED):
        select(kept, "a", 2)
    with pytest.raises(InputError, match=_NEEDED):
        kept.select("auto")
    with pytest.raises(InputError, match=_NEEDED):
        OrthogonalSelector(2).fit(kept)
    with pytest.raises(InputError, match=r"y to be passed, but the target y is None"):
        OrthogonalSelector(2).partial_fit(table[list("abc")])
    with pytest.raises(InputError, match=r"has the rows|should have the rows"):
        stability(kept, None, 2)


def test_responses_do_not_come_and_go(table):
    X, y = table[list("abc")], table["kind"]
    with pytest.raises(InputError, match=r"this one has `y`, those before had none"):
        GramStatistics().update(X).update(X, y)
    with pytest.raises(InputError, match=r"this one has none, those before had `y`"):
        GramStatistics().update(X, y).update(X)
    with pytest.raises(InputError, match=r"the number of responses is 0 on the left and 1"):
        GramStatistics.of(X) + GramStatistics.of(X, y)
    with pytest.raises(InputError, match=r"`classes` are those of a response; there is none"):
        GramStatistics.of(X, classes=["x", "y"])
    with pytest.raises(InputError, match=r"`classes` are those of a response; there is none"):
        OrthogonalSelector(2, criterion="unsupervised").partial_fit(X, classes=["x", "y"])


def test_the_vote_of_a_column_with_gaps_does_not_depend_on_how_the_table_was_cut(table):
    table["a"] += np.arange(90)  # so that means of the first rows are far from those of all
    table.loc[::3, "a"] = np.nan
    X = table[list("abcde")]
    rows = of_rows(X, 3, missing="indicator")
    kept = sum(GramStatistics.of(X[s : s + 30], missing="indicator") for s in (0, 30, 60))
    assert_same(kept.select(3, "unsupervised"), rows)
