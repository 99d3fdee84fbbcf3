"""Codings of classes, and the orthonormal basis of a response."""

import numpy as np
import pytest

import naive
from orthoselect import select
from orthoselect.encode import encode_response, response_basis
from orthoselect.errors import InputError, MissingValueError

SAME_SPAN = ["dummy", "onehot", "effects", "contrast"]
Y4 = np.array(list("cabdabcca"))


def projector(A, w=None):
    Q = naive.span(naive.drop_constants(A, w))
    return Q @ Q.T


@pytest.mark.parametrize(
    ("encoding", "width"),
    [("dummy", 3), ("onehot", 4), ("effects", 3), ("contrast", 3), ("ordinal", 1)],
)
def test_shapes(encoding, width):
    Y = encode_response(Y4, encoding)
    assert Y.shape == (len(Y4), width)
    assert Y.dtype == np.float64


@pytest.mark.parametrize("encoding", SAME_SPAN)
@pytest.mark.parametrize("c", [2, 3, 7])
def test_codings_span_the_same_space_once_centered(encoding, c, rng):
    y = np.r_[np.arange(c), rng.integers(0, c, 30)]
    np.testing.assert_allclose(
        projector(encode_response(y, encoding)), projector(naive.one_hot(y)), atol=1e-12
    )


def test_dummy_is_onehot_without_its_last_column():
    np.testing.assert_array_equal(
        encode_response(Y4, "dummy"), encode_response(Y4, "onehot")[:, :-1]
    )
    np.testing.assert_array_equal(encode_response(Y4, "onehot"), naive.one_hot(Y4))


def test_effects_of_balanced_classes_add_up_to_zero():
    Y = encode_response(np.arange(12) % 4, "effects")
    np.testing.assert_array_equal(Y.sum(axis=0), 0)
    np.testing.assert_array_equal(Y[3], [-1, -1, -1])


def test_contrasts_of_balanced_classes_are_orthogonal():
    Y = encode_response(np.arange(12) % 4, "contrast")
    np.testing.assert_allclose(Y.sum(axis=0), 0, atol=1e-12)
    G = Y.T @ Y
    np.testing.assert_allclose(G, np.diag(np.diag(G)), atol=1e-12)
    # Column k: class k + 1 against the mean of those before it.
    by_class = Y[:4]
    for k in range(3):
        assert by_class[k + 1, k] == 1
        np.testing.assert_allclose(by_class[: k + 1, k], -1 / (k + 1))
        np.testing.assert_array_equal(by_class[k + 2 :, k], 0)


def test_ordinal_is_the_place_in_sorted_order():
    np.testing.assert_array_equal(
        encode_response(["b", "a", "c", "a"], "ordinal"), [[1], [0], [2], [0]]
    )
    np.testing.assert_array_equal(encode_response([10, -3, 10, 7], "ordinal")[:, 0], [2, 0, 2, 1])


@pytest.mark.parametrize("encoding", [*SAME_SPAN, "ordinal"])
def test_one_class_has_nothing_to_explain(encoding):
    Y = encode_response(["a"] * 5, encoding)
    assert Y.shape == (5, 1)
    assert response_basis(Y).shape == (5, 0)


def test_mixed_labels_stay_apart():
    assert encode_response([1, "1", 2], "onehot").shape == (3, 3)


@pytest.mark.parametrize("encoding", ["one-hot", "", None, 3, ["dummy"]])
def test_unknown_coding_lists_the_known_ones(encoding, rng):
    with pytest.raises(InputError, match=r"'dummy', 'onehot'.*; got "):
        encode_response([0, 1], encoding)
    with pytest.raises(InputError, match=r"`response_encoding`.*'dummy', 'onehot'.*; got "):
        select(rng.normal(size=(6, 2)), [0, 1] * 3, 1, response_encoding=encoding)


def test_coding_is_checked_where_it_is_not_used(rng):
    with pytest.raises(InputError, match="`response_encoding`"):
        select(rng.normal(size=(6, 2)), rng.normal(size=6), 1, response_encoding="dumy")


@pytest.mark.parametrize("y", [[[1, 2], [1, 2]], 3, [[1], [1, 2]], [[[1]]]])
def test_labels_are_one_column(y):
    with pytest.raises(InputError, match=r"y should be one column|y "):
        encode_response(y)


def test_missing_and_unhashable_labels_are_refused():
    with pytest.raises(MissingValueError, match="y should have no missing values; 1 "):
        encode_response(["a", None])
    with pytest.raises((InputError, TypeError), match="y "):
        encode_response(np.array([{}, {}]))


@pytest.mark.parametrize("encoding", SAME_SPAN)
@pytest.mark.parametrize("weighted", [False, True])
def test_basis_is_orthonormal_and_spans_the_centered_response(encoding, weighted, rng):
    y = rng.integers(0, 4, 40)
    w = rng.integers(0, 4, 40).astype(float) if weighted else None
    V = response_basis(encode_response(y, encoding), w)
    assert V.shape == (40, 3)
    np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-13)
    np.testing.assert_allclose(V.T @ (np.ones(40) if w is None else np.sqrt(w)), 0, atol=1e-12)
    np.testing.assert_allclose(V @ V.T, projector(naive.one_hot(y), w), atol=1e-12)


def test_basis_leaves_out_dependent_and_constant_columns(rng):
    A = rng.normal(size=(30, 2))
    Y = np.c_[A[:, 0], np.full(30, 0.1), A[:, 0] * 3 + 1e6, A[:, 1], A.sum(axis=1)]
    assert response_basis(Y).shape == (30, 2)


@pytest.mark.parametrize("factor", [1e-320, 1e-308, 1e-200, 1e200, 1e307])
def test_basis_of_extreme_magnitudes(factor, rng):
    y = rng.normal(size=(20, 1))
    V = response_basis(y * factor)
    assert V.shape == (20, 1)
    close = 1e-12 if factor > 1e-300 else 1e-2  # few digits are left down there
    np.testing.assert_allclose(V @ V.T, projector(y), atol=close)


def test_basis_does_not_change_the_response():
    Y = np.arange(12.0).reshape(6, 2)
    before = Y.copy()
    response_basis(Y, np.arange(6.0))
    np.testing.assert_array_equal(Y, before)
