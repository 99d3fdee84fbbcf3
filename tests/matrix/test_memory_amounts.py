"""Amounts of memory in words."""

import pytest

from orthoselect.errors import InputError
from orthoselect.matrix.memory import count_bytes, say_bytes


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("2GB", 2 * 10**9),
        ("500 MB", 500 * 10**6),
        ("1.5GiB", 3 * 2**29),
        (" 64 kb ", 64_000),
        (".5 tb", 5 * 10**11),
        ("123", 123),
        (4096, 4096),
    ],
)
def test_amounts_are_read(amount, expected):
    assert count_bytes(amount) == expected


@pytest.mark.parametrize("amount", ["", "GB", "-1GB", "2 apples", "1,5GB", 0, -3, 1.5, True, [1]])
def test_other_words_are_no_amounts(amount):
    with pytest.raises(InputError, match="`memory` should be a number of bytes") as caught:
        count_bytes(amount)
    assert repr(amount) in str(caught.value)


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (23 * 10**9, "23 GB")]
)
def test_amounts_are_said(count, words):
    assert say_bytes(count) == words
