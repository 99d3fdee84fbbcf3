"""
Channels of series
==================

Five sensors record a machine. One shakes more when a bearing is worn, one drifts when oil is low,
one repeats the first, two are noise. Channels are selected whole, each given those before it: the
copy is left out, whatever it is worth alone.
"""

import matplotlib.pyplot as plt
import numpy as np

from orthoselect import ChannelSelector

NAMES = ["shake", "noise 1", "drift", "shake again", "noise 2"]


def main():
    X, y = record()
    selector = ChannelSelector(channel_names=NAMES).fit(X, y)
    print(selector.path_)
    print("selected:", [NAMES[c] for c in selector.channels_selected_])
    print("shape:", selector.transform(X).shape)
    draw(X, y, selector)


def draw(X, y, selector):
    """Show a machine of each kind: the chosen channels are drawn in blue."""
    kinds = ["well", "worn", "dry"]
    _, axes = plt.subplots(1, len(kinds), figsize=(9, 4), sharey=True, layout="constrained")
    for place, kind in zip(axes, kinds):
        case = X[np.flatnonzero(y == kind)[0]]
        for c, series in enumerate(case):
            color = "C0" if c in selector.channels_selected_ else "0.75"
            place.plot((series - X[:, c].mean()) / X[:, c].std() - 8 * c, color=color)
        place.set(title=kind, xlabel="time")
        place.set_yticks([-8 * c for c in range(len(NAMES))], NAMES)
    plt.show()


def record(cases=90, times=50, seed=0):
    """Make series of machines that are well, have a worn bearing, or little oil."""
    rng = np.random.default_rng(seed)
    y = np.array(["well", "worn", "dry"])[np.arange(cases) % 3]
    X = rng.normal(size=(cases, 5, times))
    X[:, 0] *= np.where(y == "worn", 1.6, 1.0)[:, None]
    X[:, 2] += np.outer(y == "dry", np.linspace(-1, 1, times))
    X[:, 3] = 3.0 * X[:, 0] + 5.0
    return X, y


if __name__ == "__main__":
    main()
