"""Ways through the sets of features.

In comes a `State` with nothing selected, and how many features to take; out come the steps, one
`Taken` each. The class to know is `Search`.
"""

from orthoselect.search.base import Search, Taken
from orthoselect.search.forward import ForwardSearch

__all__ = ["ForwardSearch", "Search", "Taken"]
