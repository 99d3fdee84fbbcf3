"""Logistic NARX: known terms, probabilities, and honest accuracy."""

import numpy as np
import pytest

from orthoselect import NARX, LaggedTerms, select
from orthoselect.errors import InputError

SMALL = {"y_lags": 2, "u_lags": 2, "degree": 2, "task": "classification"}


def switching(T=1200, seed=0):
    """A class that depends on the class before and a product of inputs."""
    rng = np.random.default_rng(seed)
    u, y = rng.normal(size=T), np.zeros(T, dtype=int)
    for k in range(2, T):
        odds = 3.0 * u[k - 1] * u[k - 2] + 1.5 * (2 * y[k - 1] - 1)
        y[k] = rng.random() < 1 / (1 + np.exp(-odds))
    return u, y


@pytest.mark.parametrize("criterion", ["socc", "obcc", "auto"])
def test_known_terms_come_first(criterion):
    u, y = switching()
    model = NARX(2, criterion=criterion, **SMALL).fit(u, y)
    assert set(model.path_.names) <= {"u(k-1) u(k-2)", "y(k-1)", "y(k-1)^2"}
    assert model.path_.method == ("obcc" if criterion == "obcc" else "socc")


def test_accuracy_stands_beside_that_of_persistence():
    u, y = switching()
    model = NARX(max_terms=6, **SMALL).fit(u, y)
    assert model.accuracy_["one step"] > model.accuracy_["persistence"] + 0.05
    at = np.arange(2, 1200)
    assert model.accuracy_["persistence"] == np.mean(y[at] == y[at - 1])
    assert 0 < model.n_terms_ <= 6
    v, z = switching(seed=1)
    assert model.score(v, z, horizon=1) == pytest.approx(model.accuracy_["one step"], abs=0.05)
    assert model.score(v, z) < model.score(v, z, horizon=1)  # its own classes are less certain
    P = model.predict_proba(v, z, horizon=1)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(v, z, horizon=1), P.argmax(axis=1))
    assert model.equation_.startswith("log-odds of 1(k) = ")


def test_labels_of_classes_that_never_change_have_no_accuracy_of_their_own():
    """A label that mostly stays: one step ahead looks wonderful, and so does persistence."""
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 2, 40), 25)
    model = NARX(1, **SMALL).fit(rng.normal(size=1000), y)
    assert model.accuracy_["one step"] > 0.95
    assert model.accuracy_["one step"] <= model.accuracy_["persistence"] + 0.01


def test_probabilities_are_those_of_the_regression():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    u, y = switching(400)
    for classes in (y, y + (u > 1)):  # two of them, three of them
        model = NARX(2, **SMALL).fit(u, classes)
        A = model._classifier._model.terms_at(
            np.vstack([model._classifier._indicators(classes), u]), np.arange(2, 400)
        )
        regression = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        expected = regression.fit(A, classes[2:]).predict_proba(A)
        found = model.predict_proba(u, classes, horizon=1)[2:]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_three_classes_as_text():
    rng = np.random.default_rng(0)
    u = rng.normal(size=900)
    y = np.array(["low", "middle", "high"])[np.digitize(np.append(0, u[:-1]), [-0.5, 0.5])]
    model = NARX(2, y_lags=1, u_lags=1, degree=2, task="classification").fit(u, y)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert set(model.path_.names) == {"u(k-1)", "u(k-1)^2"}
    assert model.score(u, y) > 0.9
    assert model.predict_proba(u, y).shape == (900, 3)
    assert len(model.equation_.splitlines()) == 3


def test_restarts_use_the_classes_that_were_measured():
    u, y = switching(300)
    model = NARX(3, **SMALL).fit(u, y)
    one, three = (model.predict_proba(u, y, horizon=h) for h in (1, 3))
    np.testing.assert_allclose(three[2::3], one[2::3])


def test_static_terms_by_obcc_are_those_of_socc_once_the_constant_is_in():
    u, y = switching(500)
    terms = LaggedTerms({"y": y * 1.0, "u": u}, "y", "u", lags=2, degree=2)
    asked = {"task": "classification", "n_features_to_select": 4}
    by_socc = select(terms, None, method="socc", **asked).names
    asked["n_features_to_select"] = 5
    assert select(terms, None, method="obcc", include=["1"], **asked).names[1:] == by_socc


def test_bad_input_is_one_clear_line():
    u, y = switching(200)
    with pytest.raises(InputError, match="two classes or more"):
        NARX(**SMALL).fit(u, np.zeros(200, dtype=int))
    with pytest.raises(InputError, match="one column"):
        NARX(**SMALL).fit(u, np.column_stack([y, y]))
    model = NARX(1, **SMALL).fit(u, y)
    with pytest.raises(InputError, match="at least as many rows"):
        model.predict(u, y[:1])
    with pytest.raises(InputError, match="is not one of them"):
        model.predict(u, np.full(200, 7))
    with pytest.raises(InputError, match="classes do not have"):
        model.validate(u, y)
    with pytest.raises(AttributeError):
        NARX().predict_proba(u, y)


@pytest.mark.parametrize(
    "given", [{"criterion": "err"}, {"noise_lags": 1}, {"fit": "free-run"}, {"order": "free-run"}]
)
def test_what_is_for_numbers_is_refused_for_classes(given):
    u, y = switching(200)
    with pytest.raises(InputError, match=f"`{next(iter(given))}=.*is for numbers") as error:
        NARX(**given, **SMALL).fit(u, y)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="`sample_weight` is for numbers"):
        NARX(**SMALL).fit(u, y, sample_weight=np.ones(200))


def test_numbers_that_hardly_repeat_are_no_classes():
    u, _ = switching(500)
    with pytest.raises(InputError, match="classes should repeat; y has 500 distinct values"):
        NARX(**SMALL).fit(u, np.random.default_rng(1).normal(size=500))
    with pytest.raises(InputError, match="pass `task='regression'`"):
        NARX(**SMALL).fit(u, np.round(np.cos(np.arange(500.0)), 1))


@pytest.mark.parametrize("kind", ["nan", "None", "pandas", "text"])
def test_a_missing_class_ends_a_session(kind):
    pd = pytest.importorskip("pandas")
    u, y = switching(400)
    words = [None if k == 150 else f"c{c}" for k, c in enumerate(y)]
    given = {
        "nan": lambda: np.where(np.arange(400) == 150, np.nan, y),
        "None": lambda: [None if k == 150 else int(c) for k, c in enumerate(y)],
        "pandas": lambda: pd.Series(y, dtype="Int64").mask(np.arange(400) == 150),
        "text": lambda: pd.Series(words),
    }[kind]()
    found = NARX(2, **SMALL).fit(u, given)
    keep = np.arange(400) != 150
    expected = NARX(2, **SMALL).fit(u[keep], y[keep], sessions=[150, 249])
    assert len(found.classes_) == 2
    assert found.path_.names == expected.path_.names
    np.testing.assert_allclose(found.coef_, expected.coef_)
