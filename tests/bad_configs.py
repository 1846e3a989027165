"""Invalid configs and their messages: the schema rejects only `BAD`, the reader also `INCONSISTENT`."""

from __future__ import annotations

from tests.bad_data_configs import BAD_DATA, FILES, INCONSISTENT_DATA
from tests.bad_tasks_configs import BAD_TASKS, INCONSISTENT_TASKS
from tests.configs import experiment, perceptron, selection

ALIGNED = {"kind": "files", **FILES, "tokenized": True, "train": {**FILES["train"], "alignment": "x"}}


# Errors that a schema can express: the config, and text that the message must contain.
BAD = [
    *BAD_DATA,
    *BAD_TASKS,
    ({**experiment(), "sed": 1}, "unknown key 'sed'"),
    (experiment(epoch=3), "unknown key 'experiments.a.epoch'"),
    (experiment(epochs=0), "'experiments.a.epochs' is 0, must be at least 1"),
    (experiment(epochs=1.5), "'experiments.a.epochs' must be a whole number, not 1.5"),
    (experiment(epochs=True), "'experiments.a.epochs' must be a whole number, not true"),
    (experiment(epochs="3"), "'experiments.a.epochs' must be a whole number, not '3'"),
    (
        experiment(learner=perceptron(learning_rate=0)),
        "'experiments.a.learner.learning_rate' is 0.0, must be above 0",
    ),
    (experiment(learner=perceptron(learning_rate="1e-4")), "YAML reads 1e-4 as text, write 0.0001"),
    (experiment(tasks={"shards": 100_001}), "must be at most 100000"),
    (
        experiment(tasks={"language_model_folds": 0}),
        "'experiments.a.tasks.language_model_folds' is 0, must be at least 1",
    ),
    (
        experiment(mixing=selection(norm="l3")),
        "'experiments.a.mixing.norm' is 'l3', must be one of l0, l1, l2, linf",
    ),
    (experiment(mixing=selection(norm=None)), "'experiments.a.mixing.norm' must be text, not null"),
    (
        experiment(mixing=selection(threshold=-1)),
        "'experiments.a.mixing.threshold' is -1.0, must be at least 0",
    ),
    ({"experiments": {"a/b": {}}}, "'experiments.a/b'"),
    ({"experiments": {}}, "'experiments' is missing or empty"),
    ({"experiments": []}, "'experiments' must contain"),
    ({}, "'experiments' is missing or empty"),
    (
        {**experiment(), "grammar": {"templates": ["RBX"]}},
        "'grammar.templates' is 'RBX', must be one of R, RBS",
    ),
    (experiment(templates="R"), "'experiments.a.templates' must be a list"),
    (experiment(learner=perceptron(learning_rate="1e-5")), "YAML reads 1e-5 as text, write 1.0e-05"),
    (
        experiment(learner=perceptron(learning_rate="1.2.3e5")),
        "'experiments.a.learner.learning_rate' must be a number, not '1.2.3e5'",
    ),
    (
        experiment(learner=perceptron(learning_rate="1e999")),
        "'experiments.a.learner.learning_rate' must be a number, not '1e999'",
    ),
    (
        {**experiment(), "output": "a{b}"},
        "'output' is 'a{b}', must be a path without control characters, { and }",
    ),
    (
        {**experiment(), "evaluation": {"tokenizer": "spm"}},
        "'evaluation.tokenizer' is 'spm', must be one of 13a, intl, zh",
    ),
    ({**experiment(), "evaluation": {"choose_by": "wer"}}, "'evaluation.choose_by' is 'wer', must be one of"),
    ({"experiments": {"reference.0": {}}}, "'experiments.reference.0': the name of an experiment"),
    ({**experiment(), "cache": ""}, "'cache' is '', must be a path"),
    ({**experiment(), "name": "../x"}, "'name' is '../x', must be"),
    ({**experiment(), "decoder": {"k_best": 1}}, "'decoder.k_best' is 1, must be at least 2"),
    ({**experiment(), "language_model": {"order": 10}}, "'language_model.order' is 10"),
    ([1], "config file must contain"),
]


# Batch tuners.
BAD += [
    (experiment(learner={"name": "pro", "passes": 2}), "does not apply to learner pro, only to kbest-mira"),
    (
        experiment(learner={"name": "pro", "interpolation": 1.5}),
        "'experiments.a.learner.interpolation' is 1.5, must be at most 1",
    ),
    (
        experiment(held_out={"tuner": {"name": "mert", "directions": ["step"]}}),
        "'experiments.a.held_out.tuner.directions' must be a whole number",
    ),
    (experiment(held_out={"tuner": {"name": "perceptron"}}), "must be one of none, line-search, pro"),
]


# Sections with several forms, keys of other forms, and keys in the wrong section.
BAD += [
    (experiment(learner="mira"), "'experiments.a.learner' must contain 'name: ...', not 'mira'"),
    (experiment(learner={"c": 1}), "'experiments.a.learner.name' is missing; one of perceptron, margin-"),
    (
        experiment(learner={"name": "mert2"}),
        "'experiments.a.learner.name' is 'mert2', must be one of perceptron",
    ),
    (experiment(learner={"name": ["x"]}), "'experiments.a.learner.name' is"),
    (
        experiment(learner=perceptron(c=1)),
        "'experiments.a.learner.c' does not apply to learner perceptron, only to mira, kbest-mira",
    ),
    (
        experiment(learner={"name": "mira", "learning_rate": 1}),
        "does not apply to learner mira, only to perceptron, margin-",
    ),
    (
        experiment(learner=perceptron(x=1)),
        "unknown key 'experiments.a.learner.x'; known keys: bleu, average",
    ),
    (
        experiment(mixing={"name": "mean", "select": 3}),
        "'experiments.a.mixing.select' does not apply to mixing mean, only to selection",
    ),
    (experiment(shards=3), "'experiments.a.shards' belongs to tasks: random"),
    (experiment(select=7), "'experiments.a.select' belongs to mixing: selection"),
    (experiment(bleu="lin"), "'experiments.a.bleu' belongs to learner: perceptron, margin-perceptron"),
]


# Errors in combinations of keys.
INCONSISTENT = [
    *INCONSISTENT_DATA,
    *INCONSISTENT_TASKS,
    (
        experiment(mixing=selection(keep=["R"]), features="dense"),
        "is 'R', must be dense or the name of a dense feature",
    ),
    (
        {
            "experiments": {
                "a": {"start_from": "b"},
                "b": {"tasks": {"name": "independent", "labels": {"x": 1}}},
            }
        },
        "'experiments.a.start_from' is 'b', must be an experiment with one weight vector",
    ),
    (
        {
            "experiments": {
                "a": {"tasks": {"name": "independent", "labels": {"x": 1}}},
                "b": {"tasks": {"name": "independent", "labels": {"y": 1}}},
                "c": {},
            }
        },
        "'experiments.b.tasks.labels' differ from those of 'a'; independent tasks must be the same",
    ),
    (
        {"experiments": {"a.task-x": {}}},
        "'experiments.a.task-x': names like this are reserved for independent",
    ),
    ({**experiment(), "grammar": {"templates": ["R", "R"]}}, "'grammar.templates': 'R' is listed twice"),
    (experiment(templates=["Lex"]), "'experiments.a.templates': 'Lex' is not in grammar.templates; add it"),
    (experiment(templates=["R", "R"]), "'experiments.a.templates': 'R' is listed twice"),
    (
        experiment(templates=["R"], features="dense"),
        "'experiments.a.templates' has no effect with features: d",
    ),
    (
        {"experiments": {"a": {"start_from": "b", "templates": ["R", "RBS"]}, "b": {}}},
        "'b' has weights of templates RBT, Shape, which this experiment does not use",
    ),
    ({"experiments": {"a": {}, "a.repeat-2": {}}}, "'experiments.a.repeat-2': names like this"),
    (experiment(held_out={"iterations": 2}), "'experiments.a.held_out.iterations' has no effect without"),
    (experiment(start_from="b"), "'experiments.a.start_from' is 'b', must be one of"),
    (
        {"experiments": {"a": {"start_from": "b"}, "b": {"start_from": "a"}}},
        "'experiments.a.start_from' is circular: a, b, a",
    ),
    (
        {"experiments": {"a": {"start_from": "b", "features": "dense"}, "b": {}}},
        "'experiments.a.start_from': 'b' has features: all",
    ),
    ({"experiments": {"a.repeat-1": {}}}, "'experiments.a.repeat-1': names like this"),
    (
        experiment(tune_on="dev", features="dense", k_best=9, learner={"name": "forest-mert"}),
        "'experiments.a.k_best' has no effect with forests",
    ),
    (experiment(seed=2**31 - 2, repeats=3), "'experiments.a.repeats' is 3: the last seed would be"),
    (
        experiment(algorithm="sgd", tasks={"shards": 2}),
        "'experiments.a.tasks.shards' is 2, must be 1 with algorithm: sgd",
    ),
    (experiment(mixing={"name": "none"}, tasks={"shards": 2}), "must be 1 with mixing: {name: none}"),
    (
        experiment(algorithm="mixsgd", mixing=selection(select=5)),
        "is selection, but algorithm: mixsgd implies mixing mean",
    ),
    (experiment(mixing=selection(select=5, threshold=0.1)), "combined with 'experiments.a.mixing.select'"),
    (
        experiment(mixing=selection(threshold=0.1, relative_threshold=0.1)),
        "'experiments.a.mixing.relative_threshold' cannot be combined with 'experiments.a.mixing.threshold'",
    ),
    (
        experiment(mixing=selection(relative_threshold=1.5)),
        "'experiments.a.mixing.relative_threshold' is 1.5, must be at most 1",
    ),
    (
        experiment(mixing={"name": "path-following", "threshold": 1, "epsilon": 1, "minimum": 2}),
        "'experiments.a.mixing.minimum' is 2.0, must be at most the threshold",
    ),
    (experiment(mixing=selection(keep=["RBT:"])), "'experiments.a.mixing.keep' is 'RBT:', must be dense"),
    (
        experiment(mixing={"name": "path-following", "epsilon": 1}),
        "'experiments.a.mixing.threshold' is missing; see path-following in docs/learning.md",
    ),
    (
        experiment(mixing={"name": "path-following", "threshold": 1}),
        "'experiments.a.mixing.epsilon' is missing",
    ),
    (
        experiment(mixing={"name": "path-following", "threshold": 1, "epsilon": 1}),
        "is perceptron, whose loss is 0 if all weights are 0",
    ),
    (
        experiment(
            mixing={"name": "path-following", "threshold": 1, "epsilon": 1},
            learner={"name": "mira"},
            held_out={"tuner": {"name": "line-search"}, "start": "tuned"},
        ),
        "path following compares the losses of mixed weights",
    ),
    (
        experiment(mixing=selection(keep=["WordPenalties"])),
        "'experiments.a.mixing.keep' is 'WordPenalties', must be dense, a template (R, RBS, RBT, Shape), or",
    ),
    ({**experiment(), "grammar": {"templates": []}}, "is empty, but experiment 'a' has features: all"),
    (
        experiment(mixing=selection(keep=["Lex"])),
        "is 'Lex', must be dense, a template (R, RBS, RBT, Shape), or",
    ),
    (
        experiment(mixing=selection(keep=["R"]), templates=["RBS"]),
        "is 'R', must be dense, a template (RBS), or",
    ),
    (
        experiment(tasks={"shards": 2, "language_model_folds": 3}),
        "language_model_folds' is 3, must be at most 2, its shards",
    ),
    (
        experiment(tune_on="dev", tasks={"shards": 2, "language_model_folds": 2}),
        "folds' needs tune_on: train",
    ),
    (
        {**experiment(tasks={"shards": 2, "language_model_folds": 2}), "language_model": {"arpa": "x"}},
        "'experiments.a.tasks.language_model_folds' has no effect with language_model.arpa",
    ),
    (
        {**experiment(), "language_model": {"arpa": "x", "open_vocabulary": True}},
        "'language_model.open",
    ),
    (
        {**experiment(), "data": ALIGNED, "align": {"symmetrization": "union"}},
        "'align.symmetrization' has no effect",
    ),
]


MERT = {"name": "mert"}


LINE = {"tuner": {"name": "line-search"}}


# Keys of a learner that have no effect together.
INCONSISTENT += [
    (
        experiment(learner=perceptron(regularization="l1", strength=0.1, schedule="1/t")),
        "'experiments.a.learner.schedule' is 1/t, must be constant with regularization l1",
    ),
    (
        experiment(learner=perceptron(regularization="l2")),
        "'experiments.a.learner.strength' is 0, must be above 0 with regularization l2",
    ),
    (
        experiment(learner=perceptron(strength=0.1)),
        "'experiments.a.learner.strength' has no effect without regularization; remove it",
    ),
    (
        experiment(learner={"name": "mira", "constraints": "all", "fear": "prediction"}),
        "'experiments.a.learner.fear' has no effect with constraints: all",
    ),
]


# Batch tuners, and the step on held-out text.
INCONSISTENT += [
    (experiment(learner=MERT), "'experiments.a.features' is all, must be dense with learner mert"),
    (experiment(learner={"name": "forest-mert"}), "'experiments.a.features' is all, must be dense with"),
    (experiment(learner={"name": "pro"}, algorithm="itersel"), "learner pro has nothing to mix; remove it"),
    (
        experiment(learner={"name": "kbest-mira"}, mixing={"name": "mean"}),
        "'experiments.a.mixing.name' is mean, but learner kbest-mira tunes one weight vector",
    ),
    (experiment(held_out=LINE, tune_on="dev"), "'experiments.a.held_out.tuner' needs tune_on: train"),
    (experiment(held_out=LINE, learner={"name": "pro"}), "but a batch tuner mixes nothing"),
    (experiment(held_out={"start": "tuned"}), "'experiments.a.held_out.start' has no effect without"),
    (
        experiment(held_out={**LINE, "start": "tuned"}, mixing={"name": "mean-of-epochs"}),
        "with mixing mean-of-epochs shards continue from their own weights",
    ),
    (
        experiment(held_out={"tuner": {"name": "line-search", "directions": ["Words"]}}),
        "'experiments.a.held_out.tuner.directions' is 'Words', must be one of dense, step, EgivenF",
    ),
    (
        experiment(held_out={"tuner": {"name": "line-search", "directions": []}}),
        "'experiments.a.held_out.tuner.directions' is empty; name at least one",
    ),
    (
        experiment(held_out={"tuner": {"name": "line-search", "directions": ["step", "dense", "step"]}}),
        "'experiments.a.held_out.tuner.directions': 'step' is listed twice; remove one",
    ),
    (
        experiment(held_out={"tuner": {"name": "line-search", "directions": ["WordPenalty", "dense"]}}),
        "'experiments.a.held_out.tuner.directions': dense includes 'WordPenalty'; remove one of them",
    ),
    (
        experiment(epochs=1, held_out={"tuner": {"name": "line-search", "directions": ["dense", "step"]}}),
        "'experiments.a.held_out.tuner.directions': step has no effect with epochs: 1; remove it",
    ),
    (
        experiment(epochs=1, held_out={**LINE, "start": "tuned"}),
        "'experiments.a.held_out.start' has no effect with epochs: 1; remove it",
    ),
]
