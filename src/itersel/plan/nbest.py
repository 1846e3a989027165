"""With n-best lists in the place of a decoder: their texts, and the shards that are made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from itersel.config.command_line import options
from itersel.config.data import Split
from itersel.config.file_checks import Size, check_outputs, check_shards, given_splits
from itersel.config.splits import texts_of
from itersel.config.values import Config
from itersel.corpus.columns import reference_columns
from itersel.corpus.text import check_line_counts, read_text
from itersel.errors import FilePath
from itersel.nbest.lists import read_quality
from itersel.nbest.sharding import find_lists, summarise
from itersel.plan.commands import Files
from itersel.plan.texts import Shards, Texts


class ListTexts:
    """The texts with lists, and their shards."""

    def __init__(self, config: Config, files: Files, texts: Texts, shards: Shards) -> None:
        self._config, self._files, self._texts, self._shards = config, files, texts, shards
        self.splits = ["train", *texts.held_out]

    def _given(self, split: str) -> Any:
        return texts_of(self._config, split)[""]

    def _columns(self, split: str) -> dict[str, str]:
        """Return the user's files by the column of the text that is made of them."""
        text = self._given(split)
        columns = dict(zip(reference_columns(len(text.target)), text.target, strict=True))
        task = text.task[0] if isinstance(text, Split) and text.task else text.task
        columns |= {"task": task} if task else {}
        return columns | ({"source": text.source} if text.source else {})

    def given_texts(self, split: str) -> list[str]:
        """Return the user's files besides lists: references, labels, source."""
        return list(self._columns(split).values())

    def texts(self, split: str) -> list[str]:
        """Return what is made of them."""
        found = [self._files.text(split, column) for column in self._columns(split)]
        if self._texts.has_references(split):
            found.append(f"{self._files.results}/corpus/{split}.statistics.json")
        return [*found, self._files.preparation, self._files.recaser] if split == "train" else found

    def text_options(self, split: str) -> str:
        """Return the options of `itersel corpus references`."""
        data, text = self._config.data, self._given(split)
        columns = self._columns(split)
        return options(
            split=split,
            target=list(text.target),
            source=columns.get("source"),
            task=columns.get("task"),
            source_language=data.source_language,
            target_language=data.target_language,
            output=f"{self._files.results}/corpus",
        )

    def _references(self, split: str) -> list[str]:
        columns = reference_columns(len(self._given(split).target))
        return [self._files.text(split, column) for column in columns]

    def lists(self, wildcards: Any) -> list[str]:
        """Return the lists of a text, and what else its shards are made of."""
        text = self._given(wildcards.split)
        found = [*find_lists(text.lists), *([text.quality] if text.quality else [])]
        return [*found, *self._references(wildcards.split), *self._shards.labels(wildcards)]

    def shard_options(self, wildcards: Any) -> str:
        """Return the options of `itersel shard`."""
        text = self._given(wildcards.split)
        files = options(
            nbest=list(text.lists),
            target=self._references(wildcards.split),
            quality=text.quality,
            dense=list(self._config.data.dense),
        )
        return f"{files} {self._shards.cutting_options(wildcards)}"

    @property
    def import_options(self) -> str:
        """The options of `itersel lists`, apart from the shard."""
        data = self._config.data
        language = None if data.tokenized else data.target_language
        return options(language=language, protect=list(data.protected))


def describe_lists(config: Config) -> Iterator[str]:
    """Check all lists and references of a config, and yield a line about each split.

    Raises the first error, or that of an experiment with more shards than sentences, or of another system.
    """
    sizes: dict[str, Size] = {}
    for split in given_splits(config):
        text = texts_of(config, split)[""]
        references: dict[FilePath, list[str]] = {path: read_text(path) for path in text.target}
        if references:
            check_line_counts(*references.items())
        sentences = next((len(lines) for lines in references.values()), None)
        found = summarise(text.lists, sentences, config.data.dense)
        translations = found.sentence.shape[0]
        if text.quality:
            read_quality(text.quality, translations)
        sizes[split] = Size({1: found.sentences})
        dense = f"{len(found.dense)} dense features ({', '.join(found.dense)})"
        yield f"{split}: {found.sentences:,} sentences, {translations:,} translations, {dense}"
    for name in config.experiments:
        check_shards(config, name, sizes)
    check_outputs(config, sizes)
