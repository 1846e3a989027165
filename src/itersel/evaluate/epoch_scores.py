"""Scores of the translations of a text after each epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from itersel.corpus.labels import lines_of, pick, read_labels, require_label
from itersel.corpus.prepare import read_preparation, restore
from itersel.corpus.recase import read_recaser
from itersel.corpus.text import check_line_counts
from itersel.errors import FilePath
from itersel.evaluate.metrics import CorpusScore, make_metrics, make_tokenized_bleu, score_corpus
from itersel.evaluate.texts import ReferenceText, read_references, read_translations


class EpochTranslations(NamedTuple):
    """The translations after an epoch: all lines, or those of a task."""

    path: FilePath
    numbers: Sequence[int]  # of the lines, from 0
    lines: Sequence[str]


# Scores the translations after an epoch.
Scorer = Callable[[EpochTranslations], float]


class EpochTexts(NamedTuple):
    """The translations of a text after each epoch, and its references: all lines, or those of a task."""

    paths: Sequence[FilePath]  # of the translations
    lines: Sequence[int]
    every_reference: list[list[str | None]]  # with all lines
    reference_path: FilePath  # in messages
    raw_references: list[ReferenceText]  # before preparation, of the lines; empty if none are given

    @property
    def references(self) -> list[ReferenceText]:
        """The references of the lines."""
        return _pick_all(self.every_reference, self.lines)

    def translations(self) -> Iterator[EpochTranslations]:
        """Yield the translations after each epoch; only those of one are in memory."""
        for path in self.paths:
            every = read_translations(path, self.every_reference, self.reference_path)
            yield EpochTranslations(path, self.lines, pick(every, self.lines))


def read_epochs(
    translations: Sequence[FilePath],
    reference: Sequence[FilePath],
    raw_reference: Sequence[FilePath] = (),
    labels: FilePath | None = None,
    task: str | None = None,
) -> EpochTexts:
    """Read the references of translations, and keep the lines with the label of a task, if given."""
    references = read_references(reference)
    lines: Sequence[int] = range(len(references[0]))

    raw = read_references(raw_reference)
    if raw:
        check_line_counts((reference[0], lines), (raw_reference[0], raw[0]))

    if labels is not None and task is not None:
        found = read_labels(labels, len(lines), reference[0])
        require_label(found, task, labels)
        lines = lines_of(found, [task])

    return EpochTexts(translations, lines, references, reference[0], _pick_all(raw, lines))


def _pick_all(references: Sequence[ReferenceText], lines: Sequence[int]) -> list[ReferenceText]:
    return [pick(one, lines) for one in references]


class EpochScores(NamedTuple):
    """The scores of a text after each epoch."""

    tokenized_bleu: tuple[CorpusScore, ...]
    signature: str  # of sacrebleu, for `tokenized_bleu`
    deciding_scores: tuple[float, ...]  # by which an epoch is chosen: `tokenized_bleu` or another score


def score_epochs(texts: EpochTexts, retokenize: str, score: Scorer | None = None) -> EpochScores:
    """Score the translations of one epoch after the other.

    Without `score`, epochs are chosen by tokenized BLEU.
    """
    metric = make_tokenized_bleu(texts.references, retokenize)
    bleu: list[CorpusScore] = []
    deciding: list[float] = []

    for translations in texts.translations():
        bleu.append(score_corpus(metric, translations.lines))
        deciding.append(bleu[-1].bleu if score is None else score(translations))

    return EpochScores(tuple(bleu), metric.signature, tuple(deciding))


def text_scorer(
    texts: EpochTexts, name: str, tokenizer: str, preparation: FilePath, recaser: FilePath
) -> Scorer:
    """Return a scorer by a metric of detokenised text; the `tokenizer` is sacrebleu's."""
    [metric] = make_metrics(texts.raw_references, tokenizer, [name])
    prepared = read_preparation(preparation)
    learned = read_recaser(recaser)
    return lambda found: metric.score(metric.counts(restore(found.lines, prepared, learned)))
