"""The page as text: whole, escaped, small, and the same without a script."""

import html
import json
import re
import warnings
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest

import summaries
from orthoselect import select
from orthoselect.errors import InputError
from orthoselect.plots import PALETTE
from orthoselect.show.page import MOST_FEATURES, SECTIONS, VERDICTS, _number, render
from orthoselect.show.summary import summarize
from outlines import Outline
from problems import EXPLAINING

pytest.importorskip("matplotlib")
MEGABYTE = 1_000_000


MADE = {
    "iris": lambda: summaries.selection_of("iris", 3),
    "one feature": lambda: summaries.made_up(60, 1, 2, 1),
    "thirty classes": lambda: summaries.made_up(600, 12, 30, 4),
    "numbers": lambda: summaries.selection_of("diabetes", 4),
    "levels": summaries.levels_of_numbers,
    "mixed": summaries.mixed,
    "bare": summaries.bare,
    "nasty": lambda: summaries.selection_of("wine", 8, summaries.NASTY),
    "what if": summaries.with_what_if,
    "sizes": summaries.with_sizes,
    "comparison": summaries.comparison,
}


# What has nothing to show is not there.
EMPTY = {
    "one feature": ["others", "substitutes", "alike"],
    "bare": ["use", "substitutes", "alike", "separation", "distributions"],
}


@pytest.fixture(scope="module")
def made():
    """Return a function from a name to its summary and page, each made once."""
    known = {}

    def make(name):
        if name not in known:
            summary = MADE[name]()
            known[name] = summary, render(summary)
        return known[name]

    return make


@pytest.fixture
def undrawn(monkeypatch):
    """Leave charts empty, for tests of words: drawing takes long."""
    from markupsafe import Markup

    from orthoselect.show import charts

    monkeypatch.setattr(charts, "_one", lambda *_: Markup("<svg></svg>"))


@pytest.mark.parametrize("name", MADE)
def test_sections_come_in_order_and_the_list_of_them_leads_there(made, name):
    summary, page = made(name)
    optional = {"what-if": "what_if", "sizes": "size_scores"}
    gone = {
        *EMPTY.get(name, ()),
        *(place for place, key in optional.items() if not summary.get(key)),
    }
    wanted = [place for place in SECTIONS[summary["kind"]] if place not in gone]
    outline = Outline(page)
    assert [attributes["id"] for _, attributes in outline.all("section")] == wanted
    links = [a["href"] for _, a in outline.all("a") if a["href"].startswith("#")]
    assert links == ["#main", *(f"#{place}" for place in wanted)]


@pytest.mark.parametrize("name", MADE)
def test_page_is_marked_up_for_all_readers(made, name):
    outline = Outline(made(name)[1])
    levels = [int(tag[1]) for tag, _ in outline.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert outline.all("html") == [("html", {"lang": "en"})]
    assert [len(outline.all(tag)) for tag in ("main", "nav", "header", "footer")] == [1, 1, 1, 1]
    assert all("scope" in attributes for _, attributes in outline.all("th"))
    assert len(outline.all("caption")) == len(outline.all("table"))
    for _, attributes in outline.all("div"):
        if "region" in attributes.get("class", "").split():
            assert attributes["tabindex"] == "0"
            assert attributes["aria-label"]
    for _, attributes in outline.all("svg"):
        assert attributes.get("aria-label") or attributes.get("aria-hidden") == "true"
    found = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("name", MADE)
def test_page_loads_nothing(made, name):
    outline = Outline(made(name)[1])
    assert not outline.all("img", "iframe", "object", "embed", "base", "form")
    assert [a for _, a in outline.all("link")] == [{"rel": "icon", "href": "data:,"}]
    assert all("src" not in attributes for _, attributes in outline.tags)
    assert len(outline.all("script")) == 1
    for tag, attributes in outline.tags:
        assert not [key for key in attributes if key.startswith("on")], tag
        assert attributes.get("href", "#")[:8] in ("#", "data:,", "https://") or attributes[
            "href"
        ].startswith("#")


@pytest.mark.parametrize("name", MADE)
def test_page_of_an_ordinary_table_is_small(made, name):
    assert len(made(name)[1].encode()) < MEGABYTE


@pytest.mark.parametrize("name", MADE)
def test_summary_is_only_read_and_gives_the_same_page_after_json(made, name):
    summary, page = made(name)
    written = json.dumps(summary, allow_nan=name == "comparison")
    again = json.loads(written)
    assert render(again) == page
    assert json.dumps(again) == written


def test_the_answer_comes_first_and_all_numbers_of_the_path_are_there(made):
    summary, page = made("iris")
    words = Outline(page).words
    assert words.index(summary["sentence"]) < words.index("Features were chosen one after")
    for step in summary["steps"]:
        assert step["name"] in words
        assert f"{step['gain']:.4f}" in words
        assert f"{step['total']:.4f}" in words
        assert f"{100 * step['total'] / 2:.1f}%" in words
    for correlation in summary["set"]["canonical_correlations"]:
        assert f"{correlation:.4f}" in words


def test_what_noise_would_gain_stands_beside_the_gains():
    summary = summaries.mixed()
    for step in summary["steps"]:
        step["chance"] = 0.0625
    page = render(summary)
    assert "By chance</th>" in page
    assert page.count(">0.0625</td>") == len(summary["steps"])
    assert "By chance</th>" not in render(summaries.selection_of("iris", 3))


def test_a_step_of_which_chance_is_not_known_has_a_dash_there():
    summary = summaries.mixed()
    summary["steps"][0].pop("chance", None)  # as of a constant that is included
    for step in summary["steps"][1:]:
        step["chance"] = 0.0625
    page = render(summary)
    assert page.count(">0.0625</td>") == len(summary["steps"]) - 1
    assert page.count('on-wide-only">\N{EN DASH}</td>') == 1


def test_numbers_are_written_in_one_way():
    less = "\N{MINUS SIGN}"
    told = [_number(x) for x in (None, 0, 4.7e-5, -4.7e-5, 0.25, -0.25, 2e5)]
    assert told == [
        "\N{EN DASH}",
        "0",
        "<0.0001",
        f">{less}0.0001",
        "0.2500",
        f"{less}0.2500",
        "2.00e+05",
    ]


def test_every_feature_has_its_row_and_every_verdict_its_meaning(made):
    summary, page = made("thirty classes")
    outline = Outline(page)
    rows = [a for tag, a in outline.all("tr") if "data-verdict" in a]
    assert len(rows) == len(summary["features"])
    for verdict in {feature["verdict"] for feature in summary["features"]}:
        assert VERDICTS[verdict] in outline.words


def test_names_show_as_text(made):
    page = made("nasty")[1]
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "{{ 7 * 7 }}" in page
    assert "\x00" not in page
    assert "\u202e" not in page
    assert page.encode("utf-8")
    words = Outline(page).words
    assert "<script>alert(1)</script>" in words
    assert '"><img src=x onerror=alert(1)>' in words
    assert "(no name)" in words


def test_every_text_of_a_summary_is_escaped():
    """Each string of a summary in turn becomes a script: none gets into the page."""
    attack = "<script>alert(1)</script>"
    fixed = {"kind", "task", "verdict", "method", "created", "response_encoding"}

    def poison(value, key=""):
        if isinstance(value, dict):
            return {one: poison(inner, one) for one, inner in value.items()}
        if isinstance(value, list):
            return [poison(inner, key) for inner in value]
        return attack if isinstance(value, str) and key not in fixed else value

    selections = summaries.mixed(), summaries.levels_of_numbers(), summaries.with_what_if()
    for summary in (*selections, summaries.comparison()):
        page = render(poison(summary))
        assert page.count("<script>") == 1
        assert page.count("</script>") == 1
        assert "&lt;script&gt;alert" in page


def test_twenty_thousand_features_stay_under_two_megabytes():
    names = [f"gene ENSG{j:011d} expression level" for j in range(20_000)]
    summary = summaries.made_up(80, 20_000, 3, 10, names)
    summary["features"][19_999] |= {"relevance": 0.0, "step": 10, "verdict": "selected"}
    page = render(summary)
    assert len(page.encode()) < 2 * MEGABYTE
    outline = Outline(page)
    rows = [a for tag, a in outline.all("tr") if "data-verdict" in a]
    assert len(rows) == MOST_FEATURES
    assert names[19_999] in outline.words  # selected, though by itself the least relevant
    assert "18,000 less relevant ones were left off" in outline.words


def test_fifty_selected_features_are_listed_and_thirty_drawn():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 60)) + 0.3 * y[:, None]
    summary = summaries.selection(X, y, [f"x{j}" for j in range(60)], 50, ["no", "yes"])
    page = render(summary)
    words = Outline(page).words
    assert "The first 30 of 50 selected features are drawn." in words
    assert "The first 30 of 50 selected features." in words
    assert len(page.encode()) < MEGABYTE


def test_many_rows_are_drawn_in_part_and_the_page_says_so():
    summary = summaries.made_up(20_000, 3, 3, 2)
    page = render(summary)
    assert "1,500 of 20,000 rows are drawn." in Outline(page).words
    assert len(page.encode()) < MEGABYTE


@pytest.mark.usefixtures("undrawn")
def test_cards_are_numbered_by_step_unless_a_group_has_several():
    summary = summaries.selection_of("iris", 2)
    assert render(summary).count('class="place"') == 2
    summary["distributions"].append(summary["distributions"][0])
    assert render(summary).count('class="place"') == 0


def test_a_failed_method_is_named_with_its_reason():
    comparison = summaries.comparison()
    comparison["methods"][1] |= {"failed": "it needs classes <here>", "seconds": None}
    gone = comparison["methods"][1]["name"]
    comparison["curves"] = [c for c in comparison["curves"] if c["method"] != gone]
    comparison["selected"][1]["features"] = []
    words = Outline(render(comparison)).words
    assert "Failed: it needs classes <here>" in words
    assert "It selected nothing." in words


def test_style_sheet_has_every_color_of_the_charts_for_light_and_dark():
    style = files("orthoselect.show").joinpath("templates/style.css").read_text()
    for role in PALETTE:
        assert len(re.findall(rf"--chart-{role}:", style)) == 2, role
    used = set(re.findall(r"var\((--[\w-]+)\)", style))
    assert used <= set(re.findall(r"(--[\w-]+):", style)) | {"--width"}


def luminance(color):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("tint", ["plus", "minus", "line"])
def test_numbers_on_the_deepest_cells_of_the_correlation_map_have_contrast(scheme, tint):
    style = files("orthoselect.show").joinpath("templates/style.css").read_text()

    def color(name):
        found = re.findall(rf"--chart-{name}: #(\w\w)(\w\w)(\w\w)", style)[scheme]
        return np.array([int(part, 16) / 255 for part in found])

    deepest = 0.65 * color(tint) + 0.35 * color("paper")
    light, dark = sorted([luminance(color("ink")), luminance(deepest)], reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_policy_lets_only_its_own_script_run(made):
    import base64
    import hashlib

    page = made("iris")[1]
    script = page.split("<script>")[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}" in page or f"script-src 'sha256-{digest}'" in page
    assert "default-src 'none'" in page


# Text that people read: without scripts, styles and code to copy.
UNREAD = re.compile(r"<(script|style|pre)\b.*?</\1>", re.DOTALL)


def read_by_people(page):
    """Return the text of a page between its tags, where no tag is."""
    return html.unescape(re.sub(r"<[^>]*>", " ", UNREAD.sub(" ", page)))


def report_on(rng, **options):
    """Return the page of a table with much that is warned of, in words of the command."""
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(rng.normal(size=(60, 4)), columns=[*"abcd"])
    table["id"] = [f"row {k}" for k in range(60)]
    table["kind"] = np.where(table["a"] > 0, "yes", "no")
    warned = [
        "left out 1 column(s): `day` (dates or times). Name a column as categorical, or include "
        "it, to keep it.",
        "dropped 6 of 66 rows, which have missing values in `a` (6 missing).",
        "`-k` is 20, but there are 5 features to choose from; all that add anything are selected, "
        "in order.",
        "y holds 40 distinct whole numbers and is read as a quantity; pass `--task classification` "
        "if these are classes, or `--task regression` if they are not.",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = select(table, "kind", 2, categorical_features=["id"], **options)
    left_out = {"day": "dates or times", "e": "dropped on request"}
    return render(summarize(path, table, "kind", warnings=warned, left_out=left_out))


@pytest.mark.parametrize("exclude", [None, ["d"]])
def test_no_backticks_or_flags_are_in_the_text_of_the_page(exclude, rng):
    page = report_on(rng, exclude=exclude)
    text = read_by_people(page)
    assert "Left out 1 column: “day” (dates or times)." in text
    assert "20 features were asked for" in text
    assert "Categorical column “id” has 60 levels" in text
    assert "`" not in text
    assert not re.findall(r"(?<!\w)--?[a-z][\w-]*", text)
    assert not re.search(r"\w+='", text)


def test_what_stands_against_the_answer_is_on_the_first_screen(rng):
    words = Outline(report_on(rng)).words
    assert words.index("What stands against it") < words.index("Features were chosen one after")
    assert words.index("Categorical column “id”") < words.index("Features were chosen one after")
    assert words.count("Categorical column “id”") == 1


@pytest.mark.parametrize("name", MADE)
def test_percent_is_written_in_one_way(made, name):
    if name != "nasty":
        text = read_by_people(made(name)[1])
        assert not re.search(r"\d[\s\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]%", text)


def test_no_counters_of_the_search_are_on_the_page(made):
    summary, page = made("iris")
    assert summary["stats"]
    text = read_by_people(page)
    for counter in summary["stats"]:
        assert counter.replace("_", " ") not in text


@pytest.mark.usefixtures("undrawn")
def test_where_all_features_are_chosen_no_section_is_empty():
    summary = summarize(select("iris", None, 4), "iris", None)
    outline = Outline(render(summary))
    there = [attributes["id"] for _, attributes in outline.all("section")]
    gone = {"others", "substitutes", "sizes"}
    assert there == [place for place in SECTIONS["selection"] if place not in gone]
    assert "nothing to" not in outline.words.lower()
    assert "These columns were no candidates" not in outline.words


@pytest.mark.usefixtures("undrawn")
def test_one_substitute_a_step_is_in_sight_and_the_others_are_folded():
    summary = summarize(select("wine", None, 3), "wine", None)
    page = render(summary)
    part = page[page.index('id="substitutes"') : page.index('id="alike"')]
    seen = re.sub(r"<details>.*?</details>", "", part, flags=re.DOTALL)
    for one in summary["substitutes"]:
        free = next(up for up in one["runners_up"] if up["chosen_at"] is None)
        assert free["name"] in seen
    assert seen.count("<tr>") == 1 + 3
    assert part.count("<li>") == sum(len(one["runners_up"]) - 1 for one in summary["substitutes"])


@pytest.mark.usefixtures("undrawn")
def test_of_a_set_a_feature_that_was_ahead_at_a_step_is_not_behind_by_less_than_nothing():
    summary = summarize(select("breast_cancer", None, 8, search="exact"), "breast_cancer", None)
    margins = [up["margin"] for one in summary["substitutes"] for up in one["runners_up"]]
    ahead = [f"ahead by {-margin:.1%}" for margin in margins if margin <= -0.0005]
    words = Outline(render(summary)).words
    assert ahead
    assert all(one in words for one in ahead)
    assert not re.search(r"[-\N{MINUS SIGN}]\d+\.\d%", words)
    assert "The set was chosen as a whole" in words
    assert "found no better set with it" in words
    assert "Came close to the one chosen" not in words
    greedy = Outline(render(summarize(select("wine", None, 3), "wine", None))).words
    assert "ahead by" not in greedy
    assert "chosen as a whole" not in greedy


def test_ten_classes_have_ten_colors_in_every_chart():
    summary = summarize(select("digits", None, 2), "digits", None)
    page = render(summary)
    for first, last in (("separation", "distributions"), ("distributions", "data")):
        part = page[page.index(f'<section id="{first}"') : page.index(f'<section id="{last}"')]
        assert set(re.findall(r"--chart-series-(\d+)", part)) == {str(n) for n in range(1, 11)}
    assert "other (" not in page


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_ten_colors_can_be_told_apart(scheme):
    style = files("orthoselect.show").joinpath("templates/style.css").read_text()
    found = [
        re.findall(rf"--chart-series-{n}: #(\w\w)(\w\w)(\w\w)", style)[scheme] for n in range(1, 11)
    ]
    colors = [lab(np.array([int(part, 16) / 255 for part in color])) for color in found]
    apart = [np.linalg.norm(a - b) for n, a in enumerate(colors) for b in colors[:n]]
    assert min(apart) >= 25


def lab(color):
    """Return a color in CIELAB, where distances are those that eyes see."""
    linear = np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]
    x, y, z = np.cbrt(np.array(to_xyz) @ linear / [0.9505, 1.0, 1.0888])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_unknown_kind_is_refused():
    with pytest.raises(InputError, match="got 'poem'"):
        render({"kind": "poem"})


def test_runners_up_that_were_chosen_later_are_marked(made):
    summary, page = made("nasty")
    free = [
        one
        for one in summary["substitutes"]
        if any(u["chosen_at"] is None for u in one["runners_up"])
    ]
    later = [str(u["chosen_at"]) for one in free for u in one["runners_up"] if u["chosen_at"]]
    assert later
    assert re.findall(r"chosen at step (\d+)<", page) == later


def words_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page))


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("classes_first", [False, True])
def test_of_classes_and_numbers_each_section_says_which_it_shows(classes_first, rng):
    pd = pytest.importorskip("pandas")
    X = rng.normal(size=(80, 5))
    kind = np.array(["a", "b"], dtype=object)[(X[:, 0] > 0).astype(int)]
    size = X[:, 1] + 0.1 * rng.normal(size=80)
    columns = {"kind": kind, "size": size} if classes_first else {"size": size, "kind": kind}
    target = pd.DataFrame(columns)
    words = words_of(render(summarize(select(X, target, 2), X, target)))
    assert "1 of classes, 1 of numbers" in words
    assert "· regression ·" not in words
    if classes_first:
        assert "How the classes of kind separate" in words
        assert "distributed in every class of kind" in words
        assert "Rows in each class of kind" in words
    else:
        assert "How well the numbers of size are fitted" in words
        assert "How size, the first response, goes along" in words
        assert "Response size" in words
        assert "Classes" not in words


@pytest.mark.usefixtures("undrawn")
def test_shares_of_classes_add_up_where_rows_have_no_weight(rng):
    X = rng.normal(size=(60, 3))
    y, w = np.arange(60) % 2, np.where(np.arange(60) < 20, 0.0, 1.0)
    path = select(X, y, 1, sample_weight=w)
    page = render(summarize(path, X, y, sample_weight=w))
    words = words_of(page)
    assert "60, weighted; 40 rows with weight" in words
    assert "Rows with weight in each class" in words
    facts = page[page.index('id="data-title"') :]
    assert re.findall(r'<td class="num">([\d.]+)%</td>', facts) == ["50.0", "50.0"]


ADD_UP = {"socc", "socc_discretized", "socc_splines", "err", "mser"}


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("method", EXPLAINING)
def test_only_of_gains_that_add_up_a_total_is_told(method, rng):
    X = rng.normal(size=(90, 5)).round(1)
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=90) > 0).astype(int)
    words = words_of(render(summarize(select(X, y, 3, method), X, y)))
    totals = ["Where the line turns flat", "running total", "the total is what", "Adds now"]
    assert [phrase in words for phrase in totals] == [method in ADD_UP] * 4
    assert ("do not add up to anything" in words) == (method not in ADD_UP)
    own = method in ("socc", "socc_discretized", "socc_splines")
    assert ("irrelevant is judged by" in words) == (not own)
