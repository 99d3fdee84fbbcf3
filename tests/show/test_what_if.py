"""The section "What if": the page selects again, to the same numbers as `select`."""

import base64
import json
import re
import warnings
from importlib.resources import files

import numpy as np
import pytest

import summaries
from orthoselect import select
from orthoselect.errors import SelectionWarning
from orthoselect.show.page import render
from orthoselect.show.replay import replay
from orthoselect.show.summary import summarize
from orthoselect.show.what_if import COLUMNS, MOST_COLUMNS, ROOM, what_if
from outlines import Outline
from problems import EXPLAINING, random_block_problem, random_problem

pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")
CSS = "css selector"


# Problems: data, target, how many to select, and the options of `select`


def two_classes():
    from sklearn.datasets import load_breast_cancer

    return load_breast_cancer(as_frame=True).frame, "target", 5, {}


def many_classes():
    from sklearn.datasets import load_digits

    table = load_digits(as_frame=True).frame
    return table, "target", 8, {}


def one_number():
    from sklearn.datasets import load_diabetes

    return load_diabetes(as_frame=True).frame, "target", 4, {"task": "regression"}


def several_numbers():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 9))
    X[:, 7] = X[:, 1] + 0.3 * X[:, 7]
    Y = X[:, :3] @ rng.normal(size=(3, 4)) + rng.normal(size=(120, 4))
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(9)])
    return table, Y, 4, {}


def categories(**options):
    """Labels beside numbers; one column repeats another, and the levels of `twice` depend."""
    rng = np.random.default_rng(2)
    n = 300
    town = rng.choice(["Aa", "Bb", "Cc", "Dd", "Ee"], size=n)
    table = pd.DataFrame(
        {
            "town": town,
            "region": np.where(np.isin(town, ["Aa", "Bb"]), "north", "south"),
            "age": rng.normal(size=n),
            "shop": rng.choice(list("xyz"), size=n),
            "income": rng.normal(size=n),
            "noise": rng.normal(size=n),
            "height": rng.normal(size=n),
            "steps": rng.poisson(5, size=n),
            "constant": np.ones(n),
        }
    )
    table["wage"] = 3 * table["income"] + 100
    near = 0.4 * rng.normal(size=(n, 2)) @ [[1.0, 0.0], [1.0, 1.0]]
    table["spending"] = table["income"] + near[:, 0]
    signal = (town == "Aa") + 0.8 * (table["shop"] == "x") + table["income"] + 0.3 * table["age"]
    table["y"] = np.where(signal + rng.normal(size=n) > 0.8, "high", "low")
    return table, "y", 3, options


def included_constant():
    return categories(include=["constant", "height"])


def groups():
    sensors = {"sensor": ["age", "noise"], "money": ["income", "wage", "spending"]}
    return categories(groups=sensors, include=["age"], exclude=["constant"])


def weights():
    table, target, size, _ = categories()
    return table, target, size, {"sample_weight": np.random.default_rng(3).uniform(size=len(table))}


def nearly_equal():
    """Columns that differ in the seventh digit, and sums of others: products lose their digits."""
    rng = np.random.default_rng(4)
    A = rng.normal(size=(150, 5))
    near = A[:, :3] + 1e-7 * rng.normal(size=(150, 3))
    sums = A @ rng.normal(size=(5, 2))
    y = A @ [1.0, 0.7, 0.4, 0.2, 0.1] + 0.5 * rng.normal(size=150)
    X = np.hstack([A, near, sums]) * 10.0 ** rng.integers(-6, 6, 10) + 1e3
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]), y, 4, {}


def many_features():
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(200, 12))
    X = Z @ rng.normal(size=(12, 400)) + rng.normal(size=(200, 400))
    y = Z[:, 0] + 0.5 * Z[:, 1] + 0.3 * rng.normal(size=200)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(400)]), y, 6, {}


PROBLEMS = {
    made.__name__.replace("_", " "): made
    for made in (
        two_classes,
        many_classes,
        one_number,
        several_numbers,
        categories,
        included_constant,
        groups,
        weights,
        nearly_equal,
        many_features,
    )
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a function from a problem's name to it, its summary and the address of its page."""
    known, folder = {}, tmp_path_factory.mktemp("what_if")

    def make(name):
        if name not in known:
            data, target, size, options = PROBLEMS[name]()
            path = again(PROBLEMS[name]())
            weight = {k: options[k] for k in ("sample_weight",) if k in options}
            summary = summarize(path, data, target, **weight)
            file = folder / f"{name.replace(' ', '_')}.html"
            file.write_text(render(summary), encoding="utf-8")
            known[name] = (data, target, size, options), summary, file.as_uri()
        return known[name]

    return make


# What the page carries


def floats(text):
    return np.frombuffer(base64.b64decode(text), dtype="<f8")


def columns_of(carried):
    """Return R and S."""
    n, packed = carried["columns"], floats(carried["triangle"])
    R = np.zeros((n, n))
    R.T[np.tril_indices(n)] = packed
    return R, floats(carried["response"]).reshape(n, -1)


def test_carried_columns_have_the_inner_products_of_the_real_ones(made):
    (table, _, _, _), summary, _ = made("two classes")
    R, S = columns_of(summary["what_if"])
    names = [one["name"] for one in summary["what_if"]["features"]]
    assert set(names) == set(table.columns) - {"target"}
    Z = table[names].to_numpy()
    Z = (Z - Z.mean(axis=0)) / np.linalg.norm(Z - Z.mean(axis=0), axis=0)
    v = table["target"].to_numpy() - table["target"].mean()
    assert np.allclose(R.T @ R, Z.T @ Z, atol=1e-12)
    assert np.allclose(np.abs(S.T @ R), np.abs(v @ Z) / np.linalg.norm(v), atol=1e-12)


def test_features_are_carried_whole_without_columns_that_depend(made):
    features = {one["name"]: one for one in made("categories")[1]["what_if"]["features"]}
    widths = {name: one["columns"] for name, one in features.items()}
    assert widths["town"] == 4
    assert widths["region"] == 1
    assert widths["constant"] == 0
    assert features["town"]["kind"] == "categorical"
    money = {one["name"]: one for one in made("groups")[1]["what_if"]["features"]}["money"]
    assert money["kind"] == "group"
    assert money["columns"] == 2  # wage is income in other units


def test_of_many_features_the_leading_ones_are_carried_and_what_is_sure_is_true(made):
    (table, y, size, _), summary, _ = made("many features")
    carried = summary["what_if"]
    assert COLUMNS <= carried["columns"] <= ROOM
    assert carried["n_columns"] == 400
    names = [one["name"] for one in carried["features"]]
    assert names[:size] == [step["name"] for step in summary["steps"]]
    assert set(select(table, y, carried["sure"]["size"]).names) <= set(names)
    for at in range(size):
        again = select(table, y, size, exclude=[names[at]])
        assert (at in carried["sure"]["without"]) == (set(again.names) <= set(names))
    assert carried["sure"]["without"]
    assert len(json.dumps(carried)) < 50_000


def test_a_response_of_many_columns_takes_no_more_room_than_the_features(rng):
    X = rng.normal(size=(80, 3))
    Y = X @ rng.normal(size=(3, 40)) + rng.normal(size=(80, 40))
    carried = summarize(select(X, Y, 2), X, Y)["what_if"]
    assert carried["rank"] == 40
    R, S = columns_of(carried)
    assert S.shape == (3, 3)
    gains = ((S.T @ R) ** 2).sum(axis=0)
    assert gains.max() == pytest.approx(select(X, Y, 1).total, rel=1e-12)


@pytest.mark.parametrize("method", EXPLAINING)
def test_only_methods_whose_gains_are_squared_correlations_have_it(method, rng):
    X = rng.normal(size=(90, 5)).round(1)
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=90) > 0).astype(int)
    summary = summarize(select(X, y, 3, method), X, y)
    page = render(summary)
    has = method in ("socc", "socc_discretized", "socc_splines")
    assert (summary["what_if"] is not None) == has
    assert ('id="what-if"' in page, 'href="#what-if"' in page) == (has, has)


def test_nothing_is_carried_where_there_is_nothing_to_redo(rng):
    X, y = rng.normal(size=(400, MOST_COLUMNS + 5)), rng.normal(size=400)
    assert summarize(select(X, y, MOST_COLUMNS), X, y)["what_if"] is not None
    many = select(X, y, MOST_COLUMNS + 1)
    summary = summarize(many, X, y)
    assert summary["what_if"] is None
    assert "those chosen have 151 columns together, and" in summary["why_no_what_if"]
    constant = np.ones((400, 3))
    with pytest.warns(UserWarning, match="constant"):
        path = select(constant, y, 2)
    assert len(path) == 0
    assert summarize(path, constant, y)["what_if"] is None
    path = select(constant, y, 1, include=[0])
    assert summarize(path, constant, y)["what_if"] is None


def test_names_are_text_in_the_page_and_nowhere_code(rng):
    names = [*summaries.NASTY, "'single' \\ & <b>", "</script><script>alert(2)</script>"]
    table = pd.DataFrame(rng.normal(size=(60, len(names))), columns=names)
    y = table.iloc[:, 0] + table.iloc[:, -1] + 0.1 * rng.normal(size=60)
    page = render(summarize(select(table, y, 4), table, y))
    assert page.count("<script>") == page.count("</script>") == 1
    (attributes,) = [a for _, a in Outline(page).all("section") if a["id"] == "what-if"]
    carried = json.loads(attributes["data-carried"])
    assert {"<script>alert(1)</script>", names[-1], "(no name)"} <= {
        one["name"] for one in carried["features"]
    }


# The page in a browser

PATH = """
return [...document.querySelectorAll('#what-if [data-part=path] > li')].map(row => [
  row.querySelector('.what .name').textContent, +row.dataset.gain, +row.dataset.total,
  row.querySelector('.instead').textContent, +row.querySelector('.instead').dataset.lost]);
"""
CARRIED = "return JSON.parse(document.getElementById('what-if').dataset.carried)"


def shown(browser):
    return browser.execute_script(PATH)


def press(browser, button, name):
    label = f"{button} {name}"
    for one in browser.find_elements(CSS, "#what-if button"):
        if one.get_attribute("aria-label") == label:
            browser.execute_script("arguments[0].click()", one)
            return
    raise AssertionError(f"there is no button {label!r}")


def set_size(browser, size):
    browser.execute_script(
        """const slider = document.getElementById('what-if-size');
        slider.value = arguments[0];
        slider.dispatchEvent(new Event('input'));""",
        size,
    )


def says(browser):
    return browser.find_element(CSS, "#what-if .says").text


def again(problem, size=None, without=(), forced=()):
    """Select without some features and with others; a group is named by its columns."""
    data, target, usual, options = problem
    columns = {name: [name] for name in data.columns} | dict(options.get("groups") or {})
    listed = [c for name in without for c in columns[name]]
    include = [c for c in options.get("include", []) if c not in listed]
    changed = {
        **options,
        "include": [*include, *(columns[name][0] for name in forced)] or None,
        "exclude": [*options.get("exclude", []), *listed] or None,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return select(data, target, size or usual, **changed)


def assert_shows(browser, path):
    rows = shown(browser)
    assert [row[0] for row in rows] == path.names
    assert np.allclose([row[1] for row in rows], path.gains, rtol=0, atol=1e-9)
    assert np.allclose([row[2] for row in rows], [step.total for step in path], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
def test_page_selects_the_same_as_python(browser, made, name):
    problem, summary, page = made(name)
    browser.get(page)
    assert browser.get_log("browser") == []
    names = [step["name"] for step in summary["steps"]]
    assert_shows(browser, again(problem))
    carried = browser.execute_script(CARRIED)
    sure = [names[at] for at in carried["sure"]["without"]]
    assert sure
    for left_out in sure:
        press(browser, "Leave out", left_out)
        assert_shows(browser, again(problem, without=[left_out]))
        press(browser, "Put back", left_out)
    for size in (1 + len(carried["included"]), problem[2] + 1):
        set_size(browser, size)
        assert_shows(browser, again(problem, size))
    browser.find_element(CSS, "#what-if [data-part=reset]").click()
    assert_shows(browser, again(problem))


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "many features"])
def test_several_changes_at_once_are_the_same_as_in_python(browser, made, name):
    problem, summary, page = made(name)
    browser.get(page)
    selected = [step["name"] for step in summary["steps"]]
    others = [one["name"] for one in summary["features"] if one["name"] not in selected]
    forced, without, size = [others[-1]], [], problem[2]
    press(browser, "Force in", forced[0])
    assert_shows(browser, again(problem, size, forced=forced))
    for _ in range(2):
        without.append(next(row[0] for row in shown(browser) if row[0] not in forced))
        press(browser, "Leave out", without[-1])
        assert_shows(browser, again(problem, size, without, forced))
    size += 1
    set_size(browser, size)
    assert_shows(browser, again(problem, size, without, forced))
    used = {*without, *(row[0] for row in shown(browser))}
    forced.append(next(one for one in others if one not in used))
    press(browser, "Force in", forced[-1])
    assert_shows(browser, again(problem, size, without, forced))
    press(browser, "Release", forced.pop(0))
    press(browser, "Put back", without.pop(0))
    assert_shows(browser, again(problem, size, without, forced))


# The part of the script that knows nothing of the page.
SELECT = """
const [carried, scenarios] = arguments, model = unpack(carried);
return scenarios.map(({out, asked, size}) => select(model, {out: new Set(out), asked, size}).steps);
"""


def numeric_part():
    script = files("orthoselect.show").joinpath("templates/what_if.js").read_text()
    start, end = script.index("{\n") + 2, script.index("  // Words and elements")
    return script[start:end]


def scenarios(carried, features, rng):
    """Yield some changes of a selection, and the same as arguments of `select`."""
    n, usual, included = len(features), carried["size"], carried["included"]
    for place in range(3):
        out = [] if not place else rng.permutation(n)[: rng.integers(0, 3)].tolist()
        forced = [] if not place else rng.permutation(n)[: rng.integers(0, 2)].tolist()
        asked = [f for f in included if f not in out]
        asked += [f for f in forced if f not in out and f not in included]
        size = max(usual if not place else int(rng.integers(1, usual + 3)), len(asked), 1)
        if len(out) == n:
            continue
        options = {
            "n_features_to_select": min(size, n),
            "include": [features[f].columns[0] for f in asked] or None,
            "exclude": [column for f in out for column in features[f].columns] or None,
        }
        yield {"out": out, "asked": asked, "size": options["n_features_to_select"]}, options


@pytest.mark.parametrize("make", [random_problem, random_block_problem])
def test_random_problems_are_selected_from_as_in_python(browser, make, numbers):
    script, n_tried = numeric_part() + SELECT, 0
    for seed in numbers(120):
        problem, rng = make(seed), np.random.default_rng(seed)
        options = {**problem.options, "sample_weight": problem.weights}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = select(problem.stored, problem.y, problem.t, **options)
            walked = replay(path, problem.stored, problem.y, problem.weights)
            carried = what_if(walked, path)
            if carried is None:
                continue
            features = [walked.design.features[one["place"]] for one in carried["features"]]
            tried = list(scenarios(carried, features, rng))
            expected = [select(problem.stored, problem.y, **options, **more) for _, more in tried]
        found = browser.execute_script(script, carried, [scenario for scenario, _ in tried])
        for steps, path, scenario in zip(found, expected, tried):
            names = [features[step["f"]].name for step in steps]
            assert names == path.names, (seed, scenario)
            gains = [step["gain"] for step in steps]
            assert np.allclose(gains, path.gains, rtol=0, atol=1e-9), (seed, scenario)
            n_tried += 1
    assert n_tried >= 10


def test_discretized_features_are_selected_again_too(browser, tmp_path):
    data, target, _, _ = two_classes()
    path = select(data, target, 3, "socc_discretized")
    file = tmp_path / "levels.html"
    file.write_text(render(summarize(path, data, target)), encoding="utf-8")
    browser.get(file.as_uri())
    assert_shows(browser, path)
    press(browser, "Leave out", path.names[1])
    without = select(data, target, 3, "socc_discretized", exclude=[path.names[1]])
    assert_shows(browser, without)


def by_chance(data, target, size):
    """Return names and gains of a selection by gains beyond those of noise, by definition."""
    blocks = {
        name: pd.get_dummies(data[[name]]).to_numpy(dtype=float)
        for name in data.columns
        if name != target
    }
    V = summaries.basis(pd.get_dummies(data[[target]]).to_numpy(dtype=float))
    Q, total, found = np.zeros((len(data), 0)), 0.0, {}
    for _ in range(size):
        judged = []
        for name in blocks.keys() - found.keys():
            A = blocks[name] - blocks[name].mean(axis=0)
            norms = np.linalg.norm(A, axis=0)
            A = A / np.where(norms > 0, norms, 1)
            U = summaries.basis(A - Q @ (Q.T @ A))
            gain = ((U.T @ V) ** 2).sum()
            chance = U.shape[1] * (V.shape[1] - total) / (len(data) - 1 - Q.shape[1])
            judged.append((gain - chance, gain, name, U))
        _, gain, name, U = max(judged, key=lambda one: one[0])
        Q, total = np.hstack([Q, U]), total + gain
        found[name] = gain
    return found


def test_gains_are_ranked_by_what_they_are_beyond_chance(browser, tmp_path, rng):
    codes = rng.integers(0, 12, 200)
    table = pd.DataFrame({f"x{j}": rng.normal(size=200) for j in range(4)})
    table["street"] = [f"street {code:02}" for code in codes]
    signal = table["x1"] + 0.5 * table["x2"] + 0.25 * table["x3"] + rng.normal(size=200)
    table["y"] = np.where(signal > 0, "yes", "no")
    summary = summarize(select(table, "y", 3), table, "y")
    summary["what_if"] |= {"adjust": "chance"}
    file = tmp_path / "chance.html"
    file.write_text(render(summary), encoding="utf-8")
    browser.get(file.as_uri())
    rows, wanted = shown(browser), by_chance(table, "y", 3)
    assert [row[0] for row in rows] == list(wanted)
    assert np.allclose([row[1] for row in rows], list(wanted.values()), atol=1e-9)
    plain = {**summary, "what_if": {**summary["what_if"], "adjust": None}}
    file.write_text(render(plain), encoding="utf-8")
    browser.get(file.as_uri())
    assert "street" in {row[0] for row in shown(browser)} - wanted.keys()


def test_a_path_by_another_adjustment_is_not_redone(rng):
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    path = select(X, y, 2)
    walked = replay(path, X, y)
    assert what_if(walked, path) is not None
    for options in ({"adjust": "p_value"}, {"search": "backward"}):
        path.options |= options
        assert what_if(walked, path) is None
        path.options = {}


def test_a_table_that_runs_out_says_so(browser, tmp_path, rng):
    table = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    y = table["a"] + 0.3 * rng.normal(size=40)
    file = tmp_path / "two.html"
    file.write_text(render(summarize(select(table, y, 2), table, y)), encoding="utf-8")
    browser.get(file.as_uri())
    press(browser, "Leave out", "b")
    alone = select(table[["a"]], y, 1).total
    both = select(table, y, 2).total
    assert says(browser) == (
        f"Without b: nothing takes its place; {both - alone:.4f} of {both:.4f} is lost. "
        f"The 1 feature reaches {alone:.4f} of 1. No other feature of this page adds anything."
    )
    press(browser, "Leave out", "a")
    assert shown(browser) == []
    press(browser, "Put back", "b")
    press(browser, "Put back", "a")
    press(browser, "Leave out", "b")
    press(browser, "Put back", "b")
    assert says(browser).startswith("As selected: 2 features")


def test_the_sentence_says_what_takes_the_place_and_what_it_costs(browser, made):
    problem, summary, page = made("one number")
    browser.get(page)
    names, total = [step["name"] for step in summary["steps"]], summary["steps"][-1]["total"]
    assert says(browser) == f"As selected: 4 features reach {total:.4f} of 1."
    last = names[-1]
    without = again(problem, without=[last])
    (new,) = set(without.names) - set(names)
    lost = total - without.total
    told = shown(browser)[-1]
    assert told[3] == f"Without it: {new}, \N{MINUS SIGN}{lost:.4f}"
    assert told[4] == pytest.approx(lost, abs=1e-9)
    press(browser, "Leave out", last)
    assert says(browser) == (
        f"Without {last}: {new} takes its place; {lost:.4f} of {total:.4f} is lost. "
        f"The 4 features reach {without.total:.4f} of 1."
    )
    press(browser, "Put back", last)
    set_size(browser, 2)
    two = summary["steps"][1]["total"]
    assert says(browser) == (
        f"2 features reach {two:.4f} of 1, the 4 selected {total:.4f}; "
        f"{total - two:.4f} of {total:.4f} is lost."
    )


def test_what_was_tried_on_all_features_is_told_from_what_was_not(browser, made):
    _, summary, page = made("many features")
    browser.get(page)

    def doubt():
        return browser.find_element(CSS, "#what-if .left-off").text

    columns = summary["what_if"]["columns"]
    assert doubt().startswith(f"The {columns} leading columns of 400 are in this page. This sel")
    for _ in range(2):
        press(browser, "Leave out", shown(browser)[0][0])
    assert "one might do better" in doubt()


def test_all_is_done_by_the_keyboard_and_the_focus_stays_where_one_is(browser, made):
    from selenium.webdriver.common.keys import Keys

    browser.get(made("two classes")[2])
    before = [row[0] for row in shown(browser)]
    slider = browser.find_element(CSS, "#what-if-size")
    slider.send_keys(Keys.ARROW_RIGHT)
    assert len(shown(browser)) == 6
    browser.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    slider.send_keys(Keys.TAB, Keys.TAB)  # reset, disabled or not, then the first row
    while "Leave out" not in (browser.switch_to.active_element.get_attribute("aria-label") or ""):
        browser.switch_to.active_element.send_keys(Keys.TAB)
    pressed = browser.switch_to.active_element.get_attribute("aria-label")
    left_out = pressed.removeprefix("Leave out ")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert left_out not in [row[0] for row in shown(browser)]
    undo = browser.switch_to.active_element
    assert undo.get_attribute("aria-label") == f"Put back {left_out}"
    undo.send_keys(Keys.SPACE)
    assert [row[0] for row in shown(browser)] == before
    search = browser.find_element(CSS, "#what-if-search")
    search.send_keys("FRACTAL")
    rows = browser.find_elements(CSS, "#what-if [data-part=others] .name")
    assert rows
    assert all("fractal" in row.text for row in rows)
    search.send_keys(" nowhere")
    assert not browser.find_elements(CSS, "#what-if [data-part=others] .name")
    assert "No other feature" in browser.find_element(CSS, "#what-if").text


def test_without_a_script_the_section_says_so_and_shows_no_controls(browser, made):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(made("one number")[2])
        section = browser.find_element(CSS, "#what-if")
        assert "needs a script" in section.text
        assert not [one for one in section.find_elements(CSS, "button") if one.is_displayed()]
        assert not [one for one in section.find_elements(CSS, "input") if one.is_displayed()]
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_nasty_names_are_shown_as_they_are_and_run_nothing(browser, tmp_path, rng):
    names = [*summaries.NASTY, "</script><script>document.title='x'</script>"]
    table = pd.DataFrame(rng.normal(size=(60, len(names))), columns=names)
    y = table.iloc[:, 0] + table.iloc[:, -1] + 0.1 * rng.normal(size=60)
    file = tmp_path / "nasty.html"
    file.write_text(render(summarize(select(table, y, 3), table, y)), encoding="utf-8")
    browser.get(file.as_uri())
    assert browser.title != "x"
    assert shown(browser)[0][0] in (names[0], names[-1])
    press(browser, "Leave out", shown(browser)[0][0])
    assert browser.get_log("browser") == []
    assert re.search("^Without <", says(browser)) or "script" in says(browser)


def test_a_page_says_why_it_does_not_select_again():
    rng = np.random.default_rng(0)
    town = np.array([f"town {k}" for k in rng.integers(0, 200, 2000)])
    frame = pd.DataFrame({"town": town, "x": rng.normal(size=2000)})
    frame["y"] = frame["x"] + np.unique(town, return_inverse=True)[1] + rng.normal(size=2000)
    path = select(frame, "y", 2)
    summary = summarize(path, frame, "y")
    assert summary["what_if"] is None
    assert "“town” has most of them, 199: one for each level" in summary["why_no_what_if"]
    page = render(summary)
    assert "This page does not select again" in page
    assert 'id="what-if"' in page
    assert "data-carried" not in page
    assert "why_no_what_if" not in summarize(select(frame, "y", 1, exclude="town"), frame, "y")
