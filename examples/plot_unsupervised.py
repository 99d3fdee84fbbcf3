"""
No target: the pixels that tell most about all others
=====================================================

Without a column to explain, the features that explain all others best are selected. Pixels of
handwritten digits show what that means: from a few of them the whole image can be guessed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LinearRegression

from orthoselect import select

images = load_digits().data
inked = np.flatnonzero(images.std(axis=0) > 0.5)  # without corners, which hardly ever are
train, test = images[:1400, inked], images[1400:, inked]

# %%
# The path says what share of all pixels is explained, and what as many principal components could
# explain, which is the most that is possible.

path = select(train, None, 15, method="unsupervised")
print(path)

# %%
# Rows that were not used to select: each pixel is rebuilt from the selected ones by least squares.
# Random pixels rebuild less, even the best of fifty choices.


def rebuild(columns):
    """Guess all pixels of the test rows; and what is missed of their squares, mean over pixels."""
    guess = LinearRegression().fit(train[:, columns], train).predict(test[:, columns])
    squares = ((test - train.mean(axis=0)) ** 2).sum(axis=0)
    return guess, (((guess - test) ** 2).sum(axis=0) / squares).mean()


rng = np.random.default_rng(0)
guess, missed = rebuild(path.features)
by_chance = [rebuild(rng.choice(len(inked), 15, replace=False))[1] for _ in range(50)]
print(f"missed with the selected pixels: {missed:.3f}")
print(f"with random ones: {np.mean(by_chance):.3f}, at best {min(by_chance):.3f}")

# %%
# The selected pixels are spread over the image, one for each neighborhood.


def as_image(pixels):
    """Put the pixels back where they belong."""
    whole = np.zeros(64)
    whole[inked] = pixels
    return whole.reshape(8, 8)


figure, axes = plt.subplots(2, 5, figsize=(8, 3.5), layout="constrained")
for column, row in enumerate((0, 3, 8, 22)):
    axes[0, column].imshow(as_image(test[row]), cmap="gray_r", vmin=0, vmax=16)
    axes[1, column].imshow(as_image(guess[row]), cmap="gray_r", vmin=0, vmax=16)
axes[0, 0].set_title("images", loc="left", fontsize=9)
axes[1, 0].set_title("guessed from 15 pixels", loc="left", fontsize=9)
axes[0, 4].imshow(as_image(train.mean(axis=0)), cmap="gray_r", alpha=0.35)
for step, pixel in enumerate(inked[path.features], start=1):
    axes[0, 4].text(pixel % 8, pixel // 8, step, color="#d1495b", ha="center", va="center", size=7)
axes[0, 4].set_title("the pixels, in order", fontsize=9)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
plt.show()
