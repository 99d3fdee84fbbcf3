"""Loaders: what they give, what they miss, and what they say of a damaged file."""

import hashlib
import re

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.datasets
from sklearn.utils import Bunch

from orthoselect_study import DATASETS
from orthoselect_study.datasets import DataSource, Missing, load, sets


def what_is_wrong(name, folder):
    """Return what is said of a set that is damaged; it is not among the others."""
    sets, absent = load([name], DataSource(folder))
    state, why = absent[name]
    assert (sets, state) == ({}, "damaged")
    return why


FILES = ["dexter", "mnist", "mfeat", "cnae9", "lymphography", "flags", "parkinsons"]


@pytest.fixture(autouse=True)
def forget_fetched():
    sets.fetch.cache_clear()
    yield
    sets.fetch.cache_clear()


def test_embedded_sets_need_nothing(source):
    sets, absent = load(["iris", "breast"], source)
    assert absent == {}
    assert sets["breast"].facts()["class_counts"] == [212, 357]
    assert sets["iris"].X.shape == (7, 4)


@pytest.mark.parametrize("name", FILES)
def test_a_set_that_is_not_in_the_folder_is_missing_with_the_name_of_its_file(name, tmp_path):
    sets, absent = load([name], DataSource(tmp_path))
    state, why = absent[name]
    assert (sets, state) == ({}, "missing")
    assert f"`{name}.npz`" in why


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["empty", "text", "cut off", "flipped"])
def test_a_damaged_file_is_told_by_name(name, damage, tmp_path):
    path = tmp_path / f"{name}.npz"
    rng = np.random.default_rng(0)
    np.savez_compressed(path, X=rng.integers(0, 9, (40, 18)), y=rng.integers(0, 2, 40))
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[len(content) // 3] ^= 0xFF
    damaged = {"empty": b"", "text": b"hello", "cut off": content[:200], "flipped": content}
    path.write_bytes(damaged[damage])
    assert re.search(rf"{name}\.npz", what_is_wrong(name, tmp_path))


def test_a_single_array_is_no_archive(tmp_path):
    with (tmp_path / "mfeat.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    assert re.search(r"mfeat\.npz.*archive", what_is_wrong("mfeat", tmp_path))


def test_a_file_of_pickles_is_not_opened(tmp_path):
    np.savez(tmp_path / "mfeat.npz", X=np.array([{"a": 1}], dtype=object), y=np.zeros(1))
    assert re.search(r"mfeat\.npz.*plain arrays", what_is_wrong("mfeat", tmp_path))


def test_a_file_that_lacks_an_array_says_which(tmp_path):
    np.savez(tmp_path / "flags.npz", X=np.zeros((194, 28)), y=np.zeros(194))
    assert re.search("nominal_columns", what_is_wrong("flags", tmp_path))


def test_a_table_of_another_shape_is_another_set(tmp_path):
    np.savez(tmp_path / "parkinsons.npz", X=np.zeros((195, 21)), y=np.zeros(195))
    assert re.search(r"\[195, 22\]; it has \[195, 21\]", what_is_wrong("parkinsons", tmp_path))


def test_fingerprints_follow_the_values():
    data = load(["breast"], DataSource())[0]["breast"]
    fewer, again = data.thinned(100, 0), data.thinned(100, 0)
    assert fewer.X.shape == (100, 30)
    assert fewer.fingerprint == again.fingerprint != data.fingerprint
    assert data.thinned(100, 1).fingerprint != fewer.fingerprint
    assert data.thinned(1000, 0) is data


# Gisette and its stand-in


@pytest.fixture
def small_gisette(monkeypatch):
    """The sums and shapes of a small set in the place of the real ones."""
    rng = np.random.default_rng(0)
    tables = {part: rng.integers(0, 999, (rows, 10)) for part, rows in (("train", 8), ("valid", 4))}
    monkeypatch.setattr(sets, "_GISETTE_ROWS", {part: len(X) for part, X in tables.items()})
    monkeypatch.setattr(sets, "_N_REAL", 5)
    monkeypatch.setattr(sets, "_N_PROBES", 5)
    monkeypatch.setattr(sets, "GISETTE_SUMS", {part: int(X.sum()) for part, X in tables.items()})
    labels = {part: np.arange(len(X)) % 2 * 2 - 1 for part, X in tables.items()}
    return tables, labels


def write_gisette(folder, tables, labels):
    arrays = {f"X_{part}": X for part, X in tables.items()}
    np.savez(folder / "gisette.npz", **arrays, **{f"y_{part}": y for part, y in labels.items()})


def test_gisette_with_the_right_sums_is_taken(small_gisette, tmp_path):
    write_gisette(tmp_path, *small_gisette)
    data = load(["gisette"], DataSource(tmp_path))[0]["gisette"]
    assert data.X.shape == (8, 10)
    assert data.held_X.shape == (4, 10)


def test_gisette_with_another_sum_is_refused(small_gisette, tmp_path):
    tables, labels = small_gisette
    tables["valid"][0, 0] += 1
    write_gisette(tmp_path, tables, labels)
    assert re.search(r"gisette \(valid\).*the sum of values", what_is_wrong("gisette", tmp_path))


def test_ucis_files_of_gisette_are_checked_by_their_hash(small_gisette, tmp_path, monkeypatch):
    tables, labels = small_gisette
    sums = {}
    for part, X in tables.items():
        for kind, values in (("data", X), ("labels", labels[part][:, None])):
            file = tmp_path / f"gisette_{part}.{kind}"
            file.write_text("\n".join(" ".join(map(str, row)) for row in values.tolist()) + "\n")
            sums[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    order = [f"gisette_{p}.{k}" for p in ("train", "valid") for k in ("data", "labels")]
    monkeypatch.setattr(sets, "GISETTE_SHA256", {name: sums[name] for name in order})
    data = load(["gisette"], DataSource(tmp_path))[0]["gisette"]
    assert (data.held_X == tables["valid"]).all()
    (tmp_path / "gisette_train.labels").write_text("1\n")
    assert re.search(r"gisette_train\.labels.*SHA-256", what_is_wrong("gisette", tmp_path))


def test_gisette_that_is_not_there_says_what_would_do(tmp_path):
    state, why = load(["gisette"], DataSource(tmp_path))[1]["gisette"]
    assert state == "missing"
    assert "gisette.npz" in why
    assert "gisette_train.data" in why


def test_the_stand_in_follows_the_recipe(monkeypatch):
    monkeypatch.setattr(sets, "_GISETTE_ROWS", {"train": 60, "valid": 20})
    monkeypatch.setattr(sets, "_N_REAL", 900)
    monkeypatch.setattr(sets, "_N_PROBES", 900)
    rng = np.random.default_rng(0)
    labels = np.repeat([4, 9, 1], 50)
    is_used = rng.uniform(size=784) < 0.9
    images = (rng.uniform(size=(150, 784)) * 256 * is_used).astype(np.uint8)
    X, y, is_real = sets._make_gisette(images, labels)
    again, *_ = sets._make_gisette(images, labels)
    assert (again == X).all()
    assert X.shape == (80, 1800)
    assert is_real.sum() == 900
    assert X.min() == 0
    assert X.max() == 999
    assert np.bincount(y[:60] > 0).tolist() == [30, 30]
    assert not ((X > 0) & (X < 0.25 * 999 - 1)).any()  # values are from a half on, products
    is_pixel = ((X == 0) | (X >= 499)).all(axis=0)
    assert is_pixel.sum() == is_used.sum()
    assert is_real[is_pixel].all()


# OpenML: answers as they would come, small


def answer(**sets):
    """Return a `fetch_openml` that gives these answers, made by hand: none was recorded."""

    def fetch(*, data_id, as_frame, parser, **_):
        assert as_frame is False
        assert parser == "liac-arff"
        return sets[f"n{data_id}"]

    return fetch


def test_lymphography_from_openml(monkeypatch):
    names = ["normal"] * 2 + ["metastases"] * 81 + ["malign_lymph"] * 61 + ["fibrosis"] * 4
    data = np.arange(148 * 18).reshape(148, 18) % 4
    bunch = Bunch(data=data.astype(float), target=np.array(names, dtype=object))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", answer(n10=bunch))
    found = load(["lymphography"], DataSource())[0]["lymphography"]
    assert np.unique(found.y, return_counts=True)[1].tolist() == [81, 61]
    assert set(found.kinds) == {"categorical"}


def test_mfeat_from_openml_is_six_sets_side_by_side(monkeypatch):
    widths = {14: 76, 12: 216, 16: 64, 20: 240, 22: 47, 18: 6}
    target = np.array([str(1 + i // 2) for i in range(20)], dtype=object)
    sets = {
        f"n{number}": Bunch(data=np.full((20, width), float(number)), target=target)
        for number, width in widths.items()
    }
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", answer(**sets))
    found = load(["mfeat"], DataSource())[0]["mfeat"]
    assert found.X.shape == (20, 649)
    assert found.y.tolist() == [i // 2 for i in range(20)]
    columns = dict(zip(("fou", "fac", "kar", "pix", "zer", "mor"), (0, 76, 292, 356, 596, 643)))
    assert [found.X[0, at] for at in columns.values()] == [14, 12, 16, 20, 22, 18]


def test_flags_from_openml_leaves_the_names_out(monkeypatch):
    names = ["name", "landmass", "zone", "area"] + [f"x{i}" for i in range(25)]
    bunch = Bunch(
        data=np.arange(194.0 * 29).reshape(194, 29),
        feature_names=names,
        target=np.array([str(i % 8) for i in range(194)], dtype=object),
    )
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", answer(n285=bunch))
    found = load(["flags"], DataSource())[0]["flags"]
    assert found.kinds[:3] == ("categorical", "categorical", "numeric")
    assert found.X[0, 0] == 1.0


def test_sparse_answers_and_other_orders_are_checked(monkeypatch):
    X = sp.csr_matrix((np.ones(3), ([0, 1, 2], [3, 4, 5])), shape=(600, 20000))
    bunch = Bunch(data=X, target=np.array(["1", "-1"] * 300, dtype=object))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", answer(n4136=bunch))
    assert re.search("the sum of values", what_is_wrong("dexter", None))


@pytest.mark.parametrize("name", [*FILES, "gisette", "gisette-like"])
def test_without_folder_and_network_a_set_is_missing_with_the_reason(name, monkeypatch):
    def fail(**_):
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)
    state, why = load([name], DataSource())[1][name]
    assert state == "missing"
    assert "no route to host" in why


def test_every_loader_has_the_name_it_is_known_by():
    for name, loader in DATASETS.items():
        assert loader.name == name
    with pytest.raises(Missing):
        DATASETS["gisette"].load(DataSource("/nowhere"))


# The real ones


def test_the_folder_of_data_has_the_sets_it_says(data_folder):
    sets, absent = load([n for n in DATASETS if n != "gisette"], DataSource(data_folder))
    assert absent == {}
    shapes = {name: (*data.X.shape, len(np.unique(data.y))) for name, data in sets.items()}
    assert shapes == {
        "iris": (7, 4, 3),
        "dexter": (300, 20000, 2),
        "gisette-like": (6000, 5000, 2),
        "mnist": (60000, 784, 10),
        "mfeat": (2000, 649, 10),
        "breast": (569, 30, 2),
        "cnae9": (1080, 856, 9),
        "lymphography": (142, 18, 2),
        "flags": (194, 28, 8),
        "parkinsons": (195, 22, 2),
    }
    like = sets["gisette-like"]
    assert like.is_real.sum() == 2500
    assert like.held_X.shape == (1000, 5000)
    assert np.unique(like.y, return_counts=True)[1].tolist() == [3000, 3000]
    assert 0.1 < (like.X > 0).mean() < 0.2
    assert sets["dexter"].facts()["probes"] == 10054
