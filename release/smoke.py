"""Try an installed orthoselect: `python -P release/smoke.py`, wherever the sources are not found.

With `--kernels` it has to have compiled kernels, with `--no-kernels` none, as the wheel of pure
Python. With `--no-dependencies` only the kernels are tried, and NumPy is all they need.
"""

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np


def load_kernels():
    """Return the module of kernels without the package around it, or None if there is none."""
    spec = importlib.util.find_spec("orthoselect")
    assert spec is not None, "orthoselect is not installed"
    files = [
        *Path(spec.submodule_search_locations[0]).glob("_native*.so"),
        *Path(spec.submodule_search_locations[0]).glob("_native*.pyd"),
    ]
    if not files:
        return None
    spec = importlib.util.spec_from_file_location("_native", files[0])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def holds_global_lock() -> bool:
    """Whether Python has its global lock, as all but free-threaded builds do."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()


def try_kernels() -> None:
    """Compare some kernels with NumPy."""
    before = holds_global_lock()
    kernels = load_kernels()
    assert kernels is not None, "there are no compiled kernels in this installation"
    assert holds_global_lock() == before, "loading the kernels brought the global lock back"
    rng = np.random.default_rng(0)
    for dtype in (np.float64, np.float32):
        B, Z = rng.standard_normal((301, 37)).astype(dtype), rng.standard_normal((301, 5))
        products, squares = np.zeros((5, 37)), np.zeros(37)
        kernels.cross(Z, B.astype(float), products, squares)
        np.testing.assert_allclose(products, Z.T @ B.astype(float), atol=1e-10)
        J = np.array([3, 0, 36], dtype=np.int64)
        grams = np.zeros((3, 3))
        kernels.inner_products(B, J, None, None, None, grams)
        A = B[:, J].astype(float)
        np.testing.assert_allclose(grams, A.T @ A, atol=1e-10)
        codes, sums = rng.integers(0, 3, 301).astype(np.uint8), np.zeros((3, 37))
        kernels.class_sums(B, codes, None, sums, np.zeros(37))
        by_class = [B[codes == k].sum(axis=0, dtype=float) for k in range(3)]
        np.testing.assert_allclose(sums, by_class, atol=1e-10)


def try_selection() -> None:
    """Select from a table; the total of three features is R squared of least squares on them."""
    from sklearn.datasets import load_breast_cancer

    import orthoselect

    table = load_breast_cancer()
    path = orthoselect.select(table.data, table.target, 3)
    A = np.column_stack([np.ones(len(table.target)), table.data[:, path.features]])
    left = table.target - A @ np.linalg.lstsq(A, table.target, rcond=None)[0]
    squared = 1 - left @ left / np.sum((table.target - table.target.mean()) ** 2)
    np.testing.assert_allclose(path.total, squared, rtol=1e-9)
    selector = orthoselect.OrthogonalSelector(3).fit(table.data, table.target)
    assert selector.get_support(indices=True).tolist() == sorted(path.features)


def try_command() -> None:
    """Run the command in a process of its own."""
    command = [sys.executable, "-P", "-m", "orthoselect"]
    select = ["select", "breast_cancer", "-k", "2", "--format", "csv", "--quiet"]
    table = subprocess.run([*command, *select], check=True, capture_output=True, text=True).stdout
    assert table.splitlines()[0].startswith("step,feature,name,gain"), table
    assert len(table.splitlines()) == 3, table


def main() -> None:
    """Try what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", action="store_true", help="there have to be kernels")
    parser.add_argument("--no-kernels", action="store_true", help="there must be none")
    parser.add_argument("--no-dependencies", action="store_true", help="try kernels alone")
    asked = parser.parse_args()
    if asked.kernels:
        try_kernels()
    if asked.no_dependencies:
        return
    import orthoselect
    from orthoselect import native

    assert not asked.kernels or native.available(), "the package does not use its kernels"
    assert not asked.no_kernels or not native.available(), "there are kernels in this installation"
    try_selection()
    try_command()
    kernels = "with" if native.available() else "without"
    print(f"orthoselect {orthoselect.__version__} works, {kernels} kernels: {orthoselect.__file__}")


if __name__ == "__main__":
    main()
