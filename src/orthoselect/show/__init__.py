"""From a result to what a person reads: a plain dictionary, and a page made of it.

In comes a path with its data, or a comparison; out goes a file. Between the two is the summary, a
dictionary of plain values. The class to know is `Replay`: what each step was chosen from.

summary: a path and its data -> the summary -> a file; facts and pictures: parts of it.
replay: the path walked again; explained: what selected features explain of the others;
verdicts: why the others were not chosen; likeness: which features say the same.
what_if: what a page needs to select again; cautions: what stands against the answer;
recipes: code to copy.
page: a summary -> HTML, by templates/ and the charts that charts draws.
"""

from orthoselect.show.recipes import Reading
from orthoselect.show.summary import outline, report, summarize, write_report

__all__ = ["Reading", "outline", "report", "summarize", "write_report"]
