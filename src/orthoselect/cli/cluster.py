"""A cluster of Dask, to work on tables that its workers can read."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from orthoselect.errors import InputError

_PATIENCE = 10  # seconds to wait for a scheduler


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Be a client of the scheduler at an address; None for none."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "`--scheduler` needs Dask; install it with `pip install 'orthoselect[dask]'`."
        ) from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=True)
    except Exception as error:  # whatever answers there may say anything, and does
        raise InputError(
            f"`--scheduler` should be the address of a running scheduler, such as "
            f"tcp://127.0.0.1:8786; {address!r} does not answer as one: {_first_line(error)}"
        ) from None
    with _without_last_words(), client:
        if not client.scheduler_info()["workers"]:
            raise InputError(
                f"the scheduler at {address} should have workers; it has none. Start some with "
                f"`dask worker {address}`."
            )
        yield


@contextlib.contextmanager
def _without_last_words() -> Iterator[None]:
    """Keep asyncio from printing a traceback of the task that Ctrl-C took the client from."""
    log = logging.getLogger("asyncio")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
