"""Text that stays whole: addresses, paths, placeholders, tags and the like, which also keep their case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import regex

# A printf conversion after its per cent sign.
_CONVERSION = (
    r"(?:\([\w.]++\)|\d{1,2}\$)?[-+#0]*+\d{0,3}(?:\.\d{1,3})?(?:hh|ll|[hlLzjt])?"
    r"[diouxXeEfFgGaAcCsSpn@](?!\p{Ll}{2})"
)
_ATTRIBUTE = r"\s++[\w:.-]++=(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>]++)"
_MODIFIERS = "[\\p{M}\U0001f3fb-\U0001f3ff]*+"
_NUMBER = r"\d++(?:[.,]\d++)*+"
# What is one token, in order of precedence. Each pattern takes time linear in the length of a line: what
# could begin anywhere in a long word is bound to its beginning, and possessive quantifiers do not go back.
PATTERNS = {
    # <s> and <unk> have a meaning in language models
    "tags": rf"(?!<(?:/?[sS]|[uU][nN][kK])>)</?[A-Za-z][\w:.-]*+(?:{_ATTRIBUTE}){{0,20}}+\s*+/?>",
    "entities": r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});",
    "addresses": r"(?<!\w)(?:[A-Za-z][A-Za-z0-9+-]{1,20}://|www\.)[^\s<>\"„“”«»]*[\w/#&=~%+-]",
    "mail": r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++",
    "paths": r"(?<![\w/.~$}])(?:(?:\.{1,2}|~|[$%]\w++%?|\$?\{\w++\})/|/[\w.+@-]++/)"
    r"(?:[\w.+@%{}$-]++/)*+(?:[\w.+@%{}$-]*[\w%}])?",
    "Windows paths": r"(?<!\w)(?:[A-Za-z]:|\\|%\w++%)(?:\\[\w$~-]++(?:\.[\w$~-]++)*+)++\\?",
    # with spaces: expressions of templates, which have few words
    "placeholders in braces": r"\{% ?[^{}%\s]++(?: [^{}%\s]++){0,9} ?%\}|"
    r"\$?\{\{ [^{}\s]++(?: [^{}\s]++){0,2} \}\}|[$#]?\{\{?[\w.:!?,#|-]*+\}?\}",
    "escapes": r"\\[nrt](?!\p{Ll})",
    "variables": r"\$(?:[A-Za-z_]\w*+|\([\w.]++\)|\[[\w.]++\])|(?<!\w)@[A-Za-z][A-Za-z_]*+@(?!\w)",
    "conversions": rf"(?<![\w%])%(?:{_CONVERSION}|%(?![\w%])|\d{{1,2}}(?!\w))|(?<!\w)%[A-Z][A-Z0-9_]++%?",
    "times": r"(?<![\w.:])\d{1,2}:\d{2}(?::\d{2})?(?![\w:])",
    "grouped numbers": r"(?<![\w.,])\d{1,3}(?:[\u00a0\u202f\u2009]\d{3})++(?:[.,]\d++)?(?!\w)",
    "numbers with units": rf"(?<![\w.,])(?:[€£$¥]{_NUMBER}|{_NUMBER}(?:%%?|‰|°[CF]?|€|£|¥))(?!\w)",
    "emoji": "[\U0001f1e6-\U0001f1ff]{2}|[0-9#*]\ufe0f?\u20e3|"
    rf"\p{{Extended_Pictographic}}{_MODIFIERS}(?:\u200d\p{{Extended_Pictographic}}{_MODIFIERS})*+",
}
# In scripts that are written without spaces, each character with its marks is a token; for Chinese, as in
# BLEU's Chinese tokenizer.
SOUTH_EAST = (
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0eb0\u0eb2\u0eb3\u0ebd-\u0edf\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
    "\uaa60-\uaa7f][\\p{M}]*"
)
UNSPACED = (
    "(?:[\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    f"\U00020000-\U0003134f]|{SOUTH_EAST})"
)
# Ideographic and full-width punctuation, which Moses' rules take for letters.
IDEOGRAPHIC = "[\u3001-\u3003\u3008-\u3011\u3014-\u301b\uff01-\uff0f\uff1a-\uff20\uff3b-\uff5e]"
# Letters may have marks of their own, or joiners between them: to Moses, both are punctuation.
WORD = r"[\p{L}\p{N}\p{M}\u200c\u200d]"
_MARKS = regex.compile(r"[\p{M}\u200c\u200d]")
# Whatever is protected without further patterns has one of these. Most lines have none, and are done at once.
_SIGNS = regex.compile(
    r"[<&@/\\{$%\u00a0\u00a3\u00a5\u00a9\u00ae\u00b0]|www\.|\d:"
    r"|[^\x00-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u201f]"
)


@lru_cache(maxsize=16)
def finder(further: Sequence[str] = (), is_unspaced: bool = False) -> Callable[[str], list[tuple[int, int]]]:
    """Return a function that finds what is protected in a text: the spans, in order.

    Parameters
    ----------
    further
        Regular expressions of further text that is one token; they take precedence.
    is_unspaced
        Whether characters of scripts without spaces are tokens.
    """
    unspaced, word = (
        ([UNSPACED, IDEOGRAPHIC], rf"(?:(?!{UNSPACED}){WORD})++") if is_unspaced else ([], f"{WORD}++")
    )
    patterns = [*further, *PATTERNS.values(), *unspaced, f"(?P<word>{word})"]
    pattern = regex.compile("|".join(f"(?:{one})" for one in patterns))
    has_more = bool(further) or is_unspaced

    def find(text: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        if not has_more and not _SIGNS.search(text):
            return spans
        for match in pattern.finditer(text):
            if match.start() < match.end() and (match["word"] is None or _MARKS.search(match["word"])):
                spans.append(match.span())
        return spans

    return find


@lru_cache(maxsize=16)
def protected(further: Sequence[str] = ()) -> Callable[[str], bool]:
    """Return a function that tells whether a token is protected, so that its case is left alone."""
    pattern = regex.compile("|".join(f"(?:{one})" for one in (*further, *PATTERNS.values())))
    # almost all tokens are plain words
    return lambda token: (bool(further) or not token.isalpha()) and pattern.fullmatch(token) is not None


def check_pattern(pattern: object) -> None:
    """Raise a ValueError with the reason if something is not a regular expression of a protected text."""
    if not isinstance(pattern, str):
        raise ValueError("is not text")
    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    if regex.search(r"\(\?(?![:=!>]|<[=!])", pattern):
        raise ValueError("has flags or an extension")
    if compiled.groups:
        raise ValueError("has a group; write (?:...) instead of (...)")
    if compiled.fullmatch(""):
        raise ValueError("matches an empty text")
