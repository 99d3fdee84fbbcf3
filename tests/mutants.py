"""Change the core by one operator or number at a time, and see whether the tests beside it notice.

`make mutants` draws changes at random; ARGS='--only criteria/uncertainty.py --count 0' makes every
one of a file. The working tree stays as it is: changes are made in a copy. A change that no test
notices is a claim that no test holds: write that test, or name the change in HARMLESS.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/orthoselect")

# Tests beside each file, the most telling first, as the first failure ends a run.
_STATE = [
    "criteria/test_twins.py",
    "criteria/test_lookahead.py",
    "criteria/test_uncertainty.py",
    "criteria/test_gains.py",
    "matrix/test_float32.py",
    "criteria/test_cancorr.py",
]
_MATRIX = [
    "matrix/test_basis.py",
    "matrix/test_normed.py",
    "matrix/test_matrices.py",
    "criteria/test_twins.py",
    "matrix/test_blocks.py",
]
_ROWS = [
    "matrix/test_blocks.py",
    "matrix/test_triangle.py",
    "criteria/test_twins.py",
    "criteria/test_gains.py",
    "criteria/test_cancorr.py",
    "test_nearly_equal.py",
]
TESTS = {
    "criteria/uncertainty.py": [
        "criteria/test_uncertainty_formulas.py",
        "criteria/test_uncertainty.py",
        "criteria/test_gains.py",
        "test_nearly_equal.py",
    ],
    "criteria/cancorr.py": _STATE,
    "criteria/gains.py": _STATE,
    "criteria/large_gains.py": ["criteria/test_large.py", "criteria/test_significance.py"],
    "criteria/candidates.py": _STATE,
    "criteria/orthogonal.py": ["criteria/test_orthogonal.py", "criteria/test_twins.py"],
    "criteria/steps.py": ["criteria/test_steps.py", *_STATE],
    "criteria/information.py": ["criteria/test_information.py"],
    "matrix/scaled.py": [*_MATRIX, "matrix/test_float32.py", "criteria/test_orthogonal.py"],
    "matrix/basis.py": [*_MATRIX, "matrix/test_remade.py", *_ROWS],
    "matrix/normed_geometry.py": ["criteria/test_orthogonal.py", "criteria/test_twins.py"],
    "matrix/geometry.py": [
        *_MATRIX,
        "criteria/test_gains.py",
        "criteria/test_cancorr.py",
        "criteria/test_orthogonal.py",
        "test_nearly_equal.py",
        *_ROWS[:-1],
    ],
    "matrix/conditioning.py": [*_MATRIX, "matrix/test_float32.py", "test_numerics.py"],
    "matrix/sums.py": _ROWS,
    "matrix/triangle.py": _ROWS,
    "counts/logarithms.py": ["counts/test_logarithms.py"],
}

# File, a piece of its source, a piece of the change ("" for all of that line), and why no test can
# or need notice.
_THRESHOLD = "a threshold of which the order of magnitude counts; orders away are noticed"
_MASKED = "stands in where nothing is known; what comes of it is thrown away"
_ROOM = "room made ahead: costs time or memory, never correctness"
_SLICES = "how many numbers at a time: costs time, never correctness"
_MIDDLE = "any middle will do that is among the numbers: R is corrected for it"
_PLAN = "a guess of what will be asked for: costs time, never correctness"
_AT_THE_BORDER = "equality is an accident of rounding; either answer is right"
HARMLESS: list[tuple[str, str, str, str]] = [
    ("criteria/uncertainty.py", "TRUSTED = 1e-10", "-> 2e-10", _THRESHOLD),
    ("criteria/uncertainty.py", "TRUSTED = 1e-10", "-> 5e-11", _THRESHOLD),
    ("criteria/uncertainty.py", "TIE = 1e-9", "-> 2e-09", _THRESHOLD),
    ("criteria/uncertainty.py", "TIE = 1e-9", "-> 5e-10", _THRESHOLD),
    ("criteria/uncertainty.py", "NOTHING = 1e-14", "-> 2e-14", _THRESHOLD),
    ("criteria/uncertainty.py", "NOTHING = 1e-14", "-> 5e-15", _THRESHOLD),
    ("criteria/uncertainty.py", "SHOWN = 1e-5", "-> 2e-05", _THRESHOLD),
    ("criteria/uncertainty.py", "SHOWN = 1e-5", "-> 5e-06", _THRESHOLD),
    ("criteria/uncertainty.py", "np.zeros((2, 16))", "16 -> 32", _ROOM),
    ("criteria/uncertainty.py", "np.zeros((2, 16))", "16 -> 8", _ROOM),
    ("criteria/uncertainty.py", "np.zeros((2, 16))", "16 -> 17", _ROOM),
    ("criteria/uncertainty.py", "if self._k == self._rows.shape[1]", "self._k != self", _ROOM),
    (
        "criteria/uncertainty.py",
        "self._largest_b2 = 0.0, 1.0",
        "1.0 -> 0",
        "b^2 of any row is at least 1, and without rows it is multiplied with nothing",
    ),
    ("criteria/uncertainty.py", "np.where(known, d, 1.0)", "1.0 -> 2", _MASKED),
    ("criteria/uncertainty.py", "np.where(known, d, 1.0)", "1.0 -> 0.5", _MASKED),
    ("criteria/uncertainty.py", "np.where(known[:, None], values, 1.0)", "1.0 -> 2", _MASKED),
    ("criteria/uncertainty.py", "np.where(known[:, None], values, 1.0)", "1.0 -> 0.5", _MASKED),
    ("criteria/uncertainty.py", "np.where(known, least, 1.0)", "1.0 -> 2", _MASKED),
    ("criteria/uncertainty.py", "np.where(known, least, 1.0)", "1.0 -> 0.5", _MASKED),
    ("criteria/uncertainty.py", "known = d > 4 * error_d", "d >= 4", _AT_THE_BORDER),
    ("criteria/uncertainty.py", "known = least > 4 * p", "least >= 4", _AT_THE_BORDER),
    ("criteria/cancorr.py", "size: int = 1", "", _PLAN),
    ("criteria/cancorr.py", "R.diagonal().min() ** 2 >= HEALTHY", "> HEALTHY", _AT_THE_BORDER),
    ("criteria/gains.py", "self._d[j] < self._surely_independent", "d[j] <= self", _AT_THE_BORDER),
    (
        "criteria/gains.py",
        "self._unsure.size or not self._slack_is_stale",
        " and ",
        "where a feature is unsure slack is not stale; else the quick way says the same again",
    ),
    (
        "criteria/steps.py",
        "r[p] = np.sqrt(max(d[p], 0.0))",
        "0.0 -> ",
        "column p is out of the race: what is left of it is not looked at any more",
    ),
    ("criteria/steps.py", "(first != I) & (gains[I] > 0)", " | ", _PLAN),
    ("criteria/orthogonal.py", "_VARIES = 1e-2", "-> 0.02", _THRESHOLD),
    ("criteria/orthogonal.py", "_VARIES = 1e-2", "-> 0.005", _THRESHOLD),
    (
        "criteria/orthogonal.py",
        "Uncertainty(np.full(X.shape[1], self._row_error + noise))",
        "self._row_error - noise",
        "errors are squared: four roundings instead of twelve, where sums are off by one or two",
    ),
    ("criteria/gains.py", "_LARGE, _HUGE = ", "", _ROOM),
    ("criteria/steps.py", "steps = 2 * count", "2 -> ", _PLAN),
    (
        "counts/logarithms.py",
        "32 * math.log(2)",
        "32 -> ",
        "bits kept free for sums of so many rows: one more or less of fifty",
    ),
    ("counts/logarithms.py", "if total <= 1", "total < 1", "ln 1 is 0, and fits at once"),
    (
        "counts/logarithms.py",
        "start = 2",
        "2 -> 1",
        "ln 1 is worked out instead of left at zero",
    ),
    (
        "matrix/basis.py",
        "if not self.k or (column_squares(W)",
        " and ",
        "columns are orthogonalized twice where once would do",
    ),
    ("matrix/basis.py", "_MANY_ROWS = 1 << 14", "", _SLICES),
    ("matrix/scaled.py", "height = max(1, _BLOCK_NUMBERS", "1 -> 2", _SLICES),
    (
        "matrix/scaled.py",
        "usual = self.matrix.arithmetic / 2",
        "2 -> 3",
        "a third less than usual: errors that are seen to be larger are expected twice over",
    ),
    (
        "matrix/triangle.py",
        "means = self.shift + np.ldexp(",
        "self.shift - np",
        "the shifts are the means: what is left beside them is less than their last digit",
    ),
    ("matrix/triangle.py", "mine, theirs = float(R[0, 0]) ** 2", "2 -> ", _MIDDLE),
    ("matrix/triangle.py", "middle = np.sort(B[rows], axis=0)", "2 -> 4", _MIDDLE),
    ("matrix/sums.py", "_SLAB = 1 << 17", "", _SLICES),
    ("matrix/sums.py", "height = max(1, _SLAB", "-> 2", _SLICES),
    ("matrix/triangle.py", "_LEAF_NUMBERS = 1 << 18", "", _SLICES),
    ("matrix/triangle.py", "panel = min(p, 16", "", _SLICES),
]

# Loaded once, before the runs are forked off; nothing of the package or of the tests.
_HEAVY = ["pytest", "hypothesis", "numpy", "scipy.linalg", "scipy.sparse", "sklearn.datasets"]
_HEAVY += ["pandas", "polars"]

_OPERATORS: dict[type, list[type]] = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
    ast.USub: [ast.UAdd],
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
}
_UNTOUCHED = {"annotation", "returns"}  # fields that hold types


@dataclass(frozen=True)
class Mutant:
    """The change of one place of one file; `number` counts those of the file."""

    file: str
    number: int
    line: int
    source: str
    change: str

    def __str__(self) -> str:
        source = self.source if len(self.source) <= 90 else self.source[:87] + "..."
        return f"{self.file}:{self.line}  {self.change}  in  {source}"

    @property
    def reason(self) -> str | None:
        """Why it is harmless, if it is named so."""
        found = (why for *what, why in HARMLESS if self._is(*what))
        return next(found, None)

    def _is(self, file: str, source: str, change: str) -> bool:
        return file == self.file and source in self.source and change in self.change


def mutants_of(file: str) -> list[Mutant]:
    """Return all changes of a file."""
    text = (HERE / PACKAGE / file).read_text()
    lines, found = text.splitlines(), []
    for number, (node, field, new) in enumerate(_changes(ast.parse(text))):
        before, old = ast.unparse(node), getattr(node, field)
        setattr(node, field, new)
        change = f"{before} -> {ast.unparse(node)}"
        setattr(node, field, old)
        source = " ".join(line.strip() for line in lines[node.lineno - 1 : node.end_lineno])
        found.append(Mutant(file, number, node.lineno, source, change))
    return found


def changed(mutant: Mutant) -> str:
    """Return the source of a file with one change made."""
    tree = ast.parse((HERE / PACKAGE / mutant.file).read_text())
    node, field, new = list(_changes(tree))[mutant.number]
    setattr(node, field, new)
    return ast.unparse(tree)


def _changes(tree: ast.AST) -> Iterator[tuple[Any, str, Any]]:
    """Yield nodes, each with a field and what to put there."""
    match tree:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op):
            yield from ((tree, "op", other()) for other in _OPERATORS.get(type(op), []))
        case ast.UnaryOp(op=ast.USub()):
            yield tree, "op", ast.UAdd()
        case ast.UnaryOp(op=ast.Not() | ast.Invert() as op, operand=operand):
            yield tree, "operand", ast.UnaryOp(op, operand)
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                for other in _OPERATORS.get(type(op), []):
                    yield tree, "ops", [*ops[:at], other(), *ops[at + 1 :]]
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as value):
            half = value // 2 if isinstance(value, int) else value / 2
            others = dict.fromkeys([value * 2, half, value + 1, type(value)(0)])
            yield from ((tree, "value", other) for other in others if other != value)
    for field, below in ast.iter_fields(tree):
        if field not in _UNTOUCHED:
            for node in below if isinstance(below, list) else [below]:
                if isinstance(node, ast.AST):
                    yield from _changes(node)


@dataclass(frozen=True)
class Run:
    """What tests said of a copy: what failed ("" if all passed), and processor time in seconds."""

    failed: str
    seconds: float


class Copy:
    """A copy of sources and tests in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in ("src", "tests"):
            shutil.copytree(HERE / name, folder / name)
        shutil.copy2(HERE / "pyproject.toml", folder)
        self._written = int(time.time())

    @contextlib.contextmanager
    def with_change(self, mutant: Mutant) -> Iterator[None]:
        """Make a change, and take it back."""
        path = self._folder / PACKAGE / mutant.file
        kept = path.read_text()
        self._write(path, changed(mutant))
        try:
            yield
        finally:
            self._write(path, kept)

    def _write(self, path: Path, text: str) -> None:
        """Write a file with a time of its own, as compiled ones are told by time and size."""
        path.write_text(text)
        self._written += 1
        os.utime(path, (self._written, self._written))

    def run(self, tests: list[str], problems: str, limit: float | None = None) -> Run:
        """Run tests in a process of its own, for so many seconds of processor time at most."""
        output = self._folder / "output.txt"
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                self._become_pytest(tests, problems, limit, output)
            finally:
                os._exit(99)
        _, status, usage = os.wait4(child, 0)
        seconds = usage.ru_utime + usage.ru_stime
        if os.WIFSIGNALED(status):
            return Run(f"ended by signal {os.WTERMSIG(status)} after {seconds:.0f} s", seconds)
        if os.WEXITSTATUS(status) == 0:
            return Run("", seconds)
        told = re.findall(r"^(?:FAILED|ERROR) (?:tests/)?(\S+)", output.read_text(), re.MULTILINE)
        return Run(told[0] if told else f"status {os.WEXITSTATUS(status)}", seconds)

    def _become_pytest(
        self, tests: list[str], problems: str, limit: float | None, output: Path
    ) -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.chdir(self._folder)
        sys.path.insert(0, str(self._folder / "src"))
        import pytest

        import orthoselect

        if not Path(orthoselect.__file__).is_relative_to(self._folder):
            os._exit(98)
        names = [f"tests/{name}" for name in tests]
        flags = ["-x", "-rfE", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"]
        status = pytest.main([*flags, "--problems", problems, *names])
        sys.stdout.flush()
        os._exit(int(status))


def look(mutants: list[Mutant], problems: str, folder: Path) -> dict[str, Counter[str]]:
    """Run the tests on each change, print what they said, and count it by file."""
    copy, limits = Copy(folder), {}
    counts: dict[str, Counter[str]] = {}
    for mutant in mutants:
        tests = TESTS[mutant.file]
        if mutant.reason is None and tuple(tests) not in limits:
            unchanged = copy.run(tests, problems)
            if unchanged.failed:
                text = (folder / "output.txt").read_text()
                sys.exit(f"{text}\nTests fail without any change: {unchanged.failed}. Mend first.")
            limits[tuple(tests)] = 30 + 3 * unchanged.seconds
        if mutant.reason is not None:
            said, why = "harmless", mutant.reason
        else:
            with copy.with_change(mutant):
                why = copy.run(tests, problems, limits[tuple(tests)]).failed
            said = "noticed" if why else "SURVIVED"
        print(f"{said:8}  {mutant}" + (f"  [{why}]" if why else ""), flush=True)
        counts.setdefault(mutant.file, Counter())[said] += 1
    return counts


def print_table(counts: dict[str, Counter[str]]) -> None:
    """Print how many changes were made, noticed, harmless and neither, by file."""
    print("\n| file | changes | noticed | harmless | survived |\n|---|--:|--:|--:|--:|")
    for file, said in [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]:
        numbers = said.total(), said["noticed"], said["harmless"], said["SURVIVED"]
        print(f"| {file} | {' | '.join(map(str, numbers))} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40, help="how many changes; 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--only", nargs="+", choices=list(TESTS), metavar="FILE", help="files")
    parser.add_argument("--skip", nargs="+", choices=list(TESTS), metavar="FILE", default=[])
    parser.add_argument("--grep", default="", help="only changes whose line or change has this")
    parser.add_argument("--problems", default="few", help="as for pytest")
    parser.add_argument("--list", action="store_true", help="list the changes, and make none")
    asked = parser.parse_args()
    everything = [mutant for file in TESTS for mutant in mutants_of(file)]
    for *what, _ in HARMLESS:
        if not any(mutant._is(*what) for mutant in everything):
            sys.exit(f"HARMLESS names {what}, but no change is like that any more. Remove it.")
    files = [file for file in asked.only or TESTS if file not in asked.skip]
    mutants = [m for m in everything if m.file in files and asked.grep in str(m)]
    if 0 < asked.count < len(mutants):
        drawn = set(random.Random(asked.seed).sample(range(len(mutants)), asked.count))
        mutants = [mutant for at, mutant in enumerate(mutants) if at in drawn]
    if asked.list:
        print(*mutants, sep="\n")
        return 0
    os.environ["CI"] = "true"  # the same examples of Hypothesis each time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests send it; shells may ignore it
    sys.dont_write_bytecode = False  # each run would compile everything again
    for name in _HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        counts = look(mutants, asked.problems, Path(folder).resolve())
    print_table(counts)
    return int(any(said["SURVIVED"] for said in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
