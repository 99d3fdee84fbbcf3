"""What stands against an answer, in sentences that anybody can read.

Warnings of the library speak to whoever types: they name arguments, and say what to do. A reader of
a page is told what was found. Beside them there is what only the whole selection shows: steps that
noise would have made as well, choices that were close, a column that knows too much, small classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from orthoselect.methods import GENERAL
from orthoselect.result import SelectionPath
from orthoselect.show.replay import NEAR, Replay
from orthoselect.show.verdicts import best_of_noise, effective_rows

_TELLS_ALL = 0.98  # of what a feature of its width can explain
_FEW_ROWS = 10  # in a class
_MOST_NAMED = 3  # features in a sentence
_LAST = ("Left out", "Dropped")  # what was done to the table comes after what is wrong with it

# Words of a message, names in backquotes being one word each.
_QUOTED = re.compile(r"`([^`]*)`")
_HELD = re.compile("\ue000(\\d+)\ue001")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\ue000])")
_CLAUSE = re.compile(r"; (?![^()]*\))")  # what is in parentheses stays together
_SEVERAL = re.compile(r"\b(\d[\d,]*) ((?:more )?\w+)\(s\)")
_ARGUMENTS = {
    *GENERAL,
    *("exclude", "include", "n_features_to_select", "search", "missing", "drop", "dates"),
    "time_limit",
}
_REMEDY = re.compile(
    r"(name|pass|cut|use|choose|get|drop|clean|give|fill|omit|convert|select|turn|set)\b"
    r"|if .*\b(pass|use|give|name)\b",
    re.IGNORECASE,
)
_TYPED = re.compile(r"--?[A-Za-z]|\w+=")  # the start of an option, or of a setting
# Findings that are told by the name of an argument.
_REWORDED = {
    r"^`[\w-]+` is (\d+), but there (is|are) (\d+) features? to choose from": (
        r"\1 features were asked for, but there \2 \3 to choose from"
    )
}
# Said elsewhere on the page, or not about the answer.
_ELSEWHERE = re.compile(
    r"^class(es)? `.* 1 row (only|each): a feature"
    r"|^selected \d+ of the \d+ features asked for"
    r"|no feature gains more than it would by chance"
    r"|a spreadsheet would run"
)


def find_cautions(
    path: SelectionPath,
    walked: Replay,
    reachable: Sequence[float] | None,
    classes: Sequence[dict[str, Any]] | None,
    response: str,
    warnings: Iterable[object],
) -> list[str]:
    """Return what stands against the answer, one sentence or two each.

    `reachable` is the most that the features up to each step can explain, None where the method
    has no such bound; `classes` has the name and the rows of each, None for numbers.
    """
    warned = [in_words(str(warning)) for warning in (*warnings, *walked.warnings)]
    about_data = [words for words in warned if words.startswith(_LAST)]
    about_answer = [words for words in warned if words not in about_data]
    spoken_of = len(path) and any(f"“{path[0].name}”" in words for words in about_answer)
    found = [
        *about_answer,
        *(_knows_too_much(path, reachable, response) if reachable and not spoken_of else ()),
        *(_by_chance(path, walked) if reachable else ()),
        *_close_choices(path, walked),
        *(_small_classes(classes) if classes else ()),
        *about_data,
    ]
    return [words for words in dict.fromkeys(found) if words]


def in_words(message: str) -> str:
    """Return what a warning has found: without backquotes, options, and what to do about it.

    Nothing is left of a warning that says what a page says elsewhere.

    Examples
    --------
    >>> in_words("column `id` has 9 levels in 9 rows. Name it in `exclude` if it is an identifier.")
    'Column “id” has 9 levels in 9 rows.'
    >>> in_words("left out 1 column(s): `day` (dates or times). Name a column as categorical, or "
    ...          "include it, to keep it.")
    'Left out 1 column: “day” (dates or times).'
    >>> in_words("selected 1 of the 4 features asked for: every other feature is constant.")
    ''
    """
    if _ELSEWHERE.search(message):
        return ""
    for pattern, words in _REWORDED.items():
        message = re.sub(pattern, words, message)
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        held.append(found[1])
        return f"\ue000{len(held) - 1}\ue001"

    sentences = _SENTENCE.split(_QUOTED.sub(hold, " ".join(message.split())))
    kept = [_without_remedies(sentence, held) for sentence in sentences]
    text = " ".join(filter(None, kept)) or sentences[0]
    text = _HELD.sub(lambda found: f"“{held[int(found[1])]}”", text)
    text = _SEVERAL.sub(lambda found: f"{found[1]} {found[2]}{'s' * (found[1] != '1')}", text)
    return text[:1].upper() + text[1:]


def _without_remedies(sentence: str, held: Sequence[str]) -> str:
    """Return the clauses of a sentence that say what was found."""
    kept = [clause for clause in _CLAUSE.split(sentence) if not _is_remedy(clause, held)]
    return "; ".join(kept).rstrip(".") + "." if kept else ""


def _is_remedy(clause: str, held: Sequence[str]) -> bool:
    if _REMEDY.match(clause):
        return True
    for found in _HELD.finditer(clause):
        name = held[int(found[1])]
        spoken_of = clause[: found.start()].endswith((" in ", " set ", " take "))
        if _TYPED.match(name) or (spoken_of and name in _ARGUMENTS):
            return True
    return False


def _knows_too_much(path: SelectionPath, reachable: Sequence[float], response: str) -> list[str]:
    if not len(path) or not reachable[0] or path[0].gain < _TELLS_ALL * reachable[0]:
        return []
    return [
        f"“{path[0].name}” alone tells nearly all that one feature can tell about “{response}”. "
        f"Make sure that it is known before “{response}” is, and not made from it."
    ]


def _by_chance(path: SelectionPath, walked: Replay) -> list[str]:
    """Say which steps added no more than the best of as many features of noise would have."""
    if path.is_tested:  # which says more, and need not agree near the limit
        return []
    n_included = len(walked.design.features.places(walked.problem.include))
    widths = np.array([len(walked.design.columns_of(f)) for f in walked.places], dtype=np.intp)
    rows, m, gains = effective_rows(walked.problem), walked.problem.response.m, np.array(path.gains)
    noise = best_of_noise(widths, m, rows, gains, path.n_candidates)
    doubtful = np.flatnonzero(gains <= noise)
    doubtful = doubtful[doubtful >= n_included]
    if not len(doubtful):
        return []
    last = doubtful[0] == len(path) - len(doubtful)
    named = [f"“{path[int(step)].name}”" for step in doubtful]
    if len(doubtful) == len(path):
        who = "No feature adds more" if len(path) > 1 else "It adds no more"
    elif len(doubtful) == 1:
        who = f"{named[0]} adds no more"
    elif len(doubtful) <= _MOST_NAMED:
        who = f"{', '.join(named[:-1])} and {named[-1]} add no more"
    else:
        which = f"The last {len(doubtful)}" if last else str(len(doubtful))
        who = f"{which} of {len(path)} features add no more"
    return [
        f"{who} than the best of as many features of pure noise might have added there: chance "
        f"alone could have found as much."
    ]


def _close_choices(path: SelectionPath, walked: Replay) -> list[str]:
    """Say at which steps a feature that was left out was nearly as good."""
    close: dict[str, str] = {}
    for step, rivals in zip(path, walked.runners_up):
        for f, _, margin in rivals:
            if walked.near[f] and margin is not None and 0.0 <= margin <= NEAR:
                close.setdefault(step.name, walked.design.features[f].name)
    if not close:
        return []
    chosen, rival = next(iter(close.items()))
    if len(close) == 1:
        which = f"“{rival}” was left out, but came within {NEAR:.0%} of “{chosen}” at its step"
    else:
        which = (
            f"At {len(close)} of {len(path)} steps a feature that was left out came within "
            f"{NEAR:.0%} of the one chosen"
        )
    return [f"{which}: on other rows they may change places."]


def _small_classes(classes: Sequence[dict[str, Any]]) -> list[str]:
    small = sorted((one for one in classes if one["count"] < _FEW_ROWS), key=lambda c: c["count"])
    if not small:
        return []
    rows = f"{small[0]['count']} {'row' if small[0]['count'] == 1 else 'rows'}"
    if len(small) == 1:
        return [f"The class “{small[0]['name']}” has {rows} only."]
    return [
        f"{len(small)} of {len(classes)} classes have fewer than {_FEW_ROWS} rows, “"
        f"{small[0]['name']}” only {rows}."
    ]
