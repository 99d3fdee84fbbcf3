"""The tables, made once and kept: seeded, features that share latent factors, classes they tell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

FACTORS = 30
NOISE = 1.0


@dataclass(frozen=True)
class Shape:
    """A table to be made.

    Attributes
    ----------
    name : str
    kind : {"parquet", "npy"}
    rows, columns, classes : int
    dtype : str
    files : int
        How many Parquet files the rows are cut into.
    row_group : int
        Rows of a row group, or made at a time.
    selected : int
        Features to select.
    """

    name: str
    kind: str
    rows: int
    columns: int
    classes: int
    dtype: str
    files: int
    row_group: int
    selected: int

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers."""
        return self.rows * self.columns * np.dtype(self.dtype).itemsize


SHAPES = (
    Shape("tall", "parquet", 20_000_000, 50, 5, "float64", 20, 125_000, 20),
    Shape("wide", "npy", 200_000, 5_000, 5, "float32", 1, 2_000, 20),
)
QUICK = (
    Shape("tall-quick", "parquet", 400_000, 50, 5, "float64", 4, 25_000, 20),
    Shape("wide-quick", "npy", 20_000, 500, 5, "float32", 1, 2_000, 20),
)


def names(shape: Shape) -> list[str]:
    """Return the names of the features."""
    return [f"f{j}" for j in range(shape.columns)]


def rows(shape: Shape) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the table in pieces of `row_group` rows: features and classes."""
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(FACTORS, shape.columns)) / np.sqrt(FACTORS)
    directions = rng.normal(size=(FACTORS, shape.classes))
    for start in range(0, shape.rows, shape.row_group):
        count = min(shape.row_group, shape.rows - start)
        Z = rng.normal(size=(count, FACTORS))
        y = (Z @ directions + rng.normal(size=(count, shape.classes))).argmax(axis=1)
        X = (Z @ loadings).astype(shape.dtype)
        X += NOISE * rng.standard_normal(X.shape, dtype=shape.dtype)
        yield X, y.astype(np.int8)


def make(shape: Shape, folder: Path) -> Path:
    """Return where the table is, once it has been made; one that is there already is kept."""
    place = folder / shape.name
    done = place / "made.json"
    if done.exists() and json.loads(done.read_text()) == asdict(shape):
        return place
    place.mkdir(parents=True, exist_ok=True)
    done.unlink(missing_ok=True)
    (_write_parquet if shape.kind == "parquet" else _write_npy)(shape, place)
    done.write_text(json.dumps(asdict(shape)))
    return place


def _write_parquet(shape: Shape, place: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for old in place.glob("*.parquet"):
        old.unlink()
    per_file = -(-shape.rows // shape.files)
    writer, written, number = None, 0, 0
    for X, y in rows(shape):
        columns = dict(zip(names(shape), np.ascontiguousarray(X.T)))
        piece = pa.table({**columns, "y": y})
        if writer is None:
            writer = pq.ParquetWriter(place / f"part-{number:03d}.parquet", piece.schema,
                                      use_dictionary=["y"])  # fmt: skip
        writer.write_table(piece, row_group_size=shape.row_group)
        written += len(y)
        if written >= per_file:
            writer.close()
            writer, written, number = None, 0, number + 1
    if writer is not None:
        writer.close()


def _write_npy(shape: Shape, place: Path) -> None:
    X = np.lib.format.open_memmap(
        place / "X.npy", "w+", dtype=shape.dtype, shape=(shape.rows, shape.columns)
    )
    classes, start = [], 0
    for part, y in rows(shape):
        X[start : start + len(part)] = part
        classes.append(y)
        start += len(part)
    X.flush()
    np.save(place / "y.npy", np.concatenate(classes))
