"""Messages: what was expected, what was found, what to do; and they survive a pickle."""

import copy
import pickle
import warnings

import numpy as np
import pytest

from orthoselect import (
    OrthogonalSelector,
    SelectionPath,
    SelectionStep,
    SelectorCV,
    compare,
    errors,
    select,
)
from orthoselect.errors import (
    ComparisonInterrupted,
    CutShortWarning,
    DivergedWarning,
    DoubtfulOrderWarning,
    FormulaWarning,
    GapsError,
    InputError,
    LeftOutWarning,
    LooksNumericWarning,
    ManyLevelsWarning,
    MissingValueError,
    NoBetterThanNoneWarning,
    NoMoreThanChanceWarning,
    NonFiniteError,
    NothingSignificantWarning,
    NotSettledWarning,
    OversampledWarning,
    RareColumnsWarning,
    ReadAsNumbersWarning,
    ReadAsQuantityWarning,
    RowsDroppedWarning,
    SearchStoppedWarning,
    SelectionInterrupted,
    SelectionWarning,
    ShapeError,
    StabilityInterrupted,
    TooManyRequestedWarning,
    UncutNumbersWarning,
    UnknownColumnError,
    listing,
)
from orthoselect.search import ForwardSearch


def path():
    step = SelectionStep(1, "b", 0.5, 0.5, (1,))
    return SelectionPath([step], method="socc", ceiling=1.0, n_candidates=2)


EXAMPLES = [
    InputError("something"),
    ShapeError("something"),
    UnknownColumnError("include", ["agee"], ["age", "height"]),
    NonFiniteError({"age": (2, 1), "height": (1, 0)}),
    MissingValueError("column `age`", 3, "Drop those rows."),
    GapsError({"age": (2, 0), "size": (3, 1)}, 40, roles={"size": "the target"}),
    SearchStoppedWarning(1, 2, "no rank is left."),
    TooManyRequestedWarning(9, 4),
    NoMoreThanChanceWarning(3, "town"),
    NothingSignificantWarning(0.05, 0.3, "town"),
    NoBetterThanNoneWarning(2, "R squared", "-0.16 ± 0.05", "-0.08 ± 0.04"),
    RareColumnsWarning(["town"]),
    OversampledWarning("y(k-1)", 0.9999996, True),
    DoubtfulOrderWarning("bic", 18, 40, 120),
    errors.GapsInPastWarning([20, 40], 3),
    errors.InfiniteSignalError("u", 2, 7),
    DivergedWarning([120, 300], 4, 1e3),
    NotSettledWarning(40, 0.02),
    ReadAsQuantityWarning("y", "30"),
    errors.ReadAsClassesWarning("y", [0, 1, 7]),
    errors.ReadAsNamesWarning("y", 253, 340, 166),
    errors.OneRowClassWarning("y", ["c"]),
    errors.ConstantTargetError("y", 7),
    ManyLevelsWarning("column `id`", 39, 40),
    UncutNumbersWarning("price", 39, 40, 2),
    LeftOutWarning({"id": "identifier", "when": "dates"}, "Name them to keep them."),
    LooksNumericWarning({"price": (30, 31, "1,200"), "share": (31, 31, "12%")}),
    ReadAsNumbersWarning({"price": "1,200", "share": "12%"}),
    CutShortWarning("t.svm", "1:0."),
    FormulaWarning("t.csv", 2, "=1+1"),
    RowsDroppedWarning(3, 40, ""),
    SelectionInterrupted(path()),
    ComparisonInterrupted(["what was done"], 2, 10),
    StabilityInterrupted(["what was done"], 2, 10),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: type(e).__name__)
def test_errors_survive_a_pickle(error):
    """Else a worker process that raises one hangs or breaks its pool."""
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
    if isinstance(error, SelectionInterrupted):
        assert pickle.loads(pickle.dumps(error)).path == error.path
    if isinstance(error, ComparisonInterrupted):
        assert pickle.loads(pickle.dumps(error)).comparison == error.comparison
    if isinstance(error, StabilityInterrupted):
        assert pickle.loads(pickle.dumps(error)).stability == error.stability


def test_every_class_has_an_example():
    ours = {
        value
        for name, value in vars(errors).items()
        if isinstance(value, type)
        and value.__module__ == errors.__name__
        and not name.startswith("_")
    }
    assert ours - {type(error) for error in EXAMPLES} == {SelectionWarning}


def test_kinds_of_errors():
    for error in EXAMPLES[:6]:
        assert isinstance(error, ValueError)
        assert isinstance(error, InputError)
    for error in EXAMPLES[6:10]:
        assert isinstance(error, SelectionWarning)
        assert isinstance(error, UserWarning)


def test_listing_shows_a_few():
    assert listing([]) == ""
    assert listing(["a"]) == "`a`"
    assert listing("abcde") == "`a`, `b`, `c`, `d`, `e`"
    assert listing(range(1000)) == "`0`, `1`, `2`, `3`, `4` and 995 more"


def test_unknown_columns_suggest_each_near_name_once():
    error = UnknownColumnError("include", ["agee", "ages"], ["age", "height"])
    assert str(error).count("`age`") == 1


def test_non_finite_names_the_first_column_and_the_number_of_others():
    assert "`age` has 2 NaN and 1 infinity" in str(EXAMPLES[3])
    assert "1 more column" in str(EXAMPLES[3])
    assert "more" not in str(NonFiniteError({"age": (0, 2)}))


def raised(X, y, **options):
    with pytest.raises(InputError) as caught:
        select(X, y, 2, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    "provoke",
    [
        lambda X, y: raised(np.where(X > 2, np.nan, X), y),
        lambda X, y: raised(X[:, 0], y),
        lambda X, y: raised(X, y[:-1]),
        lambda X, y: raised(X, None),
        lambda X, y: raised(X, np.where(y, np.nan, 0.5)),
        lambda X, y: raised(X, y, include=[99]),
        lambda X, y: raised(X, y, task="classify"),
        lambda X, y: raised(X, y, groups={"g": []}),
        lambda X, y: raised(X, y, include=[0], exclude=[0]),
        lambda X, y: raised(X, y, sample_weight=-np.ones(len(y))),
        lambda X, y: raised(np.full(X.shape, "a"), y, categorical_features=None, exclude=[0]),
    ],
)
def test_messages_are_sentences_of_one_line(provoke, rng):
    X = rng.normal(size=(40, 4))
    X[0] = 3.0
    message = provoke(X, (X[:, 0] > 0).astype(int))
    assert "\n" not in message
    assert message.rstrip().endswith((".", "?"))
    assert len(message) < 400
    assert "should" in message or "requires" in message


def test_warnings_point_at_the_caller(rng):
    """The line that is shown is the user's own."""
    X = rng.normal(size=(30, 3))
    X[:, 2] = 1.0
    text = np.array([f"r{k}" for k in range(30)], dtype=object)
    for call in (
        lambda: select(X, np.arange(30) % 2, 9),
        lambda: OrthogonalSelector(9).fit(X, np.arange(30) % 2),
        lambda: select(X, np.arange(30), 1),
        lambda: select(np.c_[X.astype(object), text], np.arange(30) % 2, 1),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert caught
        assert [w.filename for w in caught] == [__file__] * len(caught)


def test_interrupted_search_keeps_the_steps_made(rng, monkeypatch):
    X = rng.normal(size=(30, 5))
    run = ForwardSearch.run

    def interrupted(*args):
        for number, taken in enumerate(run(*args)):
            if number == 2:
                raise KeyboardInterrupt
            yield taken

    whole = select(X, X[:, 0] + rng.normal(size=30), 4)
    monkeypatch.setattr(ForwardSearch, "run", interrupted)
    rng = np.random.default_rng(20220301)
    X = rng.normal(size=(30, 5))
    with pytest.raises(SelectionInterrupted, match="after 2 feature") as caught:
        select(X, X[:, 0] + rng.normal(size=30), 4)
    assert caught.value.path.features == whole.features[:2]
    assert caught.value.path.stopped == "interrupted."
    assert isinstance(caught.value, KeyboardInterrupt)


@pytest.mark.parametrize("name", ["x" * 100_000, "a b " * 50_000, "ü" * 400])
def test_messages_about_endless_names_can_be_read(name, rng):
    with pytest.raises(InputError) as caught:
        select(rng.normal(size=(10, 3)), rng.normal(size=10), include=[name])
    words = str(caught.value)
    assert len(words) < 1_000
    assert name[:50] in words
    assert "..." in words


def test_lists_of_names_are_not_cut():
    with pytest.raises(InputError) as caught:
        select(np.eye(9), np.arange(9) % 2, 1, method="mrm")
    assert "..." not in str(caught.value)
    assert str(caught.value).endswith("did you mean `mrmr_difference`, `mrmr_quotient`?")
    long = "x" * 300
    assert errors.shortened(f"`a` and `{long}` of {long}") == (
        f"`a` and `{'x' * 120}...{'x' * 57}` of {'x' * 120}...{'x' * 57}"
    )
    assert errors.shortened(f"`a` {'word ' * 60}`b`") == f"`a` {'word ' * 60}`b`"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: compare(np.eye(9), np.arange(9) % 2, n_features=3), r"are `sizes`"),
        (lambda: compare(np.eye(9), np.arange(9) % 2, k=3), "`compare` has no argument `k`"),
        (lambda: compare(np.eye(9), np.arange(9) % 2, cv=3), "of folds is `folds`"),
        (lambda: compare(np.eye(9), np.arange(9) % 2, fold=3), "did you mean `folds`"),
        (lambda: compare(np.eye(9), np.arange(9) % 2, zzz=3), "`zzz`: it takes `data`, `target`"),
        (lambda: OrthogonalSelector(k=3), "`OrthogonalSelector` has no argument `k`: how many"),
        (lambda: OrthogonalSelector(n_features=3), "is `n_features_to_select`"),
        (lambda: OrthogonalSelector(zzz=3), "it takes `n_features_to_select`"),
        (lambda: SelectorCV(top_k=3), "`SelectorCV` has no argument `top_k`"),
    ],
)
def test_arguments_under_other_names_are_told_the_right_one(call, words):
    with pytest.raises(InputError, match=words):
        call()
