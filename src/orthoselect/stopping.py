"""What is asked about chance: whether features are tested, and whether that says how many.

`TestRequest` holds what users say, checks it, and makes a `PermutationPlan` of it.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria import Criterion
from orthoselect.criteria.significance import USUAL_PERMUTATIONS, PermutationPlan
from orthoselect.errors import InputError, ShapeError
from orthoselect.methods import METHODS

AUTO = "auto"


@dataclass(frozen=True)
class TestRequest:
    """What users say about tests; see `select`."""

    __test__ = False  # pytest takes no class for a test by its name

    n_features_to_select: Any = 10
    alpha: Any = 0.05
    n_permutations: Any = USUAL_PERMUTATIONS
    permute_within: Any = None
    random_state: Any = 0
    p_values: Any = False

    @property
    def is_auto(self) -> bool:
        """Whether tests say how many features to take."""
        return isinstance(self.n_features_to_select, str) and self.n_features_to_select == AUTO

    @property
    def is_asked(self) -> bool:
        """Whether features are tested at all."""
        return self.is_auto or bool(self.p_values)

    def in_vain(self) -> str | None:
        """Return the first option that is given, is for tests only, and would not be used."""
        usual = {"permute_within": None, "alpha": 0.05, "n_permutations": USUAL_PERMUTATIONS}
        given = (name for name, value in usual.items() if not _is(getattr(self, name), value))
        return None if self.is_asked else next(given, None)

    def check(self, criterion: Criterion, search: str) -> None:
        """Raise for what cannot be done, before anything is read."""
        self._check_numbers()
        if not self.is_asked:
            if name := self.in_vain():
                raise InputError(
                    f"`{name}` should come with `n_features_to_select='auto'` or `p_values=True`: "
                    f"only tests of features use it. Pass one of them, or omit it."
                )
            return
        what = "`n_features_to_select='auto'`" if self.is_auto else "`p_values=True`"
        if not criterion.can_test:
            able = [repr(m.name) for m in METHODS.values() if getattr(m.criterion, "can_test", 0)]
            instead = "Choose one of these, or pass a number" if self.is_auto else "Omit it"
            raise InputError(
                f"{what} is for methods whose gains can be tested, {', '.join(able[:-1])} and "
                f"{able[-1]}; got "
                f"method {criterion.name!r}. {instead}."
            )
        if search != "forward":
            raise InputError(
                f"{what} tests one feature after the other, `search='forward'`; got {search!r}. "
                f"Choose that, or pass a number and no p-values."
            )

    def _check_numbers(self) -> None:
        alpha, B, seed = self.alpha, self.n_permutations, self.random_state
        if not isinstance(alpha, numbers.Real) or not 0.0 < float(alpha) < 1.0:
            raise InputError(f"`alpha` should be a number between 0 and 1; got {alpha!r}.")
        if not _is_count(B) or B < 1:
            raise InputError(
                f"`n_permutations` should be a whole number of at least 1; got {B!r}. "
                f"{USUAL_PERMUTATIONS} are usual."
            )
        if not _is_count(seed) or seed < 0:
            raise InputError(
                f"`random_state` should be a whole number of at least 0, the seed of the "
                f"permutations; got {seed!r}."
            )
        if self.p_values not in (True, False):
            raise InputError(f"`p_values` should be True or False; got {self.p_values!r}.")
        if self.is_auto and alpha * (B + 1) < 1:
            raise InputError(
                f"`alpha` should be at least 1 / (`n_permutations` + 1), or no feature could be "
                f"significant; got {alpha} with {B} permutations. Pass "
                f"`n_permutations={math.ceil(1 / float(alpha) - 1e-9) - 1}` or more."
            )

    def plan(self, strata: NDArray[np.integer] | None, *, has_rows: bool) -> PermutationPlan | None:
        """Return how to test, None if nobody asked for it."""
        if not self.is_asked:
            return None
        alpha, count, seed = float(self.alpha), int(self.n_permutations), int(self.random_state)
        return PermutationPlan(alpha, count, seed, self.is_auto, strata, has_rows)

    def reported(self, plan: PermutationPlan | None) -> dict[str, Any]:
        """Return what a path reports of it: nothing, if nothing was tested."""
        if plan is None:
            return {}
        within = self.permute_within
        return {
            "alpha": plan.alpha,
            "n_permutations": plan.n_permutations,
            "permute_within": within if within is None or isinstance(within, str) else "given",
            "random_state": plan.seed,
            **({} if self.is_auto else {"p_values": True}),
        }


def _is(given: Any, usual: Any) -> bool:
    """Whether an option has its usual value; labels are compared with no number."""
    return given is usual or (isinstance(given, numbers.Real) and given == usual)


def _is_count(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def strata_of(labels: Any, n_rows: int) -> NDArray[np.integer]:
    """Return codes, from 0 on, of labels within which rows are permuted.

    >>> strata_of(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    values = np.asarray(labels)
    if values.shape != (n_rows,):
        raise ShapeError(
            f"`permute_within` should be one label for each of the {n_rows} rows, or the name of a "
            f"column; got shape {values.shape}. Where rows are dropped, name a column."
        )
    if values.dtype.kind == "O":
        values = values.astype(str)
    return np.unique(values, return_inverse=True)[1].ravel()
