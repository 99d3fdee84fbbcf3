"""The answer: which features, in which order, and what each added."""

from __future__ import annotations

import copy
import html
import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from orthoselect.errors import InputError
from orthoselect.result.certificate import Certificate, SizedSet
from orthoselect.result.gaps_filled import GapsFilled
from orthoselect.result.origin import Origin
from orthoselect.result.path_cells import bars_of, cells_of
from orthoselect.result.size_scores import SIZE_OPTIONS, SizeScores
from orthoselect.result.tabular import Tabular
from orthoselect.result.text import as_html, as_table, bar, finite, plain

_NAMED_IN_PLOT = 30
# The columns of the path as a table, and what they hold.
_COLUMNS = {
    "step": "Int64",
    "feature": "Int64",
    "name": "String",
    "gain": "Float64",
    "total": "Float64",
}
# The columns that cross-validated sizes add, and what `SizeScores` calls them.
_SCORE_COLUMNS = {"score": "validation", "score_se": "validation_se"}


@dataclass(frozen=True)
class SelectionStep:
    """One selected feature.

    Attributes
    ----------
    feature : int
        Its column in the table; for a group, the first of its columns.
    name : str
        Its name, or the group's.
    gain : float
        What it added to those selected before it.
    total : float
        What it and those before it reach together.
    columns : tuple of int
        All its columns in the table: one, unless it is a group.
    chance : float or None
        What as many columns of noise would gain on average, given those selected before; None where
        every feature is one column of numbers, or nobody knows.
    p_value : float or None
        How often the best of all candidates would be as rare by chance, given those selected
        before; None where nothing was tested.
    effective_candidates : float or None
        How many independent candidates all those of this step were worth; None likewise.
    components : float or None
        Where all columns are explained, without a target: the share of them that as many principal
        components could explain as the columns of this step and of those before; else None.
    """

    feature: int
    name: str
    gain: float
    total: float
    columns: tuple[int, ...]
    chance: float | None = None
    p_value: float | None = None
    effective_candidates: float | None = None
    components: float | None = None

    @property
    def is_no_more_than_chance(self) -> bool:
        """Whether it gains no more than it would by chance, as far as that is known."""
        return self.chance is not None and self.gain <= self.chance


class SelectionPath(Tabular, Sequence[SelectionStep]):
    """The selected features in order of selection, one step each.

    As a table (`to_frame`, `to_csv`) it has one row a step, with columns step, feature, name, gain,
    total; chance and p, where these are known; chosen, where the number of features was found by
    tests or cross-validation; score and score_se, the mean score of so many features, where it was
    cross-validated.

    Parameters
    ----------
    steps : iterable of SelectionStep
    method : str
        Name of the criterion.
    ceiling : float
        The most that the gains could add up to; nan if there is no such number.
    n_candidates : int
        How many features there were to choose from.
    stopped : str or None
        Why there are fewer steps than asked for, if so.
    stats : mapping, optional
        What the search cost: its strategy, passes over the table, products, and so on.
    options : mapping, optional
        What was asked for: the options of `select`, columns by their names.
    gaps : GapsFilled, optional
        What was missing in the table, and what was done about it.
    left_out : mapping of str to str, optional
        Columns that were found to be no features, each with the reason.
    origin : Origin, optional
        What it was found on, for `report`. Copies and pickles have none.
    certificate : Certificate, optional
        How good the set is among all sets of its size, for searches that compare sets.
    by_size : iterable of SizedSet, optional
        The best set of each size, where these are not the first so many steps.
    size_scores : SizeScores, optional
        Cross-validated scores of its sizes, if these say how many steps count.

    chosen : int, optional
        How many of the steps count; those after them are shown only. By default as many as
        `size_scores` say, or all.
    n_permutations : int, optional
        How many permutations of the response p-values were counted over.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from orthoselect import select
    >>> path = select(load_iris(as_frame=True).frame, "target", 2)
    >>> path
    SelectionPath: 2 of 4 features by socc
      step  feature            gain   total  of 2
         1  petal length (cm)  0.9414  0.9414  47.1%
         2  sepal width (cm)   0.1785  1.1199  56.0%
    >>> path[0].name, path[0].feature
    ('petal length (cm)', 2)
    """

    def __init__(
        self,
        steps: Iterable[SelectionStep],
        *,
        method: str,
        ceiling: float,
        n_candidates: int,
        stopped: str | None = None,
        stats: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        gaps: GapsFilled | None = None,
        left_out: Mapping[str, str] | None = None,
        origin: Origin | None = None,
        certificate: Certificate | None = None,
        by_size: Iterable[SizedSet] | None = None,
        size_scores: SizeScores | None = None,
        chosen: int | None = None,
        n_permutations: int | None = None,
    ) -> None:
        self._steps = tuple(steps)
        self.method = method
        self.ceiling = ceiling
        self.n_candidates = n_candidates
        self.stopped = stopped
        self.stats = dict(stats or {})
        self.options = dict(options or {})
        self.gaps = GapsFilled() if gaps is None else gaps
        self.left_out = dict(left_out or {})
        self._origin = origin
        self.certificate = certificate
        self._by_size = None if by_size is None else tuple(by_size)
        self.size_scores = size_scores
        if chosen is None and size_scores is not None:
            chosen = size_scores.chosen
        self._chosen = chosen
        self.n_permutations = n_permutations

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_origin": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        later: dict[str, Any] = {
            "_origin": None,
            "gaps": GapsFilled(),
            "left_out": {},
            "size_scores": None,
        }
        later |= {"_chosen": None, "n_permutations": None, "certificate": None, "_by_size": None}
        self.__dict__.update({**later, **state})

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, index: int) -> SelectionStep: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SelectionStep, ...]: ...
    def __getitem__(self, index: int | slice) -> SelectionStep | tuple[SelectionStep, ...]:
        return self._steps[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SelectionPath):
            return NotImplemented
        mine, theirs = self.to_dict(), other.to_dict()
        # How it was found does not change what was found.
        for key in ("stats", "options", "missing", "certificate"):
            mine[key] = theirs[key] = None
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    @property
    def features(self) -> list[int]:
        """Column of each step; for groups, the first of each."""
        return [step.feature for step in self]

    @property
    def names(self) -> list[str]:
        """Name of each step."""
        return [step.name for step in self]

    @property
    def gains(self) -> list[float]:
        """What each step added."""
        return [step.gain for step in self]

    @property
    def knows_chance(self) -> bool:
        """Whether it is known what chance alone would give: where features own several columns."""
        return any(step.chance is not None for step in self)

    @property
    def p_values(self) -> list[float | None]:
        """P-value of each step, None where it was not tested."""
        return [step.p_value for step in self]

    @property
    def effective_candidates(self) -> list[float | None]:
        """How many independent candidates there were at each step, None where not tested."""
        return [step.effective_candidates for step in self]

    @property
    def explains_columns(self) -> bool:
        """Whether all columns are explained, without a target, beside principal components."""
        return any(step.components is not None for step in self)

    @property
    def is_tested(self) -> bool:
        """Whether steps have p-values."""
        return any(step.p_value is not None for step in self)

    @property
    def chosen(self) -> int:
        """How many of the steps count; the others are shown only."""
        return len(self) if self._chosen is None else self._chosen

    @property
    def columns(self) -> list[int]:
        """All columns of its steps, group by group."""
        return [column for step in self for column in step.columns]

    @property
    def chosen_columns(self) -> list[int]:
        """The columns of the steps that count."""
        return [column for step in self[: self.chosen] for column in step.columns]

    @property
    def total(self) -> float:
        """What all chosen features reach together."""
        return self[self.chosen - 1].total if self.chosen else 0.0

    def up_to_chosen(self) -> SelectionPath:
        """Return the path of the steps that count.

        Where the size was cross-validated, it is as if so many had been asked for.
        """
        if self.size_scores is None and self.chosen == len(self):
            return self
        part = copy.copy(self)
        part._steps, part._chosen = self._steps[: self.chosen], self.chosen
        part.stopped = None if self.chosen else self.stopped
        part._origin = self._origin
        if self.size_scores is not None:
            options = {k: v for k, v in self.options.items() if k not in SIZE_OPTIONS}
            part.options = {**options, "n_features_to_select": self.chosen}
            part.size_scores = None
        return part

    @property
    def by_size(self) -> tuple[SizedSet, ...]:
        """The best set of each size that was found, up to that of the path.

        Those of forward selection are the first so many steps; others need not be nested.

        Examples
        --------
        >>> from orthoselect import select
        >>> path = select("wine", None, 3, search="exact")
        >>> [one.names for one in path.by_size][:2]
        [('flavanoids',), ('flavanoids', 'alcohol')]
        """
        if self._by_size is not None:
            return self._by_size
        return tuple(
            SizedSet(size, tuple(self.features[:size]), tuple(self.names[:size]), step.total)
            for size, step in enumerate(self, start=1)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the path as plain numbers, strings and lists, ready for JSON.

        What JSON has no number for is None: a ceiling that does not exist, a gain without bound.
        """
        steps = [
            {
                "step": number,
                "feature": step.feature,
                "name": step.name,
                "gain": finite(step.gain),
                "total": finite(step.total),
                "columns": list(step.columns),
                **({"chance": finite(step.chance)} if step.chance is not None else {}),
                **({} if step.components is None else {"components": step.components}),
                **_tested(step),
            }
            for number, step in enumerate(self, start=1)
        ]
        return {
            "method": self.method,
            "ceiling": finite(self.ceiling),
            "n_candidates": self.n_candidates,
            "stopped": self.stopped,
            "stats": dict(self.stats),
            "options": plain(self.options),
            "missing": self.gaps.to_dict(),
            **self._test_facts(),
            "steps": steps,
            **self._about_set(),
            "chosen": self.chosen,
            **({} if self.size_scores is None else {"size_scores": self.size_scores.to_dict()}),
        }

    def _test_facts(self) -> dict[str, Any]:
        """Return what is known of tests, nothing if there were none."""
        if self.n_permutations is None:
            return {}
        return {"n_permutations": self.n_permutations}

    def _about_set(self) -> dict[str, Any]:
        """Return what a search that compares sets knows besides, plain."""
        if self.certificate is None:
            return {}
        sets = [one.to_dict() for one in self.by_size]
        return {"certificate": self.certificate.to_dict(), "by_size": sets}

    def _rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of the table that other programs read."""
        rows: list[tuple[Any, ...]] = [
            (n, s.feature, s.name, s.gain, s.total) for n, s in enumerate(self, start=1)
        ]
        if self.knows_chance:
            rows = [(*row, step.chance) for row, step in zip(rows, self)]
        if self.explains_columns:
            rows = [(*row, step.components) for row, step in zip(rows, self)]
        if self.is_tested:
            rows = [(*row, step.p_value) for row, step in zip(rows, self)]
        if self._chosen is not None:
            rows = [(*row, number < self.chosen) for number, row in enumerate(rows)]
        if self.size_scores is not None:
            points = [
                self.size_scores.by_size.get(number, {}) for number in range(1, len(self) + 1)
            ]
            rows = [(*row, *map(p.get, _SCORE_COLUMNS.values())) for row, p in zip(rows, points)]
        return rows

    @property
    def _columns(self) -> dict[str, str]:
        """The columns of that table, and what they hold."""
        columns = {**_COLUMNS, **({"chance": "Float64"} if self.knows_chance else {})}
        columns |= {"components": "Float64"} if self.explains_columns else {}
        columns |= {"p": "Float64"} if self.is_tested else {}
        columns |= {"chosen": "Boolean"} if self._chosen is not None else {}
        scored = {} if self.size_scores is None else dict.fromkeys(_SCORE_COLUMNS, "Float64")
        return columns | scored

    def _title(self) -> str:
        return f"{self.chosen} of {self.n_candidates} features by {self.method}"

    def assumptions(self) -> str | None:
        """Say how p-values were found and what they assume; None if there are none."""
        if not self.is_tested:
            return None
        within = self.options.get("permute_within")
        if self.stats.get("strategy") == "statistics":
            how = f"{self.n_permutations} random directions, as if rows were normal"
        elif within is None:
            how = f"{self.n_permutations} permutations; rows are assumed to be exchangeable"
        else:
            among = "given labels" if within == "given" else within
            how = f"{self.n_permutations} permutations; rows are exchanged within {among}"
        known = [n for n in self.effective_candidates if n is not None]
        worth = ""
        if known and known[0] < self.n_candidates:
            worth = f"; {self.n_candidates} features count as {known[0]:.0f}"
        return f"p: {how}{worth}"

    def beside_components(self) -> str | None:
        """Say what is explained of all columns, and what principal components could; or None."""
        if not self.explains_columns or not self.chosen:
            return None
        last = self[self.chosen - 1]
        features = "1 feature explains" if self.chosen == 1 else f"{self.chosen} features explain"
        return (
            f"{features} {100 * last.total:.1f}% of all columns; principal components of the same "
            f"rank could explain {100 * (last.components or 0.0):.1f}%"
        )

    def to_text(self, *, bars: bool = False) -> str:
        """Return the path as a table for people.

        Parameters
        ----------
        bars : bool, default=False
            Draw what each feature added behind its numbers.
        """
        header, rows = cells_of(self)
        if bars:
            largest = max(filter(math.isfinite, self.gains), default=0.0) or 1.0
            header = [*header, ""]
            rows = [(*row, bar(step.gain / largest)) for row, step in zip(rows, self)]
        left = {1, *(at for at, name in enumerate(header) if not name)}
        lines = [self._title(), as_table(header, rows, left=left, indent="  ")]
        lines += [f"  {said}" for said in (self.assumptions(), self.beside_components()) if said]
        if self.stopped:
            lines.append(f"  stopped: {self.stopped}")
        if self.certificate is not None:
            lines.append(f"  {self.certificate}")
        if self.gaps:
            lines.append(f"  {self.gaps}")
        if self.size_scores is not None:
            lines += [f"  {one}" for one in (self.size_scores.sentence, *self.size_scores.notes)]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw the running total, step by step, against its ceiling.

        Up to 30 steps have a row each, with their names; more are drawn as a curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new pyplot figure, which notebooks show.

        Returns
        -------
        ax : matplotlib Axes

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from orthoselect import select
        >>> path = select(load_iris(as_frame=True).frame, "target", 2)
        >>> ax = path.plot(Figure().subplots())
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['petal length (cm)', 'sepal width (cm)']
        """
        from orthoselect import plots

        named = len(self) <= _NAMED_IN_PLOT
        if ax is None:
            ax = plots.new_axes(600, 90 + 32 * len(self) if named else 360)
        draw = plots.draw_path if named else plots.draw_path_by_step
        return draw(self.to_dict()["steps"], finite(self.ceiling), ax)

    def report(
        self,
        file: str | Path,
        data: Any = None,
        target: Any = None,
        *,
        sample_weight: Any = None,
        title: str | None = None,
        overwrite_source: bool = False,
    ) -> Path:
        """Write a page about the path: what was chosen, why, and why not the others.

        The path knows what it was found on: the name of a file or of a data set, a small table (32
        MB), and a larger one as long as somebody else has it. Else, and after it was pickled or
        copied, `data` and `target` have to be passed again.

        Parameters
        ----------
        file : str or Path
            Where to write. A name that ends in .html makes a page (which needs matplotlib, the
            extra `report`), one in .json the same as plain data.
        data, target : as in `select`, optional
            Those that the path was found on.
        sample_weight : array-like of shape (N,) or str, optional
            The row weights, if there were any, and `data` is passed.
        title : str, optional
            What to call the data.
        overwrite_source : bool, default=False
            Whether `file` may be one that the data are read from; else that is an error.

        Returns
        -------
        file : Path
            Where it was written.

        Examples
        --------
        >>> import tempfile
        >>> from orthoselect import select
        >>> path = select("wine", None, 3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path.report(f"{folder}/wine.json").name
        'wine.json'
        """
        if data is None:
            if target is not None or sample_weight is not None:
                raise InputError(
                    "`data` should come with `target` and `sample_weight`, since all three belong "
                    "together; it is not given. Pass it, or none of them."
                )
            data, target, sample_weight = self._recall()
        # By its name: pages are made of paths, and paths do not know them.
        show = importlib.import_module("orthoselect.show")
        return show.report(
            self,
            data,
            target,
            file,
            sample_weight=sample_weight,
            title=title,
            overwrite_source=overwrite_source,
        )

    def _recall(self) -> tuple[Any, Any, Any]:
        if self._origin is None:
            raise InputError(
                "the path should know what it was found on; it does not, since it was pickled, "
                "copied, or made from its steps. Pass it: `path.report(file, data, target)`."
            )
        return self._origin.recall()

    def _repr_html_(self) -> str:
        header, rows = cells_of(self)
        cells = [[*map(html.escape, row), bar] for row, bar in zip(rows, bars_of(self))]
        stopped = f"; stopped: {self.stopped}" if self.stopped else ""
        stopped += f"; {self.gaps}" if self.gaps else ""
        stopped += f". {self.certificate}" if self.certificate is not None else ""
        stopped += "" if self.size_scores is None else f"; {self.size_scores.sentence}"
        for said in (self.assumptions(), self.beside_components()):
            stopped += f"; {said}" if said else ""
        return as_html(self._title() + stopped, [*header, ""], cells)


def _tested(step: SelectionStep) -> dict[str, Any]:
    """Return what a step says of tests, ready for JSON; nothing where there were none."""
    if step.p_value is None:
        return {}
    worth = step.effective_candidates
    return {
        "p_value": step.p_value,
        "effective_candidates": None if worth is None else finite(worth),
    }
