"""Test sets of WMT in XML: sources and all references."""

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
    """Read the segments of a test set, whose documents have a source and one or more references.

    Raises
    ------
    InputError
        See `pair_blocks`; also if the file is no test set, a document has another number of references than
        the first one, a reference lacks a segment, or no document is in the two languages.
    """
    return pair_blocks(_pairs(path, reading), path, reading)


def _pairs(path: str, reading: Reading) -> Iterator[Pair]:
    count = 0
    for document in units(path, "{*}doc", "dataset", max(MAX_TMX_UNIT, 4 * reading.limit)):
        sources = [one for one in document.iterchildren("{*}src") if _is_in(one, reading.source_language)]
        references = [one for one in document.iterchildren("{*}ref") if _is_in(one, reading.target_language)]
        if not sources or not references:
            continue
        if count and len(references) != count:
            message = f"this document has {len(references)} references, the first one {count}"
            raise InputError(message, path, line_of(document))
        count = len(references)
        translated = [_segments(one, path) for one in references]
        for number, (text, line) in _segments(sources[0], path).items():
            if any(number not in one for one in translated):
                raise InputError(f"a reference lacks segment {number}", path, line)
            first, *others = (one[number][0] for one in translated)
            yield Pair(text, first, line, further=tuple(others))
    if not count:
        languages = f"{reading.source_language} and {reading.target_language}"
        raise InputError(f"has no document with a source and a reference in {languages}", path)


def _is_in(element: Any, language: str) -> bool:
    return matches(element.get("lang", ""), language)


def _segments(element: Any, path: str) -> dict[str, tuple[str, int | None]]:
    """Return the segments of a text and their lines, by their numbers."""
    return {
        segment.get("id", ""): (clean_text(segment_text(segment, path)), line_of(segment))
        for segment in element.iterdescendants("{*}seg")
    }
