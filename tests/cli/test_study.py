"""`orthoselect study`: list, run, report."""

import json

import pytest

import studies
from orthoselect_study import EXPERIMENTS


def test_lists_the_experiments(run):
    names = [row["name"] for row in json.loads(run("study", "list", "-f", "json").out)]
    assert names[:3] == ["iris", "binomial", "multinomial"]
    assert names[-4:] == ["dynamics", "unsupervised", "how_many", "channels"]
    assert len(names) == 12
    assert all(name in run("study", "list").out for name in names)


def test_one_line_gives_tables_figures_and_report(run, tmp_path):
    ran = run("study", "run", "iris", "--output", "out")
    assert ran.code == 0, ran.err
    assert "32 of 32 printed figures agree" in ran.out
    assert "out" in ran.err
    written = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"iris.csv", "study.md", "iris.png"} <= written


def test_the_report_is_redone_without_running(run, tmp_path, monkeypatch):
    run("study", "run", "iris", "--output", "out")
    (tmp_path / "out" / "study.md").unlink()
    monkeypatch.setattr("orthoselect_study.run", None)
    ran = run("study", "report", "--output", "out")
    assert ran.code == 0
    assert (tmp_path / "out" / "study.md").exists()


def test_refusals_are_one_line(refused):
    assert "`NAME`" in refused("study", "run", "nosuch")
    assert "`--methods`" in refused("study", "run", "uci", "--methods", "nosuch")
    assert "`--methods` should be among" in refused("study", "run", "iris", "--methods", "nosuch")
    assert "`--folds`" in refused("study", "run", "uci", "--folds", 1)
    assert "`--jobs`" in refused("study", "run", "iris", "--jobs", 0)
    assert "`--seed`" in refused("study", "run", "iris", "--seed", -1)
    line = refused("study", "run", "recent", "--folds", 999, "--data", ".")
    assert line.startswith("`--folds` should be at most 357 here; got 999.")
    assert "`--data`" in refused("study", "run", "uci", "--data", "nowhere")
    assert "`--output`" in refused("study", "report", "--output", "nowhere")


def uci(run, folder):
    return run(
        *("study", "run", "uci", "--data", folder, "--methods", "OLS", "--features", 2),
        *("--folds", 2, "--output", "out"),
    )


def test_missing_sets_are_warned_of_and_no_error(run, tmp_path, monkeypatch):
    studies.leave_figures_out(monkeypatch)
    (tmp_path / "empty").mkdir()
    ran = uci(run, "empty")
    assert ran.code == 0
    assert "warning: Mfeat, CNAE-9, Lymphography: missing" in ran.err
    assert "Mfeat is missing: there is no `mfeat.npz`" in ran.out


def test_a_damaged_set_is_an_error_and_the_others_are_reported(run, tmp_path, monkeypatch):
    studies.leave_figures_out(monkeypatch)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mfeat.npz").write_text("no archive")
    ran = uci(run, "data")
    assert ran.code == 2
    assert "Breast, validation accuracy by 2 features: " in ran.out
    last = ran.err.splitlines()[-1]
    assert last.startswith(
        "orthoselect: error: `data/mfeat.npz` should be an .npz archive of plain arrays; "
    )


@pytest.mark.parametrize("when", ["running", "drawing"])
def test_ctrl_c_is_told_as_such(run, monkeypatch, when):
    def interrupt(*_):
        raise KeyboardInterrupt

    places = {"running": (EXPERIMENTS["iris"], "work"), "drawing": (studies.figures.Figure, "save")}
    monkeypatch.setattr(*places[when], interrupt)
    ran = run("study", "run", "iris", "--output", "out")
    assert ran.code == 130
    assert "interrupted; what was done is kept" in ran.err
    assert "missing" not in ran.err


def test_a_run_without_any_data_is_an_error(run, tmp_path):
    (tmp_path / "empty").mkdir()
    ran = run("study", "run", "challenge", "--data", "empty", "--methods", "OLS", "--output", "out")
    assert ran.code == 2
    assert "is missing" in ran.out
    assert ran.err.splitlines()[-1].startswith("orthoselect: error: an experiment should have")


def test_results_of_earlier_runs_are_no_results_of_this_one(run, tmp_path):
    (tmp_path / "empty").mkdir()
    assert run("study", "run", "iris", "--output", "out").code == 0
    ran = run("study", "run", "challenge", "--data", "empty", "--methods", "OLS", "--output", "out")
    assert ran.code == 2
    assert "an experiment should have results" in ran.err
