"""Learning from n-best lists of another decoder, from end to end."""

import json
import shlex
import shutil
from itertools import pairwise

import pytest
from tests.refusals import check_facts
from tests.scored import tokenized_bleu
from tests.systems import itersel as command
from tests.workflow.conftest import CONSOLE, NOT_RETUNED, SELECTION, ended
from tests.workflow.tiny import SIZES

import itersel
from itersel.lists.files import read_list_table
from itersel.vectors.feature_names import TEXT_GROUPS, TEXT_TEMPLATES
from itersel.vectors.weights import read_itersel_weights

SEARCH = {"name": "line-search", "directions": ["dense"]}
EXPERIMENTS = {
    "tuned": {"tune_on": "dev", "features": "dense", "epochs": 1, "learner": {"name": "mert", "restarts": 1}},
    "selected": {
        "tasks": {"name": "random", "shards": 2},
        "epochs": 2,
        **SELECTION,
        "retune": {"tuner": SEARCH},
    },
}
EPOCH = "results/tiny/experiments/selected/epoch-2"
TABLE = "results/tiny/report/table.json"


def write_lists(folder, split):
    """Write lists in two files: references, shortened and reversed; only pairs of words tell them apart."""
    texts = (folder / f"{split}.target").read_text().splitlines()
    (folder / split).mkdir()
    for part in range(2):
        lines = []
        for number in range(part, len(texts), 2):
            words = texts[number].split()
            translations = [words[1:], words[::-1], words]
            first = number % 3
            for place, translation in enumerate(translations[first:] + translations[:first]):
                pairs = " ".join(f"p_{word}_{following}=1" for word, following in pairwise(translation))
                values = f"LM= {-place} Length= {len(translation)} {pairs}"
                lines.append(f"{number} ||| {' '.join(translation)} ||| {values} ||| {-place}\n")
        (folder / split / f"{part}.nbest").write_text("".join(lines))


def first_entries(lists):
    """Return the first translation of each sentence, which lists of different sentences have."""
    found = {}
    for line in "".join(path.read_text() for path in lists).splitlines():
        number, text, *_ = line.split(" ||| ")
        found.setdefault(int(number), text)
    return [found[number] for number in range(len(found))]


# All groups and templates.
TEXT_FEATURES = {"groups": [*TEXT_GROUPS], "templates": [*TEXT_TEMPLATES]}
# Its files of train, which need models that have not seen them.
OF_TRAIN = [f"results/tiny/sentences/train/2/{file}.h5" for file in range(2)]


def with_lists(project, text_features=None):
    """Return a project that learns from lists of its text, perhaps with features of their text."""
    data = {"kind": "lists", "target_language": "en", "tokenized": True}
    for split in SIZES:
        write_lists(project.folder, split)
        data[split] = {"lists": split, "target": f"{split}.target"}
        if text_features:
            data[split]["source"] = f"{split}.source"
    content = {"name": "tiny", "evaluation": {"trials": 100}, "data": data, "experiments": EXPERIMENTS}
    if text_features:
        content |= {"text_features": text_features, "language_model": {"order": 2}}
    (project.folder / "config.yaml").write_text(json.dumps(content))
    return project


@pytest.fixture
def project(make_project):
    return with_lists(make_project())


@pytest.fixture(scope="module")
def finished(make_project):
    """Return such a project after a complete run; tests work on copies."""
    project = with_lists(make_project())
    project.configure(decoder={"pieces": 2})
    (project.folder / CONSOLE).write_text(project.run("--cores", "2"))
    return project


@pytest.mark.slow
def test_run_with_a_killed_shard(copy, finished):
    """The killed shard is trained again alone, and the run ends as if it had not been killed."""
    copy.without("*")
    victim = f"{EPOCH}/shard-1.h5"
    run, job = copy.start_and_hold(["train", victim], "--cores", "2", f"{EPOCH}/mixed.h5")
    job.kill()
    output = ended(run, 1)
    [line] = [line for line in output.splitlines() if line.startswith("itersel: ") and "SIGKILL" in line]
    check_facts(line, "itersel train --sentences results/tiny/sentences/train/2/1.h5")
    before = copy.files("sentences/**/*") | copy.files("experiments/**/*")
    assert "experiments/selected/epoch-2/shard-0.h5" in before
    assert "experiments/selected/epoch-2/mixed.h5" not in before
    learned = {"train_shard": 1, "manifest_of_trained_shards": 1, "mix_before_tuning": 1}
    assert copy.planned(f"{EPOCH}/mixed.h5") == learned
    copy.run("--cores", "2")
    assert copy.keeps(before)
    assert copy.contents("experiments/**/*") == finished.contents("experiments/**/*")


@pytest.mark.slow
def test_shards_do_not_depend_on_the_number_of_cores(project, finished):
    epoch = "results/tiny/experiments/selected/epoch-1"
    project.run("--cores", "1", *(f"{epoch}/shard-{shard}.h5" for shard in range(2)))
    shards = "experiments/selected/epoch-1/shard-*"
    assert project.contents(shards) == finished.contents(shards)


def test_results(project, finished, monkeypatch, capsys):
    project.configure(decoder={"pieces": 2})
    jobs = project.planned()
    needs_a_decoder = {
        "prepare_train",
        "align",
        "index_corpus",
        "extract_grammars",
        "estimate_language_model",
    }
    assert not needs_a_decoder & jobs.keys()
    assert (jobs["divide_lists"], jobs["import_lists"]) == (5, 2 + 1 + 2 + 2 + 2)
    project = finished
    output = (project.folder / CONSOLE).read_text()
    table = json.loads((project.results / "report/table.json").read_text())["test_sets"][0]
    decoder, tuned, selected = table["systems"]
    assert [system["tune_on"] for system in table["systems"]] == [None, "dev", "train"]
    assert [system["number"] for system in table["systems"]] == [0, 1, 2]
    # tuning gains something over the decoder
    assert decoder["name"] == "first entries"
    assert 0 in selected["scores"]["bleu"]["better_than"]
    # some dense features may not have been selected before they were tuned
    assert selected["repeats"][0]["chosen"]["active_features"] <= 300 + 2
    assert tokenized_bleu(selected)["mean"] > tokenized_bleu(tuned)["mean"]
    assert selected["scores"]["bleu"]["mean"] > 90
    lists = [project.folder / "test" / f"{part}.nbest" for part in range(2)]
    first = project.results / "evaluation/test/first entries.txt"
    assert first.read_text().splitlines() == first_entries(lists)
    for name in EXPERIMENTS:
        best = project.results / "experiments" / name / "best"
        weights = read_itersel_weights(best / "weights.h5")
        assert (best / "test.txt").read_text().splitlines() == itersel.rescore(lists, weights)
        assert itersel.load_system(best).rerank(None, lists) == itersel.rescore(lists, weights)
    corpus = (project.results / "report/corpus.txt").read_text().splitlines()
    assert corpus[2].split() == ["train", "160", "-", "1120", "0", "-", "-"]
    assert f"Report: {project.results.relative_to(project.folder)}/report/index.html" in output
    assert "itersel translate" not in output
    hint = next(line for line in output.splitlines() if "itersel rescore --system" in line)
    monkeypatch.chdir(project.folder)
    capsys.readouterr()
    command(*shlex.split(hint.partition("itersel ")[2]))
    assert capsys.readouterr().out.splitlines() in [
        (project.results / "experiments" / name / "best/test.txt").read_text().splitlines()
        for name in EXPERIMENTS
    ]
    page = (project.results / "report/index.html").read_text()
    assert 'class="texts"' in page
    assert project.planned() == {}


def test_scores_of_the_users(copy):
    """Every system that chooses from the lists has numbers; others have those that are given for them."""
    project = copy
    numbers, file = given_numbers(project, "test")
    shutil.copy(project.folder / "test.target", project.folder / "online")
    (project.folder / "online.comet").write_text("2.5\n" * SIZES["test"])
    project.configure(
        evaluation={
            "trials": 100,
            "outputs": {"online": "online", "other": "online"},
            "user_scores": {"COMET": {"list_numbers": file, "system_numbers": {"online": "online.comet"}}},
        },
        experiments={"tuned": EXPERIMENTS["tuned"]},
    )
    project.run("--cores", "2")
    table = json.loads((project.results / "report/table.json").read_text())["test_sets"][0]
    decoder, tuned, online, other = table["systems"]
    texts = {"first entries": "evaluation/test/first entries.txt", "tuned": "experiments/tuned/best/test.txt"}
    for system in (decoder, tuned):
        lines = (project.results / texts[system["name"]]).read_text().splitlines()
        found = [numbers[pair] for pair in enumerate(lines)]
        assert system["scores"]["COMET"]["mean"] == pytest.approx(sum(found) / len(found))
    assert online["scores"]["COMET"]["mean"] == 2.5
    assert "COMET" not in other["scores"]
    assert "COMET" in (project.results / "report/table.txt").read_text()
    assert "<bdi>COMET</bdi>" in (project.results / "report/index.html").read_text()

    # only the comparison depends on the numbers
    (project.folder / file).write_text((project.folder / file).read_text().replace("1.5", "1.25"))
    assert project.planned().keys() == {"compare_systems", "write_paper_tables", "write_page", "all"}


@pytest.mark.slow
def test_minimum_bayes_risk(copy):
    """Baselines and trained systems choose by it, with the scale that is best on devtest."""
    copy.configure(mbr={"gain": "sentence-bleu"})
    planned = copy.planned()
    assert planned["choose_scale"] == len(EXPERIMENTS)
    assert not {"train_shard", "tune", "choose_epoch", "import_lists"} & planned.keys()
    copy.run("--cores", "2", TABLE)
    lists = [copy.folder / "test" / f"{part}.nbest" for part in range(2)]
    for name in EXPERIMENTS:
        best = copy.results / "experiments" / name / "best"
        chosen = json.loads((best / "mbr.json").read_text())
        scores = dict(zip(chosen["scales"], chosen["devtest_scores"], strict=True))
        assert scores[chosen["mbr"]["scale"]] == max(scores.values())
        found = (best / "test.txt").read_text().splitlines()
        copy.run("--cores", "2", f"results/tiny/experiments/{name}/best/resources.json")
        assert itersel.load_system(best).rerank(None, lists) == found

    # a change of what is compared trains nothing again
    copy.configure(mbr={"gain": "chrf", "scale": 0.5, "size": 2})
    planned = copy.planned()
    assert {"choose_scale", "decode_piece", "describe_reranker"} <= planned.keys()
    assert not {"train_shard", "tune", "choose_epoch"} & planned.keys()
    copy.configure(mbr={})
    assert "choose_scale" not in copy.planned()


def test_similar_names_of_test_sets(project):
    data = json.loads((project.folder / "config.yaml").read_text())["data"]
    project.configure(data={**data, "test": {"a-b": data["test"], "a__b": data["test"]}})
    assert {"copy_references_test_a__b", "copy_references_test_a_u__u_b"} <= project.planned().keys()


def given_numbers(project, split):
    """Write numbers for the lists of a split; returns them by sentence and text, and the name of the file."""
    found, lines = {}, []
    for path in sorted((project.folder / split).iterdir()):
        for line in path.read_text().splitlines():
            number, text, *_ = line.split(" ||| ")
            value = len(lines) * 7 % 11 / 4 - 1
            found.setdefault((int(number), text), value)
            lines.append(f"{value}\n")
    (project.folder / f"{split}.comet").write_text("".join(lines))
    return found, f"{split}.comet"


def test_epochs_are_chosen_by_quality(copy):
    project = copy.without("*")
    numbers, file = given_numbers(project, "devtest")
    data = project.config()["data"]
    experiments = {"selected": {**EXPERIMENTS["selected"], **NOT_RETUNED, "epochs": 3, "patience": 1}}
    project.configure(
        data=data | {"devtest": data["devtest"] | {"quality": file}},
        evaluation={"choose_by": "quality"},
        experiments=experiments,
    )
    chosen = "results/tiny/experiments/selected/best/system.json"
    project.run("--cores", "2", chosen)
    system = json.loads((project.folder / chosen).read_text())
    assert system["chosen_by"] == "quality"
    for epoch, score in enumerate(system["devtest_scores"], 1):
        texts = project.results / f"experiments/selected/epoch-{epoch}/devtest.txt"
        found = [numbers[pair] for pair in enumerate(texts.read_text().splitlines())]
        assert score == pytest.approx(sum(found) / len(found))
    decided = json.loads((project.results / "experiments/selected/epoch-2/decision.json").read_text())
    assert decided["scores"] == system["devtest_scores"][:2]

    # nothing is learned from these numbers
    (project.folder / file).write_text((project.folder / file).read_text().replace("1.5", "1.25"))
    planned = project.planned(chosen).keys()
    assert "choose_epoch" in planned
    assert not {"divide_lists", "import_lists"} & planned


def test_features_of_text(make_project):
    """They are learned from; each file of train is scored by models that have not seen it."""
    own = {"user_models": ["own.arpa", "other.bin"]}
    project = with_lists(make_project(), TEXT_FEATURES | own)
    here = project.folder
    command("lm", "estimate", "--order", 2, "--input", here / "dev.target", "--output", here / "own.arpa")
    command("lm", "compile", "--input", here / "own.arpa", "--output", here / "other.bin")
    jobs = project.planned()
    assert jobs["compile_user_language_model"] == 1
    models = ("prepare_words", "learn_aligner", "estimate_text_models", "estimate_fold_text_models")
    assert [jobs[name] for name in models] == [1, 2, 1, 2]

    project.run("--cores", "2", "results/tiny/experiments/selected/epoch-1/shard-0.h5", *OF_TRAIN)
    own = [name for group in TEXT_GROUPS.values() for name in group.features]
    table = read_list_table(project.folder / OF_TRAIN[0])
    own += [f"{name}_{model}" for model in ("own", "other") for name in ("TextModel", "TextModelUnknown")]
    assert list(table.dense_names) == ["LM", "Length", *own]
    # the same model twice
    assert table.dense[:, -4:-2].tolist() == table.dense[:, -2:].tolist()
    prefixes = {name.partition(":")[0] for name in table.feature_name.to_list() if ":" in name}
    assert prefixes <= {*TEXT_TEMPLATES}
    assert {"Ngram1", "Ngram2", "Ngram3", "Lex", "Ins"} <= prefixes

    # one file again alone, the same
    before = project.contents("sentences/**/*.h5")
    (project.folder / OF_TRAIN[1]).unlink()
    assert project.planned(*OF_TRAIN) == {"import_lists": 1}
    project.run("--cores", "1", *OF_TRAIN)
    assert project.contents("sentences/**/*.h5") == before

    # without models, none are estimated
    project.configure(text_features={"groups": ["length", "agreement"], "templates": ["Ngram1"]})
    project.configure(language_model={})
    jobs = project.planned()
    assert not {"prepare_words", "learn_aligner", "estimate_text_models"} & jobs.keys()
    assert jobs["import_lists"] == 5


@pytest.mark.slow
def test_features_of_text_with_natural_tasks(make_project):
    """The models of a fold leave out the sentences of its tasks."""
    features = {"groups": ["language-model", "lexical"], "templates": ["Lex"]}
    project = with_lists(make_project(), features)
    content = project.config()
    content["data"]["train"]["labels"] = "train.labels"
    tasks = {"name": "natural", "labels": {"even": 1, "odd": 1}}
    content["experiments"] = {"selected": {**EXPERIMENTS["selected"], "tasks": tasks}}
    project.configure(**content)
    assert project.planned()["estimate_fold_text_models"] == 2

    shards = [f"results/tiny/experiments/selected/epoch-1/shard-{shard}.h5" for shard in range(2)]
    project.run("--cores", "2", *shards)
    [folder] = (project.results / "sentences/train").iterdir()
    both = [read_list_table(folder / f"{file}.h5") for file in range(2)]
    assert [table.sentence_count for table in both] == [SIZES["train"] / 2] * 2
    assert all({"TextModel", "TextLexForward"} <= {*table.dense_names} for table in both)
