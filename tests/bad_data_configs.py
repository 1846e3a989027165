"""Invalid `data` sections, in the form of `tests.bad_configs`."""

from __future__ import annotations

from tests.configs import experiment

FILES = {split: {"source": "s", "target": "t"} for split in ("train", "dev", "devtest", "test")}


BAD_DATA = [
    (
        {**experiment(), "data": {"max_length": 2**53 + 1}},
        "'data.max_length' is 9007199254740993, must be at",
    ),
    ({**experiment(), "data": []}, "'data' must contain"),
    ({**experiment(), "data": {"modules": "swriter"}}, "'data.modules' must be a list"),
    ({**experiment(), "data": {"modules": [1]}}, "'data.modules' must be text, not 1"),
    ({**experiment(), "data": {"train": {"sauce": "x"}}}, "unknown key 'data.train.sauce'"),
    ({**experiment(), "data": {"test": {"sauce": "x"}}}, "unknown key 'data.test.sauce'"),
    (
        {**experiment(), "data": {"test": "x"}},
        "'data.test' must contain files, or test sets by name, not 'x'",
    ),
    ({**experiment(), "data": {"test": {"a.b": {}}}}, "'data.test.a.b': the name of a test set may contain"),
    ({**experiment(), "data": {"test": {"a": {"target": 5}}}}, "must be text or a list of text, not 5"),
    (
        {**experiment(), "data": {"test": {"a": {}, "devtest": {}}}},
        "must not be one of pooled, source, target, file, columns, mtdata, sacrebleu, task, devtest",
    ),
    ({**experiment(), "data": {"test": {"pooled": {}}}}, "'data.test.pooled': the name of a test set"),
    ({**experiment(), "data": {"test": {"a": {"target": [1]}}}}, "'data.test.a.target' must be text, not 1"),
    (
        {**experiment(), "data": {"test": {"a": {"target": ["{x"]}}}},
        "'data.test.a.target' is '{x', must be a",
    ),
    (
        {**experiment(), "data": {"dev": {"source": ["x", "y"]}}},
        "'data.dev.source' must be text, not a list: only data.train may have several source files",
    ),
    ({**experiment(), "data": {"dev": {"target": ["x", 5]}}}, "'data.dev.target' must be text, not 5"),
    ({**experiment(), "data": {"dev": {"alignment": "x"}}}, "unknown key 'data.dev.alignment'"),
    ({**experiment(), "data": {"train": []}}, "'data.train' must contain files, or corpora by name, not []"),
    (
        {**experiment(), "data": {"train": {"a": {"source": "s"}, "file": {}}}},
        "'data.train.file': the name of a corpus may contain letters, digits, '_' and '-', and must not be",
    ),
    ({**experiment(), "data": {"train": {"a": {"sauce": "s"}}}}, "unknown key 'data.train.a.sauce'"),
    ({**experiment(), "data": {"train": {"a": {}, "b/c": {}}}}, "'data.train.b/c': the name of a corpus"),
    ({**experiment(), "data": {"train": {"sacrebleu": "wmt11"}}}, "unknown key 'data.train.sacrebleu'"),
    (
        {**experiment(), "data": {"dev": {"columns": {"source": 0}}}},
        "'data.dev.columns.source' is 0, must be",
    ),
    ({**experiment(), "data": {"folder": "{x"}}, "'data.folder' is '{x', must be a path"),
    ({**experiment(), "data": {"source_language": "x y"}}, "'data.source_language' is 'x y', must be"),
]


def with_train(**keys):
    """Return a config with other keys of train."""
    return {**experiment(), "data": {"kind": "files", **FILES, "train": keys}}


def with_dev(**keys):
    """Return a config with other keys of dev."""
    return {**experiment(), "data": {"kind": "files", **FILES, "dev": keys}}


INCONSISTENT_DATA = [
    (
        with_train(source=["a", "b"], target="c"),
        "'data.train.target' has 1 file, but 'data.train.source' has 2",
    ),
    (with_train(**FILES["train"], task=["a", "b"]), "'data.train.task' has 2 files, but 'data.train.source'"),
    (
        with_train(**FILES["train"], file="a.tsv"),
        "'data.train.source' cannot be combined with 'data.train.file'; remove one",
    ),
    (with_train(file="a.tmx", mtdata="x"), "'data.train.mtdata' cannot be combined with 'data.train.file'"),
    (
        with_train(file="a.txt"),
        "'data.train.file' is 'a.txt', must be a file whose name ends in .tsv, .csv, .tmx",
    ),
    (
        {**experiment(), "data": {"kind": "files", **FILES, "split": {"dev": 5}}},
        "'data.dev' names files, but data.split.dev cuts it from train; remove one",
    ),
    ({**experiment(), "data": {"split": {"dev": 5}}}, "'data.split' needs data.kind: files"),
    (
        {
            **experiment(),
            "data": {
                "kind": "files",
                **FILES,
                "test": {"test": {"source": "s", "target": "t"}},
                "split": {"test": 5},
            },
        },
        "'data.test': 'test' is the test set taken from train (data.split); rename this one",
    ),
    ({**experiment(), "data": {"kind": "files", **FILES, "protected": ["(a)"]}}, "'(a)' has a group"),
    (
        {**experiment(), "data": {"kind": "files", **FILES, "protected": ["a"], "tokenized": True}},
        "'data.protected' has no effect with data.tokenized",
    ),
    (with_train(source="a.po", target="b.po"), "'data.train.source' names a.po, which is not plain text"),
    (with_train(file="a.po", fields={"task": "x"}), "catalogues have only the field msgctxt, for task"),
    (with_train(file="a.jsonl", fields={"source": "x"}), "'data.train.fields': give both source and target"),
    (with_train(file="a.csv", fields={"source": "x,y", "target": "z"}), "'x,y' has a comma"),
    (with_train(file="a.tmx", fields={"source": "x", "target": "y"}), "fields' needs a file of .csv, .jsonl"),
    (
        with_train(file="a.csv", columns={"task": 3}, fields={"source": "x", "target": "y"}),
        "'data.train.columns' has no effect with 'data.train.fields'",
    ),
    (with_train(file="a.tmx", columns={"source": 3}), "'data.train.columns' needs a file of .tsv, .csv"),
    (with_train(**FILES["train"], columns={"task": 3}), "'data.train.columns' needs a file of .tsv, .csv"),
    (with_train(file="a.tsv", columns={"source": 2}), "source and target are the same column, 2"),
    (with_train(file=["a.tsv", "b.tmx"], columns={"task": 3}), "columns.task': b.tmx has no labels"),
    (
        with_train(file="a.tsv", task="x"),
        "'data.train.task' needs source and target, it has no effect with file",
    ),
    (with_train(mtdata="a-b-1-deu-eng", task="x"), "'data.train.task' needs source and target"),
    (with_train(mtdata="europarl"), "'data.train.mtdata' is 'europarl', must be an ID as in `mtdata list`"),
    (with_train(mtdata=["a-b-1-deu-eng"] * 2), "'data.train.mtdata': 'a-b-1-deu-eng' is listed twice"),
    (
        with_train(a={"file": "a.tsv"}, b={"source": "s"}),
        "'data.train.b.target' is missing; data.kind: files",
    ),
    (
        {
            **experiment(),
            "data": {
                "kind": "files",
                **FILES,
                "tokenized": True,
                "train": {"a": {**FILES["train"], "alignment": "x"}, "b": {"file": "b.tsv"}},
            },
        },
        "'data.train.b.alignment' is missing, but 'data.train.a' has one",
    ),
    (with_dev(sacrebleu="wmt11x"), "'data.dev.sacrebleu': sacrebleu has no test set 'wmt11x'; did you mean"),
    (
        {
            **with_dev(sacrebleu="wmt11"),
            "data": {**with_dev(sacrebleu="wmt11")["data"], "source_language": "sw"},
        },
        "'data.dev.sacrebleu': sacrebleu's test set 'wmt11' is not in sw-en-us; it is in cs-en, de-en",
    ),
    (
        with_dev(sacrebleu="wmt11", target="t"),
        "'data.dev.target' cannot be combined with 'data.dev.sacrebleu'",
    ),
    (with_dev(sacrebleu="wmt11", task="t"), "'data.dev.task' needs source and target"),
    (
        {**experiment(), "data": {"dev": {"sacrebleu": "wmt11"}}},
        "'data.dev.sacrebleu' needs data.kind: files",
    ),
    ({**experiment(), "data": {"train": {"a": {"file": "x.tsv"}}}}, "'data.train.a.file' needs data.kind"),
    (
        {**experiment(), "data": {"test": {2016: {}}}},
        "'data.test.2016': the name of a test set must be text, not 2016; put it in quotes",
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
        "'data.test.news.target' is missing; a test set needs source text and a reference translation",
    ),
    (
        {**experiment(), "data": {"test": {"news": {**FILES["test"], "devtest": {"target": "t"}}}}},
        "'data.test.news.devtest.source' is missing; a devtest needs source text and a reference",
    ),
    (
        {
            **experiment(),
            "data": {"kind": "files", **FILES, "test": {**FILES["test"], "devtest": FILES["test"]}},
        },
        "'data.test.devtest' needs a named test set; use data.devtest instead",
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
