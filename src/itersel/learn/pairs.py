"""Preference pairs: three ways to choose which translation should be ranked above which.

Every function takes the quality of the k translations (sentence BLEU or another one), from 0 to 1, as float64
(k) in the order of the k-best list, and returns the pairs as int64 (pairs, 2): the numbers of the better and
the worse translation. Translations of equal quality are never paired. The order of pairs matters for
sequential updates: they are sorted by the better, then the worse translation, by descending quality with ties
in k-best order; PRO's have the widest first.
"""

from __future__ import annotations

import numpy as np

from itersel.learn.pro_sampling import PRO_DRAWN, PRO_KEPT, PRO_THRESHOLD
from itersel.storage.arrays import Float64s, Int64s


def make_pairs(strategy: str, quality: Float64s, seed: tuple[int, ...]) -> Int64s:
    """Form pairs with a strategy from `itersel.learn.learners.perceptron.PAIRS`; only ``pro`` uses the seed.

    ``all`` pairs every translation with every worse one; ``multipartite`` the best tenth with all others, and
    the rest with the worst tenth (Simianer, Riezler & Dyer 2012, section 3). A tenth is rounded (half up),
    and is at least 1.
    """
    if strategy == "pro":
        return pro_pairs(quality, seed)

    order = np.argsort(-quality, kind="stable")
    ranked = quality[order]

    # pairs are formed between levels: each translation is one, or the best tenth, the rest, the worst tenth
    count = quality.shape[0]
    rank = np.arange(count)
    level = rank
    if strategy == "multipartite":
        tenth = max(1, (count + 5) // 10)
        level = np.where(rank < tenth, 0, np.where(rank < count - tenth, 1, 2))

    is_pair = (level[:, None] < level) & (ranked[:, None] > ranked)
    # np.argwhere would return columns one after another, for which kernels are compiled again
    pairs = np.stack(np.nonzero(is_pair), axis=1)
    return order[pairs]


def pro_pairs(quality: Float64s, seed: tuple[int, ...], max_quality_difference: float = 1.0) -> Int64s:
    """Draw `PRO_DRAWN` pairs, drop those less than `PRO_THRESHOLD` apart, and keep the `PRO_KEPT` widest.

    Pairs are drawn with replacement (Hopkins & May 2011, figure 4), so a pair may occur twice. Equally wide
    pairs stay in the order in which they were drawn. With the number of the sentence in the seed (not
    negative), draws do not depend on the order of sentences.

    Pairs further apart than `max_quality_difference` are dropped, too. This excludes overlong translations
    with a BLEU near 0, the monsters of Nakov et al. (2013). No pair is further apart than 1.
    """
    # The raw bits of a generator never change between numpy versions, but derived distributions may.
    bits = np.random.PCG64(list(seed)).random_raw(2 * PRO_DRAWN) >> np.uint64(32)
    numbers = (bits * np.uint64(quality.shape[0])) >> np.uint64(32)
    drawn = numbers.astype(np.int64).reshape(-1, 2)

    difference = quality[drawn[:, 0]] - quality[drawn[:, 1]]
    width = np.abs(difference)
    allowed = np.flatnonzero((width >= PRO_THRESHOLD) & (width <= max_quality_difference))
    widest_first = np.argsort(-width[allowed], kind="stable")
    kept = allowed[widest_first[:PRO_KEPT]]

    first_is_better = difference[kept, None] > 0
    return np.where(first_is_better, drawn[kept], drawn[kept, ::-1])
