"""A store that was damaged is told and mended: nothing that is good is lost, or computed again."""

import json
import os
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import studies
from orthoselect.errors import InputError
from orthoselect_study import EXPERIMENTS, DamagedResultsWarning, Settings, Store, report, run
from orthoselect_study.store import COLUMNS, locked

METHODS = ("OLS", "MIM")


@dataclass
class Made:
    """A folder of results, and what is in it while it is whole."""

    settings: Settings
    names: list[str]
    files: dict[str, bytes]
    told: dict
    work: dict = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    @property
    def folder(self):
        return Path(self.settings.output)

    def path(self, file):
        return self.folder / file

    def restore(self):
        """Put the folder back as it was."""
        for path in self.folder.iterdir():
            if path.name not in self.files:
                path.rmdir() if path.is_dir() else path.unlink()
        for name, content in self.files.items():
            self.path(name).write_bytes(content)
        self.done.clear()

    def run(self):
        """Run again; return what was told."""
        return heard(lambda: run(self.names, self.settings))[1]

    def report(self):
        return heard(lambda: report(self.folder))

    def asides(self):
        return {p.name: p for p in self.folder.iterdir() if ".damaged" in p.name}


def heard(call):
    """Return what a call returns, and the lines that it tells."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    assert all(issubclass(each.category, DamagedResultsWarning) for each in caught), caught
    lines = [str(each.message) for each in caught]
    assert not any("\n" in line for line in lines)
    return result, lines


def without_times(told):
    """Return a report without what depends on the clock."""
    text = json.dumps(told)
    text = re.sub(r'"(written|created)": "[^"]*"', "", text)
    return re.sub(r'"(seconds|penalized|others)": [^,}]*', "", text)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Run two experiments once; in what follows a task gives the rows that it gave then."""
    folder = tmp_path_factory.mktemp("store") / "s"
    settings = Settings(folder, methods=METHODS, repeats=2, batches=3)
    with pytest.MonkeyPatch.context() as patch:
        studies.leave_figures_out(patch)
        made = Made(settings, ["iris", "binomial"], {}, {})
        for name in made.names:
            keep_work(patch, EXPERIMENTS[name], made)
        run(made.names, settings)
        made.told = report(folder)
        made.files |= {path.name: path.read_bytes() for path in folder.iterdir()}
        yield made


def keep_work(patch, experiment, made):
    work = experiment.work

    def once(arguments, data):
        key = json.dumps([experiment.name, arguments], sort_keys=True)
        made.done.append(key)
        if key not in made.work:
            made.work[key] = work(arguments, data)
        return made.work[key]

    patch.setattr(experiment, "work", once)


@pytest.fixture
def store(whole):
    whole.restore()
    return whole


def lines_of(content):
    return content.split(b"\n")


def task_of(line):
    return line.split(b",")[0]


def assert_mended(store, damaged, told):
    """All is there again; good tasks were not run again; what was taken out is kept."""
    assert len(told) <= len(damaged)
    (again, more) = store.report()
    assert more == []
    assert without_times(again) == without_times(store.told)
    kept = b"\n".join(p.read_bytes() for p in store.asides().values() if p.is_file())
    for name, content in damaged.items():
        if not name.endswith(".csv"):
            continue
        now = set(lines_of(store.path(name).read_bytes()))
        for line in lines_of(content):
            assert not line or line.removesuffix(b"\r") in now or line in kept
        assert_good_rows_stay(store, name, content, now)


def assert_good_rows_stay(store, name, content, now):
    """Tasks whose lines are all there, each once, are not run again."""
    found = lines_of(content)
    groups = {}
    for line in lines_of(store.files[name])[1:-1]:
        groups.setdefault(task_of(line), []).append(line)
    for lines in groups.values():
        there = [line for line in found[:-1] if line in lines]
        if there == lines and set(lines) <= set(found):
            others = [
                line for line in found if task_of(line) == task_of(lines[0]) and line not in lines
            ]
            if not others:
                assert set(lines) <= now


def damage_csv(store, change, name="binomial.csv"):
    content = change(store.files[name])
    store.path(name).write_bytes(content)
    return {name: content}


def replaced_line(at, change):
    def changed(content):
        lines = lines_of(content)
        lines[at] = change(lines[at])
        return b"\n".join(lines)

    return changed


CSV_DAMAGE = {
    "carriage return": lambda content: content + b"a\rb\n",
    "unclosed quote": lambda content: content + b'a,"b\n',
    "unclosed quote in the middle": replaced_line(3, lambda line: line + b'"x'),
    "a quote lost": replaced_line(1, lambda line: line.replace(b'"', b"", 1)),
    "cut off": lambda content: content[:-30],
    "cut off in the middle of the file": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "newlines only": lambda content: b"\n\n",
    "binary": lambda content: bytes(range(256)) * 20,
    "nulls at the end": lambda content: content + b"\0" * 512,
    "nulls instead": lambda content: b"\0" * len(content),
    "a null in a row": replaced_line(2, lambda line: line[:30] + b"\0" + line[30:]),
    "not UTF-8": replaced_line(2, lambda line: line + b"\xff\xfe"),
    "header lost": lambda content: content.split(b"\n", 1)[1],
    "another header": replaced_line(0, lambda line: b"a,b,c"),
    "header twice": lambda content: content + content.split(b"\n", 1)[0] + b"\n",
    "too few fields": replaced_line(2, lambda line: line.rsplit(b",", 3)[0]),
    "too many fields": replaced_line(2, lambda line: line + b",1,2"),
    "no number": replaced_line(2, lambda line: line.replace(b",0,", b",none,")),
    "another number": replaced_line(3, lambda line: re.sub(rb"\d\.\d", b"7.7", line)),
    "another method": replaced_line(3, lambda line: line.replace(b"OLS", b"OLT")),
    "a number of rows that is none": replaced_line(1, lambda line: line.replace(b",", b",-", 1)),
    "a long field": replaced_line(2, lambda line: line + b"x" * 200_000),
    "a line lost": lambda content: b"\n".join(
        line for at, line in enumerate(lines_of(content)) if at != 3
    ),
    "a line twice": replaced_line(3, lambda line: line + b"\n" + line),
    "everything twice": lambda content: content + content,
    "another text": lambda content: b"sepal,petal\n1,2\n",
}


@pytest.mark.parametrize("kind", CSV_DAMAGE)
def test_damaged_results_are_told_set_aside_and_run_again(store, kind):
    damaged = damage_csv(store, CSV_DAMAGE[kind])
    _, lines = store.report()
    (line,) = lines
    assert "binomial.csv`" in line
    assert store.asides() == {}  # a report only reads
    assert store.path("binomial.csv").read_bytes() == damaged["binomial.csv"]
    (line,) = store.run()
    assert f"`{store.path('binomial.csv')}`" in line
    if kind == "header lost":
        assert store.asides() == {}
    else:
        assert f"`{store.path('binomial.csv.damaged')}`" in line
    assert_mended(store, damaged, [line])
    store.done.clear()
    assert store.run() == []
    assert store.done == []


def test_only_the_tasks_that_are_missing_are_run_again(store):
    damage_csv(store, CSV_DAMAGE["carriage return"])
    store.run()
    assert store.done == []
    damage_csv(store, CSV_DAMAGE["another number"])
    store.run()
    assert len(store.done) == 1


def test_each_damage_is_kept_under_a_name_of_its_own(store):
    for _ in range(3):
        damage_csv(store, CSV_DAMAGE["carriage return"])
        store.run()
    names = ["binomial.csv.damaged", "binomial.csv.damaged-2", "binomial.csv.damaged-3"]
    assert sorted(store.asides()) == names
    assert all(path.read_bytes() == b"a\rb\n" for path in store.asides().values())


def test_results_with_the_line_ends_of_windows_are_whole(store):
    damage_csv(store, lambda content: content.replace(b"\n", b"\r\n"))
    assert store.run() == []
    assert store.done == []
    assert store.report()[1] == []


def changed(**values):
    def change(manifest):
        return {**manifest, **values}

    return change


def inside(name, **values):
    def change(manifest):
        return {**manifest, name: {**manifest[name], **values}}

    return change


MANIFEST_DAMAGE = {
    "no JSON": lambda manifest: b"{",
    "empty": lambda manifest: b"",
    "binary": lambda manifest: bytes(range(256)),
    "nulls": lambda manifest: b"\0" * 300,
    "too deep": lambda manifest: b"[" * 100_000,
    "a number": lambda manifest: 3,
    "a list": lambda manifest: [manifest],
    "null": lambda manifest: None,
    "no keys": lambda manifest: {},
    **{
        f"{name} is {kind}": changed(**{name: value})
        for name in (
            *("written", "settings", "tasks", "seconds", "facts", "data"),
            *("absent", "versions", "failed"),
        )
        for kind, value in {
            "a number": [3] if name == "seconds" else 3,
            "text in lists": [["x"]],
            "null": None,
            "text in a mapping": {"x": 1},
        }.items()
        if not (name == "facts" and kind == "text in a mapping")
    },
    "a setting of another type": inside("settings", methods=7),
    "settings lack one": lambda manifest: {**manifest, "settings": {"seed": 0}},
    "data lack a fact": lambda manifest: {**manifest, "data": [{"name": "iris"}]},
    "a failure without a reason": changed(failed=[["binomial OLS"]]),
    "tasks are numbers": changed(tasks=[1, 2]),
    "facts of another type": inside("facts", methods=3),
    "seconds are others": changed(seconds=77.5),
    "no seal": lambda manifest: {key: manifest[key] for key in manifest if key != "seal"},
}


def damage_manifest(store, change, name="iris.json"):
    manifest = change(json.loads(store.files[name]))
    content = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    store.path(name).write_bytes(content)
    return {name: content}


@pytest.mark.parametrize("kind", MANIFEST_DAMAGE)
def test_a_damaged_manifest_is_told_set_aside_and_written_again(store, kind):
    damaged = damage_manifest(store, MANIFEST_DAMAGE[kind])
    told, (line,) = store.report()
    assert "iris.json` should be what a run of the study wrote; it is damaged" in line
    assert [part["name"] for part in told["experiments"]] == ["binomial"]
    assert store.asides() == {}
    (line,) = store.run()
    assert f"`{store.path('iris.json')}`" in line
    assert f"`{store.path('iris.json.damaged')}`" in line
    assert store.path("iris.json.damaged").read_bytes() == damaged["iris.json"]
    assert store.done == []
    assert_mended(store, damaged, [line])


def unsealed(store, name="binomial"):
    """Return results as an older version wrote them."""
    content = store.files[f"{name}.csv"].decode()
    older = re.sub(r' ""seal"": ""[0-9a-f]{16}"",', "", content)
    assert older.count("seal") == 0 < content.count("seal")
    return older.encode()


def test_results_of_an_older_version_are_valid(store):
    store.path("binomial.csv").write_bytes(unsealed(store))
    assert store.report()[1] == []
    assert store.run() == []
    assert store.done == []


def test_results_of_an_older_version_that_make_no_report_are_told(store, monkeypatch):
    store.path("binomial.csv").write_bytes(unsealed(store))
    monkeypatch.setattr(EXPERIMENTS["binomial"], "findings", lambda results: 1 / 0)
    told, (line,) = store.report()
    assert [part["name"] for part in told["experiments"]] == ["iris"]
    assert "binomial.csv` should be" in line
    assert "ZeroDivisionError" in line


def test_an_error_in_a_report_of_sealed_results_is_no_damage(store, monkeypatch):
    monkeypatch.setattr(EXPERIMENTS["iris"], "findings", lambda results: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.report()


PLACES = {
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
@pytest.mark.parametrize("file", ["iris.csv", "iris.json"])
@pytest.mark.parametrize("what", PLACES)
def test_what_is_no_file_is_told_and_set_aside(store, what, file):
    PLACES[what](store.path(file))
    _, (line,) = store.report()
    assert f"{file}`" in line
    assert what in line
    (line,) = store.run()
    assert f"`{store.path(file + '.damaged')}`" in line
    assert what in line
    assert not store.path(file + ".damaged").is_file()
    assert_mended(store, {file: b""}, [line])


@pytest.mark.parametrize("file", ["iris.csv", "iris.json"])
def test_a_file_that_cannot_be_read_is_told_and_set_aside(store, file, monkeypatch):
    """Rights would not hold back a superuser, so reading is refused otherwise."""
    read = Path.read_bytes

    def refuse(path):
        if path.name == file:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        _, (line,) = store.report()
        assert "cannot be read: Permission denied" in line
        with heard_twice(patch, read, file):
            (line,) = store.run()
    assert f"`{store.path(file + '.damaged')}`" in line
    assert store.path(file + ".damaged").read_bytes() == store.files[file]
    assert_mended(store, {file: b""}, [line])


class heard_twice:  # noqa: N801 - reads as a word
    """Refuse to read a file until it was set aside."""

    def __init__(self, patch, read, file):
        def refuse(path):
            aside = path.with_name(f"{file}.damaged")
            if path.name == file and not aside.exists():
                raise PermissionError(13, "Permission denied", str(path))
            return read(path)

        patch.setattr(Path, "read_bytes", refuse)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def test_what_cannot_be_set_aside_is_one_error(store, monkeypatch):
    store.path("iris.csv").write_bytes(b"\0" * 100)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(InputError, match=r"iris\.csv`.*cannot be moved.*Permission denied"):
        run(store.names, store.settings)
    assert store.path("iris.csv").read_bytes() == b"\0" * 100


def test_a_folder_with_nothing_but_damage_is_one_error(store):
    for name in store.names:
        store.path(f"{name}.json").write_bytes(b"")
    wanted = r"`output` should be the folder of a run; .* has no results that can be read"
    with pytest.warns(DamagedResultsWarning), pytest.raises(InputError, match=wanted):
        report(store.folder)


def test_somebody_elses_file_is_never_moved(tmp_path):
    (tmp_path / "iris.csv").write_text("sepal,petal\n1,2\n")
    with pytest.raises(InputError, match=r"iris\.csv.*should be results of the study"):
        run(["iris"], Settings(tmp_path))
    assert (tmp_path / "iris.csv").read_text() == "sepal,petal\n1,2\n"


def test_somebody_elses_file_does_not_stop_a_report(store):
    store.path("mnist.csv").write_text("pixels\n1\n")
    store.path("uci.csv").mkdir()
    assert store.report()[1] == []


def test_a_task_that_a_living_run_is_just_writing_is_no_damage(store):
    pytest.importorskip("fcntl")
    damage_csv(store, CSV_DAMAGE["cut off"])
    with locked(store.folder):
        told, lines = store.report()
    assert lines == []
    assert told["experiments"][1]["findings"][0].startswith("Not complete: 5 of 6")


def test_what_a_killed_run_left_half_written_is_cleared(store):
    store.path(".orthoselect-01234567.csv").write_text("half")
    store.run()
    assert not store.path(".orthoselect-01234567.csv").exists()
    store.path(".orthoselect-01234567.html").write_text("half")
    store.report()
    assert not store.path(".orthoselect-01234567.html").exists()


def test_damage_is_one_line_of_the_command(store, monkeypatch, capsys):
    from orthoselect.cli import main

    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(store.folder.parent)
    store.path("iris.csv").write_bytes(store.files["iris.csv"] + b"a\rb\n")
    for command in (["report"], ["run", "iris"], ["report"]):
        with pytest.raises(SystemExit) as left:
            main(["study", *command, "--output", "s"])
        assert not left.value.code
        err = capsys.readouterr().err.splitlines()
        warned = [line for line in err if line.startswith("orthoselect: warning: ")]
        if command == ["report"] and store.asides():
            assert warned == []
            continue
        (line,) = warned
        assert "`s/iris.csv`" in line
        assert ("`s/iris.csv.damaged`" in line) == (command[0] == "run")
    assert store.path("iris.csv.damaged").read_bytes() == b"a\rb\n"


# Bytes that mean something to a reader, and some that mean nothing.
MEANING = b'\n\r,"{}[]:-.0e \0\xff\x1fA'


def mutated(content, rng):
    """Return the content with some damage, of which there are as many kinds as come to mind."""
    at = int(rng.integers(len(content)))
    end = min(len(content), at + 1 + int(rng.integers(1, 200)))
    some = bytes(rng.choice(list(MEANING), size=int(rng.integers(1, 6))).tolist())
    lines = lines_of(content)
    one, other = (int(rng.integers(len(lines))) for _ in range(2))
    swapped = list(lines)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    changes = [
        content[:at] + some[:1] + content[at + 1 :],
        content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :],
        content[:at] + some + content[at:],
        content[:at] + content[end:],
        content[:at],
        content[at:],
        content[:at] + b"\0" * (end - at) + content[end:],
        content[:at] + content[at:end] + content[at:],
        b"\n".join(swapped),
        b"\n".join([*lines[:one], *lines[one + 1 :]]),
        b"\n".join([*lines[:one], lines[other], *lines[one:]]),
    ]
    return changes[int(rng.integers(len(changes)))]


FILES = ("iris.csv", "binomial.csv", "iris.json", "binomial.json")


def each_class(content):
    """Return damage at the first and the last place of each byte that means something."""
    places = {content.find(bytes([byte])) for byte in MEANING}
    places |= {content.rfind(bytes([byte])) for byte in MEANING}
    return [
        content[:at] + b'\n",x\0'[turn % 5 :][:1] + content[at + 1 :]
        for turn, at in enumerate(sorted(places - {-1}))
    ]


@pytest.mark.parametrize("file", FILES)
def test_no_byte_stops_a_run_or_a_report_or_loses_good_rows(store, file):
    for content in each_class(store.files[file]):
        check_mutation(store, file, content)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("file", FILES)
def test_no_damage_stops_a_run_or_a_report_or_loses_good_rows(store, file, seed):
    rng = np.random.default_rng([seed, FILES.index(file)])
    for _ in range(10):
        content = store.files[file]
        for _ in range(int(rng.integers(1, 4))):
            content = mutated(content, rng) or b"x"
        check_mutation(store, file, content)


def check_mutation(store, file, content):
    store.restore()
    store.path(file).write_bytes(content)
    _, read_lines = store.report()
    lines = store.run()
    assert len(lines) == len(read_lines)
    if lines == [] and file.endswith(".csv"):
        assert content.replace(b"\r\n", b"\n") == store.files[file]
    assert_mended(store, {file: content}, lines)


@pytest.mark.parametrize("seed", range(6))
def test_no_damage_to_what_an_older_version_wrote_stops_a_run_or_a_report(store, seed):
    """What cannot be seen without a seal may stay, but it is never more than a wrong number."""
    rng = np.random.default_rng([seed, 77])
    for _ in range(10):
        store.restore()
        store.path("binomial.csv").write_bytes(mutated(unsealed(store), rng) or b"x")
        store.report()
        store.run()
        store.report()


def test_the_header_is_that_of_every_version():
    assert ",".join(COLUMNS).startswith("task,rows,dataset,method,batch,repeat,fold,n_features")


def test_a_store_can_be_read_while_nothing_is_there(tmp_path):
    assert Store(tmp_path, "iris").manifest() is None
    assert Store(tmp_path, "iris").damage == []
