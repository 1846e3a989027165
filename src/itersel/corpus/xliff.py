"""XLIFF 1.2 and 2.0: the translated segments of files in the two languages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lxml import etree

from itersel.corpus.corpora import Corpus, Reading
from itersel.corpus.languages import matches
from itersel.corpus.pairs import Pair, pair_blocks
from itersel.corpus.text import Bitext, clean_text
from itersel.corpus.tmx import line_of, segment_text, units
from itersel.errors import InputError
from itersel.limits import MAX_TMX_UNIT

# States of a target that is no translation, or not one that somebody vouches for.
_UNFINISHED = (
    *("new", "needs-translation", "needs-adaptation", "needs-l10n", "needs-review-translation"),
    *("needs-review-adaptation", "needs-review-l10n", "initial"),
)


def xliff_blocks(path: str, corpus: Corpus, reading: Reading) -> Iterator[Bitext]:
    """Read the translated segments of an XLIFF file.

    Segments without a target, with a state that asks for translation or review (1.2) or `initial` (2.0), not
    approved, or marked as not to be translated are left out.

    Raises
    ------
    InputError
        See `pair_blocks`; also if the file is not XLIFF, or has no translated segment in the two languages.
    """
    return pair_blocks(_pairs(path, reading), path, reading)


def _pairs(path: str, reading: Reading) -> Iterator[Pair]:
    wanted, found, there = (reading.source_language, reading.target_language), False, set()
    limit = max(MAX_TMX_UNIT, 4 * reading.limit)
    for unit in units(path, ("{*}trans-unit", "{*}segment"), "xliff", limit):
        source, target = (next(unit.iterchildren(f"{{*}}{name}"), None) for name in ("source", "target"))
        languages = _languages(unit)
        there.add(languages)
        same = all(map(matches, languages, wanted))
        if source is None or target is None or not (same or all(map(matches, languages[::-1], wanted))):
            continue
        state = target.get("state") or unit.get("state") or ""
        if state in _UNFINISHED or unit.get("approved") == "no" or not _is_translatable(unit):
            continue
        first, second = (clean_text(segment_text(one, path)) for one in (source, target))
        if first and second:
            found = True
            yield Pair(first, second, line_of(unit)) if same else Pair(second, first, line_of(unit))
    if not found:
        codes = ", ".join(sorted({f"{one or '?'} to {other or '?'}" for one, other in there})) or "none"
        raise InputError(
            f"has no translated segment in {' and '.join(wanted)}; its languages are {codes}", path
        )


def _languages(unit: Any) -> tuple[str, str]:
    """Return the languages of a unit: attributes of its file (1.2) or of the document (2.0)."""
    found = ["", ""]
    for element in unit.iterancestors():
        if etree.QName(element).localname in ("file", "xliff"):
            for side, names in enumerate((("source-language", "srcLang"), ("target-language", "trgLang"))):
                found[side] = found[side] or next(filter(None, map(element.get, names)), "")
    return found[0], found[1]


def _is_translatable(unit: Any) -> bool:
    """Return whether a unit is to be translated: its attribute, or that of the nearest element around it."""
    around = (element.get("translate") for element in (unit, *unit.iterancestors()))
    return next(filter(None, around), "yes") != "no"
