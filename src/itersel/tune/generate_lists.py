"""Decode sentences, and write their k-best lists for tuners.

The lists of one file of sentences, decoded with the weights of one iteration, are a tuning file
(`itersel.lists.files`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from itersel.bleu.bleu_kernels import Statistics
from itersel.config.plain import recorded
from itersel.config.search import KBestSettings
from itersel.decode.output import text_of
from itersel.errors import FilePath
from itersel.lists.files import write_lists
from itersel.lists.headers import header_attributes
from itersel.lists.table import ListTable
from itersel.run.progress import progress
from itersel.storage.provenance import KBEST_LISTS
from itersel.storage.strings import string_table
from itersel.vectors.sparse_rows import SparseRows
from itersel.vectors.weights import Weights

if TYPE_CHECKING:
    from itersel.bleu.references import References
    from itersel.decode.decoder import Decoder
    from itersel.decode.translations import KBest
    from itersel.grammar.sentence_grammars import SentenceGrammars
    from itersel.storage.arrays import UInt64s

NO_NAMES = string_table(())


def generate_lists(
    path: FilePath, grammars: SentenceGrammars, decoder: Decoder, weights: Weights, settings: KBestSettings
) -> None:
    """Write the k-best lists of all sentences, which have references, whole or not at all.

    The file records the settings of the decoder, the iteration, and the number of the file.
    """
    vectors = decoder.weight_vectors(weights)
    names = decoder.dense_names
    words = grammars.vocabulary.to_list()

    attributes = header_attributes(
        KBEST_LISTS, settings.file_number, settings.iteration, recorded(settings), grammars.digest(), names
    )
    has_several = grammars.sentence_reference_offset.shape[0] > 0

    with write_lists(
        path,
        columns=len(names),
        attributes=attributes,
        key=grammars.feature_key,
        name=grammars.feature_name,
        has_several=has_several,
    ) as writer:
        for sentence in progress(range(grammars.sentence_count), "kbest"):
            kbest = decoder.decode(sentence, vectors, settings.k_best)
            references = grammars.references(sentence)
            writer.append(_table_of(kbest, names, grammars.feature_key, words, references))


def _table_of(
    kbest: KBest, dense_names: tuple[str, ...], key: UInt64s, words: Sequence[str], references: References
) -> ListTable:
    """Return the list of one sentence as a table; sparse features have no names."""
    matches = kbest.matches(references).astype(np.int32)
    length = kbest.length.astype(np.int32)
    # the file lacks the closest lengths, which its readers compute
    statistics = Statistics(matches, length, np.zeros_like(length))
    return ListTable(
        np.array([0, kbest.score.shape[0]]),
        kbest.dense,
        dense_names,
        SparseRows(kbest.feature, kbest.feature_value, kbest.feature_offset, key, NO_NAMES),
        text=string_table(text_of(kbest, rank, words) for rank in range(kbest.score.shape[0])),
        reference_length=references.lengths.each,
        sentence_reference_offset=np.array([0, references.lengths.each.shape[0]]),
        statistics=statistics,
    )
