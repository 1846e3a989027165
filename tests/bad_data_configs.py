"""Refused configs of the text, as `tests.bad_configs` has them."""

from __future__ import annotations

from tests.configs import experiment

FILES = {split: {"source": "s", "target": "t"} for split in ("train", "dev", "devtest", "test")}


BAD_DATA = [
    (
        {**experiment(), "data": {"max_length": 2**53 + 1}},
        "'data.max_length' is 9007199254740993, must be at",
    ),
    ({**experiment(), "data": []}, "'data' must hold"),
    ({**experiment(), "data": {"modules": "swriter"}}, "'data.modules' must be a list"),
    ({**experiment(), "data": {"modules": [1]}}, "'data.modules' must be text, not 1"),
    ({**experiment(), "data": {"train": {"sauce": "x"}}}, "unknown key 'data.train.sauce'"),
    ({**experiment(), "data": {"test": {"sauce": "x"}}}, "unknown key 'data.test.sauce'"),
    ({**experiment(), "data": {"test": "x"}}, "'data.test' must hold files, or test sets by name, not 'x'"),
    ({**experiment(), "data": {"test": {"a.b": {}}}}, "'data.test.a.b': the name of a test set is made of"),
    ({**experiment(), "data": {"test": {"a": {"target": 5}}}}, "must be text or a list of text, not 5"),
    (
        {**experiment(), "data": {"test": {"a": {}, "devtest": {}}}},
        "is none of pooled, source, target, task, devtest",
    ),
    ({**experiment(), "data": {"test": {"pooled": {}}}}, "'data.test.pooled': the name of a test set"),
    ({**experiment(), "data": {"test": {"a": {"target": [1]}}}}, "'data.test.a.target' must be text, not 1"),
    (
        {**experiment(), "data": {"test": {"a": {"target": ["{x"]}}}},
        "'data.test.a.target' is '{x', must be a",
    ),
    (
        {**experiment(), "data": {"train": {"target": ["x", "y"]}}},
        "'data.train.target' must be text, not a list: only dev, devtest and test sets may have several ref",
    ),
    ({**experiment(), "data": {"dev": {"target": ["x", 5]}}}, "'data.dev.target' must be text, not 5"),
    ({**experiment(), "data": {"dev": {"alignment": "x"}}}, "unknown key 'data.dev.alignment'"),
    ({**experiment(), "data": {"folder": "{x"}}, "'data.folder' is '{x', must be a path"),
    ({**experiment(), "data": {"source_language": "x y"}}, "'data.source_language' is 'x y', must be"),
]


INCONSISTENT_DATA = [
    (
        {**experiment(), "data": {"test": {2016: {}}}},
        "'data.test.2016': the name of a test set must be text; qu",
    ),
    ({**experiment(), "data": {"kind": "files"}}, "'data.train.source' is missing"),
    ({**experiment(), "data": {"test": {"target": "x"}}}, "'data.test.target' needs data.kind: files"),
    ({**experiment(), "data": {"kind": "files", **FILES, "folder": "x"}}, "'data.folder' needs"),
    (
        {**experiment(), "data": {"kind": "files", **FILES, "held_out_modules": ["x"]}},
        "'data.held_out_modules' needs data.kind: libreoffice-help",
    ),
    ({**experiment(), "data": {"kind": "files", **FILES, "test": {}}}, "'data.test.source' is missing"),
    (
        {**experiment(), "data": {"kind": "files", **FILES, "test": {"news": {"source": "s"}}}},
        "'data.test.news.target' is missing; a test set needs a reference translation",
    ),
    (
        {**experiment(), "data": {"test": {"news": {**FILES["test"], "devtest": {"target": "t"}}}}},
        "'data.test.news.devtest.source' is missing; a devtest needs a source text",
    ),
    (
        {
            **experiment(),
            "data": {"kind": "files", **FILES, "test": {**FILES["test"], "devtest": FILES["test"]}},
        },
        "'data.test.devtest' is of no use beside data.devtest",
    ),
    (
        {**experiment(), "data": {"test": {"sbasic": FILES["test"]}, "held_out_modules": ["sbasic"]}},
        "'data.held_out_modules': two test sets are named 'sbasic'",
    ),
    (
        {**experiment(), "data": {"held_out_modules": ["test"]}},
        "'data.held_out_modules': 'test' is the test set",
    ),
    (
        {**experiment(), "data": {"held_out_modules": ["pooled"]}},
        "'data.held_out_modules' is 'pooled', must be",
    ),
    ({**experiment(), "data": {"held_out_modules": ["a", "a"]}}, "two test sets are named 'a'"),
    (
        {**experiment(), "data": {"held_out_modules": ["a/b"]}},
        "'data.held_out_modules' is 'a/b', must be a n",
    ),
    (
        {**experiment(), "data": {"test": {"test": FILES["test"]}}},
        "'data.test': 'test' is the test set taken from the help",
    ),
    (
        {**experiment(), "data": {"modules": ["a", "b"], "held_out_modules": ["b"]}},
        "'data.held_out_modules': 'b' is in data.modules, too",
    ),
    (
        {**experiment(), "data": {"kind": "files", **FILES, "train": {**FILES["train"], "alignment": "x"}}},
        "needs data.tokenized: true",
    ),
    ({**experiment(), "data": {"tokenized": True}}, "'data.tokenized' needs data.kind: files"),
    ({**experiment(), "data": {"train": {"task": "x"}}}, "'data.train.task' needs data.kind: files"),
    (
        {**experiment(), "language_model": {"arpa": "x"}, "data": {"monolingual": "y"}},
        "'data.monolingual'",
    ),
]
