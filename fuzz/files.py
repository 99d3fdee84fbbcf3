"""Broken files of every format: an answer or one clear error, never a crash, a hang or run code.

Each mutant has a number. A second process reads it, so that a crash or a hang ends that process
only; it is then started again.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import multiprocessing as mp
import shutil
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.outcome import Outcome

Rng = np.random.Generator
LIMIT = 20.0  # seconds that a file may take
LONGEST = 3000  # characters of an error
_STARTING = 120.0  # that the process may take to load everything
_MEMORY = 6 << 30  # bytes that it may take: what asks for more is told so, not killed
_ROWS = 40


# Whole files, as bytes


def _columns() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(_ROWS, 3))
    kinds = np.array(["red", "green", "blue, or so"], dtype=object)[rng.integers(0, 3, _ROWS)]
    y = np.where(X[:, 1] + rng.normal(size=_ROWS) > 0, "yes", "no").astype(object)
    return {"a": X[:, 0], "b": X[:, 1] * 1e-3 + 5, "c": rng.integers(0, 9, _ROWS), "kind": kinds,
            "d": X[:, 2], "y": y}  # fmt: skip


def _text(delimiter: str) -> bytes:
    columns = _columns()
    lines = [delimiter.join(columns)]
    for row in zip(*columns.values()):
        cells = [f'"{cell}"' if isinstance(cell, str) else repr(float(cell)) for cell in row]
        lines.append(delimiter.join(cells))
    return ("\n".join(lines) + "\n").encode()


def _arrow(kind: str) -> bytes:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    table, sink = pa.table({k: pa.array(v) for k, v in _columns().items()}), io.BytesIO()
    if kind == "parquet":
        pa.parquet.write_table(table, sink, row_group_size=15, compression="none")
    elif kind == "snappy":
        pa.parquet.write_table(table, sink)
    elif kind == "feather":
        pa.feather.write_feather(table, sink, compression="uncompressed")
    else:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=15)
    return sink.getvalue()


def _numbers() -> tuple[Any, Any]:
    columns = _columns()
    X = np.column_stack([columns[name] for name in "abcd"])
    return X, (columns["y"] == "yes").astype(int)


def _npy(array: Any) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()


def _npz() -> bytes:
    sink = io.BytesIO()
    X, y = _numbers()
    np.savez(sink, X=X, y=y, feature_names=np.array(["a", "b", "c", "d"]))
    return sink.getvalue()


def _sparse_npz() -> bytes:
    import scipy.sparse as sp

    sink = io.BytesIO()
    sp.save_npz(sink, sp.csr_array(np.round(_numbers()[0])), compressed=False)
    return sink.getvalue()


def _svm() -> bytes:
    X, y = _numbers()
    lines = [
        " ".join([str(label), *(f"{j + 1}:{value:.4g}" for j, value in enumerate(row))])
        for label, row in zip(y, X)
    ]
    return ("\n".join(lines) + "\n").encode()


def _statistics() -> bytes:
    from orthoselect import GramStatistics

    X, y = _numbers()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    GramStatistics.of(X, y).save(folder / "s.npz")
    data = (folder / "s.npz").read_bytes()
    shutil.rmtree(folder)
    return data


class _Payload:
    """What would leave a trace if it were loaded by pickle."""

    def __init__(self, trace: str) -> None:
        self._trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (self._trace, "w"))


def _pickled(trace: str) -> bytes:
    sink = io.BytesIO()
    held = np.empty((2, 2), dtype=object)
    held[...] = [[_Payload(trace), 1], [2, 3]]
    np.save(sink, held, allow_pickle=True)
    return sink.getvalue()


def _pickled_archive(trace: str) -> bytes:
    sink = io.BytesIO()
    held = np.empty(2, dtype=object)
    held[:] = [_Payload(trace), 1]
    np.savez(sink, X=held, y=np.arange(2), allow_pickle=True)
    return sink.getvalue()


# Mutations of bytes


def _flip(data: bytearray, rng: Rng) -> bytearray:
    for _ in range(int(rng.integers(1, 9))):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return data


def _overwrite(data: bytearray, rng: Rng) -> bytearray:
    at = int(rng.integers(len(data)))
    piece = rng.choice([b"\0", b"\xff", b"\x7f\xff\xff\xff", b"\xff" * 8, b"\0" * 8, b"\x80"])
    data[at : at + len(piece)] = piece
    return data


def _truncate(data: bytearray, rng: Rng) -> bytearray:
    return data[: int(rng.integers(len(data)))]


def _drop(data: bytearray, rng: Rng) -> bytearray:
    a = int(rng.integers(len(data)))
    del data[a : a + int(rng.integers(1, 40))]
    return data


def _double(data: bytearray, rng: Rng) -> bytearray:
    lines = bytes(data).split(b"\n")
    at = int(rng.integers(len(lines)))
    return bytearray(b"\n".join([*lines[: at + 1], *lines[at:]]))


def _insert(data: bytearray, rng: Rng) -> bytearray:
    pieces = [b'"', b"'", b"\0", b"\r", b"\n", b"\n\n", b"\xff\xfe", b"\xef\xbb\xbf", b",,,",
              b"nan", b"inf", b"1e999", b"-", b"\xe9", b"0x10", b"1_000", b"x" * 200_000,
              b"9" * 400, b"\t", b";", b"#", b":", b" 1:1", b"-1:5", b"99999999999:1",
              b"\xf0\x9f\x98\x80", b"=cmd()", b"{}", b"[[[[", b"\x1f\x8b", b"PK\x03\x04",
              b"NaN", b"null"]  # fmt: skip
    at = int(rng.integers(len(data) + 1))
    data[at:at] = pieces[int(rng.integers(len(pieces)))]
    return data


def _encode(data: bytearray, rng: Rng) -> bytearray:
    text = bytes(data).decode("latin-1")
    kind = str(rng.choice(["utf-16", "utf-32", "utf-8-sig", "cp037", "utf-16-le"]))
    return bytearray(text.encode(kind, errors="replace"))


def _nest(data: bytearray, rng: Rng) -> bytearray:
    return bytearray(b"[" * 100_000) if rng.random() < 0.2 else bytearray(bytes(data) * 3)


MUTATIONS: list[Callable[[bytearray, Rng], bytearray]] = [
    _flip, _flip, _overwrite, _overwrite, _truncate, _drop, _double, _insert, _insert, _encode,
    _nest,
]  # fmt: skip


def _mutate(data: bytes, rng: Rng) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        if changed:
            changed = MUTATIONS[int(rng.integers(len(MUTATIONS)))](changed, rng)
    return bytes(changed)


def _inside(archive: bytes, rng: Rng) -> bytes:
    """Mutate a member of an archive, whose checksums are right again."""
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    victim = str(rng.choice(list(members)))
    kind = rng.random()
    if kind < 0.1:
        del members[victim]
    elif kind < 0.2:
        members[victim + "x"] = members.pop(victim)
    else:
        members[victim] = _mutate(members[victim], rng)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return sink.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
FORMATS = [
    ".csv", ".tsv", ".csv.gz", ".csv.bz2", ".csv.xz", ".parquet", "snappy.parquet", ".feather",
    ".arrow", ".npy", ".npz", "sparse.npz", ".svm", ".libsvm", "statistics.npz", "pickled.npy",
    "pickled.npz",
]  # fmt: skip
WAYS = ["select", "blocks", "command", "statistics of"]


class Maker:
    """Makes mutants by their number."""

    def __init__(self, trace: str) -> None:
        csv, (X, _) = _text(","), _numbers()
        self._whole = {
            ".csv": csv, ".tsv": _text("\t"), ".parquet": _arrow("parquet"),
            "snappy.parquet": _arrow("snappy"), ".feather": _arrow("feather"),
            ".arrow": _arrow("arrow"), ".npy": _npy(X), ".npz": _npz(),
            "sparse.npz": _sparse_npz(), ".svm": _svm(), ".libsvm": _svm(),
            "statistics.npz": _statistics(), "pickled.npy": _pickled(trace),
            "pickled.npz": _pickled_archive(trace),
        }  # fmt: skip

    def make(self, seed: int, number: int) -> tuple[str, str, bytes]:
        """Return the format, the way to read it, and the bytes of a mutant."""
        rng = np.random.default_rng([seed, number])
        format = FORMATS[number % len(FORMATS)]
        way = str(rng.choice(WAYS, p=[0.35, 0.2, 0.3, 0.15]))
        return format, way, self._bytes(format, rng)

    def _bytes(self, format: str, rng: Rng) -> bytes:
        packed = Path(format).suffix
        if packed in PACKERS:
            pack = PACKERS[packed]
            if rng.random() < 0.5:
                return _mutate(pack(self._whole[".csv"]), rng)
            return pack(_mutate(self._whole[".csv"], rng))
        if format.startswith("pickled") and rng.random() < 0.3:
            return self._whole[format]
        if format.endswith(".npz") and rng.random() < 0.6:
            return _inside(self._whole[format], rng)
        return _mutate(self._whole[format], rng)


# Reading them


def _read(path: Path, way: str, format: str) -> None:
    """Ask a file for features."""
    from orthoselect import GramStatistics, select
    from orthoselect.read import read_table

    target = None if format.endswith((".npz", "svm")) else "x3" if format.endswith("npy") else "y"
    if format == "statistics.npz" and way != "command":
        GramStatistics.load(path).select(2)
    elif way == "select":
        select(path, target, 2)
    elif way == "blocks":
        select(read_table(path, in_blocks=True), target, 2)
    elif way == "statistics of":
        GramStatistics.of(path, target).select(2)


def _command(path: Path, format: str, rng: Rng) -> str | None:
    """Run the command here; return what is wrong."""
    from orthoselect.cli import main

    arguments = [
        "select",
        str(path),
        "-k",
        "2",
        "--format",
        str(rng.choice(["table", "json", "csv"])),
    ]
    if not format.endswith((".npz", "svm")):
        arguments += ["--target", "x3" if format.endswith("npy") else "y"]
    if rng.random() < 0.3:
        arguments += ["--missing", "drop"]
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as left:
            code = left.code or 0
    said = err.getvalue()
    if "Traceback" in said:
        return f"traceback: {said[-300:]}"
    if code not in (0, 2):
        return f"exit code {code}: {said[-300:]}"
    if code == 2:
        errors = [line for line in said.splitlines() if line.startswith("orthoselect: error: ")]
        if len(errors) != 1 or not said.rstrip("\n").endswith(errors[0]):
            return f"not one line of error: {said[-300:]!r}"
        if len(errors[0]) > LONGEST:
            return f"{len(errors[0])} characters of error: {errors[0][:300]!r}"
    return None


def _attempt(path: Path, way: str, format: str, rng: Rng) -> tuple[str, str]:
    """Return how it ended, and what is wrong in a line: "" if nothing is."""
    from orthoselect.errors import InputError

    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            if way == "command":
                wrong = _command(path, format, rng)
                if wrong is not None:
                    return "command", wrong
            else:
                _read(path, way, format)
    except InputError as error:
        text = str(error)
        return ("long", repr(text[:300])) if len(text) > LONGEST else ("error", "")
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [f for f in frames if "orthoselect" in f.filename] or frames
        where = f"{Path(own[-1].filename).name}:{own[-1].lineno}"
        return "raw error", f"{type(error).__name__} by {where}: {str(error)[:200]}"
    raw = [one for one in seen if one.category in (RuntimeWarning, ResourceWarning)]
    return ("warned", str(raw[0].message)) if raw else ("answer", "")


def _work(pipe: Any, seed: int, trace: str) -> None:
    """Read the mutants whose numbers come, until there are no more."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    maker, folder = Maker(trace), Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        import orthoselect.cli  # noqa: F401 so that the first file does not wait for it

        pipe.send("ready")
        while (number := pipe.recv()) is not None:
            format, way, data = maker.make(seed, number)
            path = folder / f"t{format if format.startswith('.') else '.' + format}"
            path.write_bytes(data)
            pipe.send(_attempt(path, way, format, np.random.default_rng([seed, number, 1])))
            path.unlink()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Reader:
    """The second process, started again when it is gone."""

    def __init__(self, seed: int, trace: str) -> None:
        self._seed, self._trace = seed, trace
        self._process: Any = None

    def read(self, number: int) -> tuple[str, str]:
        """Return how the mutant of this number ended."""
        if self._process is None:
            self._start()
        self._pipe.send(number)
        if not self._pipe.poll(LIMIT):
            self.stop()
            return "hang", f"no answer in {LIMIT:.0f} s"
        try:
            return self._pipe.recv()
        except EOFError:
            self._process.join(10)
            code = self._process.exitcode
            self.stop()
            return "crash", f"the process ended with {code}"

    def _start(self) -> None:
        context = mp.get_context("spawn")
        self._pipe, other = context.Pipe()
        arguments = (other, self._seed, self._trace)
        self._process = context.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        other.close()
        if not self._pipe.poll(_STARTING) or self._pipe.recv() != "ready":
            raise RuntimeError("the process that reads files does not start")

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def run(
    minutes: float,
    seed: int,
    *,
    only: int | None = None,
    count: int | None = None,
    tell: Callable[[str], None] = print,
) -> Outcome:
    """Read mutants until the time is over; arguments as in `fuzz.problems.run`."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    trace = folder / "executed"
    maker, reader = Maker(str(trace)), _Reader(seed, str(trace))
    outcome = Outcome("files", seed, ("format", "read by"))
    end, number = time.monotonic() + 60 * minutes, only or 0
    try:
        while True:
            kind, text = reader.read(number)
            if trace.exists():
                kind, text = "executed", "a file ran code"
                trace.unlink()
            format, way, data = maker.make(seed, number)
            outcome.tried += 1
            outcome.count((format, way), kind if text else None)
            if text:
                tell(
                    f"WRONG ({kind}) file {number} [{format}, {way}], {len(data)} bytes\n  {text}\n"
                    f"  again: python -m fuzz files --seed {seed} --only {number}"
                )
                if only is not None:
                    kept = Path(
                        f"fuzz-{seed}-{number}{format if format[0] == '.' else '.' + format}"
                    )
                    kept.write_bytes(data)
                    tell(f"  the file: {kept}")
            number += 1
            if only is not None or time.monotonic() > end or number == count:
                return outcome
    finally:
        reader.stop()
        shutil.rmtree(folder, ignore_errors=True)
