"""Where the command starts: before anything is imported, so that Ctrl-C is quiet from then on."""

import os
import signal
import sys

_MENDABLE, _INTERRUPTED = 2, 130


def main() -> None:
    """Load the command, which takes a moment, and run it."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    try:
        from orthoselect.cli import main as run
    except (MemoryError, ImportError) as error:
        # What the system answers a library that may not take the memory it needs.
        if not isinstance(error, MemoryError) and "failed to map segment" not in str(error):
            raise
        print("orthoselect: error: there is not enough memory.", file=sys.stderr)
        sys.exit(_MENDABLE)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
