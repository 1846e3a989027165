"""Stating a value that `itersel config show` shows changes no job, so Snakemake runs nothing again."""

import functools
import inspect
import itertools
import json
import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.configs import BY_QUALITY, FILES, LISTED, LISTS, WITH_QUALITY, experiment, lists, scores
from tests.unit.test_config_defaults import configs, read_or_skip, with_plugin

from itersel.config.plain import plain
from itersel.config.reading import read_config
from itersel.plan import Plan

SPLITS = ("train", "dev", "devtest", "test")
# The number of values of a generated config that are stated, one at a time; all would take a minute.
STATED = 3
# The parts of the plan as rules call them.
PARTS = {"texts": "Texts", "divisions": "Divisions", "list_texts": "ListTexts", "files": "Files"}
PARTS |= {"origin": "_ParallelText", "epochs": "Epochs", "tuning": "Tuning", "tables": "Tables"}
PARTS |= {"text_features": "TextFeatureModels", "language_models": "LanguageModels"}
PARTS |= {"choice": "Choice", "rule_counts": "RuleCounts"}


class Wildcards(SimpleNamespace):
    """The wildcards of a job, as Snakemake gives them."""

    def items(self):
        return vars(self).items()


def wildcards_of(plan):
    """Yield the wildcards of some jobs: of the first two experiments and the last, and of all texts."""
    names = list(plan.config.experiments)
    for name in dict.fromkeys((*names[:2], names[-1])):
        one = plan.config.experiments[name]
        shards = {"division": plan.divisions.name(one), "folds": str(plan.language_models.folds(one))}
        shards |= dict.fromkeys(("shard", "file", "piece"), "0")
        for split, epoch in zip(SPLITS, (1, one.epochs, one.epochs, 1), strict=True):
            place = {"experiment": name, "epoch": str(epoch), "split": split, **shards}
            yield Wildcards(**place, stage=f"epoch-{epoch}")
        yield Wildcards(**place, stage="best", iteration="1", fold="0", held_out="dev", test_set="test")
        of_table = {"scored": name, "evaluated": "test", "number": "0", "independent": name.split(".")[0]}
        yield Wildcards(**of_table, model="own", split="test", fetched=next(iter(plan.texts.downloads), ""))


def outcome(function, *arguments):
    """Return what a function returns, or the kind of error if there is no such job."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error)


def is_answer(value):
    """Return whether this is not another part of the plan, or the part of the config that it is made from."""
    return type(value).__name__ not in {
        *PARTS.values(),
        "Plan",
        "_GivenLists",
        "Epoch",
        "Config",
        "Experiment",
    }


@functools.cache
def members(kind):
    """Return the public properties and methods of a class, with the parameters of methods."""
    public = {name: one for name, one in inspect.getmembers(kind) if not name.startswith("_")}
    return {
        name: list(inspect.signature(one).parameters)[1:] if callable(one) else None
        for name, one in public.items()
    }


def asked_of(part, values):
    """Yield name and answer for all that rules may ask a part of the plan, with `values` of parameters."""
    for name, value in vars(part).items():
        if not name.startswith("_"):
            yield name, value

    for name, parameters in members(type(part)).items():
        if parameters is None:
            yield name, outcome(getattr, part, name)
            continue
        choices = itertools.product(*(values[one] for one in parameters))
        answers = [outcome(getattr(part, name), *given) for given in choices]
        # some return a function of wildcards
        yield name, [of_each(one, values["wildcards"]) if inspect.isfunction(one) else one for one in answers]


def of_each(function, jobs):
    return [outcome(function, job) for job in jobs]


def jobs_of(config):
    """Return what Snakemake compares of the jobs of a run, their settings, files and resources, by name."""
    plan = Plan(config)
    jobs, experiments = list(wildcards_of(plan)), plan.config.experiments
    values = {
        "wildcards": jobs,
        "split": SPLITS,
        "test_set": list(plan.texts.test_sets),
        "name": [*list(experiments)[:2], *plan.texts.downloads],
        "names": [list(experiments)],
        "experiment": list(experiments.values()),
        "choice": [],
        "number": [1],
        "division": [plan.divisions.name(one) for one in experiments.values()][:1],
        "folds": [2],
        "shard": [0],
        "fold": [0],
        "direction": ["forward"],
        "column": ["source"],
        "path": ["x"],
        "further": [["target.1", "labels"]],
        "held_out": [plan.texts.held_out],
        "folders": [{"dev": "1"}],
        "sentence_files": [["x.h5"]],
        "decoded": [["lists/x.h5"]],
        "test_sets": [plan.texts.test_sets],
        "files": [plan.tables.system_files],
    }

    parts = [plan, *(one for one in vars(plan).values() if type(one).__module__.startswith("itersel.plan"))]
    parts += [plan.epochs.of(job) for job in jobs if hasattr(job, "epoch")]
    found = {}
    for part in parts:
        kind = type(part).__name__
        for name, answer in asked_of(part, values):
            answers = answer if isinstance(answer, list) else [answer]
            found.setdefault(f"{kind}.{name}", []).append([one for one in answers if is_answer(one)])
    return found


def leaves(content, path=()):
    for name, value in content.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*path, name))
        else:
            yield (*path, name), value


def stated(content, path, value):
    content = json.loads(json.dumps(content))  # a copy in which nothing is shared
    inner = functools.reduce(lambda section, name: section.setdefault(name, {}), path[:-1], content)
    inner[path[-1]] = value
    return content


def check_stated(content, jobs, shown, paths):
    for path in paths:
        again = jobs_of(read_config(stated(content, path, shown[path])))
        assert {name for name in jobs if again[name] != jobs[name]} == set(), path
        assert again.keys() == jobs.keys()


@with_plugin
@given(configs(), st.data())
def test_stating_a_shown_value_changes_no_job(content, data):
    config = read_or_skip(content)
    shown = dict(leaves(plain(config)))
    paths = st.lists(st.sampled_from(sorted(shown)), min_size=1, max_size=STATED, unique=True)
    check_stated(content, jobs_of(config), shown, data.draw(paths))


# With the user's own numbers for lists, and for the translations of a run.
OF_LISTS = lists({"tune_on": "dev"}, devtest=WITH_QUALITY)
OF_LISTS |= {
    "evaluation": {**BY_QUALITY["evaluation"], **scores({"COMET": {"list_numbers": "m"}})["evaluation"]}
}
# with features of their text, whose models are estimated on further text, too
WITH_FEATURES = lists(
    {"tune_on": "dev"}, **{split: LISTED | {"source": "s"} for split in ("train", "dev", "devtest", "test")}
)
WITH_FEATURES |= {
    "text_features": {"groups": ["lexical"], "source": "m", "target": "n", "user_models": ["own.arpa"]}
}
# the default direction may be a feature of the lists
WITH_LINES = lists({"retune": {"tuner": {"name": "line-search"}}})
OF_TEXT = experiment() | scores({"COMET": {"system_numbers": {"a": "m"}}})


@pytest.mark.parametrize(
    "content",
    [experiment(), experiment(tune_on="dev") | {"data": LISTS}, OF_LISTS, WITH_FEATURES, WITH_LINES, OF_TEXT],
)
def test_stating_any_shown_value_of_a_short_config_changes_no_job(content):
    config = read_config(content)
    shown = dict(leaves(plain(config)))
    check_stated(content, jobs_of(config), shown, shown)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("experiments", "a", "learner", "learning_rate"), 0.5),
        (("experiments", "a", "retune", "tuner", "passes"), 7),
        (("experiments", "a", "mixing", "select"), 7),
        (("decoder", "pop_limit"), 7),
        (("decoder", "pieces"), 7),
        (("grammar", "min_gap"), 7),
        (("language_model", "order"), 2),
        (("evaluation", "trials"), 7),
        (("data", "max_length"), 7),
        (("report", "derivations"), 7),
        (("seed",), 7),
    ],
)
def test_another_value_changes_jobs(path, value):
    content = experiment(learner={"name": "adagrad"})
    assert jobs_of(read_config(stated(content, path, value))) != jobs_of(read_config(content))


def test_all_that_rules_ask_the_plan_is_compared(root):
    """There are jobs that get an answer, in one of these runs."""
    runs = [
        experiment(patience=1, epochs=4),
        experiment(tune_on="dev", features="dense", learner={"name": "mert"}),
        experiment(tune_on="dev") | {"data": LISTS},
        experiment() | {"mbr": {"gain": "sentence-bleu"}},
        experiment()
        | {"data": {"folder": "help", "monolingual": "m"}, "language_model": {"open_vocabulary": True}},
        {"experiments": {"a": {"tasks": {"name": "independent", "labels": {"x": 1}}}, "b": {}}}
        | {"data": FILES | {name: {"source": "s", "target": "t", "labels": "k"} for name in SPLITS}},
        experiment() | {"data": FILES | {"dev": {"sacrebleu": "wmt11"}}},
        OF_LISTS,
        WITH_FEATURES,
    ]
    answered = set()
    for content in runs:
        for name, answers in jobs_of(read_config(content)).items():
            if any(not isinstance(one, type) for answer in answers for one in answer):
                answered.add(name)

    rules = "".join(path.read_text() for path in (root / "workflow/rules").glob("*.smk"))
    rules += (root / "Snakefile").read_text()
    parts = "|".join(PARTS)
    asked = {f"{PARTS[part]}.{name}" for part, name in re.findall(rf"\bPLAN\.({parts})\.(\w+)", rules)}
    asked |= {f"Plan.{name}" for name in re.findall(rf"\bPLAN\.(?!(?:{parts})\b)(\w+)", rules)}
    asked |= {f"Epoch.{name}" for name in re.findall(r"epochs\.of\(wildcards\)\.(\w+)", rules)}
    assert len(asked) > 60
    # an epoch is compared by what is asked of it; the config is what is compared
    unanswered = asked - answered - {"Epochs.of", "Plan.config"}
    assert not unanswered, f"add a run of which jobs ask {', '.join(sorted(unanswered))}"
