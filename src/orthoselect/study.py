"""Where the study was until it became a package beside the library; whoever looks here is told."""

from typing import Any

_MOVED = (
    *("DATASETS", "EXPERIMENTS", "METHODS", "Settings", "Step", "Store", "StudyFailed"),
    *("list_experiments", "report", "run"),
)


def __getattr__(name: str) -> Any:
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise ImportError(
        f"`{name}` should be imported from `orthoselect_study`, the package that the study is now; "
        f"it is not in `orthoselect.study` any more. Write `from orthoselect_study import {name}`."
    )
