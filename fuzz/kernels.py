"""Calls of the compiled kernels with spoiled arguments: a clean refusal or the right result.

Each call has a number. A second process makes them, so that a crash ends that process only; it is
then started again. With kernels that were built to watch over memory (`make sanitize`) a wrong
access is such a crash, however little harm it would have done.
"""

from __future__ import annotations

import argparse
import multiprocessing as mp
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuzz.kernel_calls import KERNELS, Kernel, Table
from fuzz.outcome import Outcome
from orthoselect import native

Rng = np.random.Generator
LEAST, MOST = -(2**63), 2**63 - 1
_BATCH = 100  # calls that are told together
_CLEAN = (TypeError, ValueError, BufferError, OverflowError, MemoryError)
# None between these: so many numbers would be granted, and take all the memory there is.
_NUMBERS = [-1, 0, 1, LEAST, MOST, 2**31, 2**32, 2**63, -(2**63) - 1]
_OTHERS = [None, 1.5, float("nan"), "text", b"bytes", [1, 2], {}, object()]


@dataclass
class KernelOutcome(Outcome):
    """The count of calls.

    Attributes
    ----------
    n_refused : int
        Calls that ended in a clean exception.
    failures : list of str
        What went wrong, and how to repeat it.
    """

    n_refused: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def n_calls(self) -> int:
        """How many calls were made."""
        return self.tried

    def summary(self) -> str:
        """Return a line."""
        return f"{super().summary()}; {self.n_refused} calls were refused"


@dataclass(frozen=True)
class Told:
    """What a call has come to."""

    number: int
    kernel: str
    mutation: str
    refused: bool
    wrong: str | None = None
    text: str = ""


def run(
    minutes: float, seed: int, *, only: int | None = None, count: int | None = None
) -> KernelOutcome:
    """Call kernels with spoiled arguments.

    Parameters
    ----------
    minutes : float
    seed : int
    only : int, optional
        The number of the one call to make, here.
    count : int, optional
        So many calls at most.
    """
    check_all_are_known()
    print(f"kernels: seed {seed}, {native._module.__file__}")
    outcome = KernelOutcome("kernels", seed, ("kernel", "arguments"))
    if only is not None:
        _note(outcome, [call(seed, only, tell=print)])
        return outcome
    end, start = time.monotonic() + 60 * minutes, 0
    while time.monotonic() < end and (count is None or start < count):
        start = _calls_elsewhere(outcome, start, end, count)
    return outcome


def check_all_are_known() -> None:
    """Raise unless there are kernels, and valid arguments for each of them."""
    if native._module is None:
        raise SystemExit("there should be compiled kernels; build them with `pip install -e .`")
    there = {name for name in dir(native._module) if not name.startswith("_")}
    if there != set(KERNELS):
        raise SystemExit(
            f"every kernel should have valid arguments in fuzz/kernel_calls.py, and no other "
            f"should; these do not fit: {sorted(there ^ set(KERNELS))}."
        )


def _note(outcome: KernelOutcome, all_told: list[Told]) -> None:
    for told in all_told:
        outcome.tried += 1
        outcome.n_refused += told.refused
        outcome.count((told.kernel, told.mutation), told.wrong)
        if told.wrong is not None:
            failure = (
                f"WRONG ({told.wrong}) call {told.number}, {told.kernel} [{told.mutation}]: "
                f"{told.text}\n  again: python -m fuzz kernels --seed {outcome.seed} "
                f"--only {told.number}"
            )
            print(failure)
            outcome.failures.append(failure)


def _calls_elsewhere(outcome: KernelOutcome, start: int, end: float, count: int | None) -> int:
    """Let another process make calls from a number on; return the first that was not made."""
    context = mp.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    at = context.Value("q", start)
    seconds = end - time.monotonic()
    process = context.Process(target=_work, args=(outcome.seed, start, count, seconds, at, there))
    process.start()
    there.close()
    while True:
        try:
            _note(outcome, here.recv())
        except EOFError:
            break
    process.join()
    if process.exitcode:
        number = int(at.value)
        name, mutation = describe(outcome.seed, number)
        text = f"the process ended with exit code {process.exitcode}"
        _note(outcome, [Told(number, name, mutation, refused=False, wrong="crash", text=text)])
    return int(at.value) + 1


def _work(seed: int, start: int, count: int | None, seconds: float, at: Any, pipe: Any) -> None:
    told: list[Told] = []
    began, number = time.monotonic(), start
    while time.monotonic() - began < seconds and (count is None or number < count):
        at.value = number
        told.append(call(seed, number))
        if len(told) == _BATCH:
            pipe.send(told)
            told = []
        number += 1
    pipe.send(told)


# One call


def _drawn(seed: int, number: int) -> tuple[str, dict[str, Any], list[str]]:
    """Return the kernel, its arguments, and what was done to some of them."""
    rng = np.random.default_rng([seed, number])
    name = str(rng.choice(list(KERNELS)))
    given = KERNELS[name].make(rng)
    many = int(rng.choice([0, 1, 2, 3], p=[0.1, 0.6, 0.2, 0.1]))
    chosen = rng.permutation(list(given))[:many].tolist()
    return name, given, [_spoil(given, argument, rng) for argument in chosen]


def describe(seed: int, number: int) -> tuple[str, str]:
    """Return the kernel and the mutation of a call, which is not made."""
    name, _, spoiled = _drawn(seed, number)
    return name, _named(spoiled)


def _named(spoiled: list[str]) -> str:
    return "as they should be" if not spoiled else "several" if len(spoiled) > 1 else spoiled[0]


def call(seed: int, number: int, tell: Callable[[str], None] | None = None) -> Told:
    """Make a call and judge it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        name, given, spoiled = _drawn(seed, number)
        mutation = _named(spoiled)
        if tell is not None:
            tell(f"{name}, {', '.join(spoiled) or mutation}")
            for argument, value in given.items():
                tell(f"  {argument}: {_shown(value)}")
        before = {argument: _copied(value) for argument, value in given.items()}
        passed = [v.capsule if isinstance(v, Table) else v for v in given.values()]
        try:
            returned = getattr(native._module, name)(*passed)
        except _CLEAN as error:
            if spoiled and (str(error) or isinstance(error, MemoryError)):
                return Told(number, name, mutation, refused=True)
            text = f"{type(error).__name__}: {error}"
            return Told(number, name, mutation, refused=True, wrong="refused", text=text)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            return Told(number, name, mutation, refused=False, wrong="raised", text=text)
        wrong = _judge(KERNELS[name], given, before, returned)
    kind, text = (None, "") if wrong is None else wrong
    return Told(number, name, mutation, refused=False, wrong=kind, text=text)


def _judge(
    kernel: Kernel, given: dict[str, Any], before: dict[str, Any], returned: Any
) -> tuple[str, str] | None:
    """Return what is wrong with a call that was taken."""
    arrays = {name: np.asarray(v) for name, v in given.items() if _is_array(v)}
    outputs = {name: arrays[name] for name in kernel.outputs if name in arrays}
    for name, array in arrays.items():
        written = array.flags.writeable and any(
            np.shares_memory(array, o) for o in outputs.values()
        )
        if not written and not _equal(array, np.asarray(before[name])):
            return "overwritten", f"`{name}` is not to be written to, and has changed"
    if _overlap(arrays, outputs):
        return None  # nothing is promised
    try:
        # To a kernel bytes are an array of bytes; to NumPy they are text.
        expected = kernel.twin(
            **{n: np.frombuffer(v, np.uint8) if type(v) is bytes else v for n, v in before.items()}
        )
    except Exception as error:
        return "taken", f"NumPy could not do it: {type(error).__name__}: {error}"
    single = any(array.dtype == np.float32 for array in arrays.values())
    for name, value in (expected or {}).items():
        found = returned if name == "returned" else arrays.get(name)
        if value is None or (found is None and name != "returned"):
            continue
        if found is None or not _close(found, value, single):
            return "result", f"`{name}` is {_shown(found)}; it should be {_shown(value)}"
    return None


def _overlap(arrays: dict[str, Any], outputs: dict[str, Any]) -> bool:
    return any(
        np.shares_memory(output, array)
        for name, output in outputs.items()
        for other, array in arrays.items()
        if other != name
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, memoryview))


def _copied(value: Any) -> Any:
    return np.array(value) if _is_array(value) else value


def _equal(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def _close(found: Any, expected: Any, single: bool) -> bool:
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return False
    if expected.dtype.kind in "iub" and found.dtype.kind in "iub":
        return bool((found == expected).all())
    finite = np.abs(expected[np.isfinite(expected)])
    digits = 1e-3 if single else 1e-8
    size = digits * max(1.0, float(finite.max(initial=0.0)))
    return bool(np.allclose(found, expected, rtol=digits, atol=size, equal_nan=True))


def _shown(value: Any) -> str:
    if not _is_array(value):
        return repr(value)[:300]
    a = np.asarray(value)
    text = np.array2string(a, threshold=20).replace("\n", " ")
    return f"{a.dtype}{a.shape}, strides {a.strides}, {text[:300]}"


# Mutations


def _spoil(given: dict[str, Any], name: str, rng: Rng) -> str:
    """Spoil one argument; return what was done to it."""
    value = given[name]
    if not isinstance(value, np.ndarray):
        others = [*_NUMBERS, *_OTHERS]
        if isinstance(value, int):
            others += [value - 1, value + 1] * 3
        given[name] = others[int(rng.integers(len(others)))]
        return "another number"
    ways = {
        "type": _retyped, "shape": _reshaped, "empty": _emptied, "strides": _strided,
        "read-only": _frozen, "extreme numbers": _extreme, "off by one": _moved,
        "not a number": _not_finite, "no array": _no_array, "unaligned": _unaligned,
    }  # fmt: skip
    way = str(rng.choice([*ways, "the same twice"]))
    if way == "the same twice":
        like = [n for n, v in given.items() if isinstance(v, np.ndarray) and v.dtype == value.dtype]
        given[name] = given[str(rng.choice(like))]
    else:
        given[name] = ways[way](value, rng)
    return way


def _retyped(a: Any, rng: Rng) -> Any:
    types = [np.dtype(code) for code in "?bBhHiIqQefdgFDO"]
    types += [a.dtype.newbyteorder(), np.dtype("U3"), np.dtype("M8[s]")]
    try:
        return a.astype(types[int(rng.integers(len(types)))])
    except (TypeError, ValueError):
        return a.astype(object)


def _reshaped(a: Any, rng: Rng) -> Any:
    axis = int(rng.integers(a.ndim))
    less = np.take(a, np.arange(max(0, a.shape[axis] - 1)), axis=axis)
    more = np.concatenate([a, np.take(a, np.arange(min(1, a.shape[axis])), axis=axis)], axis=axis)
    many = np.concatenate([a] * 5, axis=axis)
    shapes = [less, more, many, a[None], a[..., None], a.ravel(), np.ascontiguousarray(a.T)]
    return shapes[int(rng.integers(len(shapes)))]


def _emptied(a: Any, rng: Rng) -> Any:
    return np.take(a, np.zeros(0, int), axis=int(rng.integers(a.ndim)))


def _strided(a: Any, rng: Rng) -> Any:
    axis = int(rng.integers(a.ndim))
    every = [slice(None)] * a.ndim
    backwards, other = list(every), list(every)
    backwards[axis], other[axis] = slice(None, None, -1), slice(None, None, 2)
    wider = np.concatenate([a, a], axis=-1)[..., : a.shape[-1]]
    ways = [a[tuple(backwards)], np.repeat(a, 2, axis=axis)[tuple(other)], wider,
            np.asfortranarray(a), np.broadcast_to(a[:1], a.shape) if len(a) else a]  # fmt: skip
    return ways[int(rng.integers(len(ways)))]


def _frozen(a: Any, rng: Rng) -> Any:
    a = a.copy()
    a.flags.writeable = False
    return a


def _some_of(a: Any, rng: Rng) -> Any:
    """Choose one place, or all."""
    some = np.zeros(a.size, dtype=bool)
    some[int(rng.integers(a.size)) if rng.random() < 0.7 else slice(None)] = True
    return some.reshape(a.shape)


def _extreme(a: Any, rng: Rng) -> Any:
    a = a.copy()
    if not a.size:
        return a
    if a.dtype.kind in "iu":
        limits = np.iinfo(a.dtype)
        number = int(rng.choice([LEAST, MOST, -1, 2**31, 2**32, 2**40, -(2**40)]))
        a[_some_of(a, rng)] = min(max(number, int(limits.min)), int(limits.max))
    elif a.dtype.kind == "f":
        a[_some_of(a, rng)] = rng.choice([0.0, -0.0, 1e-310, -1e10])
    return a


def _moved(a: Any, rng: Rng) -> Any:
    if not a.size or a.dtype.kind not in "iuf":
        return a.copy()
    moved = a + 1 if rng.random() < 0.5 else a - 1
    return np.where(_some_of(a, rng), moved, a).astype(a.dtype)


def _not_finite(a: Any, rng: Rng) -> Any:
    a = a.copy()
    if a.size and a.dtype.kind == "f":
        a[_some_of(a, rng)] = rng.choice([np.nan, np.inf, -np.inf])
    return a


def _no_array(a: Any, rng: Rng) -> Any:
    others = [*_OTHERS, 0, a.tolist(), a.tobytes(), memoryview(a.tobytes())]
    return others[int(rng.integers(len(others)))]


def _unaligned(a: Any, rng: Rng) -> Any:
    """Put numbers where none begins; as NumPy tells it, or as one who does not tell."""
    room = bytearray(a.nbytes + 1)
    room[1:] = a.tobytes()
    if rng.random() < 0.5 or not a.size:
        return np.frombuffer(room, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    return memoryview(room)[1:].cast(a.dtype.char, a.shape)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; the exit code says whether anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.kernels", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one call, by its number")
    parser.add_argument("--count", type=int, metavar="NUMBER", help="so many calls at most")
    options = parser.parse_args(arguments)
    outcome = run(options.minutes, options.seed, only=options.only, count=options.count)
    print(outcome.summary())
    return int(outcome.n_wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
