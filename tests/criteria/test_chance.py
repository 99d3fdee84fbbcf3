"""Width is not merit: features are ranked by what they gain beyond chance."""

import warnings

import numpy as np
import pandas as pd
import pytest

import naive
from orthoselect import OrthogonalSelector, select
from orthoselect.errors import InputError, NoMoreThanChanceWarning


def levels(rng, N, count, name="l"):
    return np.array([f"{name}{i}" for i in rng.integers(0, count, N)], dtype=object)


@pytest.fixture
def noisy():
    """A weak predictor beside forty levels of noise."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    frame = pd.DataFrame({"noise": levels(rng, 500, 40), "x": x, "z": rng.normal(size=500)})
    return frame, 0.25 * x + rng.normal(size=500)


def test_many_levels_of_noise_do_not_come_before_a_predictor(noisy):
    frame, y = noisy
    assert select(frame, y, 1).names == ["x"]
    assert select(frame, y, 1, adjust=None).names == ["noise"]


def test_chance_gives_noise_on_average_what_the_formula_says():
    rng = np.random.default_rng(1)
    N, draws, shares = 200, 300, []
    x = rng.normal(size=N)
    for _ in range(draws):
        frame = pd.DataFrame({"x": x, "noise": levels(rng, N, 30)})
        y = x + rng.normal(size=N)
        path = select(frame, y, 2, include=["x"])
        shares.append(path[1].gain / path[1].chance)
    error = np.std(shares) / np.sqrt(draws)
    assert abs(np.mean(shares) - 1) < 4 * error < 0.1


def test_chance_is_by_the_formula(noisy):
    frame, y = noisy
    path = select(frame, y, 3)
    total, rank = 0.0, 0
    for step in path:
        z = frame[step.name].nunique() - 1 if step.name == "noise" else 1
        assert step.chance == pytest.approx(z * (1 - total) / (len(y) - 1 - rank))
        total, rank = step.total, rank + z


def test_numbers_alone_are_ranked_as_ever():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 9))
    y = X[:, :3].sum(axis=1) + rng.normal(size=80)
    path = select(X, y, 9)
    assert path == select(X, y, 9, adjust=None)
    assert not path.knows_chance
    assert "chance" not in path.to_text() + path._repr_html_() + path.to_csv()


def test_groups_of_one_width_are_ranked_as_ever():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 12))
    y = X[:, [0, 5]].sum(axis=1) + rng.normal(size=60)
    groups = [f"g{j // 3}" for j in range(12)]
    plain = select(X, y, 4, groups=groups, adjust=None)
    assert select(X, y, 4, groups=groups).names == plain.names


@pytest.mark.filterwarnings("ignore:selected .* of the:UserWarning")
@pytest.mark.parametrize("seed", range(40))
def test_ranks_by_definition(seed):
    rng = np.random.default_rng(seed)
    N = int(rng.integers(45, 90))
    widths = rng.integers(1, 8, 6)
    blocks = [rng.normal(size=(N, p)) for p in widths]
    blocks[1][:, 0] = blocks[0][:, 0]  # partly the same
    y = blocks[0][:, 0] + 0.5 * blocks[2][:, 0] + rng.normal(size=N)
    groups = np.repeat([f"g{f}" for f in range(6)], widths).tolist()
    path = select(np.hstack(blocks), y, 6, groups=groups)
    selected, gains = naive.forward(blocks, y[:, None], 6)
    assert [int(name[1:]) for name in path.names] == selected
    assert path.gains == pytest.approx(gains, abs=1e-8)


def test_a_number_goes_on_past_chance_with_a_warning(noisy):
    frame, y = noisy
    with pytest.warns(NoMoreThanChanceWarning, match=r"from step 2 on \(`\w+`\) no feature gains"):
        assert len(select(frame, y, 3)) == 3


def test_without_a_number_the_search_stops_where_chance_gives_as_much(noisy):
    frame, y = noisy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = select(frame, y, None)
    assert path.names == ["x"]
    assert path.stopped == "no other feature gains more than it would by chance."
    assert OrthogonalSelector(None).fit(frame, y).path_ == path


def test_noise_of_one_width_is_told_and_not_taken_either():
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    frame = pd.DataFrame({f"n{j}": levels(rng, 500, 40) for j in range(3)})
    path = select(frame, y, None)
    assert not path.names
    assert path.stopped == "no other feature gains more than it would by chance."
    for names in ([*frame], ["n0"]):
        with pytest.warns(NoMoreThanChanceWarning, match="from step 1 on .* Select none"):
            assert len(select(frame[names], y, len(names))) == len(names)


def test_chance_stands_beside_the_gains_everywhere(noisy):
    frame, y = noisy
    path = select(frame, y, 2)
    assert path.to_dict()["steps"][0]["chance"] == path[0].chance
    assert path.to_frame()["chance"].tolist() == [step.chance for step in path]
    assert path.to_csv().splitlines()[0] == "step,feature,name,gain,total,chance"
    assert "chance" in path.to_text().splitlines()[1]
    assert "<th>chance</th>" in path._repr_html_()


def test_an_unknown_adjustment_is_refused(noisy):
    with pytest.raises(InputError, match="one of 'chance', 'p_value', None; got 'luck'"):
        select(*noisy, 1, adjust="luck")
    with pytest.raises(InputError, match="has no option `adjust`"):
        OrthogonalSelector(1, criterion="err", adjust=None).fit(noisy[0][["x"]], noisy[1])
