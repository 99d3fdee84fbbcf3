"""Every command and option is documented, and what the pages show is what the command says."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
import typer

from orthoselect.cli import app

ROOT = Path(__file__).parents[2]


def commands(group, before=""):
    """Return all commands by the words that call them."""
    found = {}
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        nested = hasattr(command, "commands")
        found |= commands(command, f"{name} ") if nested else {before + name: command}
    return found


COMMANDS = commands(typer.main.get_command(app))
PAGES = ["README.md", "docs/tutorial.md", "docs/command.md", "docs/index.md"]


def reference(command):
    """Return the table of a command's options, as its page has to have it."""
    lines = ["| option | what it does |", "|---|---|"]
    for parameter in command.params:
        if parameter.param_type_name != "option":
            continue
        flags = [*parameter.opts, *parameter.secondary_opts]
        value = f" {parameter.metavar}" if parameter.metavar else ""
        names = ", ".join(f"`{flag}{value if flag.startswith('--') else ''}`" for flag in flags)
        lines.append(f"| {names} | {parameter.help.replace('|', '/')}{default(parameter)} |")
    return "\n".join(lines)


def default(parameter):
    value = parameter.default
    if value is None or isinstance(value, bool) or callable(value):
        return ""
    return f" Default: `{value}`."


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_on_the_page(name):
    page = (ROOT / "docs/command.md").read_text("utf-8")
    sections = re.split(r"^## orthoselect ", page, flags=re.MULTILINE)
    (section,) = (section for section in sections if section.splitlines()[0] == name)
    assert reference(COMMANDS[name]) in section


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, run):
    command = COMMANDS[name]
    assert command.help
    assert all(parameter.help for parameter in command.params)
    ran = run(*name.split(), "--help")
    assert ran.code == 0
    assert command.help.splitlines()[0] in ran.out


def transcripts():
    """Return the commands shown on the pages with what they print, those that show it."""
    for page in PAGES:
        text = (ROOT / page).read_text("utf-8")
        for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                typed, _, printed = part.replace("\\\n", " ").partition("\n")
                if typed.startswith("orthoselect "):
                    yield pytest.param(typed, printed, id=f"{page}: {' '.join(typed.split())}")


@pytest.mark.parametrize(("typed", "printed"), list(transcripts()))
def test_what_a_page_shows_is_what_is_printed(typed, printed, run, tmp_path):
    (tmp_path / "docs/files").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "docs/files"):
        shutil.copy(ROOT / "docs/files/rentals.csv", folder)
    ran = run(*shlex.split(typed)[1:])
    said = squeezed(ran.err) + squeezed(ran.out)
    pattern = re.escape("\n".join(squeezed(printed))).replace(r"\.\.\.", ".*")
    assert re.fullmatch(pattern, "\n".join(said), re.DOTALL), ran.err + ran.out


def squeezed(text):
    """Return the lines, blanks apart; pages wrap long lines by an indented next one."""
    text = re.sub(r"\n {8,}(?=\S)", " ", text) if "orthoselect:" in text else text
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_pages_show_something():
    assert len(list(transcripts())) >= 8
