"""`orthoselect stability`: the table, the files, the refusals."""

import csv
import io
import json
import signal
import subprocess
import sys

import pytest
from sklearn.datasets import load_wine

from orthoselect import stability


def test_the_same_as_the_library(run):
    ran = run("stability", "wine", "-k", 2, "--pairs", 5, "--seed", 3, "-f", "json", "-q")
    told = json.loads(ran.out)
    made = stability("wine", None, 2, n_pairs=5, random_state=3, missing="indicator").to_dict()
    assert told["features"] == made["features"]
    assert (told["threshold"], told["bound"]) == (made["threshold"], made["bound"])
    assert told["target"] == "cultivar"
    assert told["reproduce"]["command"].startswith("orthoselect stability wine -k 2 --pairs 5")


def test_prints_a_table_and_what_it_supposes(run):
    ran = run("stability", "iris", "--pairs", 4)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0].startswith("1 of 4 features, by socc on 8 halves")
    assert "exchangeable" in ran.out


def test_csv_has_a_line_a_feature(run):
    ran = run("stability", "iris", "--threshold", 0.8, "--pairs", 4, "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert len(rows) == 4
    assert rows[0]["name"] == "petal length (cm)"


def test_a_file_with_text_gaps_weights_and_roles(run, tmp_path):
    frame = load_wine(as_frame=True).frame
    frame["target"] = frame["target"].map({0: "a", 1: "b", 2: "c"})
    frame["kind"] = (frame["ash"] > 2.4).map({True: "long", False: "short"})
    frame["w"] = 1 + frame.index % 2
    frame.loc[5, "hue"] = None
    frame.to_csv(tmp_path / "w.csv", index=False)
    ran = run(
        *("stability", "w.csv", "-t", "target", "--pfer", 2, "--pairs", 3, "--weights", "w"),
        *("--include", "hue", "--exclude", "ash", "--group", "both=alcohol,proline"),
        *("--report", "s.html", "-f", "json"),
    )
    told = json.loads(ran.out)
    assert told["included"] == ["hue"]
    names = {one["name"] for one in told["features"]}
    assert {"both", "kind"} <= names
    assert not {"hue", "ash", "alcohol", "w", "target"} & names
    assert told["data"]["weighted"]
    assert "wrote the report" in ran.err
    assert "orthoselect stability w.csv" in (tmp_path / "s.html").read_text(encoding="utf-8")


def test_a_table_larger_than_memory_is_read_once(run, tmp_path):
    pytest.importorskip("pyarrow")
    frame = load_wine(as_frame=True).frame
    frame.loc[list(range(178)) * 200].to_csv(tmp_path / "w.csv", index=False)
    ran = run(
        "stability", "w.csv", "-t", "target", "-k", 2, "--pairs", 3, "--memory", "2MB", "-f", "json"
    )
    assert json.loads(ran.out)["n_blocks"] == 64
    assert json.loads(ran.out)["data"]["rows"] == 178 * 200


def test_refusals_are_one_line(refused):
    three = refused("stability", "iris", "-k", 1, "--threshold", 0.6, "--pfer", 1)
    assert "two of `-k`, `--threshold` and `--pfer`" in three
    impossible = refused("stability", "iris", "-k", 3, "--pfer", 0.1)
    assert "`--pfer 0.1`" in impossible
    assert "Take 2 at most, or allow `--pfer 2.25`" in impossible
    assert "--threshold" in refused("stability", "iris", "--threshold", 0.4)
    assert "--pairs" in refused("stability", "iris", "--pairs", 1)
    assert "-k" in refused("stability", "iris", "-k", "many")
    assert "'nosuch'" in refused("stability", "iris", "-m", "nosuch")
    assert "for CSV" in refused("stability", "iris", "--escape-formulas")
    assert "--report" in refused("stability", "iris", "--report", "page.pdf")


def test_options_of_a_search_are_no_part_of_a_command_without_one(run, refused):
    assert "n_starts" not in run("stability", "--help").out
    for item in ("n_starts=2", "width=3", "time_limit=3", "search=swap"):
        said = refused("stability", "iris", "--option", item)
        assert f"`--option {item.partition('=')[0]}` is about how to search" in said
        assert "--search" not in said


def test_ctrl_c_keeps_the_pairs_that_were_done(tmp_path, wait_for_lines):
    script = tmp_path / "slow.py"
    script.write_text(
        "import time\n"
        "from orthoselect.cli import main\n"
        "from orthoselect.halves import agreeing\n"
        "run_pair = agreeing.run_pair\n"
        "def slow(*arguments):\n"
        "    time.sleep(0.2)\n"
        "    taken = run_pair(*arguments)\n"
        f"    print('pair', file=open({str(tmp_path / 'pairs')!r}, 'a'))\n"
        "    return taken\n"
        "agreeing.run_pair = slow\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, script, "stability", "iris", "--pairs", "200"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_lines(tmp_path / "pairs", 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "of 200 pairs of halves were done" in out
    assert "interrupted; the" in err
    assert "Traceback" not in err
