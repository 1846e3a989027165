"""n-best lists of other decoders: the forms they come in, errors, and rescoring."""

import json
from itertools import pairwise

import numpy as np
import pytest
from tests.refusals import check_facts, input_error
from tests.text_grammars import write

from itersel.cli.main import main
from itersel.lists.numbers import read_further_features
from itersel.lists.reading import read_lists
from itersel.lists.rescoring import rescore, rescored_lines
from itersel.lists.weights import read_any_weights, write_any_weights
from itersel.vectors.weights import make_weights

MOSES = "0 ||| a b ||| LM= -3.5 TM= -1 -2 ||| -4.7 ||| 0-0 1-1"
CDEC = "0 ||| a b ||| LanguageModel=-3.5 R:x=y=1 ||| -4.7"
JOSHUA = "0 ||| a b ||| tm_pt_0=-1.000 lm_0=-3.5 ||| -4.7"
BARE = "0 ||| a b ||| -1 -2 ||| -4.7"
NEURAL = "0 ||| a b ||| ||| -4.7"
JSON = '{"id": 0, "text": "a b", "features": {"LM": -3.5, "n": 2}, "score": -4.7}'
# The facts of the message that there are more sentences than references, of which there is one.
ONE_REFERENCE = ("list:", "sentence 1", 1)
JSON_SCORE = '{"id": 0, "text": "a b", "score": -4}'


def features(lists, row):
    """Return the features of a translation; dense ones that are 0 may also be missing in its line."""
    table, sparse = lists.table, lists.table.sparse_rows
    places = range(*sparse.offset[row : row + 2])
    found = {sparse.name.get(int(sparse.feature[i])): sparse.value[i] for i in places}
    dense = zip(table.dense_names, table.dense[row].tolist(), strict=True)
    return found | {name: value for name, value in dense if value}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (MOSES, {"LM": -3.5, "TM_0": -1, "TM_1": -2}),
        (CDEC, {"LanguageModel": -3.5, "R:x=y": 1}),
        (JOSHUA, {"tm_pt_0": -1, "lm_0": -3.5}),
        (BARE, {"F_0": -1, "F_1": -2}),
        (NEURAL, {"score": -4.7}),
        (JSON, {"LM": -3.5, "n": 2}),
        (JSON_SCORE, {"score": -4}),
        ("0 ||| a b ||| ", {}),
        ("0|||a  b|||LM= 1e-3", {"LM": 0.001}),
        ("0 ||| a b ||| R:un\u00a0peu=1\tLM= 2", {"R:un\u00a0peu": 1, "LM": 2}),
        (JSON_SCORE.replace("-4", "null"), {}),
    ],
)
def test_forms(tmp_path, line, found):
    lists = read_lists([write(tmp_path / "list", line)])
    assert lists.table.text.to_list() == ["a b"]
    assert features(lists, 0) == found


def test_several_files_are_merged_by_sentence(tmp_path):
    first = write(tmp_path / "1", "1 ||| c ||| x=1", "", "0 ||| a ||| x=2", " ")
    second = write(tmp_path / "2.gz", "0 ||| b ||| y=3 x=4", "1 ||| ||| y=5")
    lists = read_lists([first, second], 2)
    assert lists.table.text.to_list() == ["a", "b", "c", ""]
    assert lists.table.offset.tolist() == [0, 2, 4]
    assert lists.row.tolist() == [1, 2, 0, 3]
    assert [features(lists, row) for row in range(4)] == [{"x": 2}, {"x": 4, "y": 3}, {"x": 1}, {"y": 5}]
    # ascending in each row, whatever comes first in the list
    sparse = lists.table.sparse_rows
    assert all((np.diff(sparse.feature[a:b]) > 0).all() for a, b in pairwise(sparse.offset))


def test_a_value_of_0_is_none(tmp_path):
    lines = ("0 ||| a ||| x=1 y=0", "0 ||| a ||| x=1", "0 ||| a ||| z=-0 x=1", "0 ||| a ||| x=1 y=1")
    for dense in ((), ("x",), ("x", "y", "z")):
        lists = read_lists([write(tmp_path / "list", *lines)], choose_dense=lambda _: dense)  # noqa: B023
        assert lists.without_duplicates().row.tolist() == [0, 3]
        assert lists.features.names == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("lines", "facts"),
    [
        ([], "list:"),
        (["0 ||| a"], ("list:1:", "'number ||| text ||| features ||| score'", "JSON")),
        (["x ||| a ||| f=1"], ("list:1:", "'x'", 0)),
        (["-1 ||| a ||| f=1"], ("list:1:", "'-1'", 0)),
        (["99999999999999999999999 ||| a ||| f=1"], (0, 100000000)),
        (["0 ||| a ||| f=1", "2 ||| a ||| f=1"], ("list:", 1, 0, 2)),
        (["0 ||| a ||| f=nan"], ("list:1:", "'f'")),
        (["0 ||| a ||| f= 1 -inf"], ("list:1:", "'f_1'")),
        (["0 ||| a ||| f=1_0"], ("list:1:", "'1_0'")),
        (["0 ||| a ||| f= x"], ("list:1:", "'x'")),
        (["0 ||| a ||| f= g=1"], ("list:1:", "'f'")),
        (["0 ||| a ||| =1"], ("list:1:", "'=1'")),
        (["0 ||| a ||| f=1 f=2"], ("list:1:", "'f'")),
        (["0 ||| a ||| f= 1 2", "0 ||| a ||| f= 1"], ("list:2:", "'f'", 1, 2)),
        (["0 ||| a\x01b ||| f=1"], "list:1:"),
        (["0 ||| a ||| f\x01=1"], "list:1:"),
        (["0 ||| a ||| f=1", "99999999 ||| a ||| f=1"], ("list:", 1)),
        (["0 ||| a ||| f=1", "1 ||| a ||| f=1"], ONE_REFERENCE),
        (["{"], ("list:1:", "JSON")),
        (['{"id": 0, "text": "\\ud800"}'], ("list:1:", "JSON")),
        (['{"id": 0, "id": 1, "text": "a"}'], ("list:1:", "'id'")),
        (['{"id": 0, "text": "a", "features": {"f": 1, "f": 1}}'], ("list:1:", "'f'")),
        (['{"id": 0, "text": "a", "features": {"f\\u0000": 1}}'], "list:1:"),
        ([f'{{"id": 0, "text": "a", "features": {{"f": -1{"0" * 5000}}}}}'], "'f'"),
        (['{"id": 0, "text": "a", "features": 0}'], ("list:1:", "'features'")),
        (['{"id": 0, "text": "a", "features": [1]}'], ("list:1:", "'features'")),
        (['{"text": "a"}'], ("list:1:", "'id'")),
        (['{"id": true, "text": "a"}'], ("list:1:", "'id'")),
        (['{"id": 0}'], ("list:1:", "'text'")),
        (['{"id": 0, "text": "a", "features": {"f": "1"}}'], ("list:1:", "'f'")),
        (['{"id": 0, "text": "a", "features": {"a b": 1}}'], ("list:1:", "'a b'")),
        (['{"id": 0, "text": "a", "features": {"f": NaN}}'], ("list:1:", "'f'")),
    ],
)
def test_bad_lists(tmp_path, lines, facts):
    with input_error(facts):
        read_lists([write(tmp_path / "list", *lines)], 1 if facts == ONE_REFERENCE else None)


@pytest.mark.parametrize(
    ("name", "numbers", "facts"),
    [
        ("lm", ["1"], ("numbers:", 1, 2)),
        ("lm", ["1", "x"], ("numbers:2:", "'x'")),
        ("lm", ["1", "inf"], ("numbers:2:", "'inf'")),
        ("f", ["1", "2"], "'f'"),
        ("F", ["1", "2"], "'F'"),  # the name of a block
        ("a b", ["1", "2"], ("numbers:", "'a b'")),
    ],
)
def test_bad_scores(tmp_path, name, numbers, facts):
    lists = write(tmp_path / "list", "0 ||| a ||| f=1 F= 1 2", "0 ||| b ||| f=2")
    with input_error(facts):
        further = read_further_features({name: write(tmp_path / "numbers", *numbers)})
        read_lists([lists], further_features=further)


def test_scores_are_features(tmp_path):
    lists = write(tmp_path / "list", "1 ||| a ||| f=1", "0 ||| b |||", "0 ||| c ||| f=3")
    found, again = (
        read_lists([lists], further_features=read_further_features({"lm": numbers}))
        for numbers in (write(tmp_path / "numbers", "-1", "-2", "-3"), np.array([-1, -2, -3]))
    )
    assert again.table.sparse_rows.value.tolist() == found.table.sparse_rows.value.tolist()
    assert [features(found, row) for row in range(3)] == [{"lm": -2}, {"f": 3, "lm": -3}, {"f": 1, "lm": -1}]
    assert found.table.scores(make_weights({"lm": 10.0, "f": 1.0})).tolist() == [-20, -27, -9]


def test_rescored_lists_keep_their_form(tmp_path):
    path = write(tmp_path / "list", MOSES, MOSES.replace("-3.5", "1"), CDEC, NEURAL, "0 ||| z ||| LM=0", JSON)
    lists, weights = read_lists([path], has_lines=True), make_weights({"LM": 2.0})
    assert list(rescored_lines(lists, weights, 3)) == [
        "0 ||| a b ||| LM= 1 TM= -1 -2 ||| 2 ||| 0-0 1-1",
        "0 ||| a b ||| LanguageModel=-3.5 R:x=y=1 ||| 0",
        "0 ||| a b ||| ||| 0",
    ]
    assert list(lists.table.best_texts(make_weights({"LM": -2.0}))) == ["a b"]
    *others, last = rescored_lines(lists, weights, 9)
    assert json.loads(last) == json.loads(JSON) | {"score": -7.0}
    assert "0 ||| z ||| LM=0 ||| 0" in others


@pytest.mark.parametrize("name", ["w.ini", "w.json", "w.txt", "w.h5", "w.ini.gz", "w.JSON.gz"])
def test_weights_in_all_forms(tmp_path, name):
    weights = make_weights({"LM": 0.5, "TM_0": 0.1, "TM_1": -1e-7, "R:x=#y": 2.0})
    write_any_weights(tmp_path / name, weights, sizes={"LM": 1, "TM": 2})
    assert read_any_weights(tmp_path / name).to_dict() == weights.to_dict()
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")


def test_blocks_follow_from_names(tmp_path):
    values = {"LM": 0.5, "TM_0": 0.1, "TM_1": 2.0, "a_0": 1.0, "a_2": 1.0, "b_0": 3.0, "c_1": 4.0}
    write_any_weights(tmp_path / "w.ini", make_weights(values))
    lines = ["[weight]", "TM= 0.1 2.0", "LM= 0.5", "a_0= 1.0", "a_2= 1.0", "b_0= 3.0", "c_1= 4.0"]
    assert (tmp_path / "w.ini").read_text().splitlines() == lines
    assert read_any_weights(tmp_path / "w.ini").to_dict() == values


def test_block_of_moses(tmp_path):
    write_any_weights(tmp_path / "w.ini", make_weights({"s": 2.0, "TM_1": 3.0}), sizes={"LM": 1, "TM": 2})
    assert (tmp_path / "w.ini").read_text() == "[weight]\nLM= 0.0\nTM= 0.0 3.0\ns= 2.0\n"
    lines = ["[feature]", "LM order=3", "", "[weight]", "LM= 1 # lm", "TM0= 2 3", "[n]", "5"]
    assert read_any_weights(write(tmp_path / "moses.ini", *lines)).to_dict() == {
        "LM": 1,
        "TM0_0": 2,
        "TM0_1": 3,
    }


@pytest.mark.parametrize(
    ("name", "content", "facts"),
    [
        ("w.ini", "[feature]\n", ("w.ini:", "[weight]")),
        ("w.ini", "[weight]\nLM 1\n", ("w.ini:2:", "'Name= weight weight ...'")),
        ("w.ini", "[weight]\nLM= nan\n", "'LM'"),
        ("w.ini", "[weight]\nLM= 1\u00a02\n", ("w.ini:2:", "'Name= weight weight ...'")),
        ("w.ini", "[weight]\nLM= 1\nLM= 1\n", ("w.ini:3:", "'LM'")),
        ("w.json", "[1]", "JSON"),
        ("w.json", '{"a": "1"}', "'a'"),
        ("w.json", f'{{"a": 1{"0" * 400}}}', "'a'"),
        ("w.json", '{"\\ud800": 1}', "JSON"),
        ("w.json", "{", "JSON"),
        ("w.json", '{"a": Infinity}', "'a'"),
    ],
)
def test_bad_weights(tmp_path, name, content, facts):
    (tmp_path / name).write_text(content)
    with input_error(facts):
        read_any_weights(tmp_path / name)


def test_weights_of_no_feature(tmp_path, refused):
    """The command and the function refuse the same."""
    lists = write(tmp_path / "list", "0 ||| a ||| f=1", "0 ||| b ||| f=2")
    weights = write(tmp_path / "weights", "g 1", "h 2")
    refused(["rescore", "--nbest", str(lists), "--weights", str(weights)], "weights:")
    with input_error("weights:"):
        rescore([lists], weights)
    for none in ({"g": 1.0}, {}):
        with input_error():
            rescore([lists], none)
    # a weight of 0 is one
    assert rescore([lists], {"f": 0.0, "g": 1.0}) == ["a"]


def test_command(tmp_path, capsys, refused, misused):
    lists = write(tmp_path / "list", "0 ||| a ||| f=1", "0 ||| b ||| f=2", "1 ||| c ||| f=1")
    numbers = write(tmp_path / "numbers", "5", "0", "0")
    weights = write(tmp_path / "weights", "f 1", "lm 1")
    command = ["rescore", "--nbest", str(lists), "--weights", str(weights)]
    assert main(command) == 0
    assert capsys.readouterr().out == "b\nc\n"
    assert main([*command, "--feature", f"lm={numbers}", "--k-best", "1"]) == 0
    assert capsys.readouterr().out == "0 ||| a ||| f=1 ||| 6\n1 ||| c ||| f=1 ||| 1\n"
    misused([*command, "--feature", "lm"], "--feature")
    write(weights, "f 1", "length 1")
    assert main(command) == 0
    check_facts(capsys.readouterr().err, "length")
    refused([*command, *[f"--feature=lm={numbers}"] * 2], "--feature")
    write(weights, "g 1")
    refused(command, "weights:")
