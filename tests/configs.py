"""Parts of configs; valid configs, and invalid ones with the facts of their messages (tests/refusals.py)."""

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


def with_text(**experiments):
    """Return a config with lists that get features of their text, with these experiments."""
    text = LISTED | {"source": "s"}
    data = LISTS | dict.fromkeys(("train", "dev", "devtest", "test"), text)
    features = {"groups": ["length"], "templates": ["Ngram1", "Ngram2"]}
    return {"data": data, "text_features": features, "experiments": experiments}


def train(**keys):
    return files(train=keys)


@functools.cache
def schema():
    kind = jsonschema.validators.validator_for(json_schema())
    kind.check_schema(json_schema())
    return kind(json_schema())


ALIGNED = {**FILES, "tokenized": True, "train": {**PAIR, "alignment": "x"}}
LINE = {"tuner": {"name": "line-search"}}
PATH = {"name": "path-following", "first_threshold": 1, "epsilon": 1}
OWN = {"name": "independent", "labels": {"x": 1}}
INDEPENDENT = experiment(tasks=OWN)
JSON_LABELLED = {"file": "a.jsonl", "fields": {"source": "s", "target": "t", "label": "d"}}
LABELLED = {**PAIR, "labels": "labels"}
KEEP_R = {"name": "selection", "keep": ["R"]}
TUNED = {**LINE, "next_epoch_from": "tuned"}
FOLDS = {"shards": 2, "language_model_folds": 2}
RESHARDING = {"name": "resharding"}
NATURAL = {"name": "natural", "labels": {"x": 1}}


def directions(names, tuner="line-search", **settings):
    return experiment(retune={"tuner": {"name": tuner, "directions": names}}, **settings)


BY_QUALITY = {"evaluation": {"choose_by": "quality"}}
WITH_QUALITY = {**LISTED, "quality": "q"}


def scores(value, outputs=None):
    """Return the evaluation of a config with the user's own scores, such as COMET."""
    others = {"outputs": outputs} if outputs else {}
    return {"evaluation": {"user_scores": value, **others}}


def outputs(value):
    return experiment() | {"evaluation": {"outputs": value}}


GOOD = [
    experiment() | {"evaluation": {"choose_by": "chrF++"}},
    experiment() | {"evaluation": {"choose_by": "lowercased-TER"}},
    lists(devtest=WITH_QUALITY) | BY_QUALITY,
    lists(target_language="zh") | {"mbr": {"gain": "chrf"}},
    lists(target_language="zh", tokenized=True) | {"mbr": {"gain": "sentence-bleu"}},
    lists() | scores({"COMET": {"list_numbers": "m"}}),
    lists({"retune": LINE}),
    lists({"retune": {"tuner": {"name": "line-search", "directions": ["LM", "step"]}}}, dense_names=["LM"]),
    lists()
    | scores(
        {"COMET": {"list_numbers": "m", "system_numbers": {"b": "n"}}, "chrF2": {"list_numbers": "m"}},
        {"b": "x"},
    ),
    lists(test={"old": LISTED, "new": LISTED}) | scores({"COMET": {"list_numbers": ["m", "n"]}}),
    experiment(repeats=2) | scores({"COMET-22.da": {"system_numbers": {"a": "m", "a.repeat-2": ["n"]}}}),
    experiment() | scores({"COMET": {"system_numbers": {"b": "n"}}}, {"b": "x"}),
    experiment() | scores({}),
    lists(devtest=WITH_QUALITY, test={"new": {**LISTED, "devtest": WITH_QUALITY}}) | BY_QUALITY,
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
    data(only_labels=["a"], held_out_labels=["b"], max_ratio=1),
    {
        **tasks("natural", labels={"news": 1, "law": 2}),
        "data": {
            **FILES,
            "train": {
                "news": {"source": ["a", "b.xz"], "target": ["c", "d"], "labels": ["e", "f"]},
                "law": {"file": ["a.tsv", "b.tmx.zst"], "columns": {"source": 2, "target": 1}},
                "talks": {"mtdata": "Statmt-europarl-7-deu-eng"},
            },
            "dev": {"file": "dev.tsv.gz", "columns": {"label": 3}},
            "test": {"a": {"sacrebleu": "wmt11"}, "b": {"mtdata": ["a-b-1-deu-eng"]}},
            "monolingual": ["m", "n"],
        },
    },
    tasks("natural", labels={"swriter": 2, "scalc": 1}, others="join", minimum_sentences=9),
    {**experiment(templates=["Lex", "R"]), "grammar": {"templates": ["R", "Lex", "Count"]}},
    {**experiment(), "data": ALIGNED, "align": {"symmetrization": "grow-diag-final-and"}},
    {**experiment(algorithm="sgd"), "language_model": {"arpa": "x", "open_vocabulary": False}},
    {"experiments": {"a-b.c_1": {}, "d": {"mixing": {"name": "selection", "threshold": 0.5}}}},
]

# Errors that the schema also finds: the config, and what the message must contain.
BAD = [
    (experiment() | {"sed": 1}, "'sed'"),
    (files(split={"dev": 5}), ("'data.split'", "'data.cut'")),
    (experiment() | {"evaluation": {"scores": {}}}, ("'evaluation.scores'", "'evaluation.user_scores'")),
    (data(modules=["a"]), ("'data.modules'", "'data.only_labels'")),
    (learner("perceptron", bleu="lin"), ("learner.bleu'", "learner.sentence_bleu'")),
    (data(held_out_modules=["a"]), ("'data.held_out_modules'", "'data.held_out_labels'")),
    (train(**PAIR, task="x"), ("'data.train.task'", "'data.train.labels'")),
    (train(file="a.tsv", columns={"task": 3}), ("'data.train.columns.task'", "'data.train.columns.label'")),
    (train(file="a.jsonl", fields={"task": "x"}), ("'data.train.fields.task'", "'data.train.fields.label'")),
    (experiment(epochs=0), ("epochs'", 0, 1)),
    (experiment(epochs=1.5), ("epochs'", '1.5')),
    (experiment(epochs=True), ("epochs'", "true")),
    (experiment(epochs="3"), ("epochs'", "'3'")),
    (learner("perceptron", learning_rate=0), ("learner.learning_rate'", 0)),
    (learner("perceptron", learning_rate="1e-4"), ("learner.learning_rate'", "1e-4", "0.0001")),
    (tasks(shards=100001), ("tasks.shards'", 100001, 100000)),
    (mixing("selection", norm="l3"), ("mixing.norm'", "'l3'")),
    (mixing("selection", norm=None), ("mixing.norm'", "null")),
    ({"experiments": {"a/b": {}}}, "'experiments.a/b'"),
    ({"experiments": {}}, "'experiments'"),
    ({"experiments": []}, "'experiments'"),
    ({}, "'experiments'"),
    (experiment() | {"grammar": {"templates": ["RBX"]}}, ("'grammar.templates'", "'RBX'")),
    (experiment(templates="R"), "templates'"),
    (learner("perceptron", learning_rate="1.2.3e5"), "learner.learning_rate'"),
    (learner("perceptron", learning_rate="1e999"), ("learner.learning_rate'", "'1e999'")),
    (experiment() | {"output": "a{b}"}, ("'output'", "'a{b}'")),
    ({"experiments": {"reference.0": {}}}, "'experiments.reference.0'"),
    (outputs({"reference.0": "x"}), "'evaluation.outputs.reference.0'"),
    (outputs({"b": 5}), ("'evaluation.outputs.b'", 5)),
    (outputs({"b": ["{x"]}), ("'evaluation.outputs.b'", "'{x'")),
    (outputs({}), ("'evaluation.outputs'", "'name: file'")),
    (experiment() | scores({"a_b": {"system_numbers": {"a": "m"}}}), "'evaluation.user_scores.a_b'"),
    (experiment() | scores({"COMET": "m"}), "'evaluation.user_scores.COMET'"),
    (experiment() | scores({"COMET": {"files": "m"}}), "'evaluation.user_scores.COMET.files'"),
    (experiment() | scores({"COMET": {"system_numbers": {}}}),
     "'evaluation.user_scores.COMET.system_numbers'"),
    (experiment() | scores({"COMET": {"system_numbers": {"a/b": "m"}}}),
     "'evaluation.user_scores.COMET.system_numbers.a/b'"),
    (experiment() | {"cache": ""}, ("'cache'", "''")),
    (experiment() | {"name": "../x"}, ("'name'", "'../x'")),
    (experiment() | {"decoder": {"k_best": 1}}, ("'decoder.k_best'", 1, 2)),
    (experiment() | {"mbr": {"gain": "ter"}}, ("'mbr.gain'", "'ter'")),
    (experiment() | {"mbr": {"gain": "sentence-bleu", "scale": 0}}, ("'mbr.scale'", 0)),
    (experiment() | {"mbr": {"gain": "sentence-bleu", "scale": 2e6}}, ("'mbr.scale'", 2000000.0, 1000000)),
    (experiment() | {"mbr": {"gain": "sentence-bleu", "size": 1}}, ("'mbr.size'", 1, 2)),
    ([1], "[1]"),
    (learner("pro", passes=2), ("learner.passes'", "kbest-mira")),
    (directions(["step"], "mert"), "retune.tuner.directions'"),
    (experiment(retune={"tuner": {"name": "perceptron"}}), ("retune.tuner.name'", "'perceptron'")),
    (experiment(learner="mira"), ("learner'", "'name: ...'", "'mira'")),
    (learner("mert2"), ("learner.name'", "'mert2'")),
    (learner(["x"]), "learner.name'"),
    (learner("perceptron", c=1), "learner.c'"),
    (learner("perceptron", x=1), "'experiments.a.learner.x'"),
    (experiment(shards=3), "shards'"),
    # data
    (data(max_length=2**53 + 1), ("'data.max_length'", 9007199254740993)),
    (data(test="x"), ("'data.test'", "'x'")),
    (data(test={"a.b": {}}), "'data.test.a.b'"),
    (data(test={"a": {"target": 5}}), ("'data.test.a.target'", 5)),
    (data(test={"a": {}, "devtest": {}}), "'data.test.devtest'"),
    (data(test={"a": {"target": ["{x"]}}), ("'data.test.a.target'", "'{x'")),
    (data(dev={"target": ["x", 5]}), ("'data.dev.target'", 5)),
    (data(train=[]), ("'data.train'", '[]')),
    (data(train={"a": {"source": "s"}, "file": {}}), "'data.train.file'"),
    (data(train={"a": {"sauce": "s"}}), "'data.train.a.sauce'"),
    (data(train={"a": {}, "b/c": {}}), "'data.train.b/c'"),
    (data(source_language="x y"), ("'data.source_language'", "'x y'")),
    # tasks
    (tasks("tasks"), ("tasks.name'", "'tasks'")),
    (tasks("natural", shards=2), "tasks.shards'"),
    (tasks(labels={"x": 1}), "tasks.labels'"),
    (tasks("natural", labels=["x"]), "tasks.labels'"),
    (tasks("natural", labels={}), ("tasks.labels'", "'name: number'")),
    (tasks("natural", labels={"x": 0}), ("tasks.labels.x'", 0, 1)),
    (tasks("natural", labels={"a b": 1}), "tasks.labels.a b'"),
    (tasks("natural", labels={"-a": 1}), "tasks.labels.-a'"),
    (tasks("pooled-cat", labels=["a b"]), "tasks.labels'"),
    (tasks("pooled", labels=[7]), ("tasks.labels'", 7)),
    (tasks("resharding", parts=1), ("tasks.parts'", 1, 2)),
    (experiment(tasks={"shards": 0}), ("tasks.shards'", 0, 1)),
]  # fmt: skip

# Errors in combinations of keys, which the schema does not see.
INCONSISTENT = [
    (experiment() | {"mbr": {"scale": 0.5}}, ("'mbr.scale'", "mbr.gain")),
    (lists(target_language="zh") | {"mbr": {"gain": "sentence-bleu"}},
     ("'mbr.gain'", "'zh'", "data.tokenized")),
    (experiment(mixing=KEEP_R, features="dense"), ("mixing.keep'", "'R'")),
    (experiments(a={"start_from": "b"}, b={"tasks": OWN}), ("a.start_from'", "'b'")),
    (experiments(a={"tasks": OWN}, b={"tasks": {"name": "independent", "labels": {"y": 1}}}, c={}),
     ("'experiments.b.tasks.labels'", "'a'")),
    ({"experiments": {"a.task-x": {}}}, "task-x'"),
    (experiment() | {"grammar": {"templates": ["R", "R"]}}, ("'grammar.templates'", "'R'")),
    (experiment(templates=["Lex"]), ("templates'", "'Lex'", 'grammar.templates')),
    (experiment(templates=["R", "R"]), ("templates'", "'R'")),
    (experiment(templates=["R"], features="dense"), "templates'"),
    (experiments(a={"start_from": "b", "templates": ["R", "RBS"]}, b={}),
     ("'b'", 'RBT')),
    (experiment(tune_on="dev", retune={"iterations": 2}), "retune.iterations'"),
    (experiment(start_from="b"), ("start_from'", "'b'")),
    (experiments(a={"start_from": "b"}, b={"start_from": "a"}), ("start_from'", "a, b, a")),
    (experiments(a={"start_from": "b", "features": "dense"}, b={}), ("start_from'", "'b'")),
    ({"experiments": {"a.repeat-1": {}}}, "repeat-1'"),
    (outputs({"a": "x"}), "'evaluation.outputs.a'"),
    (outputs({"a.repeat-2": "x"}), "'evaluation.outputs.a.repeat-2'"),
    (outputs({"b": ["x", "y"]}), ("outputs.b'", 2)),
    (experiment(tune_on="dev", features="dense", k_best=9, learner={"name": "forest-mert"}),
     "k_best'"),
    (experiment(seed=2**32 - 2, repeats=3), ("repeats'", 3)),
    (experiment() | scores({"COMET": {}}), ("'evaluation.user_scores.COMET'", "'system_numbers'")),
    (experiment() | scores({"COMET": {"list_numbers": "m"}}),
     ("'evaluation.user_scores.COMET.list_numbers'", "data.kind")),
    (experiment() | scores({"COMET": {"system_numbers": {"b": "m"}}}),
     "'evaluation.user_scores.COMET.system_numbers.b'"),
    (experiment() | scores({"COMET": {"system_numbers": {"a": ["m", "n"]}}}),
     ("'evaluation.user_scores.COMET.system_numbers.a'", 2)),
    (experiment(repeats=2) | scores({"COMET": {"system_numbers": {"a": "m"}}}),
     ("'evaluation.user_scores.COMET.system_numbers.a.repeat-2'", "'a'")),
    (experiment() | scores({"BLEU": {"system_numbers": {"a": "m"}}}), "'evaluation.user_scores.BLEU'"),
    (experiment() | scores({"quality": {"system_numbers": {"a": "m"}}}), "'evaluation.user_scores.quality'"),
    (experiment(algorithm="sgd", tasks={"shards": 2}), ("tasks.shards'", 2, 1)),
    (experiment(mixing={"name": "none"}, tasks={"shards": 2}), ("tasks.shards'", 1, "none")),
    (experiment(algorithm="mixsgd", mixing=KEEP_R), ("selection", "mixsgd")),
    (mixing("selection", select=5, threshold=0.1), ("mixing.threshold'", "'select'")),
    (mixing("selection", threshold=0.1, relative_threshold=0.1), "relative_threshold'"),
    (mixing("path-following", first_threshold=1, epsilon=1, minimum_threshold=2),
     ("mixing.minimum_threshold'", '2.0')),
    (mixing("selection", keep=["RBT:"]), ("mixing.keep'", "'RBT:'")),
    (mixing("path-following", epsilon=1), "mixing.first_threshold'"),
    (mixing("path-following", first_threshold=1), "mixing.epsilon'"),
    (experiment(mixing=PATH, learner={"name": "perceptron"}), ("learner", "perceptron", 0)),
    (experiment(epochs=3, patience=2), ("patience'", 2, 3)),
    (experiment(mixing=PATH, learner={"name": "mira"}, retune=TUNED), "retune.next_epoch_from'"),
    (mixing("selection", keep=["WordPenalties"]), ("mixing.keep'", "'WordPenalties'")),
    (experiment() | {"grammar": {"templates": []}}, ("'grammar.templates'", "'a'")),
    (experiment(mixing=KEEP_R, templates=["RBS"]), ("'R'", 'RBS')),
    (experiment(tune_on="dev", tasks=FOLDS), ("folds'", 'tune_on')),
    (experiment(tasks=FOLDS) | {"language_model": {"arpa": "x"}},
     ("tasks.language_model_folds'", 'language_model.arpa')),
    (experiment() | {"language_model": {"arpa": "x", "open_vocabulary": True}}, 'language_model.open'),
    (experiment() | {"data": ALIGNED, "align": {"symmetrization": "union"}}, "'align.symmetrization'"),
    (learner("perceptron", regularization="l1", strength_per_epoch=0.1, schedule="1/t"),
     ("learner.schedule'", 1)),
    (learner("perceptron", regularization="l2"), ("learner.strength_per_epoch'", 0)),
    (learner("perceptron", strength_per_epoch=0.1), "learner.strength_per_epoch'"),
    (learner("mira", constraints="all", fear="prediction"), "learner.fear'"),
    (learner("mert"), ("features'", "mert")),
    (experiment(learner={"name": "pro"}, algorithm="itersel"), ("algorithm'", "pro")),
    (experiment(learner={"name": "kbest-mira"}, mixing={"name": "mean"}),
     "mixing.name'"),
    (experiment(retune=LINE, tune_on="dev"), ("retune.tuner'", 'tune_on')),
    (experiment(tune_on="train", retune=LINE, learner={"name": "pro"}), "retune.tuner'"),
    (experiment(tune_on="dev", retune={"next_epoch_from": "tuned"}), "retune.next_epoch_from'"),
    (experiment(retune=TUNED, mixing={"name": "mean-of-epochs"}),
     'mean-of-epochs'),
    (directions(["Words"]), ("retune.tuner.directions'", "'Words'", 'EgivenF')),
    (directions([]), "retune.tuner.directions'"),
    (directions(["step", "dense", "step"]), ("retune.tuner.directions'", "'step'")),
    (directions(["WordPenalty", "dense"]), ("retune.tuner.directions'", "'WordPenalty'")),
    (directions(["dense", "step"], epochs=1), "retune.tuner.directions'"),
    (experiment(epochs=1, retune=TUNED), ("retune.next_epoch_from'", 1)),
    # data
    (data(test={2016: {}}), ("'data.test.2016'", 2016)),
    (train(source=["a", "b"], target="c"), ("'data.train.target'", 1, "'data.train.source'", 2)),
    (train(**PAIR, file="a.tsv"), ("'data.train.source'", "'data.train.file'")),
    (train(file="a.txt"), ("'data.train.file'", "'a.txt'", '.tsv', '.csv')),
    (files(cut={"dev": 5}), ("'data.dev'", 'data.cut.dev')),
    (data(cut={"dev": 5}), ("'data.cut'", 'data.kind')),
    (files(test={"test": PAIR}), "'data.test.test'"),
    (files(protected=["(a)"]), ("'data.protected'", "'(a)'")),
    (files(protected=["a"], tokenized=True), ("'data.protected'", 'data.tokenized')),
    (train(source="a.po", target="b.po"), ("'data.train.source'", 'a.po')),
    (train(file="a.po", fields={"label": "x"}), ("'data.train.fields", "msgctxt")),
    (train(file="a.jsonl", fields={"source": "x"}), "'data.train.fields'"),
    (train(file="a.csv", fields={"source": "x,y", "target": "z"}), "'x,y'"),
    (train(file="a.tmx", fields={"source": "x", "target": "y"}), ("fields'", '.csv')),
    (train(file="a.csv", columns={"label": 3}, fields={"source": "x", "target": "y"}),
     ("'data.train.columns'", "'data.train.fields'")),
    (train(file="a.tmx", columns={"source": 3}), ("'data.train.columns'", '.tsv')),
    (train(file="a.tsv", columns={"source": 2}), ("'data.train.columns", 2)),
    (train(file=["a.tsv", "b.tmx"], columns={"label": 3}), ("columns.label'", 'b.tmx')),
    (train(file="a.tsv", labels="x"), "'data.train.labels'"),
    (train(mtdata="europarl"), ("'data.train.mtdata'", "'europarl'", 'ID')),
    (train(mtdata=["a-b-1-deu-eng"] * 2), ("'data.train.mtdata'", "'a-b-1-deu-eng'")),
    (train(a={"file": "a.tsv"}, b={"source": "s"}), ("'data.train.b.target'", 'data.kind')),
    (files(train={"a": {**PAIR, "alignment": "x"}, "b": {"file": "b.tsv"}}, tokenized=True),
     ("'data.train.b.alignment'", "'data.train.a'")),
    (files(dev={"sacrebleu": "wmt11x"}), ("'data.dev.sacrebleu'", "'wmt11x'")),
    (files(dev={"sacrebleu": "wmt11"}, source_language="sw"), ("'wmt11'", 'sw-en-us')),
    (files(dev={"sacrebleu": "wmt11", "target": "t"}), "'data.dev.target'"),
    (data(dev={"sacrebleu": "wmt11"}), ("'data.dev.sacrebleu'", 'data.kind')),
    (data(train={"a": {"file": "x.tsv"}}), ("'data.train.a.file'", 'data.kind')),
    (data(kind="files"), "'data.train.source'"),
    (files(folder="x"), "'data.folder'"),
    (files(test={}), "'data.test.source'"),
    (files(test={"news": {"source": "s"}}), "'data.test.news.target'"),
    (data(test={"news": {**PAIR, "devtest": {"target": "t"}}}), "news.devtest.source'"),
    (files(test={**PAIR, "devtest": PAIR}), ("'data.test.devtest'", 'data.devtest')),
    (data(test={"sbasic": PAIR}, held_out_labels=["sbasic"]), "'sbasic'"),
    (data(held_out_labels=["test"]), ("'data.held_out_labels'", "'test'")),
    (data(held_out_labels=["a", "a"]), "'a'"),
    (data(held_out_labels=["a/b"]), ("'data.held_out_labels'", "'a/b'")),
    (data(test={"test": PAIR}), "'data.test.test'"),
    (data(only_labels=["a", "b"], held_out_labels=["b"]),
     ("'data.held_out_labels'", "'b'", 'data.only_labels')),
    (train(**PAIR, alignment="x"), ("'data.train.alignment'", "data.tokenized")),
    (experiment() | {"language_model": {"arpa": "x"}, "data": {"monolingual": "y"}}, "'data.monolingual'"),
    (experiment(learner={"c": 1}), "learner.c'"),
    (experiment(tasks={"labels": {"x": 1}}), "tasks.labels'"),
    # tasks
    (tasks("natural", labels={2016: 1}), ("labels.2016'", 2016)),
    (experiment(algorithm="sgd", tasks={"name": "natural", "labels": {"x": 2}}),
     (2, 1)),
    (tasks("natural"), "tasks.labels'"),
    (tasks("pooled"), "tasks.labels'"),
    (tasks("pooled", labels=["x", "y", "x"]), ("tasks.labels'", "'x'")),
    (experiment(tasks=RESHARDING, learner={"name": "adagrad"}, mixing=PATH),
     "learner.pairs'"),
    (INDEPENDENT | {"data": {"test": {"news": {**PAIR, "devtest": PAIR}}}},
     "'data.test.news.devtest'"),
    (experiment(tasks=RESHARDING, learner={"name": "pro"}), ("tasks", "resharding")),
    (INDEPENDENT, "tasks'"),
    (tasks("independent", labels={"a/b": 1}), "tasks.labels.a/b'"),
    (experiment(algorithm="sgd", tasks={"name": "independent", "labels": {"x": 1, "y": 2}}),
     ("tasks.labels.y'", 2, 1)),
    (INDEPENDENT | {"data": FILES | {"train": LABELLED}},
     ("labels'", 'data.test.labels')),
    (INDEPENDENT | {"data": FILES | {"train": LABELLED, "test": LABELLED}},
     ("labels'", 'data.devtest.labels')),
    (experiment(tasks=NATURAL, tune_on="dev") | {"data": FILES}, ("tasks.labels'", 'data.dev.labels')),
    # lists of other decoders
    (files(dev={**PAIR, "lists": "l"}), ("'data.dev.lists'", 'data.kind')),
    (files(dev={"source": ["x", "y"], "target": "t"}), ("'data.dev.source'", "data.train")),
    (files(dev={"source": "x", "target": "t", "labels": ["x", "y"]}), ("'data.dev.labels'", "data.train")),
    (files(dense_names=["LM"]), ("'data.dense_names'", 'data.kind')),
    (files(lowercase=False), ("'data.lowercase'", 'data.kind')),
    (lists(lowercase=False, tokenized=True), ("'data.lowercase'", 'data.tokenized')),
    (lists(train=PAIR), ("'data.train.source'", 'data.kind')),
    (lists(devtest={"target": "t"}), ("'data.devtest.lists'", 'data.kind')),
    (lists(test={}), "'data.test.lists'"),
    (lists(train={"lists": "l"}), ("'data.train.target'", "'quality'")),
    (lists(test={"new": {"lists": "l"}}), "'data.test.new.target'"),
    (lists(devtest={**LISTED, "quality": "q"}), ("'data.devtest.quality'", "tokenized-bleu")),
    (lists(test={**LISTED, "quality": "q"}) | BY_QUALITY, "'data.devtest.quality'"),
    (lists(devtest=WITH_QUALITY, test={**WITH_QUALITY}) | BY_QUALITY, "'data.test.quality'"),
    (lists(devtest=WITH_QUALITY, test={"new": {**LISTED, "devtest": LISTED}}) | BY_QUALITY,
     "'data.test.new.devtest.quality'"),
    (files() | experiment() | BY_QUALITY, ("'evaluation.choose_by'", "data.kind")),
    (lists() | scores({"COMET": {}}), ("'evaluation.user_scores.COMET.list_numbers'", "data.kind")),
    (lists() | scores({"COMET": {"list_numbers": ["m", "n"]}}),
     ("'evaluation.user_scores.COMET.list_numbers'", 2)),
    (lists() | scores({"COMET": {"list_numbers": "m", "system_numbers": {"a": "n"}}}),
     ("'evaluation.user_scores.COMET.system_numbers.a'", "evaluation.user_scores.COMET.list_numbers")),
    (lists() | scores({"COMET": {"list_numbers": "m"}, "comet": {"list_numbers": "m"}}),
     ("'evaluation.user_scores.COMET'", "comet")),
    (lists(train={"a": LISTED, "b": LISTED}), "'data.train.a'"),
    (lists(train={**LISTED, "labels": ["a", "b"]}), ("'data.train.labels'", 2)),
    (lists(max_train=5), ("'data.max_train'", 'data.kind')),
    (lists(protected=["a"], tokenized=True), ("'data.protected'", 'data.tokenized')),
    (lists() | {"grammar": {"max_span": 9}}, ("'grammar.max_span'", 'data.kind')),
    (lists() | {"language_model": {"order": 5}}, ("'language_model.order'", 'data.kind')),
    (lists() | {"decoder": {"pop_limit": 9}}, ("'decoder.pop_limit'", 'data.kind')),
    (lists() | {"report": {"derivations": 9}}, ("'report.derivations'", 'data.kind')),
    (lists({"tune_on": "dev", "learner": {"name": "pro"}, "k_best": 9}),
     "k_best'"),
    (lists({"templates": ["R"]}), ("templates'", "'R'", "text_features.templates")),
    (lists({"templates": ["Ngram1"]}), ("templates'", "'Ngram1'", "text_features.templates")),
    (with_text(a={"templates": ["Ngram1"], "features": "dense"}), "experiments.a.templates"),
    (with_text(a={"templates": ["Ngram3"]}), ("experiments.a.templates", "'Ngram3'")),
    (with_text(a={"start_from": "b", "templates": ["Ngram2"]}, b={}), ("a.start_from", "Ngram1")),
    (experiment(templates=["Ngram1"]), ("templates'", "'Ngram1'", "grammar.templates")),
    (experiment(templates=[]), ("templates'", "features: dense")),
    (lists({"tasks": {"language_model_folds": 2}}), ("language_model_folds'", 'data.kind')),
    (lists({"learner": {"name": "mira", "candidates": "forest"}}), "candidates'"),
    (lists({"learner": {"name": "forest-mert"}, "features": "dense"}),
     "learner.name'"),
    (lists({"retune": LINE}, dense_names=["LM", "TM_1"]),
     ("retune.tuner.directions'", "'WordPenalty'", "TM_1")),
    (lists({"mixing": {"name": "selection", "keep": ["dense"]}}),
     ("mixing.keep'", "'dense'")),
]  # fmt: skip
