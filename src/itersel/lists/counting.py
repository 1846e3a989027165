"""What BLEU needs of lists: lengths, and matches with the references."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from itersel.bleu.references import join_references
from itersel.bleu.score_kernels import ORDER, Statistics, ngram_matches
from itersel.corpus.text import split_words
from itersel.corpus.vocabulary import Side, WordNumbers, number_words
from itersel.lists.table import ListTable, closest_reference_lengths


def with_statistics(
    table: ListTable,
    tokenize_lines: Callable[[Sequence[str]], Sequence[str]],
    references: Sequence[Sequence[str]],
) -> ListTable:
    """Return the table with what BLEU needs: matches with the references, and lengths.

    `tokenize_lines` takes the text, and each reference; without references, only lengths are counted.
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

    reference_length, reference_offset = np.diff(joined.offset), joined.sentence_offset
    if not reference_offset.shape[0]:
        reference_offset = np.arange(table.sentence_count + 1)
    closest = closest_reference_lengths(reference_length, reference_offset, length, table.offset)
    return table._replace(
        statistics=Statistics(matches, length, closest),
        reference_length=reference_length,
        reference_offset=reference_offset,
    )
