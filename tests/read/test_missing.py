"""Missing values: an error that names them, or fewer rows or columns and a warning that counts."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import select
from orthoselect.errors import InputError, LeftOutWarning, NonFiniteError, RowsDroppedWarning
from orthoselect.read import Dataset, drop_missing, read_source

pa = pytest.importorskip("pyarrow")
NAMES = ["a", "b", "c", "y"]
NAN, INF = np.nan, np.inf
VALUES = np.array(
    [
        [1.0, NAN, 3, 0],
        [2, 1, 4, 1],
        [3, INF, 0, 0],
        [4, 2, 7, 1],
        [5, NAN, 8, NAN],
        [6, 3, 0, 0],
    ]
)
FINITE = np.where(np.isinf(VALUES), 9.0, VALUES)


def arrow(values):
    return pa.table({name: values[:, j] for j, name in enumerate(NAMES)})


def nulls(values):
    """NaN as null, the other way a pyarrow column may lack a value."""
    columns = {name: pa.array(values[:, j], from_pandas=True) for j, name in enumerate(NAMES)}
    return pa.table(columns)


def chunks(values):
    return pa.concat_tables([nulls(values[:2]), arrow(values[2:])])


KINDS = {
    "array": np.asarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "arrow NaN": arrow,
    "arrow null": nulls,
    "arrow chunks": chunks,
}


@pytest.fixture(params=KINDS)
def make(request):
    def make(values=VALUES, **options):
        return Dataset(KINDS[request.param](values), NAMES, name="t", **options)

    return make


def values(dataset):
    return np.column_stack([np.asarray(dataset.column(name)) for name in dataset.names])


def test_nothing_missing_is_nothing_done(make):
    whole = make(np.ones((4, 4)))
    for how in ("error", "drop-rows", "drop-columns"):
        assert drop_missing(whole, how, "y") is whole


def test_error_names_columns_counts_and_remedies(make):
    with pytest.raises(InputError) as caught:
        drop_missing(make(), "error", "y")
    message = str(caught.value)
    assert (
        "2 column(s) of `t` have some: `b` (2 missing and 1 infinite), `y` (1 missing)" in message
    )
    for remedy in ("`--missing drop-rows`", "`--missing drop-columns`", "`--exclude`"):
        assert remedy in message
    assert "\n" not in message


def test_remedy_for_a_target_is_to_drop_rows(make):
    apart = make(np.ones((6, 4)), target=np.array([0.5, NAN, 1, 2, 3, 4]))
    for found, target in ((make(left_out={"b": "no reason"}), "y"), (apart, None)):
        with pytest.raises(InputError, match="`--missing drop-rows`") as caught:
            drop_missing(found, "error", target)
        assert "exclude" not in str(caught.value)
        assert "drop-columns" not in str(caught.value)
    with pytest.raises(InputError, match=r"In the target or weights, `y` \(1 missing\), only"):
        drop_missing(make(), "error", "y")


def test_remedy_where_no_row_has_a_target(make):
    found = make(np.ones((6, 4)), target=np.full(6, NAN))
    for how in ("drop-rows", "drop-columns"):
        with pytest.raises(InputError, match="No row has a target and a weight") as caught:
            drop_missing(found, how)
        assert "exclude" not in str(caught.value)


def test_error_is_the_default(make):
    with pytest.raises(InputError, match="no missing values"):
        drop_missing(make(), target="y")


def test_rows_are_dropped_and_counted(make):
    with pytest.warns(RowsDroppedWarning, match=r"dropped 2 of 6 rows.*`b` \(2 missing\)"):
        found = drop_missing(make(FINITE), "drop-rows", "y")
    assert np.array_equal(values(found), FINITE[[1, 2, 3, 5]])
    assert found.left_out == {}
    assert found.n_dropped == 2


@pytest.mark.parametrize("how", ["drop-rows", "drop-columns"])
def test_infinity_is_an_error_however_gaps_are_dropped(make, how):
    with (
        warnings.catch_warnings(action="ignore"),
        pytest.raises(NonFiniteError, match=r"`b` has 1 infinity"),
    ):
        drop_missing(make(), how, "y")


def test_columns_are_left_out_after_rows_without_a_target_were_dropped(make):
    with pytest.warns() as caught:
        found = drop_missing(make(FINITE), "drop-columns", "y")
    assert [type(w.message) for w in caught] == [RowsDroppedWarning, LeftOutWarning]
    assert "dropped 1 of 6 rows, which have missing values in `y` (1" in str(caught[0].message)
    # The other gap went with its row.
    assert found.left_out == {"b": "1 missing of 5 values"}
    kept = values(found)
    assert np.array_equal(kept[:, [0, 2, 3]], FINITE[[0, 1, 2, 3, 5]][:, [0, 2, 3]])


def test_a_column_whose_gaps_are_all_in_rows_without_a_target_stays(make):
    gappy = FINITE.copy()
    gappy[0, 1] = 4
    with pytest.warns(RowsDroppedWarning, match="dropped 1 of 6"):
        assert drop_missing(make(gappy), "drop-columns", "y").left_out == {}


def test_weights_count_like_the_target(make):
    with pytest.raises(InputError, match=r"`b` \(2 missing and 1 infinite\)"):
        drop_missing(make(), "error", "a", weights="b", exclude=["y"])
    with pytest.warns(RowsDroppedWarning, match=r"dropped 2 of 6.* in `b`"):
        found = drop_missing(make(FINITE), "drop-columns", "a", weights="b", exclude=["y"])
    assert found.n_rows == 4
    assert found.left_out == {}


def test_unknown_weights(make):
    with pytest.raises(InputError, match=r"`weights` .*no `bb`: did you mean `b`\?"):
        drop_missing(make(), "error", "a", weights="bb")


def test_columns_out_of_the_game_may_hold_anything(make):
    found = make(left_out={"b": "no reason"})
    assert drop_missing(found, "error", "a", exclude=["y"]) is found
    assert drop_missing(found, "drop-rows", "a", exclude=["y"]) is found


def test_target_values_apart(make):
    target = np.array([0.5, NAN, 1, 2, 3, 4])
    whole = make(np.ones((6, 4)), target=target, target_name="kind")
    with pytest.raises(InputError, match=r"`kind` \(1 missing\)"):
        drop_missing(whole, "error")
    for how in ("drop-rows", "drop-columns"):
        with pytest.warns(RowsDroppedWarning, match="dropped 1 of 6"):
            found = drop_missing(whole, how)
        assert found.target.tolist() == [0.5, 1, 2, 3, 4]
        assert found.n_rows == 5


def test_target_of_text_apart(make):
    whole = make(np.ones((6, 4)), target=np.array(list("aabbab")))
    assert drop_missing(whole, "error") is whole


def test_no_row_left(make):
    gappy = np.ones((4, 4))
    gappy[[0, 1], 0] = NAN
    gappy[[2, 3], 1] = NAN
    with pytest.raises(InputError, match=r"leaves none of `t`: each of the 4.*drop-columns"):
        drop_missing(make(gappy), "drop-rows", "y")


def test_no_column_left(make):
    gappy = np.ones((4, 4))
    gappy[0, :3] = NAN
    with pytest.raises(InputError, match=r"drop-columns` leaves no column of `t`.*drop-rows"):
        drop_missing(make(gappy), "drop-columns", "y")


def test_many_columns_are_counted(rng):
    X = np.full((3, 9), NAN)
    X[0] = 1
    found = Dataset(X, [f"x{j}" for j in range(9)], target=np.arange(3))
    with pytest.raises(InputError, match=r"9 column\(s\).*`x4` \(2 missing\) and 4 more\."):
        drop_missing(found)


def test_text_and_other_types():
    table = pa.table(
        {
            "text": ["a", None, "b", "a"],
            "kinds": pa.array(["x", "y", None, "x"]).dictionary_encode(),
            "whole": [1, 2, 3, None],
            "flag": [True, False, True, True],
            "y": [0, 1, 0, 1],
        }
    )
    found = Dataset(table, table.column_names, name="t")
    with pytest.raises(InputError, match=r"`text` \(1 missing\), `kinds` .*, `whole` \(1 missing"):
        drop_missing(found, "error", "y")
    with pytest.warns(RowsDroppedWarning, match="dropped 3 of 4"):
        assert drop_missing(found, "drop-rows", "y").n_rows == 1
    with pytest.warns(LeftOutWarning):
        kept = drop_missing(found, "drop-columns", "y")
    assert list(kept.left_out) == ["text", "kinds", "whole"]


def test_sums_that_overflow_are_not_infinite():
    table = pa.table({"a": [1e308, 1e308, 1e308], "y": [0, 1, 0]})
    found = Dataset(table, ["a", "y"])
    assert drop_missing(found, "error", "y") is found


def test_single_precision():
    table = pa.table({"a": pa.array([1, NAN, 3], pa.float32()), "y": [0, 1, 0]})
    with pytest.warns(RowsDroppedWarning):
        assert drop_missing(Dataset(table, ["a", "y"]), "drop-rows", "y").n_rows == 2


def test_unknown_way():
    with pytest.raises(InputError, match=r"`missing` should be one of 'error'.*got 'fill'"):
        drop_missing(Dataset(VALUES, NAMES), "fill", "y")


def test_selection_after_dropping(tmp_path, rng):
    X = rng.normal(size=(40, 3))
    rows = [",".join(["a", "b", "c", "y"])]
    for i, (a, b, c) in enumerate(X.tolist()):
        rows.append(f"{a},{'?' if i % 7 == 0 else b},{c},{'yes' if b > 0 else 'no'}")
    (tmp_path / "t.csv").write_text("\n".join(rows))
    with pytest.warns(RowsDroppedWarning, match="dropped 6 of 40"):
        found = drop_missing(read_source(tmp_path / "t.csv"), "drop-rows", "y")
    keep = np.arange(40) % 7 != 0
    expected = select(X[keep], np.where(X[keep, 1] > 0, "yes", "no"), 2)
    assert select(found, "y", 2).gains == pytest.approx(expected.gains)
