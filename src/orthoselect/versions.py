"""The version of this package, and those of what its numbers come from."""

from __future__ import annotations

import platform
from importlib import metadata

__version__ = "0.1.0"


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of this package, of Python and of other packages.

    Examples
    --------
    >>> list(versions("numpy"))
    ['orthoselect', 'python', 'numpy']
    """
    return {
        "orthoselect": __version__,
        "python": platform.python_version(),
        **{package: metadata.version(package) for package in packages},
    }
