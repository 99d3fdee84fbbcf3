"""
Categorical features
====================

A column of text is one feature: it becomes a block of indicators inside and is selected, or not, as
a whole. Numbers that are really labels have to be named.
"""

import numpy as np
import pandas as pd

from orthoselect import OrthogonalSelector, select

rng = np.random.default_rng(0)
N = 600
trade = rng.choice(["baker", "carpenter", "nurse", "pilot"], N)
district = rng.integers(1, 13, N)  # a number on a map, no quantity
years = rng.gamma(3.0, 4.0, N)
extra = pd.Series(trade).map({"baker": 0, "carpenter": 4, "nurse": 3, "pilot": 21})
by_district = rng.normal(0, 6, 13)[district]

people = pd.DataFrame(
    {
        "trade": trade,
        "district": district,
        "years": years,
        "shoe size": rng.normal(42, 3, N),
        "wage": 20 + extra + 0.4 * years + by_district + rng.normal(0, 3, N),
    }
)

# %%
# Text is categorical by itself; `district` is taken for a quantity and says little as one.

print(select(people, "wage", 3))

# %%
# Named as categorical, it is among the first.

print(select(people, "wage", 3, categorical_features=["district"]))

# %%
# A feature of many levels has many columns to fit with and gains something by chance alone.
# Features are ranked by what they gain beyond that; `chance` is what noise of as many columns would
# gain on average. A column of noise, taken first here, gains about as much as chance; the others
# gain many times as much.

people["noise"] = rng.permutation(district)
path = select(people, "wage", 4, categorical_features=["district", "noise"], include=["noise"])
print(path)

# %%
# Without a number the search stops where nothing gains more than it would by chance. Chance is an
# average, so this is no test: `shoe size` is noise, too, and slips through.

print(select(people, "wage", None, categorical_features=["district", "noise"]))

# %%
# The selector gives columns back as they were, text as text.

selector = OrthogonalSelector(2, task="regression", categorical_features=["district"])
selector.set_output(transform="pandas")
print(selector.fit_transform(people.drop(columns="wage"), people["wage"]).head(3))
