"""
Numbers: the progression of diabetes
====================================

For a quantity, the running total of a path is R squared: the share of its variance that least
squares on those features explains.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from orthoselect import OrthogonalSelector, select

X, y = load_diabetes(return_X_y=True, as_frame=True)

# %%
# The response is whole numbers, so many that they are read as a quantity; `task` says so, too.

path = select(X, y, 10, task="regression")
print(path)

# %%
# R squared can only grow on the rows it was computed from. On rows held out it stops growing after
# the sixth feature.

held_out = []
for k in range(1, 11):
    model = make_pipeline(OrthogonalSelector(k, task="regression"), LinearRegression())
    held_out.append(cross_val_score(model, X, y, cv=10, scoring="r2").mean())
    print(f"{k:>2} features: R2 {path[k - 1].total:.3f}, on held-out rows {held_out[-1]:.3f}")

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(range(1, 11), [step.total for step in path], "o-", color="#1b2a41", label="all rows")
ax.plot(range(1, 11), held_out, "o-", color="#d1495b", label="held-out rows, 10 folds")
ax.set(ylabel="R squared", ylim=(0, 0.6), xticks=range(1, 11))
ax.set_xticklabels([f"{k}\n{name}" for k, name in enumerate(path.names, start=1)])
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
plt.show()
