"""Message catalogues of gettext, PO and MO: messages and their translations."""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Iterator

import polib

from itersel.corpus.corpora import CONTEXT, Corpus, Reading
from itersel.corpus.languages import matches
from itersel.corpus.pairs import Pair, pair_blocks
from itersel.corpus.text import Bitext, clean_text
from itersel.errors import InputError
from itersel.storage.compression import without_compression
from itersel.storage.files import read_bytes

# A line of a catalogue that is not a comment.
_LINE = re.compile(r'(?:msg[a-z_]+(?:\[[0-9]+\])?\s*)?"(?:[^"\\]|\\.)*"')
# The label of a message without a context.
NO_CONTEXT = "none"


def catalogue_blocks(path: str, corpus: Corpus, reading: Reading) -> Iterator[Bitext]:
    """Read the translated messages of a PO or MO file.

    Messages are in the other language than the one in the catalogue's header. Untranslated, fuzzy and
    obsolete messages and those with plural forms are left out.

    Raises
    ------
    InputError
        See `pair_blocks`; also if the file is damaged, its header does not name one of the two languages, or
        it has no translated messages.
    """
    return pair_blocks(_pairs(path, corpus.fields.task == CONTEXT, reading), path, reading)


def _pairs(path: str, has_labels: bool, reading: Reading) -> Iterator[Pair]:
    catalogue = _read(path)
    language = catalogue.metadata.get("Language", "").partition("@")[0].partition(".")[0]
    sides = [matches(language, code) for code in (reading.source_language, reading.target_language)]
    if not language or sum(sides) != 1:
        languages = f"{reading.source_language} or {reading.target_language}"
        what = f"is '{language}', not {languages}" if language else f"is missing; give {languages}"
        raise InputError(f"the language in the header of the catalogue {what}", path)
    found = False
    for entry in catalogue:
        if entry.obsolete or "fuzzy" in getattr(entry, "flags", ()) or entry.msgid_plural:
            continue
        if not entry.msgid or not entry.msgstr:
            continue
        texts = clean_text(entry.msgid), clean_text(entry.msgstr)
        source, target = texts[::-1] if sides[0] else texts
        label = re.sub(r"[\s=,{}]+", "_", entry.msgctxt or NO_CONTEXT) if has_labels else None
        found = True
        yield Pair(source, target, getattr(entry, "linenum", None), label)
    if not found:
        raise InputError("has no translated messages", path)


def _read(path: str) -> polib.POFile | polib.MOFile:
    """Read a catalogue, which polib does from files only."""
    name, content = without_compression(path).lower(), read_bytes(path)
    if name.endswith(".po"):
        _check_quotes(content, path)
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        try:
            return polib.mofile(file.name) if name.endswith(".mo") else polib.pofile(file.name)
        except (OSError, ValueError, LookupError, struct.error) as error:
            line = re.search(r"\(line ([0-9]+)\)", str(error))
            message = "is not a message catalogue, or damaged"
            raise InputError(message, path, int(line[1]) if line else None) from None


def _check_quotes(content: bytes, path: str) -> None:
    """Raise an InputError for the first line whose quotation marks are not closed."""
    try:
        text = content.decode(polib.detect_encoding(content.decode("latin-1")))
    except (ValueError, LookupError) as error:
        raise InputError(f"is not in the encoding of its header: {error}", path) from None
    for number, line in enumerate(map(str.strip, text.removeprefix("\ufeff").split("\n")), 1):
        if line and not line.startswith("#") and not _LINE.fullmatch(line):
            raise InputError("is not a line of a message catalogue, or truncated", path, number)
