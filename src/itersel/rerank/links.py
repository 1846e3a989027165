"""Word alignment of each translation in a list with its source, by the trained models of both directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.align.sampler import LONGEST, NumberedBitext, TrainedAligner, align_with
from itersel.align.sampler_kernels import DECIDE, FERTILE, HMM, IBM1, RANDOM, SentencePairs
from itersel.corpus.vocabulary import Side
from itersel.rerank.link_kernels import grow_diag_final_and
from itersel.rerank.words import ListWords
from itersel.storage.arrays import Int32s, Int64s
from itersel.storage.ragged import offsets_of, take_rows

# The links of a sentence pair depend on nothing but its words, the models and this.
SEED = 1
# Fewer passes than `TRAINED`: there are many translations, and most of their words have few likely links. Of
# 1,000 sentence pairs of the LibreOffice Help, F1 against aligning them together with the 12,000 pairs that
# the models are of is 0.972 instead of 0.978, in 0.43 of the time.
PASSES = (RANDOM, IBM1, HMM, FERTILE, FERTILE, DECIDE)


class Links(NamedTuple):
    """The links of H translations, of each ascending by source, then target position."""

    source: Int32s
    target: Int32s
    offset: Int64s  # (H + 1)


def align_lists(words: ListWords, forward: TrainedAligner, reverse: TrainedAligner) -> Links:
    """Align each translation with its source; sentences of more than `LONGEST` words get no links."""
    source, target = _without_long(words)
    bitext = NumberedBitext(SentencePairs(*source, *target), words.source_words, words.target_words)

    directions = []
    for sides, trained in ((bitext, forward), (bitext.turned(), reverse)):
        text = sides.renumbered(trained.given, trained.generated)
        directions.append(align_with(trained.model, text, SEED, PASSES))
    return Links(*grow_diag_final_and(source.offset, target.offset, *directions))


def _without_long(words: ListWords) -> tuple[Side, Side]:
    """Return the source of each translation, and the translation, both empty if one is too long."""
    sentence = words.sentence
    source = Side(*take_rows(*words.source, sentence))
    lengths = np.diff(source.offset), np.diff(words.target.offset)
    is_aligned = np.maximum(*lengths) <= LONGEST
    return _kept(source, is_aligned), _kept(words.target, is_aligned)


def _kept(side: Side, is_kept: np.ndarray) -> Side:
    """Return a side in which some sentences are empty."""
    if is_kept.all():
        return side
    lengths = np.diff(side.offset)
    return Side(side.words[np.repeat(is_kept, lengths)], offsets_of(np.where(is_kept, lengths, 0)))
