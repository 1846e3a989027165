"""Sentence BLEU in five variants, which differ in how they avoid a BLEU of zero."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.bleu.bleu_kernels import (
    COUNTS,
    REFERENCE,
    closest_lengths,
    make_counts,
    ngram_counts,
    sentence_bleus,
)
from itersel.bleu.names import CHIANG, SENTENCE_BLEUS
from itersel.bleu.order import ORDER
from itersel.bleu.references import ReferenceLengths
from itersel.storage.arrays import Float64s, Int64s

CONTEXT_DECAY = 0.9


class ReferenceBleu(NamedTuple):
    """Sentence BLEU against references with these lengths."""

    variant: int  # number of the sentence BLEU (`itersel.bleu.names`)
    lengths: ReferenceLengths
    context: Float64s  # (COUNTS): counts of earlier sentences; zeros except for ``chiang``

    @property
    def length_factor(self) -> float:
        """The factor of BLEU as a cost: 1, or with ``chiang`` the reference words of the pseudo-corpus.

        The longer the pseudo-corpus is, the less a translation changes its BLEU. With this factor, the
        difference between two translations does not depend on how much came before (Chiang et al. 2008,
        section 2, count source words). With several references this is the mean length: a factor that
        depended on the length of the translation would prefer long ones.
        """
        return float(self.context[REFERENCE]) + self.lengths.mean if self.variant == CHIANG else 1.0

    @property
    def order(self) -> int:
        """Return M, the largest order for which a reference has an n-gram, at most N."""
        return min(ORDER, self.lengths.longest)

    def of_matches(self, matches: Int64s, length: Int64s) -> Float64s:
        """Return BLEU of k translations, float64 (k), 0 to 1.

        matches, length: clipped n-gram matches, int64 (k, N), and words, int64 (k), of each.
        """
        closest = closest_lengths(self.lengths.each, length)
        return sentence_bleus(self.variant, matches, length, closest, self.order, self.context)


class SentenceBleu:
    """Sentence BLEU with N = `ORDER`, M = min(N, r); 0 for an empty hypothesis or an empty reference.

    With several references, the matches of an n-gram are clipped to its maximum count in any reference, BP
    uses the reference closest in length to the hypothesis, the shorter one in case of a tie (Papineni et al.
    2002; as in sacrebleu), and r is the length of the longest reference.

    docs/learning.md describes the variants. ``chiang`` is BLEU of the sum of the counts, including lengths,
    and a context of decaying counts of earlier one-best translations (Chiang et al. 2008, section 2); its
    length factor is `ReferenceBleu.length_factor`. Because of the context, use one object per epoch and
    shard, and take the sentences in order.
    """

    def __init__(self, variant: str) -> None:
        self.variant = SENTENCE_BLEUS[variant]
        self._context = np.zeros(COUNTS)

    def of_matches(self, matches: Int64s, length: Int64s, references: ReferenceLengths) -> Float64s:
        """Return BLEU of the k hypotheses of a sentence, float64 (k), 0 to 1, and go on to the next sentence.

        matches, length: clipped n-gram matches, int64 (k, N), and words, int64 (k), of each; the first is
        the model's best.
        """
        bleu = ReferenceBleu(self.variant, references, self._context).of_matches(matches, length)
        if self.variant == CHIANG:
            closest = closest_lengths(references.each, length[:1])
            self._context += make_counts(matches[0], ngram_counts(length[0]), int(closest[0]))
            self._context *= CONTEXT_DECAY
        return bleu

    def against(self, references: ReferenceLengths) -> ReferenceBleu:
        """Return BLEU against the references of a sentence, in the current context."""
        return ReferenceBleu(self.variant, references, self._context.copy())
