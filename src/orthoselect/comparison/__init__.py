"""Methods, and all features and none, compared by the cross-validated score of a model.

In come a table, a response and the methods' names; out goes an `orthoselect.Comparison`. The class
to know is `Plan`, what all folds share: `run_fold` does one method on one fold of it.

run: `compare`, from its arguments through all folds, in processes, to the result.
entries: which methods and baselines are compared, with which options; one of them on one fold.
data: the table, whose rows can be taken, the response, and columns for the models.
bins: how numbers become levels for methods that count them.
folds: which rows train and validate, and how many features are tried.
models: what is trained on selected features; scoring: what it is judged by.
"""

from orthoselect.comparison.run import compare

__all__ = ["compare"]
