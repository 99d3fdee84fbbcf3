"""`orthoselect select -k cv`."""

import json

import numpy as np
import pytest

from orthoselect import select


def test_prints_the_path_with_the_chosen_size_and_its_score(run):
    ran = run("select", "iris", "-k", "cv", "--folds", 3, "--largest", 3)
    path = select("iris", None, "cv", cv=3, largest=3)
    assert ran.code == 0
    assert ran.out == path.to_text() + "\n"
    assert path.size_scores.sentence in ran.out
    assert "chosen" in ran.out
    assert ran.err == ""


def test_json_has_all_scores(run):
    asked = ("--rule", "best", "--estimator", "svm", "--scoring", "accuracy", "--seed", 3)
    ran = run("select", "iris", "-k", "cv", "-f", "json", "--largest", 2, *asked, "-j", 1)
    found = json.loads(ran.out)
    options = {"rule": "best", "estimator": "svm", "scoring": "accuracy", "random_state": 3}
    path = select("iris", None, "cv", largest=2, **options)
    assert found["chosen"] == path.chosen
    assert found["size_scores"] == json.loads(json.dumps(path.size_scores.to_dict()))
    assert len(found["steps"]) == 2


def test_csv_has_the_scores_and_the_choice_is_noted(run):
    ran = run("select", "iris", "-k", "cv", "-f", "csv", "--largest", 2, "--folds", 2)
    assert ran.out.splitlines()[0] == "step,feature,name,gain,total,chosen,score,score_se"
    assert "by cross-validation: mean accuracy" in ran.err


def test_output_and_report_hold_the_chosen_columns_only(run, tmp_path):
    ran = run("select", "wine", "-k", "cv", "--folds", 2, "--largest", 6, "--output", "w.csv")
    path = select("wine", None, "cv", cv=2, largest=6)
    assert path.chosen < 6
    header = (tmp_path / "w.csv").read_text().splitlines()[0]
    assert header.split(",") == [*path.names[: path.chosen], "cultivar"]
    assert f"wrote {path.chosen} columns" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-k", "cv", "--folds", 1], "`--folds` should be a whole number of at least 2"),
        (["-k", "cv", "--folds", 51], "likewise. Choose `--folds 50`, merge"),
        (["-k", "cv", "--largest", "x"], "`--largest` should be a whole number"),
        (["-k", "cv", "--largest", 0], "the largest size to try should be a whole number"),
        (["-k", "cv", "--estimator", "ridge"], "`--estimator ridge` is for numbers"),
        (["-k", "cv", "--scoring", "nice"], "`--scoring` should be one of"),
        (["-k", "cv", "--jobs", 0], "`--jobs` should be"),
        (["-k", "3", "--rule", "best"], "`--rule` is for a cross-validated size, `-k cv`"),
        (["--seed", 0], "`-k auto` or `--p-values`, and for folds, `-k cv`; got it without"),
        (["-k", 3, "--seed", 4], "`--seed` is for tests of features, `-k auto` or `--p-values`, "),
        (["-k", 3, "--alpha", 0.1], "`--alpha` is for tests of features, `-k auto` or"),
        (["-k", "cv", "--p-values"], "`--p-values` is for tests of features, and a size chosen by"),
        (["-k", "cv", "--alpha", 0.1, "--seed", 1], "`--alpha` is for tests of features, and a"),
        (["-k", "cv", "--search", "swap"], "sets of search 'swap' are not nested"),
        (["-k", "vc"], "or a fraction in (0, 1), or auto or cv; got 'vc'"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(refused, arguments, words):
    assert words in refused("select", "iris", *arguments)


def test_a_table_in_blocks_is_refused(refused, tmp_path):
    rows = "\n".join(f"{k},{k * k % 7},{k % 2}" for k in range(20_000))
    (tmp_path / "t.csv").write_text(f"a,b,y\n{rows}\n")
    words = refused("select", "t.csv", "--target", "y", "-k", "cv", "--memory", "200kB")
    assert "`-k cv` needs the table in memory" in words
    assert "Give a number, or some of the rows" in words


def test_sizes_no_better_than_no_features_are_a_warning_in_a_line(run, tmp_path):
    numbers = np.random.default_rng(1).normal(size=(60, 5))
    rows = "\n".join(",".join(f"{value:.6f}" for value in row) for row in numbers)
    (tmp_path / "noise.csv").write_text(f"a,b,c,d,y\n{rows}\n")
    ran = run("select", "noise.csv", "-t", "y", "-k", "cv")
    assert ran.code == 0
    lines = [line for line in ran.err.splitlines() if "no size is clearly better" in line]
    assert len(lines) == 1
    assert lines[0].startswith("orthoselect: warning: ")
