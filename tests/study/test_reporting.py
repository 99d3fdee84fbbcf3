"""The whole study in small, and what is made of its results."""

import json

import pytest

import made_sets
from orthoselect.errors import InputError
from orthoselect.study import EXPERIMENTS, Settings, report, run
from orthoselect.study.findings import Standing, answer, claim_sentences, standing_sentences
from orthoselect.study.methods import TWELVE
from orthoselect.study.tables import Table
from outlines import Outline


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Run everything, on made data, in small."""
    settings = Settings(
        tmp_path_factory.mktemp("study"),
        repeats=4,
        batches=2,
        folds=2,
        features=3,
        rows=30,
        quick=True,
    )
    with pytest.MonkeyPatch.context() as patch:
        made_sets.replace_all(patch)
        run(None, settings)
    return settings


@pytest.fixture(scope="module")
def told(small):
    """Report on it."""
    return report(small.output)


def test_the_study_from_end_to_end(small, told):
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert [part["name"] for part in told["experiments"]] == list(EXPERIMENTS)
    for part in told["experiments"]:
        assert part["complete"] == part["tasks"] > 0
        assert part["findings"]
        assert part["tables"]
        for figure in part["figures"]:
            assert (small.output / figure["png"]).read_bytes().startswith(b"\x89PNG")
            assert "<svg" in (small.output / figure["svg"]).read_text()[:1000]
        for table in part["tables"]:
            assert (small.output / f"table_{table['name']}.md").exists()
            assert all(len(row) == len(table["columns"]) for row in table["rows"])
    figures = {figure["name"] for part in told["experiments"] for figure in part["figures"]}
    assert figures == {*EXPERIMENTS, "mnist_pixels"}
    assert {figure["name"] for figure in told["overall"]["figures"]} == {"ranks_last", "ranks_mean"}
    written = (small.output / "study.md").read_text()
    page = (small.output / "study.html").read_text()
    outline = Outline(page)
    assert page.count('role="img"') == 2 * (len(figures) + 2)
    assert len(page.encode()) < 3_000_000
    for part in told["experiments"]:
        assert part["title"] in written
        assert part["title"] in outline.words
        assert all(text in written for text in part["findings"])
        shown = [text.replace("`", "") for text in part["findings"]]
        assert all(" ".join(text.split()) in outline.words for text in shown)


def test_a_missing_set_is_in_the_tables_with_the_reason(told):
    told = {part["name"]: part for part in told["experiments"]}
    for name in ("challenge", "speed"):
        tables = {table["name"]: table for table in told[name]["tables"]}
        facts = {row[0]: row for row in tables[f"{name}_data"]["rows"]}
        assert facts["Gisette"][1] == "missing"
        assert facts["Gisette"][-1] == "it was never found"
        assert "Gisette is missing: it was never found." in told[name]["findings"]
    for table in told["challenge"]["tables"][1:]:
        (at,) = [j for j, name in enumerate(table["columns"]) if name.startswith("Gisette")]
        assert {row[at] for row in table["rows"]} == {"missing"}


def test_reports_are_redone_without_running_anything(small, told, undrawn, monkeypatch):
    for experiment in EXPERIMENTS.values():
        monkeypatch.setattr(experiment, "work", None)
        monkeypatch.setattr(experiment, "plan", None)
    assert report(small.output) == told


def test_a_report_of_half_a_run_says_so(tiny, undrawn):
    settings = tiny(methods=("OLS", "MIM"))

    def interrupt(step):
        if step.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(["binomial"], settings, interrupt)
    (part,) = report(settings.output)["experiments"]
    assert part["findings"][0].startswith("Not complete: 3 of 4 tasks")


def test_a_report_of_nothing_but_missing_sets_says_so(tmp_path):
    empty = tmp_path / "data"
    empty.mkdir()
    run(["mnist"], Settings(tmp_path / "out", empty))
    (part,) = report(tmp_path / "out")["experiments"]
    assert part["findings"][0] == "There are no results."
    assert "`mnist.npz`" in part["findings"][1]


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_without_results_is_told(tmp_path, exists):
    folder = tmp_path / "empty"
    if exists:
        folder.mkdir()
    with pytest.raises(InputError, match="should be the folder of a run"):
        report(folder)


def standing(scores, **options):
    return Standing("a set", "accuracy", {m: [s] for m, s in scores.items()}, {}, **options)


def test_the_claim_is_said_to_hold_only_if_it_does():
    ahead = standing({name: 0.5 - 0.01 * at for at, name in enumerate(TWELVE)})
    behind = standing({name: 0.5 + 0.01 * at for at, name in enumerate(TWELVE)})
    assert "holds on all 1" in claim_sentences([ahead], "score")[1]
    sentences = claim_sentences([ahead, behind], "score")
    assert "does not hold on 1 of" in sentences[1]
    assert "number 12" in sentences[1]
    assert "was not tested" in claim_sentences([standing({"OLS": 1.0})], "score")[0]


def test_the_answer_says_whether_the_claim_holds_and_what_it_hangs_on():
    ahead = standing({name: 0.5 - 0.01 * at for at, name in enumerate(TWELVE)})
    behind = standing({name: 0.5 + 0.01 * at for at, name in enumerate(TWELVE)})
    holds = answer({"score": [ahead]})
    assert "12 methods, holds here." in holds
    assert "By score, OLS has a mean rank of 1.0 over 1 data set, the best of 12." in holds
    assert "holds here, but it hangs on a choice" in answer({"score": [ahead]}, hangs=True)
    fails = answer({"score": [ahead], "mean": [behind, behind]})
    assert "does not hold here on every data set" in fails
    assert "mean rank of 12.0 over 2 data sets, number 12 of 12; it is not among" in fails
    assert "was not tested" in answer({"score": [], "mean": []})


def test_gaps_are_judged_by_paired_differences():
    folds = {"OLS": [0.80, 0.70, 0.90], "MIM": [0.81, 0.71, 0.91]}
    close = Standing("a set", "accuracy", folds, {"OLS": 0.06, "MIM": 0.06})
    (sentence,) = standing_sentences(close)
    assert "more than two standard errors" in sentence
    apart = Standing("a set", "accuracy", {"OLS": [0.8], "MIM": [0.81]}, {"OLS": 0.06, "MIM": 0.06})
    assert "within two standard errors" in standing_sentences(apart)[0]


def test_cells_do_not_break_a_markdown_table():
    table = Table("t", "T", ["a|b"], [["x|y"], [None], [float("nan")], [1.25]], "a note")
    assert table.markdown().splitlines()[2:] == [
        "| a\\|b |",
        "|:--|",
        "| x\\|y |",
        "| - |",
        "| - |",
        "| 1.2500 |",
        "",
        "a note",
    ]
