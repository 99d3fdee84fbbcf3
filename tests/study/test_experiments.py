"""The numbers that must hold, and the parts that experiments are made of."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orthoselect import select
from orthoselect.errors import InputError
from orthoselect_study import EXPERIMENTS, METHODS, Settings, paper, report, run
from orthoselect_study.datasets import DataSource, load
from orthoselect_study.experiments.folds import split
from orthoselect_study.experiments.simulated import RELEVANT, draw, exact_supports
from orthoselect_study.experiments.speed import by_definition, gram_schmidt
from orthoselect_study.findings import auc_error, mean, mean_error
from orthoselect_study.methods import INFORMATION, TWELVE, StudyMethod, apply, described
from orthoselect_study.records import Results, Row
from orthoselect_study.reporting import _results
from orthoselect_study.store import Store


def results(settings, name):
    store = Store(settings.output, name)
    return _results(store, store.manifest())


def standing(settings, name, dataset, kind="last"):
    experiment = EXPERIMENTS[name]
    return next(
        s
        for s in experiment.standings(results(settings, name))
        if s.dataset == dataset and s.kind in (kind, "both")
    )


# The worked example


def test_every_figure_of_the_worked_example_agrees(tiny):
    settings = tiny(repeats=None, batches=None)
    run(["iris"], settings)
    (table,) = EXPERIMENTS["iris"].tables(results(settings, "iris"))
    assert len(table.rows) == len(paper.WORKED_EXAMPLE) == 32
    assert {row[-1] for row in table.rows} == {"yes"}
    findings = EXPERIMENTS["iris"].findings(results(settings, "iris"))
    assert findings[1].endswith("as in the paper.")


# Simulations


def test_simulated_tables_have_the_covariance_of_the_paper():
    tables = [draw(600, 5, np.random.default_rng(seed)) for seed in range(300)]
    variances = np.array([X.var(axis=0) for X in tables]).ravel()
    assert variances.mean() == pytest.approx(0.5, abs=0.02)  # of a uniform draw on (0, 1)
    assert variances.var() == pytest.approx(1 / 12, abs=0.01)
    means = np.array([X.mean(axis=0) for X in tables]).ravel()
    assert means.std() == pytest.approx(0.1, abs=0.01)


def test_classes_follow_the_logits():
    rng = np.random.default_rng(0)
    x = np.repeat([[0.3, -0.2, 0.1], [1.0, 0.5, 0.5]], 20000, axis=0)
    binomial = EXPERIMENTS["binomial"].classes(x, rng).reshape(2, -1).mean(axis=1)
    expected = 1 / (1 + np.exp(-np.array([-2 * 0.3 + 3 * 0.2 + 4 * 0.1, -2 - 1.5 + 2])))
    assert binomial == pytest.approx(expected, abs=0.012)
    drawn = EXPERIMENTS["multinomial"].classes(x, rng).reshape(2, -1)
    shares = np.array([[np.mean(row == k) for k in range(3)] for row in drawn])
    ratios = np.log(shares[:, :2] / shares[:, 2:])
    assert ratios[0] == pytest.approx([-0.3 + 0.2 + 0.1, 0.3 + 0.2 - 0.1], abs=0.06)
    assert ratios[1] == pytest.approx([-1 - 0.5 + 0.5, 1 - 0.5 - 0.5], abs=0.06)


def test_every_method_gets_the_same_tables():
    experiment = EXPERIMENTS["binomial"]
    first, again = experiment.table(0, 1, 2), experiment.table(0, 1, 2)
    assert (first[0] == again[0]).all()
    assert not (first[0] == experiment.table(0, 1, 3)[0]).any()
    assert not (first[0] == experiment.table(0, 2, 2)[0]).any()


@pytest.mark.parametrize(("name", "at_least"), [("binomial", 85), ("multinomial", 80)])
def test_ols_finds_the_three_features_in_most_of_100_tables(name, at_least):
    experiment, found = EXPERIMENTS[name], 0
    for repeat in range(100):
        X, y = experiment.table(0, 0, repeat)
        found += set(apply("OLS", X, y, 3, bins=None).features) == set(RELEVANT)
    assert found >= at_least


def test_ols_is_above_each_information_criterion_on_average_over_seeds(tmp_path):
    found = dict.fromkeys(["OLS", *INFORMATION], 0)
    for seed in range(3):
        settings = Settings(
            tmp_path, seed=seed, methods=("OLS", *INFORMATION), repeats=16, batches=1
        )
        run(["binomial"], settings)
        for name, (count,) in EXPERIMENTS["binomial"].counts(results(settings, "binomial")).items():
            found[name] += count / 3
    assert found["OLS"] > max(found[name] for name in INFORMATION)


def test_a_model_with_exact_support_is_recognized():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = (X[:, list(RELEVANT)].sum(axis=1) > 0).astype(int)
    exact = exact_supports(X, y, 1.0)
    assert exact.any()
    assert not exact[0]  # a small penalty lets others in
    assert not exact[-1]  # a large one lets nobody in


def test_findings_compare_both_ways_to_read_the_lasso(tiny):
    settings = tiny(methods=("OLS", "MIM", "LASSO"))
    run(["binomial"], settings)
    found = results(settings, "binomial")
    (table,) = EXPERIMENTS["binomial"].tables(found)
    labels = [row[0] for row in table.rows]
    assert labels[2] == "LASSO"
    assert labels[3].startswith("LASSO, one penalty (")
    findings = EXPERIMENTS["binomial"].findings(found)
    assert any("the support at the best single penalty" in text for text in findings)


def simulated(name="binomial", **tables):
    """Return results of four tables a batch, those of each method given batch by batch."""
    rows = [
        Row(name, method, batch, repeat, measure="found", value=value)
        for method, batches in tables.items()
        for batch, values in enumerate(batches)
        for repeat, value in enumerate(values)
    ]
    facts = {"methods": list(tables), "repeats": 4, "batches": 2}
    return Results(rows, facts, [], {}, 2, 1)


def test_a_batch_that_was_cut_off_counts_by_its_tables():
    found = simulated(OLS=[[1, 1, 1, 0], [0]], MIM=[[1, 0, 0, 0]])
    (table,) = EXPERIMENTS["binomial"].tables(found)
    assert table.title.endswith("(not complete: 4 to 5 of 8 tables)")
    first = dict(zip(table.columns, table.rows[0]))
    assert first["tables"] == 5
    assert first["ours"] == "60.0"
    assert first["error"] == "21.9"  # of 5 tables
    assert first["batches"] is None  # one is complete
    findings = EXPERIMENTS["binomial"].findings(found)
    assert findings[0].startswith(
        "OLS finds the three features in 60.0 of 100 tables (of 5 tried; standard error 21.9);"
    )
    assert findings[-1] == "Methods were tried on different tables: they are not compared."
    assert EXPERIMENTS["binomial"].standings(found) == []


def test_tables_of_a_whole_run_say_how_many_batches():
    whole = [[1, 1, 1, 0], [1, 0, 0, 0]]
    found = simulated(OLS=whole, LASSO=whole, MIM=[[0, 1, 0, 0]] * 2)
    (table,) = EXPERIMENTS["binomial"].tables(found)
    assert table.title.endswith("(2 batches of 4)")
    assert [table.rows[0][k] for k in (1, 2, 4)] == [8, "50.0", "25 to 75"]
    findings = EXPERIMENTS["binomial"].findings(found)
    assert any("50.0 of 100 both, and in the same tables" in text for text in findings)
    below = EXPERIMENTS["binomial"].findings(simulated(OLS=[[0] * 4] * 2, MIM=whole, JMI=whole))
    assert any("OLS is below 2 of the 2 information criteria" in text for text in below)


def folded(**accuracies):
    """Return results of Lymphography with both of its two features, folds of 4 and 2 rows."""
    facts = {"name": "lymphography", "title": "Lymphography", "selected": 2, "features": 2}
    facts |= {"held": None, "held_name": None}
    rows = []
    for method, folds in accuracies.items():
        for fold, scores in enumerate(folds):
            at = Row("lymphography", method, fold=fold)
            rows += [at._replace(measure=f"{m} rows", value=4.0 - 2 * fold) for m in PARTS]
            for size, score in enumerate(scores, start=1):
                rows += [at._replace(measure=m, n_features=size, value=score) for m in PARTS]
            if len(scores) < 2:
                rows.append(at._replace(measure="warning", value=1.0, note="selected 1 of the 2"))
    more = {"methods": list(accuracies), "folds": 2}
    return Results(rows, more, [facts], {}, 2, 1)


PARTS = ("train", "held")


def test_what_is_said_of_all_features_is_what_the_numbers_are():
    same = folded(OLS=[[0.5, 1.0], [0.5, 0.5]], MIM=[[0.25, 1.0], [0.5, 0.5]])
    findings = EXPERIMENTS["uci"].findings(same)
    assert findings[0].endswith("validation accuracy by all 2 features: 0.8333 by every method.")
    fewer = folded(OLS=[[0.5, 1.0], [0.5, 0.5]], OLSd=[[0.5], [0.5, 0.5]])
    findings = EXPERIMENTS["uci"].findings(fewer)
    assert findings[0].endswith("by all 2 features: 0.8333 by OLS and 0.5000 by OLSd.")
    assert findings[-1] == "Lymphography, OLSd, in 1 of 2 folds: selected 1 of the 2"
    assert all("Some methods selected fewer" in t.note for t in EXPERIMENTS["uci"].tables(fewer))


def test_methods_judged_on_different_folds_are_not_compared():
    found = folded(OLS=[[0.5, 1.0], [0.5, 0.5]], MIM=[[0.25, 1.0]])
    assert EXPERIMENTS["uci"].standings(found) == []
    (sentence,) = EXPERIMENTS["uci"].findings(found)
    assert sentence.startswith("Lymphography: of 2 folds there are 2 of OLS and 1 of MIM;")
    assert all(sentence in table.note for table in EXPERIMENTS["uci"].tables(found))


# Data sets


def test_the_folds_are_the_same_for_all_methods_and_stratified():
    data = load(["breast"], DataSource())[0]["breast"]
    first, again = list(split(data, 5, 0)), list(split(data, 5, 0))
    assert all((a[1] == b[1]).all() for a, b in zip(first, again))
    assert sorted(np.concatenate([rest for _, rest in first])) == list(range(569))
    assert not all((a[1] == b[1]).all() for a, b in zip(first, split(data, 5, 1)))


def test_categories_are_numbers_to_ols_and_blocks_to_olsd():
    """A category whose order means nothing: only blocks see what it tells."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    category = np.where(y == 1, 1, rng.choice([0, 2], 300)).astype(float)
    weak = y + 1.5 * rng.normal(size=300)
    X = np.column_stack([weak, category])
    assert apply("OLS", X, y, 1, bins="mean_std_3", levels=[1]).features == [0]
    assert apply("OLSd", X, y, 1, bins="mean_std_3", levels=[1]).features == [1]
    assert apply("MIM", X, y, 1, bins="mean_std_3", levels=[1]).features == [1]


def test_methods_are_the_papers():
    assert len(METHODS) == 14
    assert set(paper.FOUND["binomial"]) == set(TWELVE) == set(paper.FOUND["multinomial"])
    for figures in (*paper.TEST_AUC.values(), *paper.PROBES.values()):
        assert set(figures) == set(TWELVE) - {"LASSO", "Net"}


def by_correlation(X, y, n_features, sign=1):
    """Select columns by their correlation with the number of the class."""
    scores = [sign * abs(np.corrcoef(column, y)[0, 1]) for column in X.T]
    return np.argsort(scores)[::-1][:n_features]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_function_can_be_added_as_a_method(tiny, undrawn, monkeypatch, jobs):
    monkeypatch.setitem(METHODS, "Mine", StudyMethod("Mine", by_correlation))
    settings = tiny(folds=2, features=2, data=Path(__file__).parent, jobs=jobs)
    run(["uci"], replace(settings, repeats=None, batches=None))
    told = report(settings.output)
    (part,) = told["experiments"]
    assert part["complete"] == part["tasks"] == 26
    assert [row[0] for row in part["tables"][1]["rows"]] == [*TWELVE, "Mine"]
    # The paper's claim is of its twelve, whatever else there is.
    for table in told["overall"]["tables"]:
        assert set(table["columns"]) == {"data", *TWELVE}


def test_a_function_that_was_changed_is_another_method(monkeypatch):
    keys = []
    for method in (by_correlation, results):
        monkeypatch.setitem(METHODS, "Mine", StudyMethod("Mine", method))
        keys.append(described("Mine"))
    monkeypatch.setitem(METHODS, "Mine", StudyMethod("Mine", results, options={"sign": -1}))
    keys.append(described("Mine"))
    assert len({str(key) for key in keys}) == 3
    monkeypatch.setitem(METHODS, "Mine", StudyMethod("Mine", max))
    with pytest.raises(InputError, match="function that a file defines"):
        described("Mine")


@pytest.mark.parametrize("columns", [[], [0, 0], [0, 30], [-1]])
def test_a_function_that_returns_no_columns_is_told(columns, monkeypatch):
    data = load(["breast"], DataSource())[0]["breast"]
    method = StudyMethod("Mine", lambda X, y, n_features: columns)
    monkeypatch.setitem(METHODS, "Mine", method)
    with pytest.raises(InputError, match="'Mine' should return different columns from 0 to 29"):
        apply("Mine", data.X, data.y, 2, bins=None)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_selects_what_select_does(name):
    data = load(["breast"], DataSource())[0]["breast"]
    method = METHODS[name]
    bins = {"bins": "mean_std_3"} if method.discrete else {}
    expected = select(data.X, data.y, 4, method.method, **bins, **method.options).features
    assert apply(name, data.X, data.y, 4, bins="mean_std_3").features == expected


def test_what_a_method_warns_of_is_kept():
    X = np.column_stack([np.arange(20.0), np.ones(20)])
    chosen = apply("OLS", X, np.arange(20) > 9, 2, bins=None)
    assert chosen.features == [0]
    assert "selected 1 of the 2" in chosen.warnings[0]


def test_errors_of_scores_are_those_of_the_textbook():
    assert auc_error(0.5, 50, 50) == pytest.approx(np.sqrt(101 / (12 * 2500)), rel=0.01)
    assert mean_error([0.8, 0.9, 1.0]) == pytest.approx(0.1 / np.sqrt(3))
    assert mean_error([0.8, 0.9], [7, 7]) == pytest.approx(mean_error([0.8, 0.9]))
    assert np.isnan(mean_error([0.8]))


def test_folds_count_by_their_rows(tiny, with_made_sets):
    """The mean over unequal folds is the share of all rows that are classified right."""
    settings = tiny(repeats=None, batches=None, methods=("OLS",), features=2, folds=7)
    run(["uci"], settings)
    found = results(settings, "uci")
    breast = {"dataset": "breast", "method": "OLS"}
    shares = {r.fold: r.value for r in found.where(measure="held", n_features=2, **breast)}
    rows = {r.fold: r.value for r in found.where(measure="held rows", **breast)}
    assert sum(rows.values()) == 569
    assert len(set(rows.values())) > 1
    n_right = sum(shares[fold] * rows[fold] for fold in rows)
    assert n_right == pytest.approx(round(n_right))
    assert standing(settings, "uci", "Breast").scores["OLS"] == pytest.approx(n_right / 569)
    assert mean(shares.values()) != pytest.approx(n_right / 569, abs=1e-7)
    held, _ = EXPERIMENTS["uci"].tables(found)
    assert held.rows[0][2].startswith(f"{n_right / 569:.4f} ± ")


def test_three_ways_to_the_same_features():
    data = load(["breast"], DataSource())[0]["breast"]
    order = select(data.X, data.y, 6).features
    assert gram_schmidt(data.X, data.y, 6) == order
    rng = np.random.default_rng(0)
    seconds, agrees = by_definition(data.X, data.y, order, 30, rng)
    assert agrees
    assert seconds > 0
    _, agrees = by_definition(data.X, data.y, order[::-1], 30, rng)
    assert not agrees


def test_an_svm_by_which_the_claim_fails_is_a_caveat():
    facts = {"name": "dexter", "title": "Dexter", "held": 20}
    rows = [
        Row("dexter", name, n_features=3, measure=measure, value=value)
        for at, name in enumerate(TWELVE)
        for measure, value in (
            ("held, standardized", 0.5 + at / 100),
            ("held, tuned", 0.9 - at / 100),
        )
    ]
    found = Results(rows, {"methods": list(TWELVE)}, [facts], {}, 1, 1)
    (caveat,) = EXPERIMENTS["challenge"].caveats(found)
    assert "standardized OLS is number 12 of 12" in caveat


# On the real data


def test_on_dexter_ols_is_ahead_of_mim_and_jmi(data_folder, tmp_path):
    """By the plain SVM; by others it need not be: the experiment's findings say so."""
    settings = Settings(tmp_path, data_folder, methods=("OLS", "MIM", "JMI"), rows=300)
    run(["challenge"], settings)
    scores = standing(settings, "challenge", "Dexter").scores
    assert scores["OLS"] > scores["MIM"]
    assert scores["OLS"] > scores["JMI"]


def test_on_mnist_ols_is_within_the_first_three_at_50_features(data_folder, tmp_path):
    settings = Settings(tmp_path, data_folder, rows=3000, jobs=2)
    run(["mnist"], settings)
    found = standing(settings, "mnist", "MNIST")
    assert len(found.scores) == 12
    assert found.ranks()["OLS"] <= 3
