"""The plan of texts and lists: what is prepared, extracted or read."""

import json
import subprocess
from dataclasses import replace

from tests.plans import DATA, FOLDER, LISTED, PAIR, SELECTED, job, of_help, of_lists, plan_of, plan_of_texts

from itersel.config import splits
from itersel.config.settings import read_settings
from itersel.config.text_steps import PrepareSettings
from itersel.corpus.corpora import Columns, Corpus
from itersel.plan.shell import sequences


def test_lists_replace_grammars_and_models():
    texts = of_lists().list_texts
    place = job("selected", epoch=1, stage="best", shard=2, split="train", division="4")
    assert of_lists().epochs.training_files(place) == ["out/x/sentences/train/4/2.h5"]
    assert (
        of_lists().epochs.training_language_models(place),
        of_lists().origin.language_models,
        of_lists().rule_counts.divisions_of_splits,
    ) == ([], [], {})
    # nothing of a decoder
    made = json.loads(of_lists().origin.train_settings(place))
    assert made.keys() == {"features", "k_best", "seed", "learner", "measure_loss", "left_out_templates"}
    assert of_lists().epochs.of(place).level_before == ["out/x/sentences/train/4/files.txt"]
    # tuners read whole lists in every iteration
    dev = [f"out/x/sentences/dev/3/{file}.h5" for file in range(3)]
    for iteration in (1, 2):
        assert of_lists().tuning.tuning_files(job("selected", epoch=1, iteration=iteration)) == dev
    tuned = job("tuned", epoch=4)
    assert of_lists().tuning.tuning_files(tuned) == ["out/x/sentences/dev/1/0.h5"]
    settings = json.loads(of_lists().tuning.tune_settings(tuned))
    assert (settings["files"], settings["features"], settings["retune"]) == (1, "dense", False)
    assert json.loads(of_lists().tuning.tune_settings(place))["files"] == 3
    assert json.loads(of_lists().origin.decode_settings(place)) == {
        "features": "all",
        "left_out_templates": [],
    }
    references = [f"out/x/corpus/train.target{end}.gz" for end in ("", ".1")]
    assert (texts.lists(place), texts.quality(place), texts.references(place)) == (["l's"], ["q"], references)
    division = {"name": "shuffled", "files": 4, "seed": 1}
    assert json.loads(texts.divide_settings(place)) == {"division": division, "dense_names": ["LM", "TM_0"]}
    in_order = json.loads(texts.divide_settings(job(split="devtest.new", division="3")))["division"]
    assert in_order == {"name": "in-order", "files": 3}
    assert texts.quality(job(split="devtest.new")) == []
    files = [f"out/x/corpus/test.new.{end}" for end in ("target.gz", "target.1.gz", "source.gz")]
    assert texts.texts("test.new") == [*files, "out/x/corpus/test.new.statistics.json"]
    assert of_lists().texts.raw_references("test.new") == of_lists().texts.references("test.new") == files[:2]
    assert of_lists().texts.statistics == [f"out/x/corpus/{split}.statistics.json" for split in texts.splits]
    features = {key: [] for key in ("groups", "user_model_names", "templates")}
    words = {"source_language": "de", "target_language": "en", "tokenized": False}
    no_features = {"minimum_count": 1, **features}
    expected = {**words, "protected": ["a b"], "lowercase": True, **no_features}
    assert json.loads(texts.list_settings(place)) == expected


def test_lists_whose_names_begin_with_a_dash(tmp_path, monkeypatch):
    """They are not taken for options; a folder stands for all files in it, which may be thousands."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-folder").mkdir()
    (tmp_path / "-folder/1").touch()
    train = {"lists": ["-folder", "-n"], "quality": "-q"}
    data = {"kind": "lists", "train": train, **dict.fromkeys(("dev", "devtest", "test"), LISTED)}
    texts = plan_of({"a": {"features": "dense", "retune": {"tuner": {"name": "none"}}}}, data).list_texts
    place = job(split="train", division="1")
    assert texts.named_lists(place) == [str(tmp_path / "-folder"), str(tmp_path / "-n")]
    assert texts.lists(place) == [str(tmp_path / "-folder/1"), str(tmp_path / "-n")]
    assert texts.quality(place) == [str(tmp_path / "-q")]


def test_text_of_a_run():
    plan = plan_of_texts(monolingual=["m.en"])
    texts = plan.texts
    assert texts.held_out == ["dev", "devtest", "devtest.one", "test.one", "test.two"] == texts.given
    assert texts.references("dev") == ["out/x/corpus/dev.target.gz", "out/x/corpus/dev.target.1.gz"]
    assert texts.raw_references("dev") == ["out/x/corpus/dev.raw.gz", "out/x/corpus/dev.raw.1.gz"]
    # two corpora: their names are labels
    assert {"out/x/corpus/train.labels.gz", "out/x/corpus/monolingual.gz"} <= set(texts.prepared)
    sides = [f"{text}.{language}" for text in "abdx" for language in ("de", "en")]
    assert set(texts.raw_files("train")) == {*sides, "d2.en"}
    assert texts.monolingual == ["m.en"]
    assert plan.language_models.text == ["out/x/corpus/train.target.gz", "out/x/corpus/monolingual.gz"]
    assert plan.language_models.arpa == "out/x/lm/lm.arpa.gz"
    assert plan.texts.devtest(job(test_set="one")) == "devtest.one"
    assert plan.tables.translation("a", "one") == f"{FOLDER}/a/best-one/test.one.txt"
    splits_of_one_file = ["devtest", "devtest.one", "test.one", "test.two"]
    assert plan.rule_counts.divisions_of_splits == {"train": "1", **dict.fromkeys(splits_of_one_file, "1")}


def test_alignment():
    assert plan_of_texts().texts.alignment == "out/x/align/train.align.gz"
    given = plan_of_texts(tokenized=True, train={**PAIR, "alignment": "x.align"})
    assert given.texts.alignment == "out/x/corpus/train.alignment.gz" in given.texts.prepared


def test_texts_of_the_help():
    """Held-out modules are made with train; texts in addition to the help are prepared like train."""
    help_data = {"held_out_labels": ["sbasic"], "test": {"news": {**PAIR, "target": ["x.en", "y.en"]}}}
    plan = plan_of({"a": SELECTED}, help_data)
    made = preparing(plan)
    assert (made.split, made.held_out_labels, [*made.held_out]) == ("hash", ("sbasic",), ["test.news"])
    assert [corpus.labels for corpus in made.corpora] == [("out/x/corpus/help/labels.gz",)]
    assert "out/x/corpus/test.sbasic.target.gz" in plan.texts.prepared
    news = preparing(plan, held_out="test.news")
    assert (news.split, news.preparation, news.held_out) == ("test.news", None, {})
    assert news.corpora == (made.held_out["test.news"],)
    assert news.corpora == (Corpus(source=("x.de",), target=("x.en",), further=("y.en",)),)
    made = json.loads(plan.tables.table_settings(job()))["test_sets"]
    for name, split in (("test", "test"), ("sbasic", "test.sbasic"), ("news", "test.news")):
        assert made[name]["references"][0] == f"out/x/corpus/{split}.target.gz"
    statistics = ["out/x/corpus/statistics.json", "out/x/corpus/test.news.statistics.json"]
    assert plan.texts.statistics == statistics
    assert plan.texts.collection == ["out/x/corpus/help/statistics.json"]
    rules = json.loads(plan.rule_counts.settings)["rules"]
    assert rules["test.sbasic"] == "out/x/report/rules.test.sbasic.json"


def preparing(plan, **wildcards):
    """Return the settings with which a text is prepared."""
    return read_settings(PrepareSettings, plan.texts.prepare_settings(job(**wildcards)))


def test_keys_of_preparation():
    made = preparing(of_help())
    assert (made.split, made.only_labels, made.held_out_labels) == ("hash", ("a", "b"), ("c",))
    assert (made.max_train, made.max_held_out, made.compound_splitting) == (5, 2, True)
    assert made.preparation.target_language == "en-us"
    cut = plan_of_texts(cut={"dev": 12, "devtest": 11}, dev={}, devtest={})
    assert preparing(cut).cut.by_split == {"dev": 12, "devtest": 11}
    assert "out/x/corpus/dev.labels.gz" in cut.texts.prepared


def test_what_does_not_matter_for_a_text_is_not_stated():
    """Otherwise, a change would prepare it again."""
    plans = [plan_of_texts(max_held_out=size, max_train=9 * size, max_length=50 + size) for size in (3, 4)]
    first, other = map(preparing, plans)
    assert replace(first, max_train=36, max_length=54) == other
    first, other = (preparing(plan, held_out="dev") for plan in plans)
    assert (first.max_held_out, replace(first, max_held_out=4)) == (3, other)
    # held-out sets that this job makes
    cut = {**DATA, "cut": {"dev": 12}, "dev": {}}
    for data in (cut, {"kind": "libreoffice-help"}):
        assert preparing(plan_of({"a": SELECTED}, {**data, "max_held_out": 3})).max_held_out == 3


def test_corpora():
    """Options and files of given texts, downloads and tables; every file that is read is an input."""
    plan = plan_of_texts(
        train={
            "news": {"source": ["a 1", "b"], "target": ["c", "d"], "labels": ["e", "f"]},
            "law": {"file": ["a.tsv", "b.tmx"], "columns": {"source": 2, "target": 1}},
            "talks": {"mtdata": ["g-n-1-deu-eng", "g-m-1-deu-eng"]},
            "memory": {"file": "c.tmx"},
        },
        dev={"source": "s", "target": ["t", "u"], "labels": "v"},
        test={"news": {"sacrebleu": "wmt20/tworefs"}, "old": {"file": "x.tsv", "columns": {"label": 3}}},
    )
    texts = plan.texts
    talks = [f"out/x/corpus/fetched/train.talks/{side}.gz" for side in ("source", "target")]
    news = [f"out/x/corpus/fetched/test.news/{side}.gz" for side in ("source", "target", "target.1")]
    made = preparing(plan)
    assert made.corpora == (
        Corpus("news", ("a 1", "b"), ("c", "d"), labels=("e", "f")),
        Corpus("law", file=("a.tsv", "b.tmx"), columns=Columns(2, 1)),
        Corpus("talks", (talks[0],), (talks[1],)),
        Corpus("memory", file=("c.tmx",)),
    )
    dev = Corpus(source=("s",), target=("t",), further=("u",), labels=("v",))
    assert made.held_out == {
        "dev": dev,
        "devtest": Corpus(source=(PAIR["source"],), target=(PAIR["target"],)),
        "test.news": Corpus(source=(news[0],), target=(news[1],), further=(news[2],)),
        "test.old": Corpus(file=("x.tsv",), columns=Columns(label=3)),
    }
    assert preparing(plan, held_out="dev").corpora == (dev,)
    own = ["a 1", "b", "c", "d", "e", "f", "a.tsv", "b.tmx", *talks, "c.tmx"]
    assert texts.raw_files("train") == [*own, "s", "t", "u", "v", *PAIR.values(), *news, "x.tsv"]
    for fetched, chosen in (
        ("train.talks", {"mtdata": ["g-n-1-deu-eng", "g-m-1-deu-eng"], "sacrebleu": None}),
        ("test.news", {"mtdata": [], "sacrebleu": "wmt20/tworefs"}),
    ):
        found = json.loads(texts.fetch_settings(job(fetched=fetched)))
        assert found == {"source_language": "de", "target_language": "en", **chosen}
    has_labels = [splits.has_labels(plan.config, split) for split in ("train", "test.old", "test.news")]
    assert has_labels == [True, True, False]


def test_sequences(tmp_path):
    """Names of folders may have per cent signs and spaces."""
    files = [f"{tmp_path}/{folder}/{number}.h5" for folder in ("a 5%d", "b") for number in range(11)]
    assert subprocess.check_output(sequences(files), shell=True, text=True).splitlines() == files


def test_one_part_of_the_plan_asks_what_a_run_learns_from(root):
    asking = [
        path.name
        for path in (root / "src/itersel/plan").glob("*.py")
        if "has_given_lists" in path.read_text()
    ]
    assert asking == ["origin.py"]
