"""`orthoselect select -k auto` and `--p-values`: each flag changes what it says."""

import json

import numpy as np
import pytest

from orthoselect import select

pd = pytest.importorskip("pandas")


@pytest.fixture
def table(tmp_path):
    """One strong feature, two weak ones, and one that is like the target between sites only."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(120, 8)), columns=[f"x{j}" for j in range(8)])
    site = np.arange(120) // 30
    frame["y"] = 2 * frame.x0 + 0.45 * frame.x1 + 0.4 * frame.x2 + rng.normal(size=120)
    frame["between"] = site + 0.05 * rng.normal(size=120)
    frame["z"] = site + 0.3 * rng.normal(size=120)  # a target that only sites tell
    frame["site"] = [f"s{s}" for s in site]
    frame.round(6).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


@pytest.fixture
def found(run, table):
    """Return what the command prints as JSON."""

    def select_from(*arguments, target="y", exclude=("z", "site", "between")):
        left_out = [word for name in exclude for word in ("--exclude", name)]
        ran = run("select", table, "-t", target, *left_out, "-f", "json", *arguments)
        assert ran.code == 0, ran.err
        return json.loads(ran.out)

    return select_from


def p_values(path):
    return [step["p_value"] for step in path["steps"]]


def test_auto_chooses_as_python_does(found, table):
    path = select(table, "y", "auto", exclude=["z", "site", "between"])
    auto = found("-k", "auto")
    assert auto["chosen"] == path.chosen < len(path) == len(auto["steps"])
    assert p_values(auto) == pytest.approx(path.p_values)
    assert auto["n_permutations"] == 199


def test_a_stricter_level_takes_fewer(found):
    sizes = [found("-k", "auto", "--alpha", alpha)["chosen"] for alpha in (0.3, 0.05, 0.006)]
    assert sizes[0] > sizes[2] >= 1
    assert sizes == sorted(sizes, reverse=True)


def test_permutations_are_as_many_as_asked_for(found):
    path = found("-k", "auto", "--permutations", 39)
    assert path["n_permutations"] == 39
    counted = [40 * p for p in p_values(path) if p > 1 / 40]
    assert counted
    assert counted == pytest.approx(np.round(counted))


def test_a_seed_draws_other_permutations_and_the_same_ones_again(found):
    first, again, other = (p_values(found("-k", "auto", "--seed", s)) for s in (0, 0, 1))
    assert first == again == p_values(found("-k", "auto"))
    assert first != other


def test_p_values_are_told_of_a_number_too_where_asked_for(found):
    plain, tested = found("-k", 2), found("-k", 2, "--p-values")
    assert [step["name"] for step in plain["steps"]] == [step["name"] for step in tested["steps"]]
    assert not any(step.get("p_value") for step in plain["steps"])
    assert p_values(tested)[0] < 0.01


def test_what_only_tells_sites_is_not_significant_within_them(found):
    freely = found("-k", "auto", target="z", exclude=("y", "site"))
    within = found("-k", "auto", "--permute-within", "site", target="z", exclude=("y",))
    assert freely["steps"][0]["name"] == within["steps"][0]["name"] == "between"
    assert p_values(freely)[0] < 0.01 < 0.05 < p_values(within)[0]
    assert (freely["chosen"], within["chosen"]) == (1, 0)
    assert "site" not in [step["name"] for step in within["steps"]]
