"""Ways through the sets of features."""

from orthoselect.search.base import Search, Taken
from orthoselect.search.forward import ForwardSearch

__all__ = ["ForwardSearch", "Search", "Taken"]
