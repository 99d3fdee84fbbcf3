"""Commands of other packages: found by their entry points, and only when they are needed."""

import subprocess
import sys
from importlib import metadata

import pytest
import typer


class Entry:
    name = "greet"

    @staticmethod
    def load():
        app = typer.Typer(help="Greet somebody.")

        @app.command("kindly")
        def kindly(name: str) -> None:
            """Greet kindly."""
            print(f"Good day, {name}.")

        @app.command("loudly")
        def loudly(name: str) -> None:
            """Greet loudly."""
            print(f"GOOD DAY, {name}!")

        return app


@pytest.fixture
def with_greetings(monkeypatch):
    monkeypatch.setattr(metadata, "entry_points", lambda group: [Entry])


def test_a_command_of_another_package_is_called_and_listed(run, with_greetings):
    assert run("greet", "kindly", "Ada").out == "Good day, Ada.\n"
    assert "Greet somebody." in run("--help").out
    assert "study" not in run("--help").out


def test_a_command_that_nobody_has_is_one_line(refused, with_greetings):
    assert "No such command 'study'" in refused("study", "list")


def test_the_study_is_found_by_its_entry_point(run):
    (study,) = metadata.entry_points(group="orthoselect.commands", name="study")
    assert study.value == "orthoselect_study.command:study_app"
    assert "the paper's empirical comparison" in run("--help").out


def test_other_commands_do_not_look_for_it():
    code = """
import sys
from importlib import metadata
from orthoselect.cli import main
def fail(**_): raise AssertionError("looked for entry points")
metadata.entry_points = fail
try:
    main(["methods"])
except SystemExit as left:
    print(left.code, [name for name in sys.modules if name.startswith("orthoselect_study")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


def test_where_the_study_was_says_where_it_is():
    with pytest.raises(ImportError, match="from orthoselect_study import Settings"):
        from orthoselect.study import Settings  # noqa: F401
