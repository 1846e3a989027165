"""Memory and time that jobs request, from the size of the training text.

The figures were measured with 16,600, 166,000 and 1.66 million pairs of 28 words (docs/scale.md), and have a
third or more to spare. A killed job is retried with twice as much.
"""

from __future__ import annotations

import math
import os
from typing import NamedTuple

from itersel.config.independent import with_independent_tasks
from itersel.config.splits import corpora, is_given
from itersel.config.tasks import files_of
from itersel.config.values import Config
from itersel.storage.compression import compression_of

# Of tokenised text, with a space.
BYTES_PER_WORD = 6.0
COMPRESSION = 3.0
WORDS_PER_PAIR = 25
# Source words, where the text is not known: before a download.
UNKNOWN_WORDS = 2e6
# Rules per source word with RULES_PAIRS training pairs; their number grows as a power of the pairs.
RULES, RULES_GROWTH, RULES_PAIRS = 147, 0.42, 30_000


class Request(NamedTuple):
    """What the jobs of a rule request.

    Attributes
    ----------
    memory, minutes
        MB and minutes, however small the text.
    memory_per_word, minutes_per_word
        More for each million source words of train.
    memory_per_rule
        More for each million rules in the grammars of a shard.
    """

    memory: float
    minutes: float
    memory_per_word: float = 0.0
    minutes_per_word: float = 0.0
    memory_per_rule: float = 0.0

    @property
    def grows(self) -> bool:
        """Whether the memory depends on the text."""
        return self.memory_per_word + self.memory_per_rule > 0


# The time of train_shard and write_lists is that of one shard: a task of n shards requests n times as much.
REQUESTS = {
    "fetch_help": Request(2000, 60),
    "prepare_help": Request(2000, 60),
    "prepare_train": Request(500, 60, 20, 2),
    "align_direction": Request(500, 30, 50, 0.5),
    "align": Request(500, 30, 10, 0.5),
    "estimate_language_model": Request(1500, 60, 10, 1),
    "compile_language_model": Request(500, 60, 100, 1),
    "estimate_fold_model": Request(1500, 60, 100, 2),
    "index_corpus": Request(500, 30, 95, 0.2),
    "shard_corpus": Request(500, 30, 30, 0.2),
    "extract_shard": Request(500, 60, 55, 1, 200),
    "train_shard": Request(1000, 240, 15, 0, 220),
    "mix": Request(8000, 60),
    "write_lists": Request(1000, 240, 15, 0, 220),
    # k-best MIRA holds all lists: with sparse features, 3.7 GB for 1,029 sentences, 100-best, ten iterations
    "tune": Request(8000, 120),
    "decode_shard": Request(1000, 120, 15),
    "describe_selection": Request(8000, 60),
    # TER of 3,000 sentences takes a minute or two of processor time
    "detokenize": Request(2000, 60),
    "choose_epoch": Request(2000, 120),
    "compare_systems": Request(4000, 60),
    "explain_translations": Request(2000, 60),
    "write_page": Request(4000, 60),
    "count_rules": Request(2000, 60),
}
COMPARISON_MINUTES = 5  # more for each experiment
# MB: enough for the libraries, also where a limit is on address space (h_vmem)
LEAST_MEMORY = 2000


def rules_per_word(pairs: float) -> float:
    """Return the number of rules in a grammar for each word of the sentence, with so many training pairs."""
    return float(RULES * (pairs / RULES_PAIRS) ** RULES_GROWTH)


def train_words(config: Config, fetched: str) -> float:
    """Return the number of source words of train, estimated from the sizes of its files.

    Parameters
    ----------
    fetched
        The folder of downloads. What is not there yet is not known.
    """
    if not is_given(config, "train"):
        return UNKNOWN_WORDS
    size = 0.0
    for corpus in corpora(config, "train", fetched):
        for path in (*corpus.source, *corpus.target, *corpus.file):
            try:
                size += os.path.getsize(path) * (COMPRESSION if compression_of(path) else 1)
            except OSError:
                return UNKNOWN_WORDS
    return size / 2 / BYTES_PER_WORD


def requests(config: Config, words: float) -> dict[str, dict[str, int]]:
    """Return the resources ``mem_mb`` and ``runtime`` of the jobs of each rule.

    They are numbers, as functions of the attempt would add ten seconds to the planning of 25,000 jobs.

    Parameters
    ----------
    words
        Number of source words of train.
    """
    files = [
        files_of(one.tasks)
        for one in with_independent_tasks(config).experiments.values()
        if one.tune_on == "train"
    ]
    rules = rules_per_word(words / WORDS_PER_PAIR) * words / min(files) if files else 0.0
    found = dict[str, dict[str, int]]()
    for name, one in REQUESTS.items():
        memory = one.memory + (one.memory_per_word * words + one.memory_per_rule * rules) / 1e6
        memory = max(LEAST_MEMORY, memory)
        minutes = one.minutes + one.minutes_per_word * words / 1e6
        found[name] = {"mem_mb": math.ceil(memory / 100) * 100, "runtime": math.ceil(minutes)}
    found["compare_systems"]["runtime"] += COMPARISON_MINUTES * len(config.experiments)
    return found
