"""`orthoselect methods`, `datasets`, `--version`, help and completion."""

import json

import orthoselect
from orthoselect.methods import METHODS


def test_methods_lists_every_name(run):
    ran = run("methods")
    assert [line.split()[0] for line in ran.out.splitlines()] == list(METHODS)


def test_a_method_in_full(run):
    assert run("methods", "mrmr_quotient").out.strip() == repr(METHODS["mrmr_quotient"])
    assert json.loads(run("methods", "jmi", "-f", "json").out)[0]["name"] == "jmi"


def test_an_unknown_method(refused):
    assert "'socc'" in refused("methods", "soc")


def test_datasets(run):
    ran = run("datasets", "--format", "json")
    rows = {row["name"]: row for row in json.loads(ran.out)}
    assert {"iris", "breast_cancer", "wine", "digits"} <= set(rows)
    assert (rows["breast_cancer"]["rows"], rows["breast_cancer"]["columns"]) == (569, 30)
    assert all(name in run("datasets").out for name in rows)


def test_every_data_set_can_be_selected_from(run):
    for row in json.loads(run("datasets", "--format", "json").out):
        ran = run("select", row["name"], "-k", 2, "-f", "json", "-q")
        told = json.loads(ran.out)
        assert told["target"] == row["target"]
        assert told["data"]["rows"] == row["rows"]
        assert told["n_candidates"] == row["columns"]


def test_version(run):
    assert run("--version").out == f"orthoselect {orthoselect.__version__}\n"


def test_no_arguments_is_help(run):
    assert "select" in run().out


def test_help_names_every_command(run):
    out = run("--help").out
    assert all(name in out for name in ("select", "compare", "methods", "datasets"))
    assert "--install-completion" in out


def test_completion_knows_data_sets_files_and_methods(tmp_path, monkeypatch):
    from orthoselect.cli.options import complete_method, complete_source

    monkeypatch.chdir(tmp_path)
    (tmp_path / "winter.csv").touch()
    assert complete_source("wi") == ["wine", "winter.csv"]
    assert [name for name, _ in complete_method("mrmr")] == ["mrmr_difference", "mrmr_quotient"]
