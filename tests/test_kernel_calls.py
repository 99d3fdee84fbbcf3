"""Kernels refuse spoiled arguments, or do what NumPy does: a few calls of `fuzz/kernels.py`."""

import numpy as np
import pytest
from fuzz import kernels
from fuzz.kernel_calls import KERNELS

from orthoselect import native

pytestmark = pytest.mark.skipif(native._module is None, reason="no kernels were built")


def test_every_kernel_is_tried():
    kernels.check_all_are_known()


@pytest.mark.parametrize("seed", range(8))
def test_spoiled_arguments_are_refused_or_give_what_numpy_gives(seed):
    all_told = [kernels.call(seed, number) for number in range(250)]
    assert [told for told in all_told if told.wrong] == []
    assert {told.refused for told in all_told} == {True, False}


@pytest.mark.parametrize("name", ["count_codes", "count_packed", "count_grouped", "count_sparse"])
def test_sums_that_overlap_with_what_is_checked_before_are_refused(name):
    """Sums written over indices that have been checked already: the process was ended."""
    given = KERNELS[name].make(np.random.default_rng(0))
    logarithms = np.zeros(1000, np.int64)
    given["T"], given["XJ"] = logarithms[: len(given["T"])], logarithms[: len(given["XJ"])]
    with pytest.raises(ValueError, match="overlap"):
        getattr(native._module, name)(*given.values())


@pytest.mark.parametrize("name", KERNELS)
def test_a_wrong_result_is_told(name):
    """Arguments that fit, and a kernel that does nothing, or too much."""
    kernel = KERNELS[name]
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(30):
        given = kernel.make(rng)
        before = {argument: kernels._copied(value) for argument, value in given.items()}
        wrong += kernels._judge(kernel, given, before, None) is not None
        for argument, value in given.items():
            if argument not in kernel.outputs and isinstance(value, np.ndarray) and value.size:
                value[...] = ~value if value.dtype == bool else value + 1
                assert kernels._judge(kernel, given, before, None)[0] == "overwritten"
                break
    assert wrong or name in ("look_ahead", "sparse_table")
