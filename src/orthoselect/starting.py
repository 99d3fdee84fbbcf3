"""What `python -m orthoselect` needs before anything else is imported: Ctrl-C that is quiet.

Python imports the package before it runs `__main__.py`, which takes a moment. Whoever imports the
package for anything else has a Ctrl-C of their own.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

_INTERRUPTED = 130  # as shells count Ctrl-C


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


if is_module_to_run(getattr(sys, "argv", []), sys.orig_argv):
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
