"""NumPy archives: matrices with their response, dense or sparse, and columns by name."""

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import select
from orthoselect.errors import InputError, LeftOutWarning
from orthoselect.read import read_source

N = 60


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 5)) * (rng.random((N, 5)) > 0.5)


@pytest.fixture
def y(X, rng):
    return (X[:, 3] + 0.1 * rng.normal(size=N) > 0.1).astype(int)


@pytest.fixture
def read(tmp_path):
    def read(*arrays, **named):
        np.savez(tmp_path / "t.npz", *arrays, **named)
        return read_source(tmp_path / "t.npz")

    return read


def parts(X, prefix="X"):
    names = ("data", "indices", "indptr", "shape")
    return {f"{prefix}_{name}": np.asarray(getattr(X, name)) for name in names}


@pytest.mark.parametrize(
    ("first", "second"),
    [("X", "y"), ("x", "y"), ("X", "target"), ("X_train", "y_train"), ("data", "target")],
)
def test_matrix_and_response(read, X, y, first, second):
    found = read(**{first: X, second: y, "X_test": X[:3], "other": np.arange(4)})
    assert np.array_equal(found.data, X)
    assert np.array_equal(found.target, y)
    assert (found.format, found.target_name, list(found.names)) == ("npz", "y", list_of_names(5))


def list_of_names(n):
    return [f"x{j}" for j in range(n)]


def test_matrix_and_response_without_names(read, X, y):
    found = read(X, y)
    assert np.array_equal(found.data, X)
    assert np.array_equal(found.target, y)


def test_whole_numbers_stay_what_they_are(read, y):
    assert read(X=np.ones((N, 2), np.uint8), y=y).data.dtype == np.uint8


@pytest.mark.parametrize("key", ["feature_names", "names"])
@pytest.mark.parametrize("kind", ["U", "S"])
def test_names(read, X, y, key, kind):
    names = np.array(["a", "b", "c", "d", "e"]).astype(kind)
    assert read(X=X, y=y, **{key: names}).names == ["a", "b", "c", "d", "e"]


def test_names_have_to_be_as_many_as_columns(read, X, y):
    with pytest.raises(InputError, match=r"`names` in .* should name 5 columns; it has 2"):
        read(X=X, y=y, names=np.array(["a", "b"]))
    with pytest.raises(InputError, match="`a` occurs more than once"):
        read(X=X, y=y, names=np.array(list("aabcd")))


@pytest.mark.parametrize("kind", ["dense", "csr", "csc", "parts by rows", "parts by columns"])
def test_target_goes_by_its_name_or_none(tmp_path, X, y, kind):
    path = tmp_path / "t.npz"
    if kind == "dense":
        np.savez(path, X=X, y=y)
    elif kind.startswith("parts"):
        make = sp.csr_array if "rows" in kind else sp.csc_array
        np.savez(path, **parts(make(X)), y=y)
    else:
        sparse = sp.csr_array(X).asformat(kind)
        named = {"data": sparse.data, "indices": sparse.indices, "indptr": sparse.indptr}
        np.savez(path, **named, shape=np.array(X.shape), format=np.array(kind.encode()), y=y)
    expected = select(X, y, 2)
    for target in ("y", "target", None):
        found = select(path, target, 2)
        assert found.features == expected.features
        assert found.gains == pytest.approx(expected.gains)


@pytest.mark.parametrize("prefix", ["X", "X_train", "data"])
def test_sparse_parts(read, X, y, prefix):
    narrow = {k: v.astype(np.int16) if "ind" in k else v for k, v in parts(sp.csr_array(X)).items()}
    named = {key.replace("X", prefix): value for key, value in narrow.items()}
    found = read(**named, **{"y_train" if prefix == "X_train" else "y": y})
    assert sp.issparse(found.data)
    assert np.array_equal(found.data.toarray(), X)
    assert np.array_equal(found.target, y)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_matrix_that_scipy_saved_has_no_response(tmp_path, X, kind):
    path = tmp_path / "t.npz"
    sp.save_npz(path, sp.csr_matrix(X).asformat(kind))
    found = read_source(path)
    assert np.array_equal(found.data.toarray(), X)
    assert found.target is None
    with pytest.raises(InputError, match=r"name of its target.*store the values as `y`"):
        select(path, None, 2)
    assert select(path, "x3", 2, task="regression").n_candidates == 4


def test_other_formats_of_scipy(tmp_path, X):
    for kind in ("coo", "bsr", "dia"):
        sp.save_npz(tmp_path / "t.npz", sp.csr_matrix(X).asformat(kind))
        with pytest.raises(InputError, match=rf"its format is '{kind}'.*matrix\.tocsr"):
            read_source(tmp_path / "t.npz")


def test_sparse_parts_that_do_not_fit(read, X, y):
    good = parts(sp.csr_array(X))
    for broken in (
        {"X_indices": good["X_indices"] + 100},
        {"X_indices": -good["X_indices"] - 1},
        {"X_indptr": good["X_indptr"][::-1]},
        {"X_data": good["X_data"][:-3]},
        {"X_shape": np.array([N])},
    ):
        with pytest.raises(InputError):
            read(**{**good, **broken}, y=y)


def test_columns_by_name(read):
    pa = pytest.importorskip("pyarrow")
    found = read(
        age=np.arange(3), name=np.array(["a", "b", "c"]), kind=np.array([b"x", b"y", b"x"])
    )
    assert found.data.to_pydict() == {
        "age": [0, 1, 2],
        "name": ["a", "b", "c"],
        "kind": list("xyx"),
    }
    assert found.data["kind"].type == pa.string()
    assert found.target is None


def test_columns_called_x_and_y_are_columns(read):
    pytest.importorskip("pyarrow")
    found = read(x=np.arange(3.0), y=np.arange(3))
    assert found.names == ["x", "y"]
    assert found.find_target("y") == "y"


def test_dates_by_name(tmp_path, y, X):
    pytest.importorskip("pyarrow")
    days = np.datetime64("2020-01-01") + np.arange(N)
    np.savez(tmp_path / "t.npz", when=days, size=X[:, 3], y=y)
    with pytest.warns(LeftOutWarning, match="`when`"):
        assert select(tmp_path / "t.npz", "y", 1).names == ["size"]


def test_matrix_of_text(read, y):
    pytest.importorskip("pyarrow")
    text = np.where(np.column_stack([y, y[::-1]]), "yes", "no")
    found = read(X=text, y=y, names=np.array(["a", "b"]))
    assert select(found, "y", 1).names == ["a"]


def test_lone_matrix(read, X):
    found = read(table=X)
    assert np.array_equal(found.data, X)
    assert found.target is None


def test_response_of_one_column(read, X, y):
    assert read(X=X, y=y[:, np.newaxis]).target.shape == (N,)


@pytest.mark.parametrize("shape", [(N - 1,), (N, 2), ()])
def test_response_of_another_shape(read, X, shape):
    with pytest.raises(InputError, match=f"`y` in .* should be one column of {N} values"):
        read(X=X, y=np.zeros(shape))


def test_images_are_to_be_laid_out(read, y):
    with pytest.raises(InputError, match=r"`X` in .* 2-dimensional.*reshape\(len\(X\), -1\)"):
        read(X=np.zeros((N, 3, 3)), y=y)


@pytest.mark.parametrize("key", ["X", "y", "names"])
def test_objects_are_not_loaded(read, X, y, key):
    arrays = {"X": X, "y": y, "names": np.array(list("abcde"))}
    arrays[key] = arrays[key].astype(object)
    with pytest.raises(InputError, match=f"`{key}` is an array of Python objects.*astype"):
        read(**arrays)


def test_numbers_of_another_kind(read, X, y):
    with pytest.raises(InputError, match="should hold numbers or text; its dtype is complex128"):
        read(X=X + 1j, y=y)


def test_arrays_that_make_no_table(read, X):
    with pytest.raises(InputError, match=r"`a \(60, 5\)`, `b \(60, 5\)`.*numpy\.savez"):
        read(a=X, b=X)
    with pytest.raises(InputError, match="should hold `X` and `y`"):
        read(a=np.arange(3), b=np.arange(4))
    with pytest.raises(InputError, match="should hold `X` and `y`"):
        read()


def test_single_array_in_place_of_an_archive(tmp_path, X):
    with (tmp_path / "t.npz").open("wb") as file:
        np.save(file, X)
    with pytest.raises(InputError, match="it is a single array"):
        read_source(tmp_path / "t.npz")
