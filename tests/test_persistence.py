"""Fitted selectors go into files and come back the same: ONNX, skops, and as HTML in a notebook."""

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from orthoselect import (
    NARX,
    GramStatistics,
    MeanStdDiscretizer,
    MutualInformationSelector,
    OrthogonalSelector,
    SelectorCV,
)
from orthoselect.errors import InputError
from orthoselect.onnx import register_onnx_converters

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 6)).astype(np.float32)
Y = (X[:, 4] + X[:, 1] + 0.3 * RNG.normal(size=80) > 0).astype(int)
SELECTORS = [
    OrthogonalSelector(2),
    MutualInformationSelector(2),
    SelectorCV(OrthogonalSelector(3), cv=3),
]
by_name = pytest.mark.parametrize("selector", SELECTORS, ids=lambda one: type(one).__name__)


@by_name
def test_onnx_computes_what_the_pipeline_does(selector):
    skl2onnx, runtime = map(pytest.importorskip, ("skl2onnx", "onnxruntime"))
    register_onnx_converters()
    model = make_pipeline(StandardScaler(), selector, LogisticRegression()).fit(X, Y)
    for fitted in (model, model[:-1]):
        made = skl2onnx.to_onnx(fitted, X[:1], options={"zipmap": False} if fitted is model else {})
        found = runtime.InferenceSession(made.SerializeToString()).run(None, {"X": X})
        if fitted is model:
            np.testing.assert_array_equal(found[0], model.predict(X))
            np.testing.assert_allclose(found[1], model.predict_proba(X), atol=1e-5)
        else:
            np.testing.assert_allclose(found[0], fitted.transform(X), atol=1e-5)


def test_without_skl2onnx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(InputError, match=r"pip install 'orthoselect\[onnx\]'"):
        register_onnx_converters()


@pytest.mark.parametrize("selector", SELECTORS[:2], ids=lambda one: type(one).__name__)
def test_skops_keeps_a_fitted_selector(selector):
    io = pytest.importorskip("skops.io")
    fitted = selector.fit(X, Y)
    stored = io.dumps(fitted)
    trusted = io.get_untrusted_types(data=stored)
    assert all(name.startswith(("orthoselect.", "numpy.")) for name in trusted), trusted
    again = io.loads(stored, trusted=trusted)
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    assert again.path_.names == fitted.path_.names


@pytest.mark.parametrize(
    "estimator", [*SELECTORS, NARX(), MeanStdDiscretizer()], ids=lambda one: type(one).__name__
)
def test_estimators_are_drawn_in_notebooks(estimator):
    page = make_pipeline(estimator)._repr_html_() + estimator._repr_html_()
    assert page.count(type(estimator).__name__) >= 2


def test_statistics_need_no_pickle(tmp_path):
    kept = GramStatistics.of(X, Y)
    kept.save(tmp_path / "kept.npz")
    assert GramStatistics.load(tmp_path / "kept.npz").select(2).names == kept.select(2).names
