"""Which features many halves of the rows agree on, and how many of them may be false."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orthoselect.result.tabular import Reported, escaped
from orthoselect.result.text import as_table, bar, plain

_ROWS_SHOWN = 20
_NAMES_TOLD = 6
_ROWS_IN_PLOT = 30
# The columns of the result as a table, and what they hold.
_COLUMNS = {
    "feature": "Int64",
    "name": "String",
    "frequency": "Float64",
    "chosen": "Boolean",
    "set": "Int64",
    "set_frequency": "Float64",
}


@dataclass(frozen=True)
class FeatureFrequency:
    """How often a feature was taken.

    Attributes
    ----------
    feature : int
        Its column in the table; for a group, the first of its columns.
    name : str
        Its name, or the group's.
    columns : tuple of int
        All its columns in the table.
    frequency : float
        The share of halves that took it.
    chosen : bool
        Whether these are enough.
    set : int
        Which of the sets of substitutes it is in.
    """

    feature: int
    name: str
    columns: tuple[int, ...]
    frequency: float
    chosen: bool
    set: int


@dataclass(frozen=True)
class SubstituteSet:
    """Features that stand in for each other, and the share of halves that took any of them."""

    names: tuple[str, ...]  # the most frequent first
    frequency: float
    chosen: bool


@dataclass(frozen=True)
class HalvesTaken:
    """What was asked of the halves, and what is known of the data."""

    method: str
    q: int  # how many features each half took, those that were included not counted
    threshold: float
    assumption: str  # of the bound
    n_pairs: int  # that were done
    n_pairs_wanted: int
    seed: int
    included: tuple[str, ...] = ()  # features that each half was given
    n_blocks: int | None = None  # random blocks that halves are made of; None for single rows
    n_rows_compared: int = 0  # that substitutes were found by
    title: str = "table"
    target: str = "y"
    task: str = "classification"
    created: str = ""
    method_summary: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)  # facts about the data, plain
    reproduce: Mapping[str, Any] = field(default_factory=dict)  # how to do it again, plain

    @property
    def n_halves(self) -> int:
        """How many halves selected features."""
        return 2 * self.n_pairs


class Stability(Reported):
    """How often halves of the rows agree on each feature, and which they agree on often enough.

    As a table (`to_frame`, `to_csv`) it has one row a feature, the most frequent first, with
    columns feature, name, frequency, chosen, set and set_frequency: features with the same set are
    substitutes, and that is the share of halves that took any of them.

    Parameters
    ----------
    features : sequence of FeatureFrequency
        All candidates, the most frequent first.
    sets : sequence of SubstituteSet
        Every feature is in one of them, most of them alone.
    taken : HalvesTaken
    bounds : mapping of str to float
        Expected number of false features among the chosen at most, by assumption.
    set_bound : float or None
        The same for sets without any true feature among the chosen sets; None where the sets do
        not cover all features.

    Attributes
    ----------
    features : tuple of FeatureFrequency
    sets : tuple of SubstituteSet
    taken : HalvesTaken
    bounds : dict of str to float
    set_bound : float or None

    Examples
    --------
    >>> from orthoselect import stability
    >>> found = stability("wine", None, 3, threshold=0.75)
    >>> found.chosen
    ['flavanoids']
    >>> found.frequencies["flavanoids"], round(found.bound, 2)
    (0.82, 0.71)
    >>> found.substitutes[0].names, found.substitutes[0].frequency
    (('flavanoids', 'od280/od315_of_diluted_wines', 'total_phenols'), 1.0)
    """

    def __init__(
        self,
        features: Sequence[FeatureFrequency],
        sets: Sequence[SubstituteSet],
        taken: HalvesTaken,
        bounds: Mapping[str, float],
        set_bound: float | None = None,
    ) -> None:
        self.features, self.sets, self.taken = tuple(features), tuple(sets), taken
        self.bounds, self.set_bound = dict(bounds), set_bound

    @property
    def frequencies(self) -> dict[str, float]:
        """The share of halves that took each feature, by its name, the most frequent first."""
        return {one.name: one.frequency for one in self.features}

    @property
    def chosen(self) -> list[str]:
        """The features that enough halves took, the most frequent first."""
        return [one.name for one in self.features if one.chosen]

    @property
    def substitutes(self) -> list[SubstituteSet]:
        """The sets of several features of which any was taken, the most frequent first."""
        found = [one for one in self.sets if len(one.names) > 1 and one.frequency > 0]
        return sorted(found, key=lambda one: -one.frequency)

    @property
    def threshold(self) -> float:
        """The share of halves that is enough."""
        return self.taken.threshold

    @property
    def q(self) -> int:
        """How many features each half took, those that were included not counted."""
        return self.taken.q

    @property
    def bound(self) -> float:
        """How many of the chosen features are expected to be false, at most."""
        return self.bounds[self.taken.assumption]

    @property
    def complete(self) -> bool:
        """Whether all pairs of halves were done that were asked for."""
        return self.taken.n_pairs == self.taken.n_pairs_wanted

    @property
    def sentence(self) -> str:
        """The result in words."""
        n, p, taken = len(self.chosen), len(self.features), self.taken
        enough = f"{round(taken.threshold * taken.n_halves)} of {taken.n_halves} halves"
        each = f"{taken.q} {'feature' if taken.q == 1 else 'features'} a half"
        if not n:
            said = f"No feature of {p} is stable: none is taken by {enough} of the rows ({each})."
        else:
            is_one = n == 1
            said = (
                f"{n} of {p} features {'is' if is_one else 'are'} stable, taken by at least "
                f"{enough} of the rows ({each}): {_listed(self.chosen)}. Of the chosen features "
                f"at most {_digits(self.bound)} {'is' if self.bound == 1 else 'are'} expected to "
                f"be false."
            )
        missed = [one for one in self._chosen_sets() if not self._has_chosen(one)]
        if missed:
            told = "; ".join(f"{_listed(one.names)} ({one.frequency:.0%})" for one in missed[:3])
            said += (
                f" These sets of substitutes are stable, although none of their features is: {told}"
            )
            if self.set_bound is not None and not self._sets_are_unbounded():
                said += f"; of the chosen sets at most {_digits(self.set_bound)} are expected false"
            said += "."
        if not self.complete:
            said += f" Only {taken.n_pairs} of {taken.n_pairs_wanted} pairs of halves were done."
        return said

    def _chosen_sets(self) -> list[SubstituteSet]:
        return [one for one in self.substitutes if one.chosen]

    def _sets_are_unbounded(self) -> bool:
        """Whether the bound for sets is no less than the number of sets, and so says nothing."""
        return self.set_bound is not None and self.set_bound >= len(self.sets)

    def _has_chosen(self, substitutes: SubstituteSet) -> bool:
        chosen = set(self.chosen)
        return any(name in chosen for name in substitutes.names)

    @property
    def assumptions(self) -> list[str]:
        """What the numbers mean, and what they take for granted, a sentence or two each."""
        taken, p = self.taken, len(self.features)
        blind = f"{taken.q} of {p} ({taken.q / p:.1%})" if p else "none"
        found = [
            f"A feature counts as false if a half takes it no more often than a blind pick of "
            f"{blind} would. All noise is of this kind if its features are exchangeable and "
            f"{taken.method} does no worse than a blind pick."
        ]
        if taken.assumption != "none":
            shape = {"unimodal": "have one peak", "r_concave": "are r-concave"}[taken.assumption]
            found.append(
                f"The bound of {_digits(self.bound)} assumes that the shares of pairs both of "
                f"whose halves take such a feature {shape}; without that it is "
                f"{_digits(self.bounds['none'])}."
            )
        found.append(
            "Halves stand for new samples: rows should be exchangeable. Where rows belong "
            "together (of one person, or one after the other in time) frequencies are too high."
        )
        found.append(self._on_sets())
        if taken.n_blocks is not None:
            found.append(
                f"Rows were dealt at random to {taken.n_blocks} blocks in one pass, and halves are "
                f"made of these blocks."
            )
        return found

    def _on_sets(self) -> str:
        said = (
            "Features are substitutes if they share more than half of their variation, on average "
            "over the pairs of a set, whatever the target. A half takes a set if it takes any of it"
        )
        if self.set_bound is None:
            return f"{said}; there is no bound for sets, since rarely taken features are in none."
        if self._sets_are_unbounded():
            each, n = f"each half takes up to {self.taken.q}", len(self.sets)
            return f"{said}; there is no bound for sets, of which there are {n} and {each}."
        return (
            f"{said}; of {len(self.sets)} sets at most {_digits(self.set_bound)} are expected to "
            f"be chosen falsely."
        )

    # As data

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists, ready for JSON."""
        t = self.taken
        return {
            "kind": "stability",
            **{name: getattr(t, name) for name in _KEYS},
            "included": list(t.included),
            "n_candidates": len(self.features),
            "complete": self.complete,
            "bound": self.bound,
            "bounds": self.bounds,
            "n_sets": len(self.sets),
            "set_bound": self.set_bound,
            "chosen": self.chosen,
            "features": [{**vars(one), "columns": list(one.columns)} for one in self.features],
            "substitutes": [
                {**vars(one), "names": list(one.names), "any_chosen": self._has_chosen(one)}
                for one in self.substitutes
            ],
            "sentence": self.sentence,
            "assumptions": self.assumptions,
            "data": plain(t.data),
            "reproduce": plain(t.reproduce),
        }

    @property
    def _columns(self) -> Mapping[str, str]:
        return _COLUMNS

    def _rows(self) -> list[tuple[Any, ...]]:
        return [
            (f.feature, f.name, f.frequency, f.chosen, f.set, self.sets[f.set].frequency)
            for f in self.features
        ]

    # For people

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        header = ["feature", "frequency", "chosen", "with its substitutes"]
        rows = []
        for one in self._shown():
            own = self.sets[one.set]
            others = [name for name in own.names if name != one.name]
            rows.append(
                [
                    " ".join(one.name.splitlines()),
                    f"{one.frequency:.1%}",
                    "yes" if one.chosen else "",
                    f"{own.frequency:.1%} ({_listed(others, 2)})" if others else "",
                ]
            )
        return header, rows

    def _shown(self) -> list[FeatureFrequency]:
        """Return the features that people see: those taken at all, or as many as are chosen."""
        most = max(_ROWS_SHOWN, len(self.chosen))
        return [one for one in self.features if one.frequency > 0][:most]

    def _heading(self) -> str:
        t = self.taken
        return (
            f"{len(self.chosen)} of {len(self.features)} features, by {t.method} on {t.n_halves} "
            f"halves of the rows, {t.q} each, threshold {t.threshold:.3g}"
        )

    def _notes(self) -> list[str]:
        more = sum(one.frequency > 0 for one in self.features) - len(self._shown())
        never = sum(one.frequency == 0 for one in self.features)
        rest = [f"{more} more {_are(more)} taken less often"] * bool(more)
        rest += [f"{never} {_are(never)} never taken"] * bool(never)
        given = f"Given to each half: {_listed(self.taken.included)}."
        notes = [f"{', '.join(rest).capitalize()}."] * bool(rest)
        notes += [given] * bool(self.taken.included)
        return [*notes, self.sentence, *self.assumptions]

    def to_text(self, *, bars: bool = False) -> str:
        """Return the table that people see, and what it means.

        Parameters
        ----------
        bars : bool, default=False
            Draw the frequencies behind the numbers.
        """
        header, rows = self._cells()
        left = {0, 2, 3}
        if bars:
            header = [*header, ""]
            rows = [[*row, bar(one.frequency)] for row, one in zip(rows, self._shown())]
            left = {*left, 4}
        table = [as_table(header, rows, left=left, indent="  ")] if rows else []
        return "\n".join([self._heading(), *table, *(f"  {note}" for note in self._notes())])

    def _html_tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        header, rows = self._cells()
        return [(self._heading(), header, escaped(rows))]

    def plot(self, ax: Any = None) -> Any:
        """Draw the frequencies as bars, with the threshold; rings are sets of substitutes.

        The 30 most frequent features are drawn.

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
        >>> from orthoselect import stability
        >>> ax = stability("iris", None, 1, n_pairs=10).plot(Figure().subplots())
        >>> ax.get_yticklabels()[0].get_text()
        'petal length (cm)'
        """
        from orthoselect import plots

        rows = self.rows_to_draw()
        if ax is None:
            ax = plots.new_axes(600, 100 + 26 * len(rows))
        return plots.draw_frequencies(rows, self.threshold, ax)

    def rows_to_draw(self) -> list[dict[str, Any]]:
        """Return the most frequent features for a chart, with the frequency of their sets."""
        drawn = [one for one in self.features if one.frequency > 0] or self.features
        return [
            {
                "name": one.name,
                "frequency": one.frequency,
                "chosen": one.chosen,
                "set_frequency": own.frequency if len(own.names) > 1 else None,
            }
            for one in drawn[:_ROWS_IN_PLOT]
            for own in [self.sets[one.set]]
        ]


# What is reported of the halves beside the rest.
_KEYS = (
    *("title", "created", "target", "task", "method", "method_summary", "q", "threshold"),
    *("assumption", "n_pairs", "n_pairs_wanted", "n_halves", "n_blocks", "n_rows_compared", "seed"),
)


def _listed(names: Sequence[str], most: int = _NAMES_TOLD) -> str:
    clean = [" ".join(name.split()) for name in names]
    more = len(clean) - most
    return ", ".join(clean[:most]) + (f" and {more} more" if more > 0 else "")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _digits(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"
