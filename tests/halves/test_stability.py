"""Frequencies are those of a plain loop, whatever the table comes as; noise stays within bounds."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from orthoselect import GramStatistics, RowBlocks, Stability, select, stability
from orthoselect.errors import InputError, SelectionWarning, StabilityInterrupted
from orthoselect.halves import agreeing, base
from orthoselect.halves.bounds import false_features
from orthoselect.halves.pairs import pair_of_rows

pd = pytest.importorskip("pandas")


def problem(seed, N=60, n=7, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=N)
    X = rng.normal(size=(N, n)) + np.eye(n_classes, n)[y] * 1.5
    return X, y


def halves_of(y, seed, n_pairs):
    strata = np.unique(y, return_inverse=True)[1] if np.asarray(y).dtype.kind != "f" else 0 * y
    pairs = [pair_of_rows(strata.astype(int), seed, number) for number in range(n_pairs)]
    return [half for pair in pairs for half in pair]


# The twin


@pytest.mark.parametrize("seed", range(6))
def test_frequencies_are_those_of_a_plain_loop(seed):
    X, y = problem(seed)
    found = stability(X, y, 2, n_pairs=6, threshold=0.75, random_state=seed)
    halves = halves_of(y, seed, 6)
    counts = naive.stability_counts(list(X.T), naive.one_hot(y), halves, 2)
    assert [found.frequencies[f"x{j}"] for j in range(7)] == [c / 12 for c in counts]
    assert found.chosen == sorted(
        (f"x{j}" for j, c in enumerate(counts) if c >= 9), key=lambda name: -found.frequencies[name]
    )


@pytest.mark.parametrize("method", ["socc", "jmi", "lasso", "err"])
def test_any_method_for_numbers_or_classes(method):
    X, y = problem(1)
    own = {"bins": 3} if method == "jmi" else {}
    found = stability(X, y, 2, method, n_pairs=4, **own)
    halves = halves_of(y, 0, 4)
    taken = [select(X[h], y[h], 2, method, **own).features for h in halves]
    for j in range(7):
        assert found.frequencies[f"x{j}"] == sum(j in half for half in taken) / 8


def test_numbers_are_cut_without_strata():
    X, _ = problem(2)
    y = X[:, 3] + 0.3 * np.random.default_rng(0).normal(size=60)
    found = stability(X, y, 1, n_pairs=5)
    assert found.taken.task == "regression"
    assert found.frequencies["x3"] == 1.0


def test_responses_of_both_kinds_side_by_side():
    X, y = problem(3)
    both = pd.DataFrame({"kind": np.array(list("abc"))[y], "size": X[:, 5] * 2 + 0.1})
    found = stability(X, both, 2, n_pairs=4)
    assert found.frequencies["x5"] == 1.0


@pytest.mark.parametrize(
    "own", [{"search": "swap", "n_starts": 2, "time_limit": 30}, {"search": "beam", "width": 2}]
)
def test_options_of_the_search_are_those_of_select(own, monkeypatch):
    X, y = problem(4)
    asked = []

    def listening(*given, **options):
        asked.append(options)
        return select(*given, **options)

    monkeypatch.setattr(base, "select", listening)
    found = stability(X, y, 2, n_pairs=3, **own)
    assert all(own.items() <= options.items() for options in asked)
    taken = [select(X[h], y[h], 2, **own).features for h in halves_of(y, 0, 3)]
    for j in range(7):
        assert found.frequencies[f"x{j}"] == sum(j in half for half in taken) / 6


def test_the_code_that_is_told_runs_and_finds_the_same(tmp_path):
    X, y = problem(4)
    file = tmp_path / "t.csv"
    pd.DataFrame(X, columns=list("abcdefg")).assign(y=y).to_csv(file, index=False)
    own = {"search": "swap", "n_starts": 2, "time_limit": 30}
    found = stability(file, "y", 2, n_pairs=3, **own)
    space = {}
    exec(found.taken.reproduce["python"], space)
    assert space["found"].frequencies == found.frequencies
    told = " ".join(found.taken.reproduce["python"].split())
    assert "search='swap', time_limit=30, n_starts=2" in told


# The bound


def test_noise_keeps_the_bound():
    """40 tables of noise, the features of half of them correlated."""
    false, bounds = [], {}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 15)) + (seed % 2) * rng.normal(size=(30, 1))
        found = stability(
            X, rng.integers(2, size=30), 3, n_pairs=6, threshold=0.75, random_state=seed
        )
        false.append(len(found.chosen))
        bounds = found.bounds
    assert bounds == {a: false_features(15, 3, 0.75, 6, a) for a in bounds}
    assert 0 < np.mean(false) <= min(bounds.values())


@pytest.mark.parametrize("classes", [False, True])
def test_noise_with_few_rows_and_many_columns_keeps_the_bound(classes):
    """The size that follows from threshold and `pfer` leaves rows to judge the last feature by."""
    chosen = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(20, 100)), rng.normal(size=20)
        found = stability(X, np.arange(20) % 2 if classes else y, n_pairs=10)
        chosen += found.chosen
        assert found.q == 4  # (10 rows - 1) // 2
        assert found.bound <= 1
    assert len(chosen) <= 10 * found.bound


@pytest.mark.parametrize(("n_classes", "include", "most"), [(2, [], 7), (3, [], 6), (2, [5], 6)])
@pytest.mark.parametrize("method", ["socc", "socc_discretized"])
def test_a_size_that_fills_a_half_is_refused(n_classes, include, most, method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 50)), np.arange(20) % n_classes
    words = f"should be {most} at most for halves of 10 rows"
    with pytest.raises(InputError, match=words):
        stability(X, y, most + 1, method, include=include, n_pairs=2, threshold=0.8)
    fitting = stability(X, y, most, include=include, n_pairs=2, threshold=0.8)
    assert fitting.q == most


def test_information_of_single_features_has_no_rank_to_fill():
    X, y = problem(0, N=20, n=15, n_classes=2)
    assert stability(X, y, 12, "mim", bins=2, n_pairs=2, threshold=0.8).q == 12


def test_a_size_that_fills_a_half_of_blocks_is_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 30)), rng.integers(2, size=40)
    blocks = RowBlocks([X[:20], X[20:]])
    with pytest.raises(InputError, match=r"should be \d+ at most for halves of \d+ rows"):
        stability(blocks, y, 18, n_pairs=2, threshold=0.8)


def test_too_few_rows_for_any_feature():
    with pytest.raises(InputError, match=r"halves of 2 rows are too few.*Give 6 rows at least"):
        stability(np.random.default_rng(0).normal(size=(5, 4)), np.arange(5) + 0.5)


# Substitutes


def test_copies_split_their_frequency_and_the_set_has_it_all():
    rng = np.random.default_rng(6)
    y = rng.integers(2, size=200)
    signal = y + 0.3 * rng.normal(size=200)
    X = np.column_stack([rng.normal(size=(200, 6)), *(signal + 0.05 * rng.normal(size=(3, 200)))])
    found = stability(X, y, 1, n_pairs=20)
    assert found.chosen == []
    (copies,) = found.substitutes
    assert set(copies.names) == {"x6", "x7", "x8"}
    assert (copies.frequency, copies.chosen) == (1.0, True)
    assert sum(found.frequencies[name] for name in copies.names) == pytest.approx(1.0)
    assert "although none of their features is" in found.sentence
    assert len(found.sets) == 7
    assert found.set_bound == false_features(7, 1, found.threshold, 20)


@pytest.mark.parametrize("seed", range(5))
def test_sets_are_joined_by_what_they_share(seed):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(80, 4))
    X = base[:, rng.integers(4, size=10)] + rng.uniform(0.1, 1.5, 10) * rng.normal(size=(80, 10))
    y = rng.integers(2, size=80)
    found = stability(X, y, 3, n_pairs=5)
    expected = naive.alike(X)
    made = sorted(sorted(int(name[1:]) for name in one.names) for one in found.sets)
    assert made == expected
    taken = [select(X[h], y[h], 3).features for h in halves_of(y, 0, 5)]
    for members, count in zip(expected, naive.set_counts(expected, taken)):
        own = next(one for one in found.sets if f"x{members[0]}" in one.names)
        assert own.frequency == count / 10


def test_substitutes_do_not_depend_on_the_target():
    X, y = problem(4, n=9)
    X[:, 8] = X[:, 7] + 0.01 * X[:, 6]
    for target in (y, y[::-1], X[:, 0] + X[:, 1]):
        made = {frozenset(one.names) for one in stability(X, target, 2, n_pairs=3).sets}
        assert frozenset({"x7", "x8"}) in made
        assert len(made) == 8


@pytest.mark.parametrize("in_blocks", [False, True])
def test_columns_with_the_same_gaps_are_not_alike_for_that(in_blocks):
    made = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 4)), columns=list("abcd"))
    made["y"] = np.random.default_rng(1).integers(2, size=80)
    made.loc[::5, ["a", "b"]] = np.nan
    data = RowBlocks([made[:40], made[40:]]) if in_blocks else made
    found = stability(data, "y", 1, n_pairs=3, missing="indicator")
    assert len(found.sets) == 4


def test_of_very_many_features_only_those_taken_are_compared(monkeypatch):
    from orthoselect.halves import substitutes

    X, y = problem(5, n=12)
    full = stability(X, y, 2, n_pairs=5)
    monkeypatch.setattr(substitutes, "MOST_COMPARED", 4)
    some = stability(X, y, 2, n_pairs=5)
    assert some.frequencies == full.frequencies
    assert some.set_bound is None
    assert full.set_bound is not None
    assert any("no bound for sets" in words for words in some.assumptions)


# What is asked of columns and rows


def frame(N=90):
    rng = np.random.default_rng(7)
    y = rng.integers(2, size=N)
    made = pd.DataFrame(rng.normal(size=(N, 5)), columns=list("abcde"))
    made["a"] += 2 * y
    made["town"] = np.where(rng.random(N) < 0.7, np.array(["p", "q"])[y], "r")
    made["w"] = rng.integers(0, 3, size=N)
    made["y"] = np.array(["no", "yes"])[y]
    return made


def test_included_features_are_given_and_not_counted():
    found = stability(frame(), "y", 1, include=["e"], exclude=["w"], n_pairs=5)
    assert "e" not in found.frequencies
    assert found.taken.included == ("e",)
    assert len(found.features) == 5
    assert found.frequencies["a"] + found.frequencies["town"] == pytest.approx(1.0)
    assert "Given to each half: e." in repr(found)


def test_groups_count_once_and_excluded_columns_never():
    found = stability(frame(), "y", 1, groups={"all": ["a", "b"]}, exclude=["w", "c"], n_pairs=4)
    assert set(found.frequencies) == {"all", "d", "e", "town"}
    assert next(f for f in found.features if f.name == "all").columns == (0, 1)


def test_weights_are_those_of_rows_and_rows_without_weight_are_in_no_half():
    made = frame()
    by_name = stability(made, "y", 2, sample_weight="w", n_pairs=5)
    by_value = stability(
        made.drop(columns="w"), "y", 2, sample_weight=made["w"].to_numpy(), n_pairs=5
    )
    assert by_name.frequencies == by_value.frequencies
    kept = made[made["w"] > 0]
    without = stability(
        kept.drop(columns="w"), "y", 2, sample_weight=kept["w"].to_numpy(), n_pairs=5
    )
    assert without.frequencies == by_name.frequencies
    twice = kept.assign(w=2)
    assert stability(twice, "y", 2, sample_weight="w", n_pairs=5).frequencies == (
        stability(kept.drop(columns="w"), "y", 2, n_pairs=5).frequencies
    )


@pytest.mark.parametrize("missing", ["indicator", "mean", "drop_rows"])
def test_gaps_are_filled_within_each_half(missing):
    made = frame().drop(columns="w")
    made.loc[::7, "b"] = np.nan
    made.loc[::11, "town"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        found = stability(made, "y", 2, missing=missing, n_pairs=4)
    kept = made.dropna() if missing == "drop_rows" else made
    kept = kept.reset_index(drop=True)
    own = "error" if missing == "drop_rows" else missing
    halves = halves_of(kept["y"].to_numpy(), 0, 4)
    taken = [select(kept.iloc[half], "y", 2, missing=own).names for half in halves]
    for name in "abcde":
        assert found.frequencies[name] == sum(name in half for half in taken) / 8


def test_gaps_are_an_error_that_counts_all_rows():
    made = frame()
    made.loc[:9, "b"] = np.nan
    with pytest.raises(InputError, match=r"`b` \(10 missing of 90\)"):
        stability(made, "y", 2)


@pytest.mark.parametrize("kind", ["array", "fortran", "sparse", "pandas", "polars", "csv"])
def test_the_same_table_is_the_same_answer(kind, tmp_path):
    X, y = problem(6)
    expected = stability(X, y, 2, n_pairs=4).frequencies
    named = pd.DataFrame(X, columns=[f"x{j}" for j in range(7)])
    if kind == "csv":
        named.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
        assert stability(tmp_path / "t.csv", "y", 2, n_pairs=4).frequencies == expected
        return
    made = {
        "array": lambda: X.tolist(),
        "fortran": lambda: np.asfortranarray(X),
        "sparse": lambda: sp.csc_array(X),
        "pandas": lambda: named,
        "polars": lambda: pytest.importorskip("polars").from_pandas(named),
    }[kind]()
    assert stability(made, y, 2, n_pairs=4).frequencies == expected


def test_a_date_is_one_feature():
    made = frame().drop(columns="w")
    made["when"] = pd.date_range("2020-01-01", periods=90, freq="36h")
    found = stability(made, "y", 2, dates="parts", n_pairs=3)
    assert "when" in found.frequencies


# Seeds, processes, progress, Ctrl-C


def test_seeds_and_processes():
    X, y = problem(7)
    one = stability(X, y, 2, n_pairs=6)
    many = stability(X, y, 2, n_pairs=6, n_jobs=2)
    assert many.to_dict()["features"] == one.to_dict()["features"]
    assert stability(X, y, 2, n_pairs=6, random_state=1).frequencies != one.frequencies
    new = stability(X, y, 2, n_pairs=6, random_state=None)
    assert stability(X, y, 2, n_pairs=6, random_state=new.taken.seed).frequencies == (
        new.frequencies
    )


def test_progress_tells_of_each_pair():
    X, y = problem(8)
    told = []
    stability(X, y, 1, n_pairs=3, progress=lambda *numbers: told.append(numbers))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_ctrl_c_keeps_the_pairs_that_were_done(monkeypatch):
    X, y = problem(9)
    asked = []

    def until_the_fourth(halves, question, number, process):
        asked.append(number)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return run_pair(halves, question, number, process)

    run_pair = agreeing.run_pair
    monkeypatch.setattr(agreeing, "run_pair", until_the_fourth)
    with pytest.raises(StabilityInterrupted, match="after 3 of 10 pairs") as raised:
        stability(X, y, 2, n_pairs=10, threshold=0.75)
    kept = raised.value.stability
    assert (kept.taken.n_pairs, kept.complete) == (3, False)
    assert kept.threshold == pytest.approx(5 / 6)
    monkeypatch.setattr(agreeing, "run_pair", run_pair)
    assert kept.frequencies == stability(X, y, 2, n_pairs=3, threshold=0.75).frequencies
    assert "Only 3 of 10 pairs" in kept.sentence


def test_ctrl_c_before_the_first_pair(monkeypatch):
    def at_once(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(agreeing, "run_pair", at_once)
    with pytest.raises(StabilityInterrupted, match="no pair was done") as raised:
        stability(*problem(9), 2)
    assert raised.value.stability is None


# What is refused, and what is warned of


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"n_pairs": 1}, "`n_pairs` should be a whole number of at least 2"),
        ({"n_jobs": 0}, "`n_jobs`"),
        ({"random_state": -1}, "`random_state`"),
        ({"method": "nosuch"}, "`method` should be one of"),
        ({"bins": 3}, "method 'socc' has no option `bins`"),
        ({"search": "luck"}, "`search`"),
        ({"time_limit": 3}, "`time_limit` is for searches that compare sets"),
        ({"search": "swap", "time_limit": 0}, "`time_limit` should be a number of seconds"),
        ({"search": "swap", "width": 3}, "`width` is an option of `search='beam'`"),
        ({"missing": "ignore"}, "`missing`"),
        ({"memory": "1GB"}, "in memory already"),
        ({"include": ["nosuch"]}, "nosuch"),
        ({"exclude": list(range(7))}, "features to choose from"),
        ({"n_features_to_select": 7}, "below the number of features"),
    ],
)
def test_refusals(asked, words):
    with pytest.raises(InputError, match=words):
        stability(*problem(0), **asked)


def test_statistics_have_no_rows_to_cut():
    X, y = problem(0)
    with pytest.raises(InputError, match="`stability` should have the rows"):
        stability(GramStatistics.of(X, y), None)


def test_a_class_of_one_row():
    X, y = problem(0)
    y = np.where(np.arange(60) == 3, 9, 0)
    with pytest.raises(InputError, match="at least two classes should have two rows"):
        stability(X, y)


def test_an_error_of_a_half_names_the_half(monkeypatch):
    def refuse(*_, **__):
        raise InputError("column `a` is odd.")

    monkeypatch.setattr(base, "select", refuse)
    with pytest.raises(InputError, match=r"is odd\. This is about half 1 of pair 1"):
        stability(*problem(0), 2, n_pairs=2)


def test_warnings_of_halves_come_once_with_how_many_pairs_they_are_for():
    X, y = problem(0, n=4)
    X[:, 2] = X[:, 3] = X[:, 1]
    with pytest.warns(SelectionWarning, match=r"3 of 3 pairs of halves") as heard:
        found = stability(X, y, 3, n_pairs=3, threshold=0.9)
    assert len(heard) == 1
    assert any("pairs of halves" in words for words in found.taken.data["warnings"])


def test_the_result_is_public_and_plain():
    found = stability(*problem(0), 2, n_pairs=3)
    assert isinstance(found, Stability)
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_half_whose_target_is_constant_is_named_with_what_to_do():
    X, y = np.random.default_rng(0).normal(size=(40, 4)), np.zeros(40)
    y[7] = 1.5
    words = (
        r"y should have at least two classes or different numbers in half \d of pair 1; every row "
        r"there has 0\. Too few rows differ from the others: pass `task='classification'`"
    )
    with pytest.raises(InputError, match=words):
        stability(X, y, 2, n_pairs=3, task="regression")
