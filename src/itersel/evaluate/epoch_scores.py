"""Scores of the translations of a text after each epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from itersel.corpus.labels import lines_of, pick, read_labels, require_label
from itersel.corpus.prepare import read_preparation, restore
from itersel.corpus.recase import read_recaser
from itersel.corpus.text import check_line_counts
from itersel.errors import FilePath
from itersel.evaluate.metrics import (
    CorpusScore,
    ReferenceText,
    make_bleu,
    make_metrics,
    read_references,
    read_translations,
    score_corpus,
)


class EpochTexts(NamedTuple):
    """The translations of a text after each epoch, and its references: all lines, or those of a task."""

    translations: list[list[str]]
    references: list[ReferenceText]
    raw_references: list[ReferenceText]  # before preparation; empty if none are given


def read_epochs(
    translations: Sequence[FilePath],
    reference: Sequence[FilePath],
    raw_reference: Sequence[FilePath] = (),
    labels: FilePath | None = None,
    task: str | None = None,
) -> EpochTexts:
    """Read the translations and the references, and keep the lines with the label of a task, if given."""
    references, raw = read_references(reference), read_references(raw_reference)
    lines: Sequence[int] = range(len(references[0]))
    if raw:
        check_line_counts((reference[0], lines), (raw_reference[0], raw[0]))
    if labels is not None and task is not None:
        found = read_labels(labels, len(lines), reference[0])
        require_label(found, task, labels)
        lines = lines_of(found, [task])

    texts = [pick(read_translations(path, references, reference[0]), lines) for path in translations]
    return EpochTexts(texts, _pick_all(references, lines), _pick_all(raw, lines))


def _pick_all(references: Sequence[ReferenceText], lines: Sequence[int]) -> list[ReferenceText]:
    return [pick(one, lines) for one in references]


def score_epochs(texts: EpochTexts, tokenize: str) -> tuple[tuple[CorpusScore, ...], str]:
    """Return the scores of each epoch, and their sacrebleu signature."""
    metric = make_bleu(texts.references, tokenize)
    return tuple(score_corpus(metric, text) for text in texts.translations), metric.signature


def score_epochs_as_text(
    texts: EpochTexts, by: str, tokenizer: str, detokenizer: tuple[FilePath, FilePath]
) -> tuple[float, ...]:
    """Return the scores of the detokenised translations of each epoch, by a metric of detokenised text.

    `detokenizer` are the files of the preparation and of the recaser.
    """
    [metric] = make_metrics(texts.raw_references, tokenizer, [by])
    preparation, recaser = read_preparation(detokenizer[0]), read_recaser(detokenizer[1])
    return tuple(
        metric.score(metric.counts(restore(text, preparation, recaser))) for text in texts.translations
    )
