"""The answer in words."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from orthoselect import select
from orthoselect.errors import SelectionInterrupted, SelectionWarning
from orthoselect.show.summary import summarize


def sentence(X, y, t=2, method="socc", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        path = select(X, y, t, method, **options)
    summary = summarize(path, X, y, sample_weight=options.get("sample_weight"))
    return summary["sentence"]


@pytest.fixture
def table(rng):
    X = rng.normal(size=(100, 3))
    return X, 3 * X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=100)


def test_classes_are_separated():
    data = load_breast_cancer(as_frame=True)
    frame = data.data.assign(diagnosis=data.target_names[data.target])
    path = select(frame, "diagnosis", 10)
    assert summarize(path, frame, "diagnosis")["sentence"] == (
        "10 of 30 features explain 76.0% of what separates the 2 classes of diagnosis; "
        "the first, worst concave points, alone explains 63.0%."
    )
    by_information = summarize(select(frame, "diagnosis", 2, "mim"), frame, "diagnosis")
    assert by_information["sentence"].startswith(
        "2 of 30 features, selected by mim, explain 68.4% of what separates"
    )


def test_variance_is_explained(table):
    X, y = table
    r = np.corrcoef(X[:, 0], y)[0, 1]
    share = f"{100 * r * r:.1f}%"
    assert sentence(X, y, 2).endswith(
        f"of the variance of y; the first, x0, alone explains {share}."
    )
    assert sentence(X, y, 1) == f"1 of 3 features, x0, explains {share} of the variance of y."
    assert sentence(X, y, 1, "lasso") == (
        f"1 of 3 features, x0, selected by lasso, explains {share} of the variance of y."
    )


def test_auto_says_how_many_and_how_sure(table, rng):
    X, y = table
    X = np.hstack([X, rng.normal(size=(100, 5))])
    assert sentence(X, y, "auto").startswith(
        "2 of 8 features, each significant at 0.05 (p <1e-6), explain 97."
    )
    faint = y + 4 * rng.normal(size=100)
    path = select(X, faint, "auto", alpha=0.1)
    assert path.chosen == 2
    assert sentence(X, faint, "auto", alpha=0.1).startswith(
        f"2 of 8 features, each significant at 0.1 (p at most {path.p_values[1]:.2g}), explain "
    )
    assert "significant" not in sentence(X, y, 2)
    assert sentence(X[:, 3:], rng.normal(size=100), "auto") == (
        "None of 5 features was selected: no other feature is significant at 0.05."
    )


@pytest.mark.parametrize(("method", "word"), [("err", "sum of squares"), ("mser", "mean square")])
@pytest.mark.parametrize("weighted", [False, True])
def test_methods_that_center_nothing_explain_squares(method, word, weighted, table, rng):
    X, y = table
    w = rng.integers(1, 5, 100) if weighted else np.ones(100, dtype=int)
    A, b = np.repeat(X[:, :2], w, axis=0), np.repeat(y + 5, w)
    fitted = A @ np.linalg.lstsq(A, b, rcond=None)[0]
    share = (fitted @ fitted) / (b @ b)
    options = {"sample_weight": w} if weighted else {}
    told = sentence(X[:, :2], y + 5, 2, method, **options)
    assert f"explain {100 * share:.1f}% of the {word} of y;" in told


def test_several_responses_are_listed(table):
    X, _ = table
    Y = np.column_stack([X[:, 0] + X[:, 1], X[:, 2] * 1.5])
    assert "of what varies in y0 and y1; the first" in sentence(X, Y, 2)
    labels = np.column_stack([X > 0, X > 1])
    assert "separates the classes of y0, y1, y2 and 3 more;" in sentence(X, labels, 2)


def test_classes_may_be_steps_of_a_scale(table):
    X, y = table
    told = sentence(X, np.digitize(y, [-2, 2]), 1, response_encoding="ordinal")
    assert told.endswith("% of the variance of y, classes taken as steps of a scale.")


def test_a_search_that_stopped_says_why(table):
    X, y = table
    X = np.column_stack([X[:, 0], 2 * X[:, 0]])
    told = sentence(X, y, 2)
    assert told.startswith("1 of 2 features, x0, explains ")
    assert "The search stopped there: every other feature is constant or a linear" in told


def test_an_empty_path_says_why(table):
    _, y = table
    assert sentence(np.ones((100, 3)), y) == (
        "None of 3 features was selected: every feature is constant."
    )


def test_an_interrupted_path_can_be_told(table):
    def interrupt(step, number, size):
        raise KeyboardInterrupt

    X, y = table
    with pytest.raises(SelectionInterrupted) as stopped:
        select(X, y, 3, progress=interrupt)
    told = summarize(stopped.value.path, X, y)["sentence"]
    assert told.endswith("The search was interrupted before it had as many features as asked for.")
