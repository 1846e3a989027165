"""Train the weights of one shard for one epoch: the inner loop of all algorithms of [S12]."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.config.learners import LEARNERS, Learner, Perceptron
from itersel.config.options import name_in, option_of
from itersel.config.search import ListSettings, Search
from itersel.errors import InputError
from itersel.learn.adagrad import LogisticLearner
from itersel.learn.learner import Example, Move, OnlineLearner
from itersel.learn.mira import MiraLearner
from itersel.learn.parameters import Parameters, WeightOverflowError
from itersel.learn.parts import LoadedPart, Part, SentenceDecoder
from itersel.learn.perceptron import PairLearner
from itersel.learn.sentence_bleu import SentenceBleu
from itersel.learn.weight_table import ShardWeights, Start, WeightTable
from itersel.progress import progress
from itersel.vectors.weights import Weights, make_weights

if TYPE_CHECKING:
    from itersel.decode.decoder import KBest
    from itersel.decode.derivations import DerivationFinder
    from itersel.grammar.shard import Shard


@dataclass(frozen=True)
class TrainSettings(Search):
    """Everything that affects the result of training a shard, except shard, model and start weights.

    Attributes
    ----------
    k_best
        Size of the k-best list used for training.
    learner
        Settings of the learner: see `itersel.config.learners`.
    seed, epoch, shard
        Random seed for drawing PRO's pairs. Epochs count from 1, shards from 0; schedules and cumulative l1
        continue from epoch to epoch.
    """

    k_best: int = option_of(ListSettings, "k_best")
    learner: Learner = field(default_factory=Perceptron)
    seed: int = 1
    epoch: int = 1
    shard: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the settings by name; the learner's include its name."""
        values = asdict(self)
        return {**values, "learner": {"name": name_in(LEARNERS, self.learner), **values["learner"]}}


class Training(NamedTuple):
    """Result of training a shard for an epoch.

    Attributes
    ----------
    weights
        The weights to mix: all non-zero weights, including start weights of features that are not in the
        shard; averaged if the learner averages.
    state
        The state from which the shard itself would continue; None if that is just `weights`.
    sentences, pairs, updates
        Number of sentences, preference pairs, and pairs with a loss.
    mean_bleu
        Mean sentence BLEU of the model's best translations; 0 without sentences.
    loss
        Sum over all sentences of the learner's loss with the start weights; None if it is not measured.
    """

    weights: Weights
    state: Start | None
    sentences: int
    pairs: int
    updates: int
    mean_bleu: float
    loss: float | None


def train_shard(
    shard: Shard,
    decoders: Sequence[SentenceDecoder],
    start: Start | None,
    settings: TrainSettings,
    measure_loss: bool = False,
) -> Training:
    """Train on a shard in memory: `train_parts` with one part.

    Parameters
    ----------
    shard
        Sentences with references.
    decoders
        Decoders for this shard, made with `settings.features`, `settings.pop_limit` and
        `settings.max_span`: one for each thread. Their number does not affect the result.
    start, settings, measure_loss
        See `train_parts`.

    Raises
    ------
    InputError
        See `train_parts`.
    """
    return train_parts([LoadedPart(shard, decoders)], start, settings, measure_loss)


def train_parts(
    parts: Sequence[Part], start: Start | None, settings: TrainSettings, measure_loss: bool = False
) -> Training:
    """Decode and learn, sentence by sentence, or `delay` sentences at a time (Langford et al. 2009).

    Parameters
    ----------
    parts
        The parts of the shard. They are loaded one at a time, and weights carry over from one to the next:
        the result is the same as for one part with all sentences, as long as no `delay` crosses parts.
    start
        Where to start; None starts with all weights zero.
    settings
        Training settings.
    measure_loss
        First decode all sentences with the start weights, and sum up the learner's loss. This does not affect
        the other results.

    Raises
    ------
    InputError
        If the epoch or the shard does not exist, if a part has no references, if two features have the same
        key, or if a weight or a model score overflows.
    """
    if settings.epoch < 1 or settings.shard < 0:
        raise InputError(
            f"epoch {settings.epoch} of shard {settings.shard}; epochs count from 1, shards from 0"
        )
    start = Start(make_weights({})) if start is None else start
    learner = make_learner(settings.learner)
    sentences = sum(part.sentence_count for part in parts)
    before = (settings.epoch - 1) * sentences
    if settings.epoch > 1 and start.steps is not None:
        # with resharding, the shard's size may have differed a little in earlier epochs
        before = start.steps

    def weights() -> WeightTable:
        return WeightTable(start, settings.learner, before)

    loss = None
    if measure_loss:
        # as in epoch 0: losses of different epochs are comparable only if the same pairs are drawn
        examples = _examples(parts, weights(), learner, replace(settings, epoch=0))
        listed = progress(examples, "measure loss", sentences)
        loss = sum((learner.loss(one.example) for one in listed), 0.0)
    table, seen = weights(), _Seen()
    for one in progress(_examples(parts, table, learner, settings), "train", sentences, seen.status):
        move = learner.learn(one.example)
        with _naming(one.name):
            _step(one, move, learner.step_setting)
        seen.add(one.example, move)
    mixed, state = table.collect(settings.learner.average)
    if state is not None:
        state = state._replace(steps=before + sentences)
    return Training(mixed, state, sentences, seen.pairs, seen.updates, seen.mean_bleu, loss)


@dataclass
class _Seen:
    """Running totals of training; see `Training`."""

    sentences: int = 0
    pairs: int = 0
    updates: int = 0
    total_bleu: float = 0.0

    def add(self, example: Example, move: Move) -> None:
        self.sentences += 1
        self.pairs += move.pairs
        self.updates += move.updates
        self.total_bleu += float(example.bleu[0])

    @property
    def mean_bleu(self) -> float:
        return self.total_bleu / max(1, self.sentences)

    def status(self) -> str:
        bleu = f"mean sentence BLEU {100 * self.mean_bleu:.1f}"
        return f"{bleu}, {self.updates:,} of {self.pairs:,} pairs with a loss"


class _Listed(NamedTuple):
    """A sentence with its k-best list.

    Attributes
    ----------
    sentence
        Its number in the part, from 0.
    example
        The training example.
    weights, name
        Weights and name of its part.
    """

    sentence: int
    example: Example
    weights: ShardWeights
    name: str | None


@contextlib.contextmanager
def _naming(name: str | None) -> Iterator[None]:
    """Add the name of the part to errors that do not name a file."""
    try:
        yield
    except InputError as error:
        raise error if error.path is not None else InputError(error.message, name) from None


def _examples(
    parts: Sequence[Part], table: WeightTable, learner: OnlineLearner, settings: TrainSettings
) -> Iterator[_Listed]:
    """Yield each sentence with its k-best list, decoded with the current weights."""
    bleu = SentenceBleu(settings.learner.bleu)
    before = 0
    for part in parts:
        with _naming(part.name):
            yield from _part_examples(part, table, learner, bleu, settings, before)
        before += part.sentence_count


def _part_examples(
    part: Part,
    table: WeightTable,
    learner: OnlineLearner,
    bleu: SentenceBleu,
    settings: TrainSettings,
    before: int,
) -> Iterator[_Listed]:
    """Yield the sentences of a part; `before` is the number of sentences in the parts before it."""
    shard, decoders = part.open()
    if not shard.has_references:
        raise InputError("has no references to train on; extract it with --references", part.path)
    weights = table.open(shard, decoders[0].dense_names)
    column_of = np.full(shard.feature_key.shape[0], -1, np.int32)

    def finder(sentence: int) -> DerivationFinder | None:
        return learner.finder(bleu.target(shard.references(sentence)))

    with _Pool(shard, decoders, settings.k_best, finder) as pool:
        for sentence, kbest in pool.decode_all(weights.parameters, settings.learner.delay):
            _check_scores(kbest, weights, sentence)
            references = shard.references(sentence)
            words = bleu.target(references).words
            scores = bleu.score(kbest.word, kbest.word_offset, references)
            seed = (settings.seed, settings.epoch, settings.shard, before + sentence)
            example = Example(kbest, scores, words, weights.parameters.rate, seed, column_of)
            yield _Listed(sentence, example, weights, part.name)
    table.close(weights)


class _Pool:
    """Decodes sentences with one thread per decoder; kernels release Python's GIL."""

    def __init__(
        self,
        shard: Shard,
        decoders: Sequence[SentenceDecoder],
        k_best: int,
        finder: Callable[[int], DerivationFinder | None],
    ) -> None:
        self._shard, self._k_best, self._finder = shard, k_best, finder
        self._idle: SimpleQueue[SentenceDecoder] = SimpleQueue()
        for decoder in decoders:
            self._idle.put(decoder)
        self._threads = ThreadPoolExecutor(len(decoders)) if len(decoders) > 1 else None

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *error: object) -> None:
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)

    def decode_all(self, parameters: Parameters, delay: int) -> Iterator[tuple[int, KBest]]:
        """Yield every sentence with its k-best list; the weights change after every `delay` sentences."""
        shard = self._shard
        for begin in range(0, shard.sentence_count, delay):
            batch = range(begin, min(begin + delay, shard.sentence_count))
            rules = slice(shard.grammar_offset[batch.start], shard.grammar_offset[batch.stop])
            parameters.refresh(shard.grammar_rule[rules], shard.rule_feature, shard.rule_feature_offset)
            yield from zip(batch, self._decode_batch(batch, parameters), strict=True)

    def _decode_batch(self, batch: range, parameters: Parameters) -> Iterable[KBest]:
        # made before learning from the batch, because finders depend on the sentences learned from so far
        finders = [self._finder(sentence) for sentence in batch]
        dense, sparse = parameters.dense, parameters.sparse
        if self._threads is not None:
            # Training on some sentences overlaps with decoding others.
            dense, sparse = dense.copy(), sparse.copy()

        def decode(sentence: int, finder: DerivationFinder | None) -> KBest:
            return self._decode(sentence, finder, dense, sparse)

        if self._threads is None:
            return list(map(decode, batch, finders))
        return self._threads.map(decode, batch, finders)

    def _decode(
        self,
        sentence: int,
        finder: DerivationFinder | None,
        dense: NDArray[np.float64],
        sparse: NDArray[np.float64],
    ) -> KBest:
        decoder = self._idle.get()
        try:
            return decoder.decode(sentence, dense, sparse, self._k_best, finder)
        finally:
            self._idle.put(decoder)


def _check_scores(kbest: KBest, weights: ShardWeights, sentence: int) -> None:
    """Reject model scores that cannot be compared.

    Raises
    ------
    InputError
        If a score is infinite or NaN; names the sentence and the feature that contributes most to it.
    """
    bad = np.flatnonzero(~np.isfinite(kbest.score))
    if not bad.size:
        return
    parameters = weights.parameters
    row = slice(*kbest.feature_offset[bad[0] : bad[0] + 2])
    with np.errstate(over="ignore"):
        dense = np.abs(kbest.dense[bad[0]] * parameters.dense)
        sparse = np.abs(kbest.feature_value[row] * parameters.sparse[kbest.feature[row]])
    largest = int(np.argmax(np.concatenate((dense, sparse))))
    is_dense = largest < dense.shape[0]
    number = largest if is_dense else int(kbest.feature[row][largest - dense.shape[0]])
    name = weights.name(WeightOverflowError(is_dense, number))
    raise InputError(
        f"sentence {sentence + 1} of the shard: the model score overflows, mostly because of '{name}'; "
        "start from smaller weights"
    )


def _step(one: _Listed, move: Move, step_setting: str) -> None:
    """Take the step for a sentence.

    Raises
    ------
    InputError
        If a weight becomes too large or NaN; names the sentence and the feature.
    """
    columns = None if move.coefficient is None else one.example.columns
    try:
        one.weights.parameters.step(columns, move.coefficient)
    except WeightOverflowError as error:
        raise InputError(
            f"sentence {one.sentence + 1} of the shard: the weight of '{one.weights.name(error)}' overflows; "
            f"choose a smaller {step_setting}"
        ) from None


def make_learner(settings: Learner) -> OnlineLearner:
    """Return the learner for the settings."""
    makers: dict[str, Any] = {
        "perceptron": PairLearner,
        "margin-perceptron": PairLearner,
        "adagrad": LogisticLearner,
        "mira": MiraLearner,
    }
    learner: OnlineLearner = makers[name_in(LEARNERS, settings)](settings)
    return learner
