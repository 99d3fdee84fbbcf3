"""Squared canonical correlations of columns that are cut into levels first (OLSd).

Each level is an indicator, and a feature is the block of its indicators. So a feature may act on
the response by any step function, not only by a line; the price is what the cuts throw away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orthoselect.criteria.cancorr import SquaredCanonicalCorrelations
from orthoselect.encode import Design, Table, build_level_design
from orthoselect.encode.rules import check_bins
from orthoselect.matrix.base import Floats


class DiscretizedCanonicalCorrelations(SquaredCanonicalCorrelations):
    """Sum of squared canonical correlations between indicators of levels and the response.

    Parameters
    ----------
    bins : {"mean_std_3", "mean_std_4", "auto", "from_data"}, int or discretizer
        How numeric columns become levels. "mean_std_3" (the default): cut at mean plus and minus
        one standard deviation; "mean_std_4": at the mean, too. A number: so many bins of equal
        width. The others as in `orthoselect.encode.build_codes`. Categorical columns keep their
        levels.
    """

    name = "socc_discretized"
    keeps_whole_weights = True
    needs_rows = True

    def __init__(self, *, bins: Any = "mean_std_3") -> None:
        check_bins(bins)
        self._bins = bins

    def prepare(
        self,
        table: Table,
        groups: Mapping[str, Sequence[int]],
        exclude: set[int],
        weights: Floats | None = None,
    ) -> Design:
        """Return the indicators of all columns."""
        return build_level_design(table, groups, exclude, self._bins, weights)
