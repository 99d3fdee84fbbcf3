"""The small parts of sentences and keys: errors, gaps, lists, names and chance."""

from pathlib import Path

import pytest

from orthoselect_study import Settings, figures, findings, settings
from orthoselect_study.findings import Standing
from orthoselect_study.methods import chosen
from orthoselect_study.records import digest, generator
from orthoselect_study.reporting import _code as code_of


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (findings.mean([0.5, 0.8], [2, 1]), 0.6),
        (findings.share_error(0.9, 100), 0.03),
        (findings.difference_in_errors(0.91, 500, 0.95, 100), -1.32),
        (findings.auc_error(0.9, 150, 150), 0.018),
        (findings.printed_gap(0.72856, 0.72814), 0.0005),
    ],
)
def test_means_errors_and_gaps_are_those_worked_out_by_hand(found, expected):
    assert found == pytest.approx(expected, rel=0.03)


def test_a_gap_is_judged_by_the_error_as_it_is_printed():
    within = "within two standard errors of the difference (2 x 0.0035 = 0.0070)"
    assert findings.verdict(0.0035, 0.00351) == within


def test_words_are_listed_as_in_a_sentence():
    assert [findings.listed(list(words)) for words in ("", "a", "ab", "abc")] == [
        *("", "a", "a and b", "a, b and c")
    ]


def test_equals_share_the_better_rank_and_their_score():
    standing = Standing("a", "accuracy", {"OLS": [0.9], "MIM": [0.8], "JMI": [0.9]}, {})
    assert standing.ranks() == {"OLS": 1, "MIM": 3, "JMI": 1}
    assert findings.score_words(standing) == "0.9000 by OLS, JMI and 0.8000 by MIM"
    assert findings.score_words(standing.among(["OLS", "JMI"])) == "0.9000 by every method"


def test_names_are_known_whatever_their_capitals():
    assert settings.find("ols", ["OLS", "OLSd"], "methods") == "OLS"
    assert chosen(Settings(Path("out"), methods=("ols", "mim"))) == ["OLS", "MIM"]


def test_keys_do_not_depend_on_the_order_and_chance_only_on_its_purpose():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    first = generator(0, "binomial", 3).normal()
    assert generator(0, "binomial", 3).normal() == first != generator(0, "binomial", 4).normal()


def test_kin_share_a_color_and_ours_is_the_strongest_line():
    assert figures.look("OLS")["color"] == figures.look("OLSd")["color"]
    assert figures.look("OLS")["linewidth"] > figures.look("MIM")["linewidth"]


def test_a_run_is_told_as_a_command_or_in_python_where_the_command_has_no_option():
    plain = {"output": "out", "data": None, "methods": ["OLS", "MIM"], "seed": 3, "quick": True}
    command = "orthoselect study run binomial --methods OLS,MIM --seed 3 --quick --output out"
    assert code_of(["binomial"], plain) == command
    assert code_of(["binomial"], {"output": "out", "quick": False, "batches": 2}).splitlines() == [
        "from pathlib import Path",
        "from orthoselect_study import Settings, run",
        "",
        "run(['binomial'], Settings(output=Path('out'), batches=2))",
    ]
