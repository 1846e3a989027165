"""Decode sentences, and write their forests for MERT, pruned to the best edges.

Only words that occur in the references are distinguished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itersel.bleu.references import References
from itersel.config.plain import recorded
from itersel.config.search import ForestSettings
from itersel.decode.hypothesis_kernels import GOAL_RULE, Kept, best_through_edges, keep_edges
from itersel.errors import FilePath
from itersel.lists.headers import header_attributes
from itersel.run.progress import progress
from itersel.storage.arrays import Float64s, Int32s
from itersel.storage.hdf5_rows import write_rows
from itersel.storage.provenance import FORESTS
from itersel.storage.ragged import offsets_of, places_of, sum_rows
from itersel.tune.forest_files import FORMAT
from itersel.tune.sums import SPARSE_SUM
from itersel.vectors.weights import Weights

if TYPE_CHECKING:
    from itersel.decode.decoder import Decoder
    from itersel.decode.hypothesis_kernels import Hypotheses
    from itersel.decode.scoring_kernels import SentenceRules
    from itersel.grammar.sentence_grammars import SentenceGrammars


def generate_forests(
    path: FilePath, grammars: SentenceGrammars, decoder: Decoder, weights: Weights, settings: ForestSettings
) -> None:
    """Write the forests of all sentences; see `itersel.tune.generate_lists.generate_lists`.

    Sparse features, if they are used, become one feature: their sum under the weights.
    """
    vectors = decoder.weight_vectors(weights)
    has_sum = settings.uses_sparse
    names = (*decoder.dense_names, SPARSE_SUM) if has_sum else decoder.dense_names

    attributes = header_attributes(
        FORESTS, settings.file_number, settings.iteration, recorded(settings), grammars.digest(), names
    )
    has_several = grammars.sentence_reference_offset.shape[0] > 0

    with write_rows(path, FORMAT, len(names), attributes, has_several) as writer:
        for sentence in progress(range(grammars.sentence_count), "forest"):
            words = int(np.diff(grammars.source_offset[sentence : sentence + 2])[0])
            references = grammars.references(sentence)
            writer.append({"sentence_reference_offset": np.array([references.lengths.each.shape[0]])})
            if words == 0:
                writer.append(_empty_forest(len(names), references))
                continue

            rules, hypotheses = decoder.search(sentence, vectors)
            dense = rules.dense
            if has_sum:
                place, offset = places_of(grammars.rule_feature_offset, rules.rule)
                weighted = vectors.sparse[grammars.rule_feature[place]] * grammars.rule_feature_value[place]
                dense = np.column_stack((dense, sum_rows(weighted, offset)))

            writer.append(
                make_forest(grammars, rules, dense, hypotheses, settings.forest_density * words, references)
            )


def prune_forest(hypotheses: Hypotheses, limit: int) -> Kept:
    """Keep the `limit` edges with the best derivations through them, or more if there are ties."""
    through = best_through_edges(hypotheses)
    reached = np.sort(through[through > -np.inf])
    return keep_edges(hypotheses, through, float(reached[max(0, reached.shape[0] - limit)]))


def make_forest(
    grammars: SentenceGrammars,
    rules: SentenceRules,
    dense: Float64s,
    hypotheses: Hypotheses,
    limit: int,
    references: References,
) -> dict[str, NDArray[Any]]:
    """Return the arrays of `FORMAT` for one sentence, except for ``sentence_reference_offset``.

    Offsets are ends, without the initial 0. `dense`, float64 (rules of the sentence, C), are features of the
    rules; for `limit` see `prune_forest`.
    """
    kept = prune_forest(hypotheses, limit)
    rule = hypotheses.edge_rule[kept.edge]

    # the goal's edges have no rule; they get one that passes on the words of their only antecedent
    used, edge_rule = np.unique(rule, return_inverse=True)
    sides = [
        np.array([-1], np.int32)
        if i == GOAL_RULE
        else grammars.rule_target[slice(*grammars.rule_target_offset[rules.rule[i] : rules.rule[i] + 2])]
        for i in used
    ]
    dense = np.where((used == GOAL_RULE)[:, None], 0.0, dense[used])
    target = _number_words(np.concatenate(sides), references)

    antecedents = {}
    for name, array in (("edge_first", hypotheses.edge_first), ("edge_second", hypotheses.edge_second)):
        item = array[kept.edge]
        antecedents[name] = np.where(item < 0, -1, kept.item[item])

    return {
        "item_offset": np.array([kept.edge_offset.shape[0] - 1]),
        "edge_offset": kept.edge_offset[1:],
        "edge_rule": edge_rule,
        **antecedents,
        "edge_lm": hypotheses.edge_lm[kept.edge],
        "rule_offset": np.array([used.shape[0]]),
        "rule_dense": dense,
        "target": target,
        "target_offset": offsets_of([side.shape[0] for side in sides])[1:],
        "reference": _number_words(references.word, references),
        "reference_offset": references.offset[1:],
    }


def _empty_forest(columns: int, references: References) -> dict[str, NDArray[Any]]:
    """Return the forest of a sentence without words: one item, one edge, one rule without words."""
    one = np.ones(1, np.int64)
    none = np.full(1, -1)
    return {
        "item_offset": one,
        "edge_offset": one,
        "edge_rule": np.zeros(1, np.int32),
        "edge_first": none,
        "edge_second": none,
        "edge_lm": np.zeros(1),
        "rule_offset": one,
        "rule_dense": np.zeros((1, columns)),
        "target": np.zeros(0, np.int32),
        "target_offset": np.zeros(1, np.int64),
        "reference": _number_words(references.word, references),
        "reference_offset": references.offset[1:],
    }


def _number_words(symbols: Int32s, references: References) -> Int32s:
    """Return symbols with words numbered by first occurrence in the references, from 1; 0 for others."""
    number = {word: i for i, word in enumerate(dict.fromkeys(references.word.tolist()), 1)}
    return np.array([i if i < 0 else number.get(i, 0) for i in symbols.tolist()], np.int32)
