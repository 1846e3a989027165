"""Systems that rerank n-best lists: from the folder of a run, from a bundle, and from Python."""

import gzip
import json
import os
import re
import shutil
import threading
from functools import reduce
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from tests.damage import reseal_array, reseal_header
from tests.refusals import input_error
from tests.rerankers import ALL_TEXT, LANGUAGES, TOKENIZED, as_json, make_reranker, write_text
from tests.steps import settings
from tests.systems import itersel as command

import itersel
from itersel.cli.main import main
from itersel.system.loading import load_reranker
from itersel.system.resources import RerankerFiles, read_resources
from itersel.vectors.feature_names import TEXT_GROUPS


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the folder of a run whose system has all features of text; tests must not change it."""
    folder = tmp_path_factory.mktemp("run")
    make_reranker(folder, **ALL_TEXT)
    return folder


@pytest.fixture(scope="module")
def bundle(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("bundles") / "x.bundle"
    command("bundle", run / "experiments/x/best", path)
    return path


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Return the folder of a run whose system adds nothing to its lists, whose words are as they are."""
    folder = tmp_path_factory.mktemp("plain")
    make_reranker(folder, **TOKENIZED)
    return folder


def best(run):
    return run / "experiments/x/best"


def of_run(run):
    return (best(run) / "test.txt").read_text().splitlines()


def rescore(run, system, output, *options):
    command("rescore", "--system", system, "--nbest", run / "lists", "--output", output, *options)
    return output.read_text().splitlines()


def read_table(run, source, lists="lists"):
    """Return the lists of a run, which are in one block, as its system reads them."""
    (block,) = load_reranker(best(run)).blocks([run / lists], source)
    return block.table


@pytest.mark.parametrize(
    ("features", "how"),
    [
        ("all", TOKENIZED),
        ("dense", TOKENIZED),
        ("all", LANGUAGES),
        ("dense", ALL_TEXT),
        ("all", ALL_TEXT | TOKENIZED),
        ("all", {**LANGUAGES, "groups": ["rank", "agreement", "length"]}),
        ("all", {**LANGUAGES, "templates": ["Ngram2", "Lex"]}),
        ("dense", {**LANGUAGES, "user_model_names": ["own"]}),
    ],
)
def test_the_same_translations_as_in_the_run(tmp_path, features, how):
    system = make_reranker(tmp_path, features, **how)
    source = ["--source", tmp_path / "s.de"]
    assert rescore(tmp_path, system, tmp_path / "out", *source) == of_run(tmp_path)
    command("bundle", system, tmp_path / "bundle")
    assert rescore(tmp_path, tmp_path / "bundle", tmp_path / "out", *source) == of_run(tmp_path)
    # no feature decides alone
    assert len(set(of_run(tmp_path))) > 5


@pytest.mark.parametrize("columns", [(), ("TM_1", "w_x")])
@pytest.mark.parametrize("features", ["dense", "all"])
def test_lists_that_leave_out_zeros(tmp_path, features, columns):
    """Then the first lines lack features, and only their names tell which are dense."""
    system = make_reranker(tmp_path, features, columns, as_json, **LANGUAGES, groups=["rank"])
    assert rescore(tmp_path, system, tmp_path / "out", "--source", tmp_path / "s.de") == of_run(tmp_path)
    found = read_resources(system)
    assert {*found.training_dense_names} == {*(columns or ("LM", "TM_0", "TM_1"))}
    assert found.settings.dense_names == columns
    assert "LM" not in json.loads(lines_of(tmp_path)[0])["features"]


def test_the_same_translations_with_everything(run, bundle, tmp_path):
    lines = of_run(run)
    for system in (best(run), bundle):
        assert rescore(run, system, tmp_path / "out", "--source", run / "s.de") == lines
    first = itersel.rescore([run / "lists"], {"LM": 1.0})
    assert lines != first


@pytest.mark.parametrize("size", [1, 13, 20])
def test_lists_in_blocks(run, tmp_path, monkeypatch, size):
    """The same bytes, whichever sentences are read together and wherever their lines are."""
    lines, source = lines_of(run), ["--source", run / "s.de"]
    for number, kind in enumerate(([], ["--k-best", "3"])):
        expected = rescore(run, best(run), tmp_path / str(number), *source, *kind)
        # as in the run: the files have all sentences; of one file, in another order
        by_sentence = sorted(lines, key=lambda line: int(line.split()[0]))
        turned = by_sentence[40:] + by_sentence[:40]
        for name, content in (("sorted", by_sentence), ("turned", turned)):
            (tmp_path / name).write_text("".join(content))
        with monkeypatch.context() as patch:
            patch.setattr("itersel.lists.blocks.TRANSLATIONS", size)
            for lists in (run / "lists", tmp_path / "sorted", tmp_path / "turned"):
                found = rescore(run, best(run), tmp_path / "out", *source, *kind, "--nbest", lists)
                assert found == expected


def test_blocks_are_small(run, monkeypatch):
    """A block begins with a new sentence once there are enough translations."""
    monkeypatch.setattr("itersel.lists.blocks.TRANSLATIONS", 20)
    source = (run / "s.de").read_text().splitlines()
    blocks = list(load_reranker(best(run)).blocks([run / "lists"], source))
    sizes = [block.table.sentence_count for block in blocks]
    assert sum(sizes) == len(source)
    assert len(sizes) > 3
    assert max(sizes) <= 4


def test_lists_from_a_pipe(run, tmp_path):
    """It can be read only once."""
    pipe, lines = tmp_path / "pipe", lines_of(run)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=["".join(lines)])
    writer.start()
    source = ["--source", run / "s.de"]
    found = rescore(run, best(run), tmp_path / "out", *source, "--nbest", pipe)
    writer.join()
    assert found == of_run(run)


def test_everything_matters(run):
    """All features are there, and with another source, others are."""
    source = (run / "s.de").read_text().splitlines()
    table, other = (read_table(run, lines) for lines in (source, source[::-1]))
    changed = {
        name
        for name, one, two in zip(table.dense_names, table.dense.T, other.dense.T, strict=True)
        if (one != two).any()
    }
    assert {"TextLexForward", "TextLexReverse", "TextUncovered"} <= changed
    own = {"TextModel_short", "TextModelUnknown_short", "TextModel_long.er", "TextModelUnknown_long.er"}
    assert not changed & {"LM", "TM_0", "TextModel", "TextRank", "TextAgreementBleu", *own}
    assert own < {*table.dense_names}
    models = [table.dense[:, table.dense_names.index(f"TextModel_{name}")] for name in ("short", "long.er")]
    assert (models[0] != models[1]).any()
    assert {*table.dense_names} >= {"LM", "TM_0", *chain(*(group.features for group in TEXT_GROUPS.values()))}
    assert table.feature_name.to_list() != other.feature_name.to_list()


def test_sparse_features_that_lists_have_already(run, other, tmp_path, refused):
    table = read_table(run, (run / "s.de").read_text().splitlines())
    name = next(name for name in table.feature_name.to_list() if name != "w_x" and " " not in name)
    refused(other(lambda line: line.replace("w_x=", f"{name}=1 w_x=")), tmp_path / "other.nbest", f"'{name}'")


def test_k_best_lines(run, tmp_path):
    lines = rescore(run, best(run), tmp_path / "out", "--source", run / "s.de", "--k-best", "2")
    assert len(lines) == 2 * 9
    given = lines_of(run)
    scores = [float(line.rpartition(" ||| ")[2]) for line in lines]
    for number, line in enumerate(lines):
        assert line.startswith(f"{number // 2} ||| ")
        assert line.rpartition(" ||| ")[0] in {one.rpartition(" ||| ")[0] for one in given}
    assert all(first >= second for first, second in zip(scores[::2], scores[1::2], strict=True))
    # duplicates within a sentence are counted once
    assert len(set(lines)) == len(lines)


def test_from_python(run, plain, bundle, system):
    source = (run / "s.de").read_text().splitlines()
    for path in (best(run), bundle):
        assert itersel.load_system(path).rerank(source, [run / "lists"]) == of_run(run)
    assert itersel.load_system(best(plain)).rerank(None, [plain / "lists"]) == of_run(plain)
    with input_error(best(run)):
        itersel.load_system(best(run)).translate(["a"])
    with input_error(system):
        itersel.load_system(system).rerank(None, [run / "lists"])
    for bad, facts in (("a b", ("source", "'a b'")), (["a\nb"], "source:1:"), (["a"], ("source", 1, 9))):
        with input_error(facts):
            itersel.load_system(bundle).rerank(bad, [run / "lists"])


def test_a_bundle_needs_nothing_else(run, tmp_path):
    copied = shutil.copytree(run, tmp_path / "run")
    command("bundle", best(copied), tmp_path / "x")
    expected = of_run(copied)
    for folder in ("experiments", "all", "words"):
        shutil.rmtree(copied / folder)
    for path in copied.glob("*.bin"):
        path.unlink()
    assert rescore(run, tmp_path / "x", tmp_path / "out", "--source", run / "s.de") == expected


def test_equal_systems_give_equal_bytes(run, bundle, tmp_path):
    """Also when the bundle is read and written again, so nothing of the system is lost."""
    copied = shutil.copytree(run, tmp_path / "run")
    command("bundle", best(copied), tmp_path / "again")
    command("bundle", bundle, tmp_path / "of a bundle")
    content = bundle.read_bytes()
    assert content == (tmp_path / "again").read_bytes() == (tmp_path / "of a bundle").read_bytes()
    assert str(run).encode() not in content


def test_weights_of_a_bundle_are_shown(run, bundle, tmp_path):
    for name, path in (("a", bundle), ("b", best(run))):
        command("weights", "export", path, "--output", tmp_path / name)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() != ""


def test_resources_move_with_the_run(run, tmp_path):
    moved = shutil.copytree(run, tmp_path / "moved")
    found = read_resources(best(moved))
    assert found.files.aligners == (f"{moved}/forward.h5", f"{moved}/reverse.h5")
    assert found.files.text_models == f"{moved}/all"
    assert found.files.user_models == (f"{moved}/short.bin", f"{moved}/long.er.bin")
    assert found.training_dense_names == ("LM", "TM_0", "TM_1")
    shutil.rmtree(moved / "all")
    with input_error(best(moved) / "resources.json", moved / "all"):
        read_resources(best(moved))


def test_a_system_without_features_of_text_names_no_files(plain):
    assert read_resources(best(plain)).files == RerankerFiles((), None, ())


def lines_of(run):
    """Return the lines of the lists of a run."""
    files = sorted((run / "lists").iterdir())
    return [line for path in files for line in gzip.decompress(path.read_bytes()).decode().splitlines(True)]


@pytest.fixture
def other(run, tmp_path):
    """Return a function that writes the lists with changed lines; returns the command that reranks them."""

    def write(change):
        path = tmp_path / "other.nbest"
        path.write_text("".join(map(change, lines_of(run))))
        return ["rescore", "--system", best(run), "--source", run / "s.de", "--nbest", path]

    return write


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        (lambda line: line.replace("LM= ", "Model= "), "'LM'"),
        (lambda line: line.replace(" 1 w_x", " w_x").replace(" 0 0 |", " 0 |"), "'TM_0'"),
        (lambda line: line.replace("LM= ", "TextWords= 1 LM= "), "'TextWords'"),
        (lambda line: line.replace("w_x=", "TextModel_short=1 w_x="), "'TextModel_short'"),
        (lambda line: line.replace("3 |||", "33 |||", 1), 3),
    ],
)
def test_lists_of_another_decoder(other, tmp_path, refused, change, facts):
    arguments = other(change)
    refused(arguments, tmp_path / "other.nbest", facts)


def test_a_feature_without_a_weight_may_be_missing(plain, tmp_path):
    copied = shutil.copytree(plain, tmp_path / "run")
    weights = itersel.read_any_weights(best(copied) / "weights.h5").to_dict()
    itersel.write_any_weights(best(copied) / "weights.h5", itersel.make_weights(weights | {"LM": 0.0}))
    path = tmp_path / "other.nbest"
    path.write_text("".join(line.replace("LM= ", "Model= ") for line in lines_of(plain)))
    assert len(itersel.load_system(best(copied)).rerank(None, [path])) == 9


@pytest.mark.parametrize("features", ["dense", "all"])
def test_lists_without_any_sparse_features(tmp_path, refused, monkeypatch, features):
    """Many of them were made by another decoder, or written without them; a few may have none."""
    make_reranker(tmp_path, features, **LANGUAGES, templates=["Ngram1"])
    path, source = tmp_path / "other.nbest", ["--source", tmp_path / "s.de"]
    arguments = ["rescore", "--system", best(tmp_path), *source, "--nbest", path]
    lines = lines_of(tmp_path)
    path.write_text("".join(line.replace(" w_x=", " w_y=") for line in lines))
    command(*arguments, "--output", tmp_path / "out")

    path.write_text("".join(re.sub(" w_x=[0-9]+", "", line) for line in lines))
    command(*arguments, "--output", tmp_path / "out")
    sentences = len({line.partition(" ")[0] for line in lines})
    monkeypatch.setattr("itersel.system.reranker.WITHOUT_SPARSE", sentences)
    if features == "all":
        refused(arguments, f"{path}:", "'w_x'")
    else:
        command(*arguments, "--output", tmp_path / "out")


def test_only_the_models_that_are_needed(tmp_path):
    """In a run, all are files; of the others, nothing is read, and a bundle has nothing."""
    how = {**LANGUAGES, "groups": ["language-model"]}
    system = make_reranker(tmp_path, **how)
    source = ["--source", tmp_path / "s.de"]
    for name in ("forward.h5", "reverse.h5", "all/lexicon.h5"):
        (tmp_path / name).write_bytes(b"x")
    assert rescore(tmp_path, system, tmp_path / "out", *source) == of_run(tmp_path)
    command("bundle", system, tmp_path / "small")
    assert rescore(tmp_path, tmp_path / "small", tmp_path / "out", *source) == of_run(tmp_path)
    content = (tmp_path / "small").read_bytes()
    assert b"model/" in content
    assert not any(part in content for part in (b"forward/", b"lexicon/"))
    shards = ["--divided-lists", tmp_path / "cut", "--file-number", 0, "--output", tmp_path / "0.h5"]
    models = [
        "--aligner",
        tmp_path / "forward.h5",
        tmp_path / "reverse.h5",
        "--text-models",
        tmp_path / "all",
    ]
    command("step", "lists", *shards, *models, *settings(**how))


def test_sources_that_do_not_fit(run, tmp_path, refused):
    arguments = ["rescore", "--system", best(run), "--nbest", run / "lists"]
    refused(arguments, f"{best(run)}:", "--source")
    lines = (run / "s.de").read_text().splitlines()
    for name, content in (("short", lines[:-1]), ("long", [*lines, "a"])):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in content))
        refused([*arguments, "--source", path], f"{path}:", len(content), 9)
    (tmp_path / "bad").write_text("a\nb ||| c\n")
    refused([*arguments, "--source", tmp_path / "bad"], "bad:2:")


def test_systems_of_the_other_kind(run, bundle, system, tmp_path, refused):
    (tmp_path / "text").write_text("a\n")
    command("bundle", system, tmp_path / "translator")
    for path in (best(run), bundle):
        refused(["translate", "--system", path, "--input", tmp_path / "text"], f"{path}:", "itersel rescore")
        export = ["export", "cdec", "--system", path, "--input", tmp_path / "text"]
        refused([*export, "--output", tmp_path / "out"], f"{path}:", "itersel rescore")
    for path in (system, tmp_path / "translator"):
        refused(["rescore", "--system", path, "--nbest", run / "lists"], f"{path}:", "itersel translate")


def test_options_that_do_not_fit(run, refused, misused):
    lists = ["rescore", "--nbest", run / "lists"]
    refused([*lists, "--first", "--source", run / "s.de"], "--source", "--system")
    (system, source) = ["--system", best(run)], ["--source", run / "s.de"]
    refused([*lists, *system, *source, "--feature", "x=y"], "--feature", "--system")
    misused([*lists, *system, "--first"], "--first", "--system")


def in_part(*keys, **values):
    """Return a function that changes values of the object which these keys lead to."""

    def change(content):
        reduce(dict.__getitem__, keys, content).update(values)
        return content

    return change


def in_files(**values):
    return in_part("files", **values)


def in_settings(**values):
    return in_part("settings", **values)


def in_lists(**values):
    return in_part("settings", "lists", **values)


@pytest.mark.parametrize(
    "change",
    [
        in_settings(features="some"),
        in_part(training_dense_names="LM"),
        in_settings(lists={}),
        in_files(aligners=None),
        in_files(aligners=[]),
        in_files(aligners=["../../../forward.h5"]),
        in_files(aligners=["../../../forward.h5", "../../../reverse.h5"] * 2),
        in_files(text_models=3),
        in_files(text_models=None),
        in_files(text_models="forward.h5"),
        in_files(user_models=None),
        in_files(user_models=["../../../short.bin"]),
        in_lists(user_model_names=["short", "a b"]),
        in_lists(minimum_count=2),
        in_lists(source_language=None),
        in_lists(groups=["x"]),
        in_lists(templates=["x"]),
        in_lists(target_language="../x"),
        in_lists(protected=["("]),
        in_part(kind="translator"),
        # of an earlier version
        lambda content: {"kind": "reranker", **content["settings"], **content["files"]},
        lambda content: [],
    ],
)
def test_damaged_resources(run, tmp_path, refused, change):
    copied = shutil.copytree(run, tmp_path / "run")
    path = best(copied) / "resources.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    refused(["rescore", "--system", path.parent, "--nbest", run / "lists"], f"{path}:")
    refused(["bundle", path.parent, tmp_path / "out"], f"{path}:")


@pytest.mark.parametrize("missing", ["forward.h5", "reverse.h5", "all/lm.bin", "all/lexicon.h5", "short.bin"])
def test_missing_models(run, tmp_path, refused, missing):
    copied = shutil.copytree(run, tmp_path / "run")
    (copied / missing).unlink()
    refused(["bundle", best(copied), tmp_path / "out"], copied / missing)
    assert not (tmp_path / "out").exists()


def in_header(value, *keys):
    def change(header):
        *path, last = keys
        reduce(dict.__getitem__, path, header)[last] = value

    return lambda path: reseal_header(path, change)


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        (lambda path: path.write_bytes(b""), ()),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), ()),
        (lambda path: path.write_bytes(path.read_bytes()[:20]), ()),
        (in_header(None, "attributes", "settings"), ()),
        (in_header("some", "attributes", "settings", "features"), ()),
        (in_header(["x"], "attributes", "settings", "lists", "templates"), "'x'"),
        (in_header(["("], "attributes", "settings", "lists", "protected"), ()),
        (in_header(3, "attributes", "model"), ()),
        (in_header(10**9, "attributes", "model", "order"), ()),
        (in_header(None, "attributes", "user-model-1"), ()),
        (in_header(["a", "b", "c"], "attributes", "settings", "lists", "user_model_names"), ()),
        (in_header("other", "kind"), "'other'"),
        (in_header(1, "format"), ()),
        (lambda path: reseal_array(path, "weights/v", lambda array: array.fill(np.inf)), ()),
        (lambda path: reseal_array(path, "forward/pair_given", lambda array: array.fill(10**6)), ()),
        (lambda path: reseal_array(path, "lexicon/pair_count", lambda array: array.fill(0)), ()),
        (lambda path: reseal_array(path, "model/slots", lambda array: array.fill(2**64 - 1)), "'slots'"),
        (Path.unlink, ()),
    ],
)
def test_files_that_make_no_system(run, bundle, tmp_path, refused, change, facts):
    path = Path(shutil.copy(bundle, tmp_path / "x.bundle"))
    change(path)
    arguments = ["rescore", "--system", path, "--source", run / "s.de", "--nbest", run / "lists"]
    refused(arguments, f"{path}:", facts)


def test_other_text_than_the_run_had(run, tmp_path):
    """Words that no model knows, an empty source, and lists of one translation."""
    source, lists = write_text(tmp_path, 3, seed=8)
    (tmp_path / "one").write_text(
        "0 ||| Unbekannt zzz ||| LM= 1 TM= 0 0 w_y=1 ||| 0\n1 |||  ||| LM= 1 TM= 0 0 ||| 0\n"
    )
    loaded = itersel.load_system(best(run))
    assert len(loaded.rerank(source.read_text().splitlines(), [lists])) == 3
    assert loaded.rerank(["", "x y"], [tmp_path / "one"]) == ["Unbekannt zzz", ""]


def test_lists_without_scores(run, tmp_path):
    """Then ranks and agreement do not depend on scores, as in a run."""
    path = tmp_path / "x.nbest"
    path.write_text("".join(f"{line.rpartition(' ||| ')[0]}\n" for line in lines_of(run)))
    source = (run / "s.de").read_text().splitlines()
    assert len(itersel.load_system(best(run)).rerank(source, [path])) == 9


def test_no_partial_bundle_is_written(run, tmp_path, refused):
    copied = shutil.copytree(run, tmp_path / "run")
    (best(copied) / "weights.h5").write_bytes(b"x")
    (tmp_path / "x.bundle").write_text("as before")
    refused(["bundle", best(copied), tmp_path / "x.bundle"], f"{best(copied)}/weights.h5")
    assert (tmp_path / "x.bundle").read_text() == "as before"


def test_help_names_both_kinds(capsys):
    for name in ("bundle", "rescore"):
        assert main([name, "--help"]) == 0
        assert "itersel rescore" in " ".join(capsys.readouterr().out.split())
