"""Paths as they were frozen: every method by every storage."""

import json
import os

import pytest
import sklearn

import golden
from orthoselect import native
from orthoselect.methods import METHODS

FROZEN = json.loads(golden.FILE.read_text())
# Reads and products follow from plans that know the kernels and the number of threads.
AS_PLANNED = native.kernels() is not None and os.environ.get("OMP_NUM_THREADS") == "1"


# Models of older versions have other coefficients.
OLD_MODELS = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7)


# Paths of later methods are compared with their twins only.
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"socc_splines", "unsupervised"}))
def test_paths_are_those_that_were_frozen(method):
    if OLD_MODELS and method in golden.ONLY_IN_MEMORY:
        pytest.skip("frozen with the models of a newer scikit-learn")
    for name, told in golden.paths(method):
        frozen = FROZEN[name]
        assert told.get("error") == frozen.get("error"), name
        if "error" in frozen:
            continue
        for part in ("features", "names", "stopped"):
            assert told[part] == frozen[part], name
        roundoff = golden.NEAR_ROUNDOFF if "mixed" in name else 1e-12
        assert told["gains"] == pytest.approx(frozen["gains"], rel=1e-9, abs=roundoff), name
        for cost in ("passes", "products"):
            if AS_PLANNED and frozen[cost] is not None:
                assert told[cost] <= frozen[cost], name
