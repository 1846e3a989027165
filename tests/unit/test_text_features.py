"""The steps that add features of text to lists: what they write, and the errors of their input."""

import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest
from tests.refusals import input_error
from tests.steps import TEXT_LANGUAGES, settings
from tests.systems import itersel

from itersel.config.file_checks import check_files_exist
from itersel.config.reading import read_config
from itersel.errors import InputError
from itersel.lists.files import FORMAT, read_list_table
from itersel.rerank.lexicon import read_lexicon
from itersel.storage.files import read_lines, write_lines
from itersel.storage.hdf5 import header_of
from itersel.vectors.feature_names import TEXT_GROUPS, TEXT_TEMPLATES
from itersel.vectors.weights import read_itersel_weights

WORDS = {**TEXT_LANGUAGES, "tokenized": True}
SOURCE = ["das haus", "ein haus", "das kleine haus", "ein kleines haus ist klein"]
TARGET = ["the house", "a house", "the small house", "a small house is small"]
LISTS = [
    f'{{"id": {number}, "text": "{text}", "score": {-rank}}}'
    for number, reference in enumerate(TARGET)
    for rank, text in enumerate((reference, reference[2:], f"{reference} 7"))
]
ALL = {"groups": [*TEXT_GROUPS], "templates": [*TEXT_TEMPLATES]}
# What needs no models.
PLAIN = {"groups": ["length", "rank", "copies", "repetition", "agreement"], "templates": ["Ngram1"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with lists in two files, and models of all text and without one of the files."""
    folder = tmp_path_factory.mktemp("features")
    for name, lines in (("source", SOURCE), ("target", TARGET), ("lists", LISTS)):
        write_lines(folder / name, lines)
    files = {name: str(folder / name) for name in ("source", "target", "lists", "words", "cut")}

    division = {"division": {"name": "in-order", "files": 2}}
    given = ["--nbest", files["lists"], "--source", files["source"], "--reference", files["target"]]
    itersel("step", "divide", *given, *settings(**division), "--output", files["cut"])
    texts = ["--source", files["source"], "--target", files["target"]]
    itersel("step", "words", *texts, *settings(**WORDS), "--output", files["words"])
    for direction in ("forward", "reverse"):
        texts = [f"--{side}={files['words']}/{side}.gz" for side in ("source", "target")]
        saved = ["--save", f"{folder}/{direction}.h5", "--output", f"{folder}/{direction}"]
        itersel("align", *texts, "--direction", direction, *saved)

    models = ["step", "text-models", "--words", files["words"], "--alignment", f"{folder}/forward"]
    models += [f"{folder}/reverse", *settings(**{"order": 2})]
    itersel(*models, "--output", f"{folder}/all")
    left_out = ["--leave-out", files["cut"], "--fold", "1/2"]
    itersel(*models, *left_out, "--output", f"{folder}/without-1")
    return folder


def cut_whole(made, output, lists=None):
    """Cut lists, by default those of the fixture, into one file; returns the options that name it."""
    files = {"--nbest": lists or made / "lists", "--source": made / "source", "--reference": made / "target"}
    given = [str(one) for pair in files.items() for one in pair]
    division = settings(division={"name": "in-order", "files": 1})
    itersel("step", "divide", *given, *division, "--output", str(output))
    return ["--divided-lists", str(output)]


def rows_of(table):
    """Return the sparse features of each translation."""
    rows, names = table.sparse_rows, table.feature_name.to_list()
    entries = [
        (names[number], value)
        for number, value in zip(rows.feature.tolist(), rows.value.tolist(), strict=True)
    ]
    return [dict(entries[begin:end]) for begin, end in pairwise(rows.offset.tolist())]


def lists_step(made, output, features, file=0):
    given = ["--divided-lists", str(made / "cut"), "--file-number", str(file)]
    given += settings(**(WORDS | features))
    aligners = ["--aligner", str(made / "forward.h5"), str(made / "reverse.h5")]
    return ["step", "lists", *given, *aligners, "--text-models", str(made / "all"), "--output", str(output)]


def test_all_features(made, tmp_path):
    itersel(*lists_step(made, tmp_path / "lists.h5", ALL))
    table = read_list_table(tmp_path / "lists.h5")
    added = [name for group in TEXT_GROUPS.values() for name in group.features]
    assert list(table.dense_names) == ["score", *added]
    column = {name: table.dense[:, number].tolist() for number, name in enumerate(table.dense_names)}
    assert column["TextWords"] == [2, 2, 3, 2, 1, 3]
    assert column["TextScore"] == [0, -1, -2, 0, -1, -2]
    assert column["TextAdded"] == [0, 0, 1, 0, 0, 1]
    assert column["TextUnknownWords"] == [0, 1, 1, 0, 0, 1]
    assert column["TextUnknownCharacters"] == [0, 0, 1, 0, 0, 1]
    # the reference is the most probable translation
    assert column["TextLexForward"][0] > column["TextLexForward"][2]
    names = set(table.feature_name.to_list())
    assert {"Ngram1:7", "Ngram2:<s>_the", "Ngram3:the_house_</s>"} <= names


def test_models_without_a_fold(made):
    every, without = (read_lexicon(made / name / "lexicon.h5") for name in ("all", "without-1"))
    assert every.links.sum() > without.links.sum()
    words = {
        without.target_words[number] for number in without.target.tolist() if without.target_words[number]
    }
    # of the second file's words, only those of the first are counted
    assert words == {"the", "house", "a"}


def test_the_same_words_give_the_same_features_in_any_file(made, tmp_path):
    """What lists have in common with others does not matter."""
    whole = cut_whole(made, tmp_path / "whole")
    itersel(*lists_step(made, tmp_path / "0.h5", ALL), *whole)
    together = read_list_table(tmp_path / "0.h5")
    begin = 0
    for file in range(2):
        itersel(*lists_step(made, tmp_path / f"part{file}.h5", ALL, file))
        part = read_list_table(tmp_path / f"part{file}.h5")
        rows = slice(begin, begin + part.translation_count)
        assert together.dense[rows].tolist() == part.dense.tolist()
        assert rows_of(together)[rows] == rows_of(part)
        begin += part.translation_count
    assert begin == together.translation_count


def test_rare_features_are_left_out(made, tmp_path):
    whole = cut_whole(made, tmp_path / "whole")
    names = []
    for minimum in (1, 3, 4, 5):
        output = tmp_path / f"{minimum}.h5"
        features = {"templates": ["Ngram1"], "minimum_count": minimum}
        itersel(*lists_step(made, output, features), *whole)
        names.append(set(read_list_table(output).feature_name.to_list()))
    assert names[0] > names[1] == names[2] == {"Ngram1:7"}
    assert names[3] == set()
    recorded = [json.loads(header_of(tmp_path / f"{n}.h5", FORMAT).attributes["settings"]) for n in (1, 3)]
    assert [one["minimum_count"] for one in recorded] == [1, 3]


def test_further_text_without_that_of_train(made, tmp_path):
    """A pair that shares a side with train would be seen by the models of its fold."""
    write_lines(tmp_path / "source", ["das haus", "neu", "alt", "", "gut", "geheim", "rot"])
    write_lines(tmp_path / "target", ["new", "the house", "old", "x", "good", "own", "secret"])
    write_lines(tmp_path / "test.source", ["geheim"])
    write_lines(tmp_path / "test.target", ["secret"])
    texts = [
        item
        for side in ("source", "target")
        for item in (f"--{side}", str(made / side), str(tmp_path / side))
    ]
    for side in ("source", "target"):
        texts += [f"--exclude-{side}", str(tmp_path / f"test.{side}")]
    itersel("step", "words", *texts, *settings(**WORDS), "--output", str(tmp_path / "words"))
    assert read_lines(tmp_path / "words/source.gz") == [*SOURCE, "alt", "gut"]
    assert read_lines(tmp_path / "words/target.gz") == [*TARGET, "old", "good"]


def test_scores_of_some_lines(made, tmp_path):
    """They count only in lists all of whose translations have them, however lists are divided."""
    lines = [
        line.replace('"score": 0', '"features": {"x": 1}') if '"id": 2' in line else line for line in LISTS
    ]
    write_lines(tmp_path / "lists", lines)
    cut = cut_whole(made, tmp_path / "cut", tmp_path / "lists")
    itersel(*lists_step(made, tmp_path / "some.h5", PLAIN), *cut)
    table = read_list_table(tmp_path / "some.h5")
    scores = table.dense[:, table.dense_names.index("TextScore")].tolist()
    assert [scores[begin:end] for begin, end in pairwise(table.offset.tolist())] == [
        [0, -1, -2],
        [0, -1, -2],
        [0, 0, 0],
        [0, -1, -2],
    ]


def test_copies_of_a_sentence_are_left_out(tmp_path, refused):
    """A pair that also occurs in another file would be seen."""
    write_lines(tmp_path / "source", ["das haus", "ein boot", "der fluss", "das haus"])
    write_lines(tmp_path / "target", ["the house", "a boat", "the river", "the house"])
    write_lines(tmp_path / "lists", [f'{{"id": {n}, "text": "x"}}' for n in range(4)])
    write_lines(tmp_path / "links", ["0-0 1-1"] * 4)
    texts = [f"--{side}={tmp_path}/{side}" for side in ("source", "target")]
    division = settings(division={"name": "in-order", "files": 2})
    itersel(
        "step",
        "divide",
        "--nbest",
        str(tmp_path / "lists"),
        f"--source={tmp_path}/source",
        f"--reference={tmp_path}/target",
        *division,
        "--output",
        str(tmp_path / "cut"),
    )
    itersel("step", "words", *texts, *settings(**WORDS), "--output", str(tmp_path / "words"))
    models = ["step", "text-models", "--words", str(tmp_path / "words")]
    models += ["--alignment", str(tmp_path / "links"), str(tmp_path / "links"), *settings(order=1)]
    fold = ["--leave-out", str(tmp_path / "cut"), "--fold", "0/2", "--output", str(tmp_path / "models")]
    itersel(*models, *fold)
    lexicon = read_lexicon(tmp_path / "models/lexicon.h5")
    words = {lexicon.source_words[number] for number in lexicon.source.tolist()}
    assert words == {"der", "fluss"}

    # words of another text
    write_lines(tmp_path / "few", ["a"])
    few = [f"--{side}={tmp_path}/few" for side in ("source", "target")]
    itersel("step", "words", *few, *settings(**WORDS), "--output", str(tmp_path / "less"))
    models[3] = str(tmp_path / "less")
    refused([*models, *fold[:-1], str(tmp_path / "out")], "cut/0.ids", "less")


@pytest.mark.parametrize("wrong", ["a " * 1025, "</s> b", ""])
def test_pairs_that_models_cannot_use(made, tmp_path, wrong):
    """Lines of train stay, empty; of further text, such pairs are left out."""
    write_lines(tmp_path / "source", [*SOURCE[:2], wrong])
    write_lines(tmp_path / "target", [*TARGET[:2], "x"])
    write_lines(tmp_path / "more.source", ["gut", wrong])
    write_lines(tmp_path / "more.target", ["good", "y"])
    texts = [
        item
        for side in ("source", "target")
        for item in (f"--{side}", str(tmp_path / side), str(tmp_path / f"more.{side}"))
    ]
    itersel("step", "words", *texts, *settings(**WORDS), "--output", str(tmp_path / "words"))
    assert read_lines(tmp_path / "words/source.gz") == [*SOURCE[:2], "", "gut"]
    assert read_lines(tmp_path / "words/target.gz") == [*TARGET[:2], "", "good"]
    sides = [f"--{side}={tmp_path}/words/{side}.gz" for side in ("source", "target")]
    links = [str(tmp_path / direction) for direction in ("forward", "reverse")]
    for direction, output in zip(("forward", "reverse"), links, strict=True):
        itersel("align", *sides, "--direction", direction, "--output", output)
    models = ["step", "text-models", "--words", str(tmp_path / "words"), "--alignment", *links]
    itersel(*models, *settings(order=1), "--output", str(tmp_path / "models"))


@pytest.fixture(scope="module")
def by_templates(made, tmp_path_factory):
    """Return files of all lists with the features of one template, and of several."""
    folder = tmp_path_factory.mktemp("templates")
    whole = cut_whole(made, folder / "whole")
    for name, templates in (("one", ["Ngram1"]), ("several", ["Ngram2", "Ngram1", "Lex"])):
        itersel(*lists_step(made, folder / f"{name}.h5", {"templates": templates}), *whole)
        (folder / name).write_text(f"{folder}/{name}.h5\n")
    return folder


LEARNERS = [{"name": "adagrad"}, {"name": "mira"}, {"name": "pro"}, {"name": "kbest-mira"}]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner["name"])
def test_templates_that_are_left_out(by_templates, tmp_path, learner):
    """Learning from some features of lists is as if they had no others, down to the bytes."""
    for name, left_out in (("one", []), ("several", ["Lex", "Ngram2"])):
        how, output = {"left_out_templates": left_out}, ["--output", tmp_path / name]
        if learner["name"] in ("pro", "kbest-mira"):
            itersel("step", "tune", "--inputs", by_templates / name, *settings(tuner=learner, **how), *output)
        else:
            sentences = by_templates / f"{name}.h5"
            itersel("train", "--sentences", sentences, *settings(learner=learner, **how), *output)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "several").read_bytes()
    names = read_itersel_weights(tmp_path / "one").to_dict()
    assert any(name.startswith("Ngram1:") for name in names)


def test_without_any_sparse_features(by_templates, tmp_path, refused):
    """A tuner that searches needs lists without sparse features; all templates may be left out."""
    tune = ["step", "tune", "--inputs", by_templates / "several", "--output", tmp_path / "weights.h5"]
    for left_out in ([], ["Ngram1", "Lex"]):
        refused([*tune, *settings(tuner={"name": "mert"}, left_out_templates=left_out)], "features: dense")
    itersel(*tune, *settings(tuner={"name": "mert"}, left_out_templates=["Ngram1", "Lex", "Ngram2"]))


@pytest.mark.parametrize(
    ("features", "dropped", "facts"),
    [
        (ALL, "--aligner", ["--aligner"]),
        ({"groups": ["unknown"]}, "--text-models", ["unknown", "--text-models"]),
        ({"groups": ["language-model"]}, "--text-models", ["language-model", "--text-models"]),
    ],
)
def test_missing_models(made, tmp_path, features, dropped, facts, refused):
    step = lists_step(made, tmp_path / "x.h5", features)
    place = step.index(dropped)
    end = next(number for number in range(place + 1, len(step)) if step[number].startswith("--"))
    refused([*step[:place], *step[end:]], *facts)
    assert not (tmp_path / "x.h5").exists()


def test_case_counts_if_it_is_to(made, tmp_path):
    """For features, and for the matches that learners see."""
    write_lines(tmp_path / "target", [line.capitalize() for line in TARGET])
    lists = [f'{{"id": {n}, "text": "{line}"}}' for n, line in enumerate(TARGET)]
    lists += [f'{{"id": {n}, "text": "{line.capitalize()}"}}' for n, line in enumerate(TARGET)]
    write_lines(tmp_path / "lists", lists)
    given = ["--nbest", str(tmp_path / "lists"), "--source", str(made / "source")]
    division = settings(division={"name": "in-order", "files": 1})
    references = ["--reference", str(tmp_path / "target")]
    itersel("step", "divide", *given, *references, *division, "--output", str(tmp_path / "cut"))

    for lowercase in (True, False):
        output = tmp_path / f"{lowercase}.h5"
        features = {"tokenized": False, "lowercase": lowercase, "templates": ["Ngram1"]}
        itersel(*lists_step(made, output, features), "--divided-lists", str(tmp_path / "cut"))
        table = read_list_table(output)
        matches = table.statistics.matches[:, 0].tolist()
        if lowercase:
            assert matches == [2, 2, 2, 2, 3, 3, 5, 5]
            assert table.feature_name.to_list() == []
        else:
            assert matches == [1, 2, 1, 2, 2, 3, 4, 5]
            assert {"Ngram1:the", "Ngram1:The"} <= {*table.feature_name.to_list()}


@pytest.mark.parametrize("lowercase", [True, False])
def test_case_of_the_words_of_models(tmp_path, lowercase):
    write_lines(tmp_path / "source", ["Das Haus"])
    write_lines(tmp_path / "target", ["The House"])
    texts = ["--source", str(tmp_path / "source"), "--target", str(tmp_path / "target")]
    given = settings(source_language="de", target_language="en", lowercase=lowercase)
    itersel("step", "words", *texts, *given, "--output", str(tmp_path / "words"))
    expected = ["das haus", "the house"] if lowercase else ["Das Haus", "The House"]
    assert [read_lines(tmp_path / f"words/{side}.gz")[0] for side in ("source", "target")] == expected


@pytest.mark.parametrize("feature", ["TextWords= 2", "TextWords=2", "Ngram1:the=2", "Ngram1:the= 2"])
def test_features_that_the_lists_have_already(made, tmp_path, feature, refused):
    lines = [
        f"{number} ||| {text} ||| LM= 1 {feature} ||| 0"
        for number, reference in enumerate(TARGET)
        for text in (reference, "house")
    ]
    write_lines(tmp_path / "lists", lines)
    whole = cut_whole(made, tmp_path / "cut", tmp_path / "lists")
    step = [*lists_step(made, tmp_path / "x.h5", {**PLAIN, "groups": ["length"]}), *whole]
    refused(step, feature.partition("=")[0])
    assert not (tmp_path / "x.h5").exists()


def test_links_of_other_sentences(made, tmp_path, refused):
    write_lines(tmp_path / "links", ["0-0 1-1", "5-0", "", ""])
    step = ["step", "text-models", "--words", str(made / "words"), *settings(order=2)]
    step += ["--alignment", str(tmp_path / "links")]
    refused([*step, str(tmp_path / "links"), "--output", str(tmp_path / "out")], "links:2:")
    write_lines(tmp_path / "links", ["0-0 1-1"])
    refused([*step, str(tmp_path / "links"), "--output", str(tmp_path / "out")], "links", "1", "4")
    assert not (tmp_path / "out").exists()


def of_lists(**features):
    text = {"lists": "l", "target": "t", "source": "s"}
    data = {"kind": "lists", **dict.fromkeys(("train", "dev", "devtest", "test"), text)}
    return {"data": data, "text_features": features, "experiments": {"a": {}}}


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        ({"text_features": {"groups": ["length"]}, "experiments": {"a": {}}}, "text_features.groups"),
        (of_lists(groups=["lengths"]), "text_features.groups"),
        (of_lists(templates=["Ngram9"]), "text_features.templates"),
        (of_lists(groups=["length"], minimum_count=2), "text_features.minimum_count"),
        (of_lists(groups=["length"], source=["x"], target=["y"]), "text_features.source"),
        (of_lists(groups=["lexical"], source=["x"]), "text_features.target"),
        (of_lists(user_models=["a/x.bin", "b/x.arpa.gz"]), "text_features.user_models"),
        (of_lists(user_models=["a/x.bin", "b/x.BIN"]), "text_features.user_models"),
        (of_lists(user_models=["a b"]), "text_features.user_models"),
        ({"text_features": {"user_models": ["x"]}, "experiments": {"a": {}}}, "text_features.user_models"),
        (of_lists(groups=["length"]) | {"language_model": {"order": 4}}, "language_model.order"),
        (of_lists(), "data.train.source"),
    ],
)
def test_configs_that_do_not_fit(content, facts):
    with pytest.raises(InputError) as error:
        read_config(json.loads(json.dumps(content)))
    assert facts in str(error.value)


def test_names_of_language_models():
    """Files of any folder and format; only the folder and the format are left out."""
    files = ["a/x.bin", "a/x.5.arpa.gz", "b/y.lm", "z"]
    config = read_config(of_lists(user_models=files))
    assert config.text_features.user_model_names == ("x", "x.5", "y.lm", "z")
    assert not config.text_features.needs_models


def test_missing_language_models(tmp_path):
    for name in ("l", "s", "t"):
        (tmp_path / name).write_text("")
    content = of_lists(user_models=[str(tmp_path / "x.arpa")])
    for text in list(content["data"].values())[1:]:
        text |= {name: str(tmp_path / text[name][0]) for name in ("lists", "source", "target")}
    with input_error("text_features.user_models", tmp_path / "x.arpa"):
        check_files_exist(read_config(json.loads(json.dumps(content))))


def test_language_models_and_their_names(made, tmp_path, refused):
    step = lists_step(made, tmp_path / "x.h5", {"user_model_names": ["one", "two"]})
    refused([*step, "--user-model", str(made / "all/lm.bin")], 1, 2)
    models = [str(made / "all/lm.bin"), str(made / "without-1/lm.bin")]
    itersel(*step, "--user-model", *models)
    table = read_list_table(tmp_path / "x.h5")
    assert table.dense_names[1:] == (
        *("TextModel_one", "TextModelUnknown_one"),
        *("TextModel_two", "TextModelUnknown_two"),
    )


def test_every_text_needs_its_source():
    for split in ("train", "dev", "devtest", "test"):
        content = json.loads(json.dumps(of_lists(groups=["length"])))
        del content["data"][split]["source"]
        with pytest.raises(InputError, match=rf"data\.{split}\.source"):
            read_config(content)


def test_packed_words_are_read(made):
    """Words are compressed text, as every tool reads it."""
    packed = Path(made / "words/target.gz").read_bytes()
    assert gzip.decompress(packed).decode().splitlines() == TARGET
