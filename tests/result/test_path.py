"""SelectionPath: a sequence, a frame, a dictionary, text and HTML."""

import copy
import dataclasses
import json
import pickle
import re
from collections.abc import Sequence

import numpy as np
import pytest

from orthoselect import SelectionPath, SelectionStep, select
from orthoselect.errors import SearchStoppedWarning


def made(names=("age", "home", "<script>alert(1)</script>"), **changes):
    gains = [0.5, 0.25, 0.125][: len(names)]
    places = [(3,), (1, 4), (0,)]
    steps = [
        SelectionStep(min(columns), name, gain, total, columns)
        for name, gain, total, columns in zip(names, gains, np.cumsum(gains).tolist(), places)
    ]
    options = {"method": "socc", "ceiling": 2.0, "n_candidates": 7, **changes}
    return SelectionPath(steps, **options)


EMPTY = made((), ceiling=0.0, stopped="the response is constant.")


def test_is_a_sequence_of_steps():
    path = made()
    assert isinstance(path, Sequence)
    assert len(path) == 3
    assert [step.name for step in path] == path.names
    assert path[0].feature == 3
    assert path[-1] == path[2]
    assert path[:2] == (path[0], path[1])
    assert path[0] in path
    assert path.index(path[1]) == 1
    assert next(reversed(path)) == path[2]
    assert path.count(path[0]) == 1
    with pytest.raises(IndexError):
        path[3]


def test_summaries_of_all_steps():
    path = made()
    assert path.features == [3, 1, 0]
    assert path.columns == [3, 1, 4, 0]
    assert path.gains == [0.5, 0.25, 0.125]
    assert path.total == 0.875
    assert EMPTY.features == EMPTY.columns == EMPTY.names == EMPTY.gains == []
    assert EMPTY.total == 0.0


def test_steps_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        made()[0].gain = 2.0


def test_equality_looks_at_everything():
    assert made() == made()
    assert made() != made(names=("age", "home", "other"))
    assert made() != made(method="other")
    assert made() != made(ceiling=3.0)
    assert made() != made(n_candidates=8)
    assert made() != made(stopped="why")
    assert made() != list(made())
    assert made() != 3
    with pytest.raises(TypeError):
        hash(made())


@pytest.mark.parametrize("path", [made(), EMPTY], ids=["path", "empty"])
def test_pickle_and_copies_are_equal(path):
    for again in (pickle.loads(pickle.dumps(path)), copy.copy(path), copy.deepcopy(path)):
        assert again == path
        assert repr(again) == repr(path)


@pytest.mark.parametrize("path", [made(), EMPTY], ids=["path", "empty"])
def test_dictionary_survives_json(path):
    found = path.to_dict()
    assert json.loads(json.dumps(found)) == found
    assert [step["step"] for step in found["steps"]] == list(range(1, len(path) + 1))
    assert found["stopped"] == path.stopped


@pytest.mark.parametrize("path", [made(), EMPTY], ids=["path", "empty"])
def test_frame_of_each_library(library, path):
    frame = path.to_frame(library.name)
    kind = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "Table"}[library.name]
    assert isinstance(frame, getattr(library.module, kind))
    names = frame.column_names if library.name == "pyarrow" else list(frame.columns)
    assert names == ["step", "feature", "name", "gain", "total"]
    read = {
        name: list(frame[name].to_pylist() if kind == "Table" else frame[name]) for name in names
    }
    assert read["step"] == list(range(1, len(path) + 1))
    assert read["feature"] == path.features
    assert read["name"] == path.names
    assert read["gain"] == path.gains
    assert read["total"] == [step.total for step in path]


def test_frame_dtypes_do_not_depend_on_the_length(library):
    def kinds(path):
        frame = path.to_frame(library.name)
        if library.name == "pyarrow":
            return frame.schema.types
        return list(frame.dtypes)

    assert kinds(EMPTY) == kinds(made())


def test_pandas_is_the_default():
    pd = pytest.importorskip("pandas")
    assert isinstance(made().to_frame(), pd.DataFrame)


@pytest.mark.parametrize("backend", ["numpy", "panda", "", 3])
def test_unknown_library_is_refused_by_name(backend):
    with pytest.raises(ValueError, match="pandas"):
        made().to_frame(backend)


@pytest.mark.parametrize("installed", [["polars"], ["pyarrow"], []])
def test_the_first_library_that_is_installed_makes_the_frame(installed, monkeypatch):
    from orthoselect.result import text

    for name in installed:
        pytest.importorskip(name)
    monkeypatch.setattr(text, "find_spec", lambda name: name in installed or None)
    if installed:
        assert type(made().to_frame()).__module__.split(".")[0] in ("polars", "pyarrow")
    else:
        with pytest.raises(ValueError, match=r"needs pandas, polars or pyarrow.*`to_dict`"):
            made().to_frame()


def test_bars_in_notebooks_begin_at_the_left():
    assert "text-align:left" in made()._repr_html_()


def test_repr_is_a_table():
    lines = repr(made(names=("age", "home"))).splitlines()
    assert lines[0] == "SelectionPath: 2 of 7 features by socc"
    assert lines[1].split() == ["step", "feature", "gain", "total", "of", "2"]
    assert lines[2].split() == ["1", "age", "0.5000", "0.5000", "25.0%"]
    assert lines[3].split() == ["2", "home", "0.2500", "0.7500", "37.5%"]
    assert len(lines) == 4


def test_repr_lines_up():
    lines = repr(made(names=("a", "a much longer name"))).splitlines()[1:]
    assert len({line.index("0.") for line in lines[1:]}) == 1
    assert not any(line != line.rstrip() for line in lines)


def test_repr_says_why_it_stopped():
    assert "stopped: no rank is left." in repr(made(stopped="no rank is left."))
    assert "stopped" not in repr(made())
    assert "SelectionPath: 0 of 7 features" in repr(EMPTY)
    assert "constant" in repr(EMPTY)


def test_repr_of_one_step_is_one_line():
    path = made(names=("two\nlines", "tab\there"))
    assert len(repr(path).splitlines()) == 4


def test_html_escapes_names():
    page = made(stopped="<b>why</b>")._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
    assert page.count("<tr>") == 4
    assert page.startswith("<table>")
    assert page.endswith("</table>")


def test_html_of_an_empty_path():
    page = EMPTY._repr_html_()
    assert page.count("<tr>") == 1
    assert "constant" in page


def test_path_of_a_real_selection_is_plain(rng):
    X = rng.normal(size=(40, 6)).astype(np.float32)
    groups = {"g": np.array([4, 5]), "h": np.arange(6) < 2}
    for y in (np.arange(40) % 3, np.sin(np.arange(40))):
        path = select(X, y, 3, groups=groups, sample_weight=np.arange(40))
        assert json.loads(json.dumps(path.to_dict())) == path.to_dict()
        assert {type(step.feature) for step in path} == {int}
        assert {type(column) for step in path for column in step.columns} == {int}
        assert {type(value) for step in path for value in (step.gain, step.total)} == {float}
        assert {type(step.name) for step in path} == {str}
        assert path == pickle.loads(pickle.dumps(path))


def test_names_are_plain_strings_whatever_the_columns_are(rng):
    pd = pytest.importorskip("pandas")
    X = rng.normal(size=(20, 3))
    for columns in ([1, 2, 3], np.array(["a", "b", "c"]), [("a", 1), ("b", 2), ("c", 3)]):
        path = select(pd.DataFrame(X, columns=pd.Index(columns)), np.arange(20) % 2, 3)
        assert {type(name) for name in path.names} == {str}
        assert sorted(path.names) == sorted(map(str, columns))


def test_stopped_path_says_why(rng):
    X = rng.normal(size=(20, 2))
    with pytest.warns(SearchStoppedWarning, match="no rank is left"):
        path = select(np.c_[X, X.sum(axis=1)], np.sin(np.arange(20)), 3)
    assert len(path) == 2
    assert "no rank is left" in path.stopped
    assert path.stopped in repr(path)


def test_without_a_ceiling_no_share_is_shown():
    path = made(("age", "home"), ceiling=float("nan"), method="jmi")
    assert repr(path).splitlines()[1].split() == ["step", "feature", "gain", "total"]
    assert "%" not in repr(path)
    assert "nan" not in repr(path) + path._repr_html_()
    assert path.to_dict()["ceiling"] is None
    json.dumps(path.to_dict(), allow_nan=False)
    assert path == made(("age", "home"), ceiling=float("nan"), method="jmi")
    assert path != made(("age", "home"), method="jmi")


def test_gains_may_be_negative():
    steps = [SelectionStep(0, "a", 0.5, 0.5, (0,)), SelectionStep(1, "b", -0.75, -0.25, (1,))]
    path = SelectionPath(steps, method="cife", ceiling=float("nan"), n_candidates=2)
    assert path.total == -0.25
    assert repr(path).splitlines()[-1].split() == ["2", "b", "-0.7500", "-0.2500"]


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_gains_of_any_size_show_their_digits(scale):
    steps = [SelectionStep(0, "a", 0.5 * scale, 0.5 * scale, (0,))]
    path = SelectionPath(steps, method="mser", ceiling=scale, n_candidates=1)
    assert repr(path).splitlines()[-1].split()[2] == f"{0.5 * scale:.3e}"


def test_plot_draws_on_the_axes_it_is_given():
    figure = pytest.importorskip("matplotlib.figure")
    axes = figure.Figure().subplots()
    assert made().plot(axes) is axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["age", "home", "<script>alert(1)</script>"]
    bars = [bar.get_x() + bar.get_width() for bar in axes.patches[3:]]
    assert bars == [0.5, 0.75, 0.875]  # each ends at its total
    assert axes.get_xlim()[1] > 2.0  # the ceiling is in sight


def test_plot_without_axes_makes_a_pyplot_figure():
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = made().plot()
    assert plt.fignum_exists(axes.figure.number)
    plt.close(axes.figure)


def test_plot_of_many_steps_is_a_curve():
    figure = pytest.importorskip("matplotlib.figure")
    steps = [SelectionStep(n, f"x{n}", 1.0, n + 1.0, (n,)) for n in range(80)]
    path = SelectionPath(steps, method="mim", ceiling=float("nan"), n_candidates=80)
    axes = path.plot(figure.Figure().subplots())
    assert axes.get_xlabel() == "features selected"
    assert axes.get_lines()[0].get_ydata().tolist() == [n + 1.0 for n in range(80)]


def test_plot_of_an_empty_path_and_of_gains_without_bound_draws():
    figure = pytest.importorskip("matplotlib.figure")
    unbound = [SelectionStep(0, "a", float("inf"), float("inf"), (0,))]
    path = SelectionPath(unbound, method="mrmr_quotient", ceiling=float("nan"), n_candidates=1)
    for one in (EMPTY, path):
        drawn = figure.Figure()
        one.plot(drawn.subplots())
        drawn.draw_without_rendering()


def test_bars_of_the_html_show_total_before_and_gain():
    widths = re.findall(r"width:([\d.]+)%", made()._repr_html_())
    assert [float(width) for width in widths] == [0.0, 25.0, 25.0, 12.5, 37.5, 6.2]


def test_a_pickle_from_before_there_were_p_values_loads():
    path, state = made(), made().__getstate__()
    for name in ("_chosen", "n_permutations", "certificate", "_by_size", "size_scores", "gaps"):
        state.pop(name)
    for step in state["_steps"]:
        for name in ("p_value", "effective_candidates"):
            step.__dict__.pop(name)
    old = SelectionPath.__new__(SelectionPath)
    old.__setstate__(state)
    again = pickle.loads(pickle.dumps(old))
    assert again.p_values == [None] * len(path)
    assert again.chosen == len(path)
    assert again == path
    assert again.to_text() == path.to_text()


def test_paths_of_other_p_values_or_another_choice_are_not_equal():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    y += X[:, 1]
    path = select(X, y, 3, p_values=True)
    assert path == select(X, y, 3, p_values=True)
    assert path != select(X, y, 3)
    assert path != select(X, y, 3, p_values=True, n_permutations=39)
    assert path != select(X, y, "auto")
