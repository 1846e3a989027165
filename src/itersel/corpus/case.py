"""Lower and upper case by the rules of a language, where they differ from Unicode's defaults.

The differences are those of Unicode's SpecialCasing.txt: the dotted and dotless i of Turkish and Azeri, and
the dot that Lithuanian keeps on an accented i or j. Greek needs none: `str.lower` writes a final sigma.
"""

from __future__ import annotations

import re
import unicodedata

_TURKIC = ("tr", "az")
_TO_LOWER = str.maketrans({"İ": "i", "I": "ı"})
# I, J and Į before a mark above them, and the letters that consist of the two
_LITHUANIAN = re.compile("[IJ\u012e](?=[\u0300\u0301\u0303])")


def lower(text: str, language: str) -> str:
    """Return a text in lower case."""
    primary = language.partition("-")[0]
    if primary in _TURKIC:
        return text.translate(_TO_LOWER).lower()
    if primary == "lt" and not text.isascii():
        apart = unicodedata.normalize("NFD", text).replace("I\u0328", "\u012e")
        dotted = _LITHUANIAN.sub(lambda match: match.group().lower() + "\u0307", apart)
        return unicodedata.normalize("NFC", dotted.lower())
    return text.lower()


def capitalize(word: str, language: str) -> str:
    """Return a word with its first letter in upper case; unlike ``str.capitalize``, the rest stays."""
    first = word[:1]
    if first == "i" and language.partition("-")[0] in _TURKIC:
        return f"İ{word[1:]}"
    return first.title() + word[1:]
