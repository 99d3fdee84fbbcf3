"""The experiment on models over time, with and without public records."""

import numpy as np

from orthoselect_study import EXPERIMENTS, run
from orthoselect_study.datasets import DataSource
from orthoselect_study.experiments import dynamics
from orthoselect_study.reporting import _results
from orthoselect_study.store import Store


def test_noise_terms_stand_beside_least_squares_and_absent_records_are_named(tiny):
    settings = tiny(repeats=3, batches=None)
    run(["dynamics"], settings)
    store = Store(settings.output, "dynamics")
    found = _results(store, store.manifest())
    (table,) = EXPERIMENTS["dynamics"].tables(found)
    made = {row[1]: float(row[2].split()[0]) for row in table.rows if row[0] == "made"}
    assert abs(made["with noise terms"] - 0.2) < 0.04 < made["least squares"] - 0.2
    assert {row[1] for row in table.rows if row[0] in dynamics._RECORDS} == {"missing"}
    findings = EXPERIMENTS["dynamics"].findings(found)
    assert len(findings) == 4
    assert findings[0].startswith("Noise with a memory")


def test_records_are_found_in_a_folder(tmp_path):
    rng = np.random.default_rng(0)
    u, y = np.sign(rng.normal(size=520)), np.zeros(520)
    for k in range(1, 520):
        y[k] = 0.9 * y[k - 1] + u[k - 1] + 0.1 * rng.normal()
    for name, values in {"x": u, "y": y}.items():  # one row in 500 is looked at
        np.savetxt(tmp_path / f"{name}_cc.csv", np.repeat(values, 500))
    source = DataSource(tmp_path)
    record = dynamics._load("generator", source)
    assert record.fingerprint == dynamics._load("generator", source).fingerprint
    rows = EXPERIMENTS["dynamics"].work({"dataset": "generator"}, record)
    assert rows[0].measure == "terms as published, of 20"
    assert 1 <= rows[0].value <= 20
    assert dynamics._load("tanks", source) == "the folder has no copy of it"
