"""Which features halves of the rows agree on, and how many of these may be false.

In come a table, a response and what is asked of a method; out goes an `orthoselect.Stability`. The
class to know is `Halves`, a table that is cut in two again and again.

agreeing: `stability`, from its arguments through all pairs, in processes, to the result.
pairs: which rows make two halves; bounds: size, threshold and false features.
base: what is asked of a table; in_memory: one in memory; blocks: one that is read once.
substitutes: sets of features that stand in for each other.
"""

from orthoselect.halves.agreeing import stability

__all__ = ["stability"]
