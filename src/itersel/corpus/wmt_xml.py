"""Test sets of WMT in XML: sources and their first references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from itersel.corpus.corpora import Corpus, Reading
from itersel.corpus.languages import matches
from itersel.corpus.pairs import Pair, pair_blocks
from itersel.corpus.text import Bitext, clean_text
from itersel.corpus.tmx import line_of, segment_text, units
from itersel.errors import InputError
from itersel.limits import MAX_TMX_UNIT


def wmt_blocks(path: str, corpus: Corpus, reading: Reading) -> Iterator[Bitext]:
    """Read the segments of a test set: of each document, the source and the first reference.

    Raises
    ------
    InputError
        See `pair_blocks`; also if the file is no test set, a reference lacks a segment, or no document is in
        the two languages.
    """
    return pair_blocks(_pairs(path, reading), path, reading)


def _pairs(path: str, reading: Reading) -> Iterator[Pair]:
    found = False
    for document in units(path, "{*}doc", "dataset", max(MAX_TMX_UNIT, 4 * reading.limit)):
        source = _side(document, "{*}src", reading.source_language)
        reference = _side(document, "{*}ref", reading.target_language)
        if source is None or reference is None:
            continue
        found = True
        translated = _segments(reference, path)
        for number, (text, line) in _segments(source, path).items():
            if number not in translated:
                raise InputError(f"the reference lacks segment {number}", path, line)
            yield Pair(text, translated[number][0], line)
    if not found:
        languages = f"{reading.source_language} and {reading.target_language}"
        raise InputError(f"has no document with a source and a reference in {languages}", path)


def _side(document: Any, tag: str, language: str) -> Any:
    """Return the first source or reference of a document in a language, or None."""
    return next((one for one in document.iterchildren(tag) if matches(one.get("lang", ""), language)), None)


def _segments(element: Any, path: str) -> dict[str, tuple[str, int | None]]:
    """Return the segments of a text and their lines, by their numbers."""
    found: dict[str, tuple[str, int | None]] = {}
    for segment in element.iterdescendants("{*}seg"):
        number, line = segment.get("id", ""), line_of(segment)
        if not number or number in found:
            raise InputError(f"a segment has no number of its own, but '{number}'", path, line)
        found[number] = clean_text(segment_text(segment, path)), line
    return found
