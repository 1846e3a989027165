"""Invalid `tasks` sections, in the form of `tests.bad_configs`."""

from __future__ import annotations

from tests.bad_data_configs import FILES
from tests.configs import experiment

BAD_TASKS = [
    (
        experiment(tasks={"name": "tasks"}),
        "'experiments.a.tasks.name' is 'tasks', must be one of random, resharding, n",
    ),
    (
        experiment(tasks={"name": "natural", "shards": 2}),
        "'experiments.a.tasks.shards' does not apply to tasks natural",
    ),
    (
        experiment(tasks={"labels": {"x": 1}}),
        "'experiments.a.tasks.labels' does not apply to tasks random, only to natural, independent, pool",
    ),
    (
        experiment(tasks={"name": "natural", "labels": ["x"]}),
        "'experiments.a.tasks.labels' must contain 'name: num",
    ),
    (
        experiment(tasks={"name": "natural", "labels": {}}),
        "'experiments.a.tasks.labels' must contain 'name: number'",
    ),
    (experiment(tasks={"name": "natural", "labels": {"x": 0}}), "tasks.labels.x' is 0, must be at least 1"),
    (experiment(tasks={"name": "natural", "labels": {"a b": 1}}), "tasks.labels.a b': a label is one word"),
    (experiment(tasks={"name": "natural", "labels": {"-a": 1}}), "does not begin with '-'"),
]

INCONSISTENT_TASKS = [
    (
        experiment(tasks={"name": "natural", "labels": {2016: 1}}),
        "labels.2016': a label must be text, not 2016; put it in quotes: '2016'",
    ),
    (
        experiment(algorithm="sgd", tasks={"name": "natural", "labels": {"x": 2}}),
        "'experiments.a.tasks.labels' makes 2 shards, must make 1 with algorithm: sgd",
    ),
    (experiment(tasks={"name": "natural"}), "'experiments.a.tasks.labels' is missing; name the tasks, each"),
    (experiment(tasks={"name": "pooled"}), "'experiments.a.tasks.labels' is missing; name the tasks"),
    (
        experiment(tasks={"name": "pooled", "labels": ["x", "y", "x"]}),
        "'experiments.a.tasks.labels': 'x' is listed twice; remove one",
    ),
    (
        experiment(tasks={"name": "pooled-cat", "labels": ["a b"]}),
        "tasks.labels': a label is one word",
    ),
    (
        experiment(tasks={"name": "pooled", "labels": [7]}),
        "tasks.labels': a label must be text, not 7; put it in quotes",
    ),
    (
        experiment(tasks={"name": "independent", "labels": {"x.repeat-2": 1}}),
        "'experiments.a.tasks.labels.x.repeat-2': labels of independent tasks may have",
    ),
    (
        experiment(
            tasks={"name": "resharding"},
            learner={"name": "adagrad"},
            mixing={"name": "path-following", "threshold": 1, "epsilon": 1},
        ),
        "'experiments.a.learner.pairs' is pro, which samples other pairs when a sentence moves to another",
    ),
    (
        {
            **experiment(tasks={"name": "independent", "labels": {"x": 1}}),
            "data": {
                "test": {"news": {"source": "s", "target": "t", "devtest": {"source": "s", "target": "t"}}}
            },
        },
        "'data.test.news.devtest' has no effect with independent tasks",
    ),
    (
        experiment(tasks={"name": "resharding", "parts": 1}),
        "'experiments.a.tasks.parts' is 1, must be at least 2",
    ),
    (
        experiment(tasks={"name": "resharding", "language_model_folds": 9}),
        "language_model_folds' is 9, must be at most 8, its files",
    ),
    (
        experiment(tasks={"name": "resharding"}, learner={"name": "pro"}),
        "'experiments.a.tasks.name' is resharding, which needs an online learner; a batch tuner",
    ),
    (
        experiment(tasks={"name": "independent", "labels": {"x": 1}}),
        "'experiments.a.tasks': independent tasks need an experiment with other tasks to comp",
    ),
    (
        experiment(tasks={"name": "independent", "labels": {"a/b": 1}}),
        "'experiments.a.tasks.labels.a/b': labels of independent tasks may have at most 60 letters",
    ),
    (
        experiment(algorithm="sgd", tasks={"name": "independent", "labels": {"x": 1, "y": 2}}),
        "'experiments.a.tasks.labels.y' is 2, must be 1 with algorithm: sgd",
    ),
    (
        {
            **experiment(tasks={"name": "independent", "labels": {"x": 1}}),
            "data": {"kind": "files", **FILES, "train": {**FILES["train"], "task": "labels"}},
        },
        "'experiments.a.tasks.labels' needs data.test.task, a file with the label of each line",
    ),
    (
        {
            **experiment(tasks={"name": "independent", "labels": {"x": 1}}),
            "data": {
                "kind": "files",
                **FILES,
                "train": {**FILES["train"], "task": "labels"},
                "test": {**FILES["test"], "task": "labels"},
            },
        },
        "'experiments.a.tasks.labels' needs data.devtest.task, a file with the label of each line",
    ),
    (
        {
            **experiment(tasks={"name": "natural", "labels": {"x": 1}}, tune_on="dev"),
            "data": {"kind": "files", **FILES},
        },
        "'experiments.a.tasks.labels' needs data.dev.task, a file with the label of each line",
    ),
    (
        experiment(tasks={"name": "natural", "labels": {"x": 2}, "language_model_folds": 3}),
        "language_model_folds' is 3, must be at most 2, its shards",
    ),
]
