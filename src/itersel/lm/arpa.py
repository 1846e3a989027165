"""ARPA files, the text format of n-gram language models."""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from itersel.errors import FilePath, InputError
from itersel.lm.estimate_kernels import DIGITS, NUMBER_BYTES, SMALLEST, arpa_lines
from itersel.lm.lookup_kernels import ngram_keys
from itersel.lm.ngrams import END, START, UNKNOWN, NGrams
from itersel.run.progress import count_up
from itersel.storage.arrays import Float64s
from itersel.storage.files import byte_blocks, open_output, packing_of
from itersel.storage.numbers import are_numeric
from itersel.storage.strings import StringTable, string_table

if TYPE_CHECKING:
    from itersel.lm.estimate import EstimatedModel

# How other tools write the unknown word; KenLM reads both.
CAPITAL_UNKNOWN = b"<UNK>"
# The number of n-grams of an order.
_COUNT = re.compile(rb"ngram\s+(\d{1,18})\s*=\s*(\d{1,18})")
# How a binary file of KenLM begins.
_KENLM = b"mmap lm http://kheafield.com/code"
# The format allows comments before the counts.
MAX_COMMENTS = 1000
# n-grams that are read, and written, at a time.
READ, WRITTEN = 2**14, 2**16

# The probability that KenLM gives to the unknown word if the model does not list it.
UNLISTED_UNKNOWN = -100.0


class Arpa(NamedTuple):
    """An n-gram model."""

    words: list[str]  # the vocabulary; word 0 is ``<unk>``
    ngrams: list[NGrams]  # by order, from 1; row i of the unigrams is word i


def parse_arpa(pieces: Iterable[bytes], path: FilePath) -> Arpa:
    r"""Parse an ARPA file that arrives in pieces; `path` is its name in messages.

    A model without ``<unk>`` gets one with log10 probability -100. Raises an `InputError` if counts, numbers
    or words are wrong, or an n-gram is listed twice.
    """
    return _Parser(pieces, path).parse()


def read_unigrams(path: FilePath) -> tuple[set[str], int]:
    """Return the words and the order of an ARPA file; what follows the unigrams is not read."""
    parser = _Parser(byte_blocks(path), path)
    counts, _ = parser.header()
    rows = chain.from_iterable(parser.rows(1, counts[0], highest=len(counts) == 1))
    words = {UNKNOWN if row[1] == CAPITAL_UNKNOWN else row[1].decode(errors="replace") for row in rows}
    return words, len(counts)


def _line_blocks(pieces: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines of a text that arrives in pieces; what follows the last line feed is a line, too."""
    rest = bytearray()
    for piece in pieces:
        rest += piece
        if b"\n" in piece:
            *lines, last = bytes(rest).split(b"\n")
            rest = bytearray(last)
            yield lines
    yield [bytes(rest)]


class _Parser:
    def __init__(self, pieces: Iterable[bytes], path: FilePath) -> None:
        self.path = path
        self.lines = chain.from_iterable(_line_blocks(pieces))
        self.position = 0  # number of lines taken
        self.words = [UNKNOWN]
        # numbers of words
        self.ids = {UNKNOWN.encode(): 0, CAPITAL_UNKNOWN: 0}

    def fail(self, message: str, position: int | None = None) -> NoReturn:
        """Raise the error of a line, by default the last one taken."""
        raise InputError(message, self.path, self.position if position is None else position + 1)

    def next_line(self) -> bytes:
        """Return the next line that is not empty, without white space around it; nothing at the end."""
        for line in self.lines:
            self.position += 1
            if stripped := line.strip():
                return stripped
        return b""

    def heading(self) -> bytes:
        """Return the next line that is not empty; there must be one."""
        return self.next_line() or self.fail("ends before \\end\\; the file is truncated; recreate it")

    def parse(self) -> Arpa:
        counts, heading = self.header()
        ngrams = []

        for order, count in enumerate(counts, 1):
            if heading != b"\\%d-grams:" % order:
                self.fail(f"expected \\{order}-grams:; the number of n-grams differs from \\data\\")
            ngrams.append(self.section(order, count, highest=order == len(counts)))
            heading = self.heading()

        if heading != b"\\end\\":
            self.fail("expected \\end\\; the number of n-grams differs from \\data\\")
        # What follows is ignored, but read: the caller may want the checksum of the whole file.
        deque(self.lines, maxlen=0)
        return Arpa(self.words, [_unigrams(ngrams[0], len(self.words)), *ngrams[1:]])

    def header(self) -> tuple[list[int], bytes]:
        r"""Return the numbers of n-grams, after any comments and ``\data\``, and the line that follows."""
        line = self.heading().removeprefix(codecs.BOM_UTF8) or self.next_line()
        first = self.position - 1

        if line.startswith(_KENLM):
            self.fail("is a binary file of KenLM; give the ARPA file that it was made from", 0)
        if message := packing_of(line):
            self.fail(message, 0)

        while line != b"\\data\\":
            if self.position - first > MAX_COMMENTS or line.startswith(b"\\") or not line:
                self.fail("is not an ARPA file: expected \\data\\", first)
            line = self.next_line()

        counts: list[int] = []
        line = self.heading()
        while match := _COUNT.fullmatch(line):
            order, count = map(int, match.groups())
            if order != len(counts) + 1:
                self.fail(f"expected 'ngram {len(counts) + 1}=...'")
            counts.append(count)
            line = self.heading()

        if not counts:
            self.fail("expected 'ngram 1=...'")
        return counts, line

    def rows(self, order: int, count: int, highest: bool) -> Iterator[list[list[bytes]]]:
        """Yield the fields of the n-grams in a section, each with or without a backoff, in blocks."""
        begin = self.position
        done = 0
        while done < count:
            lines = list(islice(self.lines, min(count - done, READ)))
            self.refuse_controls(lines)
            # bytes.split splits at ASCII white space only: a no-break space is part of a word, as in KenLM.
            rows = [line.split() for line in lines]
            self.position += len(rows)
            if not rows:
                self.fail(f"ends after {done} of {count} n-grams; the file is truncated")

            # probability and words, and below the highest order perhaps a backoff
            size = np.fromiter(map(len, rows), np.int64, len(rows))
            has_backoff = (size == order + 2) & (not highest)
            bad = np.flatnonzero((size != order + 1) & ~has_backoff)
            if bad.size:
                row = rows[bad[0]]
                place = done + int(bad[0])
                if not row or row[0].startswith(b"\\"):
                    self.fail(f"the section ends after {place} n-grams; \\data\\ says {count}", begin + place)
                backoff = "" if highest else ", and optionally a backoff"
                self.fail(f"expected log10 p, {order} words{backoff}", begin + place)

            yield rows
            done += len(rows)

    def refuse_controls(self, lines: list[bytes]) -> None:
        """Raise an error for white space that separates nothing in the format, and is in no text either."""
        joined = b"".join(lines)
        for control in (b"\v", b"\f"):
            if control in joined:
                place = next(place for place, line in enumerate(lines) if control in line)
                self.fail(
                    f"contains the control character U+{control[0]:04X}; remove it", self.position + place
                )

    def section(self, order: int, count: int, highest: bool) -> NGrams:
        """Read the n-grams of an order."""
        begin = self.position
        parts = [NGrams(np.empty((0, order), np.int32), np.empty(0), np.empty(0))]
        for rows in count_up(self.rows(order, count, highest), f"{order}-grams read", len):
            if order == 1:
                self.add_words(rows)
            parts.append(self.converted(rows, order))

        for mark in (START, END):
            if mark.encode() not in self.ids:
                self.fail(f"the unigrams lack {mark}; estimate the model with sentence ends", begin - 1)

        grams = NGrams(*map(np.concatenate, zip(*parts, strict=True)))
        keys = ngram_keys(grams.words)
        row = np.argsort(keys, kind="stable")
        again = row[1:][keys[row[1:]] == keys[row[:-1]]]
        if again.size:
            words = " ".join(self.words[word] for word in grams.words[again.min()])
            self.fail(f"'{words}' is listed twice", begin + int(again.min()))
        return grams

    def add_words(self, rows: list[list[bytes]]) -> None:
        """Give numbers to the words of unigrams that have just been read."""
        for position, row in enumerate(rows, self.position - len(rows)):
            if self.ids.setdefault(row[1], len(self.words)) == len(self.words):
                try:
                    self.words.append(row[1].decode())
                except UnicodeDecodeError:
                    self.fail("not valid UTF-8; convert the file with iconv", position)

    def converted(self, rows: list[list[bytes]], order: int) -> NGrams:
        """Convert the fields of n-grams that have just been read to numbers."""
        begin = self.position - len(rows)
        words = np.empty((len(rows), order), np.int32)
        for j in range(order):
            words[:, j] = [self.ids.get(row[j + 1], -1) for row in rows]

        unlisted = np.argwhere(words < 0)
        if unlisted.size:
            i, j = unlisted[0].tolist()
            word = rows[i][j + 1].decode(errors="replace")
            self.fail(f"'{word}' is not among the unigrams", begin + i)

        probability = self.numbers([row[0] for row in rows], begin)
        above = np.flatnonzero(probability > 0)
        if above.size:
            self.fail("the log10 probability is positive", begin + int(above[0]))

        backoffs = [row[-1] if len(row) == order + 2 else b"0" for row in rows]
        return NGrams(words, probability, self.numbers(backoffs, begin))

    def numbers(self, fields: list[bytes], begin: int) -> Float64s:
        """Parse finite numbers, one of each line."""
        result = _finite(fields)
        if result is None:
            bad = next(i for i, field in enumerate(fields) if _finite([field]) is None)
            self.fail(f"'{fields[bad].decode(errors='replace')}' is not a finite number", begin + bad)
        return result


def _finite(fields: list[bytes]) -> Float64s | None:
    """Return fields as numbers, or None if one is not a finite number."""
    with suppress(ValueError):
        if are_numeric(fields):
            result = np.array(fields, np.bytes_).astype(np.float64)
            return result if np.isfinite(result).all() else None
    return None


def _unigrams(grams: NGrams, count: int) -> NGrams:
    """Sort the unigrams in vocabulary order, and add a row for ``<unk>`` if it is not listed."""
    probability = np.full(count, UNLISTED_UNKNOWN)
    backoff = np.zeros(count)
    rows = grams.words[:, 0]
    probability[rows], backoff[rows] = grams.log10_probability, grams.backoff
    return NGrams(np.arange(count, dtype=np.int32)[:, None], probability, backoff)


def write_arpa(path: FilePath, model: EstimatedModel) -> None:
    """Write an ARPA file, compressed by name; n-grams in the order of `model`, 7 significant digits."""
    words = string_table(model.words)
    with open_output(path) as stream:
        stream.write("\\data\\\n")
        for order, count in enumerate(model.counts, 1):
            stream.write(f"ngram {order}={count}\n")
        for order in range(1, len(model.counts) + 1):
            stream.write(f"\n\\{order}-grams:\n")
            blocks = chain.from_iterable(map(_split, model.blocks(order)))
            for grams in count_up(blocks, f"{order}-grams written", lambda block: block.words.shape[0]):
                stream.write(_lines(grams, words, order == len(model.counts)))
        stream.write("\n\\end\\\n")


def as_read(numbers: Float64s) -> Float64s:
    """Return numbers (n) as they are read from an ARPA file, rounded to 7 significant digits.

    A number halfway between two may be rounded the other way.
    """
    size = np.abs(numbers, out=np.ones(numbers.shape[0]), where=numbers != 0)
    exponent = np.floor(np.log10(size, dtype=np.longdouble)).astype(np.float64)
    # a power of ten up to 10^22 is exact, so the quotient is the double nearest to the decimal number
    scale = 10.0 ** np.clip(DIGITS - 1 - exponent, 0, 22)
    rounded: Float64s = np.rint(numbers * scale) / scale
    rounded[np.abs(numbers) < SMALLEST] = 0.0
    return rounded


def _split(grams: NGrams) -> Iterator[NGrams]:
    for begin in range(0, grams.words.shape[0], WRITTEN):
        part = slice(begin, begin + WRITTEN)
        yield NGrams(grams.words[part], grams.log10_probability[part], grams.backoff[part])


def _lines(grams: NGrams, words: StringTable, is_highest: bool) -> str:
    numbers = np.column_stack(grams[1:2] if is_highest else grams[1:])
    length = int(np.diff(words.offset)[grams.words].sum()) + grams.words.size + NUMBER_BYTES * numbers.size
    text = np.empty(length, np.uint8)
    end = arpa_lines(grams.words, numbers, words.data, words.offset, text)
    return text[:end].tobytes().decode()
