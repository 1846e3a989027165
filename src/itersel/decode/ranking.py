"""The order of the decoder's translations: by their scores, or by minimum Bayes risk."""

from __future__ import annotations

from collections.abc import Sequence

from itersel.config.mbr import MinimumRisk
from itersel.corpus.vocabulary import Side
from itersel.decode.translations import KBest
from itersel.rerank.mbr import ranked_by_gain


def list_size(k_best: int, mbr: MinimumRisk | None) -> int:
    """Return how many translations must be decoded for the k best."""
    return k_best if mbr is None else mbr.size


def best_ranks(kbest: KBest, words: Sequence[str], k_best: int, mbr: MinimumRisk | None) -> list[int]:
    """Return the k best of the decoded translations, best first; `words` is the vocabulary."""
    if mbr is None:
        return list(range(min(k_best, kbest.score.shape[0])))
    side = Side(kbest.word, kbest.word_offset)
    best: list[int] = ranked_by_gain(side, words, kbest.score, mbr)[:k_best].tolist()
    return best
