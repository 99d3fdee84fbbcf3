"""Results on disk survive kills, and say what they are."""

import math

import pytest

from orthoselect.errors import InputError
from orthoselect_study.records import Row, Task
from orthoselect_study.store import Store, locked

ROWS = [
    Row("iris", "OLS", 1, 2, None, 3, "gain", 0.1 + 0.2, 'a "note", with commas'),
    Row(measure="bound", value=math.inf),
]


def stored(folder, *seeds):
    store = Store(folder, "iris", writing=True)
    tasks = [Task("iris", {"seed": seed}) for seed in seeds]
    for task in tasks:
        store.add(task, ROWS, 0.5)
    return store, tasks


def test_rows_come_back_as_they_were(tmp_path):
    _, (task,) = stored(tmp_path, 0)
    again = Store(tmp_path, "iris")
    assert again.rows([task.name]) == ROWS
    assert [found.seconds for found in again.tasks([task.name])] == [0.5]
    assert task in again


def test_each_task_tells_its_key(tmp_path):
    _, (task,) = stored(tmp_path, 7)
    first = Store(tmp_path, "iris").path.read_text().splitlines()[1]
    assert task.name in first
    assert {"schema", "orthoselect", "experiment", "data", "seed"} <= set(task.key)
    assert '""seed"": 7' in first


@pytest.mark.parametrize("cut", [1, 20, 60, 200])
def test_a_task_cut_off_while_written_does_not_count_and_the_others_do(tmp_path, cut):
    store, (first, second) = stored(tmp_path, 0, 1)
    store.path.write_bytes(store.path.read_bytes()[:-cut])
    reading = Store(tmp_path, "iris")
    assert first in reading
    assert second not in reading
    mended = Store(tmp_path, "iris", writing=True)
    mended.add(second, ROWS, 0.5)
    again = Store(tmp_path, "iris")
    assert again.rows([first.name, second.name]) == ROWS * 2
    assert store.path.read_text().count("\n") == 1 + 2 * (1 + len(ROWS))


def test_reading_changes_nothing_even_if_a_run_was_cut_off(tmp_path):
    store, _ = stored(tmp_path, 0, 1)
    store.path.write_bytes(store.path.read_bytes()[:-5])
    before = store.path.read_bytes()
    Store(tmp_path, "iris")
    assert store.path.read_bytes() == before


def test_bytes_of_a_disk_that_lost_power_are_dropped(tmp_path):
    store, (task,) = stored(tmp_path, 0)
    with store.path.open("ab") as file:
        file.write(b"\0\0\0\xff\xfe\n")
    mended = Store(tmp_path, "iris", writing=True)
    assert mended.rows([task.name]) == ROWS
    assert b"\0" not in store.path.read_bytes()


def test_a_file_of_something_else_is_refused_by_name(tmp_path):
    (tmp_path / "iris.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"iris\.csv.*should be results of the study"):
        Store(tmp_path, "iris")


@pytest.mark.parametrize(
    "text", ["{", "3", '{"written": "", "settings": {}}'], ids=["cut off", "else", "no seal"]
)
def test_a_damaged_manifest_is_refused_by_name(tmp_path, text):
    store, _ = stored(tmp_path, 0)
    (tmp_path / "iris.json").write_text(text)
    with pytest.raises(InputError, match=r"iris\.json.*damaged"):
        store.manifest()


def test_two_runs_cannot_write_to_one_folder(tmp_path):
    pytest.importorskip("fcntl")
    with locked(tmp_path), pytest.raises(InputError, match="another one is writing"):  # noqa: SIM117
        with locked(tmp_path):
            pass
    with locked(tmp_path):
        pass


def test_keys_differ_if_any_argument_does():
    tasks = [
        Task("binomial", {"seed": 0, "first": 0}),
        Task("binomial", {"seed": 1, "first": 0}),
        Task("binomial", {"seed": 0, "first": 25}),
        Task("multinomial", {"seed": 0, "first": 0}),
    ]
    assert len({task.name for task in tasks}) == len(tasks)


def test_a_key_does_not_depend_on_the_guessed_cost():
    assert Task("a", {"seed": 0}, cost=1).name == Task("a", {"seed": 0}, cost=9).name
