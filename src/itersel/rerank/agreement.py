"""Agreement of each translation with the rest of its list; see `itersel.rerank.agreement_kernels`."""

from __future__ import annotations

import numpy as np

from itersel.bleu.order import ORDER
from itersel.evaluate.chrf import CHARACTER_ORDER
from itersel.rerank.agreement_kernels import (
    expected_bleu,
    expected_chrf,
    matches_with_expected,
    probabilities,
)
from itersel.rerank.words import ListWords, characters_of
from itersel.storage.arrays import Float64s


def agreement(words: ListWords, score: Float64s) -> Float64s:
    """Return BLEU and chrF of each translation against what its list expects, float64 (H, 2).

    `score` are the scores of the translations (H), logarithms of their probabilities but for a constant.
    """
    probability = probabilities(score, words.offset)
    sentence = words.sentence
    side = words.target
    matches, expected = matches_with_expected(*side, words.offset, probability, ORDER)
    bleu = expected_bleu(matches, np.diff(side.offset), sentence, expected)

    characters = characters_of(side, words.target_words)
    matches, expected = matches_with_expected(*characters, words.offset, probability, CHARACTER_ORDER)
    chrf = expected_chrf(matches, np.diff(characters.offset), sentence, expected)
    return np.column_stack([bleu, chrf])
