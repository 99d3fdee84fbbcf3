"""`stability`: from its arguments through all pairs of halves to the result."""

from __future__ import annotations

import os
import re
import signal
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from orthoselect.comparison.folds import check_whole, find_seed
from orthoselect.comparison.run import check_n_jobs
from orthoselect.encode.gaps import check_missing
from orthoselect.errors import StabilityInterrupted, warn, with_text
from orthoselect.halves.base import Halves, Places, Question
from orthoselect.halves.blocks import open_blocks
from orthoselect.halves.bounds import ASSUMPTIONS, Agreement, Room, false_features, settle
from orthoselect.halves.in_memory import open_rows
from orthoselect.halves.substitutes import find_sets, most_taken
from orthoselect.methods import METHODS, find_method
from orthoselect.problem import check_has_rows
from orthoselect.progress import PairsShown, reading_shown, with_bar
from orthoselect.read import find_table, why_not_whole
from orthoselect.result import FeatureFrequency, HalvesTaken, Stability, SubstituteSet
from orthoselect.result.text import plain
from orthoselect.roles import ColumnSpec, target_in_code
from orthoselect.search_request import TIME_LIMIT, make_search
from orthoselect.show.recipes import call_of
from orthoselect.versions import versions

Progress = Callable[[int, int], Any]
# Arguments that a call does not show if they are as here.
_DEFAULTS = {
    "n_features_to_select": None,
    "method": "socc",
    "n_pairs": 50,
    "threshold": None,
    "pfer": None,
    "assumption": "unimodal",
    "random_state": 0,
    "task": "auto",
    "response_encoding": "dummy",
    "categorical_features": "from_dtype",
    "groups": None,
    "include": None,
    "exclude": None,
    "search": "forward",
    "time_limit": TIME_LIMIT,
    "sample_weight": None,
    "missing": "error",
    "dates": "drop",
}


@with_bar("cutting in halves", PairsShown)
def stability(
    data: Any,
    target: Any,
    n_features_to_select: int | float | None = None,
    method: str = "socc",
    *,
    n_pairs: int = 50,
    threshold: float | None = None,
    pfer: float | None = None,
    assumption: str = "unimodal",
    random_state: int | None = 0,
    n_jobs: int | None = None,
    task: str = "auto",
    response_encoding: str = "dummy",
    categorical_features: ColumnSpec = "from_dtype",
    groups: Any = None,
    include: ColumnSpec = None,
    exclude: ColumnSpec = None,
    search: str = "forward",
    time_limit: float = TIME_LIMIT,
    sample_weight: Any = None,
    missing: str = "error",
    dates: str = "drop",
    memory: int | str | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Stability:
    """Find the features that many halves of the rows agree on, and bound how many are false.

    The rows are cut at random into two halves with the same shares of the classes, and each half
    selects its features. This is repeated for each of the pairs (Shah and Samworth 2013). Features
    that enough halves take are chosen. Two of these three determine the third: the size of each
    selection, the threshold, and the expected number of false features.

    Parameters
    ----------
    data, target : as in `select`
        A table of any kind. One that comes in blocks, or is too large for memory, is read once:
        see the notes.
    n_features_to_select : int or float, optional
        How many features each half takes: a count, or a fraction in (0, 1) of the features.
        Features in `include` come on top. By default as many as the threshold and `pfer` allow,
        and no more than half as many as a half has rows.
    method : str, default="socc"
        What features are judged by, as in `select`.
    n_pairs : int, default=50
        Pairs of halves.
    threshold : float, optional
        The share of halves, above 0.5, that must take a feature. The default is the lowest one that
        keeps `pfer` if `n_features_to_select` is given, else 0.75.
    pfer : float, optional
        Expected number of false features among the chosen, at most. 1 by default, unless the other
        two are given.
    assumption : {"unimodal", "r_concave", "none"}, default="unimodal"
        What the bound assumes of false features: nothing, or that the shares of pairs both of whose
        halves take them have one peak, or are r-concave (the strongest, which gives the lowest
        bound).
    random_state : int or None, default=0
        Seed of the halves. None: a new one, which the result holds.
    n_jobs : int, optional
        Processes at a time, as in scikit-learn; the result does not depend on it.
    task, response_encoding, categorical_features, groups, exclude, search, missing, dates, memory
        As in `select`. Gaps are filled by the means of each half; rows are dropped before they are
        cut in two.
    include : names or indices, optional
        Features that every half takes first. They are not counted, and have no frequency.
    sample_weight : array-like of shape (N,) or str, optional
        Row weights, as in `select`. Copies of a row stay in one half.
    progress : bool or callable, optional
        True: show a bar, as in `select`. A function is called as ``progress(done, total)`` whenever
        a pair is done.
    time_limit : float, default=60.0
        Seconds that the search of each half may take, as in `select`.
    **options
        Options of the method's own, and of the search's (`n_starts` of "swap", `width` of "beam").

    Returns
    -------
    stability : Stability

    Raises
    ------
    InputError
        If an argument is wrong, or size, threshold and `pfer` are impossible together.
    StabilityInterrupted
        On Ctrl-C; its attribute `stability` holds what the pairs done so far say.

    Notes
    -----
    For a table in blocks, one pass deals the rows at random to 64 blocks and keeps their means and
    inner products. Halves are made of these blocks. They take 16 times 64 p² bytes, where p counts
    numeric features, levels and classes. If memory is short there are fewer blocks, at least 16.
    Only the methods of `GramStatistics` work then.

    References
    ----------
    Shah and Samworth, Variable selection with error control: another look at stability selection,
    2013, https://doi.org/10.1111/j.1467-9868.2011.01034.x

    Examples
    --------
    >>> from orthoselect import stability
    >>> found = stability("breast_cancer", None, 4)
    >>> found.chosen
    ['worst concave points', 'worst texture', 'worst radius']
    >>> found.threshold, round(found.bound, 2)
    (0.64, 0.99)
    """
    given = {name: value for name, value in locals().items() if name in _DEFAULTS}
    general = {
        "task": task,
        "response_encoding": response_encoding,
        "categorical_features": categorical_features,
        "groups": groups,
        "sample_weight": sample_weight,
    }
    # Says what is wrong before any work is done.
    _, of_method = make_search(search, time_limit, options)
    chosen = find_method(method)
    chosen.check_has_target("`stability`")
    chosen.make(general, **of_method)
    pairs = check_whole(n_pairs, 2, "n_pairs")
    seed = find_seed(random_state)
    check_n_jobs(n_jobs)
    missing = check_missing(missing)
    check_has_rows(data, "`stability`")
    asked = {**general, "include": include, "exclude": exclude, "missing": missing, "dates": dates}
    del asked["response_encoding"]
    table = find_table(data, memory)
    with warnings.catch_warnings(record=True) as caught, reading_shown(table, progress):
        warnings.simplefilter("always")
        halves: Halves
        if why_not_whole(table) is None:
            halves = open_rows(data, table, target, **asked)
        else:
            halves = open_blocks(data, table, target, method=method, seed=seed, **asked)
    warned = list(dict.fromkeys(str(warning.message) for warning in caught))
    for warning in caught:
        warn(with_text(warning.category, str(warning.message)))
    agreement = settle(
        len(halves.features) - len(halves.included),
        pairs,
        q=n_features_to_select,
        threshold=threshold,
        pfer=pfer,
        assumption=assumption,
        room=_room(halves, method),
    )
    own = {"search": search, "time_limit": time_limit, **options}
    if "response_encoding" in METHODS[method].takes:
        own["response_encoding"] = response_encoding
    question = Question(method, agreement.q + len(halves.included), own, seed)
    given |= {"random_state": seed, "missing": missing, **options}
    collector = HalvesCollector(halves, question, agreement, given, warned)
    _run_all(halves, question, pairs, n_jobs, progress, collector)
    return collector.finish()


def _room(halves: Halves, method: str) -> Room:
    kind = METHODS[method]
    explains_all = "response_encoding" in kind.takes  # columns of the response at once
    return Room(
        halves.n_rows_in_half,
        halves.n_response if explains_all else 1,
        len(halves.included),
        is_rank=explains_all or not kind.needs_rows,
    )


# One pair after the other


@dataclass(frozen=True)
class PairTaken:
    """What the halves of one pair took."""

    number: int
    taken: tuple[Places, Places]
    warnings: list[tuple[type[Warning], str]]


def run_pair(halves: Halves, question: Question, number: int, process: int) -> PairTaken:
    """Select on both halves of a pair; warnings are kept, not shown."""
    if os.getpid() != process:
        # A terminal sends Ctrl-C to all processes; the one that asked for the work ends the others.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    # One thread: processes share the cores.
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(limits=1):
        warnings.simplefilter("always")
        taken = halves.select(question, number)
    said = [(warning.category, str(warning.message)) for warning in caught]
    return PairTaken(number, taken, list(dict.fromkeys(said)))


def _run_all(
    halves: Halves,
    question: Question,
    n_pairs: int,
    n_jobs: int | None,
    progress: Any,
    collector: HalvesCollector,
) -> None:
    """Hand every pair to the collector as it arrives; Ctrl-C raises with what it has.

    The pairs run in processes: what threads warn of cannot be told apart.
    """
    parallel = Parallel(n_jobs=n_jobs, backend="loky", return_as="generator_unordered")
    process = os.getpid()
    try:
        arriving = parallel(
            delayed(run_pair)(halves, question, number, process) for number in range(n_pairs)
        )
        try:
            for done, pair in enumerate(arriving, start=1):
                collector.pairs.append(pair)
                if progress is not None:
                    progress(done, n_pairs)
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib's words on tasks that are not wanted now
                arriving.close()
    except KeyboardInterrupt:
        done = len(collector.pairs)
        found = collector.stability() if done else None
        raise StabilityInterrupted(found, done, n_pairs) from None


# What came of it


@dataclass
class HalvesCollector:
    """What pairs have taken so far, and the result that it makes."""

    halves: Halves
    question: Question
    agreement: Agreement
    given: Mapping[str, Any]  # the arguments of `stability`
    warned: list[str]  # what was warned of before the first pair
    pairs: list[PairTaken] = field(default_factory=list)  # in any order

    def finish(self) -> Stability:
        """Return the result, and warn once of each thing."""
        found = self.stability()
        for warning in self._warnings():
            warn(warning)
        return found

    def stability(self) -> Stability:
        """Return the result as far as it goes."""
        halves, done = self.halves, self.agreement.with_pairs(len(self.pairs))
        taken = [half for pair in self.pairs for half in pair.taken]
        given = set(halves.included)
        candidates = [place for place in range(len(halves.features)) if place not in given]
        counts, order = self._count(taken)
        compared = most_taken([counts[c] for c in candidates])
        bases, n_rows = halves.bases([candidates[p] for p in compared])
        at = {candidate: p for p, candidate in enumerate(candidates)}
        sets = find_sets({at[c]: basis for c, basis in bases.items()}, len(candidates))
        ranked = sorted(range(len(candidates)), key=lambda p: order[candidates[p]])
        covers_all = len(compared) == len(candidates)
        return Stability(
            self._features(ranked, candidates, counts, sets, done),
            self._sets(ranked, candidates, taken, sets, done),
            self._taken(done, n_rows),
            {a: false_features(*_numbers(done), a) for a in ASSUMPTIONS},
            self._set_bound(done, len(sets)) if covers_all else None,
        )

    def _count(self, taken: list[Places]) -> tuple[list[int], list[tuple[float, ...]]]:
        """Return how often each feature was taken, and what features are ranked by."""
        n = len(self.halves.features)
        counts, places = [0] * n, [0] * n
        for half in taken:
            for step, feature in enumerate(half):
                counts[feature] += 1
                places[feature] += step
        # The more frequent first, of these the one taken earlier, then by the table's order.
        return counts, [(-counts[f], places[f] / max(counts[f], 1), f) for f in range(n)]

    def _features(
        self,
        ranked: list[int],
        candidates: list[int],
        counts: list[int],
        sets: list[list[int]],
        done: Agreement,
    ) -> list[FeatureFrequency]:
        set_of = {p: number for number, members in enumerate(sets) for p in members}
        found = []
        for p in ranked:
            feature, count = self.halves.features[candidates[p]], counts[candidates[p]]
            is_chosen = count >= round(done.threshold * 2 * done.n_pairs)
            frequency = count / (2 * done.n_pairs)
            columns = feature.columns
            found.append(
                FeatureFrequency(
                    min(columns), feature.name, columns, frequency, is_chosen, set_of[p]
                )
            )
        return found

    def _sets(
        self,
        ranked: list[int],
        candidates: list[int],
        taken: list[Places],
        sets: list[list[int]],
        done: Agreement,
    ) -> list[SubstituteSet]:
        rank = {p: k for k, p in enumerate(ranked)}
        set_of = {candidates[p]: number for number, members in enumerate(sets) for p in members}
        counts = np.zeros(len(sets), dtype=np.intp)
        for half in taken:
            counts[list({set_of[feature] for feature in half})] += 1
        enough = round(done.threshold * 2 * done.n_pairs)
        features = self.halves.features
        return [
            SubstituteSet(
                tuple(features[candidates[p]].name for p in sorted(members, key=rank.__getitem__)),
                int(count) / (2 * done.n_pairs),
                bool(count >= enough),
            )
            for members, count in zip(sets, counts)
        ]

    def _set_bound(self, done: Agreement, n_sets: int) -> float:
        """Return the bound for sets, which are taken as features are: q of them at most."""
        if done.q >= n_sets:
            return float(n_sets)
        return false_features(n_sets, done.q, done.threshold, done.n_pairs, done.assumption)

    def _taken(self, done: Agreement, n_rows_compared: int) -> HalvesTaken:
        halves, facts = self.halves, self.halves.facts
        warned = [*self.warned, *(str(warning) for warning in self._warnings())]
        return HalvesTaken(
            method=self.question.method,
            q=done.q,
            threshold=done.threshold,
            assumption=done.assumption,
            n_pairs=done.n_pairs,
            n_pairs_wanted=self.agreement.n_pairs,
            seed=self.question.seed,
            included=tuple(halves.features[place].name for place in halves.included),
            n_blocks=halves.n_blocks,
            n_rows_compared=n_rows_compared,
            title=facts.title,
            target=facts.target,
            task=facts.task,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            method_summary=METHODS[self.question.method].summary,
            data={**facts.data, "warnings": warned},
            reproduce=self._reproduce(),
        )

    def _reproduce(self) -> dict[str, Any]:
        """Return what is needed to do it again, plain."""
        facts, given = self.halves.facts, dict(self.given)
        told = {
            name: _code(value)
            for name, value in given.items()
            if name not in _DEFAULTS or not _same(value, _DEFAULTS[name])
        }
        if "sample_weight" in told and not isinstance(given["sample_weight"], str):
            # Weights that were given as values go by their argument's name.
            given["sample_weight"], told["sample_weight"] = "given", "sample_weight"
        target = target_in_code(facts.target_columns)
        settings = (f"{name}={code}" for name, code in told.items())
        call = call_of("stability", [facts.file or "data", target, *settings], "found")
        return {
            "command": None,
            "python": f"from orthoselect import stability\n\n{call}",
            "options": plain(given),
            "seed": self.question.seed,
            "versions": versions("numpy", "scipy", "scikit-learn", "joblib"),
        }

    def _warnings(self) -> list[Warning]:
        """Return each kind of warning once, with the number of pairs it is for.

        Texts that differ only in their numbers are the same.
        """
        heard: dict[tuple[type[Warning], str], list[tuple[int, str]]] = {}
        for pair in sorted(self.pairs, key=lambda pair: pair.number):
            for kind, text in pair.warnings:
                heard.setdefault((kind, re.sub(r"\d+", "#", text)), []).append((pair.number, text))
        return [
            with_text(
                kind,
                f"{found[0][1]} ({len({number for number, _ in found})} of {len(self.pairs)} pairs "
                f"of halves)",
            )
            for (kind, _), found in heard.items()
        ]


def _numbers(done: Agreement) -> tuple[int, int, float, int]:
    return done.n_candidates, done.q, done.threshold, done.n_pairs


def _same(value: Any, usual: Any) -> bool:
    return value is usual or (isinstance(value, (str, int, float)) and value == usual)


def _code(value: Any) -> str:
    """Return a value as Python writes it, in one line; what is long by its type."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else "..."
