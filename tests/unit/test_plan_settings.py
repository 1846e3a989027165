"""The settings and options of jobs that the plan makes from the config alone."""

import json
import os
from dataclasses import replace

import pytest
from tests.configs import with_text
from tests.plans import (
    DATA,
    EXPERIMENTS,
    FOLDER,
    FOLLOWED,
    LISTED,
    SELECTED,
    everything,
    job,
    of_help,
    of_lists,
    plan_of,
)

from itersel.config.division import DivideSettings, GivenListDivideSettings
from itersel.config.extraction import ExtractionSettings
from itersel.config.learning_steps import GivenListTrainSettings, MixSettings, TrainSettings, TuneSettings
from itersel.config.list_steps import GivenListSettings, RerankerSettings
from itersel.config.reading import read_config
from itersel.config.report_steps import (
    ChooseSettings,
    CorporaSettings,
    CountSettings,
    ExplainSettings,
    GivenListScaleSettings,
    PatienceSettings,
    ScaleSettings,
    TableSettings,
)
from itersel.config.search import (
    ForestSettings,
    GivenListFeatures,
    KBestSettings,
    Search,
    TranslationSettings,
)
from itersel.config.settings import as_json, read_settings
from itersel.config.text_steps import (
    CompileSettings,
    EstimateSettings,
    HelpSettings,
    PrepareSettings,
    ReferenceSettings,
    SamplerSettings,
    SymmetrizationSettings,
)
from itersel.plan import Plan


def check_settings(kind, made):
    """The plan states every key, so no default of a step fills in what it lacks."""
    assert made == as_json(read_settings(kind, made))


def test_steps_read_their_settings():
    """With the class as which the step reads them."""
    translated = job("patient", stage="epoch-3", split="test", piece=0)
    place = job("selected", epoch=2, stage="epoch-2", shard=0, split="train", division="4")
    plan, lists = everything(), of_lists()
    pieces = job(split="test", division=plan.divisions.of_pieces)
    check_settings(PrepareSettings, plan.texts.prepare_settings(job()))
    check_settings(PrepareSettings, plan.texts.prepare_settings(job(held_out="dev")))
    check_settings(PrepareSettings, of_help().texts.prepare_settings(job()))
    check_settings(HelpSettings, of_help().texts.help_settings)
    check_settings(ReferenceSettings, lists.list_texts.reference_settings)
    check_settings(SamplerSettings, plan.texts.sampler_settings)
    check_settings(SymmetrizationSettings, plan.texts.symmetrization_settings)
    check_settings(EstimateSettings, plan.language_models.estimate_settings)
    check_settings(CompileSettings, plan.language_models.compile_settings)
    check_settings(CountSettings, plan.tables.count_settings)
    check_settings(ExtractionSettings, plan.divisions.grammar(place))
    check_settings(TableSettings, plan.tables.table_settings(job()))
    check_settings(PatienceSettings, plan.choice.patience_settings(job("patient", epoch=2)))
    check_settings(Search, plan.origin.decode_settings(translated))
    check_settings(DivideSettings, plan.divisions.divide_settings(pieces))
    check_settings(CorporaSettings, plan.rule_counts.settings)
    check_settings(ExplainSettings, plan.explain_settings(job()))
    check_settings(GivenListDivideSettings, lists.list_texts.divide_settings(place))
    check_settings(GivenListSettings, lists.list_texts.list_settings(place))
    check_settings(RerankerSettings, lists.list_texts.reranker_settings(place))
    check_settings(GivenListTrainSettings, lists.origin.train_settings(place))
    check_settings(GivenListFeatures, lists.origin.decode_settings(place))
    check_settings(TableSettings, lists.tables.table_settings(job()))
    check_settings(ChooseSettings, lists.choice.choose_settings(place))
    check_settings(CorporaSettings, lists.rule_counts.settings)


def test_minimum_bayes_risk():
    """Systems choose by it, and translations of test sets; those of epochs do not."""
    mbr, best = {"gain": "chrf", "size": 50}, job("a", stage="best-one")
    plan, lists = (plan_of({"a": SELECTED}, mbr=mbr), Plan(read_config(with_text(a={}) | {"mbr": mbr})))
    assert plan.choice.mbr(best) == [f"{FOLDER}/a/best-one/mbr.json"]
    assert plan.choice.mbr(job("a")) == [f"{FOLDER}/a/best/mbr.json"]
    assert plan.choice.mbr(job("a", stage="epoch-2")) == []
    assert everything().choice.mbr(job("patient", stage="best")) == []
    assert json.loads(plan.explain_settings(job()))["has_mbr"]

    check_settings(ScaleSettings, plan.choice.scale_settings(job("a", test_set="one")))
    check_settings(GivenListScaleSettings, lists.choice.scale_settings(job("a")))
    found = json.loads(plan.choice.scale_settings(job("a", test_set="one")))
    assert found["devtest"] == "devtest.one"
    assert found["mbr"] == {**mbr, "scale": None}
    stated = plan_of({"a": SELECTED}, mbr={**mbr, "scale": 0.5})
    assert json.loads(stated.choice.scale_settings(job("a")))["mbr"] == {**mbr, "scale": 0.5}
    assert plan.choice.devtest_pieces(job("a", test_set="one")) == ["out/x/sentences/devtest.one/1/0.h5"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_steps_read_the_settings_of_every_experiment(name):
    plan, place = everything(), job(name, epoch=2, shard=0)
    check_settings(ChooseSettings, plan.choice.choose_settings(place))
    check_settings(TranslationSettings, plan.choice.resource_settings(place))
    if name not in plan.epochs.batch:
        check_settings(TrainSettings, plan.origin.train_settings(place))
        check_settings(MixSettings, plan.epochs.mix_settings(place))
    if name not in plan.epochs.mixed:
        kind = ForestSettings if plan.tuning.step(place) == "forest" else KBestSettings
        check_settings(kind, plan.tuning.decoding_settings(place))
        check_settings(TuneSettings, plan.tuning.tune_settings(place))


def test_rerankers_need_what_their_features_need():
    """Without sparse features, no templates; a model only if a group of dense features needs one."""
    texts = {split: {**LISTED, "source": "s"} for split in ("train", "dev", "devtest", "test")}
    data = {"kind": "lists", "source_language": "de", "target_language": "en", "dense_names": ["LM"], **texts}
    tuned = {"tune_on": "dev", "features": "dense", "learner": {"name": "pro"}}
    tasks = {"name": "random", "shards": 4}
    both = {"selected": {**SELECTED, "tasks": tasks, "retune": {"tuner": {"name": "mert"}}}, "tuned": tuned}
    for groups, needing in ((["length"], ["selected"]), (["length", "lexical"], ["selected", "tuned"])):
        plan = plan_of(both, data, text_features={"groups": groups, "templates": ["Lex"], "minimum_count": 3})
        for name in both:
            made = json.loads(plan.list_texts.reranker_settings(job(name)))
            assert made["lists"]["templates"] == (["Lex"] if name == "selected" else [])
            assert (made["lists"]["groups"], made["dense_names"]) == (groups, ["LM"])
            assert made["lists"]["minimum_count"] == 1
            models = plan.text_features.text_models_of_system(job(name))
            assert bool(models) == (name in needing) == bool(plan.text_features.aligners_of_system(job(name)))
        assert plan.list_texts.reranking_options("test") == ["--source", "s", "--nbest", "l's"]
        assert "/dev/1/text" in plan.list_texts.learned_lists(job("tuned"))
        assert "/train/4/text" in plan.list_texts.learned_lists(job("selected"))


def test_all_steps_of_an_experiment_search_in_the_same_way():
    """In training, tuning and testing, and to choose a scale."""
    grammar, decoder = {"max_span": 9, "templates": ["RBS", "Lex"]}, {"pop_limit": 70}
    mbr = {"gain": "chrf"}
    plan = plan_of({"a": {"templates": ["Lex"]}}, grammar=grammar, decoder=decoder, mbr=mbr)
    place = job(epoch=1, shard=0)
    expected = {"features": "all", "templates": ["Lex"], "pop_limit": 70, "max_span": 9}
    for settings in (
        plan.origin.train_settings,
        plan.origin.decode_settings,
        plan.tuning.decoding_settings,
        plan.choice.scale_settings,
    ):
        found = json.loads(settings(place))
        assert {key: found[key] for key in expected} == expected


def test_templates_of_an_experiment():
    """Settings of all steps name those that it uses, in the same order whatever is stated."""
    every, some = ["RBS", "Lex"], ["Lex"]
    experiments = {"unstated": {}, "every": {"templates": every[::-1]}, "some": {"templates": some}}
    experiments["none"] = {"features": "dense"}
    plan = plan_of(experiments, grammar={"templates": every})
    for name, expected in (("unstated", every), ("every", every), ("some", some), ("none", [])):
        place = job(name, epoch=1, shard=0)
        chosen = json.loads(plan.choice.choose_settings(place))
        assert chosen["experiment"]["templates"] == expected
        assert chosen["available_templates"] == every
        for settings in (
            plan.origin.train_settings,
            plan.origin.decode_settings,
            plan.tuning.decoding_settings,
        ):
            assert json.loads(settings(place))["templates"] == expected


def test_templates_of_an_experiment_on_lists():
    """They are a choice among those of the lists, so experiments with different ones read the same lists."""
    experiments = {"a": {"templates": ["Ngram2"]}, "every": {}, "none": {"templates": []}}
    tuned = {"tune_on": "dev", "learner": {"name": "pro"}, "templates": ["Ngram1"]}
    plan = Plan(read_config(with_text(**experiments, tuned=tuned)))
    both = ["Ngram1", "Ngram2"]
    for name, used, left_out in (("a", ["Ngram2"], ["Ngram1"]), ("every", both, []), ("none", [], both)):
        for settings in (plan.origin.train_settings, plan.origin.decode_settings):
            assert json.loads(settings(job(name, epoch=1, shard=0)))["left_out_templates"] == left_out
        assert json.loads(plan.list_texts.reranker_settings(job(name)))["lists"]["templates"] == used
    found = json.loads(plan.tuning.tune_settings(job("tuned", epoch=1)))
    assert found["left_out_templates"] == ["Ngram2"]
    assert plan.list_texts.list_settings(job(split="dev")).count("Ngram") == 2


def test_the_source_is_named_for_features_of_text():
    assert of_lists().list_texts.reranking_options("test.new") == ["--nbest", "l's"]


def test_values_that_begin_with_a_dash():
    """They are neither options nor standard input."""
    plan = plan_of({"a": SELECTED}, DATA | {"dev": {"source": "-n 'é.de", "target": "-"}}, output="-out")
    assert plan.files.results.startswith("/")
    source, target = plan.texts.raw_files("dev")
    assert (os.path.relpath(source), os.path.relpath(target)) == ("-n 'é.de", "-")
    assert source.startswith("/")
    assert target.startswith("/")


def test_keys_of_an_experiment_win():
    """Its seed and the size of its lists."""
    for name, seed, k_best in (("limited", 9, 7), ("mira", 1, 100)):
        made = json.loads(everything().origin.train_settings(job(name)))
        assert (made["seed"], made["k_best"]) == (seed, k_best)
    assert json.loads(everything().tuning.tune_settings(job("pro", epoch=1)))["seed"] == 9


def test_a_resolved_config_is_final():
    """Nothing is looked up again in the keys whose values it has filled in."""
    decoder = replace(everything().config.decoder, k_best=33)
    changed = Plan(replace(everything().config, seed=99, decoder=decoder))
    for name in EXPERIMENTS:
        place = job(name, epoch=1, shard=0)
        if name not in everything().epochs.batch:
            assert changed.origin.train_settings(place) == everything().origin.train_settings(place)
        if name not in everything().epochs.mixed:
            assert changed.tuning.decoding_settings(place) == everything().tuning.decoding_settings(place)
            assert changed.tuning.tune_settings(place) == everything().tuning.tune_settings(place)
    assert changed.origin.sizes().tuned == everything().origin.sizes().tuned
    # forests have no size of lists
    assert everything().config.experiments["forest-mert"].k_best is None
    only = {"forest-mert": everything().config.experiments["forest-mert"]}
    sizes = [Plan(replace(plan.config, experiments=only)).origin.sizes() for plan in (everything(), changed)]
    assert sizes[0] == sizes[1]


def test_settings_of_tuning():
    """Forests for tuning on dev after mixing have all features; the tuner sums the sparse ones."""
    search = {"pop_limit": 200, "max_span": 15}
    for name, step, features, templates, more in (
        ("part", "forest", "all", ["R", "RBS"], {"forest_density": 50}),
        ("forest-mert", "forest", "dense", [], {"forest_density": 50}),
        ("mert", "kbest", "dense", [], {"k_best": 100}),
    ):
        search["templates"] = templates
        place = job(name, epoch=1, shard=0)
        assert everything().tuning.step(place) == step
        assert json.loads(everything().tuning.decoding_settings(place)) == {
            "features": features,
            **search,
            **more,
        }
        assert json.loads(everything().tuning.tune_settings(place))["retune"] == (name == "part")
    second = job("mert", epoch=2)
    tuner = {"name": "mert", "random_directions": 12, "restarts": 5}
    assert json.loads(everything().tuning.tune_settings(second)) == {
        **{"tuner": tuner, "files": 1, "seed": 9, "features": features, "retune": False},
        "left_out_templates": [],
    }
    assert (everything().tuning.iteration(second), everything().tuning.start_of_iteration(second)) == (
        2,
        [f"{FOLDER}/mert/epoch-1/weights.h5"],
    )


def test_settings_of_mixing():
    keep = ["dense", "RBT:,_it's"]
    kept = {"mixing": {"name": "selection", "relative_threshold": 0.25, "norm": "l0", "keep": keep}}
    path = {"mixing": FOLLOWED, "learner": {"name": "mira"}, "epochs": 2}
    mean = {"algorithm": "mixsgd", "epochs": 2}
    plan = plan_of({"default": {}, "kept": kept, "mean": mean, "path": path})
    unlimited = {"select": None, "threshold": None, "relative_threshold": None}
    selection = {"name": "selection", **unlimited, "norm": "l2", "keep": []}
    followed = {"name": "path-following", "first_threshold": 1.0, "epsilon": 5.0, "minimum_threshold": 0.01}
    for name, mixing in (
        ("default", {**selection, "select": 100_000}),
        ("kept", {**selection, "relative_threshold": 0.25, "norm": "l0", "keep": keep}),
        ("mean", {"name": "mean-of-epochs"}),
        ("path", {**followed, "norm": "l2", "keep": []}),
    ):
        assert json.loads(plan.epochs.mix_settings(job(name))) == {"mixing": mixing, "shards": 1}
        before = [f"{FOLDER}/{name}/epoch-1/weights.h5"] if name in ("mean", "path") else []
        assert plan.epochs.of(job(name, epoch=2)).mixed_before == before
        measured = json.loads(plan.origin.train_settings(job(name)))["measure_loss"]
        assert measured == (name == "path")
    weights = f"{FOLDER}/path/epoch-1/weights.h5"
    assert plan.epochs.start_of_shard(job("path", epoch=2, shard=0)) == [weights]


def test_quality_of_each_devtest():
    """Epochs are chosen by the numbers of devtest or, for a test set with its own, of that one."""
    text = {"lists": ["l", "m"], "target": "t"}
    of_devtest, of_own = {**text, "quality": "q"}, {"lists": "n", "target": "t", "quality": "r"}
    tests = {"one": {**text, "devtest": of_own}, "two": text}
    data = {"kind": "lists", **dict.fromkeys(("train", "dev"), text), "devtest": of_devtest, "test": tests}
    lists = plan_of({"a": {}}, data, evaluation={"choose_by": "quality"}).list_texts
    asked = lists.devtest_lists, lists.named_devtest_lists, lists.devtest_quality
    assert [ask(job("a")) for ask in asked] == [["l", "m"], ["l", "m"], ["q"]]
    assert [ask(job("a", test_set="one")) for ask in asked] == [["n"], ["n"], ["r"]]
    otherwise = plan_of(
        {"a": {}}, {**data, "devtest": text, "test": {"one": {**text, "devtest": text}}}
    ).list_texts
    for ask in (otherwise.devtest_lists, otherwise.named_devtest_lists, otherwise.devtest_quality):
        assert ask(job("a")) == []


def test_numbers_of_several_test_sets():
    """Files are given in the order of the test sets; the lists are those of each."""
    texts = {name: {"lists": f"{name}.lists", "target": "t"} for name in ("one", "two")}
    text = {"lists": "l", "target": "t"}
    data = {"kind": "lists", **dict.fromkeys(("train", "dev", "devtest"), text), "test": texts}
    scores = {"COMET": {"list_numbers": ["x", "y"], "system_numbers": {"online": ["v", "w"]}}}
    evaluation = {"outputs": {"online": ["o", "p"]}, "user_scores": scores}
    tables = plan_of({"a": {}}, data, evaluation=evaluation).tables
    found = json.loads(tables.table_settings(job()))["test_sets"]
    assert [found[name]["lists"] for name in texts] == [["one.lists"], ["two.lists"]]
    assert [found[name]["user_scores"]["COMET"] for name in texts] == [
        {"list_numbers": "x", "system_numbers": {"online": "v"}},
        {"list_numbers": "y", "system_numbers": {"online": "w"}},
    ]
    assert set(tables.score_files) == {"one.lists", "two.lists", *"xyvw"}


def test_models_of_features_of_text_have_not_seen_the_file():
    """Those of a fold leave out every N-th file; other texts are scored by the models of all text."""
    text = {"lists": "l", "target": "t", "source": "s"}
    data = {"kind": "lists", **dict.fromkeys(("train", "dev", "devtest", "test"), text)}
    experiments = {"a": {"tasks": {"name": "random", "shards": 5}}}
    plan = plan_of(experiments, data, text_features={"groups": ["lexical"], "folds": 3})
    found = plan.text_features
    folder = "out/x/text-features"
    for file in range(5):
        place = job(split="train", division="5", file=str(file))
        [models] = found.text_models(place)
        assert models == f"{folder}/5/3-folds/{file % 3}"
    assert found.text_models(job(split="dev", division="1", file="0")) == [f"{folder}/all"]
    assert found.text_models(job(split="train", division="1", file="0")) == [f"{folder}/all"]
