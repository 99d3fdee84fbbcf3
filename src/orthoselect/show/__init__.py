"""From a result to what a person reads: a plain dictionary, a page, a terminal table."""

from orthoselect.show.reporting import report, write_report
from orthoselect.show.summary import summarize

__all__ = ["report", "summarize", "write_report"]
