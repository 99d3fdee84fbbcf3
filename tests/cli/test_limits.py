"""Memory that `ulimit` allows: the command reads what fits, and says in a line what does not."""

from __future__ import annotations

import errno
import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orthoselect.matrix.memory import is_out_of_memory

resource = pytest.importorskip("resource")

ROWS = b"1.5,2.5,0.25,1,yes\n2.5,1.5,0.5,0,no\n0.5,1.5,0.5,1,no\n"
SELECT = ("-m", "orthoselect", "select", "-t", "y", "-k", "2", "-f", "csv")
LARGE = 4_000_000_000


def run_within(limit: int, *arguments: str, kind: int | None = None) -> subprocess.CompletedProcess:
    """Run Python with so many bytes of address space."""
    kind = resource.RLIMIT_AS if kind is None else kind
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)),
    )


@pytest.fixture(scope="module")
def needed() -> int:
    """Return the address space of the command with everything that it imports."""
    code = (
        "import os; os.environ['ARROW_DEFAULT_MEMORY_POOL'] = 'system';"  # as the command has it
        "import orthoselect.cli, pyarrow.csv, pyarrow.compute, scipy.linalg;"
        "print(open('/proc/self/status').read().split('VmSize:')[1].split()[0])"
    )
    found = run_within(LARGE, "-c", code)
    assert found.returncode == 0, found.stderr
    return int(found.stdout) * 1024


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a small file that unpacks to 21 MB of text, several times as much as a table."""
    path = tmp_path_factory.mktemp("packed") / "rows.csv.gz"
    part = gzip.compress(ROWS * 20_000, 1)
    path.write_bytes(gzip.compress(b"a,b,c,d,y\n") + part * 20)
    return path


@pytest.mark.parametrize("spare", [0.05, 0.2, 0.4])
def test_a_packed_file_ends_in_an_answer_or_a_line_whatever_ulimit_leaves(needed, packed, spare):
    ran = run_within(int(needed * (1 + spare)), *SELECT, str(packed))
    assert ran.returncode in (0, 2), ran.stderr
    assert ran.stderr.startswith("orthoselect: ")
    assert len(ran.stderr.splitlines()) == 1
    assert bool(ran.stdout) == (ran.returncode == 0)


def test_a_packed_file_too_large_for_the_limit_is_read_in_blocks(needed, packed):
    ran = run_within(needed + 350_000_000, *SELECT, str(packed))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[1].startswith("1,1,b,1.0")


def test_no_room_for_arrow_is_said_with_the_limits(needed, packed):
    ran = run_within(needed + 40_000_000, *SELECT, str(packed))
    assert ran.returncode == 2
    assert "the limits of this process (`ulimit -v`, `ulimit -d`) leave" in ran.stderr


@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_free_memory_is_what_the_limits_leave(kind):
    code = "from orthoselect.matrix.memory import free_memory; print(free_memory())"
    ran = run_within(2_000_000_000, "-c", code, kind=getattr(resource, kind))
    assert ran.returncode == 0, ran.stderr
    assert 500_000_000 < int(ran.stdout) < 2_000_000_000


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "whatever"),
        OSError("LZ4 decompress failed: ERROR_allocation_failed"),
        ImportError("libarrow.so: failed to map segment from shared object"),
    ],
)
def test_libraries_words_for_no_memory_are_known(error):
    assert is_out_of_memory(error)


def test_other_errors_are_not_taken_for_want_of_memory():
    assert not is_out_of_memory(OSError(errno.ENOENT, "no such file"))
    assert not is_out_of_memory(ImportError("No module named 'pyarrow'"))
