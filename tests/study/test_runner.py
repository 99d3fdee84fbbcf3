"""Runs: from end to end, resumed, killed, in several processes, and never mixed."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from orthoselect.errors import InputError
from orthoselect_study import (
    EXPERIMENTS,
    Settings,
    Store,
    StudyFailed,
    list_experiments,
    report,
    run,
)
from orthoselect_study.records import Task

FEW = ("OLS", "MIM")


def results(settings, name):
    """Return the rows of the last run, without the times."""
    store = Store(settings.output, name)
    rows = store.rows(store.manifest()["tasks"])
    return [row for row in rows if row.measure != "seconds"]


def steps_of(names, settings):
    steps = []
    run(names, settings, steps.append)
    return steps


def test_every_experiment_is_listed():
    names = [experiment["name"] for experiment in list_experiments()]
    assert names == list(EXPERIMENTS)
    assert len(names) == 12


def test_progress_counts_every_task_and_tells_the_time_left(tiny):
    steps = steps_of(["binomial"], tiny(methods=FEW))
    assert [step.done for step in steps] == [0, 1, 2, 3, 4]
    assert {step.total for step in steps} == {4}
    assert steps[0].seconds_left is None
    assert steps[1].seconds_left > 0
    assert steps[-1].seconds_left == pytest.approx(0)
    assert steps[-1].label in ("binomial OLS", "binomial MIM")


def test_results_that_are_there_are_not_computed_again(tiny):
    settings = tiny(methods=FEW)
    run(["binomial"], settings)
    before = (settings.output / "binomial.csv").read_bytes()
    steps = steps_of(["binomial"], settings)
    assert [step.done for step in steps] == [4]
    assert (settings.output / "binomial.csv").read_bytes() == before


def test_versions_are_those_that_made_the_results(tiny, monkeypatch):
    settings = tiny(methods=("OLS",))
    made = run(["binomial"], settings)["binomial"]["versions"]
    later = {**made, "numpy": "99.0"}
    monkeypatch.setattr("orthoselect_study.runner.versions", lambda *_: later)
    assert run(["binomial"], settings)["binomial"]["versions"] == made
    more = run(["binomial"], replace(settings, methods=("OLS", "MIM")))["binomial"]["versions"]
    assert more == {**made, "numpy": f"{made['numpy']} and 99.0"}


def test_more_methods_add_to_what_is_there(tiny):
    run(["binomial"], tiny(methods=("OLS",)))
    steps = steps_of(["binomial"], tiny(methods=FEW))
    assert [step.done for step in steps] == [2, 3, 4]


@pytest.mark.parametrize(
    "changed", [{"seed": 1}, {"repeats": 5}, {"methods": ("MIM", "JMI")}, {"batches": 1}]
)
def test_changed_settings_never_mix(tiny, changed):
    """Runs one after the other in a folder give what each gives in a folder of its own."""
    first, other = {"methods": FEW}, {"methods": FEW, **changed}
    run(["binomial"], tiny("alone", **other))
    run(["binomial"], tiny(**first))
    run(["binomial"], tiny(**other))
    mixed = results(tiny(**other), "binomial")
    assert mixed == results(tiny("alone", **other), "binomial")
    run(["binomial"], tiny("first", **first))
    run(["binomial"], tiny(**first))
    assert results(tiny(**first), "binomial") == results(tiny("first", **first), "binomial")


def test_other_data_are_another_key(with_made_sets):
    from orthoselect_study.datasets import DATASETS, DataSource

    data = DATASETS["mfeat"].load(DataSource())
    less = data.thinned(20, 0)
    tasks = [Task("uci", {"seed": 0}, each) for each in (data, less)]
    assert tasks[0].name != tasks[1].name


SCRIPT = """
import sys
from pathlib import Path
from orthoselect_study import Settings, run
if __name__ == "__main__":
    run(["binomial"], Settings(Path(sys.argv[1]), methods=("MIM", "OLS"), repeats=5, batches=8))
"""


@pytest.mark.skipif(os.name == "nt", reason="kills a group of processes, as POSIX has them")
def test_a_killed_run_resumes_where_it_stopped(tmp_path):
    script, out = tmp_path / "run.py", tmp_path / "killed"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script), str(out)],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    file = out / "binomial.csv"
    deadline = time.monotonic() + 60
    while not (file.exists() and file.read_text().count(",task,") >= 2):
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = file.read_bytes()
    settings = Settings(out, methods=("MIM", "OLS"), repeats=5, batches=8)
    n_done = len(Store(out, "binomial").tasks(Store(out, "binomial").manifest()["tasks"]))
    steps = steps_of(["binomial"], settings)
    assert 2 <= n_done < 16
    assert [step.done for step in steps] == list(range(n_done, 17))
    assert file.read_bytes().startswith(before[: before.rfind(b"\n") // 2])
    whole = Settings(tmp_path / "whole", methods=("MIM", "OLS"), repeats=5, batches=8)
    run(["binomial"], whole)
    assert results(settings, "binomial") == results(whole, "binomial")


def interrupted_at(count):
    """Return a progress that interrupts a run after so many tasks."""

    def interrupt(step):
        if step.done == count:
            raise KeyboardInterrupt

    return interrupt


def test_ctrl_c_loses_nothing_that_was_done(tiny):
    settings = tiny(methods=FEW)
    with pytest.raises(KeyboardInterrupt):
        run(["binomial"], settings, interrupted_at(2))
    manifest = Store(settings.output, "binomial").manifest()
    assert manifest["complete"] == 2
    assert manifest["seconds"] > 0
    assert [step.done for step in steps_of(["binomial"], settings)] == [2, 3, 4]


def test_two_processes_give_the_same_as_one_even_if_interrupted(tiny, with_made_sets):
    names = ["binomial", "challenge", "uci"]
    options = {"methods": ("OLS", "JMI"), "features": 3, "folds": 2}
    run(names, tiny("one", jobs=1, **options))
    run(names, tiny("two", jobs=2, **options))
    with pytest.raises(KeyboardInterrupt):
        run(names, tiny("interrupted", jobs=2, **options), interrupted_at(10))
    steps = steps_of(names, tiny("interrupted", jobs=1, **options))
    assert [step.done for step in steps] == list(range(10, steps[0].total + 1))
    for name in names:
        expected = results(tiny("one"), name)
        assert results(tiny("two"), name) == results(tiny("interrupted"), name) == expected


def test_a_task_that_fails_does_not_stop_the_others(tiny, monkeypatch):
    experiment, work = EXPERIMENTS["binomial"], EXPERIMENTS["binomial"].work

    def fail(arguments, data):
        if arguments["method"] == "MIM":
            raise ZeroDivisionError("one over nothing")
        return work(arguments, data)

    settings = tiny(methods=FEW)
    with monkeypatch.context() as broken:
        broken.setattr(experiment, "work", fail)
        with pytest.raises(StudyFailed, match=r"binomial MIM.*one over nothing") as raised:
            run(["binomial"], settings)
    assert len(raised.value.failures) == 2
    manifest = Store(settings.output, "binomial").manifest()
    assert manifest["complete"] == 2
    assert manifest["failed"][0] == ["binomial MIM", "ZeroDivisionError: one over nothing"]
    assert [step.done for step in steps_of(["binomial"], settings)] == [2, 3, 4]


def test_an_unknown_experiment_is_told_with_the_nearest(tiny):
    with pytest.raises(InputError, match="Did you mean 'binomial'"):
        run(["binomal"], tiny())


def test_an_unknown_method_is_told_with_the_nearest(tiny):
    with pytest.raises(InputError, match="Did you mean 'LASSO'"):
        run(["binomial"], tiny(methods=("laso",)))


@pytest.mark.parametrize("name", ["iris", "speed", "uci"])
def test_an_unknown_method_is_told_by_every_experiment(tiny, name):
    settings = tiny(methods=("FOO",), repeats=None, batches=None)
    with pytest.raises(InputError, match=r"`methods` should be among OLS, OLSd.*got 'FOO'"):
        run([name], settings)
    assert not settings.output.exists()


@pytest.mark.parametrize(
    ("names", "option", "message"),
    [
        (["uci"], {"folds": 10**9}, "at most 20 here; got 1000000000.*CNAE-9 20, Lymph.*y 30"),
        (["uci", "recent"], {"folds": 16}, "at most 15 here; got 16.*Flags 15"),
        (["uci"], {"features": 31}, "at most 30 here; got 31.*Breast 30"),
        (["speed"], {"features": 13}, "at most 12 here; got 13.*Dexter 12"),
    ],
)
def test_numbers_beyond_the_data_are_refused_once_before_the_work(
    tiny, with_made_sets, names, option, message
):
    settings = tiny(repeats=None, batches=None, **option)
    with pytest.raises(InputError, match=message):
        run(names, settings)
    assert not settings.output.exists()


def test_sets_with_fewer_features_give_all_they_have(tiny, with_made_sets):
    settings = tiny(repeats=None, batches=None, features=25, folds=2, methods=("OLS",))
    manifest = run(["uci"], settings)["uci"]
    selected = {facts["name"]: facts["selected"] for facts in manifest["data"]}
    assert selected == {"mfeat": 12, "breast": 25, "cnae9": 12, "lymphography": 12}


def test_an_option_that_no_experiment_uses_is_refused(tiny):
    with pytest.raises(InputError, match="`folds` should go with an experiment that uses it"):
        run(["binomial"], tiny(folds=5))


@pytest.mark.parametrize(
    ("option", "value"), [("folds", 1), ("seed", -1), ("jobs", 0), ("repeats", 2.5), ("jobs", None)]
)
def test_numbers_out_of_range_are_told_by_name(tmp_path, option, value):
    with pytest.raises(InputError, match=f"`{option}` should be a whole number"):
        Settings(tmp_path, **{option: value})


def test_no_method_at_all_is_told(tmp_path):
    with pytest.raises(InputError, match="at least one method"):
        Settings(tmp_path, methods=())


def test_a_folder_of_data_that_is_none_is_told(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        Settings(tmp_path, data=tmp_path / "nowhere")


def test_an_output_that_cannot_be_written_to_is_told(tmp_path):
    pytest.importorskip("fcntl")
    (tmp_path / ".study.lock").mkdir()  # rights would not hold back a superuser
    with pytest.raises(InputError, match="`output` should be a folder that can be written to"):
        run(["iris"], Settings(tmp_path))


def test_an_output_that_is_a_file_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="`output` should be a folder"):
        run(["iris"], Settings(Path(tmp_path / "file")))


def test_a_damaged_set_is_told_and_the_others_are_run(tmp_path, undrawn):
    data = tmp_path / "data"
    data.mkdir()
    (data / "lymphography.npz").write_text("no archive")
    settings = Settings(tmp_path / "out", data, methods=("OLS",), folds=2, features=3)
    with pytest.raises(StudyFailed, match=r"lymphography\.npz.*damaged") as raised:
        run(["uci"], settings)
    assert list(raised.value.damaged) == ["lymphography"]
    (part,) = report(settings.output)["experiments"]
    assert part["complete"] == part["tasks"] == 2  # Breast, which needs no file
    facts = {row[0]: row[1] for row in part["tables"][0]["rows"]}
    assert facts == {"Breast": "569", "Mfeat": "missing", "CNAE-9": "missing"} | {
        "Lymphography": "damaged"
    }
    held = part["tables"][1]
    assert held["rows"][0][held["columns"].index("Lymphography")] == "damaged"
    assert any("Lymphography is damaged: " in text for text in part["findings"])
