"""
Groups: sensors that come with several columns
==============================================

Columns that are bought, measured or coded together can be selected together. Here each row of an
image of a digit is one sensor of eight pixels. Which rows have to be scanned?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from orthoselect import select

X, y = load_digits(return_X_y=True)
rows = {f"row {r}": list(range(8 * r, 8 * r + 8)) for r in range(8)}

# %%
# A group counts as one feature, and its gain is that of all its columns. `path.columns` has them.

path = select(X, y, 8, groups=rows)
print(path)
print("\nColumns of the first sensor:", path[0].columns)

# %%
# Single pixels for comparison. Chosen freely, as many columns explain more, but it takes a scan of
# nearly every row to have them.

pixels = select(X, y, 40)
for count in (8, 16, 24):
    scanned = {pixel // 8 for pixel in pixels.features[:count]}
    print(
        f"{count} columns: {path[count // 8 - 1].total:.2f} from {count // 8} rows, "
        f"{pixels[count - 1].total:.2f} from pixels in {len(scanned)} rows"
    )

# %%
# The image, a digit in outline, with each row shaded by what it added when it was chosen.

gains = np.zeros((8, 8))
for step in path:
    gains[step.columns[0] // 8] = step.gain
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
shades = ax.imshow(gains, cmap="Reds", vmin=0)
ax.contour(X[y == 3].mean(axis=0).reshape(8, 8), levels=[6], colors="#1b2a41", linewidths=2)
for number, step in enumerate(path, start=1):
    ax.text(-0.8, step.columns[0] // 8, f"no. {number}", ha="right", va="center")
ax.set(xticks=[], yticks=[])
figure.colorbar(shades, label="gain")
plt.show()
