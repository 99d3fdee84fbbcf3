"""The answer of a selection, and of several compared: what users get to hold.

The class to know is `SelectionPath`, a sequence of `SelectionStep`. It, `Comparison` and
`Stability` hold plain numbers and strings; each gives itself as text, CSV, HTML, a dataframe and a
dictionary.

tabular: what results have in common.
path: the selected features in order, and what each added; path_cells: as a table for people;
origin: what it was found on; gaps_filled: what was missing there;
certificate: how good the set is among all sets of its size.
size_scores: how many of them cross-validation chooses.
comparison: cross-validated scores of several methods against the number of features;
best_sizes: the best size of each method;
fold_scores: their standard errors and paired differences; findings: what they say, in words.
stability: which features many halves of the rows agree on.
text: tables as text, CSV, HTML and dataframes, and values as JSON can hold them.
"""

from orthoselect.result.certificate import Certificate, SizedSet
from orthoselect.result.comparison import (
    ALL_FEATURES,
    NO_FEATURES,
    ComparedMethod,
    Comparison,
    FoldRun,
    Setting,
)
from orthoselect.result.gaps_filled import GapsFilled
from orthoselect.result.origin import Origin
from orthoselect.result.path import SelectionPath, SelectionStep
from orthoselect.result.size_scores import RULES, SIZE_OPTIONS, SizeScores
from orthoselect.result.stability import (
    FeatureFrequency,
    HalvesTaken,
    Stability,
    SubstituteSet,
)

__all__ = [
    "ALL_FEATURES",
    "NO_FEATURES",
    "RULES",
    "SIZE_OPTIONS",
    "Certificate",
    "ComparedMethod",
    "Comparison",
    "FeatureFrequency",
    "FoldRun",
    "GapsFilled",
    "HalvesTaken",
    "Origin",
    "SelectionPath",
    "SelectionStep",
    "Setting",
    "SizeScores",
    "SizedSet",
    "Stability",
    "SubstituteSet",
]
