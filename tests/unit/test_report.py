"""The table of systems, and the resources of a system."""

import dataclasses
import json
import math

import pytest
from tests.refusals import input_error
from tests.scored import content_of, p_values, table_command, tokenized_bleu, write_test_set
from tests.scored import make_system as system
from tests.steps import settings

from itersel.cli.main import main
from itersel.config.report_steps import Comparison
from itersel.evaluate.metrics import make_tokenized_bleu, score_corpus
from itersel.evaluate.significance import pooled_differences
from itersel.report.cells import cells_of_systems
from itersel.report.comparison import compare_systems
from itersel.report.p_values import describe_p, format_p, precise_p
from itersel.report.table import text_table, tsv_table
from itersel.report.table_content import parse_table
from itersel.report.translations import Output, Translations
from itersel.system.chosen import read_system, write_system
from itersel.system.resources import TranslatorFiles, read_resources

REFERENCES = [" ".join("abcdefghijkl"[i % 4 : i % 4 + 4 + i % 5]) for i in range(40)]
GOOD = [line.replace("c", "x") if i % 8 == 0 else line for i, line in enumerate(REFERENCES)]
BAD = [line.replace("d", "x") for line in REFERENCES]
EXTRACTION = {"max_span": 10, "max_symbols": 4, "max_nonterminals": 1, "min_gap": 2, "max_samples": 50}
OTHER_TYPES = {
    "devtest_tokenized_bleu": [3.5, ["x", 1.0], []],
    "epoch": [3, 0, True],
    "name": ["a\tb", ["a"]],
}
OTHER_TYPES |= {"shards": ["4"], "signature": [None], "active_features": [1e3]}


def compare_on_one(systems, translations, **settings):
    return compare_systems(
        [Translations("test", systems, translations, [REFERENCES])], Comparison(**settings)
    )


def test_table():
    systems = [system("one"), system("two", (40.0, 39.0)), system("three")]
    table = compare_on_one(systems, [GOOD, BAD, list(GOOD)], trials=200, seed=4)
    assert table.significance.trials == 200
    assert table.pooled is None
    content = content_of(table)
    (found,) = content["test_sets"]
    assert (found["name"], found["sentences"], found["references"]) == ("test", 40, 1)
    first, second, third = found["systems"]
    assert [tokenized_bleu(system)["differs_from"] for system in (first, second, third)] == [[2], [1, 3], [2]]
    assert tokenized_bleu(first)["p"]["three"] == 1.0
    metric = make_tokenized_bleu([REFERENCES])
    assert tokenized_bleu(second)["p"]["one"] == p_values(metric, GOOD, {"two": BAD}, 200, 4)["two"]
    assert (second["name"], second["shards"], second["devtest"]["tokenized-bleu"]["mean"]) == ("two", 4, 40.0)
    (repeat,) = second["repeats"]
    chosen = repeat["chosen"]
    assert (chosen["epoch"], chosen["devtest_tokenized_bleu"]) == (1, [40.0, 39.0])
    bleu, precisions, *others = score_corpus(metric, BAD)
    expected = {
        "precisions": [*precisions],
        **dict(zip(("brevity_penalty", "length", "reference_length"), others, strict=True)),
    }
    assert (tokenized_bleu(second)["mean"], tokenized_bleu(second)["deviation"]) == (bleu, None)
    assert (tokenized_bleu(second)["repeats"], tokenized_bleu(second)["details"]) == ([bleu], [expected])
    text = text_table(table)
    test_bleu = f"{tokenized_bleu(first)['mean']:.2f}"
    assert text[2].split() == f"1 one perceptron selection 4 train all 12 31.00 2 of 2 {test_bleu} 2".split()
    assert "p < 0.05" in text[-3]
    assert text[-1].startswith("tokenized BLEU: sacrebleu nrefs:1|case:lc|")
    rows = [line.split("\t") for line in tsv_table(table)]
    assert {len(row) for row in rows} == {17}
    # on devtest, the second is the best; the first of the others is the baseline
    place = rows[0].index("test_tokenized_bleu_p_against_system_1")
    assert [row[place] for row in rows[1:]] == [
        "",
        *(f"{tokenized_bleu(one)['p']['one']:.4g}" for one in (second, third)),
    ]

    # many trials can find smaller values than four decimals show
    tokenized_bleu(third)["p"]["one"] = 1 / 100_001
    assert tsv_table(parse_table(content))[-1].split("\t")[place] == "1e-05"


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.00005])
@pytest.mark.parametrize(
    "p", [1.0, 0.5, 0.0999999, 0.05, 0.0499999, 0.04999, 0.00013, 0.0001, 0.00007, 0.000049999, 1e-5, 1e-30]
)
def test_p_values_are_never_0_and_stay_beside_the_level(p, alpha):
    assert float(precise_p(p, alpha)) == pytest.approx(p, rel=1e-3)
    assert describe_p(p, alpha).startswith("p ")
    for text in (precise_p(p, alpha), format_p(p, alpha), describe_p(p, alpha)):
        relation, _, value = text.removeprefix("p ").rpartition(" ")
        if relation == "<":
            assert p < float(value) <= alpha
        else:
            assert float(value) > 0
            assert (float(value) < alpha) == (p < alpha)


def test_several_test_sets_and_all_together():
    """A set with its own devtest has a different epoch; pooled scores are those of the concatenated text."""
    news = [line.upper() for line in REFERENCES[:7]]
    others = [line.replace("b", "x") for line in news]
    translations = [[GOOD, BAD], [news, [line.replace("C", "x") for line in news]]]
    first = Translations("help", [system("one"), system("two")], translations[0], [REFERENCES])
    own = [system("one", (20.0, 10.0), devtest="devtest.news"), system("two", devtest="devtest.news")]
    second = Translations("news", own, translations[1], [news, others])
    table = compare_systems([first, second], Comparison(trials=100))
    content = content_of(table)
    pooled = content["pooled"]
    assert pooled["sentences"] == 47
    metric = make_tokenized_bleu([[*REFERENCES, *news], [*[None] * 40, *others]])
    for row, (one, other) in zip(pooled["systems"], zip(*translations, strict=True), strict=True):
        assert row["repeats"] == [{"repeat": 1, "chosen": None}]
        assert tokenized_bleu(row)["repeats"] == [score_corpus(metric, [*one, *other]).bleu]
    expected = p_values(metric, [*GOOD, *news], {"two": [*BAD, *translations[1][1]]}, 100, 1)
    assert tokenized_bleu(pooled["systems"][0])["p"] == expected
    assert table.test_sets[1] == compare_systems([second], Comparison(trials=100)).test_sets[0]
    text = text_table(table)
    titles = [line for line in text if line.endswith(":") and "sentences" in line]
    assert titles[:2] == ["test set help, 40 sentences:", "test set news, 7 sentences, 2 references:"]
    assert titles[2:] == ["all test sets together, 47 sentences:"]
    assert "With their own devtest: news." in text
    assert not any(
        "own devtest" in line for line in text_table(compare_systems([first], Comparison(trials=10)))
    )
    headers = [line for line in text if line.startswith("system")]
    assert ["epoch" in line for line in headers] == [True, True, False]
    assert text[-1].startswith("pooled, tokenized BLEU: sacrebleu nrefs:var|")
    assert text[-2].startswith("news, tokenized BLEU: sacrebleu nrefs:2|")
    rows = [line.split("\t") for line in tsv_table(table)]
    assert [row[0] for row in rows[1:]] == ["help", "help", "news", "news", "pooled", "pooled"]
    assert {len(row) for row in rows} == {17}
    epoch = rows[0].index("epoch")
    assert [row[epoch] for row in rows[1:]] == ["2 of 2", "2 of 2", "1 of 2", "2 of 2", "", ""]
    assert [one.references for one in table.test_sets] == [1, 2]


def test_what_is_written_of_a_table_is_read():
    """Also of other systems and pooled test sets, which lack some keys; nothing else may be missing."""
    systems = [system("one"), Output("online"), system("two")]
    test_sets = [Translations(name, systems, [GOOD, BAD, BAD], [REFERENCES]) for name in ("x", "y")]
    table = compare_systems(test_sets, Comparison(trials=10))
    content = content_of(table)
    assert parse_table(content) == table
    assert content["test_sets"][0]["systems"][1]["devtest"] is None
    assert content["pooled"]["systems"][0]["devtest"] is None

    for row in (content, content["significance"], content["test_sets"][1], content["pooled"]["systems"][2]):
        for key in (*row,):
            value = row.pop(key)
            with pytest.raises((KeyError, ValueError)):
                parse_table(content)
            row[key] = value
    assert parse_table(content) == table


@pytest.mark.parametrize(
    "damage",
    [
        lambda test_set: test_set["systems"].pop(),
        lambda test_set: test_set["signatures"].clear(),
        lambda test_set: test_set["signatures"].update(bleu="x"),
        lambda test_set: test_set["systems"][0]["repeats"][0]["chosen"].update(epoch=3),
        lambda test_set: test_set["systems"][0]["repeats"][0].update(chosen=None),
        lambda test_set: test_set["systems"][0].update(repeats=[]),
        lambda test_set: test_set["systems"][0]["devtest"].clear(),
        lambda test_set: tokenized_bleu(test_set["systems"][0])["p"].clear(),
        lambda test_set: tokenized_bleu(test_set["systems"][0])["repeats"].append(1.0),
        lambda test_set: [one.update(learner=None, devtest=None) for one in test_set["systems"]],
    ],
)
def test_a_damaged_table_is_refused(damage):
    """Also if nothing is missing or of a wrong type, but parts disagree."""
    test_sets = [
        Translations(name, [system("one"), system("two")], [GOOD, BAD], [REFERENCES]) for name in "xy"
    ]
    content = content_of(compare_systems(test_sets, Comparison(trials=10)))
    damage(content["test_sets"][1])
    with pytest.raises(ValueError):  # noqa: PT011
        parse_table(content)


def test_runs_of_one_experiment_are_a_row():
    systems = [system("one"), system("two", (40.0, 41.0)), system("two", (43.0, 42.0), repeat=2)]
    table = compare_on_one(systems, [GOOD, BAD, list(GOOD)], trials=50)
    first, second = content_of(table)["test_sets"][0]["systems"]
    assert first["devtest"] == {"tokenized-bleu": {"mean": 31.0, "deviation": None}}
    assert second["devtest"] == {"tokenized-bleu": {"mean": 42.0, "deviation": pytest.approx(math.sqrt(2))}}
    _, row = cells_of_systems(table.test_sets[0])
    assert (row["devtest tokenized BLEU"].text, row["epoch"].text) == ("42.00 ±1.41", "2, 1 of 2")
    metric = make_tokenized_bleu([REFERENCES])
    assert tokenized_bleu(second)["mean"] == pytest.approx(
        (score_corpus(metric, GOOD).bleu + score_corpus(metric, BAD).bleu) / 2
    )
    counts = [[metric.counts(text) for text in texts] for texts in ([GOOD], [BAD, GOOD])]
    [expected] = pooled_differences([metric], *([one] for one in counts), 50)
    assert tokenized_bleu(first)["p"]["two"] == tokenized_bleu(second)["p"]["one"] == expected.p
    assert any("standard deviation" in line for line in text_table(table))
    assert "±" not in "".join(tsv_table(table))
    assert tsv_table(table)[2].split("\t")[-4:-2] == ["2", "1.41"]
    assert [(one["repeat"], one["chosen"]["epoch"]) for one in second["repeats"]] == [(1, 2), (2, 1)]


def test_table_of_one_system():
    """Natural tasks are shown only in the text."""
    table = compare_on_one([system("alone", tasks="natural")], [GOOD], trials=10)
    assert "  4 natural  " in text_table(table)[2]
    assert tsv_table(table)[1].split("\t")[5:13:7] == ["4", "-"]


def test_command_table(tmp_path, refused):
    files = write_test_set(tmp_path / "test", [system("a"), system("b")], [GOOD, BAD], REFERENCES)
    outputs = [tmp_path / f"table{suffix}" for suffix in (".json", ".txt", ".TSV")]
    command = table_command({"test": files}, *outputs, trials=50)
    assert main(command) == 0
    assert len(json.loads((tmp_path / "table.json").read_text())["test_sets"][0]["systems"]) == 2
    assert (tmp_path / "table.txt").read_text().startswith("system  experiment")
    assert (tmp_path / "table.TSV").read_text().startswith("test_set\tsystem\texperiment\t")
    refused(table_command({"test": files}, tmp_path / "table.pdf"), (".txt", ".tsv"))
    (tmp_path / "test/1.json").write_text("{}")
    refused(command, "1.json")


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({}, (2, 1, "'same'")),
        ({"repeat": 2, "shards": 5}, ("'same'", "shards")),
        ({"repeat": 2, "signature": "other"}, ("'same'", "signature")),
        ({"repeat": 2, "bleu": [1.0]}, ("'same'", "epochs")),
    ],
)
def test_systems_with_the_same_name_are_not_merged(tmp_path, refused, change, facts):
    systems = [system("same"), system("same", **change)]
    files = write_test_set(tmp_path / "test", systems, [GOOD, BAD], REFERENCES)
    refused(table_command({"test": files}, tmp_path / "table.txt"), facts)


@pytest.mark.parametrize(
    ("systems", "changes", "facts"),
    [
        ({"a": "one", "b": "two"}, {}, ("'a'", "'b'")),
        ({"a": "one"}, {"translations": []}, (1, 0)),
        ({"news": "one"}, {"references": []}, "'news'"),
        ({"a/b": "one"}, {}, "'test_sets.a/b'"),
        ({"pooled": "one"}, {}, "'test_sets.pooled'"),
        ({}, {}, "'test_sets'"),
    ],
)
def test_inconsistent_test_sets(tmp_path, text_file, refused, systems, changes, facts):
    files = {"references": [text_file("ref", REFERENCES)], "translations": [text_file("t", GOOD)]}
    test_sets = {}
    for test_set, name in systems.items():
        write_system(tmp_path / f"{name}.json", system(name))
        test_sets[test_set] = {**files, "systems": [str(tmp_path / f"{name}.json")], **changes}
    refused(table_command(test_sets, tmp_path / "table.txt"), facts)


def test_test_sets_have_different_names():
    one = Translations("a", [system("one")], [GOOD], [REFERENCES])
    with input_error("'a'"):
        compare_systems([one, one], Comparison(trials=10))


@pytest.fixture
def resources(tmp_path):
    run = tmp_path / "run"
    path = run / "experiments/x/best/resources.json"
    path.parent.mkdir(parents=True)
    names = [item.name for item in dataclasses.fields(TranslatorFiles)]
    for name in names:
        (run / name).touch()
    files = [f"--{name.replace('_', '-')}={run / name}" for name in names]
    how = settings(pop_limit=30, features="dense", grammar=EXTRACTION)
    assert main(["step", "resources", *files, *how, f"--output={path}"]) == 0
    return path


def test_resources_move_with_the_run(tmp_path, resources):
    moved = tmp_path / "elsewhere"
    (tmp_path / "run").rename(moved)
    found = read_resources(moved / "experiments/x/best")
    assert (found.files.language_model, found.files.index) == (f"{moved}/language_model", f"{moved}/index")
    assert (found.settings.pop_limit, found.settings.features) == (30, "dense")
    assert (found.settings.grammar.max_span, found.settings.grammar.max_samples) == (10, 50)
    (moved / "index").unlink()
    facts = "resources.json"
    with input_error(facts):
        read_resources(moved / "experiments/x/best")
    with input_error("resources.json", "NAME"):
        read_resources(tmp_path)


def test_damaged_resources(resources):
    good = json.loads(resources.read_text())
    grammar = good["settings"]["grammar"] | {"min_gap": 2**64}
    bad_settings = [{"pop_limit": 10**30}, {"features": "some"}, {"grammar": grammar}]
    damaged = [
        *(good | {"settings": good["settings"] | bad} for bad in bad_settings),
        good | {"files": good["files"] | {"language_model": None}},
        good | {"kind": "other"},
        good | {"kind": ["translator"]},
        # of an earlier version
        {**good["settings"], **good["files"]},
    ]
    for content in damaged:
        resources.write_text(json.dumps(content))
        with input_error("resources.json"):
            read_resources(resources.parent)


@pytest.mark.parametrize(("key", "values"), OTHER_TYPES.items())
def test_system_with_other_types(tmp_path, key, values):
    path = tmp_path / "system.json"
    write_system(path, system("a"))
    good = json.loads(path.read_text())
    for value in values:
        path.write_text(json.dumps(good | {key: value}))
        with input_error(f"{path}:"):
            read_system(path)
