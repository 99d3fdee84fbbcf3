"""MNIST: 50 of 784 pixels, LDA on the test set, and where the pixels lie."""

from __future__ import annotations

import time
from typing import Any

from orthoselect_study import figures, learners, methods
from orthoselect_study.averages import mean, share_error
from orthoselect_study.binarizer import RandomBinarizer
from orthoselect_study.chance import number
from orthoselect_study.datasets import StudyData
from orthoselect_study.experiments.curves import (
    Curves,
    score_rows,
    selection_rows,
)
from orthoselect_study.records import Results, Row, Task
from orthoselect_study.settings import Settings

_SHAPE = (28, 28)
_BRIGHTEST = 255


class Mnist(Curves):
    """Pixels of handwritten digits."""

    name = "mnist"
    title = "MNIST"
    about = "784 pixels of digits, 50 of them in the paper: accuracy of LDA, and maps of the pixels"
    uses = frozenset({"methods", "features", "rows"})
    sets = {"mnist": 50}  # noqa: RUF012

    def prepared(self, data: StudyData, settings: Settings) -> StudyData:
        return data.thinned(settings.or_else("rows", None), settings.seed)

    def tasks_of(
        self, arguments: dict[str, Any], data: StudyData, settings: Settings
    ) -> list[Task]:
        cost = 9.0 if arguments["method"] in ("LASSO", "Net") else 5.0
        return [Task(self.name, arguments, data, cost=cost * data.X.shape[0] / 60000)]

    def work(self, arguments: dict[str, Any], data: StudyData) -> list[Row]:
        name = arguments["method"]
        # Grey levels become bits by chance, the same ones for all methods.
        bits = RandomBinarizer(
            maximum=_BRIGHTEST, random_state=number(arguments["seed"], "mnist", "bits")
        )
        began = time.perf_counter()
        chosen = methods.apply(name, data.X, data.y, arguments["features"], bins=bits)
        seconds = time.perf_counter() - began
        A, B = (X[:, chosen.features].astype(float) for X in (data.X, data.held_X))
        assert data.held_y is not None
        trained, held = learners.lda_accuracies(A, data.y, [(A, data.y), (B, data.held_y)])
        at = Row(data.name, name)
        return [*selection_rows(at, chosen, seconds), *score_rows(at, trained, held)]

    def error(self, scores: list[float], weights: list[float], facts: dict[str, Any]) -> float:
        return share_error(mean(scores), facts["held"])

    def figures(self, results: Results) -> list[figures.Figure]:
        orders: dict[str, list[int]] = {}
        for method in results.methods():
            rows = results.where(method=method, measure="feature")
            orders[method] = [int(r.value) for r in sorted(rows, key=lambda r: r.n_features or 0)]
        if not orders:
            return []
        title = "MNIST: the selected pixels, the first ones deepest"
        maps = figures.draw_maps(orders, _SHAPE)
        return [*super().figures(results), figures.Figure("mnist_pixels", title, maps)]
