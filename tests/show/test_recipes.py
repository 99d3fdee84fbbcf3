"""Code that a page offers to copy runs as it stands, and does what was done."""

import csv
import json
import os
import shlex
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import select
from orthoselect.errors import SelectionWarning
from orthoselect.read import read_table
from orthoselect.show import Reading
from orthoselect.show.summary import summarize
from problems import EXPLAINING

pd = pytest.importorskip("pandas")


@pytest.fixture
def frame(rng):
    """Numbers, text, numbers that are labels, and a class that follows from some of them."""
    n = 120
    table = pd.DataFrame(rng.normal(size=(n, 4)), columns=["width", "height", "a'b", "x,y"])
    table["shop"] = np.array(["north", "south", "east"], dtype=object)[rng.integers(0, 3, n)]
    table["station"] = rng.integers(0, 4, n)
    table["note"] = [f"note {k}" for k in range(n)]
    table["weight"] = rng.integers(1, 4, n)
    strong = table["width"] + (table["shop"] == "south") + 0.3 * rng.normal(size=n)
    table["kind"] = np.where(strong > 0.3, "yes", "no")
    table["size"] = strong
    return table


def recipes(data, target, t=3, method="socc", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        path = select(data, target, t, method, **options)
        summary = summarize(path, data, target, sample_weight=options.get("sample_weight"))
    return summary["recipes"], path


def ran(code, **names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn, about tables as small as these
        exec(code, names)
    return names


def selected(names):
    first = names["model"][0]
    return [str(name) for name in first.get_feature_names_out()]


CHOICES = {
    "numbers": {"exclude": ["shop", "note", "size"]},
    "text": {"exclude": ["note", "size"]},
    "labels": {"exclude": ["note", "size"], "categorical_features": ["station"]},
    "groups": {"exclude": ["note", "size"], "groups": {"both": ["width", "x,y"]}},
    "included": {"exclude": ["note", "size"], "include": ["height"]},
    "weights": {"exclude": ["note", "size"], "sample_weight": "weight"},
}


@pytest.mark.parametrize("choice", CHOICES)
def test_pipeline_selects_the_same_from_a_dataframe(choice, frame):
    code, path = recipes(frame, "kind", **CHOICES[choice])
    names = ran(code["pipeline"], data=frame)
    assert set(selected(names)) == {frame.columns[c] for c in path.columns}
    assert set(names["model"].predict(names["X"])) <= {"yes", "no"}


@pytest.mark.parametrize("method", EXPLAINING)
def test_pipeline_of_every_method_runs(method, frame):
    frame = frame[["width", "height", "a'b", "x,y", "station", "kind"]]
    code, path = recipes(frame, "kind", 2, method)
    names = ran(code["pipeline"], data=frame)
    if hasattr(names["model"][0], "path_"):
        assert names["model"][0].path_.names == path.names
    else:
        assert list(names["X"].columns) == path.names


def test_pipeline_of_numbers_is_a_regression(frame):
    code, _ = recipes(frame, "size", exclude=["note", "kind"])
    assert type(ran(code["pipeline"], data=frame)["model"][-1]).__name__ == "LinearRegression"


def test_pipeline_of_several_responses(frame):
    code, _ = recipes(frame, ["kind", "shop"], exclude=["note"])
    names = ran(code["pipeline"], data=frame)
    assert names["model"].predict(names["X"]).shape == (120, 2)
    code, _ = recipes(frame, ["kind", "size"], exclude=["note"])
    assert code["pipeline"] is None


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_pipeline_of_other_dataframes(library, frame):
    module = pytest.importorskip(library)
    make = {"polars": "from_pandas", "pyarrow": "table"}[library]
    columns = frame.drop(columns=["note", "size"])
    table = (
        module.from_pandas(columns) if make == "from_pandas" else module.Table.from_pandas(columns)
    )
    code, path = recipes(table, "kind")
    assert set(selected(ran(code["pipeline"], data=table))) == set(path.names)


@pytest.mark.parametrize("kind", ["array", "list", "csr", "objects"])
def test_pipeline_of_tables_without_names(kind, rng):
    X = rng.normal(size=(90, 5)).round(2)
    y = (X[:, 0] > 0).astype(int)
    data = {"array": X, "list": X.tolist(), "csr": sp.csr_array(X), "objects": X.astype(object)}[
        kind
    ]
    if kind == "objects":
        data[:, 2] = np.array(["a", "b", "c"], dtype=object)[np.arange(90) % 3]
    code, path = recipes(data, y, 2)
    assert ran(code["names"])["columns"] == path.columns
    model = ran(code["pipeline"], data=data, target=y)["model"]
    assert model[0].selected_.tolist() == path.columns
    assert code["command"] is None


def test_names_are_a_list_of_columns(frame):
    code, path = recipes(frame, "kind", 7, groups={"both": ["width", "x,y"]}, exclude=["size"])
    listed = ran(code["names"])["features"]
    assert list(frame[listed].columns) == [frame.columns[c] for c in path.columns]
    assert max(map(len, code["names"].splitlines())) <= 88


FILES = {
    "plain": {},
    "labels": {"categorical_features": ["station"], "groups": {"both": ["width", "height"]}},
    "another method": {"method": "jmi", "bins": 4},
    "weights": {"sample_weight": "weight", "include": ["height"]},
    "numbers": {"task": "regression", "target": "size"},
}


@pytest.mark.parametrize("choice", FILES)
def test_of_a_file_command_and_pipeline_run_alone(choice, frame, tmp_path, monkeypatch):
    frame.to_csv(tmp_path / "some table.csv", index=False)
    monkeypatch.chdir(tmp_path)
    options = dict(FILES[choice])
    target = options.pop("target", "kind")
    options["exclude"] = ["size"] if target == "kind" else ["kind"]
    code, path = recipes("some table.csv", target, **options)
    assert set(selected(ran(code["pipeline"]))) == {
        read_table("some table.csv").names[c] for c in path.columns
    }
    printed = run(f"{code['command']} --format csv --quiet")
    assert [row["name"] for row in csv.DictReader(printed.splitlines())] == path.names


def test_text_that_was_read_as_numbers_is_numbers_in_the_pipeline(frame, tmp_path, monkeypatch):
    """Left as text, it would be as many levels as rows to the model, and would fit anything."""
    frame["price"] = [f"${1000 * value + 5000:,.2f}" for value in frame["width"]]
    frame["share"] = [f"{value:.2f} %".replace(".", ",") for value in frame["height"]]
    frame.loc[3, "price"] = "n/a"
    frame["cost"] = [f"{value:,.4f} €" for value in frame["size"]]
    away = ["note", "size", "width", "height"]
    frame = frame.drop(columns=away)
    frame.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.chdir(tmp_path)
    mixed = frame.astype({"price": object}).replace("n/a", 12.5)
    for table in ("t.csv", frame, mixed):
        for target, other, missing in (("kind", "cost", "indicator"), ("cost", "kind", "mean")):
            options = {"missing": missing, "exclude": [other], "include": ["price", "share"]}
            code, path = recipes(table, target, 4, **options)
            names = ran(code["pipeline"], data=table)
            assert set(selected(names)) == set(path.names) >= {"price", "share"}
            assert names["X"][["price", "share"]].dtypes.eq("float64").all()
            assert names["model"][:-1].transform(names["X"]).shape[1] < 12


def run(command):
    words = shlex.split(command)
    assert words[0] == "orthoselect"
    done = subprocess.run(
        [sys.executable, "-m", "orthoselect", *words[1:]],
        capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["iris", "diabetes"])
def test_of_a_built_in_set_command_and_pipeline_run_alone(name):
    code, path = recipes(name, None, 2)
    assert selected(ran(code["pipeline"])) == [
        n for n in read_table(name).names if n in set(path.names)
    ]
    assert path.names[0] in run(code["command"])
    assert ("task='regression'" in code["pipeline"]) == (name == "diabetes")


def test_what_came_by_standard_input_is_gone(rng):
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    told = summarize(select(X, y, 1), X, y, command="orthoselect select -", reading=Reading("-"))
    assert told["recipes"]["pipeline"] is told["recipes"]["command"] is None


def test_the_command_offers_itself_and_a_pipeline_that_reads_as_it_did(
    frame, tmp_path, monkeypatch
):
    frame.loc[3:5, "width"] = np.nan
    frame.to_csv(tmp_path / "t.txt", index=False, sep=";")
    monkeypatch.chdir(tmp_path)
    command = (
        "orthoselect select t.txt --target kind -k 3 --drop size --missing drop-rows "
        "--delimiter ';' --input-format csv --categorical station --format json"
    )
    told = json.loads(run(command))
    assert shlex.split(told["recipes"]["command"])[1:] == shlex.split(command)[1:]
    names = ran(told["recipes"]["pipeline"])
    assert len(names["X"]) == 117
    assert set(selected(names)) == {step["name"] for step in told["steps"]}
