"""
Centers of a radial network
===========================

The next value of a series bends with the two before it. Thin plates around a few of the training
rows follow that; each is the row that explains most of what those before it leave. Leaving rows out
says how many: past the smallest error, more centers fit noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from orthoselect import RBFRegressor


def main():
    X, y = series()
    model = RBFRegressor(kernel="thin_plate", patience=15).fit(X[:500], y[:500])
    error = np.mean((model.predict(X[500:]) - y[500:]) ** 2)
    print(f"{model.n_centers_} centers, mean square on test rows {error:.4f} (noise 0.01)")
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.scatter(*X[:500].T, s=6, color="0.7", label="training rows")
    left.scatter(*model.centers_.T, s=30, label="centers")
    left.set(xlabel="y(t-1)", ylabel="y(t-2)")
    left.legend()
    sizes = np.arange(len(model.press_))
    right.semilogy(sizes, model.press_, label="leaving rows out")
    right.semilogy(sizes, model.adjusted_press_, label="each center counted twice")
    right.axvline(model.n_centers_, color="0.7")
    right.set(xlabel="centers", ylabel="share of the variance")
    right.legend()
    plt.show()


def series(n=1000, seed=0):
    """Make the series of Chen, Cowan and Grant (1991)."""
    rng = np.random.default_rng(seed)
    y = np.zeros(n + 2)
    for t in range(2, len(y)):
        a, b = y[t - 1], y[t - 2]
        bend = np.exp(-a * a)
        y[t] = (0.8 - 0.5 * bend) * a - (0.3 + 0.9 * bend) * b + 0.1 * np.sin(np.pi * a)
        y[t] += 0.1 * rng.normal()
    return np.column_stack([y[1:-1], y[:-2]]), y[2:]


if __name__ == "__main__":
    main()
