"""
Curves: what splines see and lines do not
=========================================

Four features act on the response: one by a line, one by its size whatever the sign, one by a
parabola and one only above zero. Method "socc" looks for lines, method "socc_splines" for smooth
curves.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from orthoselect import select

EFFECTS = {
    "line": lambda x: x,
    "V": lambda x: 2 * np.abs(x),
    "parabola": lambda x: x**2,
    "ramp": lambda x: 2 * np.maximum(x, 0),
}
rng = np.random.default_rng(1)
names = [*EFFECTS, *(f"noise {k}" for k in range(1, 17))]
X = pd.DataFrame(rng.normal(size=(400, len(names))), columns=names)
y = sum(effect(X[name]) for name, effect in EFFECTS.items()) + 2 * rng.normal(size=400)

# %%
# As many as are significant: lines find two of the four, splines all of them, and no noise.

lines = select(X, y, "auto")
print("by lines:", lines.names[: lines.chosen])
path = select(X, y, "auto", method="socc_splines")
print(path)

# %%
# The curves, by a model on the features that were found: splines of scikit-learn and least squares.

chosen = path.names[: path.chosen]
splines = SplineTransformer(5, degree=3, knots="quantile", extrapolation="linear")
model = make_pipeline(splines, LinearRegression()).fit(X[chosen].to_numpy(), y)

figure, axes = plt.subplots(1, len(chosen), figsize=(9, 2.6), sharey=True, layout="constrained")
for place, (ax, name) in enumerate(zip(axes, chosen)):
    grid = np.zeros((100, len(chosen)))
    grid[:, place] = np.linspace(-2.5, 2.5, 100)
    curve = model.predict(grid)
    truth = EFFECTS[name](grid[:, place])
    ax.plot(grid[:, place], truth - truth.mean(), color="#9a9a9a", label="true")
    ax.plot(grid[:, place], curve - curve.mean(), color="#d1495b", label="fitted")
    ax.set_title(f"{place + 1}. {name}", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False, fontsize=8)
plt.show()
