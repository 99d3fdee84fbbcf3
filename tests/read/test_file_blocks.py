"""Files in blocks of rows give what the same files give in memory."""

import gzip
import os
import warnings

import numpy as np
import pytest

from orthoselect import RowBlocks, select
from orthoselect.errors import InputError, LeftOutWarning, LooksNumericWarning, ReadAsNumbersWarning
from orthoselect.read import (
    Dataset,
    FileBlocks,
    drop_missing,
    open_source,
    read_source,
    read_table,
    sift,
    text_files,
)

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

N = 240
CODED = pa.dictionary(pa.int8(), pa.string())


def table(n=N, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    kind = rng.choice(["red", "green", "blue"], n)
    return pa.table(
        {
            "a": X[:, 0],
            "b": X[:, 1] * 1e-6 + 1e3,
            "c": rng.integers(0, 9, n),
            "kind": kind,
            "flag": X[:, 2] > 0,
            "w": rng.integers(1, 4, n),
            "y": np.where(X[:, 1] + (kind == "red") + rng.normal(size=n) > 0.3, "yes", "no"),
        }
    )


def write(data, path):
    if path.suffix == ".parquet":
        parquet.write_table(data, path, row_group_size=50)
    elif path.suffix == ".csv":
        csv.write_csv(data, path)
    elif path.suffix == ".tsv":
        csv.write_csv(data, path, csv.WriteOptions(delimiter="\t"))
    else:
        feather.write_feather(data, path, chunksize=70)
    return path


def same(path, expected):
    assert path.names == expected.names
    assert path.columns == expected.columns
    assert path.gains == pytest.approx(expected.gains, abs=1e-9)
    assert path.n_candidates == expected.n_candidates


def whole(source):
    """Return all rows of a source."""
    return pa.concat_tables(source.blocks(None))


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ".csv", ".tsv"])
@pytest.mark.parametrize("options", [{}, {"sample_weight": "w"}, {"method": "jmi"}])
def test_every_format_selects_as_in_memory(tmp_path, suffix, options):
    file = write(table(), tmp_path / f"t{suffix}")
    same(
        select(FileBlocks(file, block_rows=37), "y", 4, **options), select(file, "y", 4, **options)
    )


@pytest.mark.parametrize("block_rows", [1, 7, 100_000])
def test_blocks_of_any_size_hold_the_rows_in_their_order(tmp_path, block_rows):
    file = write(table(), tmp_path / "t.parquet")
    source = FileBlocks(file, block_rows=block_rows)
    assert whole(source).equals(table())
    sizes = [block.num_rows for block in source.blocks([2, 0])]
    assert sizes[:-1] == [block_rows] * (len(sizes) - 1)
    assert next(source.blocks([2, 0])).column_names == ["c", "a"]


def test_folder_pattern_and_list_are_one_table(tmp_path):
    rows = table()
    for at in range(3):
        write(rows.slice(80 * at, 80), tmp_path / f"part-{at}.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden.parquet").write_text("no table")
    expected = select(rows, "y", 4)
    files = sorted(tmp_path.glob("part*"))
    for source in (tmp_path, tmp_path / "part-*.parquet", str(tmp_path / "part-?.*"), files):
        same(select(source, "y", 4), expected)
        same(select(FileBlocks(source, block_rows=33), "y", 4), expected)
    assert whole(FileBlocks(files[::-1]))["a"][0] == rows["a"][160], "a list keeps its order"
    assert read_table(tmp_path).name == tmp_path.name
    assert read_table(files).name == "part-0.parquet and 2 more"


@pytest.mark.parametrize("target", ["y", "year", "place"])
def test_hive_partitions_are_columns(tmp_path, target):
    rows, parts = table(), []
    for at, (year, place) in enumerate([(2023, "up%20town"), (2024, "up%20town"), (2024, "by")]):
        folder = tmp_path / f"year={year}" / f"place={place}"
        folder.mkdir(parents=True)
        part = rows.slice(80 * at, 80)
        write(part, folder / "0.parquet")
        names = pa.array([place.replace("%20", " ")] * 80)
        years = pa.array([year] * 80)
        parts.append((folder, part.append_column("year", years).append_column("place", names)))
    expected = pa.concat_tables([part for _, part in sorted(parts, key=lambda p: p[0])])
    source = FileBlocks(tmp_path, block_rows=50)
    assert source.names == [*rows.column_names, "year", "place"]
    assert whole(source)["year"].to_pylist() == expected["year"].to_pylist()
    same(select(source, target, 4), select(expected, target, 4))
    same(select(tmp_path, target, 4), select(expected, target, 4))
    by_pattern = FileBlocks(tmp_path / "year=20*" / "place=*" / "?.parquet", block_rows=50)
    assert by_pattern.names == source.names
    assert whole(by_pattern).equals(whole(source))
    assert [b.num_rows for b in source.blocks([source.names.index("year")])] == [50] * 4 + [40]


def test_categories_and_float32_are_as_in_memory(tmp_path):
    rows = table()
    rows = rows.set_column(3, "kind", rows["kind"].dictionary_encode())
    rows = rows.set_column(0, "a", rows["a"].cast(pa.float32()))
    for name in ("t.parquet", "t.feather"):
        source = FileBlocks(write(rows, tmp_path / name), block_rows=31)
        same(select(source, "y", 5), select(rows, "y", 5))
        same(select(source, "kind", 3, exclude=["y"]), select(rows, "kind", 3, exclude=["y"]))


def test_a_target_may_stand_apart(tmp_path):
    rows = table()
    source = FileBlocks(write(rows.drop_columns(["y"]), tmp_path / "t.parquet"), block_rows=31)
    y = rows["y"].to_pylist()
    same(select(source, y, 3), select(rows.drop_columns(["y"]), y, 3))


def test_large_row_groups_are_cut_and_small_ones_joined(tmp_path):
    rows = table()
    for size in (5, 10_000):
        parquet.write_table(rows, tmp_path / "t.parquet", row_group_size=size)
        blocks = list(FileBlocks(tmp_path / "t.parquet", block_rows=100).blocks(None))
        assert [block.num_rows for block in blocks] == [100, 100, 40]


def test_unusual_types_are_read_as_in_memory(tmp_path):
    numbers = [0.5, 1.5, None, 2.5] * 5
    rows = pa.table(
        {
            "half": pa.array(np.arange(20, dtype=np.float16)),
            "decimal": pa.array(numbers).cast(pa.decimal128(5, 2)),
            "long": pa.array(["x", "y"] * 10, pa.large_string()),
            "runs": pa.RunEndEncodedArray.from_arrays([15, 20], [1.5, 2.5]),
        }
    )
    file = tmp_path / "t.arrow"
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)
    expected = read_source(file).data
    found = FileBlocks(file, block_rows=6)
    assert found.schema == expected.schema
    assert whole(found).to_pydict() == expected.to_pydict()


# Several files


def two(tmp_path, one, other, suffix=".parquet"):
    tables = {"1": pa.table(one), "2": pa.table(other)}
    return [write(data, tmp_path / f"{name}{suffix}") for name, data in tables.items()]


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".csv"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_missing_column_names_both_files(tmp_path, suffix, order):
    files = two(tmp_path, {"a": [1.5], "b": [2.5]}, {"a": [1.5]}, suffix)
    with pytest.raises(InputError, match=r"1\.\w+` has `b`, `.*2\.\w+` has not"):
        FileBlocks(files[::order])


def test_unlike_types_name_both_files_and_the_column(tmp_path):
    files = two(tmp_path, {"a": [1.5]}, {"a": ["x"]})
    with pytest.raises(InputError, match=r"`a` is double in `.*1\.parquet` and string in `.*2"):
        select(files, "a")


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        (pa.int8(), pa.int32(), pa.int32()),
        (pa.uint8(), pa.int8(), pa.int16()),
        (pa.int64(), pa.float64(), pa.float64()),
        (pa.float32(), pa.float64(), pa.float64()),
        (pa.null(), pa.float32(), pa.float32()),
        (pa.string(), pa.dictionary(pa.int8(), pa.string()), pa.string()),
        (
            pa.dictionary(pa.int8(), pa.string()),
            pa.dictionary(pa.int32(), pa.string()),
            pa.string(),
        ),
    ],
)
def test_types_that_hold_the_same_values_are_joined(tmp_path, one, other, joined):
    values = {kind: ["1", "2"] if "string" in str(kind) else [1, 2] for kind in (one, other)}
    values[pa.null()] = [None, None]
    files = two(
        tmp_path,
        {"a": pa.array(values[one], one)},
        {"a": pa.array(values[other], other)},
        ".feather",
    )
    read = whole(FileBlocks(files))
    assert read["a"].type == joined
    assert read["a"].to_pylist() == [*values[one], *values[other]]


def test_columns_in_another_order_are_the_same_columns(tmp_path):
    files = two(tmp_path, {"a": [1, 2], "b": [3, 4]}, {"b": [5], "a": [6]})
    assert whole(FileBlocks(files)).to_pydict() == {"a": [1, 2, 6], "b": [3, 4, 5]}


def test_files_of_unlike_formats_and_files_named_twice_are_refused(tmp_path):
    one, other = write(table(), tmp_path / "1.parquet"), write(table(), tmp_path / "2.csv")
    with pytest.raises(InputError, match=r"1\.parquet` is parquet, `.*2\.csv` is csv"):
        select(tmp_path, "y")
    with pytest.raises(InputError, match=r"1\.parquet` is named more than once"):
        select([one, one], "y")
    with pytest.raises(InputError, match="should match files; it matches none"):
        select(tmp_path / "*.feather", "y")
    other.unlink()
    one.unlink()
    with pytest.raises(InputError, match="should hold tables"):
        select(tmp_path, "y")


def test_files_without_rows_add_none_and_none_at_all_is_an_error(tmp_path):
    write(table().slice(0, 0), tmp_path / "1.parquet")
    with pytest.raises(InputError, match="should hold rows"):
        select(tmp_path / "*.parquet", "y")
    with pytest.raises(InputError, match="should be blocks with rows"):
        select(FileBlocks(tmp_path), "y")
    write(table(), tmp_path / "2.parquet")
    same(select(FileBlocks(tmp_path, block_rows=50), "y", 3), select(table(), "y", 3))
    with pytest.raises(InputError, match="`block_rows` should be a whole number above 0; got 0"):
        FileBlocks(tmp_path, block_rows=0)


@pytest.mark.parametrize("memory", ["1 kB", "1 GB"])
def test_a_text_file_with_a_header_only_adds_no_rows(tmp_path, memory):
    header = ",".join(table().column_names)
    for name in ("0.csv", "2.csv"):
        (tmp_path / name).write_text(header + "\n")
    with pytest.raises(InputError, match="rows"):
        select(tmp_path, "y", memory=memory)
    write(table(), tmp_path / "1.csv")
    same(select(tmp_path, "y", 3, memory=memory), select(table(), "y", 3))


def test_missing_numbers_found_before_the_first_pass_say_so(tmp_path):
    for year in ("2023", "__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / f"year={year}").mkdir()
        write(table(), tmp_path / f"year={year}" / "0.parquet")
    with pytest.raises(InputError, match=r"`year` \(300 missing of 600\)|`year` \("):
        select(tmp_path, "y", 3, memory="1 kB")


# Files that change


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".csv"])
def test_a_file_that_changes_or_vanishes_between_passes_is_named(tmp_path, suffix):
    file = write(table(), tmp_path / f"t{suffix}")
    source = FileBlocks(file, block_rows=50)
    whole(source)
    os.utime(file, (1, 1))
    with pytest.raises(InputError, match=rf"t{suffix}` should stay as it is .* it was written to"):
        whole(source)
    write(table(100), file)
    with pytest.raises(InputError, match="bytes and has"):
        whole(source)
    file.unlink()
    with pytest.raises(InputError, match=rf"t{suffix}` should stay as it is .* it has vanished"):
        whole(source)


def test_a_file_that_changes_during_a_selection_ends_it(tmp_path):
    files = [write(table(seed=seed), tmp_path / f"{seed}.parquet") for seed in (1, 2)]

    def touch(passes, count):
        if passes == 2:
            os.utime(files[1], (1, 1))

    source = FileBlocks(tmp_path, block_rows=60, progress=touch)
    with pytest.raises(InputError, match=r"2\.parquet` should stay as it is"):
        select(source, "y", 3)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_damaged_file_is_named(tmp_path, suffix):
    file = write(table(), tmp_path / f"t{suffix}")
    stored = bytearray(file.read_bytes())
    file.write_bytes(stored[: len(stored) // 2])
    with pytest.raises(InputError, match=rf"t{suffix}` should be a whole"):
        FileBlocks(file)
    middle = len(stored) // 3
    stored[middle : middle + 400] = b"\xff" * 400
    file.write_bytes(stored)
    with pytest.raises(InputError, match=rf"t{suffix}` should be a whole"):
        whole(FileBlocks(file))


# What is missing, and what is no feature


def gappy():
    rows = table()
    gap = pa.array([None if at == 130 else float(at) for at in range(N)])
    nan = pa.array([np.nan if at == 7 else float(at % 11) for at in range(N)])
    y = pa.array([None if at == 200 else value for at, value in enumerate(rows["y"].to_pylist())])
    rows = rows.append_column("gap", gap).append_column("nan", nan)
    return rows.set_column(rows.column_names.index("y"), "y", y)


def test_missing_values_name_column_and_block(tmp_path):
    rows = gappy()
    source = FileBlocks(write(rows, tmp_path / "t.parquet"), block_rows=50)
    with pytest.raises(InputError, match=r"block 2 .*`gap` \(1 missing"):
        select(source, "c", 3, exclude=["y", "nan"])
    with pytest.raises(InputError, match=r"block 4 .*`y` \(the target, 1 missing"):
        select(source, "y", 3, exclude=["gap", "nan"])


@pytest.mark.parametrize("how", ["drop-rows", "drop-columns"])
def test_missing_values_are_dropped_as_in_memory(tmp_path, how):
    file = write(gappy(), tmp_path / "t.parquet")
    in_memory, in_blocks = read_table(file), read_table(file, memory=1000)
    assert in_blocks.in_blocks
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        expected = drop_missing(in_memory, how, "y", weights="w")
        found = drop_missing(in_blocks, how, "y", weights="w")
    assert str(caught[0].message) == str(caught[len(caught) // 2].message)
    assert found.left_out == expected.left_out
    assert found.n_rows == expected.n_rows
    same(select(found, "y", 4), select(expected, "y", 4))
    with pytest.raises(InputError) as one, warnings.catch_warnings():
        drop_missing(in_memory, "error", "y")
    with pytest.raises(InputError) as other:
        drop_missing(in_blocks, "error", "y")
    assert str(one.value) == str(other.value)


def odd_columns(n=1500):
    rng = np.random.default_rng(0)
    late = [f"v{at}" for at in range(n - 1)] + ["v0"]  # distinct up to the last row
    return pa.table(
        {
            "a": rng.normal(size=n),
            "id": [f"id{at}" for at in range(n)],
            "late": late,
            "day": [f"2024-01-{1 + at % 28:02}" for at in range(n)],
            "stamp": pa.array(np.arange(n), pa.timestamp("s")),
            "price": [f"${at % 70},000" if at % 3 else "-" for at in range(n)],
            "turns": ["1,5"] * 900 + ["word"] * (n - 900),
            "nothing": pa.nulls(n, pa.float64()),
            "none": pa.nulls(n),
            "list": pa.array([[at] for at in range(n)]),
            "bytes": pa.array([b"x"] * n),
            "rarely": pa.array([None] * (n - 1) + ["x"]),
            "numbers": [f"{at}%" for at in range(n)],
            "__index_level_0__": np.arange(n),
            "y": rng.choice(["p", "q"], n),
        }
    )


@pytest.mark.parametrize("block_rows", [13, 999, 100_000])
def test_the_same_columns_are_sifted_as_in_memory(tmp_path, block_rows):
    file = tmp_path / "t.parquet"
    parquet.write_table(odd_columns(), file, row_group_size=400)
    in_memory = read_source(file)
    told = []
    in_blocks = Dataset(FileBlocks(file, block_rows=block_rows), in_memory.names)
    for dataset in (in_memory, in_blocks):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            left_out = sift(open_source(dataset), targets=["y"]).left_out
        told.append((dict(left_out), [str(warning.message) for warning in caught]))
        kinds = [LooksNumericWarning, ReadAsNumbersWarning, LeftOutWarning]
        assert [w.category for w in caught] == kinds
    assert told[0] == told[1]
    assert set(told[0][0]) >= {"id", "late", "day", "stamp", "nothing", "none", "list", "bytes"}


def test_a_target_that_is_none_is_told_as_in_memory(tmp_path):
    file = tmp_path / "t.parquet"
    parquet.write_table(odd_columns(), file)
    for memory in (None, 1000):
        with pytest.raises(InputError, match=r"`id` holds none of these \(identifier"):
            select(file, "id", memory=memory)


# CSV


@pytest.fixture
def small_pieces(monkeypatch):
    """Let the first pass over a text file see few rows at a time."""
    monkeypatch.setattr(text_files, "_PIECE", 64)
    monkeypatch.setattr(text_files, "_WINDOW", 64)


TEXTS = {
    "types that widen": "a,b,c\n" + "1,2,x\n" * 20 + "1.5,NA,7\n" * 20 + "2,4,\n" * 20,
    "numbers then text": "a,b\n" + "007,1\n" * 30 + "x,2\n" + "008,3\n" * 30,
    "bits and truth": "a,b,c\n" + "0,1,1\n" * 30 + "true,0,1\n" + "1,1,false\n2,1,0\n" * 9,
    "bits and no truth": "a,b\n" + "2,1\n" * 30 + "true,0\n" * 30,
    "quoted newlines": "a,b\n" + '"one\ntwo, ""three""",1\nplain,2\n' * 30,
    "blanks": "a , b,c\n" + "1,x ,3\n" * 20 + " 2, x, 4 \n" * 20 + "3 ,NA, NA\n" * 20,
    "decimal commas": "a;b\n" + "1,5;x\n" * 30,
    "late decimal commas": "a;b\n" + "1;x.5\n" * 30 + "1,5;y\n" * 30,
    "dates": "a,b,c\n" + "2024-01-31,1,12:30\n" * 30 + "2024-01-31 12:00:00,2,x\n" * 3,
    "nothing": "a,b\n" + ",1\n" * 60,
    "carriage returns": "a,b\r" + "1,2\r" * 60,
    "empty lines": "\n\na,b\r\n" + "1,2\r\n\r\n" * 30,
    "no newline at the end": "a,b\n" + "1,2\n" * 40 + "3,4",
    "one column": "a\n" + "1\n" * 40,
    "no names": ",b\n" + "1,2\n" * 40,
    "byte order mark": "\ufeffa,b\n" + "ä,2\n" * 40,
    "quotes within": "a,b\n" + '5" pipe 6",2\n' * 40,
    "a header longer than a look": ",".join(f"column {j}" for j in range(30_000))
    + "\n"
    + ",".join("1" for _ in range(30_000))
    + "\n",
}
LONG_TEXTS = TEXTS | {
    "fractions, then whole numbers": "a,b\n"
    + "1.5,x\n" * 30
    + "007,y\n-0,z\n9007199254740993,z\n" * 9,
    "hexadecimal among fractions": "a,b\n" + "1.5,x\n" * 30 + "0x1F,y\n" * 30,
    "hexadecimal, then fractions": "a,b\n" + "0x1F,x\n" * 30 + "1.5,y\n" * 30,
    "nothing, then values": "a,b,c\n" + ",NA,1\n" * 30 + "1.5,x,\n" * 30 + ",?,\n" * 30,
    "stamps of two precisions": "a,b\n"
    + "2024-01-31 12:00:00,1\n" * 20
    + "2024-01-31 12:00:00.123456789,2\n" * 20,
    "blanks around late text": "a,b\n" + "1,2.5\n" * 30 + " x , 3\n" * 30 + " , 4.5 \n" * 30,
    "numbers among words": "a,b\n" + "x,true\n" * 30 + "1,0\n" * 30 + " 2 ,1\n" * 30,
    "inches in one row": "a,b\n" + "1,2\n" * 40 + '5" pipe,3\n' + "x,4\n" * 40,
    "newlines behind inches": "a,b\n" + '5" pipe,3\n6" pipe,4\n' * 30,
}


@pytest.mark.parametrize("name", list(LONG_TEXTS))
def test_a_long_text_read_whole_is_what_it_is_at_once(tmp_path, monkeypatch, name):
    file = tmp_path / "t.csv"
    file.write_bytes(LONG_TEXTS[name].encode())
    expected = read_source(file)
    for size in (16, 64, 257):
        monkeypatch.setattr(text_files, "_PIECE", size)
        monkeypatch.setattr(text_files, "_WINDOW", size)
        found = read_source(file)
        assert found.data.schema == expected.data.schema
        assert found.data.to_pydict() == expected.data.to_pydict()
        assert (found.names, found.text) == (expected.names, expected.text)


@pytest.mark.parametrize("broken", ["1,2\n1,2,3\n", 'x,"y\n1,2\n', "\x00,1\n", "é,1\n"])
def test_what_is_wrong_with_a_long_text_is_told_as_of_a_short_one(tmp_path, monkeypatch, broken):
    file = tmp_path / "t.csv"
    file.write_bytes(("a,b\n" + "1,2\n" * 99 + broken).encode("latin-1"))
    with pytest.raises(InputError) as expected:
        read_source(file)
    monkeypatch.setattr(text_files, "_PIECE", 64)
    monkeypatch.setattr(text_files, "_WINDOW", 64)
    with pytest.raises(InputError) as found:
        read_source(file)
    assert str(found.value) == str(expected.value)


def test_pieces_of_a_long_text_are_parsed_in_the_types_of_those_before(tmp_path, monkeypatch):
    """Else pyarrow tries the types again, and holds the text until it is done."""
    from orthoselect.read import text_columns

    given, parse_blocks = [], text_columns.parse_blocks

    def spy(*arguments, types=None, **options):
        given.append(types)
        return parse_blocks(*arguments, types=types, **options)

    monkeypatch.setattr(text_columns, "parse_blocks", spy)
    monkeypatch.setattr(text_columns, "_FEW_ROWS", 0)
    monkeypatch.setattr(text_files, "_PIECE", 64)
    monkeypatch.setattr(text_files, "_WINDOW", 64)
    file = tmp_path / "t.csv"
    file.write_text("a,b,c\n" + "1.5,2,x\n" * 60)
    read_source(file)
    known = {"c0": pa.float64(), "c1": pa.int64(), "c2": pa.string()}
    assert len(given) > 5
    assert given[0] is None
    assert all(types == known for types in given[1:])


@pytest.mark.parametrize("name", list(TEXTS))
def test_text_in_pieces_is_what_the_whole_is(tmp_path, monkeypatch, name):
    file = tmp_path / "t.csv"
    file.write_bytes(TEXTS[name].encode())
    expected = read_source(file)
    monkeypatch.setattr(text_files, "_PIECE", 64)
    monkeypatch.setattr(text_files, "_WINDOW", 64)
    source = FileBlocks(file, block_rows=3)
    assert source.names == expected.names
    assert source.n_rows == expected.n_rows
    assert source.schema == expected.data.schema
    assert whole(source).to_pydict() == expected.data.to_pydict()
    last = len(source.names) - 1
    assert pa.concat_tables(source.blocks([last])).to_pydict() == {
        source.names[last]: expected.data.column(last).to_pylist()
    }


@pytest.mark.parametrize("stored", ['a,b\nx,2\n5" disk,1\n', '5" disk,b\n1,2\n3,4\n'])
def test_inches_are_no_quotes_in_blocks_either(tmp_path, stored):
    file = tmp_path / "t.csv"
    file.write_text(stored)
    assert whole(FileBlocks(file, block_rows=1)).equals(read_source(file).data)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_text_in_other_encodings_and_compressed(tmp_path, small_pieces, encoding):
    stored = ("naïve,b\n" + "é,1\nü,2\n" * 50).encode(encoding)
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(stored))
    expected = read_source(file, encoding=encoding)
    source = FileBlocks(file, options=text_files.TextOptions(encoding=encoding), block_rows=9)
    assert whole(source).to_pydict() == expected.data.to_pydict()


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (b"a,b\n" + b"1,2\n" * 40 + b"1,2,3\n", "2 fields in every line.* line 42 has 3"),
        (b"a,b\n" + b"1,2\n" * 40 + b'"1,2\n', "close every quote; the one in or after line 42"),
        (b'"a,b\n1,2\n', "close every quote; the one in or after line 1"),
        ("a,b\n1,2\n".encode("utf-16") + b"3", "should be text in utf-16"),
        (b"a,b\n" + b'5",2\n' * 41 + b'"x\ny",2\n', "quotes around whole values only"),
        (b"a,b\n" + b"1,\xe9\n" * 40, "should be text in utf-8"),
        (b"a,b\n" + b"1,2\n" * 40 + b"1,\0\n", "NUL bytes, the first in line 42"),
        (b"a,b\n", "should hold rows"),
        (b"", "it is empty"),
        (b"PAR1 and so on", "begins like a parquet file"),
    ],
)
def test_texts_that_cannot_be_read_are_named(tmp_path, small_pieces, stored, message):
    file = tmp_path / "t.csv"
    file.write_bytes(stored)
    with pytest.raises(InputError, match=message) as caught:
        whole(FileBlocks(file, block_rows=5))
    assert "t.csv" in str(caught.value)


# What is chosen


def test_the_memory_decides_and_the_answer_stays(tmp_path):
    rows = table()
    files = [
        write(rows.slice(0, 120), tmp_path / "1.csv"),
        write(rows.slice(120), tmp_path / "2.csv"),
    ]
    expected = select(files, "y", 4)
    assert "bytes_read" not in expected.stats
    found = select(files, "y", 4, memory="10 kB")
    assert found.stats["bytes_read"] > 0
    same(found, expected)
    assert not read_table(files, memory="1GB").in_blocks
    assert read_table(files[0], memory=2000).in_blocks


def test_methods_that_need_all_rows_say_so_before_reading(tmp_path):
    file = write(table(), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"'lasso' needs the whole table in memory; .* too large"):
        select(file, "y", method="lasso", memory=1000)


def test_memory_makes_no_sense_for_what_is_in_memory():
    with pytest.raises(InputError, match=r"`memory` is for files.*got a Table"):
        select(table(), "y", memory="1GB")


def test_memory_goes_before_that_of_a_source(tmp_path):
    rows = table()
    own = RowBlocks([rows.slice(0, 100), rows.slice(100)], memory=10**9)
    expected = select(rows, "y", 4)
    file = write(rows, tmp_path / "t.parquet")
    for source in (own, FileBlocks(file), read_table(file, memory=2000)):
        assert select(source, "y", 4).stats["strategy"] == "whole gram"
        found = select(source, "y", 4, memory=100)
        assert found.stats["strategy"] != "whole gram", "which does not fit into 100 bytes"
        same(found, expected)


def test_few_rows_are_in_memory_at_a_time(tmp_path):
    file = tmp_path / "t.parquet"
    rng = np.random.default_rng(0)
    rows = pa.table({f"x{j}": rng.normal(size=400_000) for j in range(8)})
    parquet.write_table(rows, file, row_group_size=len(rows), use_dictionary=False)
    size = rows.nbytes
    del rows
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in FileBlocks(file, block_rows=5000).blocks()]
    assert len(held) == 80
    assert max(held) < size / 2, "a row group is not unpacked whole"


def test_what_is_read_whole_has_to_fit():
    with pytest.raises(InputError, match="`iris` should fit into the 100 B"):
        select("iris", None, memory=100)


def test_weights_by_name_are_no_feature_in_memory_either():
    rows = table()
    w = rows["w"].to_numpy()
    expected = select(rows.drop_columns(["w"]), "y", 3, sample_weight=w)
    found = select(rows, "y", 3, sample_weight="w")
    assert found.names == expected.names
    assert found.gains == pytest.approx(expected.gains, abs=1e-12)
    assert found.options["sample_weight"] == "w"
    with pytest.raises(InputError, match="one role; `y` is the target"):
        select(rows, "y", sample_weight="y")
    with pytest.raises(InputError, match="`sample_weight` should name columns"):
        select(rows, "y", sample_weight="weigth")


def test_rows_are_told_by_their_files(tmp_path):
    files = [write(table(10), tmp_path / f"{name}.parquet") for name in "ab"]
    source = FileBlocks(files)
    assert source.where(slice(0, 10)) == f"`{files[0]}`"
    assert source.where(slice(9, 11)) == f"`{files[0]}`, `{files[1]}`"
    assert source.where(slice(10, 20)) == f"`{files[1]}`"
