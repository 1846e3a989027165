"""The words of n-best lists and of their sources, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.corpus.prepare import Preparation
from itersel.corpus.text import split_words
from itersel.corpus.tokenization import text_of_token
from itersel.corpus.vocabulary import Side, WordNumbers, number_words
from itersel.storage.arrays import Int64s
from itersel.storage.ragged import offsets_of, rows_of, take_rows

# The first word of each vocabulary: what words without links are linked to.
NULL = ""


class ListWords(NamedTuple):
    """Words of lists. Shapes: N sentences, H translations, V and W different words of source and target."""

    offset: Int64s  # (N + 1): the translations of each sentence
    source: Side  # (N)
    target: Side  # (H)
    source_words: list[str]  # (V), the first one NULL
    target_words: list[str]  # (W), the first one NULL

    @property
    def sentence(self) -> Int64s:
        """The sentence of each translation, int64 (H)."""
        return rows_of(self.offset)


def list_words(
    offset: Int64s, sources: Sequence[str], translations: Sequence[str], preparation: Preparation
) -> ListWords:
    """Return the words of lists.

    Parameters
    ----------
    offset
        The translations of each sentence, int64 (N + 1).
    sources
        The N source sentences, cleaned.
    translations
        The H translations, cleaned.
    """
    numbers = [WordNumbers({NULL: 0}) for _ in range(2)]
    prepared = preparation.prepare_cleaned_source(sources), preparation.prepare_cleaned_target(translations)
    sides = [
        number_words(list(map(split_words, lines)), words)
        for lines, words in zip(prepared, numbers, strict=True)
    ]
    return ListWords(offset, sides[0], sides[1], list(numbers[0]), list(numbers[1]))


def word_characters(word: str) -> str:
    """Return the characters of a word, without marks of the tokeniser and spaces."""
    return text_of_token(word).replace(" ", "")


def characters_of(side: Side, words: Sequence[str]) -> Side:
    """Return the characters of each sentence without spaces, as in chrF, given what its words stand for."""
    used, number = np.unique(side.words, return_inverse=True)
    spelled = [word_characters(words[word]) for word in used.tolist()]
    characters = np.frombuffer("".join(spelled).encode("utf-32-le"), np.int32)
    token, ends = take_rows(characters, offsets_of(list(map(len, spelled))), number)
    return Side(token, ends[side.offset])


def sum_words(side: Side, number: NDArray[Any]) -> Int64s:
    """Return the sum of the numbers of the words of each sentence, given the number of each word."""
    return np.diff(offsets_of(number[side.words])[side.offset])
