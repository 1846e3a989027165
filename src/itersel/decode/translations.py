"""What decoders take and return: weights as vectors, k-best lists, what learners get of them, and forests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from itersel.bleu.bleu_kernels import ngram_matches
from itersel.bleu.references import References
from itersel.decode.hypothesis_kernels import Hypotheses
from itersel.decode.kbest_kernels import Best
from itersel.decode.scoring_kernels import RuleTable, SentenceRules
from itersel.storage.arrays import Float64s, Int32s, Int64s


class WeightVectors(NamedTuple):
    """The weights of the dense (C) and sparse (F) features of some grammars."""

    dense: Float64s
    sparse: Float64s


class KBest(NamedTuple):
    """The k best distinct translations of one sentence, best first; offsets have k + 1 elements.

    Derivations found by a `DerivationFinder` follow, and are included in k.
    """

    # int32, int64: words, as numbers in the vocabulary of the grammars
    word: Int32s
    word_offset: Int64s
    score: Float64s  # (k): model score
    dense: Float64s  # (k, C): the dense features `Decoder.dense_names`
    # int32, float64, int64: sparse features, as rows of the grammars' feature table, ascending within a
    # translation. Empty if only dense features are used.
    feature: Int32s
    feature_value: Float64s
    feature_offset: Int64s

    def matches(self, references: References) -> Int64s:
        """Return clipped n-gram matches, int64 (k, N)."""
        return ngram_matches(self.word, self.word_offset, references)

    @property
    def length(self) -> Int64s:
        """Lengths in words, int64 (k)."""
        return np.diff(self.word_offset)


class Candidates(NamedTuple):
    """What learners get of the k best translations of a sentence, best first, and of those of a finder.

    They may be from a list, whose words are not known. Features are as in `KBest`.
    """

    score: Float64s
    dense: Float64s
    feature: Int32s
    feature_value: Float64s
    feature_offset: Int64s
    # clipped n-gram matches with the references, int64 (k, N), and lengths in words, int64 (k)
    matches: Int64s
    length: Int64s
    # float64 (k): what to learn from instead of sentence BLEU, as in `ListTable`; no rows: BLEU
    quality: Float64s

    @property
    def has_quality(self) -> bool:
        """Whether there is a quality to learn from instead of sentence BLEU."""
        return bool(self.quality.shape[0])


class SentenceForest(NamedTuple):
    """The forest of a decoded sentence, with its rules, language model weight and k best derivations."""

    hypotheses: Hypotheses
    rules: SentenceRules
    rule_table: RuleTable
    lm_weight: float
    best: Best


# Called in the decoder's thread with the references; returns lists of at most one derivation of the goal.
DerivationFinder: TypeAlias = Callable[[SentenceForest, References], Sequence[Best]]
