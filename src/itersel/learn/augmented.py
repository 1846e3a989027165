"""Translations from the forest of a sentence, by a search augmented with BLEU (`find_augmented`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itersel.bleu.bleu_kernels import REFERENCE, WORDS, ngram_counts, ngram_matches
from itersel.bleu.order import ORDER
from itersel.bleu.references import References
from itersel.bleu.sentence import ReferenceBleu
from itersel.decode.hypothesis_kernels import Kept, best_through_edges, keep_edges
from itersel.decode.kbest_kernels import Best, Trees, unfold
from itersel.decode.translations import SentenceForest
from itersel.learn.augmented_kernels import AugmentedObjective, AugmentedProblem, search_augmented
from itersel.learn.partial_kernels import ReferenceNgrams, index_references, make_partials
from itersel.storage.arrays import Float64s

# Number of partial translations kept per item; docs/learning.md has the measurements.
BEAM = 2
# Larger forests are pruned to this many edges, those with the best derivations through them (more if there
# are ties). This takes about 100 MB; a sentence of 50 words has about this many edges.
MAX_EDGES = 100_000
# Allows for model scores that were summed in different orders.
ROUNDING = 1e-9


class Objective(NamedTuple):
    """What a search maximises: share * model score + gain * f * BLEU; f is `ReferenceBleu.length_factor`."""

    share: int  # 1, or 0 if the model score only breaks ties between equally good translations
    gain: int  # 1 to look for good translations, -1 for bad ones


HOPE, ORACLE, FEAR = Objective(1, 1), Objective(0, 1), Objective(1, -1)


def find_augmented(
    objectives: Sequence[Objective], bleu: ReferenceBleu, forest: SentenceForest, references: References
) -> list[Best]:
    """Find the derivation that is best by each objective (Chiang, Marton & Resnik 2008).

    Returns at most one for each; see `augmented_kernels`. The references have at least one word.
    """
    hypotheses = forest.hypotheses
    ngrams = index_references(references, forest.rule_table.lm_word.shape[0])
    best = forest.best
    matches = ngram_matches(best.word, best.word_offset, references)
    quality = bleu.of_matches(matches, np.diff(best.word_offset))
    through = best_through_edges(hypotheses)
    floor = least_score(through, MAX_EDGES)

    results = []
    for objective in objectives:
        augmented = AugmentedObjective(
            share=float(objective.share),
            gain=objective.gain * bleu.length_factor,
            variant=bleu.variant,
            context=bleu.context,
            order=bleu.order,
            lengths=bleu.lengths.each,
            mean_length=bleu.lengths.mean,
            lm_weight=forest.lm_weight,
        )
        threshold = _threshold(objective, bleu, references, best, quality)
        kept = keep_edges(hypotheses, through, max(floor, threshold))
        results.append(_search(forest, kept, ngrams, augmented))

    return results


def _threshold(
    objective: Objective, bleu: ReferenceBleu, references: References, best: Best, quality: Float64s
) -> float:
    """Return the minimum model score with which a derivation can beat the k best."""
    if not objective.share:
        return -math.inf
    gain = objective.gain * bleu.length_factor
    most = gain * largest_bleu(bleu, references) if gain > 0 else 0.0
    return float(np.max(best.score + gain * quality)) - most - ROUNDING


def least_score(through: Float64s, edges: int) -> float:
    """Return the score that the best derivations through this number of edges reach."""
    return float(np.partition(through, -edges)[-edges]) if edges < through.shape[0] else -math.inf


def largest_bleu(bleu: ReferenceBleu, references: References) -> float:
    """Return an upper bound on BLEU: that of a translation with the most possible matching n-grams.

    Translations longer than those tried have no larger brevity penalty and no more matches.
    """
    length = bleu.lengths.longest
    # no translation matches more n-grams than all references, one after another
    available = ngram_matches(references.word, np.array([0, references.word.shape[0]]), references)
    context_words, context_references = bleu.context[[WORDS, REFERENCE]]
    enough = int((available + np.arange(ORDER)).max())
    longest = max(enough, length, math.ceil(context_references + length - context_words)) + 1
    lengths = np.arange(longest + 1)
    matches = np.minimum(ngram_counts(lengths), available)
    return float(bleu.of_matches(matches, lengths).max())


def _search(
    forest: SentenceForest, kept: Kept, ngrams: ReferenceNgrams, objective: AugmentedObjective
) -> Best:
    """Return the derivation with the best objective; none if no objective is finite."""
    hypotheses = forest.hypotheses
    rules = forest.rules
    rule_table = forest.rule_table
    problem = AugmentedProblem(
        edge_rule=hypotheses.edge_rule,
        edge_first=hypotheses.edge_first,
        edge_second=hypotheses.edge_second,
        edge_lm=hypotheses.edge_lm,
        kept=kept,
        rule=rules.rule,
        rule_score=rules.score,
        source=rule_table.source,
        source_offset=rule_table.source_offset,
        target=rule_table.target,
        target_offset=rule_table.target_offset,
        ngrams=ngrams,
        objective=objective,
        beam=BEAM,
    )

    items = kept.edge_offset.shape[0] - 1
    partials = make_partials(items, BEAM, ngrams.available.shape[0])
    search_augmented(problem, partials)

    best = partials.rank[(items - 1) * BEAM :][: min(1, partials.size[-1])]
    trees = Trees(partials.model, partials.edge, partials.first, partials.second)
    return unfold(hypotheses, rules, rule_table, trees, best)
