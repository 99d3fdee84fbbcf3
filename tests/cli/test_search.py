"""Searches of sets by the command: what is printed, written and refused."""

import json

import pytest


def test_the_table_says_what_is_proved_and_what_changed(run):
    ran = run("select", "breast_cancer", "-k", 5, "--search", "exact")
    assert ran.code == 0
    assert "No other set of 5 does better (proved)." in ran.out
    assert "mean perimeter in place of worst concave points, smoothness error" in ran.out


def test_csv_is_the_steps_and_a_note_has_the_rest(run):
    ran = run("select", "breast_cancer", "-k", 5, "--search", "exact", "-f", "csv")
    assert len(ran.out.splitlines()) == 6
    assert "(proved)" in ran.err


def test_json_has_the_certificate_and_the_sets(run):
    ran = run("select", "wine", "-k", 3, "--search", "swap", "-f", "json", "-q")
    answer = json.loads(ran.out)
    assert answer["certificate"]["search"] == "swap"
    assert answer["certificate"]["optimal"] is None
    assert [len(one["names"]) for one in answer["by_size"]] == [1, 2, 3]
    assert "certificate" not in json.loads(run("select", "wine", "-k", 3, "-f", "json", "-q").out)


def test_the_report_has_the_certificate_the_sets_and_the_way_to_get_them_again(run, tmp_path):
    given = ["--search", "exact", "--time-limit", 30]
    assert run("select", "breast_cancer", "-k", 5, *given, "--report", "r.html").code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "No other set of 5 does better (proved)." in page
    assert "The best set of each size" in page
    assert "The set was found by search exact" in page
    assert "time_limit=30.0" in page
    assert "--time-limit 30" in page


@pytest.mark.parametrize("method", ["err", "obcc", "socc_discretized"])
def test_reports_of_other_methods_walk_the_set_again(run, tmp_path, method):
    given = ["--method", method, "--search", "swap", "--report", "r.json"]
    assert run("select", "wine", "-k", 3, *given).code == 0
    assert json.loads((tmp_path / "r.json").read_text())["certificate"]["search"] == "swap"


def test_options_of_a_search_are_options(run):
    ran = run("select", "wine", "-k", 3, "--search", "beam", "--option", "width=3", "-f", "json")
    assert json.loads(ran.out)["options"]["width"] == 3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--search", "sideways"], "--search"),
        (["--search", "swap", "--method", "jmi"], "Use `--search forward`, or one of the methods"),
        (
            ["--search", "exact", "--time-limit", "0"],
            "`--time-limit` should be a number",
        ),
        (["--time-limit", "5"], "`--time-limit` is for searches that compare sets"),
        (["--search", "swap", "--option", "width=3"], "`--option width` is an option of"),
        (
            ["--search", "swap", "--option", "n_starts=none"],
            "`--option n_starts` should be",
        ),
    ],
)
def test_bad_searches_are_one_line(refused, given, words):
    assert words in refused("select", "wine", "-k", 3, *given)
