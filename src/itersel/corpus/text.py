"""Parallel text in: every line is checked, nothing is skipped silently."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from itersel.align.pharaoh import check_points, format_points, parse_points
from itersel.corpus.labels import checked_labels
from itersel.errors import InputError
from itersel.limits import MAX_LINE_BYTES
from itersel.storage.files import line_blocks

StrPath = str | os.PathLike[str]

FIELD_SEPARATOR = "|||"
# C0 and C1 control characters and DEL. Tabs among them: a tab in a file of sentences is nearly always
# a second column that got there by mistake.
_CONTROL_CHARACTER = re.compile("[\x00-\x1f\x7f-\x9f]")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f]|" + re.escape(FIELD_SEPARATOR))


# Nonterminals of text grammars, and the marks of language models; in any case, as preparation lowercases.
_RESERVED = re.compile(r"\[[^\[\],\s]+,[0-9]+\]|</?s>|<unk>", re.IGNORECASE)
_WORD = re.compile("[^ \t]+")


def find_control(text: str) -> str:
    """Return a complaint about the first control character of a text whose words tabs may part, or ''."""
    # almost all text is printable, which is found out three times as fast
    if text.isprintable():
        return ""
    found = _CONTROL_CHARACTER.search(text.replace("\t", " "))
    return _complaint(found.group()) if found else ""


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
    further
        Further reference translations of each pair, or None.
    raw
        All reference translations of each pair as they were given, or None.
    """

    source: list[str]
    target: list[str]
    task: list[str] | None = None
    alignment: list[str] | None = None
    further: list[tuple[str, ...]] | None = None
    raw: list[tuple[str, ...]] | None = None

    @property
    def size(self) -> int:
        """Number of pairs (``len()`` is the number of fields of the tuple)."""
        return len(self.source)

    def take(self, indices: Sequence[int]) -> Bitext:
        """Return the pairs at `indices`, in that order."""
        columns = (None if column is None else [column[index] for index in indices] for column in self)
        return Bitext(*columns)  # type: ignore[arg-type]

    def columns(self) -> dict[str, list[str]]:
        """Return the columns of text that are there, by name.

        ``target.N`` is the N-th further reference; ``raw`` and ``raw.N`` are the references as given.
        """
        columns = {name: column for name, column in self._asdict().items() if column is not None}
        for number, lines in enumerate(zip(*columns.pop("further", ()), strict=True), 1):
            columns[f"target.{number}"] = list(lines)
        for number, lines in enumerate(zip(*columns.pop("raw", ()), strict=True)):
            columns[f"raw.{number}" if number else "raw"] = list(lines)
        return columns


def read_text(path: StrPath, allow_empty: bool = False) -> list[str]:
    """Read a file of one sentence a line, plain or ``.gz``.

    Raises
    ------
    InputError
        See `text_blocks`; also if the file unpacks to far more than any text does.
    """
    return [line for block in text_blocks(path, allow_empty, is_kept=True) for line in block]


def text_blocks(
    path: StrPath,
    allow_empty: bool = False,
    limit: int = MAX_LINE_BYTES,
    advice: str = "",
    is_kept: bool = False,
) -> Iterator[list[str]]:
    """Yield the lines of a text some at a time; for `limit`, `advice`, `is_kept` see `line_blocks`.

    Raises
    ------
    InputError
        If the file is empty and must not be, is not UTF-8, or a line is too long or holds a control character
        or ``|||``.
    """
    number = 0
    for lines in line_blocks(path, limit, advice, is_kept):
        if any(lines) and _FORBIDDEN.search(" ".join(lines)):
            for place, line in enumerate(lines, number + 1):
                if found := _FORBIDDEN.search(line):
                    raise InputError(_complaint(found.group()), path, place)
        yield lines
        number += len(lines)
    if not number and not allow_empty:
        raise InputError("is empty; a text of one sentence a line was expected", path)


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


def tokenized_blocks(path: StrPath, limit: int = MAX_LINE_BYTES, advice: str = "") -> Iterator[list[str]]:
    """Yield the lines of tokenised text some at a time; raises what `read_tokenized` raises."""
    number = 1
    for lines in text_blocks(path, False, limit, advice):
        _check_lines(lines, path, number)
        yield lines
        number += len(lines)


def check_words(sentences: Sequence[Sequence[str]], path: StrPath, first: int = 1) -> None:
    """Raise an InputError at the first word that means something else in grammars or language models.

    `first` is the number of the line of the first sentence.
    """
    reserved = set(filter(_RESERVED.fullmatch, set().union(*sentences)))
    if not reserved:
        return
    for number, words in enumerate(sentences, first):
        for word in words:
            if word in reserved:
                message = (
                    f"'{word}' cannot be a word, it has a meaning in grammars or language models; rename it"
                )
                raise InputError(message, path, number)


def _check_lines(lines: Sequence[str], path: StrPath, first: int) -> None:
    """Do the same for lines of tokenised text."""
    if any(lines) and any(map(_RESERVED.fullmatch, set(split_words(" ".join(lines))))):
        check_words(list(map(split_words, lines)), path, first)


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
    """Read parallel files; see `parallel_blocks`."""
    blocks = parallel_blocks(source, target, task, alignment, tokenized, is_kept=True)
    return concatenate(blocks)


def concatenate(blocks: Iterable[Bitext]) -> Bitext:
    """Return the pairs of all blocks, which have the same columns; without a block, no pairs."""
    columns: dict[str, list[Any]] = {"source": [], "target": []}
    for block in blocks:
        for name, lines in block._asdict().items():
            if lines is not None:
                columns.setdefault(name, []).extend(lines)
    return Bitext(**columns)


def parallel_blocks(
    source: StrPath,
    target: StrPath,
    task: StrPath | None = None,
    alignment: StrPath | None = None,
    tokenized: bool = False,
    limit: int = MAX_LINE_BYTES,
    advice: str = "",
    is_kept: bool = False,
    further: Sequence[StrPath] = (),
) -> Iterator[Bitext]:
    """Read parallel files, some pairs at a time; for `limit`, `advice`, `is_kept` see `line_blocks`.

    Parameters
    ----------
    further
        Further reference translations of the source.

    Raises
    ------
    InputError
        What `text_blocks` raises, of `tokenized` text also what `read_tokenized` raises; different line
        counts; an empty task label; an alignment point that is malformed or outside its sentence. The
        error names the file and the line.
    """
    named = {"source": source, "target": target, "task": task, "alignment": alignment}
    references = {f"target.{number}": path for number, path in enumerate(further, 1)}
    paths = {name: path for name, path in (named | references).items() if path is not None}
    files = [
        _Column(
            line_blocks(path, limit, advice, is_kept)
            if name == "alignment"
            else text_blocks(path, False, limit, advice, is_kept)
        )
        for name, path in paths.items()
    ]
    number = 0
    while count := min([file.available() for file in files]):
        columns: dict[str, Any] = dict(zip(paths, [file.take(count) for file in files], strict=True))
        others = [columns.pop(name) for name in references]
        block = Bitext(**columns, further=list(zip(*others, strict=True)) if others else None)
        yield _checked(block, paths, tokenized, number)
        number += count
    lines = [range(number + file.rest()) for file in files]
    for path, count_of_lines in zip(paths.values(), lines, strict=True):
        check_line_counts({source: lines[0], path: count_of_lines})


class _Column:
    """Lines of one of several files that are read side by side."""

    def __init__(self, blocks: Iterator[list[str]]) -> None:
        self.blocks = blocks
        self.block: list[str] = []
        self.place = 0

    def available(self) -> int:
        """Return how many lines can be taken now; 0 at the end of the file."""
        if self.place == len(self.block):
            self.block, self.place = next(self.blocks, []), 0
        return len(self.block) - self.place

    def take(self, count: int) -> list[str]:
        """Return the next `count` of the available lines."""
        self.place += count
        return self.block[self.place - count : self.place]

    def rest(self) -> int:
        """Read to the end; returns the number of lines that were not taken."""
        return len(self.block) - self.place + sum(map(len, self.blocks))


def _checked(block: Bitext, paths: dict[str, StrPath], tokenized: bool, before: int) -> Bitext:
    """Check pairs, before which others stand, and return them as they are written."""
    if tokenized:
        for name, lines in block.columns().items():
            if name not in ("task", "alignment"):
                _check_lines(lines, paths[name], before + 1)
    if block.task is not None:
        block = block._replace(task=checked_labels(block.task, paths["task"], before))
    if block.alignment is not None:
        block = block._replace(alignment=_checked_alignment(block, paths["alignment"], before))
    return block


def check_line_counts(texts: dict[StrPath, Sequence[Any]]) -> None:
    """Raise an InputError at the first line that has no partner in another of the files."""
    longest = max(texts, key=lambda path: len(texts[path]))
    shortest = min(texts, key=lambda path: len(texts[path]))
    lines, partners = len(texts[longest]), len(texts[shortest])
    if lines != partners:
        message = (
            f"has no partner: {lines} lines, but {partners} in {os.fspath(shortest)}; align the files again"
        )
        raise InputError(message, longest, partners + 1)


def _checked_alignment(block: Bitext, path: StrPath, before: int) -> list[str]:
    lines = []
    for place, line in enumerate(block.alignment or ()):
        points = parse_points(line, path, before + place + 1)
        lengths = len(split_words(block.source[place])), len(split_words(block.target[place]))
        check_points(points, *lengths, path, before + place + 1)
        lines.append(format_points(points))
    return lines
