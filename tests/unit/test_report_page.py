"""The page of a run: its data, and what it shows of them."""

import copy
import html
import json
import os
import re
from dataclasses import replace

import pytest
from sacrebleu.metrics.chrf import CHRF
from tests.made_up_run import SHARDS, MadeUpRun

from itersel.cli.main import main
from itersel.config.values import Config
from itersel.evaluate.names import DEFAULT_METRICS, TABULATED, title_of
from itersel.evaluate.significance import Interval
from itersel.report.description import other_versions, write_run
from itersel.report.page.charts import charts, curves
from itersel.report.page.document import read_document
from itersel.report.page.render import render, vega
from itersel.report.page_table import table_view
from itersel.report.papers import markdown
from itersel.report.views import join_numbers
from itersel.results import RUN
from itersel.storage.files import write_lines


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return MadeUpRun(tmp_path_factory.mktemp("run") / "made-up", ["first", "second", "third"], repeats=3)


@pytest.fixture(scope="module")
def document(run):
    return read_document(run.folder)


def test_figures_equal_the_table(run, document):
    (view,) = table_view(document["table"], document["repeats"], document["costs"]["repeats"])
    titles = [column.title for column in view.columns]
    for row, system in zip(view.rows, run.table.test_sets[0].systems, strict=True):
        cells = dict(zip(titles, row, strict=True))
        score = system.scores["tokenized-bleu"]
        assert cells["test tokenized BLEU"].text == f"{score.mean:.2f} ±{score.deviation:.2f}"
        assert cells["test tokenized BLEU"].value == score.mean
        systems = run.table.test_sets[0].systems
        means = {one.number: one.scores["tokenized-bleu"].mean for one in systems}
        beaten = tuple(other for other in score.differs_from if means[other] < score.mean)
        assert score.better_than == beaten
        assert cells["test tokenized BLEU"].marks == join_numbers(beaten)
        assert cells["test tokenized BLEU"].is_best == (score.mean == max(means.values()))
        # 3 repeats of 3 epochs of 2 shards, 36 s each
        assert cells["processor time"].text == f"{3 * 3 * SHARDS * 36 / 60:.3g} min"
        assert cells["memory (MB)"].text == "300"


def test_numbers_of_systems():
    assert (join_numbers([]), join_numbers([1, 2, 4, 5, 6, 7, 9])) == ("", "1,2,4–7,9")


def test_detokenised_scores(document):
    scores = {"deviation": None, "interval": Interval(29.1, 31.9), "better_than": (2, 3)}
    scores["p"] = dict.fromkeys(("first", "second", "third"), 0.034)
    table = copy.deepcopy(document["table"])
    (test_set,) = table.test_sets
    test_set.signatures.update((metric, f"{metric}|x") for metric in TABULATED)
    for number, system in enumerate(test_set.systems):
        score = replace(system.scores["tokenized-bleu"], mean=50.0 + number, **scores)
        system.scores.update(dict.fromkeys(TABULATED, score))
    (view,) = table_view(table)
    titles = [column.title for column in view.columns]
    bleu = ["BLEU", "lowercased BLEU", "test tokenized BLEU", "devtest tokenized BLEU"]
    assert [title for title in titles if "BLEU" in title] == bleu
    # what defines an experiment comes before its scores
    assert titles.index("mixing") < titles.index("BLEU")
    # beside the main score
    assert titles.index("difference") == titles.index("BLEU") + 1
    secondary = [*(f"lowercased {title_of(metric)}" for metric in DEFAULT_METRICS)]
    secondary += ["devtest tokenized BLEU", "memory (MB)"]
    assert [column.title for column in view.columns if column.is_secondary] == secondary
    cells = dict(zip(titles, view.rows[0], strict=True))
    assert (cells["BLEU"].marks, cells["BLEU"].note) == ("2,3", "[29.1, 31.9]")
    assert [row[titles.index("chrF++")].is_best for row in view.rows] == [False, False, True]
    # p-values against the first experiment that is not the best
    (baseline,) = (row for row in view.rows if row[titles.index("difference")].text == "baseline")
    assert {row[titles.index("chrF++")].p for row in view.rows if row is not baseline} == {"p = 0.0340"}
    # lower TER is better
    assert [row[titles.index("lowercased TER")].is_best for row in view.rows] == [True, False, False]
    assert "[29.1, 31.9]" in render({**document, "table": table})


def test_curves(run, document):
    for one in document["repeats"]:
        system = next(system for system in run.systems[one["experiment"]] if system.repeat == one["number"])
        assert [epoch["devtest_tokenized_bleu"] for epoch in one["epochs"]] == list(
            system.devtest_tokenized_bleu
        )
        assert [epoch["epoch"] for epoch in one["epochs"] if epoch["chosen"]] == [system.epoch]
        assert [epoch["updates"] for epoch in one["epochs"]] == [780, 760, 740]
        assert one["epochs"][0]["pairs_with_loss"] == pytest.approx(39.0)
        assert one["epochs"][0]["training_quality"] == pytest.approx(21.0)
        assert all(epoch["active_features"] == 6 and epoch["norm"] > 0 for epoch in one["epochs"])


def test_how_to_reproduce_the_run(document):
    """By the package or in a clone."""
    page = render(document)
    text = page.partition("<h3>Reproduce this run</h3>")[2].partition("<h3>")[0]
    assert f"itersel {document['versions']['itersel']}." in text
    assert '<pre tabindex="0">itersel config check config.yaml\nsnakemake</pre>' in text
    assert "config.yaml\nsnakemake<" in render({**document, "versions": {}})


def test_every_measure_of_a_curve_is_recorded(document):
    measures = set(document["repeats"][0]["epochs"][0])
    assert {
        name for name, chart in charts(curves()).items() if "layer" in chart and name != "boxes"
    } <= measures


def test_sentences(run, document):
    (packed,) = document["test_sets"]
    assert len(packed["systems"]) == 9
    metric = CHRF()
    for number, (source, references, texts, which, scores, _) in enumerate(packed["rows"]):
        assert references == [run.references[number]] == [source]
        for system, place in zip(packed["systems"], which, strict=True):
            path = run.folder / "experiments" / system / "best" / "test.txt"
            assert texts[place] == path.read_text().splitlines()[number]
        assert scores == [round(10 * metric.sentence_score(text, references).score) for text in texts]


@pytest.mark.parametrize("kind", ["detokenised", "tokenised"])
def test_what_is_scored(tmp_path, kind):
    run = MadeUpRun(tmp_path / "run", ["first"], epochs=1, sentences=1)
    train, cut = {"source": "a", "target": "b"}, dict.fromkeys(("dev", "devtest", "test"), 1)
    data = {"kind": "files", "tokenized": kind == "tokenised", "train": train, "cut": cut}
    write_run(run.folder, run.config() | {"data": data}, Config(experiments={}))
    assert f"scores are of {kind}" in read_document(run.folder)["text"]


def test_other_systems(tmp_path):
    """They have a row and translations, but are not experiments."""
    run = MadeUpRun(tmp_path / "run", ["first", "second"], others=["online"])
    document = read_document(run.folder)
    assert [one["name"] for one in document["repeats"]] == ["first", "second"]
    assert "online" not in (*document["compared"], document["answer"].best)
    (view,) = table_view(document["table"], document["repeats"], document["costs"]["repeats"])
    assert [cell.text for cell in view.rows[2]][:3] == ["3", "online", "-"]
    (packed,) = document["test_sets"]
    assert packed["systems"] == ["first", "second", "online"]
    texts = [row[2][row[3][2]] for row in packed["rows"]]
    assert texts == (run.folder / "evaluation/test/online.txt").read_text().splitlines()
    # raw text, but groups and n-grams of tokens
    assert [row[0] for row in packed["rows"]] == [line.capitalize() for line in run.references]
    assert all(ngram.islower() for ngram, _ in packed["ngrams"])
    assert "other systems" in render(document)
    assert re.search(r"(?m)^\| +3 \| online ", "\n".join(markdown(run.table)))


def test_groups_of_sentences(tmp_path):
    """Words are looked up in the index of the training text."""
    run = MadeUpRun(tmp_path / "run", ["one"], sentences=["das haus", "ein hut und hüte", "das das"])
    for name, lines in (("train.source", ["das haus"] * 3), ("train.target", ["the house"] * 3)):
        write_lines(run.folder / "corpus" / f"{name}.gz", lines)
    write_lines(tmp_path / "align", ["0-0 1-1"] * 3)
    corpus = run.folder / "corpus"
    text = [f"--source={corpus / 'train.source.gz'}", f"--target={corpus / 'train.target.gz'}"]
    output = ["--output", str(run.folder / "grammar" / "index")]
    assert main(["grammar", "index", *text, "--alignment", str(tmp_path / "align"), *output]) == 0
    write_lines(run.folder / "experiments/one/best/test.txt", ["das haus", "a hut and hüte", "the the"])
    (packed,) = read_document(run.folder)["test_sets"]
    labels = [one["labels"] for one in packed["groupings"]]
    assert [
        [labels[place][group if isinstance(group, int) else group[0]] for place, group in enumerate(row[5])]
        for row in packed["rows"]
    ] == [["1 to 10", "2 to 9", "2"], ["1 to 10", "0", "2"], ["1 to 10", "2 to 9", "0"]]


def test_headline(tmp_path):
    """Languages, size, date and the best system on devtest; no variance without repeats."""
    run = MadeUpRun(tmp_path / "run", ["first", "second"])
    os.utime(run.folder / "report" / "table.json", (10**9, 10**9))
    page = render(read_document(run.folder))
    best = max(run.table.test_sets[0].systems, key=lambda one: one.devtest["tokenized-bleu"].mean)
    score = f"{best.scores['tokenized-bleu'].mean:.2f} tokenized BLEU"
    assert f"<title>run: de–en-us, {best.name} {score} – itersel</title>" in page
    other = next(one for one in run.table.test_sets[0].systems if one is not best)
    summary = page.partition('<ul class="summary">')[2].partition("</ul>")[0]
    items = [re.sub("<.*?>", "", item) for item in re.findall("<li>(.*?)</li>", summary)]
    against = f"baseline {other.scores['tokenized-bleu'].mean:.2f}"
    best_on_devtest = f"best of 2 experiments on devtest: {score} on test, {against}"
    assert items == ["de to en-us", "30 training pairs", best_on_devtest, "2001-09-09"]
    assert 'id="variance"' not in page
    assert "#variance" not in page
    # lists without references have no statistics
    corpus = json.loads((run.folder / "report/corpus.json").read_text())
    del corpus["splits"]["train"]
    (run.folder / "report/corpus.json").write_text(json.dumps(corpus))
    assert "training pairs" not in render(read_document(run.folder))


def test_signatures_are_listed_once(document):
    two = replace(document["table"], test_sets=document["table"].test_sets * 2)
    assert render({**document, "table": two}).count("tokenized BLEU: sacrebleu nrefs:1|<wbr>") == 1


def test_versions_of_earlier_runs_are_kept(tmp_path, monkeypatch):
    """A run with other versions says so until it is recorded; the page names the versions of all runs."""
    run = MadeUpRun(tmp_path / "made-up", ["first"])
    assert other_versions(run.folder) == other_versions(tmp_path) == ""
    old = json.loads((run.folder / RUN).read_text())["versions"]
    for package, number, said in (
        ("sacrebleu", "99.1", True),
        ("h5py", "99.2", False),
        ("numpy", "99.3", True),
    ):
        monkeypatch.setattr(
            "itersel.report.description.version",
            lambda name, package=package, number=number: number if name == package else old[name],
        )
        before = (run.folder / RUN).read_bytes()
        found = other_versions(run.folder)
        assert (package in found and number in found) == said
        assert (run.folder / RUN).read_bytes() == before
        for _ in range(2):
            write_run(run.folder, run.config(), Config(experiments={}))
            assert other_versions(run.folder) == ""
    monkeypatch.undo()
    assert "sacrebleu" not in other_versions(run.folder)
    assert "numpy 99.3" in other_versions(run.folder)
    write_run(run.folder, run.config(), Config(experiments={}))
    content = json.loads((run.folder / RUN).read_text())
    assert content["versions"] == old
    others = {"sacrebleu": "99.1"}, {"h5py": "99.2"}, {"numpy": "99.3"}
    assert content["earlier"] == [old | one for one in others]
    page = render(read_document(run.folder))
    assert all(f"with {package} {number}." in page for one in others for package, number in one.items())
    (run.folder / RUN).write_text('{"config": {}, "versions": 1}')
    assert other_versions(run.folder) == ""


def test_page_is_the_same_twice_and_needs_no_network(run, document):
    page = render(document)
    assert page == render(read_document(run.folder))
    assert "default-src 'none'; script-src 'sha256-" in html.unescape(page[:1000])
    ours = page.replace(vega(), "")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", ours)
    assert "</script" not in vega()
    assert "<!--" not in vega()
