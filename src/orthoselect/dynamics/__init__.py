"""Models of signals over time: NARX and NARMAX, whose terms are selected.

What comes in are records of inputs and outputs, in one or several sessions; what goes out is a
model that says how the output follows from its own past and from the inputs. The one class to know
is `NARX`.

    lagged_terms   products of lagged signals, as something to select from
"""

from orthoselect.dynamics.lagged_terms import LaggedTerms

__all__ = ["LaggedTerms"]
