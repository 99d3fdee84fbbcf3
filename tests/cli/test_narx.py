"""`orthoselect narx`: from a file to an equation, and one line for what is wrong."""

import json

import numpy as np
import pytest

from dynamics_systems import simple


@pytest.fixture
def record(tmp_path):
    u, y = simple()
    file = tmp_path / "record.csv"
    run = np.repeat(["a", "b"], 300)
    lines = ["valve,level,run", *(f"{a},{b},{c}" for a, b, c in zip(u, y, run))]
    file.write_text("\n".join(lines) + "\n")
    return file.name


ASKED = ("--target", "level", "--input", "valve", "--lags", 2, "--degree", 2)


def test_the_equation_and_the_validation_are_printed(run, record):
    ran = run("narx", record, *ASKED)
    assert ran.code == 0
    assert "3 of 21 terms by err" in ran.out
    assert "level(k-2) valve(k)" in ran.out
    assert "level(k) = " in ran.out
    assert "free run" in ran.out
    assert "valve^2, e^2" in ran.out


def test_as_json_and_csv(run, record):
    summary = json.loads(run("narx", record, *ASKED, "-f", "json").out)
    names = [step["name"] for step in summary["path"]["steps"]]
    assert [term["term"] for term in summary["terms"]] == names[:3]
    assert summary["errors"]["one step"] < 0.02
    assert len(summary["tests"]) == 5
    assert "--lags 2" in summary["reproduce"]["command"]
    lines = run("narx", record, *ASKED, "-f", "csv").out.splitlines()
    assert lines[0] == "term,err,coef,standard_error"
    assert len(lines) == 4


@pytest.mark.parametrize("more", [["--free-run"], ["--sessions", "run"], ["--noise-lags", 1],
                                  ["--order", "press"], ["-k", 3], ["-k", "auto"],
                                  ["--held-out", 0], ["--search", "forward"],
                                  ["--order", "free-run", "--rule", "best"]])  # fmt: skip
def test_options_reach_the_model(run, record, more):
    ran = run("narx", record, *ASKED, *more)
    assert ran.code == 0, ran.err
    assert "level(k-1)" in ran.out


def test_a_page_with_charts(run, record, tmp_path):
    pytest.importorskip("matplotlib")
    ran = run("narx", record, *ASKED, "--report", "page.html")
    assert "wrote the report to page.html" in ran.err
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("<svg") == 4  # two charts, for wide screens and for phones
    assert "which the model was not fitted on" in page
    assert "level(k-2) valve(k)" in page


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--target", "levels"), "did you mean `level`?"),
        (("--target", "level", "--input", "pump"), "`--input` should name columns"),
        (("--target", "level", "--input", "run"), "should hold numbers; it holds text"),
        (("--target", "level", "--lags", 900, "--degree", 1), "lags should be shorter"),
        (("--target", "level", "--order", "cv"), "`--order` should be one of"),
        (("--target", "level", "--held-out", 2), "`--held-out` should be a share"),
        (("--target", "level", "--held-out", 0.99), "leaves 6 of 600 rows to fit a model to"),
        (("--target", "level", "--terms", "few"), "`--terms` should be a whole number"),
        (("--target", "level", "--report", "a.txt"), "`--report` should end in .html"),
        (("--target", "level", "--report", "no/such/a.html"), "no/such"),
        (("--target", "level", "--rule", "best"), "got it with `--order bic`. Omit it."),
    ],
)
def test_what_is_wrong_is_one_line(refused, record, asked, words):
    assert words in refused("narx", record, *asked)


def test_a_report_onto_the_table_is_refused_and_no_option_named_that_there_is_not(
    refused, record, tmp_path
):
    (tmp_path / record).rename(tmp_path / "record.html")
    asked = (*ASKED, "--input-format", "csv", "--report", "record.html")
    words = refused("narx", "record.html", *asked)
    assert "would be replaced. Name another file." in words
    assert "overwrite" not in words
