"""The files that a table is read from stay as they are, unless `--overwrite-source` is given."""

import csv
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from orthoselect.read import read_source

COMMAND = [sys.executable, "-m", "orthoselect"]


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(3)
    labels = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    return pa.table({"p": X[:, 0], "q": X[:, 1], "r": X[:, 2], "y": labels})


def write(path):
    """Write the table in the format that the suffix names."""
    data = table()
    if path.suffix == ".parquet":
        pq.write_table(data, path)
    elif path.suffix in (".feather", ".arrow"):
        feather.write_feather(data, path)
    elif path.suffix == ".npz":
        np.savez(path, **{name: np.array(data[name].to_pylist()) for name in data.column_names})
    else:
        rows = [data.column_names, *zip(*data.to_pydict().values())]
        path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return path


@pytest.fixture
def source(tmp_path):
    return write(tmp_path / "t.csv")


def header(path):
    with path.open() as file:
        return next(csv.reader(file))


SELECT = ["-t", "y", "-k", 2]
LINE = "should not be a file of the table itself"


@pytest.mark.parametrize("name", ["t.csv", "./t.csv", "../{here}/t.csv", "sub/../t.csv"])
def test_output_that_spells_the_source_is_refused(refused, source, tmp_path, name):
    (tmp_path / "sub").mkdir()
    before = source.read_bytes()
    line = refused("select", "t.csv", *SELECT, "--output", name.format(here=tmp_path.name))
    assert line.startswith("`--output` should not be a file of the table itself")
    assert "`--overwrite-source`" in line
    assert source.read_bytes() == before


def test_output_by_an_absolute_path_is_refused(refused, source):
    before = source.read_bytes()
    assert LINE in refused("select", "t.csv", *SELECT, "--output", source)
    assert source.read_bytes() == before


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
@pytest.mark.parametrize("read", ["source", "link"])
def test_output_that_links_to_the_source_is_refused(refused, source, tmp_path, link, read):
    link(source, tmp_path / "link.csv")
    before = source.read_bytes()
    one, other = ("t.csv", "link.csv") if read == "source" else ("link.csv", "t.csv")
    line = refused("select", one, *SELECT, "--output", other)
    assert LINE in line
    assert f"`{other}`" in line
    assert f"`{one}`" in line
    assert source.read_bytes() == before


def test_output_through_a_link_to_the_folder_is_refused(refused, source, tmp_path):
    (tmp_path / "elsewhere").symlink_to(tmp_path)
    before = source.read_bytes()
    assert LINE in refused("select", "t.csv", *SELECT, "--output", "elsewhere/t.csv")
    assert source.read_bytes() == before


@pytest.mark.parametrize("memory", [(), ("--memory", "2 kB")])
@pytest.mark.parametrize("pattern", ["logs", "logs/*.parquet", "logs/**/*.parquet"])
def test_output_in_a_folder_or_pattern_is_refused(refused, tmp_path, pattern, memory):
    (tmp_path / "logs").mkdir()
    for part in "ab":
        write(tmp_path / "logs" / f"{part}.parquet")
    before = (tmp_path / "logs" / "b.parquet").read_bytes()
    line = refused("select", pattern, *SELECT, "--output", "logs/b.parquet", *memory)
    assert LINE in line
    assert (tmp_path / "logs" / "b.parquet").read_bytes() == before


def test_output_that_is_one_of_several_files_is_refused(refused, tmp_path):
    files = [write(tmp_path / f"{part}.csv") for part in "ab"]
    before = files[1].read_bytes()
    assert LINE in refused("select", *files, *SELECT, "--output", "b.csv")
    assert files[1].read_bytes() == before


@pytest.mark.parametrize("command", ["select", "compare"])
@pytest.mark.parametrize("suffix", ["html", "json"])
def test_a_report_in_place_of_the_source_is_refused(
    refused, run, source, tmp_path, command, suffix
):
    (tmp_path / f"r.{suffix}").symlink_to(source)
    before = source.read_bytes()
    line = refused(command, "t.csv", "-t", "y", "--report", f"r.{suffix}")
    assert line.startswith("`--report` should not be a file of the table itself")
    assert "`--overwrite-source`" in line
    assert source.read_bytes() == before
    shutil.copy(source, tmp_path / "plain.json")
    how = ["-t", "y", "--input-format", "csv", "--report", "plain.json"]
    assert LINE in refused(command, "plain.json", *how)
    few = ["-m", "socc", "--folds", 2] if command == "compare" else []
    ran = run(command, "plain.json", *how, "-k", 1, *few, "--overwrite-source", "-q")
    assert ran.code == 0, ran.err
    assert (tmp_path / "plain.json").read_text().startswith("{")


def test_it_is_refused_before_the_table_is_read(refused, source, monkeypatch):
    monkeypatch.setattr("orthoselect.cli.loading.read_table", None)
    assert LINE in refused("select", "t.csv", *SELECT, "--output", "t.csv")


def test_a_table_on_standard_input_is_a_source_too(source, tmp_path):
    before = source.read_bytes()
    words = [*COMMAND, "select", "-", "-t", "y", "-k", "2", "-q", "--output", "t.csv"]
    with source.open("rb") as file:
        ran = subprocess.run(words, stdin=file, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 2
    assert LINE in ran.stderr
    assert "`standard input`" in ran.stderr
    assert source.read_bytes() == before
    with source.open("rb") as file:
        words.append("--overwrite-source")
        assert subprocess.run(words, stdin=file, cwd=tmp_path, capture_output=True).returncode == 0
    assert header(source) == ["p", "q", "y"]


def test_other_files_are_replaced_as_before(run, source, tmp_path):
    shutil.copy(source, tmp_path / "copy.csv")
    ran = run("select", "t.csv", *SELECT, "--output", "copy.csv", "--report", "new.json", "-q")
    assert ran.code == 0, ran.err
    assert header(tmp_path / "copy.csv") == ["p", "q", "y"]


def test_a_built_in_set_is_no_file(run, tmp_path):
    assert run("select", "iris", "-k", 1, "--output", "iris", "-q").code == 0
    assert header(tmp_path / "iris") == ["petal length (cm)", "species"]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather", "arrow"])
@pytest.mark.parametrize("memory", [(), ("--memory", "2 kB")])
def test_with_the_option_the_source_is_replaced_whole(run, tmp_path, suffix, memory):
    source = write(tmp_path / f"t.{suffix}")
    ran = run("select", source, *SELECT, "--output", source, "--overwrite-source", *memory, "-q")
    assert ran.code == 0, ran.err
    again, before = read_source(source), table()
    assert sorted(again.names) == ["p", "q", "y"]
    for name in again.names:
        assert np.asarray(again.column(name)).tolist() == before[name].to_pylist()
    assert os.listdir(tmp_path) == [source.name]


def test_with_the_option_an_archive_is_replaced_whole(run, tmp_path):
    source = write(tmp_path / "t.npz")
    assert run("select", source, *SELECT, "--output", source, "--overwrite-source", "-q").code == 0
    with np.load(source) as stored:
        assert stored["feature_names"].tolist() == ["p", "q"]
        assert stored["X"].tolist() == np.column_stack([table()["p"], table()["q"]]).tolist()
    assert os.listdir(tmp_path) == ["t.npz"]


@pytest.mark.parametrize("memory", [(), ("--memory", "2 kB")])
def test_with_the_option_one_of_several_files_gets_all_rows(run, tmp_path, memory):
    files = [write(tmp_path / f"{part}.csv") for part in "ab"]
    how = ["--output", "b.csv", "--overwrite-source", "-q"]
    assert run("select", *files, *SELECT, *how, *memory).code == 0
    assert len(files[1].read_text().splitlines()) == 121
    assert len(header(files[0])) == 4


def test_with_the_option_a_link_stays_one(run, source, tmp_path):
    (tmp_path / "link.csv").symlink_to(source)
    how = ["--output", "link.csv", "--overwrite-source", "-q"]
    assert run("select", "t.csv", *SELECT, *how).code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert header(source) == ["p", "q", "y"]


@pytest.mark.parametrize("memory", [(), ("--memory", "2 kB")])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_lost_when_the_writing_fails(run, tmp_path, monkeypatch, memory, failure):
    source = write(tmp_path / "t.csv")
    before = source.read_bytes()

    def fails(*_):
        raise failure

    monkeypatch.setattr("orthoselect.output.os.replace", fails)
    how = ["--output", "t.csv", "--overwrite-source", "-q"]
    ran = run("select", "t.csv", *SELECT, *how, *memory)
    assert ran.code == (130 if isinstance(failure, KeyboardInterrupt) else 2)
    assert "Traceback" not in ran.err
    assert source.read_bytes() == before
    assert os.listdir(tmp_path) == ["t.csv"]


def test_nothing_is_lost_by_an_interrupt_from_outside(tmp_path, wait_for_lines):
    source = write(tmp_path / "t.csv")
    before = source.read_bytes()
    script = (
        "import signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from orthoselect.cli import main\n"
        "from orthoselect.read import write\n"
        "texts = write._texts\n"
        "def slow(*arguments):\n"
        "    print('writing', file=open('writing', 'a'))\n"
        "    time.sleep(30)\n"
        "    return texts(*arguments)\n"
        "write._texts = slow\n"
        "main(['select', 't.csv', '-t', 'y', '--output', 't.csv', '--overwrite-source'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_lines(tmp_path / "writing", 1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted while writing" in err
    assert "Traceback" not in err
    assert source.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["t.csv", "writing"]


def test_the_option_alone_is_refused(refused, source):
    line = refused("select", "t.csv", *SELECT, "--overwrite-source")
    assert "`--overwrite-source` is for `--output` and `--report`" in line
    line = refused("compare", "t.csv", "-t", "y", "--overwrite-source")
    assert "`--overwrite-source` is for `--report`" in line
