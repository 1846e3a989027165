"""Cost-augmented decoding in plain Python: partial translations are words, recounted at every item."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from tests.naive.decoder import substitute
from tests.naive.learning import ORDER, Bleu, counts, mean_length

from itersel.decode.hypothesis_kernels import GOAL_RULE
from itersel.decode.translations import SentenceForest

Words = tuple[int, ...]


class Edge(NamedTuple):
    """Its score, antecedents (items), target side (-1 and -2 stand for these), number of source words."""

    score: float
    antecedents: tuple[int, ...]
    target: Words
    source_words: int


class Partial(NamedTuple):
    words: Words
    model: float
    objective: float


class Found(NamedTuple):
    """The best derivation, if there is one, and whether rounding may have affected the search."""

    best: Partial | None
    is_close_call: bool


def read_forest(forest: SentenceForest) -> list[list[Edge]]:
    """Return the edges of each item."""
    hypotheses, rule_table = forest.hypotheses, forest.rule_table
    items = []
    for item in range(int(hypotheses.counts[0])):
        edges, edge = [], int(hypotheses.item_edge[item])
        while edge != -1:
            rule = int(hypotheses.edge_rule[edge])
            score, target, source = forest.lm_weight * float(hypotheses.edge_lm[edge]), (-1,), (-1,)
            if rule != GOAL_RULE:
                score += float(forest.rules.score[rule])
                row = forest.rules.rule[rule]
                target = tuple(rule_table.target[slice(*rule_table.target_offset[row : row + 2])].tolist())
                source = tuple(rule_table.source[slice(*rule_table.source_offset[row : row + 2])].tolist())
            both = (int(hypotheses.edge_first[edge]), int(hypotheses.edge_second[edge]))
            antecedents = tuple(one for one in both if one != -1)
            edges.append(Edge(score, antecedents, target, sum(symbol >= 0 for symbol in source)))
            edge = int(hypotheses.edge_next[edge])
        items.append(edges)
    return items


def source_words(forest: Sequence[Sequence[Edge]]) -> list[int]:
    covered: list[int] = []
    for edges in forest:
        covered.append(edges[0].source_words + sum(covered[one] for one in edges[0].antecedents))
    return covered


def approximate_bleu(words: Words, references: Sequence[Words], bleu: Bleu, covered: float) -> float:
    """Return BLEU with a share of the references' length, times that share of the words."""
    before, mean = bleu.context[-1], mean_length(references)
    share = (before + covered * mean) / (before + mean)
    return bleu.of(words, *references, share=covered) * share


def future(words: Words, references: Sequence[Words]) -> tuple[object, ...]:
    """Return everything about a partial translation that affects BLEU of a complete one."""
    known = [word if any(word in one for one in references) else None for word in words]
    held = tuple(
        min(gram_count(known, gram), max(gram_count(one, gram) for one in references))
        for n in range(1, ORDER + 1)
        for reference in references
        for gram in (reference[i : i + n] for i in range(len(reference) - n + 1))
    )
    return len(words), tuple(known[: ORDER - 1]), tuple(known[-ORDER + 1 :]), held


def gram_count(words: Sequence[int | None], gram: Sequence[int]) -> int:
    return sum(tuple(words[i : i + len(gram)]) == tuple(gram) for i in range(len(words)))


def search(
    forest: Sequence[Sequence[Edge]],
    references: Sequence[Words],
    bleu: Bleu,
    share: float,
    gain: float,
    beam: int,
) -> Found:
    """Return the derivation of the last item with the largest share * model score + gain * BLEU."""
    covered, is_close = source_words(forest), False
    kept: list[list[Partial]] = []
    for item, edges in enumerate(forest):
        best: dict[tuple[object, ...], Partial] = {}
        for edge in edges:
            for ranks in itertools.product(*(range(len(kept[one])) for one in edge.antecedents)):
                if math.prod(rank + 1 for rank in ranks) > beam:
                    continue
                parts = [kept[one][rank] for one, rank in zip(edge.antecedents, ranks, strict=True)]
                words = substitute(edge.target, [part.words for part in parts])
                model = sum((part.model for part in parts), edge.score)
                value = approximate_bleu(words, references, bleu, covered[item] / covered[-1])
                one = Partial(words, model, share * model + gain * value)
                key = future(words, references)
                old = best.get(key)
                if old is None or (one.objective, one.model) > (old.objective, old.model):
                    best.pop(key, None)  # of equal ones, later finds come later
                    best[key] = one
        ranked = sorted(best.values(), key=lambda one: (-one.objective, -one.model))
        is_close |= any(is_near(a, b, references) for a, b in itertools.pairwise(ranked))
        kept.append(ranked[:beam])
    return Found(kept[-1][0] if kept[-1] else None, is_close)


def is_near(one: Partial, other: Partial, references: Sequence[Words]) -> bool:
    """Whether rounding may decide: objectives are nearly equal although the counts differ."""
    same = counts(one.words, *references) == counts(other.words, *references)
    return not same and abs(one.objective - other.objective) < 1e-12
