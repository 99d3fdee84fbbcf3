"""The experiment on columns chosen without a target, with and without faces."""

import numpy as np

from orthoselect_study import EXPERIMENTS, report, run
from orthoselect_study.datasets import DataSource
from orthoselect_study.experiments import unsupervised
from orthoselect_study.reporting import _results
from orthoselect_study.store import Store


def test_what_is_explained_stands_beside_the_bound_and_absent_faces_are_named(tiny, undrawn):
    settings = tiny(repeats=2, batches=None, features=6)
    run(["unsupervised"], settings)
    store = Store(settings.output, "unsupervised")
    found = _results(store, store.manifest())
    (table,) = EXPERIMENTS["unsupervised"].tables(found)
    shares = {row[2]: float(row[3]) for row in table.rows if row[0] == "digits"}
    best = max(share for way, share in shares.items() if way.startswith("unsupervised"))
    assert shares["largest variance"] < best < shares[unsupervised.COMPONENTS]
    assert {row[2] for row in table.rows if row[0] in ("ORL", "warpPIE10P")} == {"missing"}
    findings = EXPERIMENTS["unsupervised"].findings(found)
    assert findings[0].startswith("digits: 6 columns explain ")
    assert len(findings) == 3
    (part,) = report(settings.output)["experiments"]
    assert [row[:3] for row in part["tables"][0]["rows"]] == [
        ["digits", "1797", 64], ["ORL", "missing", None], ["warpPIE10P", "missing", None],
    ]  # fmt: skip


def test_clusters_are_matched_to_classes_whatever_their_numbers():
    y = np.repeat(["b", "c", "a"], 20)
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 20, axis=0)
    assert unsupervised.clustered(X, y, 0) == (1.0, 1.0)


def test_faces_are_found_in_a_folder(tmp_path):
    np.savez(tmp_path / "orl.npz", X=np.arange(12, dtype=np.uint8).reshape(4, 3), y=np.arange(4))
    source = DataSource(tmp_path)
    images = unsupervised.load_images("ORL", source)
    assert images.X.dtype == np.float64
    assert images.fingerprint == unsupervised.load_images("ORL", source).fingerprint
    assert unsupervised.load_images("warpPIE10P", source) == "the folder has no copy of it"
