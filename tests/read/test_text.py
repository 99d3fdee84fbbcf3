"""CSV and TSV: whatever a person would see at a glance is found; nothing is guessed in silence."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthoselect.errors import InputError
from orthoselect.read import TextFormat, read_source
from orthoselect.read import text_columns as text

pa = pytest.importorskip("pyarrow")


@pytest.fixture
def read(tmp_path):
    """Return a function that writes bytes or text to a file and reads it."""

    def read(content, name="t.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_source(path, **options)

    return read


def columns(dataset):
    return dataset.data.to_pydict()


def test_names_and_types(read):
    found = read("a,b,c,d,e\n1,1.5,x,true,2020-01-01\n-2,2e3,y,False,2020-01-02\n")
    assert found.names == ["a", "b", "c", "d", "e"]
    kinds = [pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.date32()]
    assert found.data.schema.types == kinds
    assert found.data["b"].to_pylist() == [1.5, 2000.0]
    assert found.data["d"].to_pylist() == [True, False]
    assert (found.name, found.format, found.n_rows) == ("t.csv", "csv", 2)
    assert found.target is None
    assert found.left_out == {}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_found(read, delimiter):
    lines = [["name", "size", "n"], ["Ada", "1.5", "2"], ["Bob", "2.5", "3"]]
    found = read("\n".join(delimiter.join(line) for line in lines))
    assert columns(found) == {"name": ["Ada", "Bob"], "size": [1.5, 2.5], "n": [2, 3]}
    assert found.text == TextFormat(delimiter=delimiter)
    assert found.format == "csv"


def test_delimiters_in_quotes_do_not_count(read):
    found = read('"a;b;c;d",x\n"1;2;3;4",5\n"p\n;q",6\n')
    assert columns(found) == {"a;b;c;d": ["1;2;3;4", "p\n;q"], "x": [5, 6]}


def test_delimiter_by_the_header_where_lines_differ(read):
    found = read("a;b\nx, y;1\nx, y, z;2\n")
    assert columns(found) == {"a": ["x, y", "x, y, z"], "b": [1, 2]}


def test_commas_of_decimals_are_not_delimiters(read):
    found = read("1,5;2,5\n3,25;4,0\n", header=False)
    assert columns(found) == {"x0": [1.5, 3.25], "x1": [2.5, 4.0]}


def test_one_column(read):
    assert columns(read("a\n1\n2\n")) == {"a": [1, 2]}


def test_tsv_is_tabs_whatever_else_there_is(read):
    found = read("a,b\tc\n1,2\t3\n", "t.tsv")
    assert columns(found) == {"a,b": ["1,2"], "c": [3]}
    assert found.format == "tsv"
    assert found.text.delimiter == "\t"


@pytest.mark.parametrize("given", ["\t", "tab", "\\t"])
def test_delimiter_given(read, given):
    assert columns(read("a,b\tc\n1,2\t3\n", delimiter=given)) == {"a,b": ["1,2"], "c": [3]}


@pytest.mark.parametrize("given", ["", ",,", '"', "\n", "é"])
def test_impossible_delimiter(read, given):
    with pytest.raises(InputError, match="`delimiter` should be a single character"):
        read("a,b\n1,2\n", delimiter=given)


def test_without_header(read):
    found = read("1,2\n3,4\n", header=False)
    assert columns(found) == {"x0": [1, 3], "x1": [2, 4]}
    assert found.text.header is False
    assert read("1,2\n3,4\n", header=True).names == ["1", "2"]


def test_names_of_columns_without_one(read):
    assert read(",a,\n1,2,3\n").names == ["Unnamed: 0", "a", "x2"]


def test_columns_of_one_name(read):
    with pytest.raises(InputError, match=r"`t\.csv`.*`a`, `c` occurs more than once"):
        read("a,b,a,c,c\n1,2,3,4,5\n")
    with pytest.raises(InputError, match="`a` occurs more than once"):
        read("a, a\n1,2\n")
    with pytest.raises(InputError, match="if the first line holds values, give `--no-header`"):
        read("1,1\n1,2\n")


def test_drop_forgets_columns_and_settles_double_names(read):
    found = read("a,b,a,c\n1,2,3,4\n", drop=["a"])
    assert columns(found) == {"b": [2], "c": [4]}
    assert found.names == ["b", "c"]
    with pytest.raises(InputError, match=r"^`drop` .*no `bb`: did you mean `b`"):
        read("a,b\n1,2\n", drop=["bb"])
    with pytest.raises(InputError, match=r"^`drop` should leave columns"):
        read("a,b\n1,2\n", drop=["a", "b"])


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-32"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encoding_is_found(read, encoding):
    found = read("größe,b\nä,1\nœ,2\n".encode(encoding))
    assert columns(found) == {"größe": ["ä", "œ"], "b": [1, 2]}
    assert found.text.encoding == encoding


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_needs_no_mark(read, encoding):
    found = read("größe,b\nä,1\nœ,2\n".encode(encoding))
    assert columns(found) == {"größe": ["ä", "œ"], "b": [1, 2]}
    assert found.text.encoding == encoding


NULLS = {
    "one in a value": (b"a,b\nx,1\ny\0,2\n", 3),
    "one in a name": (b"a\0,b\nx,1\n", 1),
    "every value": (b"a,b\n" + b"\0,1\n" * 9, 2),
    "far from the beginning": (b"a,b\n" + b"x,1\n" * 600_000 + b"\0,2\n", 600_002),
    "UTF-32": ("a,b\nx,1\n".encode("utf-32-le"), 1),
    "NULs only": (bytes(50), 1),
    "binary": (bytes(range(1, 200)) + bytes(50) + bytes(range(200, 256)), 2),
    "an array of NumPy": (b"\x93NUMPY\1\0v\0{'descr': '<f8'}\n" + bytes(80), 1),
}


@pytest.mark.parametrize("kind", NULLS)
def test_null_bytes_are_no_text(read, kind):
    content, line = NULLS[kind]
    with pytest.raises(InputError, match=f"should be text; it holds NUL bytes.*in line {line}\\."):
        read(content)


def test_null_bytes_in_an_encoding_given(read):
    with pytest.raises(InputError, match="it holds NUL bytes"):
        read("a,b\nx,1\n".encode("utf-16-le"), encoding="latin-1")


@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "utf-16-le", "utf-8", "UTF8", "mac-roman"]
)
def test_encoding_given(read, encoding):
    found = read("größe,b\nä,1\n".encode(encoding), encoding=encoding)
    assert columns(found) == {"größe": ["ä"], "b": [1]}


@pytest.mark.parametrize("content", ["größe,b\nä,1\n", "a,b\nä,1\n", "a,b\nx,1\nä,2\n"])
def test_bytes_of_another_encoding(read, content):
    with pytest.raises(InputError, match=r"in utf-8, which was tried.*`encoding='latin-1'`"):
        read(content.encode("latin-1"))
    with pytest.raises(InputError, match=r"in ascii, which was tried.*`encoding='latin-1'`"):
        read(content, encoding="ascii")


def test_bytes_of_another_encoding_beyond_the_first_lines(read):
    content = b"a,b\n" + b"x,1\n" * 200_000 + "ä,2\n".encode("latin-1")
    with pytest.raises(InputError, match=r"in utf-8, which was tried.*column `a`"):
        read(content)


@pytest.mark.parametrize("encoding", ["nonsense", "hex", "rot13"])
def test_encoding_unknown(read, encoding):
    with pytest.raises(InputError, match=f"`encoding` should be one that Python knows.*{encoding}"):
        read("a,b\n1,2\n", encoding=encoding)


def test_quoted_fields(read):
    found = read('a,b\n"x, y",1\n"say ""hi""",2\n"two\nlines",3\n"5",4\n')
    assert columns(found)["a"] == ["x, y", 'say "hi"', "two\nlines", "5"]


def test_quoted_newlines_across_blocks(read):
    value = "line\n" * 50
    rows = "".join(f'{row},"{value}"\n' for row in range(10_000))
    found = read("a,b\n" + rows)
    assert found.n_rows == 10_000
    assert set(columns(found)["b"]) == {value}


def test_quote_never_closed(read):
    with pytest.raises(InputError, match="in or after line 3 is never closed"):
        read('a,b\n1,x\n2,"y\n3,z\n')


def test_inches_are_no_quotes(read):
    assert columns(read('a,b\n5" disk,1\nx,2\n'))["a"] == ['5" disk', "x"]


def test_thousands_of_columns(read):
    n = 5000
    names = ",".join(f"c{j}" for j in range(n))
    rows = "\n".join(",".join(str(j + i / 4) for j in range(n)) for i in range(3))
    found = read(f"{names}\n{rows}\n")
    assert len(found.names) == n
    assert columns(found)["c4999"] == [4999, 4999.25, 4999.5]


def test_rows_longer_than_a_block(read):
    long = "y" * 3_000_000
    found = read(f"a,b\n1,x\n2,{long}\n")
    assert columns(found) == {"a": [1, 2], "b": ["x", long]}


def test_header_longer_than_a_block(read):
    name = "y" * 1_500_000
    assert read(f"a,{name}\n1,2\n").names == ["a", name]


def test_decimal_commas(read):
    found = read("a;b;c\n1,5;x;3\n-2,25e1;y, z;4\n")
    assert columns(found) == {"a": [1.5, -22.5], "b": ["x", "y, z"], "c": [3, 4]}
    assert found.text == TextFormat(delimiter=";", decimal=",")


def test_decimal_commas_that_come_late(read):
    found = read("a;b\n" + "1;x\n" * 100_000 + "2,5;x\n")
    assert found.data["a"].type == pa.float64()
    assert found.data["a"][100_000].as_py() == 2.5
    assert found.text.decimal == ","


def test_decimal_points_with_semicolons(read):
    found = read("a;b\n1.5;1,234\n2.5;x\n")
    assert columns(found) == {"a": [1.5, 2.5], "b": ["1,234", "x"]}
    assert found.text.decimal == "."


def test_empty_lines_are_skipped(read):
    assert columns(read("\n\na,b\n\n1,2\n\n\n3,4\n\n")) == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends(read, newline):
    assert columns(read(newline.join(["a,b", "1,2", "3,4"]))) == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("late", ["0.5", "text", "2020-01-01"])
def test_types_are_those_of_the_whole_file(read, late):
    """pyarrow converts blocks of a megabyte; the last one has its say too."""
    found = read("a,b\n" + "1,2\n" * 500_000 + f"{late},3\n")
    assert found.data["a"].type == (pa.float64() if late == "0.5" else pa.string())
    assert found.data["a"][0].as_py() == (1.0 if late == "0.5" else "1")
    assert str(found.data["a"][500_000].as_py()) == late


@pytest.mark.parametrize("marker", text.MISSING)
@pytest.mark.parametrize("shape", ["{}", " {}", "{} ", '"{}"'])
def test_missing_markers(read, marker, shape):
    value = shape.format(marker)
    found = read(f"a,b,c\n1,x,0\n{value},{value},0\n2.5,y,0\n")
    assert found.data["a"].is_null(nan_is_null=True).to_pylist() == [False, True, False]
    assert found.data["a"].type == pa.float64()
    assert columns(found)["b"] == ["x", None, "y"]


@pytest.mark.parametrize("word", ["None", "none", "missing", "-", ".", "na"])
def test_words_that_are_no_markers(read, word):
    assert columns(read(f"a,b\nx,1\n{word},2\n"))["a"] == ["x", word]


def test_blanks_around_values_and_names(read):
    found = read("a , b, c,d\n1 , x, 2020-01-01,true\n 2.5,\tx , 2020-01-02 , NA\n")
    assert found.names == ["a", "b", "c", "d"]
    assert found.data["a"].to_pylist() == [1.0, 2.5]
    assert found.data["b"].to_pylist() == ["x", "x"]
    assert found.data["c"].type == pa.date32()
    assert found.data["d"].to_pylist() == [True, None]


def test_blanks_around_decimal_commas(read):
    assert columns(read("a;b\n1,5;x\n NA ;y\n")) == {"a": [1.5, None], "b": ["x", "y"]}


def test_large_whole_numbers(read):
    found = read("a,b\n9007199254740993,99999999999999999999\n1,2\n")
    assert columns(found) == {"a": [9007199254740993, 1], "b": [1e20, 2.0]}


@pytest.mark.parametrize("rows", ["1,2\n1,2,3\n", '"x\ny",2\n1\n', "1,2\n\n1,2,3\n"])
def test_rows_of_other_lengths_are_told_by_their_line(read, rows):
    line = 4 if "y" in rows or "\n\n" in rows else 3
    found = 1 if "y" in rows else 3
    with pytest.raises(InputError, match=f"2 fields in every line.*line {line} has {found}"):
        read("a,b\n" + rows)


def test_ragged_row_far_down(read):
    with pytest.raises(InputError, match="line 400002 has 3"):
        read("a,b\n" + "1,2\n" * 400_000 + "1,2,3\n1,2\n")


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \n", b"\xef\xbb\xbf"])
def test_empty_file(read, content):
    with pytest.raises(InputError, match=r"t\.csv` should hold a table; it is empty"):
        read(content)


def test_header_only(read):
    with pytest.raises(InputError, match=r"t\.csv` should hold rows; it has a header"):
        read("a,b\n")


@pytest.mark.parametrize(
    ("content", "kind"), [(b"PAR1abcdefgh", "parquet"), (b"PK\x03\x04abcdefgh", "zip archive")]
)
def test_other_files_called_text(read, content, kind):
    with pytest.raises(InputError, match=f"should be text; it begins like a.* {kind}"):
        read(content)


def test_compressed(read):
    found = read(gzip.compress(b"a;b\n1;x\n2;y\n"), "t.csv.gz")
    assert columns(found) == {"a": [1, 2], "b": ["x", "y"]}
    assert (found.name, found.format) == ("t.csv.gz", "csv")


def test_values_that_look_like_a_delimiter_survive_a_bar(read):
    assert columns(read("a|b\nx,y;z|1\nu,v;w|2\n"))["a"] == ["x,y;z", "u,v;w"]


# Text as the csv module writes it; blanks around values are not kept, by design, and neither
# are words that stand for something else.
VALUES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8).map(
    lambda value: f"t{value}t"
)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(
            st.integers(-(2**63), 2**63 - 1),
            st.floats(allow_nan=False, allow_infinity=False),
            *[VALUES] * width,
        ),
        min_size=1,
        max_size=6,
    )
)


@given(rows=TABLES, delimiter=st.sampled_from(",;\t|"), encoding=st.sampled_from(ENCODINGS))
@settings(deadline=None, max_examples=150)
def test_what_the_csv_module_writes_is_read_back(tmp_path_factory, rows, delimiter, encoding):
    written = io.StringIO()
    writer = csv.writer(written, delimiter=delimiter)
    writer.writerow([f"c{j}" for j in range(len(rows[0]))])
    writer.writerows(rows)
    path = tmp_path_factory.mktemp("round") / "t.csv"
    path.write_bytes(written.getvalue().encode(encoding))
    found = read_source(path, delimiter=delimiter)
    got = found.data.to_pydict()
    expected = dict(zip(got, zip(*rows)))
    for name, values in expected.items():
        assert got[name] == list(values), name
    assert np.array_equal(np.signbit(got["c1"]), np.signbit(expected["c1"]))
