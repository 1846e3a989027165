"""Translation memories (TMX 1.4): streaming reader for the pairs of two languages."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from itersel.corpus.corpora import Corpus, Reading
from itersel.corpus.labels import most_frequent
from itersel.corpus.languages import matches
from itersel.corpus.pairs import Pair, pair_blocks
from itersel.corpus.text import Bitext, clean_text
from itersel.errors import InputError
from itersel.limits import MAX_TMX_UNIT
from itersel.storage.files import byte_blocks

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


@dataclass
class _Seen:
    """What a file contains: units, those in both languages, and codes.

    Attributes
    ----------
    languages
        Number of variants by language code.
    in_other_regions, regions
        Number of units that are skipped only because of a region; by code of that region.
    """

    units: int = 0
    used: int = 0
    in_other_regions: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    regions: Counter[str] = field(default_factory=Counter)


def tmx_blocks(path: str, corpus: Corpus, reading: Reading) -> Iterator[Bitext]:
    """Read the pairs of two languages from a TMX file in blocks.

    Units that lack one of the languages are skipped; a warning at the end of the file gives their number. If
    a unit has several variants in a language, the one with exactly the code in `reading` is used, otherwise
    the first. Only one unit is parsed at a time.

    Raises
    ------
    InputError
        If the file is not XML, declares entities, or has no unit in both languages; if a unit is too large;
        if a text is too long or contains ``|||`` or, if tokenised, a reserved word. Names the line.
    """
    return pair_blocks(_pairs(path, reading), path, reading)


def _pairs(path: str, reading: Reading) -> Iterator[Pair]:
    seen = _Seen()
    for unit in units(path, _UNIT, "tmx", max(MAX_TMX_UNIT, 4 * reading.limit)):
        pair = _pair(unit, reading, path, seen)
        if pair is not None:
            yield pair
    wanted = f"{reading.source_language} and {reading.target_language}"
    if not seen.used:
        there = _listed(seen.languages) or "none"
        raise InputError(f"has no translation unit in {wanted}; its languages are {there}", path)
    if seen.used < seen.units:
        number = f"{seen.units - seen.used:,} of {seen.units:,} translation units"
        regions = f"; {seen.in_other_regions:,} because of the region ({_listed(seen.regions)})"
        print(
            f"{path}: warning: {number} skipped, not in {wanted}{regions if seen.regions else ''}",
            file=sys.stderr,
        )


def _listed(codes: Mapping[str, int]) -> str:
    return most_frequent(dict(sorted(codes.items(), key=lambda item: (-item[1], item[0]))))


def units(path: str, tag: str | tuple[str, ...], root_name: str, limit: int) -> Iterator[Any]:
    """Yield the elements with a tag, in a document with this root; each is emptied before the next one."""
    # Entities are not resolved, and nothing outside the file is read.
    parser = etree.XMLPullParser(
        ("end",),
        tag=tag,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    is_checked, size = False, 0
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
        raise _syntax_error(error, parser.feed_error_log, path) from None
    if not is_checked:
        _check_root(root, root_name, path)


def _syntax_error(error: etree.XMLSyntaxError, log: Any, path: str) -> InputError:
    """Return the first problem in a parser's log; after some problems, `error` only tells of the last."""
    problem, line = (log[0].message, log[0].line) if log else (error.msg, error.lineno)
    return InputError(f"not XML: {str(problem).partition(', line ')[0]}", path, line or None)


def line_of(element: Any) -> int | None:
    """Return the line of an element, or None if it is unknown: libxml2 counts some only up to 65,535."""
    line: int | None = element.sourceline
    return None if line == _LAST_LINE else line


def _check_root(root: Any, name: str, path: str) -> None:
    found = etree.QName(root).localname
    if found != name:
        raise InputError(f"is not {name.upper()}: its root is <{found}>, not <{name}>", path, line_of(root))
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


def _pair(unit: Any, reading: Reading, path: str, seen: _Seen) -> Pair | None:
    """Return the texts of a unit in the two languages, and count the unit and its languages."""
    variants = [(_code(variant), variant) for variant in unit.iterchildren(_VARIANT)]
    seen.units += 1
    seen.languages.update({code for code, _ in variants if code})
    wanted = reading.source_language, reading.target_language
    sides = [_side(variants, language) for language in wanted]
    if None in sides:
        lacked = {_primary(language) for language, side in zip(wanted, sides, strict=True) if side is None}
        others = [code for code, _ in variants if not any(matches(code, language) for language in wanted)]
        regions = {code for code in others if _primary(code) in lacked}
        if {_primary(code) for code in regions} == lacked:
            seen.in_other_regions += 1
            seen.regions.update(regions)
        return None
    seen.used += 1
    source, target = (_text_of(variant, path) for variant in sides)
    return Pair(source, target, line_of(unit))


def _primary(code: str) -> str:
    """Return a language code without region."""
    return code.replace("_", "-").partition("-")[0].lower()


def _code(variant: Any) -> str:
    return next((variant.get(name) for name in _LANGUAGE if variant.get(name)), "")


def _side(variants: list[tuple[str, Any]], language: str) -> Any:
    """Return the variant in a language, or None."""
    found = [(code, variant) for code, variant in variants if code and matches(code, language)]
    same = [variant for code, variant in found if code.replace("_", "-").lower() == language]
    return next(iter([*same, *(variant for _, variant in found)]), None)


def _text_of(variant: Any, path: str) -> str:
    segment = next(variant.iterchildren(_SEGMENT), None)
    if segment is None:
        why = "a <tuv> has no <seg>, its text; add one, or remove the unit"
        raise InputError(why, path, line_of(variant))
    return clean_text(segment_text(segment, path))


def segment_text(segment: Any, path: str) -> str:
    """Return the text of an element of a translation memory, without markup of the original format."""
    text = "".join(_texts(segment, path))
    return _BETWEEN_WORDS.sub(" ", text).replace(_PLACE, "")


def _texts(element: Any, path: str) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag is etree.Entity:
            raise InputError(f"unknown entity {child.text}; replace it by its text", path, line_of(child))
        name = etree.QName(child).localname
        # any empty element, such as <br/>, stands for something
        if name in _PLACEHOLDERS or not (child.text or len(child) or name in _MARKUP):
            yield _PLACE
        elif name not in _MARKUP:
            yield from _texts(child, path)
        yield child.tail or ""
