"""Where the command starts: before anything is imported, so that Ctrl-C is quiet from then on."""

import os
import signal

_INTERRUPTED = 130


def main() -> None:
    """Load the command, which takes a moment, and run it."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    from orthoselect.cli import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
