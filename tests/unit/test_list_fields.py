"""n-best lists whose features are not in the third field, and start weights of other feature functions."""

import pytest
from tests.text_grammars import write

from itersel.cli.main import main
from itersel.errors import InputError
from itersel.lists.reading import read_lists
from itersel.lists.rescoring import rescored_lines
from itersel.tune.nbest import tune_nbest
from itersel.vectors.weights import make_weights

# The same two translations: usual order, Travatar's, Marian's with alignments, and with scores of words, too.
FORMS = {
    "usual": "0 ||| {} ||| lm={} tm= 1 {} ||| {}",
    "Travatar": "0 ||| {0} ||| {3} ||| lm={1} tm= 1 {2}",
    "alignment": "0 ||| {} ||| 0-0 1-1 ||| lm={} tm= 1 {} ||| {}",
    "soft alignment": "0 ||| {} ||| 1 ||| lm={} tm= 1 {} ||| {}",
    "scores of words": "0 ||| {} ||| 0-0 ||| WordScores= -0.1 -0.2 ||| lm={} tm= 1 {} ||| {}",
}
ROWS = [("a b", -1, 2, -9), ("c", -3, 4, -8)]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_features_are_found(tmp_path, form):
    path = write(tmp_path / "list", *(form.format(*row) for row in ROWS))
    lists = read_lists([path], has_lines=True)
    assert lists.names == ["lm", "tm_0", "tm_1"]
    weights = make_weights({"lm": 2.0, "tm_1": 1.0})
    assert lists.table.scores(weights).tolist() == [0, -2]
    # the new score takes the place of the old one
    lines = list(rescored_lines(lists, weights, 2))
    assert lines == [form.format(*row[:3], score) for row, score in zip(ROWS, (0, -2), strict=True)]


def test_scores_alone_stay_a_feature(tmp_path):
    lines = ["0 ||| a ||| ||| -1", "0 ||| b ||| ||| -2 ||| x=1"]
    assert read_lists([write(tmp_path / "list", *lines)]).names == ["score"]
    # as in some lines of Travatar's
    lines = ["0 ||| a ||| -1 ||| x=1", "0 ||| b ||| -2 ||| "]
    assert read_lists([write(tmp_path / "list", *lines)]).names == ["x", "score"]


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["0 ||| a ||| x=1 ||| -1", "0 ||| b ||| -2 ||| x=1"], 2),
        # numbers would have been features
        (["0 ||| a ||| -1 ||| ", "0 ||| b ||| -2 ||| x=1"], 2),
        (["0 ||| a ||| 0-0 1-1 ||| -1"], 1),
    ],
)
def test_mixed_forms(tmp_path, lines, line):
    path = write(tmp_path / "list", *lines)
    with pytest.raises(InputError) as caught:
        read_lists([path])
    assert (str(caught.value.path), caught.value.line) == (str(path), line)
    assert "field 3" in str(caught.value)


@pytest.mark.parametrize("names", [("tm",), ("tm_0", "tm_1", "tm_2"), ("tm_00",)])
def test_start_weights_of_another_number(tmp_path, names):
    """Weights of a feature function with another number of values would be written as further functions."""
    path = write(tmp_path / "list", *(FORMS["usual"].format(*row) for row in ROWS))
    with pytest.raises(InputError) as caught:
        tune_nbest([path], ["a b"], start=dict.fromkeys(names, 0.5), quality="chrf")
    assert names[-1] in str(caught.value)
    # other names that begin alike, and zeros that files leave out, are no such weights
    start = {"tm_0": 1.0, "tm_x": 1.0, "tmp_2": 1.0, "LM": 1.0}
    assert {"tm_x", "tmp_2", "LM"} <= tune_nbest(
        [path], ["a b"], start=start, quality="chrf"
    ).weights.to_dict().keys()


def test_nothing_is_written(tmp_path, refused):
    path = write(tmp_path / "list", *(FORMS["usual"].format(*row) for row in ROWS))
    files = {"start": "w.ini", "reference": "r", "output": "new.ini"}
    write(tmp_path / "w.ini", "[weight]", "lm= 1", "tm= 1 2 3")
    write(tmp_path / "r", "a b")
    options = [f"--{option}={tmp_path / name}" for option, name in files.items()]
    assert main(["tune", "--tuner", "mert", "--nbest", str(path), *options]) == 1
    assert not (tmp_path / "new.ini").exists()
