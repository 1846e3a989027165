"""The splits of a run: train, dev, devtest, and test sets with or without a name."""

from __future__ import annotations

from dataclasses import fields

from itersel.config.data import Data, ReferencedText, TestSet, TrainingText
from itersel.config.values import Config
from itersel.corpus.corpora import Corpus
from itersel.corpus.text_names import (
    UNNAMED_TEST_SET,
    collected_file,
    reference_columns,
    split_of_test_set,
    text_name,
)


def test_sets(config: Config) -> dict[str, str]:
    """Return the splits of the test sets by name; an unnamed test set is called ``test``."""
    data = config.data
    made = [""] if data.cut.test or is_help(config) else []
    made += data.held_out_labels
    names = [name or UNNAMED_TEST_SET for name in [*made, *data.test]]
    return {name: split_of_test_set(name) for name in names}


def is_help(config: Config) -> bool:
    """Return whether the text is the LibreOffice Help."""
    return config.data.kind == "libreoffice-help"


def has_given_lists(config: Config) -> bool:
    """Return whether a run has given lists: n-best lists of another decoder, which replace decoding."""
    return config.data.kind == "lists"


def kind_of_text(config: Config) -> str:
    """Return what the scored translations are: detokenized, tokenized like the corpus, or listed."""
    if has_given_lists(config):
        return "listed"
    return "tokenized" if config.data.tokenized else "detokenized"


def test_set_devtests(config: Config) -> dict[str, str]:
    """Return the splits of devtests that belong to a single test set, by name of the test set."""
    tests = config.data.test.items()
    return {name: text_name("devtest", name) for name, one in tests if one.devtest != ReferencedText()}


def held_out_splits(config: Config) -> list[str]:
    """Return all splits but train."""
    return ["dev", "devtest", *test_set_devtests(config).values(), *test_sets(config).values()]


def is_given(config: Config, split: str) -> bool:
    """Return whether the config names the corpora of a split; others are from the help or from train."""
    _, _, name = split.partition(".")
    if is_help(config):
        return name != "" and name in config.data.test
    return split not in config.data.cut.by_split


def texts_of(config: Config, split: str) -> dict[str, TrainingText | ReferencedText]:
    """Return the texts of a split by name of the corpus; only corpora of train have names."""
    kind, _, name = split.partition(".")
    if kind == "train":
        return dict(config.data.train)
    if kind == "test":
        return {"": config.data.test[name]}
    if name:
        return {"": config.data.test[name].devtest}
    return {"": getattr(config.data, kind)}


def has_references(config: Config, split: str) -> bool:
    """Return whether a split has references; the lists of a text to learn from may have numbers instead."""
    return any(text.target for text in texts_of(config, split).values())


def is_fetched(text: TrainingText | ReferencedText) -> bool:
    """Return whether a corpus is downloaded by a package."""
    return bool(text.mtdata) or (isinstance(text, ReferencedText) and text.sacrebleu is not None)


def texts_by_key(data: Data) -> dict[str, TrainingText | ReferencedText]:
    """Return all texts by their keys in the config, including texts that it lacks."""
    texts: dict[str, TrainingText | ReferencedText] = {
        f"data.{text_name('train', name)}": corpus for name, corpus in data.train.items()
    }
    texts |= {"data.dev": data.dev, "data.devtest": data.devtest}
    for name, text in (data.test or {"": TestSet()}).items():
        key = f"data.{text_name('test', name)}"
        texts[key] = text
        if text.devtest != ReferencedText():
            texts[f"{key}.devtest"] = text.devtest
    return texts


def corpora(config: Config, split: str, fetched: str) -> list[Corpus]:
    """Return the corpora of a split for which the config names files, as `corpus_blocks` reads them.

    Downloads are ``<fetched>/<text_name>/{source,target,target.1,...}.gz``.
    """
    found = []
    for name, text in texts_of(config, split).items():
        if is_fetched(text):
            folder = f"{fetched}/{text_name(split, name)}"
            first, *further = [f"{folder}/{collected_file(side)}" for side in reference_names(config, text)]
            source = f"{folder}/{collected_file('source')}"
            found.append(Corpus(name, (source,), (first,), tuple(further), labels=text.labels))
        else:
            found.append(_corpus(name, text))

    return found


def _corpus(name: str, text: TrainingText | ReferencedText) -> Corpus:
    """Return a text for which the config names files as a corpus, whose fields have the names of its keys."""
    files = {one.name: getattr(text, one.name) for one in fields(Corpus) if hasattr(text, one.name)}
    corpus = Corpus(name, **files)
    # several targets are the parts of train, but references of other texts
    return corpus if isinstance(text, TrainingText) else corpus.with_references()


def reference_names(config: Config, text: TrainingText | ReferencedText) -> list[str]:
    """Return the names of the target sides of a download: ``target``, ``target.1`` and so on."""
    count = 1
    if isinstance(text, ReferencedText) and text.sacrebleu is not None:
        from itersel.corpus.fetch import count_references

        count = count_references(text.sacrebleu, config.data.source_language, config.data.target_language)
    return reference_columns(count)


def has_labels(config: Config, split: str) -> bool:
    """Return whether the sentences of a split have labels: given labels, or the names of their corpora."""
    source = "train" if split in config.data.cut.by_split else split
    return any(
        name or text.labels or text.columns.label or text.fields.label
        for name, text in texts_of(config, source).items()
    )


def is_aligned(config: Config) -> bool:
    """Return whether the training corpus comes with its alignment."""
    return any(corpus.alignment for corpus in config.data.train.values())
