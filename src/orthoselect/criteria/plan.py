"""Which products to take, and how many at a time: a small model of what they cost.

The unit is one more column in a thin product of the whole table, Z'X. In that unit a read of the
table costs `_READ`, whatever it is multiplied with, and the whole Gram matrix `_WHOLE` for each of
its columns (half of them follow by symmetry). The numbers are rough, from trials on one machine
with two cores; `python -m benchmarks products` prints what they are on another. A wrong choice
costs time, never correctness.
"""

from __future__ import annotations

from orthoselect.native import available

_READ = 15.0
_WHOLE, _WHOLE_WITHOUT_KERNELS = 1.3, 0.7  # BLAS takes the whole one, kernels the thin products
# Threads have Gram matrices of their own, which should be small beside X, or small anyway.
_GRAM_MEMORY, _SMALL_GRAM = 40, 250
# On demand, a step takes so many reads and Gram columns, wrong guesses included.
_READS_PER_STEP = 0.15
_COLUMNS_PER_STEP = 2.3
# Kernels take columns by sixes. With fewer rows than columns guesses do not last.
_AHEAD, _AHEAD_OF_MANY = 12, 6
_MANY = 20  # columns for each step planned: too many compete for guesses to last
_FEW_ROWS = 128
# Below so many numbers a read costs less than good guesses.
_SMALL = 2_000_000


def whole_gram_pays(shape: tuple[int, int], size: int) -> bool:
    """Whether to take all n * n inner products at once rather than columns on demand.

    Parameters
    ----------
    shape : tuple of int
        Rows N and columns n.
    size : int
        Steps planned.
    """
    N, n = shape
    if n > max(N / _GRAM_MEMORY, _SMALL_GRAM):
        return False
    whole = _READ + (_WHOLE if available() else _WHOLE_WITHOUT_KERNELS) * n
    on_demand = 2 * _READ + (_READ * _READS_PER_STEP + _COLUMNS_PER_STEP) * size
    return whole <= on_demand


def rows_pay(shape: tuple[int, int], size: int) -> bool:
    """Whether to make each row r = q'X from the real direction q, one thin read for each step.

    With few rows, directions cost next to nothing; with many columns, guesses do not last.
    """
    N, n = shape
    return N <= _FEW_ROWS and n > _MANY * size


def columns_ahead(shape: tuple[int, int], size: int, taken: int) -> int:
    """How many Gram columns to fetch with one read of X: the one needed, and likely ones.

    Parameters
    ----------
    shape : tuple of int
        Rows N and columns n.
    size : int
        Steps planned.
    taken : int
        Steps made, this one not counted.
    """
    if size - taken <= 2:  # the next step is the last, and nobody needs what follows from it
        return 1
    N, n = shape
    return _AHEAD_OF_MANY if n > N else _AHEAD


def guessing_pays(shape: tuple[int, int], n_stored: int) -> bool:
    """Whether to search ahead for likely winners rather than take those that lead now.

    Parameters
    ----------
    shape : tuple of int
        Rows N and columns n.
    n_stored : int
        Numbers that a read of the table touches.
    """
    N, n = shape
    return n_stored > _SMALL and n <= N
