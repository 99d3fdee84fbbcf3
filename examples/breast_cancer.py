"""The features that tell malignant from benign tumors, in the order they matter.

Run with ``make demo`` or ``python examples/breast_cancer.py``.
"""

from sklearn.datasets import load_breast_cancer

from orthoselect import OrthogonalSelector

data = load_breast_cancer()
X, y = data.data, data.target_names[data.target]

selector = OrthogonalSelector(n_features_to_select=10).fit(X, y)

print(f"breast cancer: {X.shape[0]} rows, {X.shape[1]} features, {len(set(y))} classes\n")
print(f"{'step':>4}  {'feature':<24} {'gain':>7} {'total':>7}")
for step, (index, taken) in enumerate(zip(selector.selected_, selector.path_), start=1):
    bar = "#" * round(40 * taken.total)
    name = data.feature_names[index]
    print(f"{step:>4}  {name:<24} {taken.gain:7.4f} {taken.total:7.4f}  {bar}")
print(
    f"\nThe ten explain {selector.path_.total:.1%} of the class; all thirty would explain ", end=""
)
print(f"{OrthogonalSelector(30).fit(X, y).path_.total:.1%}.")
