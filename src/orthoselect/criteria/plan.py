"""Which products to take, and how many at a time: a small model of what they cost.

The unit is one more column in a thin product of the whole table, Z'X. In that unit a read of the
table costs `_READ`, whatever it is multiplied with, and the whole Gram matrix `_WHOLE` for each of
its columns (half of them follow by symmetry). The numbers are rough, from trials on one machine
with two cores; `python -m benchmarks products` prints what they are on another. A wrong choice
costs time, never correctness.

N rows and n columns are those of the matrix, `size` is the number of steps planned. A matrix whose
table comes in blocks has `memory`, the bytes that products may take; None if it is in memory.
"""

from __future__ import annotations

from orthoselect.matrix import Matrix
from orthoselect.native import available

_READ = 15.0
# Where the table is not in memory a read may come from a disk or over a network: one pass with all
# products beats several, unless the products are very many. From files in the system's own memory
# it is a tenth of this.
_READ_BLOCKS = 1000.0
_WHOLE, _WHOLE_WITHOUT_KERNELS = 1.3, 0.7  # BLAS takes the whole one, kernels the thin products
# Threads have Gram matrices of their own, which should be small beside X, or small anyway.
_GRAM_MEMORY, _SMALL_GRAM = 40, 250
# On demand, a step takes so many reads and Gram columns, wrong guesses included.
_READS_PER_STEP = 0.15
_COLUMNS_PER_STEP = 2.3
# Kernels take columns by sixes. With fewer rows than columns guesses do not last.
_AHEAD, _AHEAD_OF_MANY = 12, 6
_AHEAD_IN_BLOCKS = 48  # a read is dear, and wrong guesses cheap beside it
# Gram matrices at a time while blocks are added up: threads', sums', those of rounding.
_GRAM_COPIES, _COLUMN_COPIES = 16, 64
_BLOCK_BYTES = 1 << 26  # of Gram columns at a time, of a feature of very many
_NARROW = 64  # columns of a table whose first guesses mostly last
_MANY = 20  # columns for each step planned: too many compete for guesses to last
_FEW_ROWS = 128
# Below so many numbers a read costs less than good guesses.
_SMALL = 2_000_000
# Candidates among which the next winners are looked for. In a sample they cost their square, but
# with many columns few are too few.
LEADERS, _LEADERS_OF_FEW, _FEW = 128, 64, 1024
# Rows of a sample: at least, at most, and one in how many between.
_FEWEST_SAMPLED, _MOST_SAMPLED, _SAMPLED_SHARE = 2048, 8192, 64
_GATHERED = 64  # products that gathering a number is worth: rows of a sample stand far apart
_SAMPLES_IN_A_PASS = 6
_MANY_STEPS = 64  # with more, what samples save in the first few reads is lost among many
# Copies in bytes: the least columns, columns for each row, steps, rows and numbers.
_WIDE, _WIDE_SHARE, _ENOUGH_STEPS, _ENOUGH_ROWS, _BYTES_PAY = 1024, 0.5, 4, 192, 2_000_000
_MOST_RESPONSES = 16
COPY_MEMORY = 0.28  # of the table: what a copy in bytes, and columns taken from it, may take
_FETCHED_TELL = 3 / 8  # as many Gram columns for each leader tell as much as a sample


def whole_gram_pays(matrix: Matrix, size: int) -> bool:
    """Whether to take all n * n inner products at once rather than columns on demand."""
    N, n = matrix.shape
    if matrix.memory is None:
        read, fits = _READ, n <= max(N / _GRAM_MEMORY, _SMALL_GRAM)
    else:
        read, fits = _READ_BLOCKS, 8 * _GRAM_COPIES * n * n <= matrix.memory
    whole = read + (_WHOLE if available() else _WHOLE_WITHOUT_KERNELS) * n
    on_demand = 2 * read + (read * _READS_PER_STEP + _COLUMNS_PER_STEP) * size
    return fits and whole <= on_demand


def double_pays(n: int, size: int) -> bool:
    """Whether to multiply float32 numbers in float64.

    It takes longer, but what follows is exact, and in the end no read is needed to make it so. That
    is worth it where one read with products is all there will be.
    """
    return n <= _NARROW and size <= _AHEAD


def rows_pay(matrix: Matrix, size: int) -> bool:
    """Whether to make each row r = q'X from the real direction q, one thin read for each step.

    With few rows, directions cost next to nothing; with many columns, guesses do not last. Where
    few numbers are stored a read costs less than what follows from Gram columns: k n operations.
    """
    N, n = matrix.shape
    if matrix.memory is not None or n <= _MANY * size:
        return False
    return N <= _FEW_ROWS or (matrix.n_stored <= 2 * n * size and n >= 2 * N)


def bytes_pay(matrix: Matrix, size: int, m: int) -> bool:
    """Whether to copy the columns into bytes, which tell what cannot win in each step.

    The copy is an eighth of a table of float64, and costs about a read to make. A step costs far
    less of a read than by Gram columns, of which with many columns most are guessed in vain; but
    the columns that may win are gathered, and their directions made. So it pays where columns are
    many beside the rows. `m` is the rank of the response.
    """
    N, n = matrix.shape
    if matrix.memory is not None or not available() or m > _MOST_RESPONSES:
        return False
    many = n >= _WIDE_SHARE * N and n >= _WIDE
    if matrix.n_stored > COPY_MEMORY * matrix.nbytes:
        return False
    return many and size >= _ENOUGH_STEPS and N >= _ENOUGH_ROWS and matrix.n_stored > _BYTES_PAY


def columns_ahead(matrix: Matrix, size: int, taken: int) -> int:
    """How many Gram columns to fetch with one read of X: the one needed, and likely ones.

    `taken` is the number of steps made, this one not counted.
    """
    if size - taken <= 2:  # the next step is the last, and nobody needs what follows from it
        return 1
    N, n = matrix.shape
    if matrix.memory is not None:
        return max(1, min(_AHEAD_IN_BLOCKS, matrix.memory // (8 * _COLUMN_COPIES * max(n, 1))))
    return _AHEAD_OF_MANY if n > N else _AHEAD


def block_height(matrix: Matrix) -> int:
    """How many Gram columns of a feature of very many to fetch with one read of X."""
    n = max(matrix.shape[1], 1)
    if matrix.memory is not None:
        return max(1, matrix.memory // (8 * _COLUMN_COPIES * n))
    return max(_NARROW, _BLOCK_BYTES // (8 * n))


def guessing_pays(matrix: Matrix) -> bool:
    """Whether to search ahead for likely winners rather than take those that lead now."""
    N, n = matrix.shape
    return matrix.memory is not None or (matrix.n_stored > _SMALL and n <= N)


def leaders_in_sample(n: int) -> int:
    """How many candidates to compare in a sample of the rows."""
    return _LEADERS_OF_FEW if n <= _FEW else LEADERS


def sampling_pays(matrix: Matrix, size: int, fetched: int) -> bool:
    """Whether to look at a sample of the rows for a guess: it should cost little beside a pass.

    `fetched` is how many Gram columns there are.
    """
    N, n = matrix.shape
    leaders = leaders_in_sample(n)
    if matrix.memory is not None or n > N or size > _MANY_STEPS:
        return False
    if fetched > _FETCHED_TELL * leaders:
        return False
    columns = fetched + leaders
    cost = N / sample_step(N) * columns * (columns / 2 + _GATHERED)
    return _SAMPLES_IN_A_PASS * cost <= N * n * _AHEAD


def sample_step(N: int) -> int:
    """Return the stride k: every k-th row is in the sample."""
    rows = min(max(N // _SAMPLED_SHARE, _FEWEST_SAMPLED), _MOST_SAMPLED)
    return max(1, -(-N // rows))
