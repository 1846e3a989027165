"""Preference pairs: three ways to choose which translation should be ranked above which.

Every function takes the sentence BLEU of the k translations, float64 (k) in the order of the k-best list, and
returns the pairs as int64 (pairs, 2): the numbers of the better and the worse translation. Translations with
equal BLEU are never paired. The order of pairs matters for sequential updates: they are sorted by the better,
then the worse translation, by descending BLEU with ties in k-best order; PRO's have the widest first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Hopkins & May 2011, section 4: Gamma, the threshold of alpha, and Xi
PRO_DRAWN = 5000
PRO_THRESHOLD = 0.05
PRO_KEPT = 50


def multipartite_pairs(bleu: NDArray[np.float64]) -> NDArray[np.int64]:
    """Pair the best tenth with all others, and the rest with the worst tenth [S12, section 3].

    A tenth is rounded (half up), and is at least 1.
    """
    count = bleu.shape[0]
    tenth = max(1, (count + 5) // 10)
    level = np.ones(count, np.int8)
    level[count - tenth :] = 2
    level[:tenth] = 0
    return _pairs(bleu, level)


def all_pairs(bleu: NDArray[np.float64]) -> NDArray[np.int64]:
    """Pair every translation with every worse one."""
    return _pairs(bleu, np.arange(bleu.shape[0]))


def pro_pairs(
    bleu: NDArray[np.float64], seed: tuple[int, ...], max_difference: float = 1.0
) -> NDArray[np.int64]:
    """Draw 5000 pairs, drop those less than 0.05 BLEU apart, and keep the 50 widest of the rest.

    Pairs are drawn with replacement (Hopkins & May 2011, figure 4), so a pair may occur twice. Equally wide
    pairs stay in the order in which they were drawn.

    Parameters
    ----------
    bleu
        float64 (k).
    seed
        Not negative; with the number of the sentence, draws do not depend on the order of sentences.
    max_difference
        Pairs further apart are dropped, too. This excludes overlong translations with a BLEU near 0, the
        monsters of Nakov et al. (2013). No pair is further apart than 1.
    """
    # The raw bits of a generator never change between numpy versions, but derived distributions may.
    raw = np.random.PCG64(list(seed)).random_raw(2 * PRO_DRAWN) >> np.uint64(32)
    drawn = ((raw * np.uint64(bleu.shape[0])) >> np.uint64(32)).astype(np.int64).reshape(-1, 2)
    difference = bleu[drawn[:, 0]] - bleu[drawn[:, 1]]
    width = np.abs(difference)
    kept = np.flatnonzero((width >= PRO_THRESHOLD) & (width <= max_difference))
    kept = kept[np.argsort(-width[kept], kind="stable")[:PRO_KEPT]]
    return np.where(difference[kept, None] > 0, drawn[kept], drawn[kept, ::-1])


def make_pairs(strategy: str, bleu: NDArray[np.float64], seed: tuple[int, ...]) -> NDArray[np.int64]:
    """Form pairs with a strategy from `itersel.config.learners.PAIRS`; only ``pro`` uses the seed."""
    if strategy == "multipartite":
        return multipartite_pairs(bleu)
    if strategy == "all":
        return all_pairs(bleu)
    return pro_pairs(bleu, seed)


def _pairs(bleu: NDArray[np.float64], level: NDArray[np.integer]) -> NDArray[np.int64]:
    """Pair translations of different levels, which ascend from the best translation to the worst."""
    order = np.argsort(-bleu, kind="stable")
    ranked = bleu[order]
    better, worse = np.nonzero((level[:, None] < level) & (ranked[:, None] > ranked))
    return np.column_stack((order[better], order[worse]))
