"""Corpus BLEU by sacrebleu, with the signature of what was computed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU

from itersel.errors import InputError
from itersel.storage.files import read_lines

References = Sequence[str | None]

# All that str.split splits at, but space and tab, to characters for private use.
_WHITE_SPACE = [code for code in range(0x3001) if chr(code).isspace() and chr(code) not in " \t"]
HIDDEN = {code: 0xE000 + number for number, code in enumerate(_WHITE_SPACE)}


class CorpusScore(NamedTuple):
    """BLEU of one system.

    Attributes
    ----------
    bleu
        0 to 100.
    precisions
        Of 1-grams to 4-grams, in per cent.
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
        One or more reference translations of the text, each with a line a sentence; `None` instead of a
        line where a sentence has fewer references than others.
    tokenize
        ``13a`` as mteval-v11b, or ``none`` for text whose tokens are to be scored as they are.
    """
    # force: do not warn that the text looks tokenised; it is.
    metric = BLEU(lowercase=True, tokenize=tokenize, smooth_method="none", force=True)
    if tokenize == "none":
        metric.tokenizer = _KeepWords(metric.tokenizer)
    metric._ref_cache = metric._cache_references(references)  # type: ignore[arg-type]  # sacrebleu documents None here
    return metric


class _KeepWords:
    """Hides white space that does not part words (`itersel.corpus.text.split_words`) from sacrebleu."""

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
    """Return what a metric computes, in sacrebleu's notation."""
    return str(metric.get_signature().format())


def read_references(paths: Sequence[str | os.PathLike[str]]) -> list[list[str | None]]:
    """Read one or more reference translations of a text, each with a line a sentence.

    An empty line of one of several is `None`: the sentence has no such reference, unless all are empty.

    Raises
    ------
    InputError
        If a file is empty, or the files differ in their number of lines.
    """
    references: list[list[str | None]] = [[*read_lines(path)] for path in paths]
    for path, lines in zip(paths, references, strict=True):
        if not lines:
            raise InputError("is empty; there is nothing to score against", path)
        if len(lines) != len(references[0]):
            raise InputError(
                f"has {len(lines)} lines, {os.fspath(paths[0])} has {len(references[0])}; give references of "
                "the same text",
                path,
            )
    for sentence in range(len(references[0])):
        if any((lines[sentence] or "").strip() for lines in references):
            for lines in references:
                lines[sentence] = lines[sentence] if (lines[sentence] or "").strip() else None
    return references


def read_translations(
    path: str | os.PathLike[str], references: Sequence[References], reference: str | os.PathLike[str]
) -> list[str]:
    """Read the translations of one system, one a line.

    Raises
    ------
    InputError
        If they are not as many as the lines of the references, the first of which is the file `reference`.
    """
    lines, count = read_lines(path), len(references[0])
    if len(lines) != count:
        raise InputError(
            f"has {len(lines)} lines, the reference {os.fspath(reference)} has {count}; both must have one "
            "line a sentence",
            path,
        )
    return lines
