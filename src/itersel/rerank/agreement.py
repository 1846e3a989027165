"""Agreement of each translation with the rest of its list; see `itersel.rerank.agreement_kernels`."""

from __future__ import annotations

import numpy as np

from itersel.rerank.agreement_kernels import (
    BLEU_ORDER,
    CHRF_ORDER,
    expected_bleu,
    expected_chrf,
    matches_with_expected,
    probabilities,
)
from itersel.rerank.words import ListWords, letters
from itersel.storage.arrays import Float64s
from itersel.storage.ragged import offsets_of, take_rows


def agreement(words: ListWords, score: Float64s) -> Float64s:
    """Return BLEU and chrF of each translation against what its list expects, float64 (H, 2).

    `score` are the scores of the translations (H), logarithms of their probabilities but for a constant.
    """
    probability = probabilities(score, words.offset)
    sentence = words.sentence
    side = words.target
    matches, expected = matches_with_expected(*side, words.offset, probability, BLEU_ORDER)
    bleu = expected_bleu(matches, np.diff(side.offset), sentence, expected)

    # characters without spaces, as in chrF
    spelled = [np.frombuffer(letters(word).encode("utf-32-le"), np.int32) for word in words.target_words]
    starts = offsets_of([len(one) for one in spelled])
    characters, ends = take_rows(np.concatenate(spelled), starts, side.words)
    begins = ends[side.offset]

    matches, expected = matches_with_expected(characters, begins, words.offset, probability, CHRF_ORDER)
    chrf = expected_chrf(matches, np.diff(begins), sentence, expected)
    return np.column_stack([bleu, chrf])
