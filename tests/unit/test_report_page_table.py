"""The columns of the table on the page: settings, differences from the baseline, p-values."""

import pytest
from tests.scored import make_system

from itersel.config.plain import recorded
from itersel.config.reading import read_config
from itersel.config.report_steps import Comparison
from itersel.report.comparison import compare_systems
from itersel.report.page_table import table_view
from itersel.report.settings import settings_table
from itersel.report.table import text_table, tsv_table
from itersel.report.translations import Output, Translations

REFERENCES = ["a b c d e", "f g h i j k", "l m n o p"]
TEXTS = [REFERENCES, [line.replace("c", "x") for line in REFERENCES], [line[2:] for line in REFERENCES]]
GRID = {"learner": {"name": "adagrad", "learning_rate": [0.1, 0.3]}, "k_best": [50, 100], "templates": ["R"]}


def view_of(systems, settings=None):
    texts = [TEXTS[place % 3] for place in range(len(systems))]
    table = compare_systems([Translations("test", systems, texts, [REFERENCES])], Comparison(trials=20))
    (view,) = table_view(table, settings=settings)
    return table.test_sets[0].systems, view


def bleu(system):
    return system.scores["tokenized-bleu"]


def column(view, title):
    place = [column.title for column in view.columns].index(title)
    return [row[place] for row in view.rows]


def titles(view):
    return [column.title for column in view.columns]


def test_settings_that_all_share_are_in_the_caption():
    """Other systems, of which nothing is known, do not count."""
    _, view = view_of([make_system("one"), make_system("two", mixing="mean"), Output("online")])
    assert [cell.text for cell in column(view, "mixing")] == ["selection", "mean", "-"]
    assert not {"learner", "shards", "tuned on", "features", "epoch"} & {*titles(view)}
    for said in ("learner perceptron", "4 shards", "tuned on train", "features all", "epoch 2 of 2"):
        assert said in view.caption
    assert "mixing" not in view.caption


@pytest.mark.parametrize(("by", "title", "shown"), [("quality", "quality", "0.7500"), ("ter", "TER", "0.75")])
def test_the_score_by_which_epochs_were_chosen(by, title, shown):
    """It has a column of its own on the page, in text and in TSV, unless it is tokenised BLEU."""
    chosen = {"chosen_by": by, "devtest_scores": (0.5, 0.75)}
    systems = [make_system("one", **chosen), Output("online"), make_system("two", **chosen)]
    table = compare_systems([Translations("test", systems, TEXTS, [REFERENCES])], Comparison(trials=20))
    (view,) = table_view(table)
    assert [cell.text for cell in column(view, f"devtest {title}")] == [shown, "-", shown]
    assert f"devtest {title}" in text_table(table)[0]
    names, *rows = (line.split("\t") for line in tsv_table(table))
    assert [row[names.index(f"devtest_{title.lower()}")] for row in rows] == [shown, "-", shown]


def test_a_single_experiment_shares_nothing():
    _, view = view_of([make_system("one")])
    assert {"learner", "shards", "tuned on", "features", "epoch"} <= {*titles(view)}
    assert "difference" not in titles(view)


def test_differences_from_the_baseline():
    # the last one is the best on devtest
    systems, view = view_of([make_system("one"), make_system("two"), make_system("three", (50.0, 51.0))])
    one, *others = column(view, "difference")
    assert (one.text, one.value) == ("baseline", 0)
    for cell, system in zip(others, systems[1:], strict=True):
        assert cell.value == bleu(system).mean - bleu(systems[0]).mean < 0
        assert cell.text == f"{cell.value:+.2f}"
    assert [bool(cell.p) for cell in column(view, "test tokenized BLEU")] == [False, True, True]
    assert all(
        float(cell.p.split()[-1]) == round(bleu(one).p["one"], 2)
        for cell, one in zip(column(view, "test tokenized BLEU")[1:], systems[1:], strict=True)
    )


def settings_of(experiments):
    config = read_config({"experiments": experiments})
    return [make_system(name) for name in config.experiments], settings_table(recorded(config))


def test_settings_varied_in_a_grid_are_columns():
    systems, settings = settings_of({"grid": GRID})
    _, view = view_of(systems, settings)
    assert [cell.value for cell in column(view, "learning_rate")] == [0.1, 0.1, 0.3, 0.3]
    assert [cell.text for cell in column(view, "k_best")] == ["50", "100", "50", "100"]
    # they come before the scores, and are hidden where there is no room
    assert titles(view).index("k_best") < titles(view).index("test tokenized BLEU")
    assert {one.title for one in view.columns if one.is_setting} == {"learning_rate", "k_best"}


def test_varied_settings_tell_more_than_other_columns():
    """A key that all experiments do not have, or that goes with another column, is left out."""
    experiments = {
        "one": {"learner": {"name": "mira", "c": 0.1}, "k_best": 50},
        "two": {"learner": {"name": "adagrad"}, "k_best": 100},
    }
    systems, settings = settings_of(experiments)
    learners = [
        make_system(one.name, learner=name) for one, name in zip(systems, ("mira", "adagrad"), strict=True)
    ]
    _, view = view_of(learners, settings)
    assert [one.title for one in view.columns if one.is_setting] == ["learner"]


def test_no_more_columns_than_fit():
    keys = {"epochs": 10, "k_best": [50, 60], "patience": [3, 4], "seed": [7, 8]}
    systems, settings = settings_of({"grid": {"learner": GRID["learner"], **keys}})
    assert len(systems) == 16
    _, view = view_of(systems, settings)
    assert sum(one.is_setting for one in view.columns) == 3


def test_columns_of_the_table_are_not_replaced_by_keys_that_they_show():
    """The column of features has templates, so it tells apart what the key does not."""
    experiments = {
        "dense": {"features": "dense"},
        "rules": {"templates": ["R"]},
        "shapes": {"templates": ["Shape"]},
    }
    systems, settings = settings_of(experiments)
    shown = ["dense", "R", "Shape"]
    systems = [make_system(one.name, features=text) for one, text in zip(systems, shown, strict=True)]
    _, view = view_of(systems, settings)
    assert [cell.text for cell in column(view, "features")] == shown
    assert [one.title for one in view.columns if one.is_setting] == ["features"]


def test_a_key_does_not_take_the_title_of_another_column():
    systems = [make_system("one"), make_system("two")]
    differing = [("tasks.shards", ["4", "8"]), ("retune.features", ["all", "dense"])]
    _, view = view_of(systems, {"systems": ["one", "two"], "differing": differing})
    assert [one.title for one in view.columns if one.is_setting] == ["retune.features"]
    assert [cell.text for cell in column(view, "retune.features")] == ["all", "dense"]
