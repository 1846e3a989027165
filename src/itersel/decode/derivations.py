"""Derivations beside the k best: what looks for them in the forest of a sentence, and longer lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from itersel.decode.kbest_kernels import Best
from itersel.decode.rule_kernels import RuleTable, SentenceRules
from itersel.decode.search_kernels import Hypotheses


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
DerivationFinder: TypeAlias = Callable[[SentenceForest], Best]


def extend(best: Best, further: Best) -> Best:
    """Put derivations with other words than the k best behind these, best first.

    Nothing that has the same words as one of the k best is better than that, and nothing else is better
    than the last of them: the longer list is in order, too.
    """
    texts = {_text(best, i) for i in range(best.score.shape[0])}
    chosen = []
    for i in np.argsort(-further.score, kind="stable").tolist():
        if _text(further, i) not in texts:
            texts.add(_text(further, i))
            chosen.append(i)
    if not chosen:
        return best
    rule, rule_offset = _join(best.rule, best.rule_offset, further.rule, further.rule_offset, chosen)
    word, word_offset = _join(best.word, best.word_offset, further.word, further.word_offset, chosen)
    return best._replace(
        score=np.concatenate((best.score, further.score[chosen])),
        model=np.concatenate((best.model, further.model[chosen])),
        rule=rule,
        rule_offset=rule_offset,
        word=word,
        word_offset=word_offset,
    )


def _text(best: Best, row: int) -> bytes:
    return best.word[slice(*best.word_offset[row : row + 2])].tobytes()


def _join(
    first: NDArray[np.int32],
    first_offset: NDArray[np.int64],
    second: NDArray[np.int32],
    second_offset: NDArray[np.int64],
    chosen: list[int],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return all rows of the first ragged array, and then some of the second."""
    rows = [second[slice(*second_offset[i : i + 2])] for i in chosen]
    ends = first_offset[-1] + np.cumsum([row.shape[0] for row in rows])
    return np.concatenate([first, *rows]), np.concatenate((first_offset, ends))
