import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orthoselect import native

ROOT = Path(__file__).parents[1]


def build(folder, compiler):
    """Build the package as an installation would; return the compiled files."""
    pytest.importorskip("setuptools", minversion="77")
    command = [sys.executable, "setup.py", "-q", "build", "--build-base", str(folder)]
    env = {**os.environ, "CC": compiler}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list(folder.rglob("selection.py"))
    return list(folder.rglob("*.so"))


def test_installing_without_a_compiler_succeeds_without_kernels(tmp_path):
    assert build(tmp_path, "no-such-compiler") == []


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")
def test_installing_with_a_compiler_builds_the_kernels(tmp_path):
    hasty = tmp_path / "gcc"
    hasty.write_text('#!/bin/sh\nexec gcc "$@" -O0\n')  # it shall not take long
    hasty.chmod(0o755)
    assert len(build(tmp_path, str(hasty))) == 1


@pytest.mark.parametrize("value", ["0", "1"])
def test_the_environment_can_leave_the_kernels_alone(value):
    script = "from orthoselect import native; print(native.available())"
    env = {**os.environ, "ORTHOSELECT_NATIVE": value}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True)
    assert done.stdout.strip() == str(value == "1" and native._module is not None)
