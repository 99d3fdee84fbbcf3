"""Rules that say how many features, on the simulated tables."""

import numpy as np
import pytest

from orthoselect_study import EXPERIMENTS, report, run
from orthoselect_study.experiments.how_many import ASKED
from orthoselect_study.records import Results, Row
from orthoselect_study.size_rules import RULES, keep


def made(kept, repeats=100):
    """Return results of rules that keep exactly the three, or a false one, in so many tables."""
    rows = []
    for (kind, rule), (exactly, false) in kept.items():
        for repeat in range(repeats):
            at = Row(kind, rule, repeat=repeat)
            rows += [
                at._replace(measure="exactly", value=float(repeat < exactly)),
                at._replace(measure="any false", value=float(repeats - repeat <= false)),
                at._replace(measure="size", value=3.0 + (repeats - repeat <= false)),
            ]
    return Results(rows, {"methods": list(RULES)}, [], {}, len(kept), len(kept))


def test_all_rules_stand_in_the_report_beside_what_was_asked(tiny, undrawn):
    settings = tiny(repeats=2, batches=None)
    run(["how_many"], settings)
    told = report(settings.output)
    (part,) = told["experiments"]
    two, three, asked = part["tables"]
    for table in (two, three):
        assert [row[:2] for row in table["rows"]] == [[rule, 2] for rule in RULES]
    assert [row[0] for row in asked["rows"]] == ["binomial"] * 2 + ["multinomial"] * 2
    assert {row[-1] for row in asked["rows"]} <= {"met", "missed"}
    assert told["sentence"] == part["findings"][0]
    assert part["findings"][0].startswith('binomial: "auto" keeps exactly the three in ')


def test_shares_at_the_limit_are_met_and_one_table_beyond_is_missed():
    assert ASKED == {"binomial": (0.79, 0.08), "multinomial": (0.75, 0.08)}
    found = made({("binomial", "auto"): (79, 9), ("multinomial", "auto"): (74, 8)})
    *_, asked = EXPERIMENTS["how_many"].tables(found)
    assert [(row[3], row[5]) for row in asked.rows] == [
        ("79.0 ± 4.1", "met"), ("9.0 ± 2.9", "missed"),
        ("74.0 ± 4.4", "missed"), ("8.0 ± 2.7", "met"),
    ]  # fmt: skip


def test_rules_are_compared_on_the_same_tables_only():
    found = made({("binomial", "auto"): (80, 0), ("binomial", "EBIC"): (70, 0)})
    (sentence,) = EXPERIMENTS["how_many"].findings(found)[2:]
    assert "the best other rule, EBIC: 80.0 and 70.0 of 100, +10.0, more than two" in sentence
    fewer = Results([r for r in found.rows if r.method == "auto" or r.repeat], *[
        found.facts, [], {}, 2, 2])  # fmt: skip
    assert len(EXPERIMENTS["how_many"].findings(fewer)) == 2


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_keeps_what_makes_the_class_plainly(rule):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 30))
    y = (X[:, 2] - X[:, 7] + 0.3 * rng.normal(size=400) > 0).astype(int)
    kept = keep(rule, X, y, 0)
    assert kept == keep(rule, X, y, 0)
    assert {2, 7} <= set(kept)
    if rule in ("auto", "EBIC"):
        assert kept == [2, 7]


def test_ebic_is_never_longer_than_bic_and_takes_nothing_from_noise():
    rng = np.random.default_rng(0)
    sizes = []
    for _ in range(5):
        X, y = rng.normal(size=(200, 60)), rng.integers(0, 3, 200)
        sizes.append((len(keep("EBIC", X, y, 0)), len(keep("BIC", X, y, 0))))
    assert all(extended <= plain for extended, plain in sizes)
    assert [extended for extended, _ in sizes] == [0] * 5
