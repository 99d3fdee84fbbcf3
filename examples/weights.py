"""
Row weights: a sample that is not the population
================================================

Weights make a row count as so many. Whole numbers are copies; with other numbers only their ratios
matter. Here they undo a sample in which one group of people was asked far too often.
"""

import numpy as np
import pandas as pd

from orthoselect import select

# %%
# In town rent decides whether people move; in the country it is the distance to work. One in five
# lives in town, but four in five of those who were asked.

rng = np.random.default_rng(0)
N = 4000
town = rng.random(N) < 0.8
rent, distance, age = rng.normal(size=(3, N))
wish = np.where(town, rent, distance) + 0.3 * age + 0.5 * rng.normal(size=N)
people = pd.DataFrame({"rent": rent, "distance": distance, "age": age})
moves = np.where(wish > 0.5, "moves", "stays")

print("As they were asked:\n")
print(select(people, moves, 3))

# %%
# What each row stands for: the share of its group in the population over its share in the sample.

weights = np.where(town, 0.2 / town.mean(), 0.8 / (1 - town.mean()))
print("\nAs they live:\n")
print(select(people, moves, 3, sample_weight=weights))

# %%
# A whole number is so many copies of a row, and 0 leaves it out.

w = rng.integers(0, 3, N)
weighted = select(people, moves, 3, sample_weight=w)
copied = select(people.loc[people.index.repeat(w)], np.repeat(moves, w), 3)
print("\nthe same as copies of rows:", np.allclose(weighted.gains, copied.gains))
