"""How far a long call is: from a `progress` argument to a bar on a terminal or in a notebook.

In comes what the caller gave (nothing, True, or a function), out goes a function to call after
each step. The command and Python show the same bar by the same functions. The one to know is
`with_bar`.
"""

from orthoselect.progress.shown import (
    PairsShown,
    StepsShown,
    TasksShown,
    reading_shown,
    with_bar,
)

__all__ = ["PairsShown", "StepsShown", "TasksShown", "reading_shown", "with_bar"]
