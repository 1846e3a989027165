"""The workflow from end to end: results, determinism, and what reruns after a change."""

import gzip
import json
import shutil
import zipfile

import pytest
from tests.limited import limited
from tests.scored import tokenized_bleu
from tests.workflow.conftest import NATURAL

import itersel
from itersel.cli.main import main
from itersel.config.reading import load_config
from itersel.evaluate.names import DEFAULT_METRICS
from itersel.report.page.document import read_document
from itersel.report.page.render import render
from itersel.report.page_table import table_view
from itersel.report.table_content import parse_table

TABLE = "results/tiny/report/table.json"


def test_results(finished):
    report = finished.results / "report"
    [table] = json.loads((report / "table.json").read_text())["test_sets"]
    systems = {system["name"]: system for system in table["systems"]}
    assert list(systems) == ["dev-dense", "averaged", "selected"]
    for name, system in systems.items():
        # 20 sentences are too few for dense features only
        chosen = system["repeats"][0]["chosen"]
        assert tokenized_bleu(system)["mean"] >= (0 if name == "dev-dense" else 50)
        best = max(chosen["devtest_tokenized_bleu"])
        assert chosen["devtest_tokenized_bleu"][chosen["epoch"] - 1] == best
        assert system["devtest"]["tokenized-bleu"]["mean"] == best
    active = {name: system["repeats"][0]["chosen"]["active_features"] for name, system in systems.items()}
    assert active["dev-dense"] <= 12 < active["selected"] <= 300
    assert len((report / "table.tsv").read_text().splitlines()) == 4
    corpus = json.loads((report / "corpus.json").read_text())["splits"]
    assert {name: split["sentences"] for name, split in corpus.items()}["test"] == 16
    assert all(split["rules"] > 0 for split in corpus.values())
    used = load_config(finished.results / "config.yaml")
    assert used == load_config(finished.folder / "config.yaml")
    assert len((finished.results / "experiments/selected/best/test.txt").read_text().splitlines()) == 16


def test_scores_equal_sacrebleu_on_the_files(finished):
    folder = finished.results / "evaluation/test"
    assert (folder / "reference.0.txt").read_text() == (finished.folder / "test.target").read_text()
    [table] = json.loads((finished.results / "report/table.json").read_text())["test_sets"]
    for system in table["systems"]:
        words = ["reference.0.txt", "-i", f"{system['name']}.txt", "-m", "bleu", "chrf", "ter", "-w", "2"]
        words += ["--chrf-word-order", "2", "--ter-case-sensitive"]
        done = limited(*words, program=["-m", "sacrebleu"], cwd=folder)
        theirs = {score["name"]: score for score in json.loads(done.stdout)}
        for name, score in zip(DEFAULT_METRICS, theirs.values(), strict=True):
            ours = system["scores"][name]
            assert f"{ours['mean']:.2f}" == f"{score['score']:.2f}"
            assert table["signatures"][name] == score["signature"]
        assert len(theirs) == 3


def test_page(finished):
    """The page has the figures of the table, and the derivations yield the translations."""
    report = finished.results / "report"
    table = json.loads((report / "table.json").read_text())
    document = read_document(finished.results)
    assert document["table"] == parse_table(table)
    (view,) = table_view(document["table"])
    place = [column.title for column in view.columns].index("test tokenized BLEU")
    means = [tokenized_bleu(one)["mean"] for one in table["test_sets"][0]["systems"]]
    assert [row[place].value for row in view.rows] == means
    assert (report / "index.html").read_text() == render(document) + "\n"
    assert all(epoch["training_quality"] > 0 for repeat in document["repeats"] for epoch in repeat["epochs"])
    assert "experiments.selected.epochs" in dict.fromkeys(row[0] for row in document["config"]["changed"])
    assert "\\toprule" in (report / "table.tex").read_text()
    assert (report / "table.md").read_text().startswith("|")
    check_derivations(finished)


def check_derivations(project):
    """Check that the derivations on the page yield the translations of test."""
    derivations = read_document(project.results)["derivations"]
    assert len(derivations["sentences"]) == 16
    for place, name in enumerate(derivations["systems"]):
        lines = (project.results / "experiments" / name / "best/test.txt").read_text().splitlines()
        for row in derivations["sentences"]:
            found = row["derivations"][place]
            assert " ".join(found["words"]) == lines[row["sentence"]]
            rules = sum(node["score"] for node in found["nodes"])
            assert rules + found["lm"] == pytest.approx(found["score"])


def test_report_of_snakemake(copy):
    copy.run("--report", "report.zip")
    with zipfile.ZipFile(copy.folder / "report.zip") as archive:
        texts = {name: archive.read(name) for name in archive.namelist()}
    assert {"index.html", "table.txt", "corpus.txt"} <= {name.rpartition("/")[2] for name in texts}
    page = (copy.results / "report/index.html").read_bytes()
    assert page in texts.values()
    everything = b"".join(texts.values())
    assert b"Charts and translations" in everything
    assert b"that were best on devtest" in everything


def test_system_translates_raw_text(finished):
    """Raw test sentences get the same translations as in the run."""
    system = finished.results / "experiments/selected/best"
    source = (finished.folder / "test.source").read_text()
    for options, expected in (
        ([], finished.results / "evaluation/test/selected.txt"),
        (["--keep-tokens"], system / "test.txt"),
    ):
        result = limited("translate", "--system", system, *options, input=source)
        assert result.stdout == expected.read_text()


def test_nothing_to_be_done(copy):
    before = copy.files()
    assert "Nothing to be done" in copy.run()
    assert copy.files() == before


@pytest.mark.slow
def test_one_core_and_more_decoding_jobs_give_the_same_bytes(finished, copy):
    """Shards of train and the first epoch are recreated; alignment and language model are one job each."""
    project = copy.without("*")
    shutil.rmtree(project.results / "sentences/train")
    project.configure(decoder={"k_best": 20, "pop_limit": 30, "pieces": 3})
    project.run("--cores", "1", "results/tiny/experiments/selected/epoch-1/devtest.txt")
    assert len(project.contents("experiments/selected/epoch-1/devtest/*")) == 3
    patterns = ("sentences/train/**/*", "experiments/selected/epoch-1/*")
    made, expected = ([one.contents(pattern) for pattern in patterns] for one in (project, finished))
    assert sum(map(len, made)) > 10
    assert made == expected


def test_a_single_file_is_recreated_by_name(copy, finished):
    name = "experiments/selected/epoch-1/shard-0.h5"
    (copy.results / name).unlink()
    before = copy.files()
    # made anew when mixing needs it
    before.pop("experiments/selected/epoch-1/files.txt")
    copy.run("--cores", "1", f"results/tiny/{name}")
    after = copy.files()
    assert after.pop(name)[1] == finished.contents()[name]
    assert after == before
    assert copy.planned() == {}


def test_a_deleted_system_is_made_again(copy, finished, tmp_path):
    """It is a result, although the table, which exists, needs no part of it any more."""
    for name in ("system.json", "weights.h5"):
        path = copy.results / "experiments/selected/best" / name
        path.rename(tmp_path / name)
        assert copy.planned()["choose_epoch"] == 1
        (tmp_path / name).rename(path)
        assert copy.planned() == {}
    path.unlink()
    copy.run("--cores", "1", f"results/tiny/experiments/selected/best/{name}")
    assert copy.contents() == finished.contents()


def selected(**settings):
    return {"experiments": settings}


FEWER = {"name": "selection", "select": 200}
MARGIN = {"name": "margin-perceptron", "learning_rate": 0.0001, "sentence_bleu": "liang"}
CHANGES = [
    # the change, and the rules that rerun; in train, the first epoch starts from zero
    (selected(mixing=FEWER), {"mix": 2, "train_shard": 2}, {"extract_grammars", "align"}),
    (selected(learner=MARGIN), {"train_shard": 4, "mix": 2}, {"extract_grammars"}),
    ({"grammar": {"max_span": 10}}, {"extract_grammars": 9, "train_shard": 9}, {"align", "index_corpus"}),
    (
        {"language_model": {"order": 2}},
        {"estimate_language_model": 1, "train_shard": 9},
        {"extract_grammars"},
    ),
    (
        selected(tasks={**NATURAL, "language_model_folds": 2}),
        {"estimate_fold_model": 2, "train_shard": 4, "mix": 2},
        {"extract_grammars", "estimate_language_model"},
    ),
    ({"align": {"symmetrization": "union"}}, {"align": 1, "index_corpus": 1}, {"align_direction"}),
    ({"evaluation": {"retokenize": "none"}}, {"choose_epoch": 3, "compare_systems": 1}, {"train_shard"}),
    ({"evaluation": {"trials": 50}}, {"compare_systems": 1}, {"choose_epoch", "decode_piece"}),
    (
        {"evaluation": {"outputs": {"online": "test.target"}}},
        {"count_for_scores": 1, "compare_systems": 1, "write_page": 1},
        {"choose_epoch", "decode_piece", "compare_tasks"},
    ),
    ({"data": {"max_length": 50}}, {"prepare_train": 1, "align_direction": 2}, set()),
    (
        {"data": {"max_held_out": 9}},
        {"prepare_held_out": 1, "prepare_held_out_labels": 2, "train_shard": 5},
        {"align", "prepare_train"},
    ),
]


@pytest.mark.parametrize(("changes", "run", "kept"), CHANGES)
def test_changed_config_reruns_what_depends_on_it(copy, changes, run, kept):
    content = copy.config()
    for section, values in changes.items():
        experiment = content["experiments"]["selected"]
        (experiment if section == "experiments" else content.setdefault(section, {})).update(values)
    copy.configure(**content)
    jobs = copy.planned()
    assert {rule: jobs.get(rule) for rule in run} == run
    assert not kept & set(jobs)


def test_output_of_another_system(copy):
    """Its text is scored as it is, and prepared for BLEU of tokens; the page has both source and text raw."""
    reference = (copy.folder / "test.target").read_text().splitlines()
    lines = [line.capitalize() for line in reference]
    (copy.folder / "other's text").write_text("".join(f"{line}\n" for line in lines))
    copy.configure(evaluation={**copy.config()["evaluation"], "outputs": {"online": "other's text"}})
    copy.run("--cores", "2", TABLE)
    assert (copy.results / "evaluation/test/online.txt").read_text().splitlines() == lines
    [table] = json.loads((copy.results / "report/table.json").read_text())["test_sets"]
    online = table["systems"][-1]
    assert (online["name"], tokenized_bleu(online)["mean"]) == ("online", pytest.approx(100))
    assert 0 < online["scores"]["bleu"]["mean"] < 100
    [packed] = read_document(copy.results)["test_sets"]
    assert packed["systems"][-1] == "online"
    assert [row[0] for row in packed["rows"]] == (copy.folder / "test.source").read_text().splitlines()


def test_scores_of_translations_of_a_run(copy):
    """Users score the translations of a run, and add the numbers: only the comparison is repeated."""
    lines = (copy.results / "evaluation/test/dev-dense.txt").read_text().splitlines()
    (copy.folder / "dense.comet").write_text("".join(f"{len(line) / 100}\n" for line in lines))
    scores = {"COMET": {"system_numbers": {"dev-dense": "dense.comet"}}}
    copy.configure(evaluation={**copy.config()["evaluation"], "user_scores": scores})
    assert not {"decode_piece", "count_for_scores", "choose_epoch"} & copy.planned().keys()
    copy.run("--cores", "2", "results/tiny/report/table.json")
    [table] = json.loads((copy.results / "report/table.json").read_text())["test_sets"]
    found = {
        one["name"]: one["scores"]["COMET"]["mean"] for one in table["systems"] if "COMET" in one["scores"]
    }
    assert found == pytest.approx({"dev-dense": sum(map(len, lines)) / len(lines) / 100})


@pytest.mark.slow
def test_minimum_bayes_risk(copy):
    """Test sets are translated as the systems translate; nothing is trained again."""
    trained = copy.contents("experiments/**/epoch-*/*.h5")
    before = copy.contents("experiments/*/best/test.txt")
    copy.configure(mbr={"gain": "chrf", "size": 20})
    copy.run("--cores", "2")
    assert copy.contents("experiments/**/epoch-*/*.h5") == trained
    assert copy.contents("experiments/*/best/test.txt").keys() == before.keys()
    best = copy.results / "experiments/selected/best"
    chosen = json.loads((best / "mbr.json").read_text())
    assert json.loads((best / "resources.json").read_text())["settings"]["mbr"] == chosen["mbr"]
    source = (copy.folder / "test.source").read_text().splitlines()
    scored = (copy.results / "evaluation/test/selected.txt").read_text().splitlines()
    assert itersel.load_system(best).translate(source) == scored
    check_derivations(copy)


def test_edited_code_reruns_what_uses_it(copy, root, tmp_path):
    """Which steps use which modules is tested in tests/unit/test_sources.py."""
    copy.source = tmp_path / "src"
    shutil.copytree(root / "src", copy.source, ignore=shutil.ignore_patterns("__pycache__"))
    for module in ("decode/output", "errors"):
        with (copy.source / f"itersel/{module}.py").open("a") as stream:
            stream.write("# edited\n")
    jobs = copy.planned()
    assert (jobs["decode_piece"], jobs["choose_epoch"]) == (8, 3)
    assert not {"train_shard", "mix", "extract_grammars"} & set(jobs)


def test_reordered_experiments_recreate_the_table(copy):
    experiments = copy.config()["experiments"]
    copy.configure(experiments=dict(reversed(experiments.items())))
    after = ("compare_tasks", "explain_translations", "write_page", "write_paper_tables")
    assert copy.planned() == {"compare_systems": 1, **dict.fromkeys(after, 1), "all": 1}


@pytest.mark.slow
def test_test_sets_by_name(copy):
    """Each is translated with the weights chosen for it; nothing is trained again."""
    trained = copy.contents("experiments/**/epoch-*/*.h5")
    translation = copy.contents("experiments/*/best/test.txt")
    data = copy.config()["data"]
    (copy.folder / "other").write_bytes(translation["experiments/selected/best/test.txt"])
    own = {"target": ["test.target", "other"], "devtest": data["dev"]}
    data["test"] = {"home": data["test"], "news": {**data["test"], **own}}
    copy.configure(data=data, experiments={"selected": copy.config()["experiments"]["selected"]})
    copy.run("--cores", "2", TABLE)
    assert copy.contents("experiments/**/epoch-*/*.h5") == trained
    folder = copy.results / "experiments/selected"
    home, news = (json.loads((folder / best / "system.json").read_text()) for best in ("best", "best-news"))
    assert home["devtest_tokenized_bleu"] != news["devtest_tokenized_bleu"]
    before = translation["experiments/selected/best/test.txt"]
    assert (folder / "best/test.home.txt").read_bytes() == before
    chosen = folder / f"epoch-{news['epoch']}/weights.h5"
    assert (folder / "best-news/weights.h5").read_bytes() == chosen.read_bytes()
    report = json.loads((copy.results / "report/table.json").read_text())
    assert [(one["name"], one["references"]) for one in report["test_sets"]] == [("home", 1), ("news", 2)]
    assert report["pooled"]["sentences"] == 32
    # a second reference allows more matches
    home, news = (tokenized_bleu(one["systems"][0])["mean"] for one in report["test_sets"])
    assert home < news


def test_another_cache_changes_no_result(copy, tmp_path):
    copy.configure(cache=str(tmp_path / "another cache"))
    assert copy.planned() == {}


@pytest.mark.slow
def test_names_that_a_shell_or_a_command_would_misread(make_project, finished, tmp_path):
    """Names of the folder, of data files and of results; the corpora are identical."""
    folder = tmp_path / "a b'c$(touch pwned)`touch pwned`\"\\"
    project = make_project()
    project.folder.rename(folder)
    project = type(project)(folder, project.snakefile)
    content = project.config()
    for split in ("devtest", "test"):
        content["data"][split]["labels"] = f"{split}.labels"
    for split, side, name in (
        ("train", "source", "-n 'é.de"),
        ("train", "target", "l'été $(touch pwned).en"),
        ("dev", "source", "--help"),
        ("dev", "target", "*?[x];&|#%\t"),
        ("test", "source", "-"),
        ("train", "labels", "--labels $(touch pwned)"),
    ):
        (folder / f"{split}.{side}").rename(folder / name)
        content["data"][split][side] = name
    arpa = gzip.decompress((finished.results / "lm/lm.arpa.gz").read_bytes())
    (folder / "-arpa $(touch pwned)").write_bytes(arpa)
    experiment = {"algorithm": "sgd", "tune_on": "dev", "features": "dense", "epochs": 1}
    content |= {"output": "-out 'x' $(touch pwned)", "language_model": {"arpa": "-arpa $(touch pwned)"}}
    project.configure(**content | {"experiments": {"x": experiment}})
    project.run("--cores", "2")
    assert not list(tmp_path.rglob("pwned"))
    project.results = folder / "-out 'x' $(touch pwned)/tiny"
    assert (project.results / "report/table.txt").exists()
    ours, theirs = project.contents("corpus/*.gz"), finished.contents("corpus/*.gz")
    assert ours == theirs


def test_systems_with_some_of_the_templates_are_explained(copy, tmp_path):
    for path in copy.results.glob("experiments/*/best/system.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "features": "R, Shape"}))
    pieces = tmp_path / "pieces"
    pieces.write_text("".join(f"{path}\n" for path in sorted(copy.results.glob("sentences/test/1/*.h5"))))
    files = [
        f"--results={copy.results}",
        f"--inputs={pieces}",
        f"--language-model={copy.results / 'lm/lm.bin'}",
    ]
    assert main(["step", "explain", *files, "--output", str(tmp_path / "derivations.json")]) == 0
    assert json.loads((tmp_path / "derivations.json").read_text())["sentences"]
