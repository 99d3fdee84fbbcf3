"""Running the command inside the tests' own process."""

import sys
import time
from dataclasses import dataclass

import pytest


@dataclass
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def limits_of_the_table_alone(monkeypatch):
    """Let small limits lead to blocks: nobody counts what the tests' own process takes."""
    from orthoselect.cli import loading

    monkeypatch.setattr(loading, "resident_memory", lambda: None)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run `orthoselect` with these arguments, in an empty folder."""
    from orthoselect.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        capsys.readouterr()
        arguments = [str(argument) for argument in arguments]
        monkeypatch.setattr(sys, "argv", ["orthoselect", *arguments])
        with pytest.raises(SystemExit) as left:
            main(arguments)
        out, err = capsys.readouterr()
        return Ran(left.value.code or 0, out, err)

    return run


@pytest.fixture
def refused(run):
    """Run what should be refused; return the one line that says why."""

    def refused(*arguments):
        ran = run(*arguments)
        assert ran.code == 2, ran
        assert ran.out == ""
        (line,) = ran.err.splitlines()
        assert line.startswith("orthoselect: error: ")
        assert "Traceback" not in ran.err
        return line.removeprefix("orthoselect: error: ")

    return refused


@pytest.fixture
def wait_for_lines():
    """Wait until another process has written so many lines to a file."""

    def wait(file, count, patience=60):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if file.exists() and len(file.read_text().splitlines()) >= count:
                return
            time.sleep(0.05)
        raise AssertionError(f"there are no {count} lines in {file} after {patience} seconds")

    return wait
