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
# 500th sample, which are those in `generator.npz`. Both files are in the source distributions of
# sysidentpy up to 0.5. Where the page has a square of the input, which has two levels, the input
# itself does as well and is first.
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


def generator_of_the_page():
    """Every 500th row of the two files, as the page has them, of which it trains on the first."""
    folder = Path(os.environ.get("ORTHOSELECT_DATA", ""))
    files = [folder / f"{name}_cc.csv" for name in "xy"]
    if not all(file.is_file() for file in files):
        pytest.skip("x_cc.csv and y_cc.csv are not in the folder that ORTHOSELECT_DATA names")
    u, y = (np.loadtxt(file)[1::500][:500] for file in files)
    return {"u": u, "y": y}


def of_twenty(data):
    return select(LaggedTerms(data, "y", "u", lags=5, degree=2, delay=1), None, 20, "err")


def test_generator_has_the_terms_and_all_digits_of_sysidentpys_page():
    path = of_twenty(generator_of_the_page())
    assert in_digits(path.names, path.gains) == in_digits(GENERATOR, GENERATOR.values())


def test_generator_a_sample_earlier_has_the_same_terms(load):
    data = {name: values[:500] for name, values in load("generator").items()}
    path = of_twenty(data)
    assert set(path.names) == set(GENERATOR)
    assert in_digits(path.names, path.gains) == frols_of_twenty(data)


def made_record():
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=505), np.zeros(505)
    for k in range(2, 505):
        past = 0.6 * y[k - 1] - 0.3 * y[k - 2] - 0.002 * y[k - 1] ** 2
        y[k] = past + (2 + 0.1 * y[k - 2]) * u[k - 1] + 0.4 * rng.normal()
    return {"u": u[5:].round(2), "y": y[5:].round(2)}


# By FROLS of sysidentpy 0.9.0: lags 5, degree 2, 20 terms.
MADE = {
    "u(k-1)": 6.62993477e-01, "u(k-2)": 2.52963399e-01, "y(k-3)": 2.66308580e-02,
    "y(k-2) u(k-1)": 1.66814029e-02, "y(k-1)": 9.17182407e-03, "y(k-2)": 9.10875119e-03,
    "y(k-3)^2": 5.68791898e-04, "u(k-1) u(k-2)": 3.46731225e-04, "y(k-2) y(k-4)": 2.18079673e-04,
    "y(k-4) y(k-5)": 3.23543553e-04, "u(k-1)^2": 1.54947010e-04, "u(k-4)": 1.41697105e-04,
    "y(k-5) u(k-2)": 1.35149095e-04, "y(k-3) u(k-3)": 1.12226643e-04,
    "u(k-1) u(k-3)": 9.08999475e-05, "y(k-1) y(k-3)": 7.58447544e-05,
    "y(k-1) u(k-1)": 5.10327817e-05, "y(k-3) u(k-2)": 4.12298101e-05,
    "y(k-4) u(k-4)": 6.92528992e-05, "y(k-2) u(k-4)": 4.79910494e-05,
}  # fmt: skip


def test_a_made_record_has_the_terms_and_all_digits_of_sysidentpy():
    path = of_twenty(made_record())
    assert in_digits(path.names, path.gains) == in_digits(MADE, MADE.values())


def test_a_made_record_has_them_by_the_frols_that_is_installed():
    path = of_twenty(made_record())
    assert in_digits(path.names, path.gains) == frols_of_twenty(made_record())


def frols_of_twenty(data):
    """Names, as ours, and ERR by FROLS of sysidentpy; squares of a two-level input as itself."""
    pytest.importorskip("sysidentpy")
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.model_structure_selection import FROLS
    from sysidentpy.parameter_estimation import LeastSquares

    how = {"n_terms": 20, "ylag": 5, "xlag": 5, "estimator": LeastSquares()}
    model = FROLS(order_selection=False, basis_function=Polynomial(degree=2), **how)
    model.fit(X=data["u"][:, None].astype(float), y=data["y"][:, None].astype(float))
    two_levels = len(np.unique(data["u"])) == 2
    names = []
    for codes in model.final_model:
        # 1003 is y(k-3), 2003 is u(k-3), 0 the constant.
        factors = sorted(int(code) for code in codes if code)
        if two_levels and len(factors) == 2 and factors[0] == factors[1] > 2000:
            factors.pop()
        words = [f"{'yu'[code // 1000 - 1]}(k-{code % 1000})" for code in factors]
        squared = len(words) == 2 and words[0] == words[1]
        names.append(f"{words[0]}^2" if squared else " ".join(words) or "1")
    return in_digits(names, model.err[:20])


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
