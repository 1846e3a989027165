"""Derivations beside the k best: what looks for them in the forest of a sentence, and longer lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from itersel.decode.kbest_kernels import Best
from itersel.decode.rule_kernels import RuleTable, SentenceRules
from itersel.decode.search_kernels import Hypotheses
from itersel.storage.ragged import offsets_of


class SentenceForest(NamedTuple):
    """All that a sentence was translated with, and to.

    Attributes
    ----------
    found, rules, table
        Items and edges, rules of the sentence and of the shard.
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


# Called in the thread of the decoder; returns derivations of the goal.
DerivationFinder: TypeAlias = Callable[[SentenceForest], Sequence[Best]]


def extend(best: Best, further: Sequence[Best]) -> Best:
    """Put derivations with other words than the k best behind these, best first.

    Nothing that has the same words as one of the k best is better than that, and nothing else is better
    than the last of them: the longer list is in order, too.
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
    """Return a list of one derivation."""
    rule = best.rule[slice(*best.rule_offset[row : row + 2])]
    word = best.word[slice(*best.word_offset[row : row + 2])]
    ends = np.array([0, rule.shape[0]]), np.array([0, word.shape[0]])
    return Best(
        best.score[row : row + 1], best.model[row : row + 1], rule, ends[0], word, ends[1], best.complete
    )


def _concatenate(parts: list[Best]) -> Best:
    """Return one list after another."""
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
