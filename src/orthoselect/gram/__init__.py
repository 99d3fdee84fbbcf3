"""What is kept of a table so that any later question can be answered without its rows."""

from orthoselect.gram.statistics import GramStatistics

__all__ = ["GramStatistics"]
