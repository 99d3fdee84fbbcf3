import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from orthoselect import native

ROOT = Path(__file__).parents[1]


def run_setup(folder, **environment):
    pytest.importorskip("setuptools", minversion="77")
    command = [sys.executable, "setup.py", "-q", "build", "--build-base", str(folder)]
    env = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)


def build(folder, compiler, **environment):
    """Build the package as an installation would; return the compiled files."""
    done = run_setup(folder, CC=compiler, **environment)
    assert done.returncode == 0, done.stderr
    assert list(folder.rglob("selection.py"))
    return list(folder.rglob("*.so"))


def test_installing_without_a_compiler_succeeds_without_kernels(tmp_path):
    assert build(tmp_path, "no-such-compiler") == []


def test_wheels_that_have_to_have_kernels_are_not_built_without_a_compiler(tmp_path):
    done = run_setup(tmp_path, CC="no-such-compiler", ORTHOSELECT_KERNELS="required")
    assert done.returncode != 0
    assert "no-such-compiler" in done.stderr


def test_wheels_of_pure_python_need_no_compiler_and_have_no_kernels(tmp_path):
    assert build(tmp_path, "no-such-compiler", ORTHOSELECT_KERNELS="never") == []


def test_an_unknown_choice_about_kernels_is_refused(tmp_path):
    done = run_setup(tmp_path, ORTHOSELECT_KERNELS="perhaps")
    assert done.returncode != 0
    assert "one of optional, required, never, got 'perhaps'" in done.stderr


STRICT = ["-std=c99", "-pedantic", "-DORTHOSELECT_PLAIN_C"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")
@pytest.mark.parametrize("options", [["-std=c11"], STRICT], ids=["as built", "strict C99"])
def test_the_compiler_has_nothing_to_warn_of(options):
    """Microsoft's compiler knows no extensions of GCC; `make native-check` runs these kernels."""
    folder = ROOT / "src/native"
    include = f"-I{sysconfig.get_path('include')}"
    limited = "-DPy_LIMITED_API=0x030B0000"
    command = ["gcc", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *options, include, limited]
    done = subprocess.run([*command, *folder.glob("*.c")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_only_one_file_knows_of_compilers():
    """Kernels that name an extension would not build everywhere: portable.h has words for it."""
    for file in (ROOT / "src/native").iterdir():
        if file.name != "portable.h":
            text = file.read_text(encoding="utf-8")
            found = re.findall(r"__builtin_(?!cpu_supports)\w+|__attribute__(?!\(\(target)", text)
            assert found == [], file.name


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
