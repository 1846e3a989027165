"""Memory and time that jobs request, from the sizes of the texts.

The figures were measured with 16,600, 166,000 and 1.66 million pairs of 29 words (docs/scale.md), and leave a
margin of at least a quarter. With the profiles `slurm` and `sge`, a killed job is retried with twice as much.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import NamedTuple

from itersel.config.data import TrainingText
from itersel.config.splits import corpora, held_out_splits, is_given, is_help, test_sets, texts_of
from itersel.config.values import Config, Experiment
from itersel.lists.folders import find_lists
from itersel.storage.files import compression_of

# Of tokenised text, including a space.
BYTES_PER_WORD = 6.0
# How many times smaller a compressed file is.
COMPRESSION = 3.0
# The translations of a sentence differ little.
LIST_COMPRESSION = 10.0
WORDS_PER_PAIR = 25
# Of a line in n-best lists.
BYTES_PER_TRANSLATION = 300
# How many times as much memory a file of lists takes with features of text.
FEATURES_OF_TEXT = 9
# Memory of a translation without sparse features in the lists of a batch tuner, relative to one with them.
DENSE_SHARE = 0.1
# The forest of a sentence counts as this many translations.
FOREST_TRANSLATIONS = 100
# No job requests memory for more translations, 63 GB: whole training corpora are for online learners.
MAX_TUNED_TRANSLATIONS = 14e6
# Source words of train and of one of its files before a download.
DOWNLOAD_WORDS = 50e6
DOWNLOAD_FILE_WORDS = 25e3
# Source words of train of the LibreOffice Help.
HELP_WORDS = 0.5e6
# Source words of a held-out set whose size is not known.
HELD_OUT_WORDS = 75e3
# Words of text that give a model with as many n-grams as an ARPA file of one byte.
WORDS_PER_ARPA_BYTE = 0.05
# Rules per source word with RULES_PAIRS training pairs; their number grows as a power of the pairs.
RULES = 147
RULES_GROWTH = 0.42
RULES_PAIRS = 30_000
# Text preparation uses one more process for every PREPARED_WORDS source words, up to a maximum.
PREPARED_WORDS = 5e6
MAX_PREPARATION_PROCESSES = 8
# MB: enough for the libraries, also where a limit is on address space (h_vmem)
MIN_MEMORY = 2000


class TextSizes(NamedTuple):
    """The sizes that determine what jobs request, in words unless stated otherwise."""

    train: float  # its source side
    language_model: float  # its text
    grammars: float  # the source sentences of the largest part or piece
    lists: float = 0.0  # bytes of the n-best lists of the largest part or piece
    tuned: float = 0.0  # translations in all lists of a batch tuner; see `_tuned`
    compared: float = 0.0  # translations of all test sets by all systems

    @property
    def preparation_processes(self) -> int:
        """The number of processes that prepare train; it does not change the text."""
        return min(MAX_PREPARATION_PROCESSES, 1 + int(self.train / PREPARED_WORDS))

    def request(
        self,
        memory: float,
        minutes: float,
        *,
        train: tuple[float, float] = (0.0, 0.0),
        language_model: tuple[float, float] = (0.0, 0.0),
        rules: float = 0.0,
        lists: float = 0.0,
        tuned: float = 0.0,
        compared: float = 0.0,
    ) -> dict[str, int]:
        """Return the resources ``mem_mb`` and ``runtime`` of a rule's jobs.

        They are numbers because functions of the attempt would add ten seconds to the planning of 25,000
        jobs. `memory` (MB) and `minutes` do not depend on the texts. `train` and `language_model` are
        additional MB and minutes per million source words of train, and words of the language model's text;
        `rules` and `lists` are additional MB per million rules in the grammars of a file, and bytes of its
        n-best lists; `tuned` and `compared` are additional MB per million translations that a batch tuner and
        a comparison read.
        """
        train_memory, train_minutes = train
        lm_memory, lm_minutes = language_model

        memory += (train_memory * self.train + lm_memory * self.language_model + lists * self.lists) / 1e6
        memory += (tuned * self.tuned + compared * self.compared) / 1e6
        memory += rules * rules_per_word(self.train / WORDS_PER_PAIR) * self.grammars / 1e6
        minutes += (train_minutes * self.train + lm_minutes * self.language_model) / 1e6

        hundreds = math.ceil(max(MIN_MEMORY, memory) / 100)
        return {"mem_mb": 100 * hundreds, "runtime": math.ceil(minutes)}

    # `itersel config check` reports the largest of these three. All other rules state their own requests.

    def request_to_index(self) -> dict[str, int]:
        """Return the request of the job that indexes train."""
        return self.request(500, 30, train=(95, 0.2))

    def request_to_extract(self) -> dict[str, int]:
        """Return the request of a job that extracts the grammars of one file."""
        return self.request(500, 60, train=(55, 1), rules=200)

    def request_to_decode(self, minutes: float) -> dict[str, int]:
        """Return the request of a job that decodes a shard or piece; a task of n requests n times as much."""
        return self.request(1000, minutes, train=(15, 0), rules=220, lists=3)


def rules_per_word(pairs: float) -> float:
    """Return the number of rules per source word in grammars from this many training pairs."""
    return float(RULES * (pairs / RULES_PAIRS) ** RULES_GROWTH)


def text_sizes(config: Config, fetched: str) -> TextSizes:
    """Estimate the sizes of parallel text from file sizes; pending downloads count as large corpora."""
    known = _split_words(config, "train", fetched)
    train = known or (HELP_WORDS if is_help(config) else DOWNLOAD_WORDS)
    if config.data.max_train is not None:
        train = min(train, config.data.max_train * WORDS_PER_PAIR)

    language_model = train + sum(map(_bytes, config.data.monolingual)) / BYTES_PER_WORD
    if config.language_model.arpa is not None:
        language_model = _bytes(config.language_model.arpa) * WORDS_PER_ARPA_BYTE

    most = math.inf if config.data.max_held_out is None else config.data.max_held_out * WORDS_PER_PAIR
    held_out = {
        split: min(_split_words(config, split, fetched) or HELD_OUT_WORDS, most)
        for split in held_out_splits(config)
    }

    pieces = [words / config.decoder.pieces for words in held_out.values()]
    for one in config.experiments.values():
        if one.tune_on != "train":
            pieces.append(held_out[one.tune_on] / one.tasks.file_count)
        elif known is None and train == DOWNLOAD_WORDS:
            pieces.append(DOWNLOAD_FILE_WORDS)
        else:
            pieces.append(train / one.tasks.file_count)

    sentences = {split: words / WORDS_PER_PAIR for split, words in {**held_out, "train": train}.items()}
    return TextSizes(
        train=train,
        language_model=language_model,
        grammars=max(pieces),
        tuned=_tuned(config, lambda split, one: sentences[split] * _translations(one, FOREST_TRANSLATIONS)),
        compared=_systems(config) * sum(sentences[split] for split in test_sets(config).values()),
    )


def _translations(experiment: Experiment, without_k_best: int) -> int:
    """Return the number of translations per sentence that an experiment reads in one iteration.

    Where `k_best` is null, a tuner reads forests or, of another decoder, whole lists of unknown length.
    """
    return without_k_best if experiment.k_best is None else experiment.k_best


def _systems(config: Config) -> int:
    return len(config.experiments) + len(config.evaluation.outputs or {})


def _tuned(config: Config, translations: Callable[[str, Experiment], float], is_fixed: bool = False) -> float:
    """Return how many translations the largest tuning job reads, at most `MAX_TUNED_TRANSLATIONS`.

    `translations` returns the number for a split in one iteration; they may be fixed, the same in all
    iterations. Translations without sparse features, which tuners of mixed weights sum up, count less.
    """
    found = [0.0]
    for one in config.experiments.values():
        if one.batch_tuner is not None:
            is_dense = one.batch_tuner.searches_lines or not one.uses_sparse
            share = DENSE_SHARE if is_dense else 1.0
            epochs = 1 if is_fixed else one.epochs
            found.append(share * epochs * translations(one.tune_on, one))

        if one.retune.batch_tuner is not None:
            iterations = 1 if is_fixed else one.retune.iteration_count
            found.append(DENSE_SHARE * iterations * translations("dev", one))

    return min(MAX_TUNED_TRANSLATIONS, max(found))


def list_sizes(config: Config) -> TextSizes:
    """Estimate the sizes of another decoder's n-best lists from file sizes."""
    size = {
        split: sum(_bytes(path, LIST_COMPRESSION) for path in find_lists(texts_of(config, split)[""].lists))
        for split in ["train", *held_out_splits(config)]
    }

    parts = [size[one.tune_on] / one.tasks.file_count for one in config.experiments.values()]
    pieces = [size[split] / config.decoder.pieces for split in size if split != "train"]

    translations = {split: count / BYTES_PER_TRANSLATION for split, count in size.items()}
    size_of_lists = max(_translations(one, config.decoder.k_best) for one in config.experiments.values())
    compared = sum(translations[split] for split in test_sets(config).values()) / size_of_lists

    user_models = sum(map(_bytes, config.text_features.user_models))
    factor = 1 if config.text_features.is_empty else FEATURES_OF_TEXT

    return TextSizes(
        train=_model_words(config),
        language_model=user_models * WORDS_PER_ARPA_BYTE,
        grammars=0.0,
        lists=factor * max(*parts, *pieces),
        tuned=_tuned(config, lambda split, one: translations[split], is_fixed=True),
        # also the decoder's own first entries
        compared=(_systems(config) + 1) * compared,
    )


def _model_words(config: Config) -> float:
    """Return the number of source words on which models of features of lists are estimated."""
    if not config.text_features.needs_models:
        return 0.0

    train = texts_of(config, "train")[""]
    assert isinstance(train, TrainingText)
    paths = (*train.source, *config.text_features.source)
    return sum(map(_bytes, paths)) / BYTES_PER_WORD


def _split_words(config: Config, split: str, fetched: str) -> float | None:
    """Return the number of source words of a split, None if a part of it is not known."""
    cut = config.data.cut.by_split
    if split in cut:
        return float(cut[split] * WORDS_PER_PAIR)
    if not is_given(config, split):
        return None

    paths: list[str] = []
    for one in corpora(config, split, fetched):
        paths += (*one.source, *one.target, *one.file)
    if not all(map(os.path.exists, paths)):
        return None
    return sum(map(_bytes, paths)) / 2 / BYTES_PER_WORD


def _bytes(path: str, compression: float = COMPRESSION) -> float:
    """Return the size of a file without compression; 0 if it is missing, which is reported elsewhere."""
    try:
        return os.path.getsize(path) * (compression if compression_of(path) else 1)
    except OSError:
        return 0.0
