"""Several runs in one table: differences from a baseline, tests over all runs, wrong input."""

import itertools
import json
import math
import re
import shutil
import statistics
from collections import Counter
from functools import cache
from importlib.metadata import version
from itertools import chain

import pytest
from sacrebleu.metrics.bleu import BLEU
from tests.made_up_run import MadeUpRun
from tests.scored import sacrebleu, tokenized_bleu

from itersel.cli.main import main
from itersel.config.evaluation import SignificanceSettings
from itersel.config.plain import recorded
from itersel.config.reading import read_config
from itersel.config.report_steps import Comparison
from itersel.evaluate.counts import count, write_counts
from itersel.evaluate.metrics import make_metrics
from itersel.evaluate.significance import sign_test
from itersel.report.comparison import compare_systems
from itersel.report.finished import read_runs
from itersel.report.page.runs import render_runs
from itersel.report.runs import compare_runs
from itersel.report.runs_table import MEAN_OF_RUNS, latex, markdown, text_table, tsv_table, views
from itersel.report.translations import Translations
from itersel.storage.json_files import as_content

NAMES = ["first", "second", "third"]
TOKENIZED, THIRD = ["--metric", "tokenized-bleu"], ["--baselines", "third"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return three runs of the same experiments; the second one has two repeats of each."""
    folder = tmp_path_factory.mktemp("runs")
    made = [
        MadeUpRun(folder / name, NAMES, sentences=size, repeats=repeats, seed=seed)
        for seed, (name, size, repeats) in enumerate((("de-en", 4, 1), ("fr-en", 3, 2), ("cs-en", 5, 1)))
    ]
    for run in made:
        count_text(run)
        edited("run.json", record_settings)(run.folder)
    return made


def edited(name, change):
    """Return a function that changes a document in a folder of results."""

    def edit(folder):
        path = folder / "report" / name
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return edit


def record_settings(run):
    """Write the settings of a run that its config states."""
    run["settings"] = recorded(read_config(run["config"]))


def count_text(run):
    """Write the counts of all translations, taken as detokenised text, and the table with their scores."""
    systems = [system for repeats in run.systems.values() for system in repeats]
    counted = [count(lines, lines, [run.references], "13a") for lines in run.translations]
    counts = [one.counts for one in counted]
    test_set = Translations("test", systems, run.translations, [run.references], counts)
    run.table = compare_systems([test_set], Comparison(trials=100))
    (run.folder / "report" / "table.json").write_text(json.dumps(as_content(run.table)))
    for system, one in zip(systems, counted, strict=True):
        name = system.name if system.repeat == 1 else f"{system.name}.repeat-{system.repeat}"
        path = run.folder / "evaluation" / "test" / "counts" / f"{name}.h5"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_counts(path, one)


def texts(run, name):
    return run.translations[NAMES.index(name) * run.repeats :][: run.repeats]


def compared(runs, baselines, by="tokenized-bleu", **settings):
    return compare_runs(
        read_runs([run.folder for run in runs]), baselines, by, SignificanceSettings(**settings)
    )


def system(content, name):
    return next(one for one in content["systems"] if one["name"] == name)


def all_differences(run, name, baseline):
    """Count the differences of all ways of exchanging the translations of sentences among all repeats."""
    own = texts(run, name)
    lines = list(zip(*own, *texts(run, baseline), strict=True))

    @cache
    def score(choice):
        return sacrebleu([line[one] for line, one in zip(lines, choice, strict=True)], run.references)

    orders = itertools.permutations(range(2 * run.repeats))
    found = Counter()
    for exchange in itertools.product(orders, repeat=len(lines)):
        scores = [score(choice) for choice in zip(*exchange, strict=True)]
        found[round(statistics.mean(scores[: len(own)]) - statistics.mean(scores[len(own) :]), 9)] += 1
    return found


@pytest.mark.parametrize("names", [("first", "second"), ("third", "first")])
def test_randomization_against_all_exchanges(runs, names):
    """Stratified by run: every exchange in one run is combined with every exchange in the others."""
    name, baseline = names
    trials, of_runs = 20_000, runs[:2]
    found = system(compared(of_runs, [baseline], trials=trials), name)["difference"]
    scores = [
        [statistics.mean(sacrebleu(text, run.references) for text in texts(run, one)) for one in names]
        for run in of_runs
    ]
    differences = [one - other for one, other in scores]
    assert found["mean"] == pytest.approx(statistics.mean(differences))
    assert found["error"] == pytest.approx(statistics.stdev(differences) / math.sqrt(2))
    at_least, ways = 0, 0
    everything = [all_differences(run, name, baseline).items() for run in of_runs]
    for (one, times), (other, times_other) in itertools.product(*everything):
        ways += times * times_other
        at_least += times * times_other * (abs(one + other) >= abs(sum(differences)) - 1e-6)
    exact = at_least / ways
    assert 0.01 < exact < 1
    assert found["p"] == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / trials))


def test_nothing_is_tokenised_twice(runs, monkeypatch):
    """References once for all systems of a run, and each translation once, by both comparisons."""
    tokenized = Counter()

    def tokenize(metric, line, _call=BLEU._preprocess_segment):
        tokenized[line] += 1
        return _call(metric, line)

    monkeypatch.setattr(BLEU, "_preprocess_segment", tokenize)
    run = runs[1]
    expected = Counter(chain(run.references, *run.translations))
    compared([run], ["second"], trials=5)
    assert tokenized == expected
    tokenized.clear()
    systems = [system for repeats in run.systems.values() for system in repeats]
    compare_systems([Translations("test", systems, run.translations, [run.references])], Comparison(trials=5))
    assert tokenized == expected


def test_signs():
    # importing it takes longer than this test
    from scipy.stats import binomtest

    assert [sign_test(6, 0), sign_test(0, 0), sign_test(3, 3)] == [2 / 64, 1, 1]
    for positive, negative in itertools.product(range(7), range(1, 7)):
        expected = binomtest(positive, positive + negative).pvalue
        assert sign_test(positive, negative) == pytest.approx(expected)


def test_scores_of_each_run_are_those_of_its_table(runs):
    content = compared(runs, ["second"], "bleu", trials=50)
    for place, run in enumerate(runs):
        for row in run.table.test_sets[0].systems:
            one, scores = system(content, row.name)["runs"][place], row.scores["bleu"]
            assert (one["mean"], one["better_than"]) == (scores.mean, [*scores.better_than])
            assert one["p"] == (None if row.name == "second" else scores.p["second"])
    first = system(content, "first")
    differences = [one["difference"] for one in first["runs"]]
    assert first["difference"]["mean"] == pytest.approx(statistics.mean(differences))
    signs = [difference > 0 for difference in differences if difference]
    assert (first["difference"]["ahead"], first["difference"]["behind"]) == (sum(signs), signs.count(False))
    for one in (*first["runs"], {**first["difference"], "difference": first["difference"]["mean"]}):
        assert one["interval"][0] <= one["difference"] <= one["interval"][1]
    assert system(content, "second")["difference"] is None


def test_other_systems(tmp_path):
    """Their text is plain, and becomes tokens as in the table of the run."""
    run = MadeUpRun(tmp_path / "run", ["first", "second"], sentences=4, others=["online"])
    for one in system(compared([run], ["online"], trials=10), "first")["runs"]:
        texts = run.translations[0], run.translations[2]
        scores = [sacrebleu(text, run.references) for text in texts]
        assert one["difference"] == pytest.approx(scores[0] - scores[1])


def test_first_entries_of_lists_are_system_0(tmp_path):
    """As in the tables of a run; the numbers of worse systems are the same as those of the rows."""
    run = MadeUpRun(tmp_path / "run", ["first", "second"], sentences=4, others=["first entries"])

    def change(table):
        rows = table["test_sets"][0]["systems"]
        rows.insert(0, rows.pop())
        for row in rows:
            p = tokenized_bleu(row)["p"]
            p |= dict.fromkeys(p, 0.001)

    edited("table.json", change)(run.folder)
    content = compared([run], ["first entries"], trials=10)
    assert [row["number"] for row in content["systems"]] == [0, 1, 2]
    ranked = sorted(content["systems"], key=lambda row: row["runs"][0]["mean"])
    assert len({row["runs"][0]["mean"] for row in ranked}) == 3
    for place, row in enumerate(ranked):
        assert set(row["runs"][0]["better_than"]) == {worse["number"] for worse in ranked[:place]}


def test_lower_ter_is_ahead(runs):
    content = compared(runs, ["first"], "ter", trials=10)
    [metric] = [one for one in make_metrics([runs[0].references]) if one.name == "ter"]
    one = system(content, "third")
    (text,), (baseline,) = texts(runs[0], "third"), texts(runs[0], "first")
    expected = metric.score(metric.counts(text)) - metric.score(metric.counts(baseline))
    assert one["runs"][0]["difference"] == pytest.approx(expected)
    assert one["difference"]["ahead"] == sum(run["difference"] < 0 for run in one["runs"])


def test_a_single_run_has_the_p_values_of_its_own_table(runs):
    content = compared(runs[:1], ["first"], trials=100)
    for row in content["systems"][1:]:
        assert row["difference"]["p"] == row["runs"][0]["p"]
        assert row["difference"]["error"] is None


def test_baseline_is_chosen_on_devtest_in_each_run(runs):
    content = compared(runs, ["second", "first"], trials=20)
    for place, run in enumerate(runs):
        devtest = {
            name: statistics.mean(max(one.devtest_tokenized_bleu) for one in run.systems[name])
            for name in ("second", "first")
        }
        best = max(devtest, key=devtest.get)
        assert content["runs"][place]["baseline"] == best
        assert system(content, best)["runs"][place]["difference"] is None
    assert len({run["baseline"] for run in content["runs"]}) == 2
    # an experiment that is the baseline of some runs has a difference of 0 there
    second = system(content, "second")
    known = [one["difference"] or 0 for one in second["runs"]]
    assert second["difference"]["mean"] == pytest.approx(statistics.mean(known))
    assert "*: the baseline of the run, the best on devtest of second, first." in text_table(content)


def test_command(runs, tmp_path, capsys):
    folders = [str(run.folder) for run in runs]
    command = ["report", "runs", *folders, "--baselines", "first", "--trials", "50"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    outputs = [tmp_path / f"runs.{form}" for form in ("txt", "json", "tsv", "md", "tex", "html")]
    assert main([*command, *(word for path in outputs for word in ("--output", str(path)))]) == 0
    text, content, table, markdown, latex, page = (path.read_text() for path in outputs)
    assert text == printed
    content = json.loads(content)
    assert content == json.loads(json.dumps(compared(runs, ["first"], "bleu", trials=50)))
    header, *rows = (line.split("\t") for line in table.splitlines())
    # three runs of three experiments, and the means of those other than the baseline
    assert len(rows) == 3 * 3 + 2
    assert {len(row) for row in rows} == {len(header)}
    means = [dict(zip(header, row, strict=True)) for row in rows if row[0] == MEAN_OF_RUNS]
    for row in means:
        overall = system(content, row["experiment"])["difference"]
        assert row["difference"] == f"{overall['mean']:.2f}"
        for formatted in (text, markdown, latex, page):
            assert f"{overall['mean']:+.2f}" in formatted
            assert f"{overall['p']:.4f}" in formatted
    assert "± " not in text
    assert "Clark et al. 2011" in text
    assert latex.count("\\toprule") == 3
    assert render_runs(content) == page.removesuffix("\n")


def test_what_may_differ(runs, tmp_path):
    """Seeds, repeats, shards of a job, settings of all experiments, experiments of single runs, names."""

    def change(run):
        config, first = run["config"], run["config"]["experiments"]["first"]
        config |= {"seed": 3, "decoder": {"pop_limit": 30, "pieces": 4}, "language_model": {"order": 5}}
        run["config"]["experiments"]["first"] = first | {
            "seed": 5,
            "repeats": 2,
            "tasks": first["tasks"] | {"shards_per_array_task": 2},
        }
        record_settings(run)
        run["versions"]["numpy"] = "1.0"

    folder = shutil.copytree(runs[0].folder, tmp_path / "de-en")
    edited("run.json", change)(folder)
    table = folder / "report" / "table.json"
    table.write_text(table.read_text().replace('"second"', '"other"'))
    folders = [runs[0].folder, folder, runs[2].folder]
    content = compare_runs(read_runs(folders), ["first"], "bleu", SignificanceSettings(trials=10))
    assert [run["name"] for run in content["runs"]] == [str(folder) for folder in folders]
    assert content["left_out"] == {"other": [str(folder)], "second": [str(folders[0]), str(folders[2])]}
    differing = dict(content["settings"]["differing"])
    assert differing["language_model.order"] == ["3", "5", "3"]
    assert differing["versions.numpy"] == [version("numpy"), "1.0", version("numpy")]
    assert [*differing] == [
        "seed",
        "language_model.order",
        "decoder.pop_limit",
        "versions.numpy",
        "experiments.first.repeats",
        "experiments.first.seed",
    ]
    assert {key for key, _ in content["settings"]["common"]}.isdisjoint(differing)
    # the same translations
    assert len({one["mean"] for one in system(content, "third")["runs"]}) == 2
    assert "Left out, as not all runs have them: other (" in " ".join(text_table(content))
    for lines in (text_table(content), markdown(content)):
        assert any(
            line.replace("|", " ").replace("\\", "").split() == ["language_model.order", "3", "5", "3"]
            for line in lines
        )
    assert any("language_model.order" in line and line.startswith("%") for line in latex(content))


def lost(path):
    return lambda folder: (folder / path).unlink()


def of_table(change):
    """Return a function that changes the test set of the table."""
    return edited("table.json", lambda table: change(table["test_sets"][0]))


@of_table
def no_text(test_set):
    del test_set["signatures"]["bleu"]
    for row in test_set["systems"]:
        del row["scores"]["bleu"]


@of_table
def other_score(test_set):
    test_set["systems"][1]["scores"]["bleu"]["repeats"] = [1.0]


def other_learner(run):
    run["config"]["experiments"]["third"]["learner"] = {"name": "mira", "c": 0.5}
    record_settings(run)


BAD_COUNT, FEWER = of_table(lambda one: one.update(sentences="4")), of_table(lambda one: one["systems"].pop())
# an earlier version did not record the settings
UNKNOWN_KEY = edited("run.json", lambda run: run.update(config={"x": 1}, settings={}))
BAD_SETTINGS = edited("run.json", lambda run: run["settings"].update(experiments={"first": 1}))
TEXT, COUNTS = "experiments/third/best/test.txt", "evaluation/test/counts/third.h5"


@pytest.mark.parametrize(
    ("damage", "options", "facts"),
    [
        (lost("report/table.json"), [], ("run:", "report/table.json")),
        (lost("report/run.json"), [], ("run:", "report/run.json")),
        (BAD_SETTINGS, [], "report/run.json"),
        (edited("run.json", lambda run: run["versions"].update(numpy=["1"])), [], "report/run.json"),
        (UNKNOWN_KEY, [], ("report/run.json", "'x'")),
        (edited("run.json", other_learner), [], ("de-en:", "learner.name", "adagrad", "mira")),
        (no_text, [], ("report/table.json", "'bleu'", "--metric")),
        (other_score, [], "report/table.json"),
        (BAD_COUNT, [], "report/table.json"),
        (lost(COUNTS), [], "third.h5"),
        (lost(TEXT), TOKENIZED, ("experiments/third:", "'test'")),
        (FEWER, THIRD, "'third'"),
    ],
)
def test_what_cannot_be_compared(runs, tmp_path, refused, damage, options, facts):
    folder = shutil.copytree(runs[0].folder, tmp_path / "run")
    damage(folder)
    refused(["report", "runs", runs[0].folder, folder, "--baselines", "first", *options], facts)


def test_runs_that_share_nothing(runs, tmp_path, refused):
    other = MadeUpRun(tmp_path / "other", ["first", "fourth"], epochs=1, sentences=3)
    given = ["report", "runs", runs[0].folder, other.folder, *TOKENIZED, "--baselines"]
    refused([*given, "fourth"], "'fourth'")
    refused([*given, "first"], "'first'")
    refused(["report", "runs", *[runs[0].folder] * 2, "--baselines", "first"], f"{runs[0].folder}:")


def test_small_p_values(runs):
    """They are not 0, and none is rounded to the level of significance."""
    content = compared(runs, ["first"], trials=10)
    for one, p in (("second", 1e-5), ("third", 0.0499999)):
        system(content, one)["difference"]["p"] = p
    titles, *rows = (line.split("\t") for line in tsv_table(content))
    found = [dict(zip(titles, row, strict=True)) for row in rows]
    assert [float(row["p"]) for row in found if row["run"] == MEAN_OF_RUNS] == [1e-5, 0.0499999]

    text = "\n".join(text_table(content))
    assert "0.0000" not in text
    for shown in (text, render_runs(content)):
        assert "0.0001" in shown
        assert "0.0499999" in shown


def answer_of(content):
    line = re.search('<p class="answer">(.*?)</p>', render_runs(content), re.DOTALL)
    return " ".join(re.sub("<.*?>", "", line[1]).split())


def test_the_page_begins_with_the_answer(runs):
    """Which experiment has the best mean, by how much it differs, and whether that is significant."""
    content = compared(runs, ["first"], "tokenized-bleu", trials=50)
    ranked = sorted(content["systems"][1:], key=lambda one: one["difference"]["mean"])
    overall = ranked[-1]["difference"]
    for difference, direction in ((1.0, "ahead of"), (-1.0, "behind")):
        for p, decided in ((0.001, ", significant"), (0.2, ", not significant")):
            for one in ranked:
                one["difference"] |= {"mean": difference - 1, "p": 0.5}
            overall |= {"mean": difference, "p": p}
            told = answer_of(content)
            assert told.startswith(f"{ranked[-1]['name']} is {direction} first by 1.00 tokenized BLEU")
            assert decided in told
    # lower is better
    content["metric"] = "ter"
    assert answer_of(content).startswith(f"{ranked[0]['name']} is ahead of first by 2.00 TER")


def test_the_best_mean_is_marked_only_beside_means(runs):
    """In the tables of all runs, each of which has one row for it; rows of single runs state no mean."""
    content = compared(runs, ["first"], "tokenized-bleu", trials=50)
    best = max(content["systems"][1:], key=lambda one: one["difference"]["mean"])["name"]
    marked = re.findall(r'data-value="(.*?)" data-note=', render_runs(content))
    assert marked == [best] * 2


def test_columns_about_all_runs_come_first_on_the_page(runs):
    content = compared(runs, ["first"], "tokenized-bleu", trials=50)
    headings = re.findall(r'<th scope="col" class="number"><bdi>(.*?)</bdi>', render_runs(content))
    names = [re.sub("<wbr>", "", one) for one in headings]
    assert names[:2] == [MEAN_OF_RUNS, content["runs"][0]["name"]]
    assert names.count(MEAN_OF_RUNS) == 2


@pytest.mark.parametrize("by", ["tokenized-bleu", "ter"])
def test_a_copy_of_a_run_is_no_more_evidence(runs, tmp_path, by):
    """Runs with the same test set: the same sentences are exchanged, and drawn, in both."""
    again = tmp_path / "copy"
    shutil.copytree(runs[0].folder, again)
    alone, twice = (
        compare_runs(read_runs(folders), ["first"], by, SignificanceSettings(trials=200))
        for folders in ([runs[0].folder], [runs[0].folder, again])
    )
    for name in NAMES[1:]:
        one, both = (system(content, name)["difference"] for content in (alone, twice))
        assert [both[key] for key in ("mean", "interval", "p")] == [
            one[key] for key in ("mean", "interval", "p")
        ]
    view = views(twice)[0]
    assert view.sentences == len(runs[0].references)
