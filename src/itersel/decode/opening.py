"""What learners learn from: sentences decoded with their grammars, or given lists.

Learners know both only as `Sentences` and `SentenceDecoder`. Settings say which of the two a file contains: a
`Search`, or `GivenListFeatures`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from itersel.bleu.references import ReferenceLengths
from itersel.config.search import GivenListFeatures, Search
from itersel.decode.decoder import Decoder
from itersel.decode.list_decoder import ListDecoder
from itersel.decode.translations import Candidates, DerivationFinder, WeightVectors
from itersel.errors import FilePath, InputError
from itersel.grammar.grammar_format import FORMAT as GRAMMARS
from itersel.grammar.sentence_grammars import (
    FeatureRows,
    SentenceGrammars,
    count_sentences_of_grammars,
    read_grammars,
)
from itersel.lists.files import count_sentences_of_lists, read_list_table
from itersel.lists.table import ListTable
from itersel.lm.binary import load_model
from itersel.storage.arrays import UInt64s
from itersel.storage.hdf5 import header_of
from itersel.storage.strings import Strings


class Sentences(Protocol):
    """What learners ask of sentences: `SentenceGrammars`, or the `ListTable` of given lists.

    Rows are the rules of the grammars, or the translations of a table. Shape: F sparse features.
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

    def reference_lengths(self, sentence: int) -> ReferenceLengths:
        """Return the lengths of the references of a sentence."""


class SentenceDecoder(Protocol):
    """What learners ask of a decoder of these sentences: `Decoder`, or `ListDecoder`. Each has a thread."""

    @property
    def dense_names(self) -> tuple[str, ...]:
        """Names of the dense features."""

    def candidates(
        self, sentence: int, weights: WeightVectors, k: int, finder: DerivationFinder | None = None
    ) -> Candidates:
        """Return at most `k` translations of a sentence, best first, and those that `finder` finds."""


# Consecutive files often have the same language model.
_load_model = lru_cache(maxsize=1)(load_model)


def open_grammars(
    path: FilePath, language_model: str, settings: Search, threads: int = 1
) -> tuple[SentenceGrammars, list[Decoder]]:
    """Read sentences with their grammars and a language model, and make a decoder for each thread."""
    grammars = read_grammars(path, settings.templates, settings.features)
    loaded = _load_model(language_model)
    return grammars, [Decoder(grammars, loaded, settings) for _ in range(threads)]


def open_lists(path: FilePath, settings: GivenListFeatures, has_text: bool = False) -> ListTable:
    """Read given lists with the features that are used, and with text if `has_text`."""
    _refuse_grammars(path)
    return read_list_table(path, settings.uses_sparse, has_text, settings.left_out_templates)


def _refuse_grammars(path: FilePath) -> None:
    """Raise an InputError if a file contains sentences with their grammars instead of lists."""
    try:
        header_of(path, GRAMMARS)
    except InputError:
        # lists, or a file whose reader says what is wrong with it
        return
    raise InputError("contains grammars; name the decoder's language model with --language-model", path)


def open_sentences(
    path: FilePath, language_model: str | None, settings: Search | GivenListFeatures, threads: int = 1
) -> tuple[Sentences, Sequence[SentenceDecoder]]:
    """Read sentences, and make a decoder for each thread; given lists need no language model, and one."""
    if isinstance(settings, Search):
        assert language_model is not None, "only given lists need no language model"
        return open_grammars(path, language_model, settings, threads)

    list_table = open_lists(path, settings)
    return list_table, [ListDecoder(list_table)]


def count_sentences(path: FilePath, settings: Search | GivenListFeatures) -> int:
    """Return the number of sentences without reading grammars or lists."""
    if isinstance(settings, Search):
        return count_sentences_of_grammars(path)
    _refuse_grammars(path)
    return count_sentences_of_lists(path)
