"""What the command says of files that are not what they should be."""

import gzip
import pickle

import numpy as np
import pytest

from orthoselect import select
from orthoselect.errors import InputError
from orthoselect.read import FileBlocks, read_source
from orthoselect_study.datasets.sets import read_archive

# Links


def test_a_link_to_nothing_is_called_so_with_its_target(refused, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "table.csv").symlink_to("data/gone.csv")
    line = refused("select", "table.csv", "-t", "y")
    assert "it is a link to nothing: there is no `data/gone.csv`" in line
    assert "did you mean" not in line.lower()


def test_the_end_of_a_chain_of_links_is_named(refused, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "table.parquet").symlink_to("data/next.parquet")
    (tmp_path / "data" / "next.parquet").symlink_to("gone.parquet")
    line = refused("select", "table.parquet", "-t", "y")
    assert "there is no `data/gone.parquet`" in line


def test_a_folder_that_is_a_link_to_nothing_is_named(refused, tmp_path):
    (tmp_path / "data").symlink_to("gone")
    line = refused("select", "data/table.csv", "-t", "y")
    assert "`data` is a link to nothing: there is no `gone`" in line
    assert "link to nothing" in refused("select", "data", "-t", "y")


def test_a_loop_of_links_is_one_line(refused, tmp_path):
    (tmp_path / "a.csv").symlink_to("b.csv")
    (tmp_path / "b.csv").symlink_to("a.csv")
    assert "`a.csv`" in refused("select", "a.csv", "-t", "y")


def test_a_link_to_nothing_is_no_suggestion(refused, tmp_path):
    (tmp_path / "table.csv").symlink_to("gone.csv")
    line = refused("select", "tabel.csv", "-t", "y")
    assert "no such file" in line
    assert "table.csv" not in line


@pytest.mark.parametrize("source", ["logs", "logs/*.csv"])
def test_a_link_to_nothing_among_several_files_is_not_passed_over(refused, tmp_path, source):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.csv").write_text("a,y\n1,u\n2,v\n")
    (tmp_path / "logs" / "b.csv").symlink_to("gone.csv")
    line = refused("select", source, "-t", "y")
    assert "`logs/b.csv`; it is a link to nothing: there is no `logs/gone.csv`" in line


def test_the_library_says_the_same(tmp_path):
    (tmp_path / "table.csv").symlink_to("gone.csv")
    for read in (read_source, FileBlocks):
        with pytest.raises(InputError, match="link to nothing"):
            read(tmp_path / "table.csv")


# Pickles

OBJECTS = np.array([[1, "a"], [2, "b"]], dtype=object)


def stored(tmp_path, name):
    """Write a file that only a pickle can hold; return what is to be done about it."""
    path = tmp_path / name
    if name.startswith("pickle"):
        path.write_bytes(pickle.dumps(OBJECTS))
        return "Store its numbers with `numpy.save"
    if name.endswith(".gz"):
        with gzip.open(path, "wb") as file:
            np.save(file, OBJECTS)
    elif name.endswith(".npz"):
        keys = {"X": np.eye(2), "y": np.arange(2)}
        np.savez(path, **{**keys, name.removesuffix(".npz"): OBJECTS[:, 1]})
    else:
        np.save(path, OBJECTS)
    return "Store it with a plain dtype"


@pytest.mark.parametrize(
    "name",
    ["a.npy", "a.npy.gz", "X.npz", "y.npz", "feature_names.npz", "pickle.npy", "pickle.npz"],
)
def test_objects_are_refused_without_advice_to_trust_them(refused, tmp_path, name):
    remedy = stored(tmp_path, name)
    line = refused("select", name, "-t", "y")
    assert remedy in line
    assert f"`{name}`" in line
    assert "allow_pickle" not in line
    assert "--option" not in line


def test_objects_are_refused_in_blocks_too(refused, tmp_path):
    remedy = stored(tmp_path, "a.npy")
    line = refused("select", "a.npy", "-t", "y", "--memory", "1 kB")
    assert remedy in line
    assert "allow_pickle" not in line


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_what_is_no_file_of_numpy_is_not_called_a_pickle(refused, tmp_path, name):
    (tmp_path / name).write_bytes(b"hello")
    line = refused("select", name, "-t", "y")
    assert "it does not begin like one" in line
    assert "pickle" not in line


def test_the_study_gives_no_such_advice(tmp_path):
    np.savez(tmp_path / "mfeat.npz", X=OBJECTS, y=np.arange(2))
    with pytest.raises(InputError, match="it holds Python objects") as error:
        read_archive(tmp_path, "mfeat.npz", ["X", "y"])
    assert "allow_pickle" not in str(error.value)


def test_a_column_with_an_equals_sign_is_no_option(refused, tmp_path):
    (tmp_path / "t.csv").write_text("a,b=5,y\n1,,u\n2,1,v\n3,2,u\n")
    line = refused("select", "t.csv", "-t", "y", "--missing", "error")
    assert "have some: `b=5`" in line


# Formulas


@pytest.fixture
def formulas(tmp_path):
    rows = [f"{i * i % 7},{i % 5},{'@a' if i % 3 else 'b'}" for i in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["=1+1,q,y", *rows]) + "\n")


@pytest.mark.usefixtures("formulas")
@pytest.mark.parametrize("memory", [(), ("--memory", "1 kB")])
def test_names_like_formulas_are_warned_of_once_for_each_text(run, tmp_path, memory):
    ran = run("select", "t.csv", "-t", "y", "-f", "csv", "--output", "s.csv", *memory)
    assert ran.code == 0, ran.err
    warned = [line for line in ran.err.splitlines() if "formulas" in line]
    assert len(warned) == 2
    assert all(line.startswith("orthoselect: warning: ") for line in warned)
    assert all("give `--escape-formulas`" in line for line in warned)
    assert all("`--no-escape-formulas` if they are fine" in line for line in warned)
    assert warned[0].startswith("orthoselect: warning: the CSV holds 1 name")
    assert warned[1].startswith("orthoselect: warning: `s.csv` holds 21 name")
    assert "=1+1" in (tmp_path / "s.csv").read_text().splitlines()[0]


@pytest.mark.usefixtures("formulas")
@pytest.mark.parametrize("memory", [(), ("--memory", "1 kB")])
def test_names_like_formulas_are_escaped_where_that_is_asked_for(run, tmp_path, memory):
    how = ["-f", "csv", "--output", "s.tsv", "--escape-formulas", *memory]
    ran = run("select", "t.csv", "-t", "y", *how)
    assert ran.code == 0, ran.err
    assert "formulas" not in ran.err
    assert "'=1+1" in ran.out
    text = (tmp_path / "s.tsv").read_text().replace('"', "")
    assert "'=1+1" in text.splitlines()[0]
    assert "\t'@a\n" in text
    assert "\t@a\n" not in text


@pytest.mark.usefixtures("formulas")
def test_names_like_formulas_are_kept_in_silence_where_that_is_asked_for(run):
    ran = run("select", "t.csv", "-t", "y", "-k", 2, "-f", "csv", "--no-escape-formulas")
    assert ran.err == ""
    assert ",=1+1," in ran.out


@pytest.mark.usefixtures("formulas")
def test_formulas_are_of_no_concern_elsewhere(run, refused):
    ran = run("select", "t.csv", "-t", "y", "--output", "s.parquet", "--report", "r.json")
    assert "formulas" not in ran.err
    for word in ("--escape-formulas", "--no-escape-formulas"):
        line = refused("select", "t.csv", "-t", "y", "--output", "s.parquet", word)
        assert "are for CSV and TSV" in line
    how = ["-f", "csv", "--output", "s.parquet", "--escape-formulas", "-q"]
    assert run("select", "t.csv", "-t", "y", *how).code == 0


# Arguments of the library, and options of the command


SAID = {
    "encoding": ("t.csv", b"a,y\n\xe4,1\n", "`encoding='latin-1'`", "`--encoding latin-1`"),
    "NUL bytes": ("t.csv", b"a,y\n\0,1\n", "`encoding='utf-16-le'`", "`--encoding utf-16-le`"),
    "fields": ("t.csv", b"a,y\n1,2,3\n", "another `delimiter`", "another with `--delimiter`"),
    "suffix": ("t.txt", b"a,y\n1,2\n", "`format='csv'`", "`--input-format csv`"),
}


@pytest.mark.parametrize("case", SAID)
@pytest.mark.parametrize("in_blocks", [False, True])
def test_each_caller_is_told_of_options_by_their_own_names(refused, tmp_path, case, in_blocks):
    name, stored, library, command = SAID[case]
    (tmp_path / name).write_bytes(stored)
    how = {"memory": "1B"} if in_blocks else {}
    with pytest.raises(InputError) as caught:
        select(tmp_path / name, "y", **how)
    assert library in str(caught.value)
    assert "--" not in str(caught.value)
    line = refused("select", name, "-t", "y", *(["--memory", "1B"] if in_blocks else []))
    assert command in line
    assert "read_table" not in line
