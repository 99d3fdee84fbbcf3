"""What `python -m orthoselect` needs before anything else is imported: an end without tracebacks.

Ctrl-C is quiet, and where there is no memory to import the rest, one line says so. Python imports
the package before it runs `__main__.py`, which takes a moment. Whoever imports the package for
anything else has a Ctrl-C of their own.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import TracebackType

_MENDABLE, _INTERRUPTED = 2, 130  # as the command ends; 130 is how shells count Ctrl-C


def is_module_to_run(argv: Sequence[str], typed: Sequence[str]) -> bool:
    """Whether Python is about to run this package, as it was asked to by ``-m``.

    Parameters
    ----------
    argv : sequence of str
        What `sys.argv` is. Its first is "-m" as long as Python looks for the module.
    typed : sequence of str
        What `sys.orig_argv` is: the same with Python itself, its options and the module.

    Examples
    --------
    >>> is_module_to_run(["-m", "select"], ["python", "-m", "orthoselect", "select"])
    True
    >>> is_module_to_run(["-m", "orthoselect"], ["python", "-m", "another", "orthoselect"])
    False
    """
    if list(argv[:1]) != ["-m"] or len(typed) < len(argv):
        return False
    module = typed[-len(argv)]  # just before the arguments
    is_joined = module.startswith("-") and module.endswith("morthoselect")
    return module == "orthoselect" or is_joined


def _end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """End the process for want of memory with a line; show any other error as Python does."""
    if not issubclass(kind, MemoryError) and "failed to map segment" not in str(error):
        sys.__excepthook__(kind, error, trace)
        return
    print("orthoselect: error: there is not enough memory.", file=sys.stderr, flush=True)
    os._exit(_MENDABLE)


if is_module_to_run(getattr(sys, "argv", []), sys.orig_argv):
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    sys.excepthook = _end
