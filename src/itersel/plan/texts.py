"""The parallel text: its sources, splits and preparation."""

from __future__ import annotations

import functools
from dataclasses import fields, replace
from typing import Any

from itersel.config import splits
from itersel.config.data import CorpusKeys, Data
from itersel.config.settings import as_json
from itersel.config.text_steps import (
    FetchSettings,
    HelpSettings,
    Languages,
    PreparationSettings,
    PrepareSettings,
    SamplerSettings,
    SymmetrizationSettings,
)
from itersel.config.values import Config
from itersel.corpus.corpora import Corpus
from itersel.corpus.text_names import (
    BY_HASH,
    HELP_COLUMNS,
    MONOLINGUAL_FILE,
    RAW_SOURCE,
    STATISTICS,
    collected_file,
    reference_columns,
    text_name,
)
from itersel.plan.files import Files
from itersel.plan.origin import Origin
from itersel.plan.shell import no_option
from itersel.results import alignment_file


class Texts:
    """The splits of a run."""

    def __init__(self, config: Config, files: Files, origin: Origin) -> None:
        self._config = config
        self._files = files
        self._origin = origin
        # the splits of the test sets by name, and the devtests of test sets that have their own
        self.test_sets = splits.test_sets(config)
        self.test_set_devtests = splits.test_set_devtests(config)
        # all splits but train; splits with files in the config (others are from the Help, or cut from train)
        self.held_out = splits.held_out_splits(config)
        self.given = [split for split in self.held_out if splits.is_given(config, split)]

        self._is_help = splits.is_help(config)
        # the text from which train and the splits that are not given are prepared: train, or the Help by hash
        self.first = BY_HASH if self._is_help else "train"
        # prepared text only for the language model, if the config names any
        monolingual = f"{files.corpus}/{MONOLINGUAL_FILE}"
        self.prepared_monolingual = [monolingual] if config.data.monolingual else []

        # downloaded corpora, by the names of their folders
        self.downloads = {
            text_name(split, name): text
            for split in ["train", *self.given]
            for name, text in splits.texts_of(config, split).items()
            if splits.is_fetched(text)
        }

    @functools.cache  # noqa: B019  (there is one plan)
    def corpora(self, split: str) -> list[Corpus]:
        """Return the corpora of a split; `hash` is the text that is split by hash."""
        if split == BY_HASH:
            columns: dict[str, Any] = {
                column: (f"{self._files.help}/{collected_file(column)}",) for column in HELP_COLUMNS
            }
            return [Corpus(**columns)]
        return [_named(one) for one in splits.corpora(self._config, split, self._files.fetched)]

    @property
    def monolingual(self) -> list[str]:
        """The user's additional text for the language model."""
        return list(map(no_option, self._config.data.monolingual))

    def raw_files(self, split: str) -> list[str]:
        """Return the parallel text that a split is prepared from."""
        files = [file for corpus in self.corpora(split) for file in corpus.files]
        if split == self.first:
            # train is compared with them
            files += [file for held_out in self.given for file in self.raw_files(held_out)]
        return files

    def further_references(self, split: str) -> list[str]:
        """Return the columns of the additional references of a held-out split: target.1, target.2, ..."""
        if split not in self.given:
            return []
        [corpus] = self.corpora(split)
        return reference_columns(1 + len(corpus.further))[1:]

    def references(self, split: str) -> list[str]:
        """Return the files of all reference translations of a held-out split."""
        return [self._files.text(split, side) for side in ("target", *self.further_references(split))]

    def raw_references(self, split: str) -> list[str]:
        """Return the raw references of a split, in the order of `references`."""
        columns = self._origin.raw_columns(self.further_references(split))
        return [self._files.text(split, column) for column in columns]

    def devtest(self, wildcards: Any) -> str:
        """Return the split on which an epoch is chosen: devtest, or a test set's own devtest."""
        return self.test_set_devtests.get(getattr(wildcards, "test_set", ""), "devtest")

    def learned_references(self, split: str) -> list[str]:
        """Return the columns of the additional references used in learning: target.1, ... of dev."""
        return self.further_references(split) if split == "dev" else []

    def further_columns(self, split: str) -> tuple[str, ...]:
        """Return the columns that a split has in addition to source and target: target.1, ..., labels."""
        labels = ["labels"] if splits.has_labels(self._config, split) else []
        return (*self.further_references(split), *labels)

    def fetched_columns(self, name: str) -> tuple[str, ...]:
        """Return the columns of a downloaded corpus: source, target, target.1, ..."""
        return ("source", *splits.reference_names(self._config, self.downloads[name]))

    def fetch_settings(self, wildcards: Any) -> str:
        """Return the `FetchSettings` of a download."""
        text = self.downloads[wildcards.fetched]
        settings = FetchSettings(
            source_language=self._config.data.source_language,
            target_language=self._config.data.target_language,
            mtdata=text.mtdata,
            sacrebleu=getattr(text, "sacrebleu", None),
        )
        return as_json(settings)

    @property
    def help_folder(self) -> list[str]:
        """The folder of the LibreOffice Help, if the config names one."""
        folder = self._config.data.folder
        return [] if folder is None else [no_option(folder)]

    @property
    def help_settings(self) -> str:
        """The `HelpSettings`; for a folder, `Languages`."""
        data = self._config.data
        languages = Languages(source_language=data.source_language, target_language=data.target_language)
        if self.help_folder:
            return as_json(languages)
        return as_json(HelpSettings(**vars(languages), mirror=data.mirror, release=data.release))

    @property
    def statistics(self) -> list[str]:
        """The statistics of preparing all splits, train first."""
        return self._origin.statistics(self.held_out)

    @property
    def collection(self) -> list[str]:
        """The statistics of collecting the text; none if the config names the files."""
        return [f"{self._files.help}/{STATISTICS}"] if self._is_help else []

    @property
    def prepared(self) -> list[str]:
        """The files that preparing train makes, including the splits that are made from the same text."""
        text = self._files.text
        cut = [split for split in self.held_out if split not in self.given]
        files = [text(split, side) for split in ("train", *cut) for side in ("source", "target")]
        for split in cut:
            files += [*self.raw_references(split), text(split, RAW_SOURCE)]

        if self._is_help or splits.has_labels(self._config, "train"):
            files += [text(split, "labels") for split in ("train", *cut)]
        if splits.is_aligned(self._config):
            files.append(text("train", "alignment"))
        files += self.prepared_monolingual
        return [*files, self._files.preparation, self._files.recaser, self.statistics[0]]

    def prepare_settings(self, wildcards: Any) -> str:
        """Return the `PrepareSettings` of a held-out split; without one, those of train."""
        split = getattr(wildcards, "held_out", self.first)
        return as_json(self._of_first if split == self.first else self._of_held_out(split))

    def _of_held_out(self, split: str) -> PrepareSettings:
        data = self._config.data
        return PrepareSettings(
            corpora=tuple(self.corpora(split)),
            split=split,
            max_line_bytes=data.max_line_bytes,
            drop_invalid_pairs=data.drop_invalid_pairs,
            max_held_out=data.max_held_out,
        )

    @property
    def _of_first(self) -> PrepareSettings:
        data = self._config.data
        keys: dict[str, Any] = {item.name: getattr(data, item.name) for item in fields(CorpusKeys)}
        # what has no effect must not prepare train again if it changes
        effective: dict[str, Any] = {
            "deduplicate": Data.deduplicate if self._is_help else data.deduplicate,
            "max_held_out": data.max_held_out if self._is_help or data.cut.by_split else None,
        }

        return PrepareSettings(
            corpora=tuple(self.corpora(self.first)),
            preparation=PreparationSettings(
                source_language=data.source_language,
                target_language=data.target_language,
                tokenized=data.tokenized,
                protected=data.protected,
            ),
            split=self.first,
            held_out={split: self.corpora(split)[0] for split in self.given},
            cut=data.cut,
            **(keys | effective),
        )

    @property
    def sampler_settings(self) -> str:
        """The `SamplerSettings` of the word alignment in one direction."""
        return as_json(SamplerSettings(self._config.seed))

    @property
    def symmetrization_settings(self) -> str:
        """The `SymmetrizationSettings` of the word alignment of train."""
        return as_json(SymmetrizationSettings(self._config.align.symmetrization))

    @property
    def alignment(self) -> str:
        """The word alignment of train."""
        if splits.is_aligned(self._config):
            return self._files.text("train", "alignment")
        return f"{self._files.results}/{alignment_file('train')}"


def _named(corpus: Corpus) -> Corpus:
    """Return a corpus none of whose files is called ``-``, which is standard input."""
    names = ("source", "target", "further", "file", "labels", "alignment")
    sides: dict[str, Any] = {name: tuple(map(no_option, getattr(corpus, name))) for name in names}
    return replace(corpus, **sides)
