"""
Select inside the folds
=======================

A selection has seen the response. If it is made on all rows and only the classifier is
cross-validated, the rows held out were seen as well, and the accuracy is a tale. A pipeline selects
on its training rows alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from orthoselect import OrthogonalSelector, select

# %%
# Nothing but noise: 60 rows, 2000 features, classes by the toss of a coin. No accuracy above one
# half is real.

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 2000)), rng.integers(0, 2, 60)
SIZES = [1, 2, 3, 5, 8, 12]

path = select(X, y, max(SIZES))
outside = [
    cross_val_score(LinearDiscriminantAnalysis(), X[:, path.features[:k]], y, cv=5).mean()
    for k in SIZES
]

# %%
# The right way is also the shorter one: selector and classifier in one pipeline, and a grid search
# over the number of features.

model = Pipeline([("select", OrthogonalSelector()), ("classify", LinearDiscriminantAnalysis())])
search = GridSearchCV(model, {"select__n_features_to_select": SIZES}, cv=5).fit(X, y)
inside = search.cv_results_["mean_test_score"]

for k, wrong, right in zip(SIZES, outside, inside):
    print(f"{k:>2} features: selected on all rows {wrong:.2f}, within the folds {right:.2f}")

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.plot(SIZES, outside, "o-", color="#d1495b", label="selected on all rows: wrong")
ax.plot(SIZES, inside, "o-", color="#1b2a41", label="selected within the folds")
ax.axhline(0.5, color="#8d99ae", linewidth=1)
ax.set(xlabel="features selected", ylabel="accuracy, 5 folds", ylim=(0, 1.03), xticks=SIZES)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
plt.show()
