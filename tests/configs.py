"""Parts of configs; valid configs, and invalid ones with their messages."""

import functools

import jsonschema

from itersel.config.rendering import json_schema

PAIR = {"source": "s", "target": "t"}
FILES = {"kind": "files", **dict.fromkeys(("train", "dev", "devtest", "test"), PAIR)}
LISTED = {"lists": "l", "target": "t"}
LISTS = {"kind": "lists", **dict.fromkeys(("train", "dev", "devtest", "test"), LISTED)}


def experiment(**settings):
    return {"experiments": {"a": settings}}


def experiments(**settings):
    return {"experiments": settings}


def learner(name, **settings):
    return experiment(learner={"name": name, **settings})


def mixing(name, **settings):
    return experiment(mixing={"name": name, **settings})


def tasks(name="random", **settings):
    return experiment(tasks={"name": name, **settings})


def data(**keys):
    return experiment() | {"data": keys}


def files(**keys):
    return data(**FILES | keys)


def lists(settings=None, **keys):
    """Return a config with lists, with other settings of its experiment or keys of data."""
    return experiment(**(settings or {})) | {"data": LISTS | keys}


def train(**keys):
    return files(train=keys)


@functools.cache
def schema():
    kind = jsonschema.validators.validator_for(json_schema())
    kind.check_schema(json_schema())
    return kind(json_schema())


ALIGNED = {**FILES, "tokenized": True, "train": {**PAIR, "alignment": "x"}}
LINE = {"tuner": {"name": "line-search"}}
PATH = {"name": "path-following", "threshold": 1, "epsilon": 1}
OWN = {"name": "independent", "labels": {"x": 1}}
INDEPENDENT = experiment(tasks=OWN)
JSON_LABELLED = {"file": "a.jsonl", "fields": {"source": "s", "target": "t", "task": "d"}}
LABELLED = {**PAIR, "task": "labels"}
KEEP_R = {"name": "selection", "keep": ["R"]}
TUNED = {**LINE, "start": "tuned"}
FOLDS = {"shards": 2, "language_model_folds": 2}
RESHARDING = {"name": "resharding"}
NATURAL = {"name": "natural", "labels": {"x": 1}}


def directions(names, tuner="line-search", **settings):
    return experiment(held_out={"tuner": {"name": tuner, "directions": names}}, **settings)


def outputs(value):
    return experiment() | {"evaluation": {"outputs": value}}


GOOD = [
    experiment() | {"evaluation": {"choose_by": "chrF++"}},
    experiment() | {"evaluation": {"choose_by": "lowercased-TER"}},
    experiment(),
    experiment(algorithm="sgd", tune_on="dev", features="dense", epochs=1),
    learner("perceptron", learning_rate=1),
    mixing("selection", select=None, threshold=0),
    mixing("selection", norm="linf"),
    tasks(shards=4, language_model_folds=4),
    experiment(algorithm="mixsgd", mixing={"name": "mean-of-epochs"}),
    experiment(learner={"name": "mira", "c": 0.1}, mixing={"name": "none"}, tune_on="dev"),
    learner("adagrad", average=True),
    files(monolingual="m"),
    files(test={"a": PAIR, "b-2": PAIR}),
    data(test={"a": {**PAIR, "devtest": PAIR}}),
    experiments(a={"tasks": OWN}, c={})
    | {"data": FILES | dict.fromkeys(("train", "dev", "devtest", "test"), JSON_LABELLED)},
    data(modules=["a"], held_out_modules=["b"], max_ratio=1),
    {
        **tasks("natural", labels={"news": 1, "law": 2}),
        "data": {
            **FILES,
            "train": {
                "news": {"source": ["a", "b.xz"], "target": ["c", "d"], "task": ["e", "f"]},
                "law": {"file": ["a.tsv", "b.tmx.zst"], "columns": {"source": 2, "target": 1}},
                "talks": {"mtdata": "Statmt-europarl-7-deu-eng"},
            },
            "dev": {"file": "dev.tsv.gz", "columns": {"task": 3}},
            "test": {"a": {"sacrebleu": "wmt11"}, "b": {"mtdata": ["a-b-1-deu-eng"]}},
            "monolingual": ["m", "n"],
        },
    },
    tasks("natural", labels={"swriter": 2, "scalc": 1}, others="join", minimum=9),
    {**experiment(templates=["Lex", "R"]), "grammar": {"templates": ["R", "Lex", "Count"]}},
    {**experiment(), "data": ALIGNED, "align": {"symmetrization": "grow-diag-final-and"}},
    {**experiment(algorithm="sgd"), "language_model": {"arpa": "x", "open_vocabulary": False}},
    {"experiments": {"a-b.c_1": {}, "d": {"mixing": {"name": "selection", "threshold": 0.5}}}},
]

# Errors that the schema also finds: the config, and text that the message must contain.
BAD = [
    (experiment() | {"sed": 1}, "unknown key 'sed'"),
    (experiment(epochs=0), "epochs' is 0, must be at least 1"),
    (experiment(epochs=1.5), "epochs' must be a whole number, not 1.5"),
    (experiment(epochs=True), "epochs' must be a whole number, not true"),
    (experiment(epochs="3"), "epochs' must be a whole number, not '3'"),
    (learner("perceptron", learning_rate=0), "learner.learning_rate' is 0.0, must be above 0"),
    (learner("perceptron", learning_rate="1e-4"), "YAML reads 1e-4 as text, write 0.0001"),
    (tasks(shards=100001), "must be at most 100000"),
    (mixing("selection", norm="l3"), "mixing.norm' is 'l3', must be one of l0, l1, l2, linf"),
    (mixing("selection", norm=None), "mixing.norm' must be text, not null"),
    ({"experiments": {"a/b": {}}}, "'experiments.a/b'"),
    ({"experiments": {}}, "'experiments' is missing or empty"),
    ({"experiments": []}, "'experiments' must contain"),
    ({}, "'experiments' is missing or empty"),
    (experiment() | {"grammar": {"templates": ["RBX"]}}, "'grammar.templates' is 'RBX', must be one of R"),
    (experiment(templates="R"), "templates' must be a list"),
    (learner("perceptron", learning_rate="1.2.3e5"), "learner.learning_rate' must be a number"),
    (learner("perceptron", learning_rate="1e999"), "learner.learning_rate' must be a number, not '1e999'"),
    (experiment() | {"output": "a{b}"}, "'output' is 'a{b}', must be a path without control characters"),
    ({"experiments": {"reference.0": {}}}, "'experiments.reference.0': the name of an experiment"),
    (outputs({"reference.0": "x"}), "'evaluation.outputs.reference.0': the name of another system"),
    (outputs({"b": 5}), "'evaluation.outputs.b' must be text or a list of text, not 5"),
    (outputs({"b": ["{x"]}), "'evaluation.outputs.b' is '{x', must be a path"),
    (outputs({}), "'evaluation.outputs' must contain 'name: file' lines"),
    (experiment() | {"cache": ""}, "'cache' is '', must be a path"),
    (experiment() | {"name": "../x"}, "'name' is '../x', must be"),
    (experiment() | {"decoder": {"k_best": 1}}, "'decoder.k_best' is 1, must be at least 2"),
    ([1], "config file must contain"),
    (learner("pro", passes=2), "does not apply to learner pro, only to kbest-mira"),
    (directions(["step"], "mert"), "held_out.tuner.directions' must be a whole number"),
    (experiment(held_out={"tuner": {"name": "perceptron"}}), "must be one of none, line-search, pro"),
    (experiment(learner="mira"), "learner' must contain 'name: ...', not 'mira'"),
    (learner("mert2"), "learner.name' is 'mert2', must be one of perceptron"),
    (learner(["x"]), "learner.name' is"),
    (learner("perceptron", c=1), "learner.c' does not apply to learner perceptron, only to mira"),
    (learner("perceptron", x=1), "unknown key 'experiments.a.learner.x'; known keys: bleu, average"),
    (experiment(shards=3), "shards' belongs to tasks: random"),
    # data
    (data(max_length=2**53 + 1), "'data.max_length' is 9007199254740993, must be at"),
    (data(test="x"), "'data.test' must contain files, or test sets by name, not 'x'"),
    (data(test={"a.b": {}}), "'data.test.a.b': the name of a test set may contain"),
    (data(test={"a": {"target": 5}}), "must be text or a list of text, not 5"),
    (data(test={"a": {}, "devtest": {}}), "must not be one of pooled, source, target, file, columns, fields"),
    (data(test={"a": {"target": ["{x"]}}), "'data.test.a.target' is '{x', must be a"),
    (data(dev={"source": ["x", "y"]}), "'data.dev.source' must be text, not a list: only data.train may"),
    (data(dev={"target": ["x", 5]}), "'data.dev.target' must be text, not 5"),
    (data(train=[]), "'data.train' must contain files, or corpora by name, not []"),
    (data(train={"a": {"source": "s"}, "file": {}}), "'data.train.file': the name of a corpus may contain"),
    (data(train={"a": {"sauce": "s"}}), "unknown key 'data.train.a.sauce'"),
    (data(train={"a": {}, "b/c": {}}), "'data.train.b/c': the name of a corpus"),
    (data(source_language="x y"), "'data.source_language' is 'x y', must be"),
    # tasks
    (tasks("tasks"), "tasks.name' is 'tasks', must be one of random, resharding, n"),
    (tasks("natural", shards=2), "tasks.shards' does not apply to tasks natural"),
    (tasks(labels={"x": 1}), "tasks.labels' does not apply to tasks random, only to natural, independent"),
    (tasks("natural", labels=["x"]), "tasks.labels' must contain 'name: num"),
    (tasks("natural", labels={}), "tasks.labels' must contain 'name: number'"),
    (tasks("natural", labels={"x": 0}), "tasks.labels.x' is 0, must be at least 1"),
    (tasks("natural", labels={"a b": 1}), "tasks.labels.a b': a label is one word"),
    (tasks("natural", labels={"-a": 1}), "does not begin with '-'"),
    (tasks("pooled-cat", labels=["a b"]), "tasks.labels': a label is one word"),
    (tasks("pooled", labels=[7]), "tasks.labels': a label must be text, not 7; put it in quotes"),
    (tasks("resharding", parts=1), "tasks.parts' is 1, must be at least 2"),
    (experiment(tasks={"shards": 0}), "tasks.shards' is 0, must be at least 1"),
]  # fmt: skip

# Errors in combinations of keys, which the schema does not see.
INCONSISTENT = [
    (experiment(mixing=KEEP_R, features="dense"), "is 'R', must be dense or the name of a dense feature"),
    (experiments(a={"start_from": "b"}, b={"tasks": OWN}), "is 'b', must be an experiment with one weight v"),
    (experiments(a={"tasks": OWN}, b={"tasks": {"name": "independent", "labels": {"y": 1}}}, c={}),
     "'experiments.b.tasks.labels' differ from those of 'a'; independent tasks must be the same"),
    ({"experiments": {"a.task-x": {}}}, "task-x': names like this are reserved for independent"),
    (experiment() | {"grammar": {"templates": ["R", "R"]}}, "'grammar.templates': 'R' is listed twice"),
    (experiment(templates=["Lex"]), "templates': 'Lex' is not in grammar.templates; add it"),
    (experiment(templates=["R", "R"]), "templates': 'R' is listed twice"),
    (experiment(templates=["R"], features="dense"), "templates' has no effect with features: d"),
    (experiments(a={"start_from": "b", "templates": ["R", "RBS"]}, b={}),
     "'b' has weights of templates RBT, Shape, which this experiment does not use"),
    (experiment(tune_on="dev", held_out={"iterations": 2}), "held_out.iterations' has no effect without"),
    (experiment(start_from="b"), "start_from' is 'b', must be one of"),
    (experiments(a={"start_from": "b"}, b={"start_from": "a"}), "start_from' is circular: a, b, a"),
    (experiments(a={"start_from": "b", "features": "dense"}, b={}), "start_from': 'b' has features: all"),
    ({"experiments": {"a.repeat-1": {}}}, "repeat-1': names like this"),
    (outputs({"a": "x"}), "'evaluation.outputs.a': an experiment has this name; choose another"),
    (outputs({"a.repeat-2": "x"}), "'evaluation.outputs.a.repeat-2': an experiment has this name"),
    (outputs({"b": ["x", "y"]}), "outputs.b' names 2 files; give one for each test set (test)"),
    (experiment(tune_on="dev", features="dense", k_best=9, learner={"name": "forest-mert"}),
     "k_best' has no effect with forests"),
    (experiment(seed=2**31 - 2, repeats=3), "repeats' is 3: the last seed would be"),
    (experiment(algorithm="sgd", tasks={"shards": 2}), "tasks.shards' is 2, must be 1 with algorithm: sgd"),
    (experiment(mixing={"name": "none"}, tasks={"shards": 2}), "must be 1 with mixing: {name: none}"),
    (experiment(algorithm="mixsgd", mixing=KEEP_R),
     "is selection, but algorithm: mixsgd implies mixing mean"),
    (mixing("selection", select=5, threshold=0.1), "combined with 'select'"),
    (mixing("selection", threshold=0.1, relative_threshold=0.1), "relative_threshold' cannot be combined"),
    (mixing("path-following", threshold=1, epsilon=1, minimum=2), "mixing.minimum' is 2.0, must be at most"),
    (mixing("selection", keep=["RBT:"]), "mixing.keep' is 'RBT:', must be dense"),
    (mixing("path-following", epsilon=1), "mixing.threshold' is missing; see path-following"),
    (mixing("path-following", threshold=1), "mixing.epsilon' is missing"),
    (experiment(mixing=PATH, learner={"name": "perceptron"}),
     "is perceptron, whose loss is 0 if all weights"),
    (experiment(epochs=3, patience=2), "patience' is 2, has no effect with epochs: 3; raise epochs, or"),
    (experiment(mixing=PATH, learner={"name": "mira"}, held_out=TUNED),
     "path following compares the losses of mixed weights"),
    (mixing("selection", keep=["WordPenalties"]), "mixing.keep' is 'WordPenalties', must be dense"),
    (experiment() | {"grammar": {"templates": []}}, "is empty, but experiment 'a' has features: all"),
    (experiment(mixing=KEEP_R, templates=["RBS"]), "is 'R', must be dense, a template (RBS), or"),
    (tasks(shards=2, language_model_folds=3), "language_model_folds' is 3, must be at most 2, its shards"),
    (experiment(tune_on="dev", tasks=FOLDS), "folds' needs tune_on: train"),
    (experiment(tasks=FOLDS) | {"language_model": {"arpa": "x"}},
     "tasks.language_model_folds' has no effect with language_model.arpa"),
    (experiment() | {"language_model": {"arpa": "x", "open_vocabulary": True}}, "'language_model.open"),
    (experiment() | {"data": ALIGNED, "align": {"symmetrization": "union"}}, "'align.symmetrization' has no"),
    (learner("perceptron", regularization="l1", strength=0.1, schedule="1/t"),
     "learner.schedule' is 1/t, must be constant with regularization l1"),
    (learner("perceptron", regularization="l2"), "learner.strength' is 0, must be above 0"),
    (learner("perceptron", strength=0.1), "learner.strength' has no effect without regularization; remove"),
    (learner("mira", constraints="all", fear="prediction"), "learner.fear' has no effect with constraints"),
    (learner("mert"), "features' is all, must be dense with learner mert"),
    (experiment(learner={"name": "pro"}, algorithm="itersel"), "learner pro has nothing to mix; remove it"),
    (experiment(learner={"name": "kbest-mira"}, mixing={"name": "mean"}),
     "mixing.name' is mean, but learner kbest-mira tunes one weight vector"),
    (experiment(held_out=LINE, tune_on="dev"), "held_out.tuner' needs tune_on: train"),
    (experiment(tune_on="train", held_out=LINE, learner={"name": "pro"}), "but a batch tuner mixes nothing"),
    (experiment(tune_on="dev", held_out={"start": "tuned"}), "held_out.start' has no effect without"),
    (experiment(held_out=TUNED, mixing={"name": "mean-of-epochs"}),
     "with mixing mean-of-epochs shards continue from their own weights"),
    (directions(["Words"]), "held_out.tuner.directions' is 'Words', must be one of dense, step, EgivenF"),
    (directions([]), "held_out.tuner.directions' is empty; name at least one"),
    (directions(["step", "dense", "step"]), "held_out.tuner.directions': 'step' is listed twice; remove one"),
    (directions(["WordPenalty", "dense"]), "held_out.tuner.directions': dense includes 'WordPenalty'"),
    (directions(["dense", "step"], epochs=1), "held_out.tuner.directions': step has no effect with epochs"),
    (experiment(epochs=1, held_out=TUNED), "held_out.start' has no effect with epochs: 1; remove it"),
    # data
    (data(test={2016: {}}), "'data.test.2016': the name of a test set must be text, not 2016; put it"),
    (train(source=["a", "b"], target="c"), "'data.train.target' has 1 file, but 'data.train.source' has 2"),
    (train(**PAIR, file="a.tsv"), "'data.train.source' cannot be combined with 'data.train.file'; remove"),
    (train(file="a.txt"), "'data.train.file' is 'a.txt', must be a file whose name ends in .tsv, .csv, .tmx"),
    (files(split={"dev": 5}), "'data.dev' names files, but data.split.dev cuts it from train; remove one"),
    (data(split={"dev": 5}), "'data.split' needs data.kind: files"),
    (files(test={"test": PAIR}, split={"test": 5}), "'data.test': 'test' is the test set taken from train"),
    (files(protected=["(a)"]), "'(a)' has a group"),
    (files(protected=["a"], tokenized=True), "'data.protected' has no effect with data.tokenized"),
    (train(source="a.po", target="b.po"), "'data.train.source' names a.po, which is not plain text"),
    (train(file="a.po", fields={"task": "x"}), "catalogues have only the field msgctxt, for task"),
    (train(file="a.jsonl", fields={"source": "x"}), "'data.train.fields': give both source and target"),
    (train(file="a.csv", fields={"source": "x,y", "target": "z"}), "'x,y' has a comma"),
    (train(file="a.tmx", fields={"source": "x", "target": "y"}), "fields' needs a file of .csv, .jsonl"),
    (train(file="a.csv", columns={"task": 3}, fields={"source": "x", "target": "y"}),
     "'data.train.columns' has no effect with 'data.train.fields'"),
    (train(file="a.tmx", columns={"source": 3}), "'data.train.columns' needs a file of .tsv, .csv"),
    (train(file="a.tsv", columns={"source": 2}), "source and target are the same column, 2"),
    (train(file=["a.tsv", "b.tmx"], columns={"task": 3}), "columns.task': b.tmx has no labels"),
    (train(file="a.tsv", task="x"), "'data.train.task' needs source and target, it has no effect with file"),
    (train(mtdata="europarl"), "'data.train.mtdata' is 'europarl', must be an ID as in `mtdata list`"),
    (train(mtdata=["a-b-1-deu-eng"] * 2), "'data.train.mtdata': 'a-b-1-deu-eng' is listed twice"),
    (train(a={"file": "a.tsv"}, b={"source": "s"}), "'data.train.b.target' is missing; data.kind: files"),
    (files(train={"a": {**PAIR, "alignment": "x"}, "b": {"file": "b.tsv"}}, tokenized=True),
     "'data.train.b.alignment' is missing, but 'data.train.a' has one"),
    (files(dev={"sacrebleu": "wmt11x"}), "'data.dev.sacrebleu': sacrebleu has no test set 'wmt11x' (did"),
    (files(dev={"sacrebleu": "wmt11"}, source_language="sw"), "'wmt11' is not in sw-en-us; it is in cs-en"),
    (files(dev={"sacrebleu": "wmt11", "target": "t"}), "'data.dev.target' cannot be combined with"),
    (data(dev={"sacrebleu": "wmt11"}), "'data.dev.sacrebleu' needs data.kind: files"),
    (data(train={"a": {"file": "x.tsv"}}), "'data.train.a.file' needs data.kind"),
    (data(kind="files"), "'data.train.source' is missing"),
    (files(folder="x"), "'data.folder' needs"),
    (files(test={}), "'data.test.source' is missing"),
    (files(test={"news": {"source": "s"}}), "'data.test.news.target' is missing; a test set needs source"),
    (data(test={"news": {**PAIR, "devtest": {"target": "t"}}}), "news.devtest.source' is missing"),
    (files(test={**PAIR, "devtest": PAIR}), "'data.test.devtest' needs a named test set; use data.devtest"),
    (data(test={"sbasic": PAIR}, held_out_modules=["sbasic"]), "two test sets are named 'sbasic'"),
    (data(held_out_modules=["test"]), "'data.held_out_modules': 'test' is the test set"),
    (data(held_out_modules=["a", "a"]), "two test sets are named 'a'"),
    (data(held_out_modules=["a/b"]), "'data.held_out_modules' is 'a/b', must be a n"),
    (data(test={"test": PAIR}), "'data.test': 'test' is the test set taken from the help"),
    (data(modules=["a", "b"], held_out_modules=["b"]), "'data.held_out_modules': 'b' is in data.modules"),
    (train(**PAIR, alignment="x"), "needs data.tokenized: true"),
    (experiment() | {"language_model": {"arpa": "x"}, "data": {"monolingual": "y"}}, "'data.monolingual'"),
    (experiment(learner={"c": 1}), "learner.c' does not apply to learner adagrad, only to mira"),
    (experiment(tasks={"labels": {"x": 1}}), "tasks.labels' does not apply to tasks resharding, only to"),
    # tasks
    (tasks("natural", labels={2016: 1}), "labels.2016': a label must be text, not 2016; put it in quotes"),
    (experiment(algorithm="sgd", tasks={"name": "natural", "labels": {"x": 2}}),
     "' makes 2 shards, must make 1"),
    (tasks("natural"), "tasks.labels' is missing; name the tasks, each"),
    (tasks("pooled"), "tasks.labels' is missing; name the tasks"),
    (tasks("pooled", labels=["x", "y", "x"]), "tasks.labels': 'x' is listed twice; remove one"),
    (experiment(tasks=RESHARDING, learner={"name": "adagrad"}, mixing=PATH),
     "learner.pairs' is pro, which samples other pairs when a sentence moves to another"),
    (INDEPENDENT | {"data": {"test": {"news": {**PAIR, "devtest": PAIR}}}},
     "'data.test.news.devtest' has no effect with independent tasks"),
    (tasks("resharding", language_model_folds=33),
     "language_model_folds' is 33, must be at most 32, its files"),
    (experiment(tasks=RESHARDING, learner={"name": "pro"}),
     "is resharding, which needs an online learner; a"),
    (INDEPENDENT, "tasks': independent tasks need an experiment with other tasks"),
    (tasks("independent", labels={"a/b": 1}), "tasks.labels.a/b': labels of independent tasks may have"),
    (experiment(algorithm="sgd", tasks={"name": "independent", "labels": {"x": 1, "y": 2}}),
     "tasks.labels.y' is 2, must be 1 with algorithm: sgd"),
    (INDEPENDENT | {"data": FILES | {"train": LABELLED}},
     "labels' needs data.test.task, a file with the lab"),
    (INDEPENDENT | {"data": FILES | {"train": LABELLED, "test": LABELLED}},
     "labels' needs data.devtest.task"),
    (experiment(tasks=NATURAL, tune_on="dev") | {"data": FILES}, "tasks.labels' needs data.dev.task, a file"),
    # lists of other decoders
    (files(dev={**PAIR, "lists": "l"}), "'data.dev.lists' needs data.kind: lists"),
    (files(dense=["LM"]), "'data.dense' needs data.kind: lists"),
    (lists(train=PAIR), "'data.train.source' has no effect with data.kind: lists"),
    (lists(devtest={"target": "t"}), "'data.devtest.lists' is missing; data.kind: lists needs it"),
    (lists(test={}), "'data.test.lists' is missing"),
    (lists(train={"lists": "l"}), "'data.train.target' is missing, or 'quality'; give one of them"),
    (lists(test={"new": {"lists": "l"}}), "'data.test.new.target' is missing; its translations are scored"),
    (lists(devtest={**LISTED, "quality": "q"}), "'data.devtest.quality' has no effect: nothing is learned"),
    (lists(train={"a": LISTED, "b": LISTED}), "'data.train.a': lists are not of named corpora"),
    (lists(train={**LISTED, "task": ["a", "b"]}), "'data.train.task' names 2 files; name one, with"),
    (lists(max_train=5), "'data.max_train' has no effect with data.kind: lists"),
    (lists(protected=["a"], tokenized=True), "'data.protected' has no effect with data.tokenized"),
    (lists() | {"grammar": {"max_span": 9}}, "'grammar.max_span' has no effect with data.kind: lists"),
    (lists() | {"language_model": {"order": 5}}, "'language_model.order' has no effect with data.kind"),
    (lists() | {"decoder": {"pop_limit": 9}}, "'decoder.pop_limit' has no effect with data.kind: lists"),
    (lists() | {"report": {"derivations": 9}}, "'report.derivations' has no effect with data.kind: lists"),
    (lists({"tune_on": "dev", "learner": {"name": "pro"}, "k_best": 9}),
     "k_best' has no effect: a batch tuner reads whole lists"),
    (lists({"templates": ["R"]}), "templates' has no effect with data.kind: lists"),
    (lists({"tasks": {"language_model_folds": 2}}), "language_model_folds' has no effect with data.kind"),
    (lists({"learner": {"name": "mira", "candidates": "forest"}}), "candidates' is forest, but lists have"),
    (lists({"learner": {"name": "forest-mert"}, "features": "dense"}),
     "learner.name' is forest-mert, but lists have no forests"),
    (lists({"held_out": {"tuner": {"name": "line-search"}}}),
     "held_out.tuner.directions' is missing; name dense features of the lists"),
    (lists({"mixing": {"name": "selection", "keep": ["dense"]}}),
     "mixing.keep' must name features of the lists one by one, not 'dense'"),
]  # fmt: skip
