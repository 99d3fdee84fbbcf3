"""OLS beside two more recent methods, OBCC and Shapley values."""

from __future__ import annotations

from orthoselect_study.experiments.folds import Folds


class Recent(Folds):
    """Breast, Lymphography, Flags and Parkinsons; at most 20 features of each."""

    name = "recent"
    title = "OLS, OBCC and Shapley"
    about = "three methods on Breast, Lymphography, Flags and Parkinsons: accuracy of LDA"
    sets = {"breast": 20, "lymphography": 18, "flags": 20, "parkinsons": 20}  # noqa: RUF012
    methods = ("OLS", "OBCC", "Shapley")
