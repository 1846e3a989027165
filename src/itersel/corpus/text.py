"""Parallel text in: every line is checked, nothing is skipped silently."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from itersel.align.pharaoh import check_points, format_points, read_alignment
from itersel.errors import InputError
from itersel.files import read_lines

StrPath = str | os.PathLike[str]

FIELD_SEPARATOR = "|||"
# C0 and C1 control characters and DEL. Tabs among them: a tab in a file of sentences is nearly always
# a second column that got there by mistake.
_CONTROL_CHARACTER = re.compile("[\x00-\x1f\x7f-\x9f]")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f]|" + re.escape(FIELD_SEPARATOR))


# Nonterminals of text grammars, and the marks of language models; in any case, as preparation lowercases.
_RESERVED = re.compile(r"\[[^\[\],\s]+,[0-9]+\]|</?s>|<unk>", re.IGNORECASE)
_WORD = re.compile("[^ \t]+")


def split_words(line: str) -> list[str]:
    """Return the words of tokenised text: what spaces and tabs part.

    All steps agree on this, so that a word is the same in grammars, language models and alignments, and a
    position means the same. Other white space of Unicode (no-break and ideographic spaces, line separators)
    is part of a word, as in cdec and KenLM, whose files itersel exchanges. Where raw text is tokenised,
    Moses makes plain spaces of it; text that the user has tokenised keeps it, and with it the positions
    in the user's alignments.
    """
    return _WORD.findall(line)


class Bitext(NamedTuple):
    """Parallel text as columns of equal length.

    Attributes
    ----------
    source, target
        One sentence each.
    task
        Label of the natural task of each pair, or None.
    alignment
        Lines in Pharaoh format, or None.
    """

    source: list[str]
    target: list[str]
    task: list[str] | None = None
    alignment: list[str] | None = None

    @property
    def size(self) -> int:
        """Number of pairs (``len()`` is the number of fields of the tuple)."""
        return len(self.source)

    def take(self, indices: Sequence[int]) -> Bitext:
        """Return the pairs at `indices`, in that order."""
        columns = (None if column is None else [column[index] for index in indices] for column in self)
        return Bitext(*columns)  # type: ignore[arg-type]

    def columns(self) -> dict[str, list[str]]:
        """Return the columns that are there, by name."""
        return {name: column for name, column in self._asdict().items() if column is not None}


def read_text(path: StrPath, allow_empty: bool = False) -> list[str]:
    """Read a file of one sentence a line, plain or ``.gz``.

    Raises
    ------
    InputError
        If the file is empty and must not be, is not UTF-8, or a line holds a control character or ``|||``.
    """
    lines = read_lines(path)
    if not lines and not allow_empty:
        raise InputError("is empty; a text of one sentence a line was expected", path)
    for number, line in enumerate(lines, 1):
        found = _FORBIDDEN.search(line)
        if found:
            raise InputError(_complaint(found.group()), path, number)
    return lines


def _complaint(forbidden: str) -> str:
    if forbidden == FIELD_SEPARATOR:
        return f"'{FIELD_SEPARATOR}' separates the fields of grammars, no token can hold it; replace it"
    return f"control character U+{ord(forbidden):04X}; remove it or replace it by a space"


def read_tokenized(path: StrPath, allow_empty: bool = False) -> list[list[str]]:
    """Read the words of tokenised text, one sentence a line.

    Raises
    ------
    InputError
        What `read_text` raises; a word that means something else in grammars or language models
        (``[X,1]``, ``<s>``, ``</s>``, ``<unk>``). The error names the file and the line.
    """
    sentences = [split_words(line) for line in read_text(path, allow_empty)]
    check_words(sentences, path)
    return sentences


def check_words(sentences: Sequence[Sequence[str]], path: StrPath) -> None:
    """Raise an InputError at the first word that means something else in grammars or language models."""
    reserved = set(filter(_RESERVED.fullmatch, set().union(*sentences)))
    if not reserved:
        return
    for number, words in enumerate(sentences, 1):
        for word in words:
            if word in reserved:
                message = (
                    f"'{word}' cannot be a word, it has a meaning in grammars or language models; rename it"
                )
                raise InputError(message, path, number)


def clean_text(text: str) -> str:
    """Return `text` with runs of white space and control characters as one space.

    For text from markup, where such characters mean nothing; a user's own text is refused instead.
    """
    return " ".join(_CONTROL_CHARACTER.sub(" ", text).split())


def read_parallel(
    source: StrPath,
    target: StrPath,
    task: StrPath | None = None,
    alignment: StrPath | None = None,
    tokenized: bool = False,
) -> Bitext:
    """Read parallel files.

    Raises
    ------
    InputError
        What `read_text` raises, of `tokenized` text also what `read_tokenized` raises; different line
        counts; an empty task label; an alignment point that is malformed or outside its sentence. The
        error names the file and the line.
    """
    bitext = Bitext(read_text(source), read_text(target))
    check_line_counts({source: bitext.source, target: bitext.target})
    if tokenized:
        for path, lines in ((source, bitext.source), (target, bitext.target)):
            check_words([split_words(line) for line in lines], path)
    if task is not None:
        labels = read_text(task)
        check_line_counts({source: bitext.source, task: labels})
        bitext = bitext._replace(task=_checked_labels(labels, task))
    if alignment is not None:
        bitext = bitext._replace(alignment=_checked_alignment(bitext, source, alignment))
    return bitext


def check_line_counts(texts: dict[StrPath, Sequence[Any]]) -> None:
    """Raise an InputError at the first line that has no partner in another of the files."""
    longest = max(texts, key=lambda path: len(texts[path]))
    shortest = min(texts, key=lambda path: len(texts[path]))
    lines, partners = len(texts[longest]), len(texts[shortest])
    if lines != partners:
        message = (
            f"has no partner: {lines} lines, but {partners} in {os.fspath(shortest)}; align the files anew"
        )
        raise InputError(message, longest, partners + 1)


def _checked_labels(labels: list[str], path: StrPath) -> list[str]:
    labels = [label.strip() for label in labels]
    for number, label in enumerate(labels, 1):
        if not label or " " in label:
            raise InputError(f"'{label}' is not a task label; give one word a line", path, number)
    return labels


def _checked_alignment(bitext: Bitext, source: StrPath, path: StrPath) -> list[str]:
    sentences = read_alignment(path)
    check_line_counts({source: bitext.source, path: sentences})
    for number, points in enumerate(sentences):
        lengths = len(split_words(bitext.source[number])), len(split_words(bitext.target[number]))
        check_points(points, *lengths, path, number + 1)
    return [format_points(points) for points in sentences]
