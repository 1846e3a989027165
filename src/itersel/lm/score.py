"""Log probabilities of sentences."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from itersel.corpus.text import split_words
from itersel.lm.arpa import END, START
from itersel.lm.binary import LanguageModel
from itersel.lm.kernels import score_sentences
from itersel.storage.ragged import offsets_of


def score_lines(model: LanguageModel, lines: Iterable[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Score tokenised sentences, each between ``<s>`` and ``</s>``.

    Returns
    -------
    log10_probability
        float64 (sentences), including ``</s>``.
    unknown
        int64 (sentences): the number of words not in the model.
    """
    ids = model.ids
    sentences = [[ids.get(word, 0) for word in split_words(line)] for line in lines]
    offset = offsets_of([len(sentence) for sentence in sentences])
    words = np.fromiter((word for sentence in sentences for word in sentence), np.int32, int(offset[-1]))
    unknown = np.diff(offsets_of(words == 0)[offset])
    return score_sentences(model.arrays, words, offset, ids[START], ids[END]), unknown
