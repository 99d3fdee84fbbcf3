"""A path and its data -> one plain dictionary that says all that a page shows -> a file."""

from __future__ import annotations

import json
import warnings as python_warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.encode import CodedDesign, Labels, build_design
from orthoselect.errors import InputError
from orthoselect.matrix.base import EPS, Floats
from orthoselect.matrix.threads import single_threaded_blas
from orthoselect.methods import METHODS
from orthoselect.output import check_keeps_source, check_place, replacing
from orthoselect.problem import Problem, check_has_rows
from orthoselect.read import Dataset, files_of, find_file, is_path, response_columns
from orthoselect.result import Comparison, SelectionPath, Stability
from orthoselect.result.text import finite
from orthoselect.show.cautions import find_cautions
from orthoselect.show.explained import FeatureColumns, SelectedSet
from orthoselect.show.facts import (
    about_tests,
    answer,
    data_facts,
    kind_of,
    python_code,
    response_names,
)
from orthoselect.show.likeness import find_clusters
from orthoselect.show.pictures import find_distributions, find_separation
from orthoselect.show.recipes import Reading, Selected, find_recipes
from orthoselect.show.replay import Replay, replay
from orthoselect.show.verdicts import judge, weigh_evidence
from orthoselect.show.what_if import what_if, why_no_what_if
from orthoselect.versions import versions

MOST_CORRELATED = 40
# Methods by which a column adds one at most, and all together as many as the response has.
_CORRELATIONS = ("socc", "socc_discretized", "socc_splines")
# Methods whose gains add up to what the selected set explains.
_ADDS_UP = (*_CORRELATIONS, "err", "mser")
_SUFFIXES = (".html", ".htm", ".json")


def report(
    path: SelectionPath | Comparison | Stability,
    data: Any,
    target: Any,
    file: str | Path,
    *,
    sample_weight: Any = None,
    title: str | None = None,
    overwrite_source: bool = False,
) -> Path:
    """Write a page about a selection: what was chosen, why, and why not the others; or of methods.

    The page is one file that needs no network: the path, every feature with the reason why it was
    chosen or not, substitutes, pictures of the classes and of each selected feature, facts about
    the data, and how to get the same again. Of a comparison it shows the curves of all methods, the
    best for each number of features, and which features they selected.

    Parameters
    ----------
    path : SelectionPath, Comparison or Stability
        What `select` returned, or `selector.path_`; or what `compare` or `stability` returned.
    data, target : as in `select`
        Those that the path was found on. Omit them for a comparison or a stability, which hold all
        that their pages show.
    file : str or Path
        Where to write. A name that ends in .html makes a page (which needs matplotlib, the extra
        `report`), one in .json the same as plain data. An existing file is replaced once the new
        one is complete.
    sample_weight : array-like of shape (N,), optional
        The row weights, if the path was found with any. Other results take none here.
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
    >>> from sklearn.datasets import load_wine
    >>> from orthoselect import report, select
    >>> wine = load_wine(as_frame=True).frame
    >>> path = select(wine, "target", 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(path, wine, "target", f"{folder}/wine.json", title="Wine").name
    'wine.json'

    A comparison has a page, too:

    >>> from orthoselect import compare
    >>> comparison = compare(wine, "target", ["socc", "lasso"], sizes=[1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(comparison, None, None, f"{folder}/methods.json").name
    'methods.json'
    """
    _check_suffix(file)
    check_place(file)  # before the work, not after it
    own = data.files if isinstance(data, Dataset) else ()
    files = files_of(data) if is_path(data) else own
    check_keeps_source(file, files, "file", overwrite=overwrite_source)
    if not isinstance(path, (Comparison, Stability)):
        summary = summarize(path, data, target, sample_weight=sample_weight, source=title)
    elif sample_weight is None:
        summary = path.to_dict() | ({} if title is None else {"title": title})
    else:
        raise InputError(
            "`sample_weight` should be left out of the report of a comparison or a stability, "
            "which holds all that its page shows."
        )
    return write_report(summary, file)


def write_report(summary: dict[str, Any], file: str | Path) -> Path:
    """Write a summary, of whatever kind, as a page or as plain data.

    Parameters
    ----------
    summary : dict
        What `summarize` returned, `Comparison.to_dict()` or `Stability.to_dict()`.
    file : str or Path
        Where to write; its suffix says what, as in `report`.

    Returns
    -------
    file : Path
        Where it was written.
    """
    if _check_suffix(file) == ".json":
        text = json.dumps(summary, allow_nan=False, ensure_ascii=False, indent=1) + "\n"
    else:
        from orthoselect.show.page import render  # its templates are for pages only

        text = render(summary)
    with replacing(file) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return Path(file)


def _check_suffix(file: str | Path) -> str:
    suffix = Path(file).suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(
            f"`file` should end in .html for a page or in .json for plain data; got {str(file)!r}."
        )
    return suffix


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
    reading: Reading | None = None,
) -> dict[str, Any]:
    """Tell all about a path: what it reaches, why the others were not chosen, what the data are.

    The path is walked again on its data, so that this takes about as long as the selection, or
    twice that, and a second more where a page could not carry all features. Nothing is random.

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
        What was warned of before the selection; warnings of the selection itself come by
        themselves.
    reading : Reading, optional
        How the table was read, if it was read by somebody else.

    Returns
    -------
    summary : dict
        Plain numbers, strings, lists and dictionaries, ready for JSON; None for what has no
        number. Beside the entries of `path.to_dict()`:

        ``kind, title, created, target, task, sentence, method_summary, method_source``
            In words.
        ``cautions``
            What stands against the answer, a sentence or two each, in words for readers.
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
        ``what_if``
            What a page needs to select again without some features or with others, see
            `orthoselect.show.what_if`; None for other methods and searches. `why_no_what_if` has
            the reason if the features that were selected have too many columns.
        ``separation, distributions, correlations``
            For pictures. Rows are sampled, always the same ones.
        ``clusters``
            Which of the chosen and nearly chosen features say the same, as a tree; see
            `orthoselect.show.likeness`.
        ``recipes``
            Code to copy: the chosen `names`, a `pipeline` of scikit-learn, the `command`; None for
            what there is not.
        ``data, reproduce``
            Facts, and how to get the same again.

        Where the size was cross-validated, ``steps`` has all steps of the path, ``size_scores`` the
        scores; everything else is about the ``chosen`` first of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from orthoselect import select
    >>> iris = load_iris(as_frame=True).frame
    >>> summary = summarize(select(iris, "target", 2), iris, "target")
    >>> summary["sentence"]
    '2 of 4 features explain 56.0% of what separates the 3 classes of target; the first, petal
    length (cm), alone explains 47.1%.'
    >>> [(f["name"], f["verdict"]) for f in summary["features"]][-1]
    ('petal width (cm)', 'nearly chosen')
    """
    check_has_rows(data, "a report")
    METHODS[path.method].check_has_target("a report")
    table = find_file(data)
    whole, path = path, path.up_to_chosen()
    walked = replay(path, table, target, sample_weight)
    problem, features = walked.problem, walked.design.features
    parts = problem.response.parts
    named = response_columns(target, problem.table.names)
    if target is None and isinstance(table, Dataset):  # whose own target has a name
        target_name = target_name or table.target_name
    names = named or response_names(target, len(parts), target_name)
    title = Path(data).name if isinstance(data, (str, Path)) else f"Features for {', '.join(names)}"
    with python_warnings.catch_warnings(), single_threaded_blas():
        python_warnings.simplefilter("ignore")
        design = build_design(problem.table, problem.groups, problem.skip)
        columns = FeatureColumns(design, problem)
        chosen = SelectedSet(columns, walked.places)
        clusters = find_clusters(walked, columns)
        squares, first = chosen.canonical()
        reached = first, float(squares.sum())
        evidence = weigh_evidence(walked, design, reached[1], chosen.Q.shape[1])
        carried = what_if(walked, path)
    correlations, signed = chosen.among(MOST_CORRELATED)
    described, reachable = outline(whole), _reachable(walked, path)
    warnings = list(warnings)
    reasons = {**path.left_out, **(left_out or {})}
    facts = data_facts(problem, features, reasons, [*warnings, *walked.warnings])
    told = find_cautions(path, walked, reachable, facts["classes"], names[0], warnings)
    selected = Selected(path, problem, table, named, reading or Reading.of(data))
    return {
        **described,
        "title": source or title,
        "target": ", ".join(names),
        "responses": [
            {"name": name, "kind": "classes" if isinstance(part, Labels) else "numbers"}
            for name, part in zip(names, parts)
        ],
        "task": problem.response.task,
        "sentence": _sentence(whole, answer(path, problem, names, reached)),
        **({"tested": about_tests(whole)} if whole.is_tested else {}),
        "cautions": told,
        "adds_up": path.method in _ADDS_UP,
        "judged_by": _judged_by(walked, path),
        "reachable": reachable,
        "set": _set(problem, squares),
        "features": _features(walked, path, chosen, judge(evidence, chosen, walked)),
        "substitutes": _substitutes(walked, path, chosen),
        "what_if": carried,
        **({"why_no_what_if": why} if (why := why_no_what_if(walked, path)) else {}),
        "separation": find_separation(problem, chosen, path.names, names[0]),
        "distributions": find_distributions(problem, [features[f] for f in walked.places]),
        "correlations": {
            "names": path.names[:MOST_CORRELATED],
            "matrix": [[finite(r) for r in row] for row in correlations],
            "signed": signed.tolist(),
        },
        "clusters": clusters,
        "recipes": find_recipes(selected, command),
        "data": {**facts, "missing": str(path.gaps) or None},
        "reproduce": {
            "command": command,
            "python": python_code(whole, data, named),
            "options": described["options"],
            "seed": None,
            "versions": versions("numpy", "scipy", "scikit-learn"),
        },
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


def _sentence(path: SelectionPath, said: str) -> str:
    """Add how the size was chosen, if it was."""
    return said if path.size_scores is None else f"{said} {path.size_scores.sentence}"


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


def _features(
    walked: Replay, path: SelectionPath, chosen: SelectedSet, verdicts: list[str]
) -> list[dict[str, Any]]:
    """Return what there is to say about each feature, in the order of the table."""
    step_of = {f: s for s, f in enumerate(walked.places, start=1)}
    by, shares = chosen.explains_most()
    constant = np.isnan(chosen.remains)
    return [
        {
            "feature": min(feature.columns),
            "name": feature.name,
            "kind": kind_of(feature, walked.problem),
            "verdict": verdicts[f],
            "step": step_of.get(f),
            "relevance": finite(walked.relevance[f]),
            "gain": finite(walked.gains[f]),
            "remains": finite(chosen.remains[f]),
            "explained_by": None if constant[f] or by[f] < 0 else path[by[f]].name,
            "explained": None if constant[f] else finite(shares[f]),
        }
        for f, feature in enumerate(walked.design.features)
    ]


def _substitutes(walked: Replay, path: SelectionPath, chosen: SelectedSet) -> list[dict[str, Any]]:
    """Return the runners-up of each step."""
    features = walked.design.features
    step_of = {f: s for s, f in enumerate(walked.places, start=1)}
    found = []
    for s, (step, rivals) in enumerate(zip(path, walked.runners_up)):
        runners_up = [
            {
                "feature": min(features[f].columns),
                "name": features[f].name,
                "gain": finite(gain),
                "margin": margin,
                "explained": float(chosen.explained[s, f]),
                "chosen_at": step_of.get(f),
            }
            for f, gain, margin in rivals
        ]
        taken = {"step": s + 1, "name": step.name, "gain": finite(step.gain)}
        found.append({**taken, "runners_up": runners_up})
    return found
