"""What stands against an answer: found, and said in words for readers."""

import re

import numpy as np
import pytest

from orthoselect import errors, select
from orthoselect.cli.terminal import in_command_words
from orthoselect.show.cautions import in_words
from orthoselect.show.summary import summarize
from orthoselect.show.verdicts import best_of_noise

WARNINGS = {
    errors.TooManyRequestedWarning(9, 4): (
        "9 features were asked for, but there are 4 to choose from; all that add anything are "
        "selected, in order."
    ),
    errors.ReadAsQuantityWarning("y", "40"): (
        "Y holds 40 distinct whole numbers and is read as a quantity."
    ),
    errors.ReadAsNumbersWarning({"a": "12%"}): (
        "Read the text of “a” as numbers, for example '12%'."
    ),
    errors.ManyLevelsWarning("column `id`", 9, 9): (
        "Column “id” has 9 levels in 9 rows: so many that it fits any response."
    ),
    errors.UncutNumbersWarning("a", 90, 100, 1): (
        "Column “a” holds 90 distinct whole numbers in 100 rows, which are taken as they are, and "
        "1 more column, too: so many levels that they fit any response."
    ),
    errors.LeftOutWarning({"a": "dates", "b": "dates"}, "Name a column, to keep it."): (
        "Left out 2 columns: “a”, “b” (dates)."
    ),
    errors.LooksNumericWarning({"a": (9, 10, "1,5")}): (
        "Column “a” is read as text though 9 of 10 values look like numbers, for example '1,5'."
    ),
    errors.RowsDroppedWarning(6, 400, " in `humidity` (6 missing)"): (
        "Dropped 6 of 400 rows, which have missing values in “humidity” (6 missing)."
    ),
    errors.SearchStoppedWarning(1, 4, "every other feature is constant."): "",
    errors.FormulaWarning("the CSV", 3, "=a"): "",
    errors.NoMoreThanChanceWarning(3, "a"): "",
}


@pytest.mark.parametrize("warning", WARNINGS, ids=lambda warning: type(warning).__name__)
@pytest.mark.parametrize("in_command", [False, True])
def test_a_warning_tells_what_was_found_and_nothing_to_type(warning, in_command):
    message = in_command_words(str(warning)) if in_command else str(warning)
    assert in_words(message) == WARNINGS[warning]


def test_every_warning_of_a_selection_has_words():
    """A class that is not in the list above is told by its first sentence."""
    kinds = {
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.SelectionWarning)
    }
    known = {errors.SelectionWarning, errors.CutShortWarning, *map(type, WARNINGS)}
    for kind in kinds - known:
        text = f"column `a` is odd. Name it in `exclude`, or pass `--{kind.__name__} 3`."
        assert in_words(text) == "Column “a” is odd."


def test_what_is_in_parentheses_stays_together():
    text = "column `a` is odd. Cut it (`bins=3`); labels are fine in `exclude`. (jmi; 5 of 5 folds)"
    assert in_words(text) == "Column “a” is odd."
    text = "left out 2 column(s): `a` (text; not a number)."
    assert in_words(text) == "Left out 2 columns: “a” (text; not a number)."


def test_a_column_with_the_name_of_an_option_is_a_column():
    assert in_words("column `exclude` has 3 levels.") == "Column “exclude” has 3 levels."


def cautions(X, y, t, method="socc", **options):
    with pytest.warns() if options.pop("warns", False) else _quiet():
        path = select(X, y, t, method, **options)
    return summarize(path, X, y)["cautions"]


def _quiet():
    from contextlib import nullcontext

    return nullcontext()


def test_a_clear_answer_has_nothing_against_it(rng):
    X = rng.normal(size=(400, 4))
    y = 3 * X[:, 0] + 2 * X[:, 1] + rng.normal(size=400)
    assert cautions(X, y, 2) == []


def test_steps_that_noise_would_have_made_are_told(rng):
    X = rng.normal(size=(100, 300))
    y = 2 * X[:, 0] + rng.normal(size=100)
    (words,) = cautions(X, y, 5)
    assert re.match(
        r"(“x\d+”, )?“x\d+” and “x\d+” add no more than the best of as many", words
    ) or (words.startswith("The last 4 of 5 features add no more than the best of as many"))
    words = cautions(X, y, 12)[0]
    assert re.match(r"(The last )?(9|10|11) of 12 features add no more", words)
    (words,) = cautions(X[:, 1:], y, 1)
    assert words.startswith("It adds no more than the best")


@pytest.mark.parametrize("m", [1, 3])
def test_the_best_of_noise_is_beaten_once_in_twenty_tables(m, rng):
    """The first of 40 independent features of noise, in 300 tables."""
    beaten = 0
    for _ in range(300):
        X, y = rng.normal(size=(60, 40)), np.arange(60) % (m + 1)
        gain = select(X, y, 1, task="classification").gains
        noise = best_of_noise(np.ones(1, dtype=int), m, 60.0, np.array(gain), 40)
        beaten += gain[0] > noise[0]
    assert 0.01 < beaten / 300 < 0.1


def test_a_column_that_knows_too_much_is_told(rng):
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    X[:, 1] = y + 0.01 * rng.normal(size=200)
    assert cautions(X, y, 1)[0].startswith("“x1” alone tells nearly all that one feature can tell")


def test_a_close_choice_names_both_features(rng):
    X = rng.normal(size=(400, 3))
    X[:, 1] = X[:, 0] + 0.01 * rng.normal(size=400)
    y = X[:, 0] + X[:, 2] + rng.normal(size=400)
    path = select(X, y, 2)
    left = ({"x0", "x1"} - set(path.names)).pop()
    (words,) = summarize(path, X, y)["cautions"]
    assert words.startswith(f"“{left}” was left out, but came within 5% of “")
    assert words.endswith("on other rows they may change places.")


def test_small_classes_are_told(rng):
    y = np.array(["a"] * 90 + ["b"] * 3)
    X = rng.normal(size=(93, 3)) + 5 * (y == "b")[:, None]
    assert "The class “b” has 3 rows only." in cautions(X, y, 1)
    y[:4] = "c"
    assert "2 of 3 classes have fewer than 10 rows, “b” only 3 rows." in cautions(X, y, 1)


def test_warnings_of_the_selection_come_first(rng):
    ids = np.array([f"id {k}" for k in range(60)], dtype=object)
    X = np.empty((60, 2), dtype=object)
    X[:, 0], X[:, 1] = ids, rng.normal(size=60)
    told = cautions(X, np.arange(60) % 2, 1, warns=True, categorical_features=[0])
    assert re.match(r"Categorical column “x0” has 60 levels in 60 rows", told[0])
    assert not any("knows" in words or "`" in words for words in told)
