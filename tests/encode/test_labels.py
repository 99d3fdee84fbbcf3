"""Labels: codes, levels and their order."""

import numpy as np
import pytest

from orthoselect.encode import Labels, find_labels
from orthoselect.encode.labels import LevelsSeen
from orthoselect.errors import InputError, MissingValueError


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, 1, 2, 1]),
        np.array([0.5, -1.5, 0.25, -1.5]),
        np.array(["pear", "apple", "fig", "apple"]),
        np.array(["pear", "apple", "fig", "apple"], dtype=object),
        np.array([True, False, True]),
        np.array([True, False, True], dtype=object),
        np.array([b"b", b"a"]),
        np.array([("b", 1), ("a", 2), ("a", 1), ("a", 2), None], dtype=object)[:4],
        np.array([2**70, 1, -(2**70)], dtype=object),
    ],
    ids=lambda v: f"{v.dtype}",
)
def test_codes_point_at_sorted_levels(values):
    labels = find_labels(values)
    assert list(labels.levels) == sorted(set(values.tolist()))
    assert [labels.levels[code] for code in labels.codes] == values.tolist()
    assert labels.codes.shape == values.shape
    assert labels.codes.dtype.kind in "iu"


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int16, np.uint8, np.int8])
@pytest.mark.parametrize("spread", [1, 9, 10, 127, 255, 256, 257, 900])
def test_whole_numbers_are_counted_whatever_their_range(dtype, spread):
    """Few levels are counted one by one, up to 256 in codes of a byte, with gaps or without."""
    rng = np.random.default_rng(spread)
    info = np.iinfo(dtype)
    spread = min(spread, info.max - info.min)
    for low in (info.min, info.max - spread):
        for offsets in (np.arange(spread + 1), np.array([0, spread])):
            numbers = [int(low) + int(offset) for offset in rng.choice(offsets, 3 * len(offsets))]
            levels = sorted(set(numbers))
            labels = find_labels(np.array(numbers, dtype=dtype))
            assert list(labels.levels) == levels
            assert [levels[code] for code in labels.codes] == numbers
            assert labels.counts.tolist() == [numbers.count(level) for level in levels]
            backwards = find_labels(np.array(numbers, dtype=dtype), order=levels[::-1])
            assert [backwards.levels[code] for code in backwards.codes] == numbers
            assert backwards.counts.tolist() == labels.counts.tolist()[::-1]


def test_mixed_types_have_an_order_that_does_not_depend_on_the_rows():
    values = np.array([1, "b", 2.5, "a", ("t",), 1], dtype=object)
    levels = find_labels(values).levels
    for shift in range(6):
        rolled = np.roll(values, shift)
        labels = find_labels(rolled)
        assert labels.levels == levels
        assert [labels.levels[code] for code in labels.codes] == rolled.tolist()


def test_given_order_wins_and_unused_levels_drop_out():
    values = np.array(["low", "high", "low"], dtype=object)
    labels = find_labels(values, order=["lowest", "low", "mid", "high"])
    assert labels.levels == ("low", "high")
    assert labels.codes.tolist() == [0, 1, 0]
    labels = find_labels(np.array([3, 1, 2]), order=[3, 2, 1])
    assert labels.levels == (3, 2, 1)
    assert labels.codes.tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("values", "count"),
    [
        (np.array([1.0, np.nan, np.nan]), 2),
        (np.array(["a", None], dtype=object), 1),
        (np.array(["a", np.nan, None], dtype=object), 2),
        (np.array([1, float("nan")], dtype=object), 1),
        (np.array(["a", np.float32("nan")], dtype=object), 1),
        (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), 1),
    ],
)
def test_missing_labels_are_counted(values, count):
    with pytest.raises(MissingValueError, match=f"The color .*; {count} (is|are) missing"):
        find_labels(values, "The color")


def test_pandas_missing_values_are_missing():
    pd = pytest.importorskip("pandas")
    with pytest.raises(MissingValueError, match="; 2 are missing"):
        find_labels(np.array(["a", pd.NA, pd.NaT], dtype=object))


def test_words_that_look_missing_are_labels():
    assert find_labels(np.array(["nan", "None", ""])).levels == ("", "None", "nan")


def test_present_keeps_only_the_levels_of_the_rows():
    labels = find_labels(np.array(["a", "b", "c", "b", "d"]))
    kept = labels.present(np.array([False, True, False, True, True]))
    assert kept.levels == ("b", "d")
    assert kept.codes[[1, 3, 4]].tolist() == [0, 0, 1]
    assert kept.codes.min() >= 0
    assert kept.codes.max() < 2
    assert labels.levels == ("a", "b", "c", "d")


def test_present_is_the_same_where_all_levels_occur():
    labels = find_labels(np.array([0, 1, 0]))
    assert labels.present(np.array([True, True, False])) is labels


def test_values_are_left_as_they_were():
    values = np.array([2, 0, 1])
    values.flags.writeable = False
    assert isinstance(find_labels(values), Labels)
    assert values.tolist() == [2, 0, 1]


def test_levels_outside_of_an_order_are_an_error_when_they_come():
    plain, ordered = find_labels(np.array(["a", "z"])), find_labels(np.array(["b", "a"]))
    said = "The color should have categories of one ordered.*`b`, `a`, and `z` is not among"
    seen = LevelsSeen("The color")
    seen.add(ordered, ["b", "a"])
    with pytest.raises(InputError, match=said):
        seen.add(plain)
    seen = LevelsSeen("The color")
    seen.add(plain)
    with pytest.raises(InputError, match=said):
        seen.add(ordered, ["b", "a"])


def test_levels_outside_of_an_order_are_an_error_when_they_are_merged():
    one, other = LevelsSeen("The color"), LevelsSeen("The color")
    one.add(find_labels(np.array(["z"])))
    other.add(find_labels(np.array(["b", "a"])), ["b", "a"])
    with pytest.raises(InputError, match="`z` is not among"):
        one.merge(other)
