"""`itersel config check`: the files of a config, and the estimated cost of a run."""

import errno
import gzip
import os
import re
from pathlib import Path

import pytest
import yaml
from tests.refusals import check_facts

from itersel.cli.main import main
from itersel.config.file_checks import Size, check_given_texts
from itersel.config.name_checks import check_names
from itersel.config.reading import read_config
from itersel.errors import InputError
from itersel.plan.estimates import estimate_cost

SPLITS = {"train": 40, "dev": 6, "devtest": 5, "test": 4}
TUNERS = [{"retune": {"tuner": {"name": name}}} for name in ("pro", "line-search")]
SIZES = {"train": Size({15: 31_000}), **dict.fromkeys(("dev", "devtest", "test"), Size({16: 1_000}))}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with the files of `content`."""
    monkeypatch.chdir(tmp_path)
    for split, count in SPLITS.items():
        for side in ("source", "target"):
            with gzip.open(f"{split}.{side}.gz", "wt") as stream:
                stream.writelines(f"{side} sentence number {split}{number}\n" for number in range(count))


def content(**experiment):
    files = {split: {side: f"{split}.{side}.gz" for side in ("source", "target")} for split in SPLITS}
    plain = {"epochs": 2, "tasks": {"name": "random", "shards": 2}, "retune": {"tuner": {"name": "none"}}}
    return {"data": {"kind": "files", **files}, "experiments": {"x": plain | experiment}}


def command(config, *options):
    Path("config.yaml").write_text(yaml.safe_dump(config))
    return ["config", "check", "config.yaml", *options]


def check(config, *options):
    return main(command(config, *options))


def test_sizes_and_estimate(capsys):
    assert check(content(tasks={"name": "random", "shards": 4})) == 0
    lines = capsys.readouterr().out.splitlines()
    sizes = [f"  {split}: {count} sentences, {4 * count} words" for split, count in SPLITS.items()]
    assert lines[:5] == ["config.yaml: valid; experiments: x", *sizes]
    # 4 + 1 + 1 files extracted; 2 epochs with 4 shards, mixing and decoding each; test decoded once
    cost = r"[\d.]+ s of processor time, \d+ MB of grammars, [\d.]+ GB of memory per job"
    assert re.fullmatch(f"  rough estimate: 19 jobs of extraction, training and decoding, {cost}", lines[5])
    fetched = {"kind": "libreoffice-help", "source_language": "de", "target_language": "en-us"}
    assert check(content() | {"data": fetched}) == 0
    # the text that is downloaded has no sizes yet
    assert " of processor time" not in capsys.readouterr().out
    assert check(content(), "--no-text") == 0
    assert capsys.readouterr().out == "config.yaml: valid; experiments: x\n"


def test_all_files_that_cannot_be_read(capsys):
    config = content()
    Path("dev.source.gz").unlink()
    config["data"] |= {"monolingual": "more.gz"}
    config["data"]["devtest"]["source"] = "."
    config["data"]["test"]["target"] = ["test.target.gz", "other.gz"]
    scores = {"COMET": {"system_numbers": {"x": "comet"}}}
    config["evaluation"] = {"outputs": {"online": "online.txt"}, "user_scores": scores}
    assert check(config, "--no-text") == 1
    expected = (
        ("data.monolingual", "more.gz", errno.ENOENT),
        ("evaluation.outputs.online", "online.txt", errno.ENOENT),
        ("evaluation.user_scores.COMET.system_numbers.x", "comet", errno.ENOENT),
        ("data.dev", "dev.source.gz", errno.ENOENT),
        ("data.devtest", ".", errno.EISDIR),
        ("data.test", "other.gz", errno.ENOENT),
    )
    lines = capsys.readouterr().err.splitlines()
    for line, (key, path, number) in zip(lines, expected, strict=True):
        check_facts(line, "itersel config: config.yaml:", f"'{key}'")
        assert line.endswith(f" {path}: {os.strerror(number)}")


@pytest.mark.parametrize(
    ("path", "lines", "facts"),
    [
        ("dev.target.gz", b"one\n", "dev.target.gz"),
        ("devtest.target.gz", b"\xe4\n" * 5, ("devtest.target.gz:1:", "UTF-8")),
        ("more.gz", b"one\n\xe4\n", ("more.gz:2:", "UTF-8")),
    ],
)
def test_text_that_cannot_be_used(path, lines, facts, refused):
    Path(path).write_bytes(gzip.compress(lines))
    config = content()
    config["data"] |= {"monolingual": "more.gz"} if path == "more.gz" else {}
    refused(command(config), facts)
    assert check(config, "--no-text") == 0


def test_what_does_not_fit_the_text(refused):
    good = content(tasks={"name": "random", "shards": 40}) | {
        "evaluation": {"outputs": {"online": "test.target.gz"}}
    }
    assert check(good) == 0
    facts = ("'evaluation.outputs.online'", "dev.target.gz", 6, 4)
    refused(command(good | {"evaluation": {"outputs": {"online": "dev.target.gz"}}}), facts)
    config = content() | {"evaluation": {"user_scores": {"COMET": {"system_numbers": {"x": "comet"}}}}}
    for lines, facts in (
        (["0.5"] * 6, ("comet:", 6, 4)),
        (["1", "x", "1", "1"], ("comet:2:", "'x'")),
        (["1", "1", "1", "1e7"], ("comet:4:", "'1e7'")),
    ):
        Path("comet").write_text("".join(f"{line}\n" for line in lines))
        refused(command(config), facts)
    Path("comet").write_text("0.5\n" * 4)
    assert check(config) == 0
    facts = ("'experiments.x.tasks.shards'", 41, 40)
    refused(command(content(tasks={"name": "random", "shards": 41})), ("config.yaml", facts))


def test_lists_of_another_decoder(refused, capsys):
    config = content()
    config["data"] = {"kind": "lists"}
    for split, count in SPLITS.items():
        lines = (f"{number} ||| a ||| LM= {rank}\n" for number in range(count) for rank in range(2))
        Path(f"{split}.nbest").write_text("".join(lines))
        config["data"][split] = {"lists": f"{split}.nbest", "target": f"{split}.target.gz"}
    assert check(config) == 0
    assert "  dev: 6 sentences, 12 translations, 1 dense features (LM)\n" in capsys.readouterr().out
    more = {"evaluation": {"outputs": {"online": "dev.target.gz"}}}
    refused(command(config | more), ("dev.target.gz", 6, 4))
    Path("comet").write_text("1\n" * 7)
    refused(
        command(config | {"evaluation": {"user_scores": {"COMET": {"list_numbers": "comet"}}}}),
        ("comet:", 7, 8),
    )
    Path("comet").write_text("1e7\n" + "1\n" * 7)
    refused(
        command(config | {"evaluation": {"user_scores": {"COMET": {"list_numbers": "comet"}}}}), "comet:1:"
    )
    Path("comet").write_text("1\n" * 7)
    by_quality = {"data": config["data"] | {"devtest": config["data"]["devtest"] | {"quality": "comet"}}}
    by_quality["evaluation"] = {"choose_by": "quality"}
    refused(command(config | by_quality), ("comet:", 7, 10))
    Path("comet").write_text("1\n" * 10)
    assert check(config | by_quality) == 0
    capsys.readouterr()
    for tasks, made in (({"name": "random", "shards": 41}, "41 shards"), ({"shards": 6}, "48 files")):
        config["experiments"]["x"]["tasks"] = tasks
        refused(command(config), ("tasks.shards", made, 40))


def help_cost(sizes=SIZES, **experiment):
    """Return the estimate for an experiment on the LibreOffice Help."""
    return estimate_cost(read_config(content(**experiment)), sizes)


def test_estimate_has_the_right_magnitude():
    """On the LibreOffice Help, a shard of 1,000 sentences trains at 90 sentences a second and takes 9 MB."""
    cost = help_cost(tasks={"name": "random", "shards": 31}, epochs=10)
    assert 10 * 31_000 / 90 < cost.hours * 3600 < 2 * 10 * 31_000 / 90
    assert 31 * 7e6 < cost.disk < 33 * 11e6
    assert 1.5e9 <= cost.memory < 3e9
    assert 10 * 33 <= cost.jobs <= 10 * 33 + 40


@pytest.mark.parametrize(
    "more", [{"epochs": 3}, {"repeats": 2}, {"tasks": {"name": "random", "shards": 62}}, *TUNERS]
)
def test_estimate_grows(more):
    settings = {"tasks": {"name": "random", "shards": 31}, "epochs": 2}
    before, after = help_cost(**settings), help_cost(**settings | more)
    assert after.jobs > before.jobs
    assert after.hours > before.hours


def test_estimate_counts_the_choice_of_scales():
    """Each experiment has a job that translates devtest once more."""
    by_score, by_risk = (
        estimate_cost(read_config(content(repeats=2) | {"mbr": mbr}), SIZES)
        for mbr in ({}, {"gain": "sentence-bleu"})
    )
    assert by_risk.jobs == by_score.jobs + 2
    assert by_risk.hours > by_score.hours


def test_estimate_counts_default_iterations():
    """By default, a tuner of all dense weights runs six iterations."""
    tuner = {"tuner": {"name": "kbest-mira"}}
    assert help_cost(retune=tuner) == help_cost(retune={**tuner, "iterations": 6}) is not None
    # there is no estimate without the sizes of all texts
    assert help_cost({name: size for name, size in SIZES.items() if name != "test"}) is None


def test_text_that_is_used_twice(refused):
    Path("link.gz").symlink_to("train.source.gz")
    for split, side, path, keys in (
        ("test", "source", "link.gz", ("data.train", "data.test")),
        ("dev", "target", ["dev.target.gz", "./dev.target.gz"], "data.dev"),
        ("train", "target", "train.source.gz", "data.train"),
    ):
        config = content()
        config["data"][split][side] = path
        refused(command(config), keys)


def check_warnings(capsys, config, *expected):
    """Check that a valid config has these warnings, each with its facts."""
    assert check(config) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(expected)
    for line, facts in zip(lines, expected, strict=True):
        check_facts(line, "config.yaml: warning:", facts)


def test_held_out_text_that_is_used_twice(capsys):
    """It may be meant: a warning for each file."""
    config = content()
    config["data"]["test"] = config["data"]["devtest"]
    files = [(f"devtest.{side}.gz ", "data.devtest", "data.test") for side in ("source", "target")]
    check_warnings(capsys, config, *files, (5, "test", "devtest"))


def test_pairs_that_splits_share(capsys):
    """Spaces and case make no difference; a pair of the same source and another target is not shared."""
    lines = {"source": "Source  sentence number train0\n", "target": "target sentence number train0\n"}
    for side, line in lines.items():
        Path(f"test.{side}").write_text(line + "source sentence number train1\n" + line)
    config = content()
    config["data"]["test"] = {side: f"test.{side}" for side in lines}
    check_warnings(capsys, config, (2, "test", "train", "data.drop_overlap"))
    config["data"]["drop_overlap"] = False
    check_warnings(capsys, config, (2, "test", "train"))


def sizes_of(config):
    """Return the numbers of sentences of train, dev, devtest and test."""
    sizes, _ = check_given_texts(read_config(config))
    assert sizes.keys() == SPLITS.keys()
    return [sizes[split].total() for split in SPLITS]


def test_sizes_of_samples_and_of_sets_that_are_cut_from_train(refused):
    config = content()
    config["data"] |= {"max_train": 7, "max_held_out": 3}
    assert sizes_of(config) == [7, 3, 3, 3]
    config = content()
    del config["data"]["dev"], config["data"]["devtest"]
    config["data"]["cut"] = {"dev": 3, "devtest": 4}
    assert sizes_of(config) == [33, 3, 4, 4]
    config["data"]["cut"]["dev"] = 36
    refused(command(config), "'data.cut'", 36, 4)


def write_text(**sides):
    for name, lines in sides.items():
        Path(name.replace("_", ".")).write_text("".join(f"{line}\n" for line in lines))


def test_suspicious_text(capsys):
    config = content()
    check_warnings(capsys, config)
    words = [f"target sentence {number}" for number in range(9)]
    write_text(dev_a=[f"wort {number}" for number in range(9)], dev_b=["", " ", *words[:2]] + [""] * 5)
    config["data"]["dev"] = {"source": "dev.a", "target": "dev.b"}
    check_warnings(capsys, config, (7, 9, "dev"))
    # the sources of dev are targets of train
    write_text(dev_a=[f"target sentence number train{number}" for number in range(9)], dev_b=words)
    check_warnings(capsys, config, "dev")
    write_text(dev_a=["source", *words], dev_b=["de", *words])
    config["data"]["source_language"] = "de"
    check_warnings(capsys, config, "dev")
    write_text(dev_a=["das , ja ."] * 9, dev_b=[f"well , {word} ." for word in words])
    check_warnings(capsys, config, ("dev", "data.tokenized"))
    config["data"]["tokenized"] = True
    check_warnings(capsys, config)
    write_text(dev_a=["a b", "c"], dev_b=["d e f", "g"])
    config = content(
        tune_on="dev", features="dense", learner={"name": "mert"}, tasks={"name": "random", "shards": 1}
    )
    config["data"]["dev"] = {"source": "dev.a", "target": "dev.b"}
    # a tuner of this experiment would fail
    check_warnings(capsys, config, ("dev", "BLEU", 0, "'x'"))


def test_suspicious_languages(capsys):
    config = content()
    config["data"] |= {"source_language": "ru", "target_language": "th"}
    cyrillic, thai = [[letter * 9 + f" {number}" for number in range(9)] for letter in "дก"]
    write_text(dev_a=thai, dev_b=cyrillic)
    config["data"]["dev"] = {"source": "dev.a", "target": "dev.b"}
    # no other text is in these languages either
    others = [(split, code) for split in ("devtest", "test", "train") for code in ("'ru'", "'th'")]
    check_warnings(capsys, config, "'th'", "dev", *others)
    config["data"] |= {"source_language": "eo", "target_language": "en", "dev": content()["data"]["dev"]}
    check_warnings(capsys, config, ("Moses", "'eo'", "English"))


def test_language_model_of_other_text(capsys):
    write_text(t_a=["Haus da"] * 9, t_b=["The House Is There"] * 9)
    config = content()
    config["data"]["train"] = {"source": "t.a", "target": "t.b"}
    rows = "".join(f"-1\t{word}\n" for word in ("<unk>", "<s>", "</s>", "The", "House", "Is", "There"))
    arpa = f"\\data\\\nngram 1=7\n\n\\1-grams:\n{rows}\n\\end\\\n"
    Path("lm.arpa").write_text(arpa)
    config["language_model"] = {"arpa": "lm.arpa", "order": 1}
    check_warnings(capsys, config, ("lm.arpa ", 0, "train"))
    Path("lm.arpa").write_text(arpa.lower())
    check_warnings(capsys, config)
    config["language_model"]["order"] = 3
    Path("lm.arpa").write_text(arpa.lower().replace("<unk>", "other"))
    order, unknown = ("lm.arpa ", 1, "language_model.order", 3), ("lm.arpa ", "<unk>", -100)
    check_warnings(capsys, config, order, unknown)


def test_train_of_nothing_but_held_out_pairs(capsys):
    config = content()
    for side in ("source", "target"):
        Path(f"copy.{side}.gz").write_bytes(Path(f"train.{side}.gz").read_bytes())
    config["data"]["test"] = {"source": "copy.source.gz", "target": "copy.target.gz"}
    assert check(config) == 1
    *warned, error = capsys.readouterr().err.splitlines()
    check_facts(error, "itersel config:", "train")
    # whatever else is suspicious about the text is said first
    check_facts("".join(warned), "test", "train", "data.drop_overlap")


def with_names(size, **keys):
    """Return configs with a name of this many bytes, made from a name and what is added to it."""
    one = content()["experiments"]["x"]
    files = {side: f"test.{side}.gz" for side in ("source", "target")}
    train = {side: f"train.{side}.gz" for side in ("source", "target")}
    test = {"x" * (size - len("test.")): files}
    own = {"x" * (size - len("devtest.")): {**files, "devtest": files}}
    tasks = {"name": "independent", "labels": {"l" * 14: 2}}
    data = content()["data"]
    labelled = {split: {**one, "labels": "x"} for split, one in data.items() if split in SPLITS}
    return {
        "name": content() | {"name": "x" * (size + ADDED_BYTES)},
        "output": content() | {"output": f"results/{'x' * (size + ADDED_BYTES)}/x"},
        "experiments": content() | {"experiments": {"x" * size: one}},
        "repeats": content() | {"experiments": {"x" * (size - len(".repeat-2")): {**one, "repeats": 2}}},
        "grid": content(k_best=[7, 8]) | {"experiments": {"x" * (size - 9): {**one, "k_best": [7, 8]}}},
        "tasks": content()
        | {"data": {**data, **labelled}}
        | {"experiments": {"y": one, "x" * (size - len(".task-") - 14): {**one, "tasks": tasks}}},
        "test": content() | {"data": {**data, "test": test}},
        "devtest": content() | {"data": {**data, "test": own}},
        "train": content() | {"data": {**data, "train": {"x" * (size - len("train.")): train}}},
        "outputs": content() | {"evaluation": {"outputs": {"x" * size: ["test.target.gz"]}}},
    }


ADDED_BYTES = len(".statistics.json")
KEYS = dict.fromkeys(("repeats", "grid", "tasks"), "experiments") | {"outputs": "evaluation.outputs"}
KEYS |= {"test": "data.test", "devtest": "data.test", "train": "data.train"}


@pytest.mark.parametrize("most", [255, 143])
@pytest.mark.parametrize("kind", with_names(100))
def test_names_that_are_too_long_for_files(monkeypatch, kind, most):
    """With what is added to them, in bytes; how many there may be is asked of the nearest folder."""
    asked = []
    monkeypatch.setattr("os.pathconf", lambda folder, _: asked.append(Path(folder)) or most)
    names = [with_names(size)[kind] for size in (most - ADDED_BYTES, most - ADDED_BYTES + 1)]
    check_names(read_config(names[0]))
    with pytest.raises(InputError) as error:
        check_names(read_config(names[1]))
    long = most + 1 if kind in ("name", "output") else most - ADDED_BYTES + 1
    check_facts(error.value.message, f"'{KEYS.get(kind, kind)}'", long, long - 1)
    assert set(asked) == {Path.cwd()}


def test_a_long_name_is_one_line(refused):
    refused(command(with_names(250)["grid"]), ("config.yaml", "'experiments'"))


def test_a_file_system_that_does_not_say_how_long_names_may_be(monkeypatch):
    def unknown(*_):
        raise OSError(22, "Invalid argument")

    for answer in (unknown, lambda *_: -1, lambda *_: 0):
        monkeypatch.setattr("os.pathconf", answer)
        check_names(read_config(with_names(239)["experiments"]))
        with pytest.raises(InputError):
            check_names(read_config(with_names(240)["experiments"]))
