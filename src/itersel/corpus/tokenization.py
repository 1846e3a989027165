"""Tokenisation of raw text, and its reverse: Moses' rules, with marks where these would not restore a text.

Some text stays whole, and keeps its case: addresses, paths, placeholders, tags and the like (`PATTERNS`).

`JOIN` at the edge of a token means that there is no space at this edge: ``and/or`` becomes ``and ￭/￭ or``.
Only tokens that Moses' detokenizer would separate have it. `SPACE` at the edge of a token means that there is
a space where Moses' detokenizer would put none, as before a colon.
"""

from __future__ import annotations

import html
import re
import types
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from html.entities import html5
from itertools import pairwise

import regex

from itersel.corpus.languages import is_unspaced, primary_language

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

JOIN = "\uffed"
# Stands for a space between characters of a script that is written without spaces.
SPACE = "\u2581"
# Stands for a protected text while Moses' rules are applied, which make a token of it.
_HIDDEN = "\ue000"
_PLAIN = str.maketrans({JOIN: "\u25a0", SPACE: "_", _HIDDEN: "\u25a1"})

# The other spaces that a protected number may contain, and what stands for them.
_SPACES = {0xA0: 0xE001, 0x202F: 0xE002, 0x2009: 0xE003}
_NO_SPACES = {hidden: space for space, hidden in _SPACES.items()}

_ENTITY = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# What separates the fields of grammars.
_SEPARATOR = re.compile(r"\|{3,}")
# Soft hyphen, spaces without width, byte order mark, and marks of direction.
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
# Joiners are part of words in other scripts (Arabic and those of India), and of emoji.
_JOINERS = re.compile("(?:(?<=[\\x00-\u058f])|^)[\u200c\u200d]+|[\u200c\u200d]+(?=[\\x00-\u058f]|$)")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")

_UNSPACED = regex.compile(UNSPACED)
_SOUTH_EAST_SPACE = regex.compile(rf"(?<={SOUTH_EAST}) +(?={SOUTH_EAST})")
# No spaces around these, nor around quotation marks.
_PUNCTUATION = f"(?:{IDEOGRAPHIC}|[\u2018-\u201d\u2026])"
_BESIDE_UNSPACED = regex.compile(
    rf"(?<={UNSPACED}) (?={UNSPACED})|(?<={_PUNCTUATION}) | (?={_PUNCTUATION})| ?{SPACE} ?"
)
_LETTERS = regex.compile(r"[\p{L}\p{N}]")
_WORD = regex.compile(WORD + "+")


@lru_cache(maxsize=16)
def finder(further: Sequence[str] = (), is_unspaced: bool = False) -> Callable[[str], list[tuple[int, int]]]:
    """Return a function that finds what is protected in a text: the spans, in order.

    The expressions in `further` take precedence. With `is_unspaced`, characters of scripts without spaces are
    tokens.
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

    if _CONTROL.search(pattern):
        raise ValueError("has a control character, which no text contains")
    if regex.search(r"\(\?(?![:=!>]|<[=!])", pattern):
        raise ValueError("has flags or an extension")
    if compiled.groups:
        raise ValueError("has a group; write (?:...) instead of (...)")
    if compiled.fullmatch(""):
        raise ValueError("matches an empty text")


def clean(text: str) -> str:
    """Return raw text without what only its container needs: entities, invisible characters."""
    if "&" in text:
        text = _CONTROL.sub(" ", _ENTITY.sub(_character, text))
        text = _SEPARATOR.sub(lambda match: " ".join(match.group()), text)
    if text.isascii():
        return text
    return _JOINERS.sub("", _INVISIBLE.sub("", unicodedata.normalize("NFC", text))).translate(_PLAIN)


def _character(entity: re.Match[str]) -> str:
    """Return the character for an entity; a name that is unknown as a whole stays."""
    name = entity.group()[1:]
    return html.unescape(entity.group()) if name.startswith("#") else html5.get(name, entity.group())


def import_sacremoses() -> types.ModuleType:
    """Import sacremoses without a warning of joblib, which itersel does not use.

    It warns if the machine has no named semaphores, as in containers without ``/dev/shm``.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*joblib will operate in serial mode", UserWarning)
        import sacremoses
    module: types.ModuleType = sacremoses
    return module


class Tokenizer:
    """Tokenises text in a language, and restores it; see `check_pattern` for `further`.

    A region (``pt-br``) is ignored, because Moses has no rules for regions.
    """

    def __init__(self, language: str, further: Sequence[str] = ()) -> None:
        sacremoses = import_sacremoses()
        language = primary_language(language).lower()
        self._normalizer = sacremoses.MosesPunctNormalizer(language)

        # Quotation marks, dashes and the like are unified. Moses' further rules move spaces and quotation
        # marks, and make a decimal point of a space in a number.
        self._normalizer.substitutions = [
            *self._normalizer.NORMALIZE_UNICODE_IF_NOT_PENN,
            *self._normalizer.NORMALIZE_UNICODE,
            *self._normalizer.FRENCH_QUOTES,
        ]

        self._tokenizer = sacremoses.MosesTokenizer(language)
        self._detokenizer = sacremoses.MosesDetokenizer(language)
        self._is_unspaced = is_unspaced(language)
        self._find = finder(further, self._is_unspaced)

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a clean text."""
        if self._is_unspaced:
            text = _SOUTH_EAST_SPACE.sub(SPACE, text)
        text, hidden = self._hide(text)
        text = self._normalizer.normalize(text)
        words = self._tokenizer.tokenize(text, escape=False)
        pieces = iter(hidden)
        tokens = [next(pieces) if word == _HIDDEN else word for word in words]
        pieces = iter(hidden)
        given = re.sub(_HIDDEN, lambda _: next(pieces), text)
        return self._marked(tokens, given)

    def _hide(self, text: str) -> tuple[str, list[str]]:
        """Replace what is protected, and return it, with marks in place of its spaces."""
        hidden: list[str] = []
        kept = []
        end = 0
        for begin, stop in self._find(text):
            hidden.append(text[begin:stop].replace(" ", SPACE))
            kept += [text[end:begin], _HIDDEN]
            end = stop
        return "".join([*kept, text[end:]]), hidden

    def _marked(self, tokens: list[str], text: str) -> list[str]:
        """Return the tokens with marks where the detokenizer would not restore the text."""
        restored = self._join(tokens)
        if restored == text:
            return tokens

        wanted, found = _spaces(tokens, text), _spaces(tokens, restored)
        if wanted is None or found is None:
            return tokens

        marked = list(tokens)
        for gap, (is_wanted, is_there) in enumerate(zip(wanted, found, strict=True), 1):
            if is_there == is_wanted or (is_wanted and self._is_unspaced):
                continue

            mark = SPACE if is_wanted else JOIN
            if _is_rather(tokens[gap], tokens[gap - 1]):
                marked[gap] = mark + marked[gap]
            else:
                marked[gap - 1] += mark

        return marked

    def _join(self, tokens: Sequence[str]) -> str:
        # Moses would turn spaces within a token into ordinary ones
        hidden = [token.translate(_SPACES) for token in tokens]
        try:
            text: str = self._detokenizer.detokenize(hidden, unescape=False)
        except TypeError:  # sacremoses fails at Czech "a' - li"
            text = " ".join(hidden)
        text = text.translate(_NO_SPACES)
        if self._is_unspaced:
            text = _BESIDE_UNSPACED.sub(lambda match: SPACE if SPACE in match.group() else "", text)
        return text

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens."""
        plain = list(map(bare, tokens))
        text = self._join(plain)
        if plain == list(tokens):
            return text.replace(SPACE, " ")

        # where Moses' rules have changed a token, only its marks tell
        spaces = _spaces(plain, text) or [True] * (len(plain) - 1)

        pieces = plain[:1]
        for (left, right), word, is_there in zip(pairwise(tokens), plain[1:], spaces, strict=True):
            # a token of one character has no marks
            marks = (left[-1] if len(left) > 1 else "") + (right[0] if len(right) > 1 else "")
            is_spaced = (is_there or SPACE in marks) and JOIN not in marks
            pieces.append(f" {word}" if is_spaced else word)
        return "".join(pieces).replace(SPACE, " ")


def bare(token: str) -> str:
    """Return a token without the marks at its edges."""
    return token.strip(JOIN + SPACE) if len(token) > 1 else token


def text_of_token(token: str) -> str:
    """Return the text of a token."""
    return bare(token).replace(SPACE, " ")


def _is_rather(right: str, left: str) -> bool:
    """Return whether a mark is put on the right token: on punctuation if possible, else not on a word.

    There are fewer of these than of words and numbers, so fewer tokens get further forms.
    """
    for is_like in (_LETTERS.search, _WORD.fullmatch):
        if bool(is_like(left)) != bool(is_like(right)):
            return bool(is_like(left))
    return not _UNSPACED.fullmatch(right)


def _spaces(tokens: Sequence[str], text: str) -> list[bool] | None:
    """Return for each gap between tokens whether the text has a space there; None for other tokens."""
    spaces = []
    place = 0
    for token in tokens:
        begin = place
        while place < len(text) and text[place].isspace() and not text.startswith(token, place):
            place += 1
        if not text.startswith(token, place):
            return None
        spaces.append(place > begin)
        place += len(token)
    return spaces[1:]


# Reading Moses' rules takes longer than tokenising a sentence.
tokenizer = lru_cache(maxsize=8)(Tokenizer)
