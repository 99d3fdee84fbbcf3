"""OLSd: cut, code, select blocks; against the by-definition twin and the two steps by hand."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

import naive
from orthoselect import MeanStdDiscretizer, OrthogonalSelector, select
from orthoselect.errors import InputError, NonFiniteError, SelectionWarning

pytestmark = pytest.mark.usefixtures("rows_come")


def levels(X, bins, w=None):
    """Cut by definition, column by column."""
    w = np.ones(len(X)) if w is None else w
    out = []
    for x in X.T:
        m = np.average(x, weights=w)
        s = np.sqrt(np.average((x - m) ** 2, weights=w))
        live = x[w > 0]
        cuts = {"mean_std_3": [m - s, m + s], "mean_std_4": [m - s, m, m + s]}.get(bins)
        if cuts is None:
            cuts = np.linspace(live.min(), live.max(), bins + 1)[1:-1]
        out.append(np.digitize(x, cuts) if np.ptp(live) else np.zeros(len(x), int))
    return np.array(out).T


def quietly(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return select(*args, **kwargs)


@pytest.mark.parametrize("bins", ["mean_std_3", "mean_std_4", 5])
@pytest.mark.parametrize("seed", range(60))
def test_selects_as_by_definition(seed, bins):
    rng = np.random.default_rng(seed)
    N, n = int(rng.integers(10, 60)), int(rng.integers(2, 12))
    X = rng.normal(size=(N, n)) * 10.0 ** rng.integers(-3, 4, n)
    if seed % 3 == 0:
        X = X * (rng.random((N, n)) < 0.4)
    if seed % 4 == 0:
        X[:, n // 2] = X[:, 0]
    if seed % 5 == 0:
        X[:, 1] = 3.0
    y = rng.integers(0, 3, N)
    w = rng.integers(0, 3, N).astype(float) if seed % 2 else None
    if w is not None:
        w[:3] = 1.0
    coded = levels(X, bins, w)
    blocks = [naive.one_hot(c) for c in coded.T]
    selected, gains = naive.forward(blocks, naive.one_hot(y), min(n, 4), w)
    options = {"bins": bins, "sample_weight": w, "task": "classification"}
    for stored in (X, sp.csr_array(X)):
        path = quietly(stored, y, min(n, 4), "socc_discretized", **options)
        assert path.features == selected
        assert path.gains == pytest.approx(gains, abs=1e-8)


@pytest.mark.parametrize(
    ("bins", "step"),
    [
        ("mean_std_3", MeanStdDiscretizer(3)),
        ("mean_std_4", MeanStdDiscretizer(4)),
        (6, KBinsDiscretizer(6, strategy="uniform", encode="ordinal", subsample=None)),
    ],
)
def test_is_the_pipeline_of_its_two_steps(bins, step):
    X, y = load_wine(return_X_y=True)
    pipe = make_pipeline(step, OrthogonalSelector(5, categorical_features="all"))
    path = select(X, y, 5, "socc_discretized", bins=bins)
    assert pipe.fit(X, y)[-1].path_.features == path.features
    assert pipe[-1].path_.gains == pytest.approx(path.gains)
    model = make_pipeline(pipe, LinearDiscriminantAnalysis())
    assert cross_val_score(model, X, y, cv=3).min() > 0.7


def test_takes_categorical_columns_groups_and_numbers_as_the_response(rng):
    table = pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd"))
    table["e"] = np.array(["u", "v", "w"])[rng.integers(0, 3, 80)]
    y = (table["b"] > 1) * 2.0 + (table["e"] == "v") * 0.5 + 0.1 * rng.normal(size=80)
    path = select(table, y, 2, "socc_discretized", groups={"pair": ["b", "d"]})
    assert path.names == ["pair", "e"]
    assert path[0].columns == (1, 3)
    cut = levels(table[["a", "b", "c", "d"]].to_numpy(), "mean_std_3")
    hot = [naive.one_hot(c) for c in cut.T]
    both = np.hstack([hot[1], hot[3], naive.one_hot(table["e"])])
    assert path.total == pytest.approx(naive.value(both, y.to_numpy()))


def test_steps_count_where_lines_do_not(rng):
    X = rng.normal(size=(300, 5))
    y = (np.abs(X[:, 3]) > 1).astype(int)
    assert select(X, y, 1, "socc_discretized").features == [3]
    assert select(X, y, 1, "socc_discretized").total > 0.8
    assert select(X, y, 1, "socc").total < 0.1


def test_wrong_bins_and_values_are_named(rng):
    X = rng.normal(size=(30, 3))
    with pytest.raises(InputError, match="`bins` should be 'auto'"):
        select(X, np.arange(30) % 2, 1, "socc_discretized", bins="fine")
    X[3, 1] = np.inf
    with pytest.raises(NonFiniteError, match="`x1` has 1 infinity"):
        select(X, np.arange(30) % 2, 1, "socc_discretized")
