"""Figures of sysidentpy: published ones, which need the data sets, and those of a made record."""

import os
from pathlib import Path

import numpy as np
import pytest

from orthoselect import NARX, LaggedTerms, select


@pytest.fixture
def load():
    folder = os.environ.get("ORTHOSELECT_DATA")
    if not folder:
        pytest.skip("ORTHOSELECT_DATA is not set: it names the folder of the real data sets")

    def load(name):
        file = Path(folder) / f"{name}.npz"
        if not file.is_file():
            pytest.skip(f"{file.name} is not in the folder of the real data sets")
        return np.load(file)

    return load


# sysidentpy has its generator from x_cc.csv and y_cc.csv, files without a header, which it calls
# `pd.read_csv` on: the first sample becomes a name, and every 500th row is one later than every
# 500th sample. `generator_later.npz` has u and y of these rows, `generator.npz` those of every
# 500th sample. Where the page has a square of the input, which has two levels, the input itself
# does as well and is first.
GENERATOR = {
    "y(k-1)": 9.86000310e-01, "u(k-1)": 7.94813324e-03, "y(k-2)^2": 2.50921747e-03,
    "y(k-1) u(k-1)": 1.43297462e-03, "y(k-2)": 1.02774988e-03, "y(k-2) u(k-1)": 5.35195948e-04,
    "y(k-1) y(k-3)": 3.46258211e-04, "u(k-4)": 6.91218347e-05, "y(k-3) u(k-1)": 2.83751722e-05,
    "y(k-1) y(k-4)": 2.01620114e-05, "u(k-1) u(k-4)": 1.09189469e-05,
    "y(k-2) y(k-4)": 1.27131624e-05, "y(k-1) u(k-5)": 6.53111914e-06,
    "u(k-2) u(k-3)": 4.24331903e-06, "u(k-1) u(k-2)": 6.41299982e-06, "u(k-3)": 6.43059002e-06,
    "y(k-5) u(k-1)": 2.76577885e-06, "y(k-1) u(k-3)": 2.79523223e-06,
    "y(k-1) u(k-4)": 1.62218750e-06, "1": 1.13359933e-06,
}  # fmt: skip


def in_digits(names, gains):
    return [f"{name} {gain:.8e}" for name, gain in zip(names, gains)]


def test_generator_has_the_terms_and_all_digits_of_sysidentpys_page(load):
    data = {name: values[:500] for name, values in load("generator_later").items()}
    path = select(LaggedTerms(data, "y", "u", lags=5, degree=2, delay=1), None, 20, "err")
    assert in_digits(path.names, path.gains) == in_digits(GENERATOR, GENERATOR.values())


def made_generator():
    """A record like the generator's: two levels of the input, and an output far from zero."""
    rng = np.random.default_rng(0)
    u, y = np.where(rng.random(505) < 0.5, 0.0, 2.0), np.full(505, -143.8)
    for k in range(2, 505):
        past = 1.2 * y[k - 1] - 0.3 * y[k - 2] + 0.0008 * (y[k - 1] ** 2 - 143.8**2) - 14.38
        y[k] = past + (12 + 0.03 * y[k - 2]) * u[k - 1] + 0.4 * rng.normal()
    return {"u": u[5:], "y": y[5:].round(2)}


# By FROLS of sysidentpy 0.9.0 (lags 5, degree 2, 12 terms). Its ninth term is u(k-1)^2, which for
# two levels is 2 u(k-1), taken already: rounding alone, from there on we differ.
MADE = {
    "y(k-1)": 9.93229369e-01, "y(k-2) u(k-1)": 5.73036041e-03, "y(k-1) y(k-2)": 8.13208019e-04,
    "u(k-1)": 1.56720686e-04, "1": 4.41919890e-05, "y(k-2)": 1.49856444e-05,
    "y(k-1)^2": 2.29298774e-07, "y(k-2)^2": 1.46447160e-07,
}  # fmt: skip


def test_a_made_record_has_the_terms_and_all_digits_of_sysidentpy():
    terms = LaggedTerms(made_generator(), "y", "u", lags=5, degree=2, delay=1)
    path = select(terms, None, 12, "err")
    assert in_digits(path.names[:8], path.gains[:8]) == in_digits(MADE, MADE.values())
    # Of the input and its square, which are one column but for a factor, one is taken at most.
    for lag in range(1, 6):
        assert len({f"u(k-{lag})", f"u(k-{lag})^2"} & set(path.names)) <= 1


def test_generator_a_sample_earlier_has_the_same_terms(load):
    data = {name: values[:500] for name, values in load("generator").items()}
    path = select(LaggedTerms(data, "y", "u", lags=5, degree=2, delay=1), None, 20, "err")
    assert set(path.names) == set(GENERATOR)


def multisine(record):
    """The official split: rows to train and rows to test on."""
    cut = 40650 + int(0.75 * (127400 - 40650))
    return [(record["u"][a:b], record["y"][a:b]) for a, b in ((40650, cut), (cut, 127400))]


def test_silverbox_by_sysidentpys_candidates_has_its_error(load):
    (u, y), (v, z) = multisine(load("silverbox"))
    how = {"y_lags": 7, "u_lags": 7, "delay": 1, "degree": 2, "search": "forward"}
    path = NARX(10, **how).fit(u, y).path_
    assert next(k for k, step in enumerate(path, 1) if step.total >= 0.999) == 5
    model = NARX(5, **how).fit(u, y)
    error = (model.predict(v, z[:50]) - z)[50:]
    rmse = np.sqrt(np.mean(error**2))
    assert rmse == pytest.approx(0.007727, abs=5e-7)
    assert rmse / z[50:].std() == pytest.approx(0.142302, abs=5e-7)
