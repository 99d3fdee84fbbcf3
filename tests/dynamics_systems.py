"""Systems whose terms are known."""

import numpy as np


def simple(T=600, seed=0, noise=0.01):
    """y(k) = 0.5 y(k-1) + u(k-1) - 0.2 u(k) y(k-2) + noise; returns u and y."""
    rng = np.random.default_rng(seed)
    u, y = rng.normal(size=T), np.zeros(T)
    for k in range(2, T):
        y[k] = 0.5 * y[k - 1] + u[k - 1] - 0.2 * u[k] * y[k - 2] + noise * rng.normal()
    return u, y


SIMPLE = {"y(k-1)", "u(k-1)", "y(k-2) u(k)"}


def colored(T=1000, seed=0, noise=0.4):
    """The system of the NARMAX example; least squares is biased by its noise."""
    rng = np.random.default_rng(seed)
    u, e, y = rng.normal(size=T), noise * rng.normal(size=T), np.zeros(T)
    for k in range(2, T):
        y[k] = 0.2 * y[k - 1] + 0.1 * y[k - 1] * u[k - 1] + 0.9 * u[k - 2] + 0.8 * e[k - 1] + e[k]
    return u, y


COLORED = ("y(k-1)", "y(k-1) u(k-1)", "u(k-2)")


def tank(T=4000, seed=0, step=0.002):
    """A slow tank, sampled much too fast."""
    rng = np.random.default_rng(seed)
    u, y = np.repeat(rng.random(T // 100 + 1), 100)[:T], np.ones(T)
    for k in range(1, T):
        y[k] = y[k - 1] + step * (u[k - 1] - 0.5 * y[k - 1] ** 2) + 1e-7 * rng.normal()
    return u, y
