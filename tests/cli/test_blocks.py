"""`orthoselect select` from files that are one table, in memory or in blocks of rows."""

import csv
import json
import os
import pty
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orthoselect import select
from orthoselect.cli import commands, loading
from orthoselect.errors import SelectionInterrupted


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    n = 300
    X, kind = rng.normal(size=(n, 4)), rng.choice(["red", "blue"], n)
    names = [f"x{j}" for j in range(4)]
    return pa.table(
        {
            **dict(zip(names, X.T)),
            "kind": kind,
            "id": [f"id{row}" for row in range(n)],
            "w": rng.integers(1, 4, n),
            "y": np.where(X[:, 1] + (kind == "red") + rng.normal(size=n) > 0.5, "yes", "no"),
        }
    )


@pytest.fixture
def folder(tmp_path, rows):
    folder = tmp_path / "logs"
    folder.mkdir()
    for part in range(3):
        pq.write_table(rows.slice(100 * part, 100), folder / f"{part}.parquet", row_group_size=30)
    return folder


def names_of(out):
    return [row["name"] for row in csv.DictReader(out.splitlines())]


@pytest.mark.parametrize("memory", [(), ("--memory", "20 kB")])
def test_folder_pattern_and_several_files_are_one_table(run, folder, rows, memory):
    expected = select(rows, "y", 3, exclude=["id"]).names
    files = sorted(folder.glob("*"))
    for source in ([folder], [folder / "*.parquet"], files):
        ran = run("select", *source, "--target", "y", "-k", 3, "-f", "csv", *memory)
        assert ran.code == 0, ran.err
        assert names_of(ran.out) == expected
        assert "left out 1 column(s): `id`" in ran.err


def test_weights_and_roles_are_as_in_memory(run, folder, rows):
    arguments = ["--target", "y", "-k", 3, "--weights", "w", "--include", "x3", "--exclude", "x0"]
    both = [
        run("select", folder, *arguments, "-f", "csv", *memory, "-q").out
        for memory in ((), ("--memory", "20kB"))
    ]
    assert names_of(both[0]) == names_of(both[1])
    assert names_of(both[0])[0] == "x3"


@pytest.mark.parametrize("how", ["drop-rows", "drop-columns"])
def test_missing_values_are_dropped_as_in_memory(run, folder, how):
    gappy = pq.read_table(folder / "1.parquet")
    values = pa.array([None, *gappy["x0"].to_pylist()[1:]])
    pq.write_table(gappy.set_column(0, "x0", values), folder / "1.parquet")
    both = [
        run("select", folder, "-t", "y", "--missing", how, "-k", 3, *memory)
        for memory in ((), ("--memory", "20kB"))
    ]
    assert both[0] == both[1]
    assert both[0].code == 0
    ran = run("select", folder, "-t", "y", "--memory", "20kB", "-q", "--missing", "error")
    assert ran.code == 2
    assert "`x0` (1 missing of 300)" in ran.err
    assert "`--missing indicator`" in ran.err


def test_json_tells_what_needs_no_rows(run, folder, rows):
    told = [
        json.loads(run("select", folder, "-t", "y", "-k", 2, "-f", "json", *memory).out)
        for memory in ((), ("--memory", "20kB"))
    ]
    assert set(told[1]) < set(told[0])
    assert told[1]["data"]["rows"] == 300
    assert told[1]["data"]["left_out"] == told[0]["data"]["left_out"]
    assert told[1]["data"]["warnings"] == told[0]["data"]["warnings"]
    assert told[1]["title"] == told[0]["title"] == "logs"
    assert told[1]["target"] == "y"
    assert "--memory 20kB" in told[1]["reproduce"]["command"]
    assert [s["name"] for s in told[0]["steps"]] == [s["name"] for s in told[1]["steps"]]


@pytest.mark.parametrize("suffix", ["parquet", "feather", "csv", "tsv.gz", ""])
def test_the_reduced_table_is_written_block_by_block(run, folder, rows, tmp_path, suffix):
    file = tmp_path / (f"small.{suffix}" if suffix else "small")
    ran = run("select", folder, "-t", "y", "-k", 2, "--output", file, "--memory", "20kB")
    assert ran.code == 0, ran.err
    format = () if suffix else ("--input-format", "parquet")
    again = run("select", file, "-t", "y", "-f", "csv", *format, "-q")
    assert sorted(names_of(again.out)) == sorted(select(rows, "y", 2, exclude=["id"]).names)


def test_what_cannot_be_done_is_refused_before_the_work(refused, folder, monkeypatch):
    monkeypatch.setattr(loading, "settle_columns", None)  # nothing is looked at
    little = ("--target", "y", "--memory", "20kB")
    assert "needs the table in memory" in refused("select", folder, *little, "--report", "r.html")
    line = refused("select", folder, *little, "--method", "lasso")
    assert "'lasso' needs the whole table in memory; this one is too large" in line
    assert "'socc', " in line
    assert "set `--memory` higher" in line
    assert "should end in `.parquet`" in refused("select", folder, *little, "--output", "x.npz")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere/*.parquet", "-t", "y"], "should match files; it matches none"),
        (["logs", "-t", "y", "--memory", "lots"], "`--memory` should be a number of bytes"),
        (["logs", "-t", "z"], "there is no `z`"),
        (["logs", "iris", "-t", "y"], "`iris` should end in one of"),
        (["iris", "--memory", "1kB"], "or set `--memory` higher"),
        (["logs", "-t", "y", "--delimiter", ";"], "`--delimiter` is for CSV and TSV"),
    ],
)
def test_wrong_words_are_one_line(refused, folder, arguments, message):
    assert message in refused("select", *arguments)


def test_compare_wants_a_table_in_memory(run, refused, folder, monkeypatch):
    ran = run("compare", folder, "-t", "y", "-k", 1, "-m", "socc", "--folds", 2, "-q")
    assert ran.code == 0, ran.err
    monkeypatch.setattr("orthoselect.read.open.free_memory", lambda: 1000)
    assert "should have a table that fits into memory" in refused("compare", folder, "-t", "y")


def test_an_interrupted_selection_keeps_its_path(run, folder, rows, monkeypatch):
    kept = select(rows, "y", 2, exclude=["id"])

    def interrupted(*_, **__):
        raise SelectionInterrupted(kept)

    monkeypatch.setattr(commands, "select", interrupted)
    ran = run("select", folder, "-t", "y", "--memory", "20kB", "-f", "csv")
    assert ran.code == 130
    assert names_of(ran.out) == kept.names


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_the_bar_shows_pass_and_bytes(folder):
    ours, theirs = pty.openpty()
    words = ["select", folder, "-t", "y", "-k", "2", "--memory", "20kB"]
    with subprocess.Popen(
        [sys.executable, "-m", "orthoselect", *words], stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                said += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
        process.communicate()
    os.close(ours)
    assert process.returncode == 0
    assert b"pass 2, " in said or b"pass 3, " in said
    assert b"kB read" in said


@pytest.mark.parametrize("memory", [(), ("--memory", "20 kB")])
def test_the_output_takes_no_place_of_a_file_of_the_table(run, folder, memory):
    before = (folder / "1.parquet").read_bytes()
    for source in ([folder], [folder / "*.parquet"], sorted(folder.glob("*"))):
        place = folder / ".." / "logs" / "1.parquet"
        ran = run("select", *source, "--target", "y", "--output", place, *memory)
        assert ran.code == 2
        assert "should not be a file of the table itself" in ran.err
    assert (folder / "1.parquet").read_bytes() == before


def test_a_limit_counts_what_the_command_itself_takes(run, tmp_path, monkeypatch):
    from orthoselect.cli import loading

    given, read_table = [], loading.read_table

    def spy(files, *, memory, **options):
        given.append(memory)
        return read_table(files, memory=memory, **options)

    monkeypatch.setattr(loading, "read_table", spy)
    monkeypatch.setattr(loading, "resident_memory", lambda: 100_000_000)
    (tmp_path / "t.csv").write_text("a,y\n" + "1.5,0\n2.5,1\n" * 9)
    ran = run("select", "t.csv", "-t", "y", "-k", 1, "--memory", "300MB")
    assert "--memory" not in ran.err
    ran = run("select", "t.csv", "-t", "y", "-k", 1, "--memory", "150MB")
    assert "`--memory 150MB` is less than the command itself takes (about 160 MB)" in ran.err
    assert given == [140_000_000, 150_000_000]
