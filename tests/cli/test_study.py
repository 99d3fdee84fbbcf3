"""`orthoselect study`: list, run, report."""

import json


def test_lists_the_experiments(run):
    names = [row["name"] for row in json.loads(run("study", "list", "-f", "json").out)]
    assert names[:3] == ["iris", "binomial", "multinomial"]
    assert len(names) == 8
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
    monkeypatch.setattr("orthoselect.study.run", None)
    ran = run("study", "report", "--output", "out")
    assert ran.code == 0
    assert (tmp_path / "out" / "study.md").exists()


def test_refusals_are_one_line(refused):
    assert "`NAME`" in refused("study", "run", "nosuch")
    assert "`--methods`" in refused("study", "run", "uci", "--methods", "nosuch")
    assert "`--folds`" in refused("study", "run", "uci", "--folds", 1)
    assert "`--data`" in refused("study", "run", "uci", "--data", "nowhere")
    assert "`--output`" in refused("study", "report", "--output", "nowhere")


def test_a_run_without_any_data_is_an_error(run, tmp_path):
    (tmp_path / "empty").mkdir()
    ran = run("study", "run", "challenge", "--data", "empty", "--methods", "OLS", "--output", "out")
    assert ran.code == 2
    assert "is missing" in ran.out
    assert ran.err.splitlines()[-1].startswith("orthoselect: error: an experiment should have")
