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


MOTOR = {
    "y(k-1)": 1.7813,
    "y(k-2)": -0.7962,
    "u(k-1)": 0.0339,
    "u(k-2)": 0.0338,
    "y(k-1) u(k-1)": -0.1597,
    "y(k-1) u(k-2)": -0.1396,
    "y(k-2) u(k-1)": 0.1297,
    "y(k-2) u(k-2)": 0.1086,
    "y(k-2)^2": 0.0085,
}


def motor(seed, T=100):
    """A DC motor driven by white noise (Gunawardena, Lang and He, NonSysID, 2024)."""
    u, y = np.random.default_rng(seed).normal(size=T), np.zeros(T)
    for k in range(2, T):
        past = {"y(k-1)": y[k - 1], "y(k-2)": y[k - 2], "u(k-1)": u[k - 1], "u(k-2)": u[k - 2]}
        past["y(k-2)^2"] = y[k - 2] ** 2
        past |= {f"{a} {b}": past[a] * past[b] for a in ("y(k-1)", "y(k-2)") for b in past
                 if b[0] == "u"}  # fmt: skip
        y[k] = sum(c * past[name] for name, c in MOTOR.items())
    return u, y


LORENZ = {"dx": {"x(k)", "y(k)"}, "dy": {"x(k)", "y(k)", "x(k) z(k)"}, "dz": {"z(k)", "x(k) y(k)"}}


def lorenz(seed, T=1000, noise=0.01, step=0.01):
    """States of the Lorenz equations with noise on them, and their differences over time."""
    rng = np.random.default_rng(seed)
    states = np.empty((T + 200, 3))
    states[0] = rng.normal(size=3) + np.array([0.0, 0.0, 25.0])

    def change(s):
        x, y, z = s
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    for k in range(len(states) - 1):  # the method of Runge and Kutta
        s = states[k]
        a = change(s)
        b = change(s + step / 2 * a)
        c = change(s + step / 2 * b)
        states[k + 1] = s + step / 6 * (a + 2 * b + 2 * c + change(s + step * c))
    states = states[200:]
    measured = states + noise * states.std(axis=0) * rng.normal(size=states.shape)
    changes = (measured[2:] - measured[:-2]) / (2 * step)
    return dict(zip("xyz", measured[1:-1].T)), dict(zip(("dx", "dy", "dz"), changes.T))
