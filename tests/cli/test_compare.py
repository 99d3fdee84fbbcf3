"""`orthoselect compare`: the table, the files, the refusals."""

import csv
import io
import json
import signal
import subprocess
import sys

import pytest
from sklearn.datasets import load_wine

from orthoselect import compare


def test_prints_the_best_method_for_each_size(run):
    ran = run("compare", "iris", "-k", 3, "-m", "socc", "-m", "jmi", "--option", "bins=3")
    assert ran.code == 0
    assert ran.err == ""
    title, header, *rows = ran.out.splitlines()
    assert title == "accuracy of lda on validation rows, mean of 5 folds"
    assert header.split()[:3] == ["features", "best", "score"]
    assert [row.split()[0] for row in rows[:5]] == ["0", "1", "2", "3", "4"]
    assert "no features" in rows[0]
    assert "all features" in rows[4]
    assert all("±" in row for row in rows[:5])
    assert "seconds" in ran.out


def test_the_same_as_the_library(run):
    ran = run("compare", "wine", "-k", 2, "-m", "socc,lasso", "--seed", 3, "-f", "json", "-q")
    told = json.loads(ran.out)
    X, y = load_wine(return_X_y=True)
    made = compare(X, y, ["socc", "lasso"], 2, random_state=3)
    ours = [(c["method"], c["n_features"], c["validation"]) for c in told["curves"]]
    theirs = [(c["method"], c["n_features"], c["validation"]) for c in made.curves]
    assert ours == theirs
    assert told["seed"] == 3
    assert told["title"] == "wine"
    assert told["target"] == "cultivar"
    assert told["reproduce"]["command"].startswith("orthoselect compare wine -k 2")


def test_csv_is_tidy(run):
    ran = run("compare", "iris", "-k", 2, "-m", "socc", "--folds", 3, "--repeats", 2, "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert len(rows) == 2 * 3 * 2 + 2 * 3 * 2  # sizes of the method, and both baselines
    assert {row["method"] for row in rows} == {"socc", "all features", "no features"}
    assert set(rows[0]) == {
        "method",
        "repeat",
        "fold",
        "n_features",
        "train",
        "validation",
        "seconds",
    }


@pytest.mark.parametrize("estimator", ["lda", "svm", "logistic", "gradient_boosting"])
@pytest.mark.parametrize("scoring", ["accuracy", "auc", "f1"])
def test_estimators_and_scores(run, estimator, scoring):
    ran = run(
        *("compare", "breast_cancer", "-k", 1, "-m", "socc", "--folds", 2),
        *("--estimator", estimator, "--scoring", scoring, "-f", "json"),
    )
    told = json.loads(ran.out)
    assert (told["estimator"], told["scoring"]) == (estimator, scoring)
    assert 0.85 < told["best"][0]["validation"] < 1


def test_numbers_are_scored_by_r2(run):
    told = json.loads(run("compare", "diabetes", "-k", 3, "-f", "json", "-q").out)
    assert told["scoring"] == "r2"
    assert 0.3 < told["best"][-1]["validation"] < 0.6


def test_the_report_draws_it(run, tmp_path):
    ran = run(
        "compare", "iris", "-k", 2, "-m", "socc,mim", "--option", "bins=3", "--report", "c.html"
    )
    assert "c.html" in ran.err
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 1
    assert page.count("all features") >= 3
    assert page.count("no features") >= 3
    assert "optimistic" in page
    assert "approximate" in page
    assert "orthoselect compare iris" in page


def test_a_file_with_text_and_gaps(run, tmp_path):
    frame = load_wine(as_frame=True).frame
    frame["target"] = frame["target"].map({0: "a", 1: "b", 2: "c"})
    frame["kind"] = (frame["ash"] > 2.4).map({True: "long", False: "short"})
    frame.loc[5, "hue"] = None
    frame.to_csv(tmp_path / "w.csv", index=False)
    ran = run(
        *("compare", "w.csv", "-t", "target", "-k", 2, "--missing", "drop-rows", "-f", "json"),
        *("-m", "socc,jmi", "--option", "bins=3"),
    )
    told = json.loads(ran.out)
    assert told["data"]["rows"] == len(frame) - 1
    assert told["data"]["kinds"] == {"numeric": 13, "categorical": 1, "group": 0}


def test_the_report_is_that_of_the_library_but_for_what_only_the_command_knows(run, tmp_path):
    run("compare", "iris", "-k", 2, "-m", "socc", "--report", "c.json", "-q")
    told = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    made = compare("iris", None, ["socc"], 2).to_dict()
    assert told.keys() == made.keys()
    for key in ("baselines", "curves", "best", "highest", "recommended", "sentence", "findings"):
        assert told[key] == made[key]


def test_refusals_are_one_line(refused):
    assert "'nosuch'" in refused("compare", "iris", "-m", "nosuch")
    assert "--folds" in refused("compare", "iris", "--folds", 1)
    assert "--estimator" in refused("compare", "iris", "--estimator", "forest")
    assert "--scoring" in refused("compare", "iris", "--scoring", "r2")
    assert "depth" in refused("compare", "iris", "--option", "depth=3")


def test_ctrl_c_keeps_the_folds_that_were_done(tmp_path, wait_for_lines):
    script = tmp_path / "slow.py"
    script.write_text(
        "import time\n"
        "from orthoselect.cli import main\n"
        "from orthoselect.comparison import run\n"
        "run_fold = run.run_fold\n"
        "def slow(*arguments):\n"
        "    time.sleep(0.3)\n"
        "    outcome = run_fold(*arguments)\n"
        f"    print('fold', file=open({str(tmp_path / 'folds')!r}, 'a'))\n"
        "    return outcome\n"
        "run.run_fold = slow\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, script, "compare", "iris", "-m", "socc", "-k", "1", "--repeats", "40"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_lines(tmp_path / "folds", 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "socc" in out
    assert "interrupted" in err
    assert "Traceback" not in err
