"""LIBSVM files: sparse, with their labels, columns called by the file's own index."""

import bz2

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import select
from orthoselect.errors import CutShortWarning, InputError
from orthoselect.read import read_source, write_columns


@pytest.fixture
def read(tmp_path):
    def read(text, name="t.svm"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_source(tmp_path / name)

    return read


@pytest.mark.parametrize("suffix", [".svm", ".libsvm", ".SVM"])
def test_values_and_labels(read, suffix):
    found = read("1 1:0.5 3:-2\n-1 2:7\n# a remark\n1 3:1e-3 # another\n", f"t{suffix}")
    assert sp.issparse(found.data)
    assert found.data.toarray().tolist() == [[0.5, 0, -2], [0, 7, 0], [0, 0, 1e-3]]
    assert found.target.tolist() == [1, -1, 1]
    assert found.target.dtype == np.int64
    assert (found.format, found.target_name) == ("libsvm", "target")


def test_columns_are_called_by_their_index(read):
    assert list(read("1 1:1 3:1\n2 2:1\n").names) == ["x1", "x2", "x3"]
    assert list(read("1 0:1 2:1\n2 1:1\n").names) == ["x0", "x1", "x2"]


def test_labels_with_fractions_are_numbers(read):
    assert read("1.5 1:1\n2 1:2\n").target.tolist() == [1.5, 2.0]


@pytest.mark.parametrize("target", [None, "target", "y"])
def test_selection(tmp_path, rng, target):
    X = rng.normal(size=(50, 4)) * (rng.random((50, 4)) > 0.5)
    y = np.where(X[:, 2] > 0, 1, -1)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)
        for label, row in zip(y.tolist(), X.tolist())
    ]
    (tmp_path / "t.svm").write_text("\n".join(lines) + "\n")
    found = select(tmp_path / "t.svm", target, 2)
    assert found.names[0] == "x3"
    assert found.gains == pytest.approx(select(X, y, 2).gains)


@pytest.mark.parametrize(("text", "end"), [("1 0:1.03 1:0.", "1:0."), ("2 1:1\n1 2:15", "2:15")])
def test_last_line_that_may_be_cut_short_is_told(read, text, end):
    with pytest.warns(CutShortWarning, match=rf"t\.svm`.*newline.*cut short: it ends with '{end}'"):
        read(text)
    with pytest.warns(CutShortWarning, match="cut short"):
        read(bz2.compress(text.encode()), "t.svm.bz2")
    read(text + "\n")
    read(text + "\r\n")


@pytest.mark.parametrize("first", [0, 1])
def test_columns_keep_their_index_when_written(read, tmp_path, first):
    found = read(f"1 {first}:0.5 4:2.0 7:1.5\n-1 7:3.0\n2 {first}:1.0 3:1.0\n")
    write_columns(found, ["x7", f"x{first}"], None, tmp_path / "small.svm")
    written = (tmp_path / "small.svm").read_text()
    assert written == f"1 {first}:0.5 7:1.5\n-1 7:3.0\n2 {first}:1.0\n"
    again = read_source(tmp_path / "small.svm")
    assert again.column("x7").tolist() == found.column("x7").tolist()
    write_columns(found, ["x7"], None, tmp_path / "one")
    assert (tmp_path / "one").read_text() == "1 7:1.5\n-1 7:3.0\n2\n"


def test_compressed(read):
    assert read(bz2.compress(b"1 1:2\n2 1:3\n"), "t.svm.bz2").data.toarray().tolist() == [[2], [3]]


@pytest.mark.parametrize("text", ["", "\n", "1\n2\n", "a,b\n1,2\n", "1,2 1:1\n", "1 1:x\n"])
def test_what_is_no_libsvm(read, text):
    with pytest.raises(InputError, match=r"t\.svm`") as caught:
        read(text)
    assert "\n" not in str(caught.value)
