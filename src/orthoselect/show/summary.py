"""A path and its data -> one plain dictionary that says all that a page or a command shows."""

from __future__ import annotations

import warnings as python_warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.encode import CodedDesign, build_design
from orthoselect.matrix.base import EPS, Floats
from orthoselect.matrix.threads import single_threaded_blas
from orthoselect.methods import METHODS
from orthoselect.read import response_columns
from orthoselect.result import SelectionPath
from orthoselect.result.text import finite
from orthoselect.roles import Problem
from orthoselect.show.explained import (
    FeatureColumns,
    SelectedSet,
    most_explained,
    selected_set,
    what_remains,
)
from orthoselect.show.facts import data_facts, kind_of, reproduction, response_names, responses
from orthoselect.show.pictures import find_distributions, find_separation
from orthoselect.show.replay import Replay, replay
from orthoselect.show.sentence import Reached, answer
from orthoselect.show.verdicts import judge, weigh_evidence

MOST_CORRELATED = 40
# Methods by which a column adds one at most, and all together as many as the response has.
_CORRELATIONS = ("socc", "socc_discretized")
# Methods whose gains add up to what the selected set explains.
_ADDS_UP = (*_CORRELATIONS, "err", "mser")


def summarize(
    path: SelectionPath,
    data: Any,
    target: Any,
    *,
    sample_weight: Any = None,
    source: str | None = None,
    target_name: str | Sequence[str] | None = None,
    command: str | None = None,
    left_out: Mapping[str, str] | None = None,
    warnings: Iterable[object] = (),
) -> dict[str, Any]:
    """Tell all about a path: what it reaches, why the others were not chosen, what the data are.

    The path is walked again on its data, so that this takes about as long as the selection, or
    twice that. Nothing is random.

    Parameters
    ----------
    path : SelectionPath
        What `select` returned.
    data, target : as in `select`
        Those that the path was found on.
    sample_weight : array-like of shape (N,), optional
        The row weights, if the path was found with any.
    source : str, optional
        What to call the data.
    target_name : str or sequence of str, optional
        What to call the response, if it does not know its name; of several columns each.
    command : str, optional
        The command that does the same, if one did.
    left_out : mapping of str to str, optional
        Columns that were no candidates, and why. Columns in `exclude` are added.
    warnings : iterable, optional
        What was warned of on the way.

    Returns
    -------
    summary : dict
        Plain numbers, strings, lists and dictionaries, ready for JSON; None for what has no
        number. Beside the entries of `path.to_dict()`:

        ``kind, title, created, target, task, sentence, method_summary, method_source``
            In words.
        ``responses``
            Name and kind ("classes" or "numbers") of each column of the response. Of several the
            pictures and the facts show the first.
        ``adds_up``
            Whether gains add up to what the set explains; else they are scores, each relative to
            its step, and their total says nothing.
        ``judged_by``
            What verdicts rest on in place of the method's scores; None if on these.
        ``reachable``
            The most that the features up to each step can reach: as many as they have columns,
            and the ceiling at most. None for methods that have no such bound.
        ``set``
            Canonical correlations R of the selected set and the response; for classes Fisher's
            criteria R^2/(1 - R^2), None where R is 1; for one numeric response R^2.
        ``features``
            Every feature with its score alone (`relevance`), given all selected (`gain`), the
            share of its variance that the selected set does not explain (`remains`; of a selected
            feature what those before it do not), the selected feature that explains most of it
            and which share, and a verdict; see `orthoselect.show.verdicts`. A block has the mean
            over its directions.
        ``substitutes``
            For each step the five features not taken by then that would have added most instead,
            by which share the winner was ahead (`margin`), which share of the runner-up's variance
            the winner explains, and the later step that took the runner-up (`chosen_at`), if any.
        ``separation, distributions, correlations``
            For pictures. Rows are sampled, always the same ones.
        ``data, reproduce``
            Facts, and how to get the same again.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from orthoselect import select
    >>> iris = load_iris(as_frame=True).frame
    >>> summary = summarize(select(iris, "target", 2), iris, "target")
    >>> summary["sentence"]
    '2 of 4 features explain 56.0 % of what separates the 3 classes of target; the first, petal
    length (cm), alone explains 47.1 %.'
    >>> [(f["name"], f["verdict"]) for f in summary["features"]][-1]
    ('petal width (cm)', 'nearly chosen')
    """
    walked = replay(path, data, target, sample_weight)
    problem, features = walked.problem, walked.design.features
    named = response_columns(target, problem.table.names)
    names = named or response_names(target, len(problem.response.parts), target_name)
    with python_warnings.catch_warnings(), single_threaded_blas():
        python_warnings.simplefilter("ignore")
        whys = _Whys(walked, path)
    selected = [features[f] for f in walked.places]
    return {
        **outline(path),
        "title": source or _title(data, names),
        "target": ", ".join(names),
        "responses": responses(problem, names),
        "task": problem.response.task,
        "sentence": answer(path, problem, names, whys.reached),
        "adds_up": path.method in _ADDS_UP,
        "judged_by": _judged_by(walked, path),
        "reachable": _reachable(walked, path),
        "set": _set(problem, whys.squares),
        "features": whys.features(),
        "substitutes": whys.substitutes(),
        "separation": find_separation(problem, whys.chosen, path.names, names[0]),
        "distributions": find_distributions(problem, selected),
        "correlations": _correlations(whys.chosen, path.names),
        "data": data_facts(problem, features, left_out or {}, warnings),
        "reproduce": reproduction(path, data, named, command),
    }


def outline(path: SelectionPath) -> dict[str, Any]:
    """Return the part of a summary that needs no row of the table."""
    method = METHODS[path.method]
    return {
        "kind": "selection",
        "created": datetime.now().astimezone().isoformat(timespec="seconds"),
        **path.to_dict(),
        "method_summary": method.summary,
        "method_source": method.source,
    }


def _reachable(walked: Replay, path: SelectionPath) -> list[float] | None:
    """Return the most that the features up to each step can reach, min(t, m) for t columns.

    None for methods whose gains are not squared correlations.
    """
    if path.method not in _CORRELATIONS:
        return None
    columns = accumulate(len(walked.design.columns_of(f)) for f in walked.places)
    return [min(float(t), path.ceiling) for t in columns]


def _judged_by(walked: Replay, path: SelectionPath) -> str | None:
    """Say what verdicts rest on where it is not the method's own score."""
    if path.method in _CORRELATIONS:
        return None
    if isinstance(walked.design, CodedDesign):
        return "mutual information with the target, alone and given each selected feature"
    return "squared canonical correlations with the target, alone and given the selected features"


def _title(data: Any, names: list[str]) -> str:
    if isinstance(data, (str, Path)):
        return Path(data).name
    return f"Features for {', '.join(names)}"


class _Whys:
    """Why each feature was chosen or not."""

    def __init__(self, walked: Replay, path: SelectionPath) -> None:
        problem = walked.problem
        design = build_design(problem.table, problem.groups, problem.skip)
        geometry = FeatureColumns(design, problem)
        self._walked, self._path = walked, path
        self.chosen, self._explained = selected_set(geometry, walked.places)
        self._remains = what_remains(geometry, self.chosen, walked.places)
        QtV = self.chosen.Q.T @ geometry.V  # (k, m)
        self.squares = _squares(QtV)
        first = self.chosen.coordinates[0].T @ QtV if walked.places else np.zeros((0, 0))
        self.reached = Reached(float((first**2).sum()), float(self.squares.sum()))
        evidence = weigh_evidence(walked, design, self.reached.all, len(QtV))
        steps = np.zeros(len(self._remains), dtype=bool)
        steps[walked.places] = True
        self._verdicts = judge(evidence, self._remains, walked.near, steps)

    def _step_of(self) -> dict[int, int]:
        return {f: s for s, f in enumerate(self._walked.places, start=1)}

    def features(self) -> list[dict[str, Any]]:
        """Return what there is to say about each feature, in the order of the table."""
        walked = self._walked
        step_of = self._step_of()
        by, shares = most_explained(self._explained, walked.places)
        constant = np.isnan(self._remains)
        return [
            {
                "feature": min(feature.columns),
                "name": feature.name,
                "kind": kind_of(feature, walked.problem),
                "verdict": self._verdicts[f],
                "step": step_of.get(f),
                "relevance": finite(walked.relevance[f]),
                "gain": finite(walked.gains[f]),
                "remains": finite(self._remains[f]),
                "explained_by": None if constant[f] or by[f] < 0 else self._path[by[f]].name,
                "explained": None if constant[f] else finite(shares[f]),
            }
            for f, feature in enumerate(walked.design.features)
        ]

    def substitutes(self) -> list[dict[str, Any]]:
        """Return the runners-up of each step."""
        features = self._walked.design.features
        step_of = self._step_of()
        found = []
        for s, (step, rivals) in enumerate(zip(self._path, self._walked.runners_up)):
            places = rivals.features.tolist()
            runners_up = [
                {
                    "feature": min(features[f].columns),
                    "name": features[f].name,
                    "gain": finite(gain),
                    "margin": margin,
                    "explained": float(self._explained[s, f]),
                    "chosen_at": step_of.get(f),
                }
                for f, gain, margin in zip(places, rivals.gains, rivals.margins())
            ]
            taken = {"step": s + 1, "name": step.name, "gain": finite(step.gain)}
            found.append({**taken, "runners_up": runners_up})
        return found


def _squares(QtV: Floats) -> Floats:
    """Return the squared canonical correlations, largest first."""
    if not QtV.size:
        return np.zeros(0)
    return np.clip(np.linalg.svd(QtV, compute_uv=False), 0.0, 1.0) ** 2


def _set(problem: Problem, squares: Floats) -> dict[str, Any]:
    rest = 1.0 - squares
    perfect = rest <= 8 * EPS
    fisher = np.where(perfect, np.inf, squares / np.where(perfect, 1.0, rest))
    is_classes = problem.response.task == "classification"
    one_number = len(problem.response.parts) == 1 and not is_classes and problem.response.m
    return {
        "canonical_correlations": np.sqrt(squares).tolist(),
        "fisher": [finite(j) for j in fisher] if is_classes else None,
        "r2": float(squares.sum()) if one_number else None,
        "sum_of_squares": float(squares.sum()),
    }


def _correlations(chosen: SelectedSet, names: list[str]) -> dict[str, Any]:
    R, signed = chosen.among(MOST_CORRELATED)
    return {
        "names": names[:MOST_CORRELATED],
        "matrix": [[finite(r) for r in row] for row in R],
        "signed": signed.tolist(),
    }
