"""Fixtures shared by the tests: one per dataframe library, and the tables they hold."""

import itertools
import os
import signal
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

# A shell ignores Ctrl-C on behalf of what it runs in the background; tests of it want it noticed.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Elsewhere examples are random; in CI a red run should be red again when it is repeated.
settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")


@dataclass(frozen=True)
class Library:
    """How one dataframe library makes a table and a column."""

    name: str
    module: Any

    def frame(self, columns):
        """Return a table of a mapping of names to columns."""
        if self.name == "pyarrow":
            columns = {name: self.column(values) for name, values in columns.items()}
            return self.module.table(columns)
        return self.module.DataFrame(columns)

    def column(self, values):
        """Return one column; lists may hold None."""
        if self.name == "pyarrow":
            made = self.module.array(values.tolist() if _is_text(values) else values)
            return self.module.chunked_array([made])
        return self.module.Series(values)

    def labels(self, values, order=None):
        """Return a column of the library's own categorical dtype, ordered if `order` is given."""
        values = list(values)
        if self.name == "pandas":
            kind = self.module.CategoricalDtype(order, ordered=order is not None)
            return self.module.Series(values, dtype=kind)
        if self.name == "polars":
            kind = self.module.Categorical() if order is None else self.module.Enum(order)
            return self.module.Series(values, dtype=kind)
        levels = sorted(set(values)) if order is None else list(order)
        codes = self.module.array([levels.index(v) for v in values], self.module.int32())
        coded = self.module.DictionaryArray.from_arrays(codes, levels, ordered=order is not None)
        return self.module.chunked_array([coded])


def _is_text(values):
    return isinstance(values, np.ndarray) and values.dtype.kind in "UO"


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def library(request):
    """Each dataframe library that is installed."""
    return Library(request.param, pytest.importorskip(request.param))


@pytest.fixture
def two_threads():
    """Allow two threads, where tests that run side by side have one each."""
    with threadpool_limits(2):
        yield


@pytest.fixture
def rng():
    """Return a generator that starts anew for every test."""
    return np.random.default_rng(20220301)


# Random problems have numbers. Of how many of them one is tried in an ordinary run, and of those in
# blocks of rows, which take long, fewer.
EVERY = {"all": 1, "some": 6, "few": 24}
EVERY_IN_BLOCKS = {"all": 1, "some": 24, "few": 48}
# A test with several parameters (storage, method, weights) is a product. In an ordinary run any two
# of their values meet once at least, as do all values with `few`; None is for the whole product.
TOGETHER = {"all": None, "some": 2, "few": 1}


def pytest_addoption(parser):
    parser.addoption(
        "--problems",
        choices=list(EVERY),
        default="some",
        help="how many of the random problems, and of products of parameters, to try "
        "(default: some)",
    )


def pytest_collection_modifyitems(config, items):
    """Leave out problems by number, and some of each product, unless tests are named one by one."""
    if any("[" in argument for argument in config.args):
        return
    kept = [item for item in items if _takes_its_turn(item)]
    together = TOGETHER[config.getoption("problems")]
    if together is not None:
        kept = _covering(kept, together)
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def _takes_its_turn(item):
    number = item.callspec.params.get("seed", 0) if hasattr(item, "callspec") else 0
    return number in Numbers(item)


def _covering(items, together):
    """Return the items, of each test's product so many that all values meet, so many together."""
    products = {}
    for place, item in enumerate(items):
        values = _values(item)
        if len(values) > 1 and not any("seed" in group for group in values):
            test = item.nodeid.partition("[")[0]
            meetings = list(itertools.combinations(values.items(), together))
            products.setdefault(test, []).append((place, meetings))
    left_out = set()
    for product in products.values():
        left_out |= {place for place, _ in product} - _cover(product)
    return [item for place, item in enumerate(items) if place not in left_out]


def _values(item):
    """Return what tells the values of a test's parameters apart; those of one list go together."""
    if not hasattr(item, "callspec"):
        return {}
    lists = [mark.args[0] for mark in item.iter_markers("parametrize")]
    named = [names.split(",") if isinstance(names, str) else names for names in lists]
    groups = [tuple(name.strip() for name in names) for names in named]
    alone = set(item.callspec.params).difference(*groups)
    groups += [(name,) for name in sorted(alone)]
    return {group: tuple(id(item.callspec.params[name]) for name in group) for group in groups}


def _cover(product):
    """Return the places of a few tests in which all meet; those with most that is new go first."""
    met, taken = set(), set()
    for wanted in range(len(product[0][1]), 0, -1):
        for place, meetings in product:
            if place not in taken and sum(one not in met for one in meetings) >= wanted:
                taken.add(place)
                met.update(meetings)
    return taken


class Numbers:
    """The numbers of the problems that one test tries.

    Where a test has other parameters too (strategy, storage, method), each value of them takes
    other numbers, so that together they try all of them. All of them try the first.
    """

    def __init__(self, item):
        spec = getattr(item, "callspec", None)
        params = spec.params if spec else {}
        words = [value for value in params.values() if isinstance(value, str)]
        in_blocks = any("in blocks" in word for word in words)
        self.every = (EVERY_IN_BLOCKS if in_blocks else EVERY)[item.config.getoption("problems")]
        places = spec.indices if spec else {}
        self.turn = sum(place for name, place in places.items() if name != "seed")

    def __contains__(self, number):
        # One of each so many, each time another: many tests have a disease in every third problem.
        return number == 0 or (number + number // self.every + self.turn) % self.every == 0

    def below(self, end):
        return [number for number in range(end) if number in self]


@pytest.fixture
def numbers(request):
    """Return a function from an end to the numbers below it of the problems to try."""
    return Numbers(request.node).below


WAYS = ["as planned", "whole gram", "gram columns", "gram columns in double", "rows", "bytes"]


IN_BLOCKS = [f"{way}, in blocks" for way in ("whole gram", "gram columns", "large features")]


@pytest.fixture(params=[*WAYS, "large features", *IN_BLOCKS])
def strategy(request, monkeypatch):
    """Every way to find the rows of the factor, forced, in memory and in blocks of rows."""
    from orthoselect.criteria import large, plan

    way, *blocks = request.param.split(", ")
    if blocks:
        _feed_in_blocks(monkeypatch)
    if way == "large features":
        monkeypatch.setattr(large, "LARGE", 2)
        monkeypatch.setattr(plan, "block_height", lambda *_: 3)
    elif way != "as planned":
        monkeypatch.setattr(plan, "whole_gram_pays", lambda *_: way == "whole gram")
        monkeypatch.setattr(plan, "rows_pay", lambda *_: way == "rows")
        monkeypatch.setattr(plan, "bytes_pay", lambda *_: way == "bytes")
        monkeypatch.setattr(plan, "double_pays", lambda *_: way == "gram columns in double")
        monkeypatch.setattr(plan, "guessing_pays", lambda *_: True)
        monkeypatch.setattr(plan, "sampling_pays", lambda *_: not blocks)
    return request.param


@pytest.fixture(params=["in memory", "in blocks"])
def rows_come(request, monkeypatch):
    """Tables as they are, and the same tables in blocks of rows."""
    if request.param == "in blocks":
        _feed_in_blocks(monkeypatch)
    return request.param


def _feed_in_blocks(monkeypatch):
    """Let `select` get every table in blocks of rows of many sizes."""
    from matrices import row_blocks
    from orthoselect import problem, selection

    monkeypatch.setattr(
        selection,
        "open_problem",
        lambda data, *args, **kwargs: problem.open_problem(row_blocks(data), *args, **kwargs),
    )
