"""Ways through the sets of features.

In comes a `State` with nothing selected, and how many features to take; out come the steps, one
`Taken` each. The class to know is `Search`; `SEARCHES` has all of them by name.
"""

from collections.abc import Mapping

from orthoselect.search.base import FoundSet, Proof, Search, SetSearch, Taken
from orthoselect.search.exact import ExactSearch
from orthoselect.search.exchange import BackwardSearch, BeamSearch, FloatingSearch, SwapSearch
from orthoselect.search.forward import ForwardSearch

SEARCHES: Mapping[str, type[Search]] = {
    search.name: search
    for search in (
        ForwardSearch,
        BackwardSearch,
        FloatingSearch,
        SwapSearch,
        BeamSearch,
        ExactSearch,
    )
}

__all__ = [
    "SEARCHES",
    "BackwardSearch",
    "BeamSearch",
    "ExactSearch",
    "FloatingSearch",
    "ForwardSearch",
    "FoundSet",
    "Proof",
    "Search",
    "SetSearch",
    "SwapSearch",
    "Taken",
]
