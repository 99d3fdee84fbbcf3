"""`orthoselect select`: what it prints, what it writes, how it refuses."""

import csv
import io
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

from orthoselect import select
from orthoselect.methods import METHODS


@pytest.fixture
def wine(tmp_path):
    """Wine as a CSV file with a text target, an identifier, a date and a text column."""
    data = load_wine(as_frame=True)
    frame = data.frame.copy()
    frame["target"] = np.array(["barolo", "grignolino", "barbera"])[frame["target"]]
    frame.insert(0, "bottle", [f"B{i:04}" for i in range(len(frame))])
    frame.insert(1, "bottled", [f"2020-01-{1 + i % 28:02}" for i in range(len(frame))])
    frame["cork"] = np.where(frame["ash"] > 2.4, "long", "short")
    path = tmp_path / "wine.csv"
    frame.to_csv(path, index=False)
    return path


def test_prints_the_path_as_a_table(run, wine):
    ran = run("select", wine, "--target", "target", "-k", 3)
    assert ran.code == 0
    title, header, *steps = ran.out.splitlines()
    assert title == "3 of 14 features by socc"
    assert header.split() == ["step", "feature", "gain", "total", "of", "2"]
    assert [step.split()[1] for step in steps] == ["flavanoids", "alcohol", "color_intensity"]


def test_the_same_as_the_library(run, wine):
    ran = run("select", wine, "--target", "target", "-k", 5, "--format", "json")
    told = json.loads(ran.out)
    frame = load_wine(as_frame=True).frame
    path = select(frame, "target", 5)
    assert [step["name"] for step in told["steps"]] == path.names
    assert [step["gain"] for step in told["steps"]] == pytest.approx(path.gains)
    assert told["target"] == "target"
    assert told["title"] == "wine.csv"
    assert told["data"]["rows"] == len(frame)
    assert {left["name"] for left in told["data"]["left_out"]} == {"bottle", "bottled"}


def test_csv_is_one_line_a_step(run):
    ran = run("select", "iris", "-k", 2, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert [row["name"] for row in rows] == ["petal length (cm)", "sepal width (cm)"]
    assert float(rows[1]["total"]) == pytest.approx(1.1199, abs=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_by_its_name(run, method):
    ran = run("select", "breast_cancer", "-k", 2, "--method", method, "-q", "--format", "json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["method"] == method
    assert ran.err == ""


def test_identifiers_and_dates_are_left_out_with_a_warning(run, wine):
    ran = run("select", wine, "-t", "target", "-k", 2)
    assert "bottle" in ran.err
    assert "bottled" in ran.err
    assert all(line.startswith("orthoselect: warning: ") for line in ran.err.splitlines())


def test_quiet_says_nothing(run, wine):
    assert run("select", wine, "-t", "target", "-k", 2, "--quiet").err == ""


def test_a_text_column_is_categorical(run, wine):
    ran = run("select", wine, "-t", "target", "--include", "cork", "-k", 1, "-f", "json", "-q")
    frame = load_wine(as_frame=True).frame
    frame["cork"] = np.where(frame["ash"] > 2.4, "long", "short")
    path = select(frame, "target", 1, include=["cork"])
    assert json.loads(ran.out)["steps"][0]["gain"] == pytest.approx(path.gains[0])


def test_columns_by_pattern_and_comma(run, wine):
    ran = run(
        "select", wine, "-t", "target", "-k", 2, "-q", "--exclude", "flav*,alcohol", "-f", "json"
    )
    names = [step["name"] for step in json.loads(ran.out)["steps"]]
    assert not {"flavanoids", "alcohol"} & set(names)


def test_groups_are_taken_whole(run):
    ran = run(
        "select",
        "iris",
        "-k",
        1,
        "--group",
        "petal=petal length (cm),petal width (cm)",
        "-f",
        "json",
    )
    (step,) = json.loads(ran.out)["steps"]
    assert step["name"] == "petal"
    assert step["columns"] == [2, 3]


def test_categorical_numbers(run, tmp_path):
    rng = np.random.default_rng(0)
    code = rng.integers(0, 4, 200)
    y = np.where(code % 2 == 0, "even", "odd")
    lines = ["code,noise,y"] + [f"{c},{v},{k}" for c, v, k in zip(code, rng.normal(size=200), y)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    as_number = run("select", "t.csv", "-t", "y", "-k", 2, "-f", "json")
    as_category = run("select", "t.csv", "-t", "y", "-k", 1, "--categorical", "code", "-f", "json")
    assert json.loads(as_category.out)["steps"][0]["gain"] == pytest.approx(1.0)
    assert json.loads(as_number.out)["steps"][-1]["total"] < 0.9


def test_weights_are_copies_of_rows(run, tmp_path):
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(40, 3)).round(3), rng.integers(1, 4, 40)
    y = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    rows = [f"{a},{b},{c},{k}" for (a, b, c), k in zip(X, y)]
    (tmp_path / "w.csv").write_text(
        "\n".join(["p,q,r,y,w"] + [f"{row},{n}" for row, n in zip(rows, w)])
    )
    (tmp_path / "copies.csv").write_text(
        "\n".join(["p,q,r,y"] + [row for row, n in zip(rows, w) for _ in range(n)])
    )
    weighted = json.loads(
        run("select", "w.csv", "-t", "y", "-k", 2, "--weights", "w", "-f", "json").out
    )
    copies = json.loads(run("select", "copies.csv", "-t", "y", "-k", 2, "-f", "json").out)
    assert [s["name"] for s in weighted["steps"]] == [s["name"] for s in copies["steps"]]
    assert [s["gain"] for s in weighted["steps"]] == pytest.approx(
        [s["gain"] for s in copies["steps"]]
    )


def test_several_targets(run):
    ran = run(
        "select", "iris", "-t", "petal length (cm)", "-t", "petal width (cm)", "-k", 2, "-f", "json"
    )
    told = json.loads(ran.out)
    assert told["ceiling"] == 2
    assert not {"petal length (cm)", "petal width (cm)"} & {s["name"] for s in told["steps"]}


def test_options_of_a_method(run):
    few = run("select", "iris", "-m", "mim", "-k", 1, "--option", "bins=2", "-f", "json")
    more = run("select", "iris", "-m", "mim", "-k", 1, "--option", "bins=10", "-f", "json")
    assert json.loads(few.out)["steps"][0]["gain"] < json.loads(more.out)["steps"][0]["gain"]
    assert json.loads(few.out)["options"]["bins"] == 2


def test_a_dropped_column_is_not_there(run, wine):
    ran = run("select", wine, "-t", "target", "-k", 1, "-q", "--drop", "flavanoids", "-f", "json")
    told = json.loads(ran.out)
    assert told["data"]["columns"] == 16
    assert told["steps"][0]["name"] != "flavanoids"


def test_a_fraction_of_the_features(run):
    ran = run("select", "iris", "-k", "0.5", "-f", "csv")
    assert len(ran.out.splitlines()) == 3


def test_standard_input(run, monkeypatch, wine):
    class Stdin:
        buffer = io.BytesIO(wine.read_bytes())

        def isatty(self):
            return False

    monkeypatch.setattr("sys.stdin", Stdin())
    ran = run("select", "-", "-t", "target", "-k", 1, "-q", "-f", "csv")
    assert "flavanoids" in ran.out


# Files


def test_output_holds_the_selected_columns_and_the_target(run, wine, tmp_path):
    ran = run("select", wine, "-t", "target", "-k", 2, "--output", "small.csv")
    rows = list(csv.reader((tmp_path / "small.csv").read_text().splitlines()))
    assert rows[0] == ["flavanoids", "alcohol", "target"]
    assert len(rows) == 179
    assert rows[1] == ["3.06", "14.23", "barolo"]
    assert "small.csv" in ran.err
    assert "small.csv" not in ran.out


def test_the_report_is_written(run, wine, tmp_path):
    ran = run("select", wine, "-t", "target", "-k", 3, "--report", "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "flavanoids" in page
    assert "orthoselect select" in page
    assert "r.html" in ran.err


def test_the_report_as_json_begins_like_the_answer(run, wine, tmp_path):
    ran = run("select", wine, "-t", "target", "-k", 3, "--report", "r.json", "-f", "json", "-q")
    summary = json.loads((tmp_path / "r.json").read_text())
    answer = json.loads(ran.out)
    assert summary["steps"] == answer["steps"]
    assert set(answer) <= set(summary)
    assert len(summary["features"]) == 14


def test_a_failed_write_keeps_the_old_file(run, wine, tmp_path, monkeypatch):
    (tmp_path / "r.html").write_text("old")

    def fails(summary):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("orthoselect.show.page.render", fails)
    ran = run("select", wine, "-t", "target", "-k", 3, "--report", "r.html")
    assert ran.code == 2
    assert "No space left" in ran.err
    assert (tmp_path / "r.html").read_text() == "old"
    assert {file.name for file in tmp_path.iterdir()} == {"r.html", "wine.csv"}
    assert "flavanoids" in ran.out  # what was found is not lost


# Refusals


def test_an_unknown_column_lists_the_nearest(refused, wine):
    line = refused("select", wine, "--target", "targt")
    assert "`targt`" in line
    assert "did you mean `target`" in line


def test_no_target_lists_the_columns(refused, wine):
    line = refused("select", wine)
    assert "`--target`" in line
    assert "`alcohol`" in line


def test_an_unknown_method_asks_for_the_nearest(refused):
    line = refused("select", "iris", "--method", "mrmr")
    assert line.startswith("`--method` should be one of 'socc'")
    assert line.endswith("got 'mrmr': did you mean `mrmr_difference`, `mrmr_quotient`?")


def test_the_count_by_another_letter(refused):
    assert "How many features is `-k`" in refused("select", "iris", "-n", 3)


def test_a_target_without_its_option(refused, tmp_path):
    (tmp_path / "t.csv").write_text("a,kind\n1,x\n2,y\n")
    assert "write `--target kind`" in refused("select", "t.csv", "kind")


def test_dates_by_their_parts(run, tmp_path):
    days = [f"2024-01-{1 + row % 28:02},{row % 28 + row % 3 / 4},{row % 5}" for row in range(90)]
    (tmp_path / "t.csv").write_text("\n".join(["day,y,noise", *days]))
    told = json.loads(run("select", "t.csv", "-t", "y", "--dates", "parts", "-f", "json").out)
    assert told["steps"][0]["name"] == "day"
    left = run("select", "t.csv", "-t", "y", "-k", 1)
    assert "`day` (dates or times)" in left.err
    assert "`--dates parts`" in left.err


def test_a_missing_file(refused):
    assert "no such file" in refused("select", "nowhere.csv", "-t", "y").lower()


def test_an_unknown_option_is_one_line(refused):
    assert "--metod" in refused("select", "iris", "--metod", "socc")


@pytest.mark.parametrize(
    ("option", "choices"),
    [
        ("--format", "'table', 'json', 'csv'"),
        ("--dates", "'drop', 'parts'"),
        ("--task", "'auto', 'classification', 'regression'"),
        ("--missing", "'error', 'indicator', 'mean', 'drop-rows', 'drop-columns'"),
    ],
)
def test_a_wrong_choice_is_one_line(refused, option, choices):
    line = refused("select", "iris", option, "xml")
    assert f"`{option}` should be one of {choices}; got 'xml'." in line


def test_a_number_that_is_none_is_worded_alike(refused):
    for option in ("--folds", "--seed"):
        line = refused("compare", "iris", option, "x")
        assert f"`{option}` should be a whole number; got something else." in line
    assert "`--count` should be a whole number" in refused("compare", "iris", "-k", "ten")


def test_a_wrong_count(refused):
    assert "'ten'" in refused("select", "iris", "-k", "ten")
    assert "-k" in refused("select", "iris", "-k", "0")


@pytest.mark.parametrize(
    ("label", "told"), [("x", "every row has 'x'."), ("7", "every row has 7.")]
)
def test_one_class(refused, tmp_path, label, told):
    (tmp_path / "t.csv").write_text(f"a,b,y\n1,2,{label}\n2,1,{label}\n3,5,{label}\n")
    error = refused("select", "t.csv", "-t", "y")
    assert "at least two classes" in error
    assert told in error


def test_missing_values_name_the_column_and_the_remedy(refused, run, tmp_path):
    rows = [f"{2 * i},{i * i % 7},{'x' if i % 3 else 'y'}" for i in range(30)]
    rows[4] = "8,,x"
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]))
    line = refused("select", "t.csv", "-t", "y", "--missing", "error")
    assert "`b`" in line
    assert "drop-rows" in line
    dropped = run("select", "t.csv", "-t", "y", "--missing", "drop-rows", "-f", "json")
    assert json.loads(dropped.out)["data"]["rows"] == 29
    assert "1 of 30" in dropped.err
    less = json.loads(
        run("select", "t.csv", "-t", "y", "--missing", "drop-columns", "-f", "json").out
    )
    assert [left["name"] for left in less["data"]["left_out"]] == ["b"]


def test_columns_with_gaps_are_told_worst_first_with_how_many_more(refused, run, tmp_path):
    gappy = [",".join("" if i < gaps else str(i * i % 7) for gaps in range(8)) for i in range(30)]
    rows = [f"{row},{'x' if i % 3 else 'y'}" for i, row in enumerate(gappy)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d,e,f,g,h,y", *rows]))
    told = r"in `h` (7 missing), `g` (6 missing), `f` (5 missing)"
    told += ", `e` (4 missing), `d` (3 missing) and 2 more."
    line = refused("select", "t.csv", "-t", "y", "--missing", "error")
    assert told.replace("in ", "some: ", 1) in line
    dropped = run("select", "t.csv", "-t", "y", "--missing", "drop-rows", "-k", 2)
    assert told in " ".join(dropped.err.split())


def test_a_truncated_file(refused, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": ["u", "v"]}), tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(whole[: len(whole) // 2])
    assert "t.parquet" in refused("select", "t.parquet", "-t", "y")


def test_a_column_with_two_roles(refused):
    line = refused("select", "iris", "--include", "petal*", "--exclude", "petal width (cm)")
    assert "petal width (cm)" in line


def test_a_dropped_column_has_no_other_role(refused):
    assert "`--drop`" in refused("select", "wine", "--drop", "alcohol", "--include", "alcohol")


def gappy(tmp_path):
    words = [("u" if i % 2 else "v", "x" if i % 3 else "y") for i in range(30)]
    rows = [f"{2 * i},{i * i % 7},{w},{y}" for i, (w, y) in enumerate(words)]
    rows[4] = "8,,u,x"
    (tmp_path / "t.csv").write_text("\n".join(["a,b,w,y", *rows]))


def test_an_included_column_that_is_left_out(refused, tmp_path):
    gappy(tmp_path)
    line = refused(
        "select", "t.csv", "-t", "y", "--missing", "drop-columns", "--include", "b", "-q"
    )
    assert "`b` was left out" in line


def test_weights_of_text(refused, tmp_path):
    gappy(tmp_path)
    line = refused("select", "t.csv", "-t", "y", "--weights", "w", "--exclude", "b")
    assert "`w` holds text" in line


def test_columns_that_were_dropped_are_told(run):
    told = json.loads(run("select", "wine", "-k", 1, "--drop", "alcohol", "-f", "json").out)
    assert told["data"]["left_out"] == [{"name": "alcohol", "reason": "dropped on request"}]


def test_a_target_of_the_source_that_is_not_asked_for_is_told(run):
    told = json.loads(run("select", "iris", "-t", "petal width (cm)", "-k", 1, "-f", "json").out)
    assert [left["name"] for left in told["data"]["left_out"]] == ["species"]


def test_json_is_what_the_report_shows(run):
    told = json.loads(run("select", "iris", "-k", 2, "-f", "json").out)
    assert len(told["features"]) == 4
    assert told["sentence"].startswith("2 of 4 features explain")


def test_numbers_for_a_method_that_needs_classes(refused):
    assert "`--method socc`" in refused("select", "diabetes", "-m", "mim")


def test_ctrl_c_while_writing_tells_what_is_kept(run, monkeypatch, tmp_path):
    def interrupted(summary):
        raise KeyboardInterrupt

    monkeypatch.setattr("orthoselect.show.page.render", interrupted)
    ran = run("select", "iris", "-k", 2, "--report", "r.html")
    assert ran.code == 130
    assert "petal length" in ran.out
    assert "interrupted while writing; the 2 feature(s) are found" in ran.err
    assert not (tmp_path / "r.html").exists()


def test_a_bad_group(refused):
    assert "NAME=COLUMN" in refused("select", "iris", "--group", "petal")


def test_a_report_of_another_kind(refused):
    assert ".html" in refused("select", "iris", "--report", "report.pdf")


def test_a_folder_that_is_not_there(refused):
    assert "nowhere" in refused("select", "iris", "--report", "nowhere/r.html")


def test_options_the_method_does_not_take(refused):
    line = refused("select", "iris", "-m", "lasso", "--group", "a=petal*")
    assert "--group" in line
