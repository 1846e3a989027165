"""Pairs of two languages in XML, read one unit at a time: TMX 1.4, XLIFF 1.2 and 2.0, test sets of WMT."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lxml import etree

from itersel.corpus.corpora import Reading
from itersel.corpus.labels import most_frequent
from itersel.corpus.languages import primary_language, usual_code
from itersel.corpus.records import Pair, matches
from itersel.corpus.text import clean_text
from itersel.errors import InputError
from itersel.storage.files import byte_blocks

# The limit for a translation unit with all its languages; as a tree, it takes about 40 times as much memory.
MAX_TMX_UNIT = 2**23

# With or without namespaces.
_UNIT, _VARIANT, _SEGMENT = "{*}tu", "{*}tuv", "{*}seg"
# TMX 1.1 used `lang` instead of `xml:lang`.
_LANGUAGE = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")
_LAST_LINE = 65_535
# Elements that contain markup of the original format, and those that stand for something in the text.
_MARKUP, _PLACEHOLDERS = ("bpt", "ept"), ("it", "ph", "ut", "x", "bx", "ex")
# Takes the place of a placeholder, which may separate two words.
_PLACE = "\ufffc"
_BETWEEN_WORDS = re.compile(rf"(?<=\w){_PLACE}+(?=\w)")
# States of a target that is no translation, or not one that somebody vouches for.
_UNFINISHED = (
    *("new", "needs-translation", "needs-adaptation", "needs-l10n", "needs-review-translation"),
    *("needs-review-adaptation", "needs-review-l10n", "initial"),
)


def tmx_pairs(path: str, reading: Reading) -> Iterator[Pair]:
    """Read the pairs of two languages from a TMX file, and warn of units that lack one of the languages.

    Of several variants in a language, the one with exactly the code in `reading` is used, otherwise the
    first.
    """
    wanted = reading.source_language, reading.target_language
    # Units, those in both languages, and those that are skipped only because of a region.
    units = used = in_other_regions = 0
    # Numbers of variants by language code, and of the units in other regions by code of that region.
    there, regions = Counter[str](), Counter[str]()

    for unit in _units(path, _UNIT, "tmx", reading):
        units += 1
        variants = [(_code(variant), variant) for variant in unit.iterchildren(_VARIANT)]
        there.update({code for code, _ in variants if code})

        sides = [_side(variants, language) for language in wanted]
        if None in sides:
            lacked = {_primary(code) for code, side in zip(wanted, sides, strict=True) if side is None}
            others = [code for code, _ in variants if not any(matches(code, one) for one in wanted)]
            found = {code for code in others if _primary(code) in lacked}
            if {_primary(code) for code in found} == lacked:
                in_other_regions += 1
                regions.update(found)
            continue

        used += 1
        segments = [next(variant.iterchildren(_SEGMENT), None) for variant in sides]
        if None in segments:
            why = "a <tuv> has no <seg>, its text; add one, or remove the unit"
            raise InputError(why, path, _line_of(sides[segments.index(None)]))

        source, target = (_text_of(segment, path) for segment in segments)
        yield Pair(source, target, _line_of(unit))

    languages = " and ".join(wanted)
    if not used:
        codes = most_frequent(there) or "none"
        raise InputError(f"has no translation unit in {languages}; its languages are {codes}", path)

    if used < units:
        skipped = f"{units - used:,} of {units:,} translation units skipped, not in {languages}"
        why = f"; {in_other_regions:,} because of the region ({most_frequent(regions)})" if regions else ""
        print(f"{path}: warning: {skipped}{why}", file=sys.stderr)


def _units(path: str, tag: str | tuple[str, ...], root_name: str, reading: Reading) -> Iterator[Any]:
    """Yield the elements with a tag, in a document with this root; each is emptied before the next one."""
    limit = max(MAX_TMX_UNIT, 4 * reading.limit)
    # Entities are not resolved; as nothing else is asked for, nothing outside the file is read.
    parser = etree.XMLPullParser(
        ("end",), tag=tag, resolve_entities=False, remove_comments=True, remove_pis=True
    )
    is_checked = False
    size = 0

    try:
        for piece in byte_blocks(path):
            parser.feed(piece)
            size += len(piece)
            for _, unit in parser.read_events():
                if not is_checked:
                    _check_root(unit.getroottree().getroot(), root_name, path)
                    is_checked = True
                yield unit
                _forget(unit)
                size = 0

            if size > limit:
                raise InputError(f"no translation unit ends within {limit:,} bytes; split the file", path)

        root = parser.close()
    except etree.XMLSyntaxError as error:
        # after some problems, the error only mentions the last
        first = next(iter(parser.feed_error_log), None)
        problem, line = (first.message, first.line) if first else (error.msg, error.lineno)
        raise InputError(f"not XML: {str(problem).partition(', line ')[0]}", path, line or None) from None

    if not is_checked:
        _check_root(root, root_name, path)


def _line_of(element: Any) -> int | None:
    """Return the line of an element, or None if it is unknown: libxml2 counts some only up to 65,535."""
    line: int | None = element.sourceline
    return None if line == _LAST_LINE else line


def _check_root(root: Any, name: str, path: str) -> None:
    found = etree.QName(root).localname
    if found != name:
        raise InputError(f"is not {name.upper()}: its root is <{found}>, not <{name}>", path, _line_of(root))
    declared = root.getroottree().docinfo.internalDTD
    entity = next(iter(declared.entities()), None) if declared is not None else None
    if entity is not None:
        message = f"declares the entity '{entity.name}'; replace entities by their text, and remove this"
        raise InputError(message, path)


def _forget(element: Any) -> None:
    """Free an element and everything before it."""
    element.clear()
    for node in (element, *element.iterancestors()):
        parent = node.getparent()
        while parent is not None and parent[0] is not node:
            del parent[0]


def _primary(code: str) -> str:
    """Return a language code without region."""
    return primary_language(usual_code(code))


def _code(variant: Any) -> str:
    return next((variant.get(name) for name in _LANGUAGE if variant.get(name)), "")


def _side(variants: list[tuple[str, Any]], language: str) -> Any:
    """Return the variant in a language, or None."""
    found = [(code, variant) for code, variant in variants if code and matches(code, language)]
    same = [variant for code, variant in found if usual_code(code) == language]
    return next(iter([*same, *(variant for _, variant in found)]), None)


def _text_of(element: Any, path: str) -> str:
    """Return the text of an element, without markup of the original format."""
    text = "".join(_texts(element, path))
    return clean_text(_BETWEEN_WORDS.sub(" ", text).replace(_PLACE, ""))


def _texts(element: Any, path: str) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag is etree.Entity:
            raise InputError(f"unknown entity {child.text}; replace it by its text", path, _line_of(child))
        name = etree.QName(child).localname
        # any empty element, such as <br/>, stands for something
        if name in _PLACEHOLDERS or not (child.text or len(child) or name in _MARKUP):
            yield _PLACE
        elif name not in _MARKUP:
            yield from _texts(child, path)
        yield child.tail or ""


def xliff_pairs(path: str, reading: Reading) -> Iterator[Pair]:
    """Read the translated segments of an XLIFF file in the two languages.

    Segments without a target, with a state that asks for translation or review (1.2) or `initial` (2.0), not
    approved, or marked as not to be translated are left out. A unit that a translator's tool has cut (1.2)
    gives a pair for each segment.
    """
    wanted = (reading.source_language, reading.target_language)
    found = False
    there = set()

    for unit in _units(path, ("{*}trans-unit", "{*}segment"), "xliff", reading):
        source, target = (next(unit.iterchildren(f"{{*}}{name}"), None) for name in ("source", "target"))
        attributes = ("source-language", "srcLang"), ("target-language", "trgLang")  # of 1.2 and of 2.0
        languages = tuple(_inherited(unit, *names) for names in attributes)
        there.add(languages)

        same = all(map(matches, languages, wanted))
        if source is None or target is None or not (same or all(map(matches, languages[::-1], wanted))):
            continue

        state = target.get("state") or unit.get("state") or ""
        if state in _UNFINISHED or "no" in (unit.get("approved"), _inherited(unit, "translate")):
            continue

        for sides in _segment_pairs(unit, source, target, path):
            first, second = (_text_of(one, path) for one in sides)
            if first and second:
                found = True
                line = _line_of(sides[1])
                yield Pair(first, second, line) if same else Pair(second, first, line)

    if not found:
        codes = ", ".join(sorted({f"{one or '?'} to {other or '?'}" for one, other in there})) or "none"
        why = f"has no translated segment in {' and '.join(wanted)}"
        raise InputError(f"{why}; its languages are {codes}", path)


def _segment_pairs(unit: Any, source: Any, target: Any, path: str) -> list[tuple[Any, Any]]:
    """Return the sides of each segment of a unit, or the whole unit if its target is not cut.

    A segment of the target translates the one with the same number. Without such numbers, nobody knows what
    it translates; only a unit that has as many on both sides, none of them empty, is a pair as a whole.
    """
    translated = _cut(target)
    numbers = [segment.get("mid", "") for segment in translated]
    segmented = next(unit.iterchildren("{*}seg-source"), source)
    originals = {number: segment for segment in _cut(segmented) if (number := segment.get("mid", ""))}

    if numbers and len(set(numbers)) == len(numbers) and originals.keys() >= set(numbers):
        return [(originals[number], segment) for number, segment in zip(numbers, translated, strict=True)]

    is_whole = len(_cut(segmented)) == len(numbers) or not numbers
    return [(source, target)] if is_whole and all(_text_of(one, path) for one in translated) else []


def _cut(side: Any) -> list[Any]:
    """Return the segments of a side of a unit, none if it is not cut."""
    return [mark for mark in side.iterdescendants("{*}mrk") if mark.get("mtype") == "seg"]


def _inherited(unit: Any, *names: str) -> str:
    """Return the first of these attributes that a unit or the nearest element around it has, or ''."""
    found = (element.get(name) for element in (unit, *unit.iterancestors()) for name in names)
    return next(filter(None, found), "")


def wmt_pairs(path: str, reading: Reading) -> Iterator[Pair]:
    """Read a test set of WMT: of each document, the source and the first reference.

    A warning says how many documents lack one of them.
    """
    documents = used = 0
    for document in _units(path, "{*}doc", "dataset", reading):
        documents += 1
        source = _text_in(document, "{*}src", reading.source_language)
        reference = _text_in(document, "{*}ref", reading.target_language)
        if source is None or reference is None:
            continue

        used += 1
        translated = _segments(reference, path)
        for number, (text, line) in _segments(source, path).items():
            if number not in translated:
                raise InputError(f"the reference lacks segment {number}", path, line)
            yield Pair(text, translated[number][0], line)

    languages = f"{reading.source_language} and {reading.target_language}"
    if not used:
        raise InputError(f"has no document with a source and a reference in {languages}", path)
    if used < documents:
        why = f"have no source and reference in {languages}, and are left out"
        print(f"{path}: warning: {documents - used:,} of {documents:,} documents {why}", file=sys.stderr)


def _text_in(document: Any, tag: str, language: str) -> Any:
    """Return the first source or reference of a document in a language, or None."""
    return next((one for one in document.iterchildren(tag) if matches(one.get("lang", ""), language)), None)


def _segments(element: Any, path: str) -> dict[str, tuple[str, int | None]]:
    """Return the segments of a text and their lines, by their numbers."""
    found: dict[str, tuple[str, int | None]] = {}
    for segment in element.iterdescendants("{*}seg"):
        number = segment.get("id", "")
        line = _line_of(segment)
        if not number or number in found:
            raise InputError(f"a segment has no number of its own, but '{number}'", path, line)
        found[number] = _text_of(segment, path), line
    return found
