"""Check a release as strangers would meet it: `python -m release`, or `make release-check`.

Sdist and wheels are built from a clone of the last commit, so that nothing counts that was not
committed. All checks run, whatever the others say; the names of some run these alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path

from release import facts

ROOT = facts.ROOT


class CheckFailedError(Exception):
    """What a check has to say."""


def run(*command_line: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command; return what it printed, or fail with it."""
    words = [str(word) for word in command_line]
    done = subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise CheckFailedError(f"{' '.join(words)}\n{done.stdout[-4000:]}")
    return done.stdout


def tool(module: str, *arguments: str | Path, **environment: str) -> str:
    """Run a module of the environment of this check."""
    return run(sys.executable, "-m", module, *arguments, **environment)


def command(name: str) -> Path:
    """Return a command of that environment, of a tool that is no module."""
    return Path(sys.executable).with_name(name)


def hold_to_schema(schema: str, *files: Path) -> None:
    """Ask whether files have the fields that their format allows; nothing is fetched for that."""
    run(command("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", *files)


class Built:
    """Sdist and wheels, built when they are first asked for, in a folder deleted at the end.

    `clone` is the last commit; `dist` has what would be published from this system, `pure` the
    wheel of pure Python.
    """

    def __init__(self, folder: Path):
        self.clone, self.dist, self.pure = folder / "clone", folder / "dist", folder / "pure"
        self.folder = folder

    def build(self) -> None:
        """Clone the repository and build from the clone; the wheel is built from the sdist."""
        if self.dist.exists():
            return
        run("git", "clone", "--quiet", ROOT, self.clone)
        tool("build", "--outdir", self.dist, self.clone, ORTHOSELECT_KERNELS="required")
        tool("build", "--wheel", "--outdir", self.pure, self.clone, ORTHOSELECT_KERNELS="never")

    def one(self, pattern: str) -> Path:
        """Return the one file that was built by this name."""
        self.build()
        found = [*self.dist.glob(pattern), *self.pure.glob(pattern)]
        if len(found) != 1:
            raise CheckFailedError(
                f"expected one file {pattern}, got {[str(one) for one in found]}"
            )
        return found[0]

    @property
    def sdist(self) -> Path:
        return self.one("*.tar.gz")

    @property
    def wheel(self) -> Path:
        return self.one("*-cp311-abi3-*.whl")

    @property
    def pure_wheel(self) -> Path:
        return self.one("*-py3-none-any.whl")


def check_facts(_: Built) -> None:
    """Compare the versions in changelog, citation and recipe."""
    wrong = facts.wrong_in_all()
    if wrong:
        raise CheckFailedError("\n".join(wrong))


def check_citation(_: Built) -> None:
    """Validate CITATION.cff."""
    hold_to_schema("citation-file-format", ROOT / "CITATION.cff")


def check_recipe(_: Built) -> None:
    """Render the conda recipe: no field is unknown, no value of a wrong kind."""
    from rattler_build import Stage0Recipe, VariantConfig

    chosen = {"c_compiler": ["gcc"], "c_stdlib": ["sysroot"], "python": ["3.11"]}
    recipe = Stage0Recipe.from_file(ROOT / "conda/recipe.yaml")
    recipe.render(VariantConfig(chosen))


def check_workflows(_: Built) -> None:
    """Ask whether workflows are well formed, pin what they use, and have only rights they need."""
    folder = ROOT / ".github"
    config = folder / "ISSUE_TEMPLATE/config.yml"
    forms = {
        "github-workflows": sorted((folder / "workflows").glob("*.yml")),
        "github-issue-forms": sorted({*(folder / "ISSUE_TEMPLATE").glob("*.yml")} - {config}),
        "github-issue-config": [config],
        "dependabot": [folder / "dependabot.yml"],
    }
    for schema, files in forms.items():
        hold_to_schema(schema, *files)
    run(command("zizmor"), "--offline", "--quiet", folder)


def check_metadata(built: Built) -> None:
    """Ask whether a package index would accept and show the metadata."""
    tool("twine", "check", "--strict", built.sdist, built.wheel, built.pure_wheel)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if "Repository" not in project["urls"]:
        print("    note: pyproject.toml does not say yet where the repository is.")


def check_interface(built: Built) -> None:
    """Ask whether the kernels use nothing but the limited API of Python 3.11."""
    tool("abi3audit", "--strict", built.wheel)


def check_contents(built: Built) -> None:
    """Ask whether wheels hold the packages, kernels and all, and nothing else."""
    tool("check_wheel_contents", built.wheel, built.pure_wheel)


def check_sdist(built: Built) -> None:
    """Look for all that Makefile, README and tests use in the sdist; run some of them from it."""
    with tarfile.open(built.sdist) as packed:
        packed.extractall(built.folder / "sdist", filter="data")
    (unpacked,) = (built.folder / "sdist").iterdir()
    files = [str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()]
    tracked = run("git", "ls-files", cwd=built.clone).splitlines()
    missing = facts.missing_from_sdist(tracked, files)
    if missing:
        raise CheckFailedError(f"the sdist lacks {', '.join(missing)}")
    run("make", "--dry-run", "test", "demo", "docs", "bench", "fuzz", "sanitize", cwd=unpacked)
    bin_of_tests = ROOT / ".venv/bin"
    paths = os.pathsep.join([str(unpacked / "src"), str(unpacked / "studies")])
    run(bin_of_tests / "ruff", "check", "--no-cache", ".", cwd=unpacked)
    tests = ["tests/test_release.py", "tests/cli/test_docs.py", "tests/search", "README.md"]
    run(
        *(bin_of_tests / "python", "-m", "pytest", "--problems", "few", *tests),
        cwd=unpacked,
        PYTHONPATH=paths,
        OPENBLAS_NUM_THREADS="1",
    )


def smoke(built: Built, wheel: Path, *options: str) -> None:
    """Install a wheel into an empty environment where no compiler is found, and try it."""
    home = built.folder / f"venv{len(list(built.folder.iterdir()))}"
    venv.create(home, with_pip=True)
    python, path = home / "bin/python", str(home / "bin")
    for compiler in ("cc", "gcc", "clang"):
        assert shutil.which(compiler, path=path) is None
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--only-binary", ":all:", wheel, cwd=home, PATH=path, PYTHONPATH="")
    said = run(
        *(python, "-P", ROOT / "release/smoke.py", *options), cwd=home, PATH=path, PYTHONPATH=""
    )
    print("   ", said.strip())


def check_wheel(built: Built) -> None:
    """Try the wheel in an empty environment without a compiler; it has kernels."""
    smoke(built, built.wheel, "--kernels")


def check_pure_wheel(built: Built) -> None:
    """Try the wheel of pure Python in an empty environment; it has no kernels."""
    smoke(built, built.pure_wheel, "--no-kernels")


CHECKS: dict[str, Callable[[Built], None]] = {
    "facts": check_facts,
    "citation": check_citation,
    "recipe": check_recipe,
    "workflows": check_workflows,
    "metadata": check_metadata,
    "interface": check_interface,
    "contents": check_contents,
    "sdist": check_sdist,
    "wheel": check_wheel,
    "pure-wheel": check_pure_wheel,
}


def main() -> int:
    """Run the checks; return how many failed."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="CHECK", help=", ".join(CHECKS))
    names = parser.parse_args().names or list(CHECKS)
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        parser.error(f"expected checks among {', '.join(CHECKS)}, got {', '.join(unknown)}")
    failed = []
    with tempfile.TemporaryDirectory(prefix="orthoselect-release-") as folder:
        built = Built(Path(folder))
        for name in names:
            start = time.perf_counter()
            try:
                CHECKS[name](built)
            except Exception as error:
                failed.append(name)
                print(f"FAILED  {name}: {error}", flush=True)
            else:
                print(f"ok      {name} ({time.perf_counter() - start:.0f} s)", flush=True)
    if failed:
        print(f"{len(failed)} of {len(names)} checks failed: {', '.join(failed)}.")
    return min(len(failed), 1)


if __name__ == "__main__":
    sys.exit(main())
