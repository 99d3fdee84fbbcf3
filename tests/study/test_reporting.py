"""The whole study in small, and what is made of its results."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import made_sets
from orthoselect.errors import InputError
from orthoselect_study import EXPERIMENTS, Settings, learners, report, reporting, run
from orthoselect_study.figures import Figure
from orthoselect_study.findings import Standing, answer, claim_sentences, standing_sentence
from orthoselect_study.methods import TWELVE
from orthoselect_study.pages import Table
from outlines import Outline


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Run everything, on made data, in small."""
    settings = Settings(
        tmp_path_factory.mktemp("study"),
        repeats=2,
        batches=2,
        folds=2,
        features=3,
        rows=30,
        quick=True,
    )
    with pytest.MonkeyPatch.context() as patch:
        made_sets.replace_all(patch, missing=("gisette", "cnae9", "flags", "parkinsons"))
        patch.setattr(learners, "tuned_svm_auc", lambda A, y, judged, chance: (0.5, 1.0))  # slow
        run(None, settings)
    return settings


@pytest.fixture(scope="module")
def told(small):
    """Report on it; that charts are right on a page is tested with the page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "chart", lambda figure: f"chart of {figure.name}")
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
    assert all(f"chart of {name}" in outline.words for name in {*figures, "ranks_last"})
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
    assert part["findings"][0] == "There are no results of this experiment."
    assert "`mnist.npz`" in part["findings"][1]
    assert part["tables"][0]["rows"][0][:2] == ["MNIST", "missing"]


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
    assert claim_sentences([ahead], "score")[1].endswith("of 12, holds on a set.")
    assert claim_sentences([], "score") == []
    sentences = claim_sentences([ahead, behind], "score")
    assert "does not hold on 1 of" in sentences[1]
    assert "number 12" in sentences[1]


def test_the_answer_says_whether_the_claim_holds_and_what_it_hangs_on():
    ahead = standing({name: 0.5 - 0.01 * at for at, name in enumerate(TWELVE)})
    behind = standing({name: 0.5 + 0.01 * at for at, name in enumerate(TWELVE)})
    holds = answer({"score": [ahead]})
    assert "12 methods, holds here." in holds
    assert "By score, OLS has a mean rank of 1.0 over 1 data set, the best of 12." in holds
    assert "holds here, but it depends on a choice" in answer({"score": [ahead]}, hangs=True)
    fails = answer({"score": [ahead], "mean": [behind, behind]})
    assert "does not hold here on every data set" in fails
    assert "mean rank of 12.0 over 2 data sets, number 12 of 12; it is not among" in fails
    assert "is not judged here: no data set has results of all 12" in answer({"score": []})


def test_gaps_are_judged_by_paired_differences():
    folds = {"OLS": [0.80, 0.70, 0.90], "MIM": [0.81, 0.71, 0.91]}
    close = Standing("a set", "accuracy", folds, {"OLS": 0.06, "MIM": 0.06})
    sentence = standing_sentence(close)
    assert "more than two standard errors" in sentence
    apart = Standing("a set", "accuracy", {"OLS": [0.8], "MIM": [0.81]}, {"OLS": 0.06, "MIM": 0.06})
    assert "within two standard errors" in standing_sentence(apart)


def test_differences_and_errors_are_those_of_the_printed_numbers():
    rng = np.random.default_rng(0)
    for _ in range(50):
        folds = {name: rng.normal(0.9, 0.01, 10).tolist() for name in ("OLS", "MIM")}
        sentence = standing_sentence(Standing("a set", "accuracy", folds, {}))
        numbers = [float(number) for number in re.findall(r"\d\.\d{4}", sentence)]
        best, other, gap, error, twice = numbers
        assert gap == pytest.approx(best - other)
        assert f"(2 x {error:.4f} = {twice:.4f})" in sentence
        assert twice == pytest.approx(2 * error)
        assert ("more than two" in sentence) == (gap > twice)


def test_a_difference_that_is_not_printed_is_no_zero():
    sentence = standing_sentence(standing({"OLS": 0.90001, "MIM": 0.90002}))
    assert sentence.endswith("number 2 of 2 (0.9000), behind by less than 0.0001.")


def test_a_lead_is_judged_as_a_lag_is():
    errors = dict.fromkeys(("OLS", "MIM", "JMI"), 0.03)
    scores = {"OLS": [0.9], "MIM": [0.88], "JMI": [0.7]}
    sentence = standing_sentence(Standing("a set", "accuracy", scores, errors))
    assert "best is OLS (0.9000); next is MIM (0.8800), 0.0200 behind, within two" in sentence
    scores["MIM"] = [0.7]
    sentence = standing_sentence(Standing("a set", "accuracy", scores, errors))
    assert "next is MIM and JMI (0.7000), 0.2000 behind, more than two" in sentence


def test_one_method_alone_is_not_called_the_best():
    assert standing_sentence(standing({"OLS": 0.9})) == "a set, accuracy: OLS 0.9000."


def test_ranks_are_among_the_twelve_even_if_more_were_run(told):
    more = standing({**dict.fromkeys(TWELVE, 0.5), "OBCC": 0.9, "Shapley": 0.8})
    assert more.ranks()["OLS"] == 3
    (ranked,) = reporting._ranked([more], "last")
    assert ranked.ranks()["OLS"] == 1


def test_sets_that_are_not_to_be_had_are_in_the_table_of_ranks(told):
    for table in told["overall"]["tables"]:
        rows = {row[0]: row[1:] for row in table["rows"]}
        assert set(rows["Gisette"]) == {"missing"}
        assert "Flags" not in rows  # it is no set of the twelve
    assert told["overall"]["findings"]


def test_ranks_of_runs_with_different_settings_are_said_to_be(tmp_path, undrawn):
    small = {"repeats": 1, "batches": 1}
    run(["binomial"], Settings(tmp_path, **small))
    run(["multinomial"], Settings(tmp_path, **small))
    assert "settings differ" not in report(tmp_path)["sentence"]
    run(["multinomial"], Settings(tmp_path, repeats=2, batches=1, seed=5))
    told = report(tmp_path)
    expected = (
        "The ranks are not of one run; settings differ: seed: 0 (binomial) and 5 (multinomial); "
        "repeats: 1 (binomial) and 2 (multinomial)."
    )
    assert told["sentence"].endswith(expected)
    assert told["overall"]["findings"][-1] == expected


def test_runs_without_ranks_say_nothing_of_the_claim(tmp_path, undrawn):
    run(["iris"], Settings(tmp_path / "out"))
    told = report(tmp_path / "out")
    assert told["sentence"] == "32 of 32 printed figures agree to their four decimals."
    assert told["overall"]["findings"] == []
    for page in ("study.md", "study.html"):
        text = (tmp_path / "out" / page).read_text()
        assert "claim" not in text
        assert "Over all data sets" not in text


def test_commands_name_the_folders_as_they_were_given(tmp_path, undrawn):
    data, out = tmp_path / "the data", tmp_path / "a" / "b"
    data.mkdir()
    run(["iris"], Settings(out, data))
    told = report(out)["reproduce"]
    command = f"orthoselect study run iris --data '{data}' --seed 0 --output {out}"
    assert [run["code"] for run in told["runs"]] == [command]
    assert told["report"] == f"orthoselect study report --output {out}"


def test_the_page_of_the_docs_begins_with_the_command_that_it_ends_with():
    page = (Path(__file__).parents[2] / "docs" / "study.md").read_text("utf-8")
    commands = re.findall(r"^orthoselect study run .*$", page, re.MULTILINE)
    assert len(commands) == 2
    assert len(set(commands)) == 1


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
