"""What BLEU needs of the translations in a list table: n-gram matches with the references, and lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from itersel.bleu.bleu_kernels import Statistics, closest_lengths, ngram_matches
from itersel.bleu.order import ORDER
from itersel.bleu.references import join_references
from itersel.corpus.text import split_words
from itersel.corpus.vocabulary import Side, WordNumbers, number_words
from itersel.lists.table import ListTable
from itersel.storage.arrays import Int32s, Int64s


def with_matches(
    table: ListTable,
    references: Sequence[Sequence[str]],
    tokenize_lines: Callable[[Sequence[str]], Sequence[str]] = list,
) -> ListTable:
    """Return a table with text, and with what BLEU needs: n-gram matches with the references, and lengths.

    Without references, only lengths are counted. `tokenize_lines` takes the text and each reference; by
    default, their words are separated by spaces.
    """
    numbers = WordNumbers()

    def numbered(lines: Sequence[str]) -> Side:
        return number_words([split_words(line) for line in tokenize_lines(lines)], numbers)

    word, offset = numbered(table.text.to_list())
    length = np.diff(offset).astype(np.int32)
    matches = np.zeros((length.shape[0], ORDER), np.int32)
    if not references:
        return table._replace(statistics=Statistics(matches, length, np.zeros_like(length)))

    joined = join_references([numbered(lines) for lines in references])
    for sentence in range(table.sentence_count):
        begin, end = table.offset[sentence : sentence + 2]
        matches[begin:end] = ngram_matches(word, offset[begin : end + 1], joined.of_sentence(sentence))

    reference_length = np.diff(joined.offset)
    sentence_reference_offset = joined.sentence_offset
    if not sentence_reference_offset.shape[0]:
        sentence_reference_offset = np.arange(table.sentence_count + 1)
    closest = closest_reference_lengths(reference_length, sentence_reference_offset, length, table.offset)
    return table._replace(
        statistics=Statistics(matches, length, closest),
        reference_length=reference_length,
        sentence_reference_offset=sentence_reference_offset,
    )


def closest_reference_lengths(
    reference_length: Int64s, sentence_reference_offset: Int64s, length: Int32s, offset: Int64s
) -> Int32s:
    """Return the length of the reference that is closest in length to each translation, int32 (H)."""
    closest = [np.zeros(0, np.int64)]
    lengths = length.astype(np.int64)
    for references, translations in zip(pairwise(sentence_reference_offset), pairwise(offset), strict=True):
        closest.append(closest_lengths(reference_length[slice(*references)], lengths[slice(*translations)]))
    return np.concatenate(closest).astype(np.int32)
