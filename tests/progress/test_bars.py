"""A call shows how far it is, in Python as in the command, and takes the bar away again."""

import io
import logging
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from sklearn.base import clone

import orthoselect.progress.other_bars as other_bars
import orthoselect.progress.shown as shown
from orthoselect import OrthogonalSelector, RowBlocks, SelectorCV, compare, select, stability
from orthoselect.errors import InputError
from orthoselect.progress.base import WorkBar
from orthoselect.progress.terminal_bar import TerminalBar, TimeLeft

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = (X[:, 1] + X[:, 3] + 0.3 * RNG.normal(size=60) > 0).astype(int)


class Recorded(WorkBar):
    """A bar that writes down what it is told."""

    def __init__(self, what):
        self.what, self.said = what, []

    def begin(self):
        self.said.append("begin")

    def end(self):
        self.said.append("end")

    def describe(self, text):
        self.said.append(text)

    def show(self, done, total, newest="", left=None):
        self.said.append((done, total, newest))


@pytest.fixture
def bars(monkeypatch):
    """Return the bars that calls open, in place of those that are drawn."""
    opened = []

    def open_recorded(what):
        opened.append(Recorded(what))
        return opened[-1]

    monkeypatch.setattr(shown, "open_bar", open_recorded)
    return opened


def test_select_shows_each_step(bars):
    path = select(X, Y, 3, progress=True)
    (bar,) = bars
    steps = [(k, 3, name) for k, name in enumerate(path.names, start=1)]
    assert bar.said == ["begin", *steps, "end"]


def test_an_exact_search_shows_its_gap():
    bar = Recorded("selecting")
    shown.StepsShown(bar).searching(0.25)  # as tests/search/test_sets.py sees it called
    assert bar.said == ["searching: at most 25.0% better"]


def test_a_table_in_blocks_shows_what_was_read_and_is_left_as_it_was(bars):
    table = RowBlocks(lambda: (X[i : i + 20] for i in (0, 20, 40)))
    select(table, Y, 2, progress=True)
    assert any("pass 1" in str(said) for said in bars[0].said)
    assert table.progress is None


def test_a_cross_validated_size_shows_steps_then_folds(bars):
    SelectorCV(OrthogonalSelector(3), cv=3, progress=True).fit(X, Y)
    (bar,) = bars
    at = bar.said.index("cross-validating")
    assert [said[:2] for said in bar.said[1:at]] == [(k, 3) for k in range(1, 4)]
    # Three folds, each with the features and without any.
    folds = [said for said in bar.said[at:] if said not in ("cross-validating", "end")]
    assert folds == [(k, 6, "") for k in range(1, 7)]
    assert bar.said[-1] == "end"


def test_compare_and_stability_show_their_tasks(bars):
    compare(X, Y, ["socc"], 2, folds=2, progress=True)
    stability(X, Y, 2, n_pairs=3, progress=True)
    compared, halved = bars
    assert [said[:2] for said in compared.said[1:-1]] == [(k, 6) for k in range(1, 7)]
    assert [said[:2] for said in halved.said[1:-1]] == [(k, 3) for k in range(1, 4)]


def test_selectors_show_a_bar_and_can_be_cloned(bars):
    clone(OrthogonalSelector(2, progress=True)).fit(X, Y)
    assert len(bars) == 1


def test_the_bar_is_gone_after_an_error(bars):
    with pytest.raises(InputError):
        select(X, Y[:-1], 2, progress=True)
    assert bars[0].said == ["begin", "end"]


def test_nothing_is_shown_unless_asked(bars):
    for progress in (None, False):
        select(X, Y, 2, progress=progress)
    select(X, Y, 2)
    assert not bars


@pytest.mark.parametrize("wrong", [1, "yes"])
def test_what_is_no_function_is_refused(wrong):
    with pytest.raises(InputError, match=r"`progress` should be True, False, None or a function"):
        select(X, Y, 2, progress=wrong)


def test_a_terminal_is_drawn_on_and_cleared(monkeypatch):
    class Screen(io.StringIO):
        def isatty(self):
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert isinstance(shown.open_bar("selecting"), TerminalBar)
    select(X, Y, 2, progress=True)
    assert "selecting" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")  # the line is empty again


def test_logs_and_pipes_get_a_line_at_the_end_and_now_and_then(monkeypatch, capsys):
    select(X, Y, 2, progress=True)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("orthoselect: selecting: 2 of 2 x")
    monkeypatch.setattr(other_bars, "_BETWEEN_LINES", 0.0)
    select(X, Y, 2, progress=True)
    assert len(capsys.readouterr().err.splitlines()) == 2


def in_a_notebook(monkeypatch):
    kernel = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel))


def test_a_notebook_gets_a_bar_of_tqdm(monkeypatch):
    drawn = []

    class Bar:
        def __init__(self, **options):
            drawn.append(self)

        def set_postfix_str(self, text):
            self.newest = text

        def close(self):
            self.closed = True

    in_a_notebook(monkeypatch)
    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=Bar))
    path = select(X, Y, 2, progress=True)
    (bar,) = drawn
    assert (bar.n, bar.total, bar.newest, bar.closed) == (2, 2, path.names[-1], True)


def test_a_notebook_without_tqdm_is_told_what_to_install(monkeypatch):
    in_a_notebook(monkeypatch)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(InputError, match="pip install tqdm"):
        select(X, Y, 2, progress=True)


def test_the_time_left_is_the_one_that_was_told(monkeypatch):
    """Tasks of a study cost more or less; the pace of the bar does not know how much."""
    bar = TerminalBar("", Console(file=io.StringIO()), is_hidden=True)
    clock = [100.0]
    monkeypatch.setattr(bar.drawn, "get_time", lambda: clock[0])
    column = TimeLeft(compact=True)
    (task,) = bar.drawn.tasks
    task._get_time = lambda: clock[0]

    bar.show(9, 10, "the slow one is next", left=125.0)
    assert column.render(task).plain == "02:05"
    clock[0] += 5
    assert column.render(task).plain == "02:00"
    bar.show(9, 10, "", left=3725.0)
    assert column.render(task).plain == "1:02:05"
    bar.show(9, 10, "")
    assert column.render(task).plain == "--:--"


def test_what_is_done_is_logged_and_never_printed(caplog, capsys):
    with caplog.at_level(logging.DEBUG, logger="orthoselect"):
        path = select(X, Y, 2)
    assert [r.levelname for r in caplog.records] == ["DEBUG", "DEBUG", "INFO"]
    assert path.names[0] in caplog.messages[0]
    assert caplog.messages[-1] == "2 of 5 features by socc"
    assert capsys.readouterr() == ("", "")
    assert any(
        isinstance(h, logging.NullHandler) for h in logging.getLogger("orthoselect").handlers
    )
