"""Parquet, Feather and Arrow files, with the types that other libraries write."""

from decimal import Decimal

import numpy as np
import pytest

from orthoselect import select
from orthoselect.errors import InputError
from orthoselect.read import read_source

pa = pytest.importorskip("pyarrow")
N = 40


@pytest.fixture
def read(tmp_path):
    def read(columns):
        table = pa.table(columns)
        with pa.ipc.new_file(str(tmp_path / "t.arrow"), table.schema) as writer:
            writer.write_table(table)
        return read_source(tmp_path / "t.arrow")

    return read


@pytest.fixture
def y(rng):
    return rng.integers(0, 2, N)


def coded(y, kind):
    return pa.array([f"v{value}" for value in y], kind)


KINDS = {
    "text": lambda y: coded(y, pa.string()),
    "large text": lambda y: coded(y, pa.large_string()),
    "categories": lambda y: coded(y, pa.string()).dictionary_encode(),
    "categories of numbers": lambda y: pa.array(y).dictionary_encode(),
    "booleans": lambda y: pa.array(y.astype(bool)),
    "bytes": lambda y: pa.array(y.astype(np.uint8)),
    "single precision": lambda y: pa.array(y.astype(np.float32)),
    "half precision": lambda y: pa.array(y.astype(np.float16)),
    "decimals": lambda y: pa.array([Decimal(int(v)) for v in y], pa.decimal128(10, 2)),
    "long decimals": lambda y: pa.array([Decimal(int(v)) for v in y], pa.decimal256(50, 2)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_any_kind_are_features_and_targets(read, y, rng, kind):
    found = read({"a": KINDS[kind](y), "noise": rng.normal(size=N), "y": y})
    assert select(found, "y", 1).names == ["a"]
    assert select(found, "a", 1).names == ["y"]


def test_table_without_rows(read):
    with pytest.raises(InputError, match=r"`t\.arrow` should hold rows; it has none"):
        read({"a": pa.array([], pa.int64())})


def test_decimals_are_numbers(read):
    found = read({"a": pa.array([Decimal("1.25"), None])})
    assert found.data["a"].type == pa.float64()
    assert found.data["a"].to_pylist() == [1.25, None]


def test_categories_stay_categories(read, y):
    found = read({"a": KINDS["categories"](y)})
    assert pa.types.is_dictionary(found.data["a"].type)


def test_gaps_in_half_precision_stay(read):
    column = pa.array(np.array([1.5, 2.5], np.float16), mask=np.array([False, True]))
    assert read({"a": column}).data["a"].to_pylist() == [1.5, None]


def test_extension_types_are_their_storage(read):
    class Meters(pa.ExtensionType):
        def __init__(self):
            super().__init__(pa.float64(), "orthoselect.test.meters")

        def __arrow_ext_serialize__(self):
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage, serialized):
            return cls()

    pa.register_extension_type(Meters())
    try:
        column = pa.ExtensionArray.from_storage(Meters(), pa.array([1.5, 2.5]))
        assert read({"a": column}).data["a"].type == pa.float64()
    finally:
        pa.unregister_extension_type("orthoselect.test.meters")


def test_runs_are_decoded(read):
    kind = pa.run_end_encoded(pa.int32(), pa.float64())
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], [1.0, 2.0], kind)
    assert read({"a": runs}).data["a"].to_pylist() == [1.0, 1.0, 2.0]


def test_stream_in_an_arrow_file(tmp_path):
    table = pa.table({"a": [1, 2]})
    with pa.ipc.new_stream(str(tmp_path / "t.arrow"), table.schema) as writer:
        writer.write_table(table)
    assert read_source(tmp_path / "t.arrow").data.equals(table)


def views_are_known():
    """Old versions of pyarrow cannot read the text that polars writes to Arrow files."""
    try:
        return len(pa.array(["x"], pa.string_view()).cast(pa.string())) == 1
    except (AttributeError, NotImplementedError):
        return False


@pytest.mark.parametrize("write", ["write_parquet", "write_ipc"])
def test_files_of_polars(tmp_path, y, rng, write):
    pl = pytest.importorskip("polars")
    labels = pl.Series([f"v{value}" for value in y])
    columns = {"text": labels, "kinds": labels.cast(pl.Categorical), "b": rng.normal(size=N)}
    path = tmp_path / ("t.parquet" if write == "write_parquet" else "t.arrow")
    getattr(pl.DataFrame({**columns, "y": y}), write)(path)
    if write == "write_ipc" and not views_are_known():
        with pytest.raises(InputError, match="needs a pyarrow newer than"):
            read_source(path)
        return
    assert select(path, "y", 1, exclude=["text"]).names == ["kinds"]
    assert select(path, "y", 1, exclude=["kinds"]).names == ["text"]


def test_columns_of_one_name(tmp_path):
    table = pa.table([[1, 2], [3, 4]], names=["a", "a"])
    with pa.ipc.new_file(str(tmp_path / "t.arrow"), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match=r"`t\.arrow`.*`a` occurs more than once"):
        read_source(tmp_path / "t.arrow")
