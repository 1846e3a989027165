"""Train the weights of one shard for one epoch: the inner loop of all algorithms of [S12]."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.features import feature_keys, unique_features
from itersel.learn.pairs import make_pairs
from itersel.learn.sentence_bleu import SentenceBleu
from itersel.learn.update import Learner
from itersel.progress import progress
from itersel.select.common import common_features
from itersel.strings import concatenate, string_table
from itersel.weights import Weights, find_weights, make_weights

if TYPE_CHECKING:
    from itersel.decode.decoder import KBest
    from itersel.grammar.shard import Shard


class SentenceDecoder(Protocol):
    """What training needs of a decoder (`itersel.decode.decoder.Decoder` is one)."""

    dense_names: tuple[str, ...]

    def decode(
        self,
        sentence: int,
        dense_weights: NDArray[np.float64],
        sparse_weights: NDArray[np.float64],
        k: int = 100,
    ) -> KBest:
        """Return the k best translations of a sentence of the shard."""
        ...


@dataclass(frozen=True)
class TrainSettings:
    """Everything that changes the result of training a shard, but shard, model and start weights.

    Attributes
    ----------
    features, pop_limit, max_span
        Of the decoder.
    k_best
        Translations of a sentence to learn from.
    loss, update, pairs, bleu
        See `itersel.learn.update`, `itersel.learn.pairs`, `itersel.learn.sentence_bleu`.
    learning_rate
        Greater than 0.
    seed, epoch, shard
        What the pairs of PRO are drawn by; no other strategy looks at them. Epochs count from 1, shards
        from 0.
    """

    features: str = "all"
    pop_limit: int = 200
    max_span: int = 15
    k_best: int = 100
    loss: str = "perceptron"
    update: str = "sentence"
    pairs: str = "multipartite"
    bleu: str = "liang"
    learning_rate: float = 0.0001
    seed: int = 1
    epoch: int = 1
    shard: int = 0

    def to_dict(self) -> dict[str, str | int | float]:
        """Return the settings by name."""
        return asdict(self)


class Training(NamedTuple):
    """Result of training a shard for an epoch.

    Attributes
    ----------
    weights
        All weights that are not 0, also those of the start that no feature of the shard has.
    sentences, pairs, updates
        Counts: of sentences, of their preference pairs, and of pairs that had a loss.
    mean_bleu
        Mean sentence BLEU of the translations that the model liked best, 0 without sentences.
    """

    weights: Weights
    sentences: int
    pairs: int
    updates: int
    mean_bleu: float


def train_shard(
    shard: Shard,
    decoder: SentenceDecoder,
    start: Weights | None,
    settings: TrainSettings,
) -> Training:
    """Decode, form pairs and update, sentence by sentence.

    Parameters
    ----------
    shard
        Sentences with references.
    decoder
        Decoder of this shard, made with `settings.features`, `settings.pop_limit` and
        `settings.max_span`.
    start
        Weights to start from; None: all zero.
    settings
        How to learn.

    Raises
    ------
    InputError
        If the shard has no references, if two features have the same key, or if the weights overflow.
    """
    if not shard.has_references:
        raise InputError("the shard has no references to learn from; extract it with --references")
    start = make_weights({}) if start is None else start
    dense_keys = feature_keys(string_table(decoder.dense_names))
    learner = Learner(
        find_weights(start, dense_keys),
        find_weights(start, shard.feature_key),
        settings.loss,
        settings.update,
        settings.learning_rate,
    )
    bleu = SentenceBleu(settings.bleu)
    pair_count, updates, total_bleu = 0, 0, 0.0
    for sentence in progress(range(shard.sentence_count), "train"):
        begin, end = shard.reference_offset[sentence : sentence + 2]
        kbest = decoder.decode(sentence, learner.dense, learner.sparse, settings.k_best)
        scores = bleu.score(kbest.word, kbest.word_offset, shard.reference[begin:end])
        seed = (settings.seed, settings.epoch, settings.shard, sentence)
        pairs = make_pairs(settings.pairs, scores, seed)
        updates += learner.learn(kbest, pairs)
        pair_count += pairs.shape[0]
        total_bleu += float(scores[0])
    weights = _collect(shard, decoder.dense_names, dense_keys, learner, start)
    mean_bleu = total_bleu / max(1, shard.sentence_count)
    return Training(weights, shard.sentence_count, pair_count, updates, mean_bleu)


def _collect(
    shard: Shard,
    dense_names: tuple[str, ...],
    dense_keys: NDArray[np.uint64],
    learner: Learner,
    start: Weights,
) -> Weights:
    """Put the weights of dense features, of the shard's features and of all others together."""
    order = np.argsort(dense_keys)
    dense = Weights(dense_keys[order], learner.dense[order], string_table(dense_names).take(order))
    sparse = Weights(shard.feature_key, learner.sparse, shard.feature_name)
    shared, _ = common_features(dense.key, dense.name, sparse.key, sparse.name)
    if shared.size:
        raise InputError(f"'{dense.name.get(int(shared[0]))}' is a dense and a sparse feature; rename one")
    elsewhere = start.value != 0
    for table in (dense, sparse):
        elsewhere[common_features(table.key, table.name, start.key, start.name)[1]] = False
    tables = [_take(dense, dense.value != 0), _take(sparse, sparse.value != 0), _take(start, elsewhere)]
    value = np.concatenate([table.value for table in tables])
    if not np.isfinite(value).all():
        raise InputError("weights have overflowed; choose a smaller learning rate")
    key = np.concatenate([table.key for table in tables])
    value = value[np.argsort(key)]
    key, name = unique_features(key, concatenate([table.name for table in tables]))
    return Weights(key, value, name)


def _take(weights: Weights, kept: NDArray[np.bool_]) -> Weights:
    rows = np.flatnonzero(kept)
    return Weights(weights.key[rows], weights.value[rows], weights.name.take(rows))
