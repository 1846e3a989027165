"""What learners learn from: shards, decoded with a language model, or another decoder's lists."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from itersel.config.search import FeatureSettings, GivenListFeatures, Search
from itersel.decode.decoder import Decoder
from itersel.decode.list_decoder import ListDecoder
from itersel.errors import FilePath
from itersel.grammar import shard as shards
from itersel.grammar.shard import Shard
from itersel.lists import files as lists
from itersel.lists.table import ListTable
from itersel.lm.binary import load_model

# What learners read, and how they translate it.
Sentences: TypeAlias = Shard | ListTable
SentenceDecoder: TypeAlias = Decoder | ListDecoder

# Consecutive files often have the same model.
_load_model = lru_cache(maxsize=1)(load_model)


def open_shard(path: FilePath, model: str, settings: Search, threads: int = 1) -> tuple[Shard, list[Decoder]]:
    """Read a shard with grammars and a language model, and make a decoder for each thread."""
    shard, loaded = shards.read_shard(path, settings.templates, settings.features), _load_model(model)
    return shard, [Decoder(shard, loaded, settings) for _ in range(threads)]


def open_sentences(
    path: FilePath, model: str | None, settings: FeatureSettings, threads: int = 1
) -> tuple[Sentences, list[SentenceDecoder]]:
    """Read a shard, and make a decoder for each thread; without a language model, the file contains lists.

    With a model, the settings are those of a `Search`.
    """
    if model is None:
        left_out = settings.left_out_templates if isinstance(settings, GivenListFeatures) else ()
        table = lists.read_list_table(path, settings.features, left_out=left_out)
        return table, [ListDecoder(table)]

    assert isinstance(settings, Search)
    shard, decoders = open_shard(path, model, settings, threads)
    return shard, [*decoders]


def count_sentences(path: FilePath, model: str | None) -> int:
    """Return the number of sentences without reading grammars or lists."""
    return lists.count_sentences(path) if model is None else shards.count_sentences(path)
