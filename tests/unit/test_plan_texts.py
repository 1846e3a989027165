"""The plan of texts and lists: what is prepared, extracted or read."""

import json
import subprocess

from tests.plans import FOLDER, LISTED, PAIR, SELECTED, job, of_help, of_lists, plan_of, plan_of_texts

from itersel.config import splits
from itersel.plan.shell import sequences


def test_lists_replace_grammars_and_models():
    texts = of_lists().list_texts
    place = job("selected", epoch=1, stage="best", shard=2, split="train", shards="4")
    assert of_lists().epochs.training_files(place) == ["out/x/shards/train/4/2.h5"]
    assert (
        of_lists().epochs.training_models(place),
        of_lists().inputs.models,
        of_lists().tables.counted,
    ) == ([], [], {})
    # nothing of a decoder
    made = json.loads(of_lists().inputs.train_settings(place))
    assert made.keys() == {"features", "k_best", "seed", "learner", "measure_loss", "left_out_templates"}
    assert of_lists().epochs.of(place).level_before == ["out/x/shards/train/4/files.txt"]
    # tuners read whole lists in every iteration
    dev = [f"out/x/shards/dev/3/{shard}.h5" for shard in range(3)]
    for iteration in (1, 2):
        assert of_lists().lists.to_tune_on(job("selected", epoch=1, iteration=iteration)) == dev
    tuned = job("tuned", epoch=4)
    assert of_lists().lists.to_tune_on(tuned) == ["out/x/shards/dev/1/0.h5"]
    settings = json.loads(of_lists().lists.tune_settings(tuned))
    assert (settings["shards"], settings["features"], settings["sum_sparse"]) == (1, "dense", False)
    assert json.loads(of_lists().lists.tune_settings(place))["shards"] == 3
    assert json.loads(of_lists().inputs.decode_settings(place)) == {"features": "all"}
    references = [f"out/x/corpus/train.target{end}.gz" for end in ("", ".1")]
    assert (texts.lists(place), texts.quality(place), texts.references(place)) == (["l's"], ["q"], references)
    sharding = {"name": "shuffled", "shards": 4, "seed": 1}
    assert json.loads(texts.shard_settings(place)) == {"sharding": sharding, "dense_names": ["LM", "TM_0"]}
    in_order = json.loads(texts.shard_settings(job(split="devtest.new", shards="3")))["sharding"]
    assert in_order == {"name": "in-order", "shards": 3}
    assert texts.quality(job(split="devtest.new")) == []
    files = [f"out/x/corpus/test.new.{end}" for end in ("target.gz", "target.1.gz", "source.gz")]
    assert texts.texts("test.new") == [*files, "out/x/corpus/test.new.statistics.json"]
    assert of_lists().texts.raw_references("test.new") == of_lists().texts.references("test.new") == files[:2]
    assert of_lists().texts.statistics == [f"out/x/corpus/{split}.statistics.json" for split in texts.splits]
    features = {key: [] for key in ("dense", "user_model_names", "templates")}
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
    place = job(split="train", shards="1")
    assert texts.given_lists(place) == [str(tmp_path / "-folder"), str(tmp_path / "-n")]
    assert texts.lists(place) == [str(tmp_path / "-folder/1"), str(tmp_path / "-n")]
    assert texts.quality(place) == [str(tmp_path / "-q")]


def test_text_of_a_run():
    plan = plan_of_texts(monolingual=["m.en"])
    texts = plan.texts
    assert texts.held_out == ["dev", "devtest", "devtest.one", "test.one", "test.two"] == texts.given
    assert texts.references("dev") == ["out/x/corpus/dev.target.gz", "out/x/corpus/dev.target.1.gz"]
    assert texts.raw_references("dev") == ["out/x/corpus/dev.raw.gz", "out/x/corpus/dev.raw.1.gz"]
    # two corpora: their names are labels
    assert {"out/x/corpus/train.task.gz", "out/x/corpus/monolingual.gz"} <= set(texts.prepared)
    sides = [f"{text}.{language}" for text in "abdx" for language in ("de", "en")]
    assert set(texts.raw_files("train")) == {*sides, "d2.en", "m.en"}
    assert texts.of_language_model == ["out/x/corpus/train.target.gz", "out/x/corpus/monolingual.gz"]
    assert plan.arpa == "out/x/lm/lm.arpa.gz"
    assert plan.texts.devtest(job(test_set="one")) == "devtest.one"
    assert plan.tables.translation("a", "one") == f"{FOLDER}/a/best-one/test.one.txt"
    splits_of_one_shard = ["devtest", "devtest.one", "test.one", "test.two"]
    assert plan.tables.counted == {"train": "1", **dict.fromkeys(splits_of_one_shard, "1")}


def test_alignment():
    assert plan_of_texts().texts.alignment == "out/x/align/train.align.gz"
    given = plan_of_texts(tokenized=True, train={**PAIR, "alignment": "x.align"})
    assert given.texts.alignment == "out/x/corpus/train.alignment.gz" in given.texts.prepared


def test_texts_of_the_help():
    """Held-out modules are made with train; texts in addition to the help are prepared like train."""
    help_data = {"held_out_modules": ["sbasic"], "test": {"news": {**PAIR, "target": ["x.en", "y.en"]}}}
    plan = plan_of({"a": SELECTED}, help_data)
    made = plan.texts.prepare_options(job())
    assert made.startswith("--split hash --source-language de ")
    for text in ("--held-out-modules sbasic", "--task out/x/corpus/help/task.gz", "--held-out test.news"):
        assert text in made
    assert "out/x/corpus/test.sbasic.target.gz" in plan.texts.prepared
    news = plan.texts.prepare_options(job(held_out="test.news"))
    assert news.startswith("--split test.news --preparation out/x/corpus/preparation.json ")
    assert "--source x.de --target x.en --target y.en --output" in news
    made = json.loads(plan.tables.table_settings(job()))["test_sets"]
    for name, split in (("test", "test"), ("sbasic", "test.sbasic"), ("news", "test.news")):
        assert made[name]["references"][0] == f"out/x/corpus/{split}.target.gz"
    statistics = ["out/x/corpus/statistics.json", "out/x/corpus/test.news.statistics.json"]
    assert plan.texts.statistics == statistics
    assert plan.texts.collection == ["out/x/corpus/help/statistics.json"]
    rules = json.loads(plan.tables.corpora_settings)["rules"]
    assert rules["test.sbasic"] == "out/x/report/rules.test.sbasic.json"


def test_preparation_options():
    made = of_help().texts.prepare_options(job()).partition(" --source out")[0]
    assert made == (
        "--split hash --source-language de --target-language en-us --max-length 80 --max-ratio 9.0 "
        "--max-train 5 --max-held-out 2 --max-line-bytes 1048576 --modules a,b --held-out-modules c "
        "--compound-splitting"
    )
    cut = plan_of_texts(split={"dev": 12, "devtest": 11}, dev={}, devtest={}).texts
    assert " --cut dev=12 --cut devtest=11 " in cut.prepare_options(job())
    assert "out/x/corpus/dev.task.gz" in cut.prepared


def test_corpora():
    """Options and files of given texts, downloads and tables; every file that is read is an input."""
    plan = plan_of_texts(
        train={
            "news": {"source": ["a 1", "b"], "target": ["c", "d"], "task": ["e", "f"]},
            "law": {"file": ["a.tsv", "b.tmx"], "columns": {"source": 2, "target": 1}},
            "talks": {"mtdata": ["g-n-1-deu-eng", "g-m-1-deu-eng"]},
            "memory": {"file": "c.tmx"},
        },
        dev={"source": "s", "target": ["t", "u"], "task": "v"},
        test={"news": {"sacrebleu": "wmt20/tworefs"}, "old": {"file": "x.tsv", "columns": {"task": 3}}},
    )
    texts = plan.texts
    talks = [f"out/x/corpus/fetched/train.talks/{side}.gz" for side in ("source", "target")]
    news = [f"out/x/corpus/fetched/test.news/{side}.gz" for side in ("source", "target", "target.1")]
    corpora = (
        "--corpus news --source 'a 1' --source b --target c --target d --task e --task f "
        "--corpus law --file a.tsv --file b.tmx --columns 2,1 "
        f"--corpus talks --source {talks[0]} --target {talks[1]} --corpus memory --file c.tmx"
    )
    held_out = f"--held-out test.news --source {news[0]} --target {news[1]} --target {news[2]}"
    made = texts.prepare_options(job())
    assert f" {corpora} --output out/x/corpus --held-out dev " in made
    assert f" {held_out} --held-out test.old --file x.tsv --columns 1,2,3" in made
    own = ["a 1", "b", "c", "d", "e", "f", "a.tsv", "b.tmx", *talks, "c.tmx"]
    assert texts.raw_files("train") == [*own, "s", "t", "u", "v", *PAIR.values(), *news, "x.tsv"]
    of_dev = texts.prepare_options(job(held_out="dev"))
    assert " --source s --target t --target u --task v --output out/x/corpus" in of_dev
    languages = "--source-language de --target-language en --output out/x/corpus/fetched"
    for fetched, chosen in (
        ("train.talks", "--mtdata g-n-1-deu-eng --mtdata g-m-1-deu-eng"),
        ("test.news", "--sacrebleu wmt20/tworefs"),
    ):
        assert texts.fetch_options(job(fetched=fetched)) == f"{chosen} {languages}/{fetched}"
    has_labels = [splits.has_labels(plan.config, split) for split in ("train", "test.old", "test.news")]
    assert has_labels == [True, True, False]


def test_sequences(tmp_path):
    """Names of folders may have per cent signs and spaces."""
    files = [f"{tmp_path}/{folder}/{number}.h5" for folder in ("a 5%d", "b") for number in range(11)]
    assert subprocess.check_output(sequences(files), shell=True, text=True).splitlines() == files


def test_one_part_of_the_plan_asks_which_inputs_there_are(root):
    asking = [
        path.name
        for path in (root / "src/itersel/plan").glob("*.py")
        if "has_given_lists" in path.read_text()
    ]
    assert asking == ["inputs.py"]
