"""Corpus BLEU by sacrebleu, with its signature."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU

from itersel.errors import InputError
from itersel.storage.files import read_lines

References = Sequence[str | None]

# Maps all white space that str.split splits at, except space and tab, to private-use characters.
_WHITE_SPACE = [code for code in range(0x3001) if chr(code).isspace() and chr(code) not in " \t"]
HIDDEN = {code: 0xE000 + number for number, code in enumerate(_WHITE_SPACE)}


class CorpusScore(NamedTuple):
    """BLEU of one system.

    Attributes
    ----------
    bleu
        0 to 100.
    precisions
        1-gram to 4-gram precisions, in per cent.
    brevity_penalty
        0 to 1.
    length, reference_length
        Words after sacrebleu's tokenisation.
    """

    bleu: float
    precisions: tuple[float, ...]
    brevity_penalty: float
    length: int
    reference_length: int


def make_bleu(references: Sequence[References], tokenize: str = "13a") -> BLEU:
    """Return sacrebleu's metric with the settings of mteval-v11b, lowercased.

    Parameters
    ----------
    references
        One or more reference translations of the text, each with one line per sentence; `None` instead of
        a line where a sentence has fewer references than others.
    tokenize
        ``13a`` as in mteval-v11b, or ``none`` to score already tokenised text unchanged.
    """
    # force: no warning that the text looks tokenised; it is.
    metric = BLEU(lowercase=True, tokenize=tokenize, smooth_method="none", force=True)
    if tokenize == "none":
        metric.tokenizer = _KeepWords(metric.tokenizer)
    metric._ref_cache = metric._cache_references(references)  # type: ignore[arg-type]  # sacrebleu documents None here
    return metric


class _KeepWords:
    """Hides white space that does not separate words (`itersel.corpus.text.split_words`) from sacrebleu."""

    def __init__(self, tokenizer: Callable[[str], str]) -> None:
        self._tokenizer = tokenizer

    def __call__(self, line: str) -> str:
        return self._tokenizer(line.translate(HIDDEN))

    def signature(self) -> str:
        """Return the name of the tokenizer."""
        return str(self._tokenizer.signature())  # type: ignore[attr-defined]


def score_corpus(metric: BLEU, translations: Sequence[str]) -> CorpusScore:
    """Return the BLEU of the translations against the references of `metric`."""
    score = metric.corpus_score(translations, None)
    return CorpusScore(score.score, tuple(score.precisions), score.bp, score.sys_len, score.ref_len)


def signature(metric: Metric) -> str:
    """Return the sacrebleu signature of a metric."""
    return str(metric.get_signature().format())


def read_references(paths: Sequence[str | os.PathLike[str]]) -> list[list[str | None]]:
    """Read one or more reference translations of a text, each with one line per sentence.

    With several references, an empty line becomes `None`, a missing reference, unless all are empty.
    """
    references: list[list[str | None]] = [[*read_lines(path)] for path in paths]
    for path, lines in zip(paths, references, strict=True):
        if not lines:
            raise InputError("is empty; expected reference translations", path)
        if len(lines) != len(references[0]):
            raise InputError(
                f"has {len(lines)} lines, but {os.fspath(paths[0])} has {len(references[0])}; all references "
                "must be of the same text",
                path,
            )
    return without_empty(references)


def without_empty(references: Sequence[References]) -> list[list[str | None]]:
    """Return references with `None` for empty lines, except where all references of a sentence are empty."""
    found = [list(lines) for lines in references]
    for sentence, lines in enumerate(zip(*references, strict=True)):
        if any((line or "").strip() for line in lines):
            for one, line in zip(found, lines, strict=True):
                one[sentence] = line if (line or "").strip() else None
    return found


def read_translations(
    path: str | os.PathLike[str], references: Sequence[References], reference: str | os.PathLike[str]
) -> list[str]:
    """Read the translations of one system, one per line, as many as there are references (in a file)."""
    lines, count = read_lines(path), len(references[0])
    if len(lines) != count:
        raise InputError(
            f"has {len(lines)} lines, but the reference {os.fspath(reference)} has {count}; both must have "
            "one line per sentence",
            path,
        )
    return lines
