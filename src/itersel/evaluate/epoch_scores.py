"""Scores of the translations of a text after each epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from itersel.corpus.labels import lines_of, pick, read_labels, require_label
from itersel.corpus.prepare import read_preparation, restore
from itersel.corpus.recase import read_recaser
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


def score_epochs(
    reference: Sequence[FilePath],
    translations: Sequence[str],
    tokenize: str,
    labels: str | None = None,
    task: str | None = None,
) -> tuple[tuple[CorpusScore, ...], str]:
    """Return the scores of each epoch (on the lines of a task, if given), and their sacrebleu signature."""
    references, texts = _read_epochs(reference, translations, labels, task)
    metric = make_bleu(references, tokenize)
    return tuple(score_corpus(metric, text) for text in texts), metric.signature


def score_epochs_as_text(
    reference: Sequence[FilePath],
    translations: Sequence[str],
    by: str,
    tokenizer: str,
    detokenizer: tuple[FilePath, FilePath],
    labels: str | None,
    task: str | None,
) -> tuple[float, ...]:
    """Return the scores of the detokenised translations of each epoch, by a metric of detokenised text.

    `detokenizer` are the files of the preparation and of the recaser; see also `score_epochs`.
    """
    references, texts = _read_epochs(reference, translations, labels, task)
    [metric] = make_metrics(references, tokenizer, [by])
    preparation, recaser = read_preparation(detokenizer[0]), read_recaser(detokenizer[1])
    return tuple(metric.score(metric.counts(restore(text, preparation, recaser))) for text in texts)


def _read_epochs(
    paths: Sequence[FilePath], translations: Sequence[str], labels: str | None, task: str | None
) -> tuple[list[ReferenceText], Iterator[list[str]]]:
    """Return the references and the translations of each epoch: the lines of a task, or all."""
    references = read_references(paths)
    lines: Sequence[int] = range(len(references[0]))
    if labels is not None and task is not None:
        found = read_labels(labels, len(lines), paths[0])
        require_label(found, task, labels)
        lines = lines_of(found, [task])
    texts = (pick(read_translations(path, references, paths[0]), lines) for path in translations)
    return [pick(one, lines) for one in references], texts
