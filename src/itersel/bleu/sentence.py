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
    ngram_matches,
    sentence_bleus,
)
from itersel.bleu.names import CHIANG, SENTENCE_BLEUS
from itersel.bleu.order import ORDER
from itersel.bleu.references import References
from itersel.storage.arrays import Float64s, Int32s, Int64s

CONTEXT_DECAY = 0.9


class ReferenceBleu(NamedTuple):
    """Sentence BLEU against the references of a sentence."""

    variant: int  # number of the sentence BLEU (`itersel.bleu.names`)
    references: References
    context: Float64s  # (COUNTS): counts of earlier sentences; zeros except for ``chiang``

    @property
    def length_factor(self) -> float:
        """The factor of BLEU as a cost: 1, or with ``chiang`` the reference words of the pseudo-corpus.

        The longer the pseudo-corpus is, the less a translation changes its BLEU. With this factor, the
        difference between two translations does not depend on how much came before (Chiang et al. 2008,
        section 2, count source words). With several references this is the mean length: a factor that
        depended on the length of the translation would prefer long ones.
        """
        return float(self.context[REFERENCE]) + self.references.mean_length if self.variant == CHIANG else 1.0

    @property
    def order(self) -> int:
        """Return M, the largest order for which a reference has an n-gram, at most N."""
        return min(ORDER, self.references.longest)

    def of_words(self, word: Int32s, word_offset: Int64s) -> Float64s:
        """Return BLEU of k translations, float64 (k), given their words; translation i begins at offset i."""
        matches = ngram_matches(word, word_offset, self.references)
        return self.of_matches(matches, np.diff(word_offset))

    def of_matches(self, matches: Int64s, lengths: Int64s) -> Float64s:
        """Return BLEU from the clipped matches, int64 (k, N), and lengths, int64 (k): float64 (k), 0 to 1."""
        closest = closest_lengths(self.references.lengths, lengths)
        return sentence_bleus(self.variant, matches, lengths, closest, self.order, self.context)


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

    def of_matches(self, matches: Int64s, lengths: Int64s, references: References) -> Float64s:
        """Return BLEU of the k hypotheses of a sentence, float64 (k), 0 to 1, and go on to the next sentence.

        matches, lengths: clipped n-gram matches, int64 (k, N), and words, int64 (k), of each; the first is
        the model's best.
        """
        bleu = ReferenceBleu(self.variant, references, self._context).of_matches(matches, lengths)
        if self.variant == CHIANG:
            closest = closest_lengths(references.lengths, lengths[:1])
            self._context += make_counts(matches[0], ngram_counts(lengths[0]), int(closest[0]))
            self._context *= CONTEXT_DECAY
        return bleu

    def against(self, references: References) -> ReferenceBleu:
        """Return BLEU against the references of a sentence, in the current context."""
        return ReferenceBleu(self.variant, references, self._context.copy())
