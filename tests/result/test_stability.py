"""What a stability gives itself as: frames, CSV, text, HTML, a plot."""

import csv
import io

import pytest

from orthoselect import stability
from orthoselect.errors import FormulaWarning
from orthoselect.result import FeatureFrequency, HalvesTaken, Stability, SubstituteSet

pd = pytest.importorskip("pandas")


def made(chosen=True, n_pairs=50, names=("a", "=b", "c")):
    frequencies = (0.9, 0.6, 0.0) if chosen else (0.5, 0.3, 0.0)
    features = [
        FeatureFrequency(k, name, (k,), f, f >= 0.75, min(k, 1))
        for k, (name, f) in enumerate(zip(names, frequencies))
    ]
    sets = [
        SubstituteSet(names[:1], frequencies[0], chosen),
        SubstituteSet(names[1:], 0.8, True),
    ]
    taken = HalvesTaken("socc", 1, 0.75, "unimodal", n_pairs, 50, 0)
    bounds = {"unimodal": 0.34, "r_concave": 0.1, "none": 0.67}
    return Stability(features, sets, taken, bounds, 0.51)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_have_a_row_a_feature(backend):
    pytest.importorskip(backend)
    frame = made().to_frame(backend)
    columns = list(getattr(frame, "column_names", frame.columns))
    assert columns == ["feature", "name", "frequency", "chosen", "set", "set_frequency"]
    assert len(frame) == 3


def test_csv_is_the_frame_and_formulas_are_warned_of():
    with pytest.warns(FormulaWarning, match="=b"):
        rows = list(csv.DictReader(io.StringIO(made().to_csv())))
    assert [row["set_frequency"] for row in rows] == ["0.9", "0.8", "0.8"]
    assert "'=b" in made().to_csv(escape_formulas=True)


def test_the_sentence_says_how_many_and_how_sure():
    said = made().sentence
    assert said.startswith("1 of 3 features is stable, taken by at least 75 of 100 halves")
    assert "at most 0.34 are expected to be false" in said
    assert "although none of their features is: =b, c (80%); of the chosen sets at most" in said
    assert made(chosen=False).sentence.startswith("No feature of 3 is stable")
    assert "Only 20 of 50 pairs of halves were done." in made(n_pairs=20).sentence


def test_a_bound_for_sets_that_bounds_nothing_is_not_told():
    full = made()
    vain = Stability(full.features, full.sets, full.taken, full.bounds, 2.0)
    assert "expected false" in full.sentence
    assert "expected false" not in vain.sentence
    assert "(80%)." in vain.sentence
    assert any("of 2 sets at most 0.51" in words for words in full.assumptions)
    said = "there is no bound for sets, of which there are 2 and each half takes up to 1."
    assert any(words.endswith(said) for words in vain.assumptions)


def test_what_is_supposed_is_said_wherever_it_is_shown():
    shown = made(), made().to_text(), made()._repr_html_(), made().to_dict()["assumptions"]
    for one in map(str, shown):
        assert "exchangeable" in one
        assert "have one peak; without that it is 0.67" in one
        assert "substitutes if they share more than half" in one


def test_text_shows_what_is_taken_and_counts_the_rest():
    text = made().to_text(bars=True)
    assert "80.0% (c)" in text
    assert "1 is never taken." in text
    assert "█" in text


def test_html_is_escaped():
    page = made(names=("<b>", "x & y", "c"))._repr_html_()
    assert "<td>&lt;b&gt;</td>" in page
    assert "x &amp; y" in page


def test_the_plot_has_bars_the_threshold_and_rings():
    figures = pytest.importorskip("matplotlib.figure")
    ax = made().plot(figures.Figure().subplots())
    assert [bar.get_width() for bar in ax.patches] == [0.9, 0.6]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "=b"]
    assert "threshold 0.75" in [text.get_text() for text in ax.texts]
    rings = next(line for line in ax.lines if line.get_marker() == "o")
    assert list(rings.get_xdata()) == [0.8]
    assert "ring" in ax.get_xlabel()


def test_the_call_that_does_it_again():
    found = stability("iris", None, 1, n_pairs=3, missing="mean", threshold=0.8)
    code = found.taken.reproduce["python"]
    assert code.startswith("from orthoselect import stability\n\nfound = stability(\n    'iris',")

    weighed = stability("iris", None, 1, n_pairs=2, sample_weight=[1] * 150).taken.reproduce
    assert weighed["python"].endswith("sample_weight=sample_weight,\n)")
    assert weighed["options"]["sample_weight"] == "given"
    names = {"target": None}
    exec(code, names)
    again = names["found"]
    assert again.frequencies == found.frequencies
    assert again.threshold == found.threshold
