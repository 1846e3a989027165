"""Train the weights of one shard for one epoch.

This is the inner loop of all algorithms of Simianer, Riezler & Dyer (2012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import repeat
from queue import SimpleQueue
from typing import NamedTuple, Self

import numpy as np

from itersel.bleu.points import to_points
from itersel.bleu.references import ReferenceLengths
from itersel.bleu.sentence import SentenceBleu
from itersel.config.learning_steps import GivenListTrainSettings, LearningSettings, TrainSettings
from itersel.decode.opening import SentenceDecoder, Sentences, count_sentences, open_sentences
from itersel.decode.translations import Candidates, DerivationFinder, WeightVectors
from itersel.errors import InputError, located
from itersel.evaluate.names import QUALITY, SENTENCE_BLEU
from itersel.learn.example import Example
from itersel.learn.learners import OnlineLearner
from itersel.learn.training import Training
from itersel.learn.weight_table import PartWeights, WeightTable
from itersel.run.progress import progress
from itersel.vectors.shard_weights import ShardState
from itersel.vectors.weights import check_magnitude, make_weights

# Instead of the number of an epoch, in the seed that chooses the pairs whose losses are measured.
LOSS_EPOCH = 0


class Part(NamedTuple):
    """A part of a shard in training: in memory, or a file that is read when its turn comes."""

    sentence_count: int
    # return the sentences, and a decoder for each thread
    open: Callable[[], tuple[Sentences, Sequence[SentenceDecoder]]]
    path: str | None = None
    name: str | None = None  # in messages


def file_part(
    path: str,
    language_model: str | None,
    start_path: str | None,
    settings: TrainSettings | GivenListTrainSettings,
    threads: int,
) -> Part:
    """Return a file of a shard's sentences as a part.

    `language_model` is None if the file contains given lists. `start_path` is the file of the
    weights that training starts from, named in messages. At most as many decoder `threads` are used as the
    learner's delay.
    """
    read = partial(open_sentences, path, language_model, settings, settings.learner.thread_count(threads))
    count = count_sentences(path, settings)
    # conflicting features and overflowing weights can be due to either file
    return Part(count, read, path, path if start_path is None else f"{path} and {start_path}")


def train_shard(
    shard: Sentences,
    decoders: Sequence[SentenceDecoder],
    start: ShardState | None,
    settings: LearningSettings,
) -> Training:
    """Train on a shard in memory with references; see `train_parts`.

    There is a decoder for each thread, made with the same settings; their number does not affect the result.
    """
    return train_parts([Part(shard.sentence_count, lambda: (shard, decoders))], start, settings)


def train_parts(parts: Sequence[Part], start: ShardState | None, settings: LearningSettings) -> Training:
    """Decode and learn, sentence by sentence, or `delay` sentences at a time (Langford et al. 2009).

    Parts are loaded one at a time, and weights carry over from one to the next: the result is the same as for
    one part with all sentences, as long as no `delay` crosses parts. Without `start`, all weights begin at 0.
    With `settings.measure_loss`, all sentences are first decoded with the start weights, and the learner's
    loss is summed up; this does not affect the other results.
    """
    start = ShardState(make_weights({})) if start is None else start
    check_magnitude(start.weights, " at the start", "start from smaller weights")

    online_learner = settings.learner.make_learner()
    sentence_count = sum(part.sentence_count for part in parts)
    steps_before = (settings.epoch - 1) * sentence_count
    if start.steps is not None:
        # with resharding, the shard's size may have differed a little in earlier epochs
        steps_before = start.steps

    def weights_at_start() -> WeightTable:
        return WeightTable(start, settings.learner, sentence_count, steps_before)

    # before training, so that only one table of weights is in memory
    loss = None
    if settings.measure_loss:
        loss = _measure_loss(weights_at_start(), online_learner, settings, parts)

    pairs = 0
    updates = 0
    total_quality = 0.0
    mean_quality_points = 0.0
    measured = SENTENCE_BLEU

    def status() -> str:
        return f"mean {measured} {mean_quality_points:.1f}, {updates:,} of {pairs:,} pairs with a loss"

    weight_table = weights_at_start()
    examples = _Pass(weight_table, online_learner, settings, settings.epoch).examples(parts)
    trained_on = progress(examples, "train", sentence_count, status)
    for seen, one in enumerate(trained_on, 1):
        move = online_learner.learn(one.example)
        overflown = one.weights.update(one.example, move.coefficient)
        if overflown is not None:
            raise InputError(
                f"sentence {one.sentence + 1} of the shard: the weight of '{overflown}' overflows; "
                f"choose a smaller {online_learner.rate_name}",
                one.name,
            )

        pairs += move.pairs
        updates += move.updates
        measured = QUALITY if one.example.kbest.has_quality else SENTENCE_BLEU
        total_quality += float(one.example.quality[0])
        mean_quality_points = to_points(total_quality) / seen

    to_mix, state = weight_table.collect(settings.learner.average)
    if state is not None:
        state = state._replace(steps=steps_before + sentence_count)
    return Training(
        weights=to_mix,
        state=state,
        sentences=sentence_count,
        pairs=pairs,
        updates=updates,
        mean_quality_points=mean_quality_points,
        loss=loss,
    )


def _measure_loss(
    weight_table: WeightTable,
    online_learner: OnlineLearner,
    settings: LearningSettings,
    parts: Sequence[Part],
) -> float:
    """Return the sum of the learner's losses with weights that do not change."""
    # in a fixed epoch: losses of different epochs are comparable only if the same pairs are drawn
    examples = _Pass(weight_table, online_learner, settings, LOSS_EPOCH).examples(parts)
    sentence_count = sum(part.sentence_count for part in parts)
    return sum(
        (online_learner.loss(one.example) for one in progress(examples, "measure loss", sentence_count)), 0.0
    )


class _Decoded(NamedTuple):
    """A sentence (its number in the part, from 0) with its k-best list, and its part's weights and name."""

    sentence: int
    example: Example
    weights: PartWeights
    name: str | None


class _Pass:
    """One pass over all sentences of an epoch, with the weights of `weight_table`."""

    def __init__(
        self, weight_table: WeightTable, online_learner: OnlineLearner, settings: LearningSettings, epoch: int
    ) -> None:
        self._weight_table = weight_table
        self._epoch = epoch
        self._bleu = SentenceBleu(settings.learner.sentence_bleu)
        self._online_learner = online_learner
        self._settings = settings

    def examples(self, parts: Sequence[Part]) -> Iterator[_Decoded]:
        """Yield each sentence with its k-best list, decoded with the current weights.

        Errors that do not name a file get the name of the part.
        """
        sentences_before = 0
        for part in parts:
            with located(part.name):
                yield from self._part_examples(part, sentences_before)
            sentences_before += part.sentence_count

    def _part_examples(self, part: Part, sentences_before: int) -> Iterator[_Decoded]:
        """Yield the sentences of a part, after `sentences_before` in the parts before it.

        The next `delay` sentences are decoded when all sentences before them have been learned from.
        """
        sentences, decoders = part.open()
        if not sentences.can_be_learned_from:
            raise InputError("has no references to train on; extract it with --reference", part.path)

        weights = self._weight_table.open(sentences, decoders[0].dense_names)
        count = sentences.sentence_count
        delay = self._settings.learner.delay

        with _DecoderThreads(decoders, self._settings.k_best) as threads:
            for begin in range(0, count, delay):
                together = range(begin, min(begin + delay, count))
                weights.refresh(*sentences.features_of(together.start, together.stop))
                # before learning from any, because finders depend on the sentences learned from so far
                finders = [self._finder(sentences, sentence) for sentence in together]

                decoded = threads.decode(together, weights.vectors, finders)
                for sentence, kbest in zip(together, decoded, strict=True):
                    references = sentences.reference_lengths(sentence)
                    example = self._example(kbest, references, weights.rate, sentences_before + sentence)
                    yield _Decoded(sentence, example, weights, part.name)

        self._weight_table.close(weights)

    def _finder(self, sentences: Sentences, sentence: int) -> DerivationFinder | None:
        return self._online_learner.finder(self._bleu.against(sentences.reference_lengths(sentence)))

    def _example(self, kbest: Candidates, references: ReferenceLengths, rate: float, number: int) -> Example:
        """Return what is learned from the k-best list of the sentence with a number in the shard."""
        quality = kbest.quality
        length_factor = 1.0
        if not kbest.has_quality:
            length_factor = self._bleu.against(references).length_factor
            quality = self._bleu.of_matches(kbest.matches, kbest.length, references)

        seed = (self._settings.seed, self._epoch, self._settings.shard_number, number)
        return Example(kbest, quality, length_factor, rate, seed)


class _DecoderThreads:
    """Decoders that work at the same time, each in a thread; kernels release Python's GIL."""

    def __init__(self, decoders: Sequence[SentenceDecoder], k_best: int) -> None:
        self._count = len(decoders)
        self._k_best = k_best
        self._threads = ThreadPoolExecutor(self._count)
        self._idle: SimpleQueue[SentenceDecoder] = SimpleQueue()
        for decoder in decoders:
            self._idle.put(decoder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)

    def decode(
        self, sentences: Sequence[int], vectors: WeightVectors, finders: Sequence[DerivationFinder | None]
    ) -> Iterable[Candidates]:
        """Return the k-best lists of sentences, all decoded with these weights."""
        if self._count == 1:
            return list(map(self._decode, repeat(vectors), sentences, finders))

        # Training on some sentences overlaps with decoding others.
        copies = WeightVectors(*map(np.copy, vectors))
        return self._threads.map(self._decode, repeat(copies), sentences, finders)

    def _decode(self, vectors: WeightVectors, sentence: int, finder: DerivationFinder | None) -> Candidates:
        decoder = self._idle.get()
        try:
            return decoder.candidates(sentence, vectors, self._k_best, finder)
        finally:
            self._idle.put(decoder)
