"""Reports as files."""

import json
import sys
import types

import numpy as np
import pytest

import orthoselect
from orthoselect import select
from orthoselect.errors import InputError
from orthoselect.read import read_source


@pytest.fixture
def table(rng):
    X = rng.normal(size=(50, 4))
    return X, (X[:, 0] > 0).astype(int)


@pytest.fixture
def page(monkeypatch):
    """A page that shows what it was given."""
    made = types.ModuleType("orthoselect.show.page")
    made.render = lambda summary: f"<title>{summary['title']}</title>é"
    monkeypatch.setitem(sys.modules, "orthoselect.show.page", made)


def test_json_holds_the_summary(tmp_path, table):
    X, y = table
    path = select(X, y, 2)
    place = orthoselect.report(path, X, y, str(tmp_path / "report.json"), title="Größe")
    assert place == tmp_path / "report.json"
    told = json.loads(place.read_text(encoding="utf-8"))
    assert told["title"] == "Größe"
    assert [step["name"] for step in told["steps"]] == path.names


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize("name", ["report.html", "REPORT.HTML"])
def test_html_holds_the_page(tmp_path, table, name):
    X, y = table
    place = orthoselect.report(select(X, y, 2), X, y, tmp_path / name, title="T")
    assert place.read_text(encoding="utf-8") == "<title>T</title>é"


def test_other_suffixes_are_refused_before_any_work(tmp_path, table):
    with pytest.raises(InputError, match=r"should end in \.html .* or in \.json .*'report\.pdf'"):
        orthoselect.report(select(*table, 2), None, None, "report.pdf")


def test_a_missing_folder_is_told_before_any_work(tmp_path, table):
    with pytest.raises(InputError, match="nowhere"):
        orthoselect.report(select(*table, 2), None, None, tmp_path / "nowhere" / "report.html")


def test_weights_are_passed_on(tmp_path, table):
    X, y = table
    w = np.arange(50) % 3
    path = select(X, y, 2, sample_weight=w)
    place = orthoselect.report(path, X, y, tmp_path / "r.json", sample_weight=w)
    assert json.loads(place.read_text())["data"]["weighted"] is True


@pytest.mark.usefixtures("page")
def test_a_report_that_fails_leaves_the_old_file(tmp_path, table, monkeypatch):
    X, y = table
    place = tmp_path / "report.html"
    place.write_text("old")
    monkeypatch.setattr(sys.modules["orthoselect.show.page"], "render", lambda summary: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        orthoselect.report(select(X, y, 2), X, y, place)
    assert place.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_comparison_has_its_page_and_needs_no_data(tmp_path, table):
    pytest.importorskip("matplotlib")
    comparison = orthoselect.compare(*table, ["socc", "mim"], sizes=[1, 2], options={"bins": 3})
    place = orthoselect.report(comparison, None, None, tmp_path / "methods.html", title="Größe")
    page = place.read_text(encoding="utf-8")
    assert "Größe" in page
    assert 'id="curves"' in page
    told = orthoselect.report(comparison, *table, tmp_path / "methods.json")
    assert json.loads(told.read_text(encoding="utf-8")) == comparison.to_dict()


def test_weights_of_a_comparison_are_refused(tmp_path, table):
    comparison = orthoselect.compare(*table, ["socc"], sizes=[1])
    with pytest.raises(InputError, match="`sample_weight` should be left out"):
        orthoselect.report(comparison, None, None, tmp_path / "m.json", sample_weight=np.ones(50))


@pytest.mark.parametrize("as_dataset", [False, True])
def test_a_report_does_not_take_the_place_of_its_data(tmp_path, as_dataset):
    source = tmp_path / "t.csv"
    source.write_text("a,b,y\n" + "".join(f"{2 * i},{i * i % 7},{i % 2}\n" for i in range(20)))
    (tmp_path / "t.json").symlink_to(source)
    before = source.read_text()
    data = read_source(source) if as_dataset else source
    path = select(data, "y", 1)
    with pytest.raises(InputError, match=r"`file` should not be a file of the table itself"):
        orthoselect.report(path, data, "y", tmp_path / "t.json")
    assert source.read_text() == before
    orthoselect.report(path, data, "y", tmp_path / "t.json", overwrite_source=True)
    assert json.loads(source.read_text())["target"] == "y"
