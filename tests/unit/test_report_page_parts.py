"""Parts of the page of a run: its config, tables for papers, damaged files, and scripts."""

import json
import re
from itertools import groupby, product

import pytest
from tests.made_up_run import MadeUpRun
from tests.refusals import input_error
from tests.scored import content_of, make_system

from itersel.config.experiments import PlannedRepeat
from itersel.config.plain import plain, recorded
from itersel.config.reading import read_config, read_unresolved
from itersel.config.report_steps import Comparison
from itersel.config.values import Config
from itersel.report.comparison import compare_systems
from itersel.report.description import write_run
from itersel.report.folder import find_repeats
from itersel.report.page.charts import curves
from itersel.report.page.config import describe_config
from itersel.report.page.document import compared_systems, read_document
from itersel.report.page.render import SCRIPTS, asset, render
from itersel.report.settings import settings_table
from itersel.report.translations import Translations
from itersel.vectors.feature_groups import find_reported_groups, reported_groups
from itersel.vectors.feature_names import TEXT_EXPLANATIONS
from itersel.vectors.weights import make_weights, write_itersel_weights

NAMES = ["<script>window.hacked = 1", "a|b_c%d$"]
TABLES = ("", "{", "[]", "{}", '"x"', '{"test_sets": [{}]}')
TABLES += ('{"test_sets": [], "significance": {"alpha": 1}}',)
PARTS = ("[]", '{"splits": {"x": {}}}', '{"systems": ["a", 1], "sentences": []}')
# of an earlier version
DERIVATIONS = '{"test_set": "test", "systems": ["a", "b"], "sentences": [{"sentence": 0, "derivations": '
DERIVATIONS += '[{"score": -1, "model": -0.5}]}]}'


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return MadeUpRun(tmp_path_factory.mktemp("run") / "made-up", ["first", "second", "third"], repeats=3)


def test_config_shows_what_differs():
    experiment = {"epochs": 4, "learner": {"name": "mira", "c": 0.5}}
    content = {"name": "x", "seed": 1, "experiments": {"e": experiment}}
    rows = describe_config(content, read_unresolved(content))["changed"]
    found = {key: (value, default) for key, value, default in rows}
    assert found["name"] == ('"x"', '"run"')
    assert found["experiments.e.epochs"] == ("4", "3")
    assert found["experiments.e.learner.name"] == ("mira", "adagrad")
    assert "experiments.e.learner.c" in found
    # a default value, and values that follow from others
    assert "seed" not in found
    assert not any("folds" in key for key in found)
    assert Config().seed == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("table", content) for content in TABLES),
        *(("corpus", content) for content in PARTS),
        *(("derivations", content) for content in (*PARTS, DERIVATIONS)),
    ],
)
def test_damaged_parts(tmp_path, refused, name, content):
    run = MadeUpRun(tmp_path / "made-up", ["first"], epochs=1)
    path = run.folder / "report" / f"{name}.json"
    path.write_text(content)
    arguments = ["page", "--results", str(run.folder), "--output", str(tmp_path / "index.html")]
    if name == "table":
        arguments = ["paper", "--table", str(path), "--output", str(tmp_path / "t.md")]
    refused(["report", *arguments], f"{path}:")


def test_tables_of_earlier_versions(tmp_path, refused):
    """Their scores had another form for each kind of metric."""
    run = MadeUpRun(tmp_path / "made-up", ["first", "second"], epochs=1)
    path = run.folder / "report" / "table.json"
    table = content_of(run.table)
    for one in table["test_sets"]:
        one["signature"] = one["signatures"].pop("tokenized-bleu")
        for row in one["systems"]:
            score = row["scores"].pop("tokenized-bleu")
            row |= {"test": {"mean": score["mean"]}, "p": score["p"], "runs": row["repeats"]}
    path.write_text(json.dumps(table))
    refused(["report", "paper", "--table", path, "--output", tmp_path / "t.md"], f"{path}:")


def test_repeats_are_known_from_the_plan_or_describe_themselves(tmp_path):
    """So a name is never taken apart; an unfinished repeat that is not planned is on its own."""
    run = MadeUpRun(tmp_path / "made-up", ["a", "b"], epochs=1, repeats=2, unfinished=["b"])
    planned = [PlannedRepeat(name, repeat=repeat) for name in "cb" for repeat in (1, 2)]
    found = [(one.folder, one.system, one.repeat) for one in find_repeats(run.folder, planned)]
    of_b = [("b", "b", 1), ("b.repeat-2", "b", 2)]
    of_a = [("a", "a", 1), ("a.repeat-2", "a", 2)]
    assert found == [("c", "c", 1), *of_b, *of_a]

    found = [(one.folder, one.system, one.repeat) for one in find_repeats(run.folder)]
    assert found == [*of_a, ("b", "b", 1), ("b.repeat-2", "b.repeat-2", 1)]

    description = run.folder / "experiments" / "a.repeat-2" / "best" / "system.json"
    description.write_text('{"name": "a"}')
    with input_error(f"{description}:"):
        find_repeats(run.folder)


def test_the_best_system_follows_choose_by():
    def best_last(by, *scores):
        """Return the compared systems, which have these scores and values of BLEU on devtest."""
        systems = [
            make_system(name, (9.0, bleu), chosen_by=by, devtest_scores=(99.0, score), epoch=2)
            for name, (score, bleu) in zip("ab", scores, strict=True)
        ]
        test_set = Translations("test", systems, [["x"], ["x"]], [["x"]])
        return compared_systems(compare_systems([test_set], Comparison(trials=1)), [])

    assert best_last("ter", (50.0, 9.0), (40.0, 3.0)) == ["a", "b"]
    assert best_last("chrf++", (50.0, 3.0), (40.0, 9.0)) == ["b", "a"]


def test_scripts_insert_no_text_as_html():
    for name in SCRIPTS:
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", asset(name))


def test_settings_of_experiments():
    """Each key that a run records is there once; those in which experiments differ, with all values."""
    config = read_config({"experiments": {"a": {}, "b": {"learner": {"name": "mira"}, "templates": ["R"]}}})
    found = settings_table(recorded(config))
    assert found["systems"] == ["a", "b"]
    differing, common = dict(found["differing"]), dict(found["common"])
    assert differing["learner.name"] == ["adagrad", "mira"]
    assert differing["templates"][1] == '["R"]'
    assert differing["learner.c"][0] == ""
    assert float(differing["learner.c"][1]) == config.experiments["b"].learner.c
    assert common["epochs"] == str(config.experiments["a"].epochs)
    assert dict(found["run"])["decoder.pop_limit"] == str(config.decoder.pop_limit)
    assert not differing.keys() & common.keys()
    # a section stands in one place
    sections = [key.rpartition(".")[0] for key in differing if "." in key]
    assert len(list(groupby(sections))) == len({*sections})
    # nothing is said twice, and nothing that all experiments share is open
    assert all(len({*values}) == 2 for values in differing.values())
    # read again, what the table says is the config
    columns = [{key: values[place] for key, values in differing.items()} for place in range(2)]
    for name, column in zip(found["systems"], columns, strict=True):
        shown = plain(config.experiments[name])
        for key, text in {**common, **column}.items():
            value = shown
            for part in key.split("."):
                value = value.get(part, {}) if isinstance(value, dict) else {}
            if value != {}:
                assert text == (value if isinstance(value, str) and value else json.dumps(value))


def test_experiments_with_the_same_settings():
    found = settings_table(recorded(read_config({"experiments": {"a": {}}})))
    assert found["differing"] == []
    assert dict(found["common"])["learner.name"] == "adagrad"


def test_training_quality(tmp_path):
    """Means of the shards or, only if a batch tuner has trained all weights, its quality."""
    run = MadeUpRun(tmp_path / "run", ["mixed", "tuned"], epochs=1)
    for name in run.names:
        epoch = run.folder / "experiments" / name / "epoch-1"
        write_itersel_weights(
            epoch / "weights.h5", make_weights({"a": 1.0}), {"kind": "mixed-weights", "quality": 26.5}
        )
    for path in (run.folder / "experiments/tuned/epoch-1").glob("shard-*"):
        path.unlink()
    mixed, tuned = (one["epochs"][0] for one in read_document(run.folder)["repeats"])
    assert mixed["training_quality"] == pytest.approx(21)
    assert tuned["training_quality"] == 26.5


@pytest.mark.parametrize(
    ("with_quality", "tune_on", "expected"),
    [
        ([], ["train"], "BLEU"),
        (["train"], ["train"], "quality"),
        (["train"], ["dev"], "BLEU"),
        (["dev"], ["dev"], "quality"),
        (["dev"], ["dev", "train"], "quality or BLEU"),
    ],
)
def test_what_is_learned_by(tmp_path, with_quality, tune_on, expected):
    run = MadeUpRun(tmp_path / "run", ["one"], epochs=1, sentences=1)
    data = {split: {"lists": split, "target": split} for split in ("train", "dev", "devtest", "test")}
    for split in with_quality:
        data[split]["quality"] = "quality"
    experiments = {f"on-{split}": {"tune_on": split} for split in tune_on}
    config = {
        "name": "run",
        "data": {"kind": "lists", "target_language": "en", **data},
        "experiments": experiments,
    }
    write_run(run.folder, config, Config(experiments={}))
    shown = curves(read_document(run.folder)["learned_by"])["training_quality"]
    assert shown.title == f"Training {expected}"
    assert all(name in shown.note for name in expected.split(" or "))


def luminance(color):
    """Return the relative luminance of a colour written as #rrggbb (WCAG 2.1)."""
    parts = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast_of_text(theme):
    colors = dict(re.findall(r"--([\w-]+): (#\w{6})", asset("page.css").split("color-scheme:")[theme + 1]))
    pairs = list(product(("ink", "dim", "link"), ("paper", "raised", "best")))
    pairs += [(f"{one}-ink", one) for one in ("added", "removed")]
    pairs += [("error", "notice"), ("ink", "notice"), ("dim", "notice")]
    for text, paper in pairs:
        dark, light = sorted((luminance(colors[text]), luminance(colors[paper])))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, paper)


# The group in which reports show a feature: own ones of text, otherwise those of grammars.
GROUPS = {
    **{"TextWords": "dense", "TextModel_large": "dense", "TextModelUnknown_x": "dense"},
    **{"LanguageModel": "dense", "LM": "other", "w_the": "other", "TextOfMine": "other"},
    **{"Ngram1:the": "Ngram1", "Ngram3:a_b_c": "Ngram3", "Lex:das_the": "Lex", "Del:das": "Del"},
    **{"Ins:the": "Ins", "Phrase:a:b_c": "Phrase", "LexShape:Aa_A": "LexShape", "R:X:a:b": "R"},
}


def test_groups_of_features_of_text(tmp_path):
    weights = make_weights(dict.fromkeys(GROUPS, 1.0))
    groups = [reported_groups()[place] for place in find_reported_groups(weights.key, weights.name)]
    assert dict(zip(weights.name.to_list(), groups, strict=True)) == GROUPS

    run = MadeUpRun(tmp_path / "made-up", ["first"], epochs=1)
    best = run.folder / "experiments/first/best/weights.h5"

    def page():
        return render(read_document(run.folder))

    # pages of other runs do not explain what they do not have
    without = page()
    write_itersel_weights(best, weights)
    [features] = [one["features"] for one in read_document(run.folder)["repeats"]]
    assert {one["group"] for one in features["groups"]} == {*GROUPS.values()}
    for text in ("words of the translation without links", TEXT_EXPLANATIONS["TextScore"].split(" ", 2)[2]):
        assert (text in without, text in page()) == (False, True)


@pytest.mark.parametrize("name", TEXT_EXPLANATIONS)
def test_explanations_of_features_of_text(name, root):
    """The page of a run has the words of docs/text-features.md."""
    assert f"| `{name}` | {TEXT_EXPLANATIONS[name]} |" in (root / "docs/text-features.md").read_text()
