"""A decoder without search: every sentence has a fixed list of translations, which the model ranks."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from tests.naive.learning import PAIRS, Bleu, Hypothesis, dot, update_pairs

from itersel.config.learners import LEARNERS
from itersel.config.learning_steps import TrainSettings
from itersel.decode.decoder import Decoder
from itersel.decode.translations import KBest
from itersel.grammar import build
from itersel.grammar.sentence_grammars import SentenceGrammars
from itersel.keys import name_in
from itersel.learn.learners.perceptron import Perceptron
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import string_table
from itersel.vectors.features import feature_keys

DENSE_NAMES = ("LanguageModel", "WordPenalty")


class Sentence(NamedTuple):
    """References, translations, and their features by name (`DENSE_NAMES` and sparse ones)."""

    references: tuple[tuple[int, ...], ...]
    translations: tuple[tuple[int, ...], ...]
    features: tuple[dict[str, float], ...]

    def kbest(self, weights: dict[str, float], k: int) -> list[Hypothesis]:
        pairs = zip(self.translations, self.features, strict=True)
        found = [Hypothesis(words, features, dot(weights, features)) for words, features in pairs]
        return sorted(found, key=lambda hypothesis: -hypothesis.score)[:k]


def random_sentence(
    random: np.random.Generator, names: Sequence[str], *, exact: bool, references: int = 3
) -> Sentence:
    """Return a sentence with a random number of references, up to a maximum.

    With `exact`, dense features are multiples of 1/8, so that their sums are exact.
    """

    def text(source: np.random.Generator, least: int) -> tuple[int, ...]:
        return tuple(source.integers(5, size=source.integers(least, 9)).tolist())

    reference, count = text(random, 1), int(random.integers(1, 25))
    translations = tuple(text(random, 0) for _ in range(count))
    features = []
    for _ in range(count):
        chosen = random.choice(len(names), size=random.integers(len(names) + 1), replace=False)
        values = {names[i]: float(random.integers(1, 3)) for i in chosen}
        for name in DENSE_NAMES:
            values[name] = float(random.integers(-16, 17)) / 8 if exact else random.normal()
        features.append(values)
    more = random.spawn(1)[0]
    further = [text(more, 1) for _ in range(more.integers(references))]
    return Sentence((reference, *further), translations, tuple(features))


def make_grammars(sentences: Sequence[Sentence], names: Sequence[str]) -> SentenceGrammars:
    """Return what training reads of grammars: references and the sparse features.

    Every sentence has the same grammar, with one rule that has all features.
    """
    table = string_table(names)
    keys = feature_keys(table)
    order = np.argsort(keys)
    every = [one for sentence in sentences for one in sentence.references]
    counts = [len(sentence.references) for sentence in sentences]
    nothing = [()] * len(sentences)
    return dataclasses.replace(
        build.make_grammars(nothing, nothing, nothing),
        vocabulary=string_table(["word"] * 5),
        reference=np.array([word for words in every for word in words], np.int32),
        reference_offset=offsets_of([len(words) for words in every]),
        sentence_reference_offset=offsets_of(counts) if set(counts) - {1} else np.zeros(0, np.int64),
        rule_feature=np.arange(len(names), dtype=np.int32),
        rule_feature_value=np.ones(len(names), np.float32),
        rule_feature_offset=np.array([0, len(names)]),
        feature_key=keys[order],
        feature_name=table.take(order),
        grammar_rule=np.zeros(len(sentences), np.int32),
        grammar_offset=np.arange(len(sentences) + 1),
        grammar_dense=np.zeros((0, 0), np.float32),
        dense_names=(),
    )


class OracleDecoder(Decoder):
    """Ranks fixed lists of translations with the given weights."""

    dense_names = DENSE_NAMES

    def __init__(self, sentences: Sequence[Sentence], grammars: SentenceGrammars) -> None:
        self.sentences, self.grammars = sentences, grammars
        self.names = grammars.feature_name.to_list()

    def decode(self, sentence, weights, k=100, finder=None) -> KBest:
        named = dict(zip(self.names, weights.sparse.tolist(), strict=True))
        named |= dict(zip(self.dense_names, weights.dense.tolist(), strict=True))
        return make_kbest(self.sentences[sentence].kbest(named, k), self.names)


def make_kbest(hypotheses: Sequence[Hypothesis], names: Sequence[str]) -> KBest:
    """Convert a k-best list to arrays; `names` is the table of sparse features."""
    rows = [[(i, one.features[n]) for i, n in enumerate(names) if n in one.features] for one in hypotheses]
    return KBest(
        word=np.array([word for one in hypotheses for word in one.words], np.int32),
        word_offset=offsets_of([len(one.words) for one in hypotheses]),
        score=np.array([one.score for one in hypotheses]),
        dense=np.array([[one.features.get(name, 0.0) for name in DENSE_NAMES] for one in hypotheses]),
        feature=np.array([i for row in rows for i, _ in row], np.int32),
        feature_value=np.array([value for row in rows for _, value in row], np.float64),
        feature_offset=offsets_of([len(row) for row in rows]),
    )


def train(sentences: Sequence[Sentence], weights: dict[str, float], how: TrainSettings) -> dict[str, float]:
    """Train a perceptron on a shard for one epoch, in plain Python."""
    learner = how.learner
    assert isinstance(learner, Perceptron)
    bleu, loss = Bleu(learner.sentence_bleu), name_in(LEARNERS, learner)
    for sentence in sentences:
        kbest = sentence.kbest(weights, how.k_best)
        quality = bleu.of_all([hypothesis.words for hypothesis in kbest], *sentence.references)
        pairs = PAIRS[learner.pairs](quality)
        weights, _ = update_pairs(weights, kbest, pairs, loss, learner.update, learner.learning_rate)
    return weights
