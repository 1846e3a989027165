"""n-best lists whose features are not in the third field, and start weights of other feature functions."""

import pytest
from tests.refusals import input_error
from tests.text_grammars import write

from itersel.cli.main import main
from itersel.errors import InputError
from itersel.lists.reading import read_lists
from itersel.lists.rescoring import first_texts, rescore, rescored_lines
from itersel.tune.nbest import tune_nbest
from itersel.vectors.weights import make_weights

# The same two translations: usual order, Travatar's, Marian's with alignments, and with scores of words, too.
FORMS = {
    "usual": "0 ||| {} ||| lm={} tm= 1 {} ||| {}",
    "Travatar": "0 ||| {0} ||| {3} ||| lm={1} tm= 1 {2}",
    "alignment": "0 ||| {} ||| 0-0 1-1 ||| lm={} tm= 1 {} ||| {}",
    "soft alignment": "0 ||| {} ||| 1 ||| lm={} tm= 1 {} ||| {}",
    "scores of words": "0 ||| {} ||| 0-0 ||| WordScores= -0.1 -0.2 ||| lm={} tm= 1 {} ||| {}",
    # pymarian with a threshold for alignments that no link reaches
    "no links": "0 ||| {} |||  ||| lm={} tm= 1 {} ||| {}",
    "no links, scores of words": "0 ||| {} |||  ||| WordScores= -0.1 ||| lm={} tm= 1 {} ||| {}",
    "soft alignment of several words": "0 ||| {} ||| 0.9,0.1 0.05,9.5e-1 ||| lm={} tm= 1 {} ||| {}",
    "soft alignment, scores of words": "0 ||| {} ||| 1 ||| WordScores= 0.00000 ||| lm={} tm= 1 {} ||| {}",
}
ROWS = [("a b", -1, 2, -9), ("c", -3, 4, -8)]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_features_are_found(tmp_path, form):
    path = write(tmp_path / "list", *(form.format(*row) for row in ROWS))
    lists = read_lists([path], has_lines=True)
    assert lists.features.names == ["lm", "tm_0", "tm_1"]
    weights = make_weights({"lm": 2.0, "tm_1": 1.0})
    assert lists.table.scores(weights).tolist() == [0, -2]
    # the new score takes the place of the old one
    lines = list(rescored_lines(lists, weights, 2))
    assert lines == [form.format(*row[:3], score) for row, score in zip(ROWS, (0, -2), strict=True)]


def test_scores_alone_stay_a_feature(tmp_path):
    lines = ["0 ||| a ||| ||| -1", "0 ||| b ||| ||| -2 ||| x=1"]
    assert read_lists([write(tmp_path / "list", *lines)]).features.names == ["score"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        # numbers are features, whatever follows their score
        ("0 ||| a b ||| 0.5 0.2 ||| -1.2 ||| 0=0 1=1", {"F_0", "F_1"}),
        ("0 ||| a b ||| 0.5 ||| -1.2 ||| 0=0 1=1", {"F"}),
        ("0 ||| a b ||| x=1 ||| -1.2 ||| 0=0 1=1", {"x"}),
        ("0 ||| a b ||| ||| -1.2 ||| 0=0 1=1", {"score"}),
        # Travatar, without features
        ("0 ||| a b ||| -2.5 ||| ", {"score"}),
    ],
)
def test_each_line_by_itself(tmp_path, line, found):
    """Which features a line has depends on no other line, so lists can be cut anywhere."""
    others = ["1 ||| a ||| -3 ||| y=1", "2 ||| a ||| z=1 ||| 0"]
    for lines in ([line], [line, *others], [*others, line]):
        read = read_lists([write(tmp_path / "list", *lines)])
        assert set(read.features.names) == found | ({"y", "z"} if len(lines) > 1 else set())


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ("0-0 1-1", 3),
        ("WordScores= -1 -2", 3),
        ("0-0 ||| WordScores= -1", 4),
        ("1 ||| WordScores= -1", 4),
        (" ||| WordScores= -1", 4),
    ],
)
def test_lines_without_features(tmp_path, fields, field):
    with input_error("list:1:", field):
        read_lists([write(tmp_path / "list", f"0 ||| a ||| {fields} ||| -1")])


# What pymarian writes between translation and features, by its options: for the usual translation, and for an
# empty one. Their scores are not normalised, or they are by length, where an empty translation has 0.
MARIAN = {
    "": ("", ""),
    "--alignment hard": ("0-0 1-1 2-1 ||| ", "0-0 ||| "),
    "--alignment 0.999": (" ||| ", "0-0 ||| "),
    "--alignment soft": ("0.96,0.04,3e-05 0.5,0.25,0.25 ||| ", "1 ||| "),
    "--word-scores": ("WordScores= -0.5 -0.25 ||| ", "WordScores= 0.00000 ||| "),
    "--alignment hard --word-scores": (
        "0-0 1-1 ||| WordScores= -0.5 -0.25 ||| ",
        "0-0 ||| WordScores= 0.00000 ||| ",
    ),
    "--alignment 0.999 --word-scores": (
        " ||| WordScores= -0.5 -0.25 ||| ",
        "0-0 ||| WordScores= 0.00000 ||| ",
    ),
    "--alignment soft --word-scores": (
        "0.96,0.04 0.5,0.5 ||| WordScores= -0.5 -0.25 ||| ",
        "1 ||| WordScores= 0.00000 ||| ",
    ),
}


@pytest.mark.parametrize("options", MARIAN)
@pytest.mark.parametrize("normalize", [1, 3])
def test_lists_of_marian(tmp_path, options, normalize):
    """The empty translation may be the best, be all there is, and be in the list several times."""
    before, before_empty = MARIAN[options]
    empty = [f"||| {before_empty}F0= -0.5 ||| 0"] * 2
    full = [
        f"{text} ||| {before}F0= {score} ||| {score / normalize:g}"
        for text, score in (("a", -3), ("b a", -6))
    ]
    lists = [[*empty, *full], [*full, *empty], empty]
    lines = [f"{number} ||| {rest}" for number, one in enumerate(lists) for rest in one]
    paths = [write(tmp_path / "list", *lines)]

    read = read_lists(paths)
    assert read.features.names == ["F0"]
    assert first_texts(paths) == ["", "a", ""]
    assert rescore(paths, {"F0": 1.0}) == ["", "", ""]
    assert rescore(paths, {"F0": -1.0}) == ["b a", "b a", ""]
    weights = make_weights({"F0": -1.0})
    reordered = write(tmp_path / "reordered", *rescored_lines(read_lists(paths, has_lines=True), weights, 9))
    assert read_lists([reordered]).features.names == ["F0"]
    assert first_texts([reordered]) == ["b a", "b a", ""]
    tuned = tune_nbest(paths, ["b a", "b a", "b"], tuner="kbest-mira", quality="chrf")
    assert tuned.weights.to_dict()["F0"] < 0


@pytest.mark.parametrize("names", [("tm",), ("tm_0", "tm_1", "tm_2"), ("tm_00",)])
def test_start_weights_of_another_number(tmp_path, names):
    """Weights of a feature function with another number of values would be written as further functions."""
    path = write(tmp_path / "list", *(FORMS["usual"].format(*row) for row in ROWS))
    with pytest.raises(InputError) as caught:
        tune_nbest([path], ["a b"], tuner="kbest-mira", start=dict.fromkeys(names, 0.5), quality="chrf")
    assert names[-1] in str(caught.value)
    # other names that begin alike, and zeros that files leave out, are no such weights
    start = {"tm_0": 1.0, "tm_x": 1.0, "tmp_2": 1.0, "LM": 1.0}
    tuned = tune_nbest([path], ["a b"], tuner="kbest-mira", start=start, quality="chrf")
    assert {"tm_x", "tmp_2", "LM"} <= tuned.weights.to_dict().keys()


# the number of weights of a feature function in moses.ini, whose lists have five values
@pytest.mark.parametrize("count", [1, 3, 4, 6])
@pytest.mark.parametrize("step", ["tune", "rescore"])
def test_another_number_of_weights_than_of_values(tmp_path, refused, step, count):
    """Weights are of other lists, whether there are more or fewer of them; nothing is written."""
    lines = (f"0 ||| {text} ||| lm= {value} tm= 1 2 3 4 {value} ||| 0" for value, text in enumerate("ab"))
    files = {"nbest": write(tmp_path / "list", *lines), "output": tmp_path / "new.ini"}
    weights = {"tune": "start", "rescore": "weights"}[step]
    weight = " ".join(["0.5"] * count)
    # features that lists lack, and features without a weight, are usual
    files[weights] = write(tmp_path / "moses.ini", "[weight]", "UnknownWordPenalty0= 1", f"tm= {weight}")
    if step == "tune":
        files["reference"] = write(tmp_path / "r", "a")
    command = [step, *(["--tuner", "mert", "--quality", "chrf"] if step == "tune" else [])]
    command += [word for name, path in files.items() for word in (f"--{name}", str(path))]

    refused(command, ("moses.ini:", "'tm'", count, 5))
    assert not (tmp_path / "new.ini").exists()
    write(tmp_path / "moses.ini", "[weight]", "UnknownWordPenalty0= 1", "tm= 1 1 1 1 1")
    assert main(command) == 0


def test_weights_of_other_files_may_leave_out_zeros(tmp_path):
    """Only Moses's block states how many weights a feature function has."""
    path = write(tmp_path / "list", *(FORMS["usual"].format(*row) for row in ROWS))
    weights = write(tmp_path / "weights.txt", "tm_0 1.0")
    assert rescore([path], weights) == ["a b"]
    tuned = tune_nbest([path], ["c"], tuner="kbest-mira", start=weights, quality="chrf")
    assert tuned.quality_points == pytest.approx(100)
    with input_error("weights.txt:", "'tm_2'", "'tm'", 2):
        rescore([path], write(weights, "tm_2 1.0"))


def test_another_number_of_weights_than_of_a_further_feature(tmp_path):
    """It has one value, as there is one number for each line."""
    path = write(tmp_path / "list", "0 ||| a ||| lm= 1 ||| 0")
    weights = write(tmp_path / "moses.ini", "[weight]", "lm= 1", "comet= 0.3 0.2")
    with input_error("moses.ini:", "'comet'", 2, 1):
        rescore([path], weights, features={"comet": [0.5]})
    assert rescore([path], write(weights, "[weight]", "lm= 1", "comet= 0.3"), features={"comet": [0.5]}) == [
        "a"
    ]


def test_numbered_features_beside_one_with_the_name_before_the_number(tmp_path):
    path = write(tmp_path / "list", "0 ||| a ||| x= 1 y= 0.5 ||| 0")
    assert rescore([path], {"x": 1.0, "x_1": 1.0, "x_2": 1.0}) == ["a"]
