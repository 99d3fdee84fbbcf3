"""What is kept of a table so that any later question can be answered without its rows.

In come rows, a table of any kind or one block after the other; out goes a `SelectionPath` for each
question. The class to know is `GramStatistics`.

gram_statistics: the class, which is made, added up, saved and asked.
intake: rows of any kind -> what is kept of them, and the same of both of two.
dealt: the same of random blocks of rows, which `stability` makes halves of.
layout: which columns the statistics have, and rows in these columns.
question: a question, posed as a problem for `select`.
files: statistics in a file.
"""

from orthoselect.gram.gram_statistics import GramStatistics

__all__ = ["GramStatistics"]
