"""A summary as a page: one HTML file that needs nothing else, with all names escaped."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from orthoselect.errors import InputError
from orthoselect.plots.distribution import MOST_POINTS, MOST_POINTS_OF_ONE, MOST_ROWS
from orthoselect.plots.style import NAMELESS, replace_unfit, require_matplotlib, shorten
from orthoselect.result.findings import score_name
from orthoselect.result.text import p_text
from orthoselect.show import charts
from orthoselect.show.cautions import in_words

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_PACKAGE = "orthoselect.show"
MOST_FEATURES = 2000
MOST_STEPS = 500
LONGEST_NAME = 160
_CARDS_IN_SIGHT = 6  # charts of single features before the others are folded
SCRIPTS = ("table.js", "copy.js")
_ADDRESS = r"(https://[^\s<>\"',;]+[^\s<>\"',;.)])"
_LISTED, _PAIRS, _MOST_PICKS, _MOST_NAMED = 12, 5, 20, 24

SECTIONS = {
    "selection": {
        "answer": "The answer",
        "what-if": "What if",  # not of every method
        "path": "The path",
        "sizes": "How many",  # where that was cross-validated
        "use": "Use it",
        "others": "Why not the others",
        "substitutes": "Substitutes",
        "alike": "Which say the same",
        "separation": "Separation",
        "distributions": "Each feature",
        "data": "The data",
    },
    "comparison": {
        "answer": "The answer",
        "curves": "The curves",
        "best": "Best for each size",
        "scores": "All scores",
        "methods": "The methods",
        "stability": "Features selected",
        "data": "The data",
        "reproduce": "How to reproduce",
    },
    "stability": {
        "answer": "The answer",
        "frequencies": "Frequencies",
        "all": "All features",
        "substitutes": "Substitutes",
        "meaning": "What it means",
        "data": "The data",
        "reproduce": "How to reproduce",
    },
}

# The order in which a reader looks for them, and what each says.
VERDICTS = {
    "selected": "Part of the answer; the number is the step at which it was chosen.",
    "nearly chosen": "Came close to the one chosen at some step, and still adds something.",
    "useful": "Still tells something of its own, but others were ahead at every step.",
    "redundant": "Little of it, or of what it tells about the target, is left beside those chosen.",
    "irrelevant": "Tells no more about the target than chance would.",
    "constant": "Has the same value in every row, so it can tell nothing.",
}
# The same of a set that was chosen as a whole: one left out may have been ahead at a step.
VERDICTS_OF_SETS = VERDICTS | {
    "nearly chosen": "Would have added about as much as the one chosen at some step, or more, and "
    "still adds something; but the search found no better set with it.",
}


def render(summary: Mapping[str, Any]) -> str:
    """Return the page of a selection, a comparison or a stability.

    Parameters
    ----------
    summary : mapping
        Plain numbers, strings and lists; its "kind" is "selection", "comparison" or "stability".

    Returns
    -------
    html : str
        A whole HTML document with its style, script and charts inside.

    Examples
    --------
    >>> render({"kind": "poem"})
    Traceback (most recent call last):
    ...
    orthoselect.errors.InputError: the kind of a summary should be 'selection', 'comparison' or
    'stability'; got 'poem'.
    """
    kind = summary["kind"]
    prepares = {"selection": _selection, "comparison": _comparison, "stability": _stability}
    prepare = prepares.get(kind)
    if prepare is None:
        raise InputError(
            f"the kind of a summary should be 'selection', 'comparison' or 'stability'; got "
            f"{kind!r}."
        )
    require_matplotlib()
    shown = {"sections": SECTIONS[kind], **summary, **prepare(summary)}
    return fill(f"{kind}.html", shown)


def fill(template: str, shown: Mapping[str, Any], package: str = _PACKAGE) -> str:
    """Return a template, filled in: a page with its style and script inside.

    Parameters
    ----------
    template : str
        The name of a file in the folder "templates" of the package. Its language is Jinja; it may
        extend `base.html`, and use what is in `parts.html`.
    shown : mapping
        What the template needs.
    package : str
        Which package has the template, this one or another that makes pages like these.
    """
    from markupsafe import Markup

    environment = _environment(package)
    assert environment.loader is not None
    # Both are ours, and hold no names. The page's policy knows the script that may run by its hash.
    read = partial(environment.loader.get_source, environment)
    what_if = bool(shown.get("what_if"))
    style = "".join(read(name)[0] for name in ("style.css", *["what_if.css"] * what_if))
    script = "\n".join(read(name)[0] for name in (*SCRIPTS, *["what_if.js"] * what_if))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    shown = {**shown, "style": Markup(style), "script": Markup(script), "script_hash": digest}
    return environment.get_template(template).render(shown)


def _selection(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template of a selection needs besides the summary."""
    names = [step["name"] for step in summary["steps"]]
    steps = summary["steps"][: summary.get("chosen", len(names))]
    summary = {**summary, "steps": steps}  # those after the chosen ones are among the sizes
    features, sizes = summary["features"], summary.get("size_scores")
    separation, correlations = summary["separation"], summary["correlations"]
    several = correlations is not None and len(correlations["names"]) > 1
    responses = summary["responses"]
    kinds = [response["kind"] for response in responses]
    both = f"{kinds.count('classes')} of classes, {kinds.count('numbers')} of numbers"
    counts = Counter(feature["verdict"] for feature in features)
    substitutes = _substitutes(summary)
    meanings = VERDICTS_OF_SETS if "certificate" in summary else VERDICTS
    clusters = summary["clusters"]
    present = {
        "others": any(feature["step"] is None for feature in features),
        "substitutes": bool(substitutes),
        "alike": clusters is not None or several,
        "separation": separation is not None,
        "distributions": bool(summary["distributions"]),
        "use": bool(summary["steps"]),
        "what-if": bool(summary.get("what_if") or summary.get("why_no_what_if")),
        "sizes": sizes is not None,
    }
    return {
        "sections": {
            place: words
            for place, words in SECTIONS["selection"].items()
            if present.get(place, True)
        },
        "steps": steps,
        "size_scores": sizes,
        "size_rows": [] if sizes is None else _rows_of_sizes(sizes, names),
        "size_chart": None if sizes is None else charts.size_chart(sizes),
        "speaks_of_data": _speaks_of(summary["recipes"]["pipeline"]),
        "chosen": [step["name"] for step in summary["steps"][:_MOST_NAMED]],
        "substitutes": substitutes,
        "cluster_chart": None if clusters is None else charts.cluster_chart(clusters),
        "task_in_words": summary["task"] if len(set(kinds)) == 1 else both,
        "shown_response": responses[0]["name"] if len(responses) > 1 else None,
        "gain_word": "gain" if summary["adds_up"] else "score",
        "shown_kind": kinds[0],
        "path_chart": charts.path_chart(summary) if len(summary["steps"]) > 1 else None,
        "path_rows": _rows_of_path(summary),
        "by_chance": any(step.get("chance") is not None for step in summary["steps"]),
        "features": _most_relevant(features),
        "n_features": len(features),
        "verdict_counts": [
            {"verdict": verdict, "count": counts[verdict], "says": says}
            for verdict, says in meanings.items()
            if counts[verdict]
        ],
        "separation_chart": None if separation is None else charts.separation_chart(separation),
        "n_points": 0 if separation is None else min(separation["shown"], MOST_POINTS),
        "cards_in_sight": _CARDS_IN_SIGHT,
        "distribution_charts": charts.distribution_charts(summary),
        "n_distributions": len(summary["distributions"]),
        "distribution_kinds": {one["kind"] for one in summary["distributions"]},
        "correlation_chart": charts.correlation_chart(correlations) if several else None,
        "closest": _closest(correlations) if several else [],
        "unsigned": several and not all(map(all, correlations["signed"])),
        "classes_on_charts": MOST_ROWS,
        "classes_left_out": _classes_left_out(summary),
        "points_on_charts": MOST_POINTS_OF_ONE,
    }


def _comparison(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template of a comparison needs besides the result."""
    failed = {method["name"] for method in comparison["methods"] if method["failed"]}
    drawn = [c for c in comparison["curves"] if c["validation"] is not None]
    scored = [
        {**one, "within": []} for one in comparison["baselines"] if one["validation"] is not None
    ]
    return {
        "score": score_name(comparison["scoring"]),
        "best_rows": sorted([*scored, *comparison["best"]], key=lambda row: row["n_features"]),
        "curves_chart": charts.comparison_chart(comparison) if drawn else None,
        "scores": {(c["method"], c["n_features"]): c for c in comparison["curves"]},
        "winners": {one["n_features"]: one for one in comparison["best"]},
        "places": {m["name"]: n for n, m in enumerate(comparison["methods"])},
        "working": [m for m in comparison["methods"] if m["name"] not in failed],
        "slowest": max((m["seconds"] or 0.0 for m in comparison["methods"]), default=0.0),
        "n_folds": comparison["folds"] * comparison["repeats"],
    }


def _stability(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template of a stability needs besides the result."""
    features, substitutes = summary["features"], summary["substitutes"]
    sections = dict(SECTIONS["stability"])
    if not substitutes:
        del sections["substitutes"]
    taken = [one for one in features if one["frequency"] > 0]
    return {
        "sections": sections,
        "frequency_chart": charts.frequency_chart(summary) if taken else None,
        "drawn": min(len(taken), charts.MOST_FREQUENT),
        "n_taken": len(taken),
        "listed": features[:MOST_FEATURES],
        "listed_sets": substitutes[:MOST_STEPS],
        "in_set": {name: s for s in substitutes for name in s["names"]},
        "enough": round(summary["threshold"] * summary["n_halves"]),
    }


def _most_relevant(features: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of the table of features: the selected ones and the most relevant."""

    def rank(feature: Mapping[str, Any]) -> tuple[bool, float]:
        relevance = feature["relevance"]
        return feature["step"] is None, math.inf if relevance is None else -relevance

    kept = sorted(features, key=rank)[:MOST_FEATURES]
    return sorted(kept, key=lambda feature: rank(feature)[1])


def _rows_of_path(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps with the ends of their bars, in percent of the scale.

    Bars of scores that do not add up start at zero, and have no share of the ceiling.
    """
    steps, adds_up = summary["steps"][:MOST_STEPS], summary["adds_up"]
    ceiling = summary["ceiling"] if adds_up else None
    ends = [step["total" if adds_up else "gain"] for step in steps]
    largest = max([ceiling or 0.0, *(end or 0.0 for end in ends)])
    scale = 100 / largest if largest > 0 else 0.0
    rows = []
    for step, total in zip(steps, ends):
        end = scale * max(total or 0.0, 0.0)
        start = scale * ((total or 0.0) - (step["gain"] or 0.0)) if adds_up else 0.0
        start = min(max(start, 0.0), end)
        share = total / ceiling if ceiling and total is not None else None
        bar = {"before": start, "added": end - start, "share": share}
        rows.append({"chance": None, **step, **bar})  # of a constant none is known
    return rows


def _rows_of_sizes(sizes: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the sizes with the feature that each adds."""
    return [{**one, "name": names[one["n_features"] - 1]} for one in sizes["sizes"][:MOST_STEPS]]


def _substitutes(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps at which a feature lost that was never chosen, with the best such first."""
    found = []
    for step in summary["substitutes"][:MOST_STEPS]:
        free = [other for other in step["runners_up"] if other["chosen_at"] is None]
        if free:
            rest = [other for other in step["runners_up"] if other is not free[0]]
            found.append({**step, "first": free[0], "rest": rest})
    return found


def _speaks_of(code: str | None) -> str | None:
    """Say whether code speaks of the table that was given, and of the response: "both", "data"."""
    if code is None or "read_table(" in code:
        return None
    return "both" if re.search(r"\by = .*\btarget$", code, re.MULTILINE) else "data"


def _classes_left_out(summary: Mapping[str, Any]) -> int:
    """Return how many classes the pictures of single features do not show, not even as "other"."""
    drawn = next((d["by_class"] for d in summary["distributions"] if "by_class" in d), None)
    if drawn is None or any(one.get("number", 0) is None for one in drawn):
        return 0
    occurring = sum(one["count"] > 0 for one in summary["data"]["classes"] or ())
    return max(occurring - len(drawn[:MOST_ROWS]), 0)


def _closest(correlations: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the pairs of selected features that are most alike."""
    names, matrix = correlations["names"], correlations["matrix"]
    pairs = [
        {"first": names[b], "second": names[a], "value": matrix[a][b]}
        for a in range(len(names))
        for b in range(a)
        if matrix[a][b] is not None
    ]
    return sorted(pairs, key=lambda pair: -abs(pair["value"]))[:_PAIRS]


@lru_cache
def _environment(package: str) -> Environment:
    """Return what fills in the templates of a package, and ours, which they build on."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys([package, _PACKAGE])]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # What HTML cannot hold is replaced wherever a template writes text.
        finalize=lambda value: replace_unfit(value) if type(value) is str else value,
    )
    environment.filters.update(
        number=_number,
        short=_known("{:.3f}"),
        plain="{:.6g}".format,
        percent=_known("{:.1%}"),
        p_value=p_text,
        count=_count,
        seconds=_known("{:.3g}"),
        duration=_duration,
        name=lambda text: shorten(text, LONGEST_NAME) or NAMELESS,  # on one line
        date=lambda moment: moment[:16].replace("T", " "),  # day and minute of an ISO time
        brief=_brief,
        spoken=in_words,
        cell=_cell,
        coded=partial(_marked, r"`([^`]+)`", "<code>{0}</code>"),
        linked=partial(_marked, _ADDRESS, '<a href="{0}" rel="noreferrer">{0}</a>'),
        capitalize_first=lambda text: text[:1].upper() + text[1:],
    )
    environment.globals.update(
        swatch=charts.swatch,
        verdicts=list(VERDICTS),
        most_steps=MOST_STEPS,
        most_picks=_MOST_PICKS,
        most_left_out=MOST_STEPS,
        most_correlated=charts.MOST_CORRELATED,
    )
    return environment


def _number(value: float | None) -> str:
    """Return four decimals, or powers of ten for what is large."""
    if value is None:
        return "\N{EN DASH}"
    size = abs(value)
    if size < 1e-12:
        return "0"
    if size < 1e-4:
        return "<0.0001" if value > 0 else ">\N{MINUS SIGN}0.0001"
    shown = f"{value:.4f}" if size < 1e5 else f"{value:.2e}"
    return f"\N{MINUS SIGN}{shown[1:]}" if shown.startswith("-") else shown


def _known(written: str) -> Callable[[float | None], str]:
    """Return what writes a number in this format, and a dash where there is none."""
    return lambda value: "\N{EN DASH}" if value is None else written.format(value)


_count = _known("{:,}")  # thousands apart


def _duration(seconds: float) -> str:
    """Return seconds, or minutes or hours where these are many."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.2f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _cell(value: Any) -> str:
    """Return a cell of a table as it is read, with real minus signs before numbers."""
    if isinstance(value, str):
        return re.sub(r"^-(?=\d)", "\N{MINUS SIGN}", value)
    return _number(value) if isinstance(value, float) else _count(value)


def _brief(value: Any) -> str:
    """Return an option's value on one line: the first few of many."""
    if isinstance(value, Mapping):
        items = [f"{key}: {_brief(one)}" for key, one in value.items()]
    elif isinstance(value, list | tuple):
        items = [_brief(one) for one in value]
    else:
        return "none" if value is None else shorten(value, LONGEST_NAME)
    more = f" and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
    return (", ".join(items[:_LISTED]) + more) or "none"


def _marked(pattern: str, markup: str, text: str) -> Markup:
    """Return text as HTML, with what the pattern's group finds put into markup."""
    from markupsafe import Markup, escape

    parts = re.split(pattern, replace_unfit(text))
    return Markup("").join(
        Markup(markup).format(part) if odd % 2 else escape(part) for odd, part in enumerate(parts)
    )
