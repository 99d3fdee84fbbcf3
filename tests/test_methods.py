"""The registry of methods, and how `select` hands options on."""

import inspect

import numpy as np
import pytest

import orthoselect
from orthoselect import MeanStdDiscretizer, select
from orthoselect.errors import ConstantTargetError, InputError, SearchStoppedWarning
from orthoselect.methods import GENERAL, METHODS


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 5))


@pytest.fixture
def y(X):
    return (X[:, 2] + X[:, 0] > 0).astype(int)


def target_of(name, y):
    """The target, if the method has one."""
    return y if METHODS[name].needs_target else None


def test_is_public():
    assert orthoselect.methods.METHODS is METHODS


@pytest.mark.parametrize("name", METHODS)
def test_every_method_selects_under_its_name(X, y, name):
    X = np.round(X)
    path = select(X, target_of(name, y), 3, method=name)
    assert path.method == name
    assert len(path) == 3
    assert len(set(path.features)) == 3
    assert path.features[0] in (0, 2) or not METHODS[name].needs_target


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_what_it_is(name):
    method = METHODS[name]
    assert method.name == method.make().name == name
    assert method.takes <= set(GENERAL)
    assert "\n" not in method.summary
    assert "https://" in method.source
    for part in (name, method.summary, method.source, *method.options):
        assert part in repr(method)
    assert method.summary in repr(METHODS)
    assert f"<td>{name}</td>" in METHODS._repr_html_()


def test_general_options_are_those_of_select_with_the_same_defaults():
    parameters = inspect.signature(select).parameters
    assert {name: parameters[name].default for name in GENERAL} == GENERAL


@pytest.mark.parametrize("name", METHODS)
def test_options_that_a_method_does_not_take_are_refused(X, y, name):
    given = {
        "task": "classification",
        "response_encoding": "ordinal",
        "categorical_features": [0],
        "groups": {"a": [0, 1]},
        "sample_weight": np.ones(40),
    }
    for option in set(GENERAL) - METHODS[name].takes:
        with pytest.raises(InputError, match=f"{name!r} does not take `{option}`"):
            select(X, target_of(name, y), 2, method=name, **{option: given[option]})
        select(np.round(X), target_of(name, y), 2, method=name, **{option: GENERAL[option]})


@pytest.mark.parametrize("name", METHODS)
def test_unknown_options_name_those_it_takes(X, y, name):
    with pytest.raises(InputError, match="has no option `colour`") as raised:
        select(X, target_of(name, y), 2, method=name, colour="red")
    for option in [*METHODS[name].takes, *METHODS[name].options]:
        assert f"`{option}`" in str(raised.value)


@pytest.mark.parametrize("name", METHODS)
def test_columns_of_labels_are_taken_or_refused_by_name(y, X, name):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(np.round(X)).set_axis(list("abcde"), axis=1)
    table["color"] = np.array(["red", "green"])[y]
    if "categorical_features" in METHODS[name].takes:
        path = select(table, target_of(name, y), 1, method=name)
        assert path.names == ["color"] or not METHODS[name].needs_target
    else:
        with pytest.raises(InputError, match=f"{name!r} takes columns of numbers; `color` holds"):
            select(table, y, 2, method=name)
        assert select(table, y, 1, method=name, exclude="color").names == ["c"]


def test_unknown_methods_list_the_known_and_ask_for_the_nearest(X, y):
    with pytest.raises(InputError, match=r"should be one of 'socc'.*; got 'soc': did.*`socc`"):
        select(X, y, 2, method="soc")


@pytest.mark.parametrize("method", ["jmi", "socc_discretized"])
@pytest.mark.parametrize("n_bins", [3, 4])
def test_weights_count_as_copies_for_a_discretizer_too(method, n_bins, rng):
    X, y = rng.normal(size=(60, 5)) ** 3, rng.integers(0, 3, 60)
    w = rng.integers(0, 4, 60)
    cut = MeanStdDiscretizer(n_bins)
    weighted = select(X, y, 4, method, bins=cut, sample_weight=w)
    copied = select(np.repeat(X, w, axis=0), np.repeat(y, w), 4, method, bins=cut)
    named = select(X, y, 4, method, bins=f"mean_std_{n_bins}", sample_weight=w)
    assert weighted.features == copied.features == named.features
    np.testing.assert_allclose(weighted.gains, copied.gains, rtol=1e-9)
    with pytest.raises(InputError, match="these are not whole"):
        select(X, y, 4, method, bins=cut, sample_weight=w + 0.5)


@pytest.mark.parametrize("method", ["socc", "socc_discretized", "obcc", "lasso", "shapley", "mim"])
def test_one_class_is_an_error(method, rng):
    X = rng.integers(0, 3, (20, 4))
    with pytest.raises(ConstantTargetError, match=r"every row has 0\."):
        select(X, np.zeros(20), 2, method)


def test_as_many_classes_as_rows_leave_no_model():
    with pytest.warns(SearchStoppedWarning, match="as many classes as rows"):
        select([[0.0, 1.0], [1.0, 0.0]], [0, 1], 1, "shapley")


def test_no_categorical_columns_is_what_methods_of_numbers_take(rng):
    X, y = rng.normal(size=(30, 4)), rng.integers(0, 2, 30)
    assert select(X, y, 2, "err", categorical_features=None) == select(X, y, 2, "err")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MRMR", "`mrmr_difference`, `mrmr_quotient`"),
        ("mrmr", "`mrmr_difference`, `mrmr_quotient`"),
        ("MRMR_difference", "`mrmr_difference`"),
        ("mutual information", "`mim`"),
        ("pearson", "`socc`"),
        ("elastic-net", "`elastic_net`"),
        ("shap", "`shapley`"),
    ],
)
def test_usual_names_find_their_methods(name, meant):
    with pytest.raises(InputError, match=rf"got '{name}': did you mean {meant}\?"):
        select(np.eye(3), [0, 1, 0], 1, name)


@pytest.mark.parametrize("name", ["k", "n", "n_features"])
def test_other_names_of_the_count_are_answered(name):
    with pytest.raises(InputError, match=f"no option `{name}`.*is `n_features_to_select`"):
        select(np.eye(3), [0, 1, 0], **{name: 1})


def test_a_given_penalty_leaves_no_grid(rng):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    for option in ({"n_penalties": 7}, {"eps": 0.5}):
        with pytest.raises(InputError, match="there is none"):
            select(X, y, 2, "lasso", ranking="coefficients", penalty=0.01, **option)


def test_a_solver_that_fails_says_what_to_do(rng):
    X, y = rng.normal(size=(30, 4)), rng.integers(0, 2, 30)
    with pytest.raises(InputError, match="Use `solver='svd'`"):
        select(np.hstack([X, X]), y, 2, "shapley", solver="eigen")


def test_numbers_at_the_ends_of_the_range_are_coded_in_silence():
    X = np.array([[1, 1e308], [2, -1e308], [1, 2], [1, 9]] * 5)
    assert select(X, [0, 1, 0, 1] * 5, 2, "jmi").features[0] == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_features_to_select": -3}, "n_features_to_select"),
        ({"method": "nope"}, "method"),
        ({"missing": "zero"}, "missing"),
        ({"search": "luck"}, "search"),
        ({"adjust": "luck"}, "adjust"),
        ({"task": "luck"}, "task"),
        ({"dates": "luck"}, "dates"),
        ({"response_encoding": "luck"}, "response_encoding"),
        ({"k": 3}, "k"),
    ],
)
def test_what_is_wrong_with_arguments_comes_before_what_is_wrong_with_data(options, said):
    """Else a user mends the data first, and is told of the argument then."""
    X = np.array([[np.nan, 1.0], [np.inf, 2.0], [3.0, 4.0]])
    with pytest.raises(InputError, match=f"`{said}`"):
        select(X, [1, 1, 1], **options)
