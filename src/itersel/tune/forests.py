"""Forest files: the forest of each sentence for MERT, pruned to the best edges.

Only words that occur in the references are distinguished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itersel.config.search import ForestSettings
from itersel.decode.hypothesis_kernels import GOAL_RULE, Kept, best_through_edges, keep_edges
from itersel.errors import InputError
from itersel.grammar.references import References, grouped_references
from itersel.progress import progress
from itersel.storage.formats import Array, FileFormat, FilePath, all_packed, damaged, numbers
from itersel.storage.hdf5 import read_arrays
from itersel.storage.ragged import offsets_of, places_of
from itersel.tune.forest_kernels import Forests, find_bad_sentence
from itersel.tune.generate import SUM, write_shard_rows
from itersel.vectors.weights import Weights

if TYPE_CHECKING:
    from itersel.decode.decoder import Decoder
    from itersel.decode.hypothesis_kernels import Hypotheses
    from itersel.decode.rule_kernels import SentenceRules
    from itersel.grammar.shard import Shard

LARGEST = (1 << 31) - 1
# Sizes: N sentences, M references, I items, E edges, R rules, C dense features; see `Forests`.
FORMAT = FileFormat(
    "forests file",
    1,
    "itersel forest",
    all_packed(
        {
            "item_offset": Array("<i8", ("N+1",), into="I"),
            "edge_offset": Array("<i8", ("I+1",), into="E"),
            "edge_rule": Array("<i4", ("E",), least=0, most=LARGEST),
            "edge_first": Array("<i4", ("E",), least=-1, most=LARGEST),
            "edge_second": Array("<i4", ("E",), least=-1, most=LARGEST),
            "edge_model": numbers("<f8", "E"),
            "rule_offset": Array("<i8", ("N+1",), into="R"),
            "rule_dense": numbers("<f8", "R", "C"),
            "target": Array("<i4", ("target symbols",), least=-2, most=LARGEST),
            "target_offset": Array("<i8", ("R+1",), into="target symbols"),
            "reference": Array("<i4", ("reference words",), least=1, most=LARGEST),
            "reference_offset": Array("<i8", ("M+1",), into="reference words"),
            "sentence_reference_offset": Array("<i8", ("N+1",), into="M", is_extra=True),
        }
    ),
)


def generate_forests(
    path: FilePath,
    shard: Shard,
    decoder: Decoder,
    weights: Weights,
    settings: ForestSettings,
    iteration: int = 1,
    number: int = 0,
) -> None:
    """Write the pruned forests of all sentences of a shard, whole or not at all.

    Parameters
    ----------
    path, shard, decoder, weights, settings, iteration, number
        See `itersel.tune.generate.generate_lists`.

    Raises
    ------
    InputError
        If the shard has no references.
    """
    dense_weights, sparse_weights = decoder.weight_vectors(weights)
    names = (*decoder.dense_names, SUM) if decoder.use_sparse else decoder.dense_names
    with write_shard_rows(path, FORMAT, "forests", shard, names, settings, iteration, number) as writer:
        for sentence in progress(range(shard.sentence_count), "forest"):
            words = int(np.diff(shard.source_offset[sentence : sentence + 2])[0])
            references = shard.references(sentence)
            writer.append({"sentence_reference_offset": np.array([references.lengths.shape[0]])})
            if words == 0:
                writer.append(_empty_forest(len(names), references))
                continue
            rules, found = decoder.search(sentence, dense_weights, sparse_weights)
            dense = rules.dense
            if decoder.use_sparse:
                dense = np.column_stack((dense, _sparse_scores(shard, rules, sparse_weights)))
            writer.append(make_forest(shard, rules, dense, found, settings.density * words, references))


def prune_forest(found: Hypotheses, limit: int) -> Kept:
    """Keep the `limit` edges with the best derivations through them, or more if there are ties."""
    through = best_through_edges(found)
    reached = np.sort(through[through > -np.inf])
    return keep_edges(found, through, float(reached[max(0, reached.shape[0] - limit)]))


def make_forest(
    shard: Shard,
    rules: SentenceRules,
    dense: NDArray[np.float64],
    found: Hypotheses,
    limit: int,
    references: References,
) -> dict[str, NDArray[Any]]:
    """Return the arrays of `FORMAT` for one sentence; offsets are ends, without the initial 0.

    ``sentence_reference_offset`` is not included.

    Parameters
    ----------
    shard, rules, found
        Rules of the shard and of the sentence, items and edges.
    dense
        float64 (rules of the sentence, C): dense features of the rules.
    limit
        Number of edges to keep; more are kept only if there are ties.
    references
        References of the sentence, as words of the shard.
    """
    kept = prune_forest(found, limit)
    rule = found.edge_rule[kept.edge]
    # the goal's edges have no rule; they get one that passes on the words of their only antecedent
    used, edge_rule = np.unique(rule, return_inverse=True)
    sides = [
        np.array([-1], np.int32)
        if i == GOAL_RULE
        else shard.rule_target[slice(*shard.rule_target_offset[rules.rule[i] : rules.rule[i] + 2])]
        for i in used
    ]
    dense = np.where((used == GOAL_RULE)[:, None], 0.0, dense[used])
    target = _number_words(np.concatenate(sides), references)
    antecedents = {}
    for name, array in (("edge_first", found.edge_first), ("edge_second", found.edge_second)):
        item = array[kept.edge]
        antecedents[name] = np.where(item < 0, -1, kept.item[item])
    return {
        "item_offset": np.array([kept.edge_offset.shape[0] - 1]),
        "edge_offset": kept.edge_offset[1:],
        "edge_rule": edge_rule,
        **antecedents,
        "edge_model": found.edge_model[kept.edge],
        "rule_offset": np.array([used.shape[0]]),
        "rule_dense": dense,
        "target": target,
        "target_offset": offsets_of([side.shape[0] for side in sides])[1:],
        "reference": _number_words(references.word, references),
        "reference_offset": references.offset[1:],
    }


def _sparse_scores(shard: Shard, rules: SentenceRules, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of the sparse features of a sentence's rules, float64 (rules)."""
    place, offset = places_of(shard.rule_feature_offset, rules.rule)
    scores = weights[shard.rule_feature[place]] * shard.rule_feature_value[place]
    rows = rules.rule.shape[0]
    number = np.repeat(np.arange(rows), np.diff(offset))
    return np.bincount(number, scores, minlength=rows).astype(np.float64)


def _empty_forest(columns: int, references: References) -> dict[str, NDArray[Any]]:
    """Return the forest of a sentence without words: one item, one edge, one rule without words."""
    one, none = np.ones(1, np.int64), np.full(1, -1)
    return {
        "item_offset": one,
        "edge_offset": one,
        "edge_rule": np.zeros(1, np.int32),
        "edge_first": none,
        "edge_second": none,
        "edge_model": np.zeros(1),
        "rule_offset": one,
        "rule_dense": np.zeros((1, columns)),
        "target": np.zeros(0, np.int32),
        "target_offset": np.zeros(1, np.int64),
        "reference": _number_words(references.word, references),
        "reference_offset": references.offset[1:],
    }


def _number_words(symbols: NDArray[np.int32], references: References) -> NDArray[np.int32]:
    """Return symbols with words numbered by first occurrence in the references, from 1; 0 for others."""
    number = {word: i for i, word in enumerate(dict.fromkeys(references.word.tolist()), 1)}
    return np.array([i if i < 0 else number.get(i, 0) for i in symbols.tolist()], np.int32)


def read_forests(path: FilePath, columns: int) -> Forests:
    """Read forests with `columns` dense features.

    Raises
    ------
    InputError
        If the file is damaged or its forests cannot be traversed.
    """
    arrays, _ = read_arrays(path, FORMAT)
    sentences, references = (arrays[name].shape[0] - 1 for name in ("item_offset", "reference_offset"))
    name = "sentence_reference_offset"
    arrays[name] = grouped_references(references, arrays[name], sentences, path)
    forests = Forests(**{name: arrays[name] for name in Forests._fields})
    if forests.rule_dense.shape[1] != columns:
        raise InputError("damaged: 'dense_names' does not name the dense features; recreate the file", path)
    bad = find_bad_sentence(forests)
    if bad >= 0:
        raise damaged(path, "edge_rule", f"and the antecedents do not form a forest for sentence {bad + 1}")
    return forests
