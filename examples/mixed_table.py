"""
A table of numbers and labels
=============================

Categories, a group of sensors, an identifier and row weights, in one table.

The table holds two years of a made-up bicycle rental. How many bicycles are out depends on the
season, on the weather (three sensors of one station, bought or left together), and on whether it
is a working day. Each row stands for one day or for several like it.

Run with ``python examples/mixed_table.py``; it needs pandas, polars or pyarrow.
"""

import importlib

import numpy as np

from orthoselect import select


def main():
    frame = to_frame(rentals())

    print("Every column for itself; the text columns are read as categories:\n")
    print(select(frame, "rented", 4, task="regression", exclude="bicycle", sample_weight=days()))

    print("\nThe three sensors as one feature, and `workday` taken first:\n")
    path = select(
        frame,
        "rented",
        4,
        task="regression",
        exclude="bicycle",
        include="workday",
        groups={"weather station": ["temperature", "humidity", "wind"]},
        sample_weight=days(),
    )
    print(path)
    print("\nColumns of the table that these are:", path.columns)


def rentals(n_days=730):
    rng = np.random.default_rng(0)
    season = rng.integers(0, 4, n_days)
    temperature = np.array([2.0, 12.0, 22.0, 11.0])[season] + rng.normal(0, 5, n_days)
    humidity = 75 - 0.8 * temperature + rng.normal(0, 8, n_days)
    wind = rng.gamma(2.0, 2.0, n_days)
    workday = rng.random(n_days) < 5 / 7
    event = rng.choice(["none", "fair", "marathon"], n_days, p=[0.9, 0.06, 0.04])
    rented = (
        40
        + 3.0 * temperature
        - 0.5 * humidity
        - 4.0 * wind
        + 25 * workday
        + np.array([0, 30, 5, 15])[season]
        + 60 * (event == "fair")
        + rng.normal(0, 15, n_days)
    )
    return {
        "bicycle": [f"no. {number}" for number in rng.permutation(n_days)],
        "season": np.array(["winter", "spring", "summer", "fall"])[season].tolist(),
        "temperature": temperature,
        "humidity": humidity,
        "wind": wind,
        "workday": workday,
        "event": event.tolist(),
        "rented": rented,
    }


def days(n_days=730):
    return np.random.default_rng(1).integers(1, 4, n_days)


def to_frame(columns):
    """Make a dataframe with whichever library is installed."""
    for library, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        try:
            return getattr(importlib.import_module(library), make)(columns)
        except ImportError:
            continue
    raise SystemExit("this example needs pandas, polars or pyarrow: `pip install pandas`")


if __name__ == "__main__":
    main()
