"""
Breast cancer: features in the order they matter
================================================

Which measurements tell malignant from benign tumors? The path as bars, and how far it carries.
Run with ``make demo`` or ``python examples/breast_cancer.py``.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from orthoselect import OrthogonalSelector

WIDTH = 40  # characters of a bar that stands for 100 %


def main():
    data = load_breast_cancer()
    X, y = data.data, data.target_names[data.target]
    N, n = X.shape

    path = OrthogonalSelector(n_features_to_select=10).fit(X, y).path_
    limit = OrthogonalSelector(n_features_to_select=n).fit(X, y).path_.total
    print(f"Breast cancer: {N} tumors, {n} features, {' or '.join(data.target_names)}\n")
    print_path(path, data.feature_names, limit)
    print(f"\n  = explained before   # added by this feature   | all {n} features: {limit:.4f}\n")

    print("Accuracy of linear discriminant analysis, 10-fold cross-validation,")
    print("features selected anew within each fold:\n")
    for k in (1, 3, 10, n):
        model = make_pipeline(OrthogonalSelector(k), LinearDiscriminantAnalysis())
        accuracy = cross_val_score(model, X, y, cv=10).mean()
        print(f"  {k:>2} feature{'s' if k > 1 else ' '}  {accuracy:.1%}")


def print_path(path, names, limit):
    wide = max(len(names[step.feature]) for step in path)
    print(f"  step  {'feature':<{wide}}    gain   total   0%{'100%':>{WIDTH - 2}}")
    print(f"  ----  {'-' * wide}  ------  ------   {'-' * WIDTH}")
    before = 0.0
    for number, step in enumerate(path, start=1):
        bar = progress(before, step.total, limit)
        name = names[step.feature]
        print(f"  {number:>4}  {name:<{wide}}  {step.gain:.4f}  {step.total:.4f}   {bar}")
        before = step.total


def progress(before, total, limit):
    """Draw what was explained before as ``=``, what this step added as ``#``."""
    start, stop, end = (round(WIDTH * share) for share in (before, total, limit))
    return ("=" * start + "#" * max(stop - start, 1)).ljust(end) + "|"


if __name__ == "__main__":
    main()
