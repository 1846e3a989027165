"""Derivations in addition to the k best: finders that search the forest of a sentence, and extended lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from itersel.decode.hypotheses import Hypotheses
from itersel.decode.kbest_kernels import Best
from itersel.decode.rule_kernels import RuleTable, SentenceRules
from itersel.storage.ragged import offsets_of


class SentenceForest(NamedTuple):
    """The forest of a decoded sentence, with its rules, language model weight and k best derivations.

    Attributes
    ----------
    found, rules, table
        Items and edges, rules of the sentence, rules of the shard.
    model_weight
        Weight of the language model.
    best
        The k best derivations.
    """

    found: Hypotheses
    rules: SentenceRules
    table: RuleTable
    model_weight: float
    best: Best


# Called in the decoder's thread; returns derivations of the goal.
DerivationFinder: TypeAlias = Callable[[SentenceForest], Sequence[Best]]


def extend(best: Best, further: Sequence[Best]) -> Best:
    """Append derivations whose words are not among the k best, best first.

    The extended list is still sorted: no derivation beats the one with the same words among the k best, and
    no other beats the last of them.
    """
    texts = {_text(best, row) for row in range(best.score.shape[0])}
    rows = [(one, row) for one in further for row in range(one.score.shape[0])]
    parts = [best]
    for one, row in sorted(rows, key=lambda place: -place[0].score[place[1]]):
        if _text(one, row) not in texts:
            texts.add(_text(one, row))
            parts.append(_row(one, row))
    return _concatenate(parts)


def _text(best: Best, row: int) -> bytes:
    return best.word[slice(*best.word_offset[row : row + 2])].tobytes()


def _row(best: Best, row: int) -> Best:
    """Return a list with a single derivation."""
    rule = best.rule[slice(*best.rule_offset[row : row + 2])]
    word = best.word[slice(*best.word_offset[row : row + 2])]
    ends = np.array([0, rule.shape[0]]), np.array([0, word.shape[0]])
    return Best(
        best.score[row : row + 1], best.model[row : row + 1], rule, ends[0], word, ends[1], best.complete
    )


def _concatenate(parts: list[Best]) -> Best:
    """Return the concatenation of lists."""
    if len(parts) == 1:
        return parts[0]
    return Best(
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.model for part in parts]),
        np.concatenate([part.rule for part in parts]),
        offsets_of(np.concatenate([np.diff(part.rule_offset) for part in parts])),
        np.concatenate([part.word for part in parts]),
        offsets_of(np.concatenate([np.diff(part.word_offset) for part in parts])),
        parts[0].complete,
    )
