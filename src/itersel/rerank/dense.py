"""Dense features of the text of translations, by their groups (`itersel.vectors.feature_names`).

Each group has a function that returns a column for each feature, or only the values of a single one. Shape: H
translations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.corpus.tokenization import protected, text_of_token
from itersel.corpus.vocabulary import Side
from itersel.lm.binary import LanguageModel
from itersel.lm.lookup_kernels import score_sentences
from itersel.lm.ngrams import END, START
from itersel.rerank.agreement import agreement
from itersel.rerank.lexicon import LexicalTable
from itersel.rerank.links import Links
from itersel.rerank.text_kernels import changed_copies, repeated_bigrams, words_without_links
from itersel.rerank.words import ListWords, sum_words, word_characters
from itersel.storage.arrays import Float64s, Int32s, Int64s
from itersel.storage.ragged import offsets_of


class FeatureInputs(NamedTuple):
    """What features of some lists are computed from; None if no feature needs it."""

    words: ListWords
    score: Float64s  # (H): by their decoder
    protected: tuple[str, ...]  # expressions of text that is one token, see `itersel.corpus.tokenization`
    links: Links | None
    lexicon: LexicalTable | None
    language_model: LanguageModel | None
    user_models: Sequence[LanguageModel] = ()


def lengths(inputs: FeatureInputs) -> NDArray[Any]:
    """Return words, characters without spaces, and by how much the words differ from the source's.

    The result is float64 (H, 3). The difference is that of log10(words + 1), without its sign.
    """
    words = inputs.words
    target, source = np.diff(words.target.offset), np.diff(words.source.offset)[words.sentence]
    size = np.array([len(word_characters(word)) for word in words.target_words])
    characters = sum_words(words.target, size)
    # of few different numbers, so that no processor's own logarithm is used
    logarithms = np.array([math.log10(n + 1) for n in range(int(max(target.max(), source.max(), 0)) + 1)])
    return np.column_stack([target, characters, np.abs(logarithms[target] - logarithms[source])])


def ranks(inputs: FeatureInputs) -> NDArray[Any]:
    """Return log10 of the rank in the list, from 1, and the score minus the highest one: float64 (H, 2)."""
    words = inputs.words
    begins = words.offset[:-1]
    sizes = np.diff(words.offset)
    rank = np.arange(words.offset[-1]) - np.repeat(begins, sizes)
    logarithms = np.array([math.log10(n + 1) for n in range(int(sizes.max(initial=1)))])
    highest = np.repeat(np.maximum.reduceat(inputs.score, begins), sizes)
    return np.column_stack([logarithms[rank], inputs.score - highest])


def language_model_scores(inputs: FeatureInputs) -> NDArray[Any]:
    """Return log10 of the language model's probability, and the words it does not know: float64 (H, 2)."""
    assert inputs.language_model is not None
    return _scores_by(inputs.language_model, inputs.words)


def user_model_scores(inputs: FeatureInputs) -> NDArray[Any]:
    """Return the two features of each of the user's L own language models, float64 (H, 2 L)."""
    scores = [_scores_by(model, inputs.words) for model in inputs.user_models]
    return np.concatenate(scores, axis=1)


def _scores_by(model: LanguageModel, words: ListWords) -> NDArray[Any]:
    """Return the features of a language model; see `language_model_scores`."""
    ids = model.ids
    side = words.target
    number = np.array([ids.get(word, 0) for word in words.target_words], np.int32)

    # between <s> and </s>
    offset = offsets_of(np.diff(side.offset) + 2)
    first = offset[:-1]
    last = offset[1:] - 1
    is_word = np.ones(offset[-1], np.bool_)
    is_word[first] = False
    is_word[last] = False

    numbers = np.empty(offset[-1], np.int32)
    numbers[first] = ids[START]
    numbers[last] = ids[END]
    numbers[is_word] = number[side.words]

    unknown = sum_words(side, number == 0)
    return np.column_stack([score_sentences(model.arrays, numbers, offset), unknown])


def lexical_scores(inputs: FeatureInputs) -> NDArray[Any]:
    """Return the lexical scores of both directions, float64 (H, 2); see `LexicalTable.scores`."""
    assert inputs.lexicon is not None
    return inputs.lexicon.scores()


def coverage(inputs: FeatureInputs) -> NDArray[Any]:
    """Return the numbers of source words and of target words without links, int64 (H, 2)."""
    words = inputs.words
    assert inputs.links is not None
    source = np.diff(words.source.offset)[words.sentence]
    return words_without_links(*inputs.links, source, np.diff(words.target.offset))


def copies(inputs: FeatureInputs) -> NDArray[Any]:
    """Return how many words that are copied, such as numbers, are missing or added: int64 (H, 2).

    Besides numbers, these are addresses, placeholders, tags and the like.
    """
    words = inputs.words
    numbers: dict[str, int] = {}
    source = _copied(words.source, words.source_words, numbers, inputs.protected)
    target = _copied(words.target, words.target_words, numbers, inputs.protected)
    return changed_copies(*source, *target, words.offset, len(numbers))


def repetitions(inputs: FeatureInputs) -> NDArray[Any]:
    """Return the number of bigrams that occur earlier in the translation, too: int64 (H)."""
    return repeated_bigrams(*inputs.words.target)


def unknowns(inputs: FeatureInputs) -> NDArray[Any]:
    """Return the numbers of words and of characters that do not occur in train, int64 (H, 2)."""
    assert inputs.lexicon is not None
    return np.column_stack([inputs.lexicon.unknown_words(), inputs.lexicon.unknown_characters()])


def agreements(inputs: FeatureInputs) -> NDArray[Any]:
    """Return the agreement with the list, float64 (H, 2); see `agreement`."""
    return agreement(inputs.words, inputs.score)


GROUPS: Mapping[str, Callable[[FeatureInputs], NDArray[Any]]] = {
    "length": lengths,
    "rank": ranks,
    "language-model": language_model_scores,
    "lexical": lexical_scores,
    "coverage": coverage,
    "copies": copies,
    "repetition": repetitions,
    "unknown": unknowns,
    "agreement": agreements,
}


def _copied(
    side: Side, words: list[str], numbers: dict[str, int], expressions: tuple[str, ...]
) -> tuple[Int32s, Int64s]:
    """Return the words of a side that are copied, int32, and where those of each of its lines begin, int64.

    Words are numbered in order of first occurrence. Equal words have the same number on both sides.
    """
    is_protected = protected(expressions)
    number = np.full(len(words), -1, np.int32)
    for position, word in enumerate(words):
        text = text_of_token(word)
        if word and (is_protected(text) or any(map(str.isdigit, text))):
            number[position] = numbers.setdefault(text, len(numbers))
    found = number[side.words]
    is_copied = found >= 0
    return found[is_copied], offsets_of(is_copied)[side.offset]
