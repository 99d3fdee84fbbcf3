"""Channels are groups of columns, and nothing but that."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from orthoselect import ChannelSelector, select
from orthoselect.errors import (
    InputError,
    SelectionWarning,
    ShapeError,
    TooManyRequestedWarning,
)
from orthoselect.read.panel import SUMMARIES, summarize


def panel(seed=0, cases=60, times=30):
    """Six channels: 1 and 4 tell the class, 5 repeats 1, 3 is constant; the others are noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(cases) % 3
    X = rng.normal(size=(cases, 6, times))
    X[:, 1] *= 1.0 + (y == 1)[:, None]
    X[:, 4] += np.outer(y == 2, np.linspace(-1, 1, times))
    X[:, 5] = 2.0 * X[:, 1] + 1.0
    X[:, 3] = 7.1
    return X, y


def by_hand(x):
    """Seven summaries of one series, one after the other."""
    T, t = len(x), np.arange(len(x))
    line = np.polyfit(t, x, 1)
    d = x - np.mean(x)
    lag = sum(d[i] * d[i - 1] for i in range(1, T)) / sum(d * d)
    rough = np.sqrt(np.mean([(x[i] - x[i - 1]) ** 2 for i in range(1, T)]))
    return [np.mean(x), np.std(x), min(x), max(x), line[0], lag, rough]


def test_summaries_are_those_of_each_series():
    X, _ = panel()
    values, names = summarize(X[:, 4])
    assert tuple(names) == SUMMARIES
    np.testing.assert_allclose(values, [by_hand(x) for x in X[:, 4]], atol=1e-12)


@pytest.mark.parametrize("method", ["socc", "socc_discretized"])
def test_a_path_of_channels_is_that_of_groups_of_their_summaries(method):
    X, y = panel()
    names = ["a", "b", "c", "still", "d", "e"]
    path = select(X, y, 3, method, represent="summaries", channel_names=names, exclude=["a"])
    columns = np.hstack([summarize(X[:, c])[0] for c in range(6)])
    groups = {name: list(range(7 * c, 7 * c + 7)) for c, name in enumerate(names)}
    theirs = select(columns, y, 3, method, groups=groups, exclude=list(range(7)))
    assert path.names == theirs.names
    assert path.gains == theirs.gains
    assert path.features == [names.index(name) for name in path.names]
    assert path[0].columns == (path[0].feature,)


def test_a_copy_and_a_constant_channel_are_never_chosen():
    X, y = panel()
    path = select(X, y, 2, represent="summaries")
    assert path.names == ["channel 1", "channel 4"]
    with pytest.warns(UserWarning, match="no rank is left"):
        every = select(X, y, 6, represent="summaries")
    assert 3 not in every.features
    assert len({1, 5} & set(every.features)) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_summaries_that_normalization_made_alike_do_not_count(dtype):
    """Means of normalized series are rounding errors, which would look like any other column."""
    X, _ = panel(cases=300)
    X = np.delete(X, 3, axis=1)
    Z = (X - X.mean(axis=2, keepdims=True)) / X.std(axis=2, keepdims=True)
    values, _ = summarize(Z[:, 0].astype(dtype).astype(float), float(np.finfo(dtype).eps))
    assert (np.ptp(values, axis=0) == 0).tolist() == [True, True, *[False] * 5]
    y = np.random.default_rng(0).normal(size=300)
    ours = select(Z.astype(dtype), y, 3, represent="summaries")
    theirs = select(Z.astype(dtype), y, 3, represent=lambda x: summarize(x)[0][:, 2:])
    assert ours.features == theirs.features
    np.testing.assert_allclose(ours.gains, theirs.gains, rtol=1e-9)


def test_segments_and_functions_represent_channels_too():
    X, y = panel()
    path = select(X, y, 1, represent="segments")
    assert path.features == [4]
    ours = select(X, y, 2, represent=lambda x: x.std(axis=1))
    assert ours.features[0] in (1, 5)
    assert select(X, y, 1, represent=lambda x: x[:, :3], include=[2]).features == [2]


def test_the_selector_selects_and_transforms():
    X, y = panel()
    selector = ChannelSelector(channel_names=list("abcdef"))
    with pytest.raises(NotFittedError):
        selector.transform(X)
    assert selector.fit(X, y) is selector
    assert selector.channels_selected_ == [1, 4]
    assert selector.path_.names[:2] == ["b", "e"]
    np.testing.assert_array_equal(selector.transform(X), X[:, [1, 4]])
    assert clone(selector).get_params() == selector.get_params()
    assert ChannelSelector(1).fit(list(X), y).channels_selected_ == [1]
    with pytest.raises(ShapeError, match=r"shape \(cases, 6, times\), as in `fit`"):
        selector.transform(X[:, :2])


def test_searches_of_sets_name_channels():
    X, y = panel()
    path = select(X, y, 2, represent="summaries", search="swap")
    assert path.features == [1, 4]
    assert path.by_size[-1].features == (1, 4)


def nan(X):
    X = X.copy()
    X[3, 2, 5] = np.nan
    return X


BAD = {
    "got shapes (6, 25) and (6, 30). Cut or pad": lambda X: [*X[:5, :, :25], *X[5:]],
    "1 are NaN or infinite, the first in case 3, channel `channel 2`, time 5. Fill": nan,
    "(cases, channels, times); got shape (60, 30). One channel alone": lambda X: X[:, 0],
    "all cases should have as many channels and times. Cut": lambda X: [
        [c[: 5 + i] for i, c in enumerate(case)] for case in X
    ],
    "two times at least; got 60 case(s), 6 channel(s) and 1 time(s)": lambda X: X[:, :, :1],
    "two cases, a channel and two times at least; got 0 case(s)": lambda X: X[:0],
    "should hold numbers": lambda X: X.astype(str),
}


@pytest.mark.parametrize("words", BAD)
def test_bad_panels_are_one_clear_line(words):
    X, y = panel()
    with pytest.raises(InputError) as error:
        select(BAD[words](X), y, 1, represent="summaries")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_options_that_mean_nothing_here_are_refused():
    X, y = panel()
    for words, asked in {
        "`represent` should be one of 'summaries', 'segments'": {"represent": "spectra"},
        "it made float64 of shape (3, 30)": {"represent": lambda x: x[:3]},
        "it made float64 of shape (60, 0)": {"represent": lambda x: x[:, :0]},
        "it made object of shape ()": {"represent": lambda x: None},
        "it made rows of unlike lengths": {"represent": lambda x: [[1], [1, 2]]},
        "finite numbers of each channel; of `channel 0` 60 of 60": {
            "represent": lambda x: x.mean(axis=1) * np.nan
        },
        "should be a list of names; got 'abcdef'": {
            "represent": "summaries",
            "channel_names": "abcdef",
        },
        "does not apply to a panel": {"represent": "summaries", "categorical_features": [1]},
        "series have no columns to name": {"represent": "summaries", "sample_weight": "w"},
        "`groups` are the channels": {"represent": "summaries", "groups": {"a": [0]}},
        "6 different names": {"represent": "summaries", "channel_names": ["a", "b"]},
        "pass `represent='summaries'`": {},
    }.items():
        with pytest.raises(InputError) as error:
            select(X, y, 1, **asked)
        assert words in str(error.value)
    with pytest.raises(InputError, match="goes with `represent`"):
        select(X[:, :, 0], y, 1, channel_names=list("abcdef"))


def test_more_channels_than_there_are_is_told_of_the_argument(rng):
    X, y = rng.normal(size=(30, 3, 12)), rng.integers(0, 2, 30)
    with pytest.warns(TooManyRequestedWarning, match="`n_channels` is 9, but there are 3 channels"):
        ChannelSelector(9).fit(X, y)


def test_scale_does_not_matter_however_large_or_small():
    X, y = panel()
    values = summarize(X[:, 1])[0]
    with_unit = np.arange(7) != 5
    for exponent in (-700, 0, 900):
        scaled = summarize(np.ldexp(X[:, 1], exponent))[0]
        same = np.where(with_unit, np.ldexp(values, exponent), values)
        np.testing.assert_array_equal(scaled, same)
        path = select(np.ldexp(X, exponent), y, 2, represent="summaries")
        assert path.features == [1, 4]


def test_without_a_target_channels_explain_each_other():
    X, y = panel()
    path = select(X, None, 2, method="unsupervised", represent="summaries")
    selector = ChannelSelector(2, criterion="unsupervised").fit(X)
    assert selector.channels_selected_ == path.features
    assert selector.fit(X, y).path_ == path
    assert not selector.__sklearn_tags__().target_tags.required
    assert ChannelSelector().__sklearn_tags__().target_tags.required


OWN = {
    "`n_channels` should be a whole number of at least 1, a fraction": {"n_channels": 0},
    "'auto' or 'cv'; got 'many'": {"n_channels": "many"},
    "`criterion` should be one of 'socc', 'socc_discretized'": {"criterion": "lasso"},
    "`n_channels='auto'` is for methods whose gains can be tested": {"criterion": "jmi"},
    "`n_channels='auto'` tests one feature after the other": {"search": "swap"},
    "come with `n_channels='auto'`: only": {"n_channels": 2, "alpha": 0.01},
    "got criterion 'jmi'": {"criterion": "jmi"},
    "`n_channels='auto'` tests features against a target; criterion 'unsupervised'": {
        "criterion": "unsupervised"
    },
    "requires y to be passed": {"y": None},
    "`y` should hold a value for each case; got the name 'a'": {"y": "a"},
    "(the target, 20 missing of 60). Fill them, or drop those cases.": {
        "y": np.where(np.arange(60) % 3, np.arange(60.0) % 2, np.nan)
    },
    "Choose another `y`": {"y": np.ones(60)},
}


@pytest.mark.parametrize("words", OWN)
def test_the_selector_speaks_of_its_own_parameters(words):
    X, y = panel()
    given = dict(OWN[words])
    y = given.pop("y", y)
    with pytest.raises(InputError) as error:
        ChannelSelector(**given).fit(X, y)
    assert words in str(error.value)
    assert "n_features_to_select" not in str(error.value)
    assert "method '" not in str(error.value)


def test_warnings_speak_of_the_selectors_parameters_too(rng):
    X, y = rng.normal(size=(60, 3, 12)), np.arange(60) % 2
    X[:, 0] *= 1 + y[:, None]
    with pytest.warns(SelectionWarning) as caught:
        ChannelSelector(np.int64(9)).fit(X, y)
    assert any("`n_channels` is 9" in str(each.message) for each in caught)
    assert not any("n_features_to_select" in str(each.message) for each in caught)
    assert caught[0].filename == __file__
