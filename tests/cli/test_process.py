"""The command as a process of its own: pipes, terminals, Ctrl-C."""

import os
import pty
import signal
import subprocess
import sys

import numpy as np
import pytest

COMMAND = [sys.executable, "-m", "orthoselect"]


@pytest.fixture
def slow(tmp_path):
    """A script that runs the command with half a second between steps, and counts them."""
    script = tmp_path / "slow.py"
    script.write_text(
        "import signal, time\n"
        # Where a shell runs the tests in the background, it has Ctrl-C ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from orthoselect.criteria.cancorr import CanonicalState\n"
        "from orthoselect.cli import main\n"
        "add = CanonicalState.add\n"
        "def slow(self, f):\n"
        "    time.sleep(0.5)\n"
        "    gain = add(self, f)\n"
        f"    print('step', file=open({str(tmp_path / 'steps')!r}, 'a'))\n"
        "    return gain\n"
        "CanonicalState.add = slow\n"
        "main()\n"
    )
    return [sys.executable, str(script)]


def test_runs_as_a_module():
    ran = subprocess.run([*COMMAND, "select", "iris", "-k", "1"], capture_output=True, text=True)
    assert ran.returncode == 0
    assert "petal length (cm)" in ran.stdout
    assert ran.stderr == ""


def test_ctrl_c_prints_the_path_so_far_and_exits_with_130(slow, tmp_path, wait_for_lines):
    process = subprocess.Popen(
        [*slow, "select", "breast_cancer", "-k", "20", "-f", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_lines(tmp_path / "steps", 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    steps = out.splitlines()[1:]
    assert 1 <= len(steps) < 20
    assert "worst concave points" in steps[0]
    assert f"interrupted after {len(steps)} feature(s)" in err
    assert "Traceback" not in err


def test_a_bar_on_a_terminal_and_the_answer_apart(slow, tmp_path):
    ours, theirs = pty.openpty()
    with (tmp_path / "out").open("w") as out:
        process = subprocess.Popen(
            [*slow, "select", "iris", "-k", "3"],
            stdout=out,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
        )
        os.close(theirs)
        said = b""
        while True:
            try:
                said += os.read(ours, 65536)
            except OSError:
                break
        process.wait()
    said = said.decode()
    assert "selecting" in said
    assert "petal length (cm)" in said
    assert "/3" in said
    assert "\x1b" not in (tmp_path / "out").read_text()


def test_a_reader_that_leaves_early_is_no_error():
    ran = subprocess.run(
        f"{sys.executable} -m orthoselect select digits -k 40 -f json | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert ran.stdout == "{\n"
    assert ran.stderr == ""


def test_thousands_of_columns(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5000)).round(4)
    y = np.where(X[:, 1234] > 0, "up", "down")
    header = ",".join([f"gene {j}" for j in range(5000)] + ["state"])
    rows = [",".join([*map(str, row), label]) for row, label in zip(X, y)]
    (tmp_path / "wide.csv").write_text("\n".join([header, *rows]))
    ran = subprocess.run(
        [*COMMAND, "select", "wide.csv", "-t", "state", "-k", "1", "-f", "csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.stdout.splitlines()[1].startswith("1,1234,gene 1234,")


def test_ctrl_c_while_the_command_loads_is_quiet():
    code = (
        "import os, signal, sys, threading, time\n"
        "import orthoselect_command\n"
        "def press():\n"
        "    time.sleep(0.05)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=press, daemon=True).start()\n"
        "sys.argv = ['orthoselect', 'methods']\n"
        "orthoselect_command.main()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 130
    assert "Traceback" not in ran.stderr


def test_the_command_has_its_entry():
    ran = subprocess.run(
        [sys.executable, "-m", "orthoselect_command", "--version"], capture_output=True, text=True
    )
    assert ran.stdout.startswith("orthoselect ")


def test_the_package_as_a_module_starts_as_the_command_does():
    code = (
        "import os, runpy, signal, sys, threading, time\n"
        "import orthoselect\n"
        "def press():\n"
        "    while 'orthoselect.cli' not in sys.modules:\n"
        "        time.sleep(0.001)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=press, daemon=True).start()\n"
        "sys.argv = ['orthoselect', 'methods']\n"
        "runpy.run_module('orthoselect', run_name='__main__')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 130
    assert "Traceback" not in ran.stderr


STARTS = {
    "as a module": ["-m", "orthoselect"],
    "as a module, joined": ["-morthoselect"],
    "as the command": ["-c", "from orthoselect_command import main; main()"],
}


@pytest.fixture
def press_while(tmp_path):
    """Run Python, press Ctrl-C while it imports a module, which takes half a minute."""

    def press(slow, words):
        (tmp_path / "sitecustomize.py").write_text(
            "import signal, sys, time\n"
            # Where a shell runs the tests in the background, it has Ctrl-C ignored.
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "class Slow:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            f"        if name == {slow!r}:\n"
            "            print('importing', flush=True)\n"
            "            time.sleep(30)\n"
            "sys.meta_path.insert(0, Slow())\n"
        )
        before = os.environ.get("PYTHONPATH")
        places = [str(tmp_path), *([before] if before else [])]
        process = subprocess.Popen(
            [sys.executable, *words],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert out == ""
        return err

    return press


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("slow", ["numpy", "scipy", "orthoselect.errors", "typer", "rich"])
def test_ctrl_c_while_the_command_is_imported_is_quiet(press_while, start, slow):
    assert press_while(slow, [*STARTS[start], "methods"]) == ""


@pytest.mark.parametrize(
    ("slow", "words"),
    [
        ("pyarrow", ["select", "t.csv", "-t", "y"]),
        ("sklearn", ["compare", "iris"]),
        ("orthoselect_study.runner", ["study", "run"]),
    ],
)
def test_ctrl_c_while_a_command_imports_more_is_one_line_at_most(
    press_while, tmp_path, slow, words
):
    (tmp_path / "t.csv").write_text("a,y\n1,u\n2,v\n")
    said = press_while(slow, [*STARTS["as a module"], *words]).strip()
    assert said == "" or said.startswith("orthoselect: error: interrupted")
    assert "\n" not in said


def test_ctrl_c_is_its_own_for_who_imports_the_library(tmp_path):
    package = tmp_path / "another"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import orthoselect\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
    )
    (package / "__main__.py").write_text("")
    for words in (["-c", "import another"], ["-m", "another", "-m", "orthoselect"]):
        ran = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert ran.stdout == "True\n"
