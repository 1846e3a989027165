"""Reading of parallel text: every line is checked, nothing is skipped silently."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from itersel.corpus.text_names import RAW_SOURCE, raw_columns, reference_column
from itersel.errors import CombinedInputError, FilePath, InputError
from itersel.storage.files import MAX_LINE_BYTES, line_blocks, without_compression

FIELD_SEPARATOR = "|||"
# Maximum number of bad lines of a text that are listed.
MAX_LISTED = 10
# C0 and C1 control characters and DEL. Tabs are included: in a file of sentences, a tab is nearly always a
# stray second column.
_CONTROL_CHARACTER = re.compile("[\x00-\x1f\x7f-\x9f]")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f]|" + re.escape(FIELD_SEPARATOR))
# Test sets of WMT, whose segments are read as lines.
SGML = (".sgm", ".sgml")
MAX_SEGMENT = 2**22
_SEGMENT = re.compile(
    r"<doc\b[^>]*>|<seg\b(?:[^>]*?\bid=[\"']?([0-9]+))?[^>]*>(.*?)</seg>", re.DOTALL | re.IGNORECASE
)
_SYSTEM = re.compile(r"\bsysid=[\"']?([^\"'\s>]+)", re.IGNORECASE)
_BEGIN, _END = re.compile(r"<seg\b", re.IGNORECASE), re.compile("</seg>", re.IGNORECASE)
# How a file begins that is not text. Text may begin with a tag of HTML.
_MARKUP = re.compile(
    r"\s*<(?:(?:srcset|refset|tstset|mteval|dataset|tmx|xliff|!DOCTYPE)\b|\?xml|(?:doc|seg|chapter)\s+\w+=)",
    re.IGNORECASE,
)
# Nonterminals of text grammars and special words of language models, in any case because text is lowercased.
_RESERVED = re.compile(r"\[[^\[\],\s]+,[0-9]+\]|</?s>|<unk>", re.IGNORECASE)


def find_control(text: str) -> str:
    """Return a message about the first control character of a text, other than tabs between words, or ''."""
    # almost all text is printable, and this test is three times as fast
    if text.isprintable():
        return ""
    found = _CONTROL_CHARACTER.search(text.replace("\t", " "))
    return _complaint(found.group()) if found else ""


def split_words(line: str) -> list[str]:
    """Return the words of tokenised text, separated by spaces and tabs.

    All steps use this function, so words and positions are the same in grammars, language models and
    alignments. Other Unicode white space (no-break and ideographic spaces, line separators) is part of a
    word, as in cdec and KenLM, whose files itersel exchanges. Moses turns it into plain spaces when raw text
    is tokenised. In text that the user has tokenised it is kept, so positions in the user's alignments stay
    valid.
    """
    return list(filter(None, line.replace("\t", " ").split(" ")))


class Bitext(NamedTuple):
    """Parallel text as columns of equal length."""

    # The sentences of each side.
    source: list[str]
    target: list[str]
    labels: list[str] | None = None  # of each pair, or None
    alignment: list[str] | None = None  # lines in Pharaoh format, or None
    further: list[tuple[str, ...]] | None = None  # additional reference translations of each pair, or None
    # the raw source of each pair, followed by all its raw reference translations, or None
    raw: list[tuple[str, ...]] | None = None
    cased: list[str] | None = None  # the prepared target of each pair before lowercasing, or None

    @property
    def size(self) -> int:
        """Number of pairs (``len()`` is the number of fields of the tuple)."""
        return len(self.source)

    def take(self, indices: Sequence[int]) -> Bitext:
        """Return the pairs at `indices`, in that order."""
        columns = (None if column is None else [column[index] for index in indices] for column in self)
        return Bitext(*columns)  # type: ignore[arg-type]

    def columns(self) -> dict[str, list[str]]:
        """Return the existing columns by name, except `cased`.

        ``target.N`` is the N-th additional reference; ``raw`` and ``raw.N`` are the raw references, and
        ``raw.source`` is the raw source.
        """
        listed = self._replace(cased=None)._asdict()
        columns = {name: column for name, column in listed.items() if column is not None}
        for number, lines in enumerate(zip(*columns.pop("further", ()), strict=True), 1):
            columns[reference_column(number)] = list(lines)

        raw = list(zip(*columns.pop("raw", ()), strict=True))
        names = (RAW_SOURCE, *raw_columns(len(raw) - 1))
        columns |= {name: list(lines) for name, lines in zip(names, raw, strict=False)}
        return columns


def read_text(path: FilePath) -> list[str]:
    """Read a file with one sentence per line, plain or compressed; see `text_blocks`."""
    return [line for block in text_blocks(path, is_kept=True) for line in block]


def text_blocks(
    path: FilePath,
    allow_empty: bool = False,
    limit: int = MAX_LINE_BYTES,
    advice: str = "",
    is_kept: bool = False,
    is_tokenized: bool = False,
    is_checked: bool = True,
) -> Iterator[list[str]]:
    """Yield the lines of a text in blocks; for `limit`, `advice`, `is_kept` see `line_blocks`.

    Lines with control characters or ``|||`` are errors if `is_checked`, and if `is_tokenized` also words that
    are reserved in grammars or language models (``[X,1]``, ``<s>``, ``</s>``, ``<unk>``).
    """
    number = 0
    blocks = line_blocks(path, limit, advice, is_kept)
    name = os.fspath(path)
    if without_compression(name).lower().endswith(SGML):
        blocks = _segments(blocks, name)

    for lines in blocks:
        first = next(filter(str.strip, lines), "") if number == 0 else ""
        if _MARKUP.match(first.removeprefix("\ufeff")):
            message = "is SGML or XML, not text; give it a name that says so (.sgm, .tmx, .xlf or .xml)"
            raise InputError(message, name, 1)

        numbers = range(number + 1, number + len(lines) + 1)
        if is_checked:
            check_text(lines, path, numbers, is_tokenized)

        yield lines
        number += len(lines)

    if not number and not allow_empty:
        raise InputError("is empty; expected one sentence per line", path)


def _segments(blocks: Iterator[list[str]], path: str) -> Iterator[list[str]]:
    """Yield the segments of an SGML file in blocks, given blocks of its lines."""
    rest = ""
    systems = set[str]()
    last = 0
    found = False
    for lines in blocks:
        text = rest + "\n".join(lines) + "\n"
        end = max((match.end() for match in _END.finditer(text)), default=0)
        whole, rest = text[:end], text[end:]
        if len(rest) > MAX_SEGMENT:
            raise InputError(f"no segment ends within {MAX_SEGMENT:,} characters", path)

        texts = []
        for match in _SEGMENT.finditer(whole):
            if match[2] is None:
                systems.update(_SYSTEM.findall(match.group()))
                last = 0
                continue

            number = int(match[1] or 0)
            if 0 < number <= last:
                raise InputError(f"segment {number} follows segment {last}; sort them", path)
            last = number or last
            texts.append(" ".join(match[2].split()))

        if len(systems) > 1:
            message = f"has several translations ({', '.join(sorted(systems))}); give a file for each"
            raise InputError(message, path)
        if texts:
            found = True
            yield texts

    if _BEGIN.search(rest):
        raise InputError("ends within a segment; the file is truncated", path)
    if not found:
        raise InputError("has no segments (<seg>)", path)


def check_text(
    texts: Sequence[str], path: FilePath, numbers: Sequence[int | None], is_tokenized: bool = False
) -> None:
    """Raise an InputError for the first `MAX_LISTED` texts with a control character or ``|||``.

    If they are tokenised, then also for words that are reserved in grammars or language models.
    """
    joined = " ".join(texts)
    # almost all text is printable, and this test is three times as fast
    if not joined.isprintable() or FIELD_SEPARATOR in joined:
        found = ((number, _FORBIDDEN.search(text)) for number, text in zip(numbers, texts, strict=True))
        _refuse(((number, _complaint(match.group())) for number, match in found if match), path)

    if is_tokenized:
        bad = (
            (number, word)
            for number, text in zip(numbers, texts, strict=True)
            if "[" in text or "<" in text
            for word in filter(_RESERVED.fullmatch, split_words(text))
        )
        why = "cannot be a word because it has a meaning in grammars or language models; rename it"
        _refuse(((number, f"'{word}' {why}") for number, word in bad), path)


def _refuse(complaints: Iterable[tuple[int | None, str]], path: FilePath) -> None:
    """Raise an InputError for the first complaints, if there are any."""
    errors = [InputError(message, path, number) for number, message in islice(complaints, MAX_LISTED)]
    if errors:
        raise errors[0] if len(errors) == 1 else CombinedInputError(errors)


def _complaint(forbidden: str) -> str:
    if forbidden == FIELD_SEPARATOR:
        return f"'{FIELD_SEPARATOR}' separates the fields of grammars, so no token may contain it; replace it"
    return f"control character U+{ord(forbidden):04X}; remove it or replace it by a space"


def is_valid(block: Bitext, index: int, is_tokenized: bool) -> bool:
    """Return whether a pair of a block has no text that `check_text` refuses."""
    sides = (block.source[index], block.target[index], *(block.further[index] if block.further else ()))
    return not any(
        _FORBIDDEN.search(text) or (is_tokenized and any(map(_RESERVED.fullmatch, split_words(text))))
        for text in sides
    )


def clean_text(text: str) -> str:
    """Return text from markup, with each run of white space and control characters as one space."""
    return " ".join(_CONTROL_CHARACTER.sub(" ", text).split())


def concatenate_bitexts(blocks: Iterable[Bitext]) -> Bitext:
    """Return the pairs of all blocks, which must have the same columns; no blocks give no pairs."""
    columns: dict[str, list[Any]] = {"source": [], "target": []}
    for block in blocks:
        for name, lines in block._asdict().items():
            if lines is not None:
                columns.setdefault(name, []).extend(lines)
    return Bitext(**columns)


def check_line_counts(first: tuple[FilePath, Sequence[Any]], *others: tuple[FilePath, Sequence[Any]]) -> None:
    """Raise an InputError for the first line without a partner, if a file is not as long as the first."""
    for other in others:
        (short, fewer), (long, more) = sorted((first, other), key=lambda text: len(text[1]))
        if len(fewer) != len(more):
            counts = f"{len(more)} lines, but {len(fewer)} in {os.fspath(short)}"
            raise InputError(f"has no partner: {counts}; the files must be parallel", long, len(fewer) + 1)
