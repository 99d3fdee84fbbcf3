"""Small settings, the folder of real data, and made data sets in the place of the real ones."""

import os
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

import made_sets
import studies
from orthoselect_study import Settings
from orthoselect_study.datasets import DataSource


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    """Let no thread of BLAS wait for others: the tables are small, the processors shared."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def tiny(tmp_path):
    """Return settings that take seconds."""

    def make(name="out", **options):
        return Settings(tmp_path / name, **{"repeats": 4, "batches": 2, **options})

    return make


@pytest.fixture
def data_folder():
    """The folder of the real data sets, where there is one."""
    folder = os.environ.get("ORTHOSELECT_DATA")
    if not folder:
        pytest.skip("ORTHOSELECT_DATA is not set: it names the folder of the real data sets")
    return Path(folder)


@pytest.fixture
def with_made_sets(monkeypatch):
    """Put made sets in the place of the real ones; Gisette is missing."""
    made_sets.replace_all(monkeypatch)


@pytest.fixture
def undrawn(monkeypatch):
    """Leave figures out, which take most of the time of a report."""
    studies.leave_figures_out(monkeypatch)


@pytest.fixture
def source():
    """No folder."""
    return DataSource()
