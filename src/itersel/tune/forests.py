"""MERT over forests (Kumar, Macherey, Dyer and Och 2009), and forest files, pruned to the best edges.

Only words that occur in the references are distinguished.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itersel.bleu.references import References, grouped_references
from itersel.bleu.score_kernels import ORDER, Statistics
from itersel.config.search import ForestSettings
from itersel.decode.hypothesis_kernels import GOAL_RULE, Kept, best_through_edges, keep_edges
from itersel.errors import FilePath, InputError
from itersel.lists.files import MAX_COUNT, ListFile
from itersel.lists.joining import NO_SENTENCES
from itersel.run.progress import progress
from itersel.storage.arrays import Float64s, Int32s
from itersel.storage.formats import Array, FileFormat, damaged, damaged_file, numbers, offsets
from itersel.storage.hdf5 import read_arrays
from itersel.storage.strings import offsets_of, places_of, sum_rows
from itersel.tune.forest_kernels import Forests, find_bad_sentence, goal_lines
from itersel.tune.generate import SUM, write_shard_rows
from itersel.tune.line_kernels import project
from itersel.tune.mert import Candidates, ExactSearch, squared_deviation
from itersel.vectors.weights import Weights

if TYPE_CHECKING:
    from itersel.decode.decoder import Decoder
    from itersel.decode.hypothesis_kernels import Hypotheses
    from itersel.decode.scoring_kernels import SentenceRules
    from itersel.grammar.shard import Shard

MODEL_FEATURE = "LanguageModel"
# Sizes: N sentences, M references, I items, E edges, R rules, C dense features; see `Forests`.
FORMAT = FileFormat(
    "forests file",
    1,
    ("itersel step forest",),
    {
        "item_offset": offsets("N", "I"),
        "edge_offset": offsets("I", "E"),
        "edge_rule": Array("<i4", ("E",), least=0, most=MAX_COUNT),
        "edge_first": Array("<i4", ("E",), least=-1, most=MAX_COUNT),
        "edge_second": Array("<i4", ("E",), least=-1, most=MAX_COUNT),
        "edge_model": numbers("<f8", "E"),
        "rule_offset": offsets("N", "R"),
        "rule_dense": numbers("<f8", "R", "C"),
        "target": Array("<i4", ("target symbols",), least=-2, most=MAX_COUNT),
        "target_offset": offsets("R", "target symbols"),
        "reference": Array("<i4", ("reference words",), least=1, most=MAX_COUNT),
        "reference_offset": offsets("M", "reference words"),
        "sentence_reference_offset": offsets("N", "M", is_extra=True),
    },
    packed=True,
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
    """Write the pruned forests of all sentences of a shard; see `itersel.tune.generate.generate_lists`."""
    vectors = decoder.weight_vectors(weights)
    names = (*decoder.dense_names, SUM) if decoder.use_sparse else decoder.dense_names

    with write_shard_rows(path, FORMAT, "forests", shard, names, settings, iteration, number) as writer:
        for sentence in progress(range(shard.sentence_count), "forest"):
            words = int(np.diff(shard.source_offset[sentence : sentence + 2])[0])
            references = shard.references(sentence)
            writer.append({"sentence_reference_offset": np.array([references.lengths.shape[0]])})
            if words == 0:
                writer.append(_empty_forest(len(names), references))
                continue

            rules, found = decoder.search(sentence, vectors)
            dense = rules.dense
            if decoder.use_sparse:
                place, offset = places_of(shard.rule_feature_offset, rules.rule)
                weighted = vectors.sparse[shard.rule_feature[place]] * shard.rule_feature_value[place]
                dense = np.column_stack((dense, sum_rows(weighted, offset)))

            writer.append(make_forest(shard, rules, dense, found, settings.density * words, references))


def prune_forest(found: Hypotheses, limit: int) -> Kept:
    """Keep the `limit` edges with the best derivations through them, or more if there are ties."""
    through = best_through_edges(found)
    reached = np.sort(through[through > -np.inf])
    return keep_edges(found, through, float(reached[max(0, reached.shape[0] - limit)]))


def make_forest(
    shard: Shard, rules: SentenceRules, dense: Float64s, found: Hypotheses, limit: int, references: References
) -> dict[str, NDArray[Any]]:
    """Return the arrays of `FORMAT` for one sentence, except for ``sentence_reference_offset``.

    Offsets are ends, without the initial 0. `dense`, float64 (rules of the sentence, C), are features of the
    rules; for `limit` see `prune_forest`.
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


def _number_words(symbols: Int32s, references: References) -> Int32s:
    """Return symbols with words numbered by first occurrence in the references, from 1; 0 for others."""
    number = {word: i for i, word in enumerate(dict.fromkeys(references.word.tolist()), 1)}
    return np.array([i if i < 0 else number.get(i, 0) for i in symbols.tolist()], np.int32)


def read_forests(path: FilePath, columns: int) -> Forests:
    """Read forests with `columns` dense features, and check that they can be traversed."""
    arrays, _ = read_arrays(path, FORMAT)
    sentences, references = (arrays[name].shape[0] - 1 for name in ("item_offset", "reference_offset"))
    name = "sentence_reference_offset"
    arrays[name] = grouped_references(references, arrays[name], sentences, path)
    forests = Forests(**{name: arrays[name] for name in Forests._fields})
    if forests.rule_dense.shape[1] != columns:
        raise damaged_file(path, "'dense_names' does not name the dense features")
    bad = find_bad_sentence(forests)
    if bad >= 0:
        raise damaged(path, "edge_rule", f"and the antecedents do not form a forest for sentence {bad + 1}")
    return forests


class ForestSearch(ExactSearch):
    """Line search over the forests of each shard and iteration.

    The best derivations of a sentence in any of its forests form a short list of lines; the rest is the same
    as with k-best lists. `model_column` is the number of the dense feature for the language model.
    """

    def __init__(self, forests: Sequence[Sequence[Forests]], model_column: int) -> None:
        self._forests = [one for shard in forests for one in shard]
        # for each file, the numbers of its sentences among all sentences
        base = offsets_of([shard[0].item_offset.shape[0] - 1 for shard in forests])
        self._sentence = [np.arange(base[i], base[i + 1]) for i, shard in enumerate(forests) for _ in shard]
        self._columns = [np.ascontiguousarray(one.rule_dense.T) for one in self._forests]
        self._model_column = model_column
        self.sentence_count = int(base[-1])

        # deviations over the edges of a sentence: over derivations, they would be more precise, but there are
        # too many, and only the relative scale matters
        total, edges = np.zeros(self._columns[0].shape[0]), 0
        for one in self._forests:
            offset = one.edge_offset[one.item_offset]
            rule = one.edge_rule + np.repeat(one.rule_offset[:-1], np.diff(offset))
            for c in range(total.shape[0]):
                value = one.rule_dense[rule, c]
                if c == model_column:
                    value = value + one.edge_model
                total[c] += squared_deviation(value, offset)
            edges += rule.shape[0]

        self.scale = np.sqrt(total / edges)

    def candidates(self, weights: Float64s, direction: Float64s) -> Candidates:
        """Return the best derivations of all sentences by iteration; see `goal_lines`."""
        model_line = np.array([weights[self._model_column], direction[self._model_column]])

        found = []
        for forests, columns in zip(self._forests, self._columns, strict=True):
            rule_line = np.stack((project(columns, weights), project(columns, direction)), axis=1)
            found.append(goal_lines(forests, rule_line, model_line))

        sentence = np.concatenate(
            [np.repeat(rows, np.diff(one[0])) for rows, one in zip(self._sentence, found, strict=True)]
        )

        order = np.argsort(sentence, kind="stable")
        intercept, slope = np.ascontiguousarray(np.concatenate([one[1] for one in found])[order].T)
        counts = np.concatenate([one[2] for one in found])[order]
        parts = counts[:, :ORDER], counts[:, ORDER], counts[:, ORDER + 1]
        statistics = Statistics(*map(np.ascontiguousarray, parts))

        offset = offsets_of(np.bincount(sentence, minlength=self.sentence_count))
        return Candidates(intercept, slope, offset, statistics)


def read_search(files: Sequence[ListFile]) -> ForestSearch:
    """Read the forests of all shards and iterations (`files` as returned by `find_files`)."""
    names = files[0].dense_names
    if MODEL_FEATURE not in names:
        message = f"has no dense feature '{MODEL_FEATURE}'; recreate the forests with 'itersel step forest'"
        raise InputError(message, files[0].path)

    shards: dict[int, list[Forests]] = {}
    for file in files:
        forests = read_forests(file.path, len(names))
        others = shards.setdefault(file.shard, [])
        others.append(forests)
        for name in ("reference", "reference_offset"):
            if not np.array_equal(getattr(forests, name), getattr(others[0], name)):
                raise InputError("damaged: the sentences do not match their digest; recreate it", file.path)

    # a shard without sentences adds nothing
    found = [shard for shard in shards.values() if shard[0].reference_offset.shape[0] > 1]
    if not found:
        raise InputError(NO_SENTENCES, files[0].path)
    return ForestSearch(found, names.index(MODEL_FEATURE))
