"""Lists of another decoder, with what learners and tuners learn from: a quality, or what BLEU needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from itersel.bleu.order import ORDER
from itersel.bleu.references import join_references
from itersel.bleu.score_kernels import Statistics, ngram_matches
from itersel.corpus.text import split_words
from itersel.corpus.vocabulary import Side, WordNumbers, number_words
from itersel.lists.reading import ReadLists, without_duplicates
from itersel.lists.table import NO_NUMBERS, ListTable, closest_reference_lengths
from itersel.storage.arrays import Float64s


def make_learnable(
    lists: ReadLists,
    tokenize_lines: Callable[[Sequence[str]], Sequence[str]],
    references: Sequence[Sequence[str]],
    quality: Float64s = NO_NUMBERS,
) -> ReadLists:
    """Keep only the first of equal translations, and add what is learned from: matches, and any quality.

    `tokenize_lines` takes the text, and each reference; without references, only lengths are counted.
    `quality` is that of each translation in the table.
    """
    kept = without_duplicates(lists._replace(table=lists.table._replace(quality=quality)))
    return kept._replace(table=_with_statistics(kept.table, tokenize_lines, references))


def _with_statistics(
    table: ListTable,
    tokenize_lines: Callable[[Sequence[str]], Sequence[str]],
    references: Sequence[Sequence[str]],
) -> ListTable:
    """Return the table with what BLEU needs: matches with the references, and lengths."""
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
    reference_offset = joined.sentence_offset
    if not reference_offset.shape[0]:
        reference_offset = np.arange(table.sentence_count + 1)
    closest = closest_reference_lengths(reference_length, reference_offset, length, table.offset)
    return table._replace(
        statistics=Statistics(matches, length, closest),
        reference_length=reference_length,
        reference_offset=reference_offset,
    )
