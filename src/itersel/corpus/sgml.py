"""Test sets of WMT: SGML files of one side, read line by line as its segments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from itersel.errors import InputError
from itersel.storage.compression import without_compression

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


def is_sgml(path: str) -> bool:
    """Return whether a file is SGML according to its name, compressed or not."""
    return without_compression(path).lower().endswith(SGML)


def check_first_line(line: str, path: str) -> None:
    """Raise an InputError if the first line of a text shows that it is markup."""
    if _MARKUP.match(line.removeprefix("\ufeff")):
        message = "is SGML or XML, not text; give it a name that says so (.sgm, .tmx, .xlf or .xml)"
        raise InputError(message, path, 1)


def segments(blocks: Iterator[list[str]], path: str) -> Iterator[list[str]]:
    """Yield the segments in blocks of the lines of a file.

    Raises
    ------
    InputError
        If a segment does not end, or there is none; if the file has several translations, or its segments are
        not in the order of their numbers.
    """
    rest, systems, last, found = "", set[str](), 0, False
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
