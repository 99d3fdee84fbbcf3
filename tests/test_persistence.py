"""Fitted selectors go into files and come back the same: ONNX, skops, and as HTML in a notebook."""

import importlib
import pickle
import re
import sys
from pathlib import Path

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

PAGE = Path(__file__).parents[1] / "docs/trust.md"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 6)).astype(np.float32)
Y = (X[:, 4] + X[:, 1] + 0.3 * RNG.normal(size=80) > 0).astype(int)
SELECTORS = [
    OrthogonalSelector(2),
    MutualInformationSelector(2),
    SelectorCV(OrthogonalSelector(3), cv=3),
]
OUTSIDE = "not installed; `make test-extras` runs this test"
by_name = pytest.mark.parametrize("selector", SELECTORS, ids=lambda one: type(one).__name__)


@by_name
def test_onnx_computes_what_the_pipeline_does(selector):
    skl2onnx = pytest.importorskip("skl2onnx", reason=f"skl2onnx is {OUTSIDE}")
    runtime = pytest.importorskip("onnxruntime", reason=f"onnxruntime is {OUTSIDE}")
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


def documented_types():
    """Return what docs/trust.md tells readers to trust."""
    return re.findall(r'^    "(orthoselect\..+)",$', PAGE.read_text("utf-8"), re.MULTILINE)


@by_name
def test_skops_keeps_a_fitted_selector(selector):
    io = pytest.importorskip("skops.io", reason=f"skops is {OUTSIDE}")
    fitted = selector.fit(X, Y)
    stored = io.dumps(fitted)
    assert set(io.get_untrusted_types(data=stored)) <= set(documented_types())
    again = io.loads(stored, trusted=documented_types())
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    assert again.path_ == fitted.path_


def test_the_types_that_the_docs_trust_exist():
    assert len(documented_types()) > 5
    for name in documented_types():
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(importlib.import_module(module), kind), type)


def test_a_pickled_comparison_holds_what_was_given_and_answers_alike():
    scores = SelectorCV(OrthogonalSelector(3), cv=3).fit(X, Y).path_.size_scores
    points = scores.points  # which are made once, and kept
    assert pickle.loads(pickle.dumps(scores)).points == points


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
