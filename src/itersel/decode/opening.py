"""What learners learn from: shards, decoded with a language model, or another decoder's lists.

Learners know both only as `Sentences` and `SentenceDecoder`. The class of the settings says which it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from itersel.bleu.references import References
from itersel.config.search import GivenListFeatures, Search
from itersel.decode.decoder import Decoder, DerivationFinder, KBest, WeightVectors
from itersel.decode.list_decoder import ListDecoder
from itersel.errors import FilePath
from itersel.grammar.shard import FeatureRows, Shard, count_sentences_of_shard, read_shard
from itersel.lists.files import count_sentences_of_lists, read_list_table
from itersel.lm.binary import load_model
from itersel.storage.arrays import UInt64s
from itersel.storage.strings import Strings


class Sentences(Protocol):
    """What learners ask of sentences: a `Shard`, or the `ListTable` of another decoder's lists.

    Rows are the rules of a shard, or the translations of a table. Shape: F sparse features.
    """

    @property
    def sentence_count(self) -> int:
        """Number of sentences."""

    @property
    def can_be_learned_from(self) -> bool:
        """Whether there are references, or a quality to learn from instead of BLEU."""

    @property
    def feature_key(self) -> UInt64s:
        """Keys of the sparse features, ascending, uint64 (F)."""

    @property
    def feature_name(self) -> Strings:
        """Names of the sparse features (F)."""

    def features_of(self, begin: int, end: int) -> FeatureRows:
        """Return the rows of sentences `begin` to `end`, and the sparse features of all rows."""

    def references(self, sentence: int) -> References:
        """Return the references of a sentence."""


class SentenceDecoder(Protocol):
    """What learners ask of a decoder of these sentences: `Decoder`, or `ListDecoder`. Each has a thread."""

    @property
    def dense_names(self) -> tuple[str, ...]:
        """Names of the dense features."""

    def decode(
        self, sentence: int, weights: WeightVectors, k: int, finder: DerivationFinder | None = None
    ) -> KBest:
        """Return at most `k` translations of a sentence, best first, and those that `finder` finds."""


# Consecutive files often have the same model.
_load_model = lru_cache(maxsize=1)(load_model)


def open_shard(path: FilePath, model: str, settings: Search, threads: int = 1) -> tuple[Shard, list[Decoder]]:
    """Read a shard with grammars and a language model, and make a decoder for each thread."""
    shard = read_shard(path, settings.templates, settings.features)
    loaded = _load_model(model)
    return shard, [Decoder(shard, loaded, settings) for _ in range(threads)]


def open_sentences(
    path: FilePath, model: str | None, settings: Search | GivenListFeatures, threads: int = 1
) -> tuple[Sentences, Sequence[SentenceDecoder]]:
    """Read a shard, and make a decoder for each thread; lists need no language model, and one decoder."""
    if isinstance(settings, GivenListFeatures):
        list_table = read_list_table(path, settings.uses_sparse, left_out=settings.left_out_templates)
        return list_table, [ListDecoder(list_table)]

    assert model is not None, "only lists need no language model"
    return open_shard(path, model, settings, threads)


def count_sentences(path: FilePath, settings: Search | GivenListFeatures) -> int:
    """Return the number of sentences without reading grammars or lists."""
    if isinstance(settings, GivenListFeatures):
        return count_sentences_of_lists(path)
    return count_sentences_of_shard(path)
