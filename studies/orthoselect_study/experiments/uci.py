"""Four sets of UCI, all twelve methods, by cross-validation."""

from __future__ import annotations

from orthoselect_study.experiments.folds import Folds


class Uci(Folds):
    """Mfeat, Breast, CNAE-9 and Lymphography."""

    name = "uci"
    title = "Sets of UCI"
    about = "Mfeat, Breast, CNAE-9 and Lymphography: cross-validated accuracy of LDA"
    sets = {"mfeat": 20, "breast": 20, "cnae9": 50, "lymphography": 18}  # noqa: RUF012
