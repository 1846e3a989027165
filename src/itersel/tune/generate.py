"""Decode the sentences of a shard, and write a file of k-best lists for tuners (`itersel.lists.files`).

A file contains the lists of one shard, decoded with the weights of one iteration: the BLEU statistics and the
features of each translation, without its text. It is written sentence by sentence, so memory does not depend
on the size of the shard. Sparse features are rows in a table in the file, in order of first occurrence; a
table sorted by key would have to be complete before the first sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from itersel.config.plain import recorded
from itersel.config.search import ListSettings
from itersel.errors import FilePath, InputError
from itersel.lists.duplicates import hash_translations
from itersel.lists.files import FORMAT, header_attributes
from itersel.lists.table import rounded
from itersel.run.progress import progress
from itersel.storage.formats import FileFormat
from itersel.storage.hdf5_rows import RowWriter, write_rows
from itersel.vectors.weights import Weights, make_weights, read_weights

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from itersel.decode.decoder import Decoder
    from itersel.grammar.shard import Shard

# Weights of the first iteration: with all weights zero, the order of the grammar would determine the lists.
# The language model and the three costs of a rule have the same weight. Words are rewarded, because each of
# these costs something for every word. Copied and unknown words and glue rules are penalised.
START = {
    "LanguageModel": 1.0,
    "EgivenFCoherent": -1.0,
    "MaxLexFgivenE": -1.0,
    "MaxLexEgivenF": -1.0,
    "WordPenalty": -2.0,
    "Glue": -1.0,
    "PassThrough": -1.0,
    "LanguageModel_OOV": -1.0,
}
# Column of summed sparse features. Its name contains spaces, so it cannot be the name of a dense feature.
SUM = "sparse features"


def start_weights(dense_names: Sequence[str]) -> Weights:
    """Return the weights of the first iteration: 1 for each dense feature if none of them is itersel's."""
    own = not START.keys().isdisjoint(dense_names)
    return make_weights(START if own else dict.fromkeys(dense_names, 1.0))


def read_start(path: str | None, iteration: int, dense_names: Sequence[str]) -> Weights:
    """Return the weights for decoding from a file; only the first iteration has default weights."""
    if path is not None:
        return read_weights(path)
    if iteration > 1:
        raise InputError(f"iteration {iteration} needs --weights, the weights of the previous iteration")
    return start_weights(dense_names)


def generate_lists(
    path: FilePath,
    shard: Shard,
    decoder: Decoder,
    weights: Weights,
    settings: ListSettings,
    iteration: int = 1,
    number: int = 0,
) -> None:
    """Write the k-best lists of all sentences of a shard with references, whole or not at all.

    The file records the settings of the decoder, the iteration (from 1), and the `number` of the shard.
    """
    vectors = decoder.weight_vectors(weights)
    words = shard.vocabulary.to_list()

    # the shard's sparse features in order of first occurrence, and the position of each
    used: list[int] = []
    place = np.full(shard.feature_key.shape[0], -1, np.int32)

    with write_shard_rows(
        path, FORMAT, "k-best-lists", shard, decoder.dense_names, settings, iteration, number
    ) as writer:
        for sentence in progress(range(shard.sentence_count), "kbest"):
            found = decoder.decode(sentence, vectors, settings.k_best)
            references = shard.references(sentence)
            matches, length = found.matches(references)
            # not `itersel.decode.output.text_of`: tuners would be run again after an edit of the decoder
            texts = (
                " ".join(words[i] for i in found.word[begin:end])
                for begin, end in pairwise(found.word_offset)
            )

            fresh = np.unique(found.feature[place[found.feature] < 0])
            place[fresh] = np.arange(len(used), len(used) + fresh.shape[0])
            used += fresh.tolist()

            writer.append(
                {
                    "sentence_offset": np.array([found.score.shape[0]]),
                    "reference_length": references.lengths,
                    "sentence_reference_offset": np.array([references.lengths.shape[0]]),
                    "matches": matches,
                    "length": length,
                    "hash": hash_translations(
                        texts,
                        found.dense,
                        shard.feature_key[found.feature],
                        found.feature_value,
                        found.feature_offset,
                    ),
                    "dense": rounded(found.dense),
                    "feature": place[found.feature],
                    "feature_value": found.feature_value,
                    "feature_offset": found.feature_offset[1:],
                }
            )

        rows = np.array(used, np.int64)
        names = shard.feature_name.take(rows)
        writer.append(
            {
                "feature_key": shard.feature_key[rows],
                "feature_name": names.data,
                "feature_name_offset": names.offset[1:],
            }
        )


def write_shard_rows(
    path: FilePath,
    format: FileFormat,
    kind: str,
    shard: Shard,
    dense_names: Sequence[str],
    settings: DataclassInstance,
    iteration: int,
    number: int,
) -> AbstractContextManager[RowWriter]:
    """Return the context of a writer for a file of lists or forests; see `write_rows`.

    Its attributes tell `itersel.lists.joining` which files belong together.
    """
    attributes = header_attributes(
        kind, number, iteration, recorded(settings), shard.digest(), tuple(dense_names)
    )
    has_several = shard.sentence_reference_offset.shape[0] > 0
    return write_rows(path, format, len(dense_names), attributes, has_several)


def write_no_lists(path: FilePath, iteration: int, number: int) -> None:
    """Write a file without sentences, for an iteration in which nothing is tuned."""
    with write_rows(path, FORMAT, 1, {"kind": "no-lists", "iteration": iteration, "shard": number}):
        pass
