"""Test sets of WMT: SGML files of one side, read line by line as its segments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from itersel.errors import InputError
from itersel.storage.compression import without_compression

SGML = (".sgm", ".sgml")
_SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg>", re.DOTALL | re.IGNORECASE)
_BEGIN, _END = re.compile(r"<seg\b", re.IGNORECASE), re.compile("</seg>", re.IGNORECASE)
# How a file begins that is not text.
_MARKUP = re.compile(
    r"\s*<(?:srcset|refset|tstset|mteval|doc|dataset|tmx|xliff|!DOCTYPE|\?xml)\b", re.IGNORECASE
)


def is_sgml(path: str) -> bool:
    """Return whether a file is SGML according to its name, compressed or not."""
    return without_compression(path).lower().endswith(SGML)


def check_first_line(line: str, path: str) -> None:
    """Raise an InputError if the first line of a text shows that it is markup."""
    if _MARKUP.match(line.removeprefix("\ufeff")):
        raise InputError(
            "is SGML or XML, not text; give it a name that says so (.sgm, .tmx, .xlf or .xml)",
            path,
            1,
        )


def segments(blocks: Iterator[list[str]], path: str) -> Iterator[list[str]]:
    """Yield the segments in blocks of the lines of a file.

    Raises
    ------
    InputError
        If a segment does not end, or there is none.
    """
    rest, found = "", False
    for lines in blocks:
        text = rest + "\n".join(lines) + "\n"
        last = max((match.end() for match in _END.finditer(text)), default=0)
        whole, rest = text[:last], text[last:]
        rest = rest[match.start() :] if (match := _BEGIN.search(rest)) else rest[-8:]
        if texts := [" ".join(one.split()) for one in _SEGMENT.findall(whole)]:
            found = True
            yield texts
    if _BEGIN.search(rest):
        raise InputError("ends within a segment; the file is truncated", path)
    if not found:
        raise InputError("has no segments (<seg>)", path)
