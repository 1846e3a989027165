"""The Python API: it is complete, imports quickly, and gives the same results as the commands."""

import ast
import dataclasses
import inspect
import json
import re
import threading
from pathlib import Path

import pytest
from tests.limited import limited
from tests.refusals import input_error
from tests.steps import settings
from tests.systems import itersel as command
from tests.systems import raw_text, sentences, translate

import itersel
from itersel import Search, TrainSettings, compare, score_tokenized_bleu, tune_nbest
from itersel.code.digests import PACKAGE
from itersel.config.division import Pooled
from itersel.config.mixing import PathFollowing, Selection
from itersel.keys import declared
from itersel.storage import hdf5
from itersel.storage.files import write_lines

SENTENCES = 24


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a folder with the files of a run that docs/api.md names, created by the commands."""
    folder = tmp_path_factory.mktemp("project") / "results/toy"
    for name in ("lm/2/2-folds", "sentences/train/2", "sentences/test/1", "evaluation/test"):
        (folder / name).mkdir(parents=True)
    text, other, links = folder / "text", folder / "translation", folder / "align"
    for path, lines in zip((text, other, links), zip(*sentences(SENTENCES), strict=True), strict=True):
        write_lines(path, lines)
    command("lm", "estimate", "--order", 3, "--input", other, "--output", folder / "arpa")
    for name in ("lm.bin", "2/2-folds/0.bin", "2/2-folds/1.bin"):
        command("lm", "compile", "--input", folder / "arpa", "--output", folder / "lm" / name)
    files = ("--source", text, "--target", other, "--alignment", links)
    command("grammar", "index", *files, "--output", folder / "index")
    for name in ("test/1/0.h5", "train/2/0.h5", "train/2/1.h5"):
        lines = ("--input", text, "--reference", other, "--output", folder / "sentences" / name)
        command("grammar", "extract", "--index", folder / "index", *lines)
    (folder / "evaluation/test/reference.0.txt").write_text(other.read_text())
    best = folder / "experiments/selected/best"
    best.mkdir(parents=True)
    itersel.write_any_weights(best / "weights.h5", itersel.make_weights({"LanguageModel": 1, "CountEF": 0.5}))
    return folder


def test_every_name_exists_and_is_documented_and_typed():
    listed = {name for names in itersel._MODULES.values() for name in names}
    assert listed | {"__version__"} == set(itersel.__all__) <= set(dir(itersel))
    for name in listed:
        documented = inspect.getdoc(getattr(itersel, name))
        assert documented, name
        assert not re.search("object at 0x|MISSING", documented), name
        # settings have the explanations of their keys
        kind = getattr(itersel, name)
        for item in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
            if declared(item).is_of_key:
                assert declared(item).explanation in " ".join(kind.__doc__.split()), (name, item.name)
    body = ast.parse(Path(inspect.getfile(itersel)).read_text()).body
    [block] = [one for one in body if isinstance(one, ast.If) and not isinstance(one.test, ast.UnaryOp)]
    typed = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == listed
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = itersel.nothing


def loaded_by(modules):
    code = f"import sys, {modules}; print(*sys.modules)"
    return set(limited(program=("-c", code)).stdout.split())


def test_import_is_light():
    loaded = loaded_by("itersel")
    assert [name for name in loaded if name.partition(".")[0] == "itersel"] == ["itersel"]
    assert not loaded & {"numba", "scipy", "numpy", "h5py", "sacrebleu", "importlib.metadata"}
    # `itersel bleu` and reading a config must start fast; importing numba takes half a second
    loaded = loaded_by("itersel.config, itersel.evaluate.metrics")
    assert loaded & {"itersel.evaluate.metrics", "numba"} == {"itersel.evaluate.metrics"}


def test_steps_do_not_use_the_exports():
    """`itersel.code.digests` does not follow imports of the root module; steps must import submodules."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module == "itersel":
                assert {alias.name for alias in node.names} <= {"__version__"}, path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert node.value.id != "itersel" or node.attr == "__version__" or path.name == "api.py", path


def test_documented_example(results, system, root, monkeypatch):
    monkeypatch.chdir(results.parents[1])
    command("bundle", system, "selected.bundle")
    for name in ("dev", "devtest"):
        Path(f"{name}.en").write_text("the small house at the river\n" * 3)
    texts = ("the house at small the river", 2), ("the small house at the river", 1), ("river", 9)
    lines = [f"{i} ||| {text} ||| LM={value} TM={i} ||| 0\n" for i in range(3) for text, value in texts]
    for name in ("dev", "devtest"):
        Path(f"{name}.nbest").write_text("".join(lines))
    blocks = re.findall(r"^```python\n(.*?)^```$", (root / "docs/api.md").read_text(), flags=re.M | re.S)
    code = "\n".join(blocks)
    used = set(re.findall(r"itersel\.(\w+)", code))
    functions = {name for name in itersel.__all__ if name[0].islower()}
    assert functions <= used
    exec(compile(code, "docs/api.md", "exec"), {})
    assert Path("mixed.h5").is_file()


def test_systems_translate_like_the_command(system, tmp_path):
    lines, loaded = raw_text(5), itersel.load_system(system)
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in lines))
    assert loaded.translate(lines) == translate(system, tmp_path / "text", tmp_path / "out")
    found = translate(system, tmp_path / "text", tmp_path / "out", "--k-best", "3", "--alignments")
    assert loaded.translate(lines, k_best=3, alignments=True) == list(map(json.loads, found))
    assert loaded.translate([]) == []
    for bad, facts in (
        (["a", "b " * 2999], ("lines:2:", 2999)),
        (["a", "b\nc"], "lines:2:"),
        (["a", "b ||| c"], "lines:2:"),
        ("a b", ("lines", "'a b'")),
    ):
        with input_error(facts):
            loaded.translate(bad)


def test_lists_are_tuned_and_reranked_like_the_commands(tmp_path):
    lists, reference, weights = (tmp_path / name for name in ("lists", "reference", "weights.json"))
    lists.write_text("0 ||| a b c d ||| f=1\n0 ||| a b c e ||| f=2\n1 ||| e ||| f=1\n")
    reference.write_text("a b c d\ne\n")
    files = ("--nbest", lists, "--reference", reference, "--output", weights)
    command("tune", "--tuner", "mert", *files)
    tuned = itersel.tune_nbest([lists], ["a b c d", "e"], tuner=itersel.Mert())
    assert tuned.weights.to_dict() == json.loads(weights.read_text()) == {"f": -1.0}
    assert itersel.rescore([lists], tuned.weights) == ["a b c d", "e"]
    start = {"f": 1.0, "g": 2.0}
    tuned = itersel.tune_nbest([lists], ["a b c d", "e"], tuner="mert", start=start)
    assert tuned.weights.to_dict() == {"f": -1.0, "g": 2.0}
    assert itersel.rescore([lists], {"f": 1.0}) == ["a b c e", "e"]


def test_decode_is_the_command(results, tmp_path):
    sentences, model = results / "sentences/test/1/0.h5", results / "lm/lm.bin"
    weights = results / "experiments/selected/best/weights.h5"
    files = ("--sentences", sentences, "--language-model", model, "--weights", weights)
    command("decode", *files, "--k-best", 3, "--output", tmp_path / "lists")
    read = itersel.read_grammars(sentences), itersel.load_model(model), itersel.read_any_weights(weights)
    lines = []
    for sentence, found in enumerate(itersel.decode_sentences(*read, k_best=3)):
        for one in found:
            features = " ".join(f"{name}={value:.6g}" for name, value in one.features.items())
            lines.append(f"{sentence} ||| {one.text} ||| {features} ||| {one.score:.6g}")
    assert lines == (tmp_path / "lists").read_text().splitlines()
    (third,) = itersel.decode_sentences(*read, sentences=[2])
    assert [one.text for one in third] == [line.split(" ||| ")[1] for line in lines if line[0] == "2"][:1]
    with pytest.raises(IndexError, match=f"{SENTENCES}.*{SENTENCES}"):
        list(itersel.decode_sentences(*read, sentences=[SENTENCES]))
    with input_error(0):
        list(itersel.decode_sentences(*read, k_best=0))


def test_training_and_mixing_are_the_commands(results, tmp_path):
    """Identical results in every epoch."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    model, previous = results / "lm/lm.bin", ()
    for epoch in (1, 2):
        names = []
        for number in range(2):
            sentences = results / f"sentences/train/2/{number}.h5"
            names.append(name := f"{epoch}-{number}.h5")
            where = ("--epoch", epoch, "--shard-number", number)
            files = (
                "--sentences",
                sentences,
                "--language-model",
                model,
                "--output",
                theirs / name,
                *previous,
            )
            command("train", *files, *where, *settings(learner={"name": "adagrad"}, k_best=20))
            how = itersel.TrainSettings(
                learner=itersel.AdaGrad(), k_best=20, epoch=epoch, shard_number=number
            )
            read = itersel.read_grammars(sentences), itersel.load_model(model)
            start = None if epoch == 1 else ours / "mixed.1.h5"
            itersel.write_training(ours / name, itersel.train_epoch(*read, start, how), how)
            assert (ours / name).read_bytes() == (theirs / name).read_bytes()
        write_lines(theirs / "list", [str(theirs / name) for name in names])
        mixed = f"mixed.{epoch}.h5"
        keys = {"select": 5, "norm": "l1", "keep": ["dense"]}
        files = ("--inputs", theirs / "list", "--output", theirs / mixed)
        how_to_mix = settings(mixing={"name": "selection", **keys}, shards=2)
        command("step", "mix", *files, "--epoch", epoch, *how_to_mix)
        inputs = [ours / name for name in reversed(names)]
        selection = itersel.Selection(select=5, norm="l1", keep=("dense",))
        how = itersel.MixSettings(selection, shards=2, epoch=epoch)
        found = itersel.mix_weights(inputs, ours / mixed, how)
        assert (ours / mixed).read_bytes() == (theirs / mixed).read_bytes()
        assert found.to_dict() == itersel.read_any_weights(ours / mixed).to_dict() != {}
        previous = ("--start", theirs / mixed)
    with input_error(2, 1):
        itersel.mix_weights([ours / name for name in names], tmp_path / "no.h5")
    assert not (tmp_path / "no.h5").exists()


def test_start_in_memory(results):
    read = (
        itersel.read_grammars(results / "sentences/train/2/0.h5"),
        itersel.load_model(results / "lm/lm.bin"),
    )
    start = itersel.make_weights({"LanguageModel": 1.0, "of another shard": 2.0})
    training = itersel.train_epoch(*read, start, itersel.TrainSettings(learner=itersel.Perceptron()))
    assert training.sentences == SENTENCES
    assert training.weights.to_dict()["of another shard"] == 2.0


def test_bleu(tmp_path, capsys):
    texts = {"system": ["a b c d e", "f g h i"], "one": ["a b c d", "f g h i"], "two": ["a b c d e", "x"]}
    for name, lines in texts.items():
        write_lines(tmp_path / name, lines)
    command("bleu", "--reference", tmp_path / "one", "--reference", tmp_path / "two", tmp_path / "system")
    printed = capsys.readouterr().out.splitlines()[1].split("\t")
    score = itersel.score_tokenized_bleu(*texts.values())
    assert (f"{score.bleu:.2f}", f"{score.brevity_penalty:.3f}") == (printed[0], printed[2])
    assert score.bleu != itersel.score_tokenized_bleu(texts["system"], texts["one"]).bleu


def mix(inputs=("missing.h5",), **keys):
    itersel.mix_weights(inputs, "no.h5", itersel.MixSettings(**keys) if keys else None)


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (lambda: tune_nbest(["lists"], "a b c d", tuner="pro"), 0),
        (lambda: tune_nbest(["lists"], [["a b c d", "e"]], tuner="pro"), 0),
        (lambda: tune_nbest(["lists"], ["a", "b"], tuner="x"), ("tuner", "x")),
        (lambda: tune_nbest(["lists"], ["a", "b"], ["a"], tuner="pro"), (1, 2)),
        (lambda: tune_nbest(["lists"], ["a"], tuner="pro", tokenizer="y"), ("tokenizer", "'y'")),
        (lambda: tune_nbest("list", ["a"], tuner="pro"), "n-best"),
        (lambda: tune_nbest([], ["a"], tuner="pro"), "n-best"),
        (lambda: compare({"xy": "a"}, ["a"]), "xy"),
        (lambda: compare({"x": ["a"]}, ["a"], tokenizer="y"), ("tokenizer", "'y'")),
        (lambda: compare({"x": ["a"]}, ["a"], trials=0), ("trials", 0)),
        (lambda: score_tokenized_bleu(["a", "b"], ["a", "b"], ["a"]), (1, 2)),
        (lambda: score_tokenized_bleu(["a"]), "reference"),
        (lambda: score_tokenized_bleu([], []), "translations"),
        (lambda: score_tokenized_bleu(["a"], ["a"], retokenize="intl"), ("retokenize", "'intl'")),
        (lambda: mix(mixing="selection"), ("mixing", "'selection'")),
        (lambda: mix(mixing=itersel.Selection(select=5, norm="l3")), ("norm", "'l3'")),
        (lambda: mix(mixing=itersel.Selection(select=0)), ("select", 0)),
        (lambda: mix(mixing=itersel.Selection(relative_threshold=2)), ("relative_threshold", 1)),
        (
            lambda: mix(mixing=itersel.Selection(threshold=1.0, relative_threshold=0.1)),
            "'mixing.relative_threshold'",
        ),
        (lambda: mix(mixing=itersel.Selection(select=5, keep="dense")), ("keep", "'dense'")),
        (lambda: mix(epoch=0), ("epoch", 0)),
        (lambda: mix(["a.h5", "b.h5"], shards=3), (2, 3)),
        (lambda: mix([]), ("shards", 0)),
        (lambda: mix("shard.h5"), ("inputs", "'shard.h5'")),
        (lambda: TrainSettings(templates=("R", "Nope")), ("templates", "'Nope'", "RBS")),
        (lambda: TrainSettings(max_span=0), ("max_span", 0, 1)),
        (lambda: TrainSettings(learner="mira"), ("learner", "'mira'")),
        (lambda: TrainSettings(epoch=0), ("epoch", 0, 1)),
        (lambda: TrainSettings(shard_number=-1), ("shard_number", -1, 0)),
        (lambda: Search("sparse"), ("features", "'sparse'")),
        (lambda: Search(pop_limit=0), ("pop_limit", 0)),
        (lambda: Search(pop_limit=2.5), ("pop_limit", "2.5")),
        (lambda: Search(templates="R"), ("templates", "'R'")),
        (lambda: Selection(select=-5), ("select", -5, 1)),
        (lambda: Selection(select=2.5), ("select", "2.5")),
        (lambda: Selection(threshold="x"), ("threshold", "'x'", 0)),
        (lambda: Selection(relative_threshold=1.5), ("relative_threshold", "1.5", 1)),
        (lambda: PathFollowing(epsilon=0.0), ("epsilon", "0.0")),
        (lambda: Pooled(labels=("a b",)), ("labels", "'a b'")),
        (lambda: Pooled(labels=(1,)), "labels"),
    ],
)
def test_wrong_arguments(call, facts, tmp_path, monkeypatch):
    """Before anything is read."""
    monkeypatch.chdir(tmp_path)
    with input_error(facts):
        call()
    assert list(tmp_path.iterdir()) == []


def test_templates_that_the_grammars_were_not_read_with(results):
    read = itersel.read_grammars(results / "sentences/test/1/0.h5"), itersel.load_model(results / "lm/lm.bin")
    search = itersel.Search(templates=("Shape",))
    with input_error("R", "Shape"):
        next(itersel.decode_sentences(*read, itersel.make_weights({}), search=search))


def test_files_written_by_several_threads(tmp_path, monkeypatch):
    """All are open at the same time, and equal to those written one after the other."""
    barrier, write_header, errors = threading.Barrier(4), hdf5.write_header, []

    def write_together(*arguments):
        barrier.wait()
        write_header(*arguments)

    def write(number, folder):
        try:
            itersel.write_any_weights(
                folder / f"{number}.h5", itersel.make_weights({"LanguageModel": number})
            )
        except Exception as error:
            barrier.abort()
            errors.append(error)

    for folder in (tmp_path / "alone", tmp_path / "together"):
        folder.mkdir()
    for number in range(4):
        write(number, tmp_path / "alone")
    monkeypatch.setattr(hdf5, "write_header", write_together)
    threads = [threading.Thread(target=write, args=(number, tmp_path / "together")) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for path in (tmp_path / "alone").iterdir():
        assert path.read_bytes() == (tmp_path / "together" / path.name).read_bytes()
