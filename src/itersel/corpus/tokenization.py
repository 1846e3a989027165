"""Tokenisation of raw text, and its reverse: Moses' rules, with marks where these would not restore a text.

`JOIN` at the edge of a token means that there is no space at this edge: ``and/or`` becomes ``and ￭/￭ or``.
Only tokens that Moses' detokenizer would separate have it. `SPACE` at the edge of a token means that there is
a space where Moses' detokenizer would put none, as before a colon.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from html.entities import html5
from itertools import pairwise

import regex

from itersel.corpus.moses import import_sacremoses
from itersel.corpus.protect import IDEOGRAPHIC, SOUTH_EAST, UNSPACED, WORD, finder

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

# Thai, Lao, Burmese, Khmer and Tibetan, see `itersel.corpus.protect.SOUTH_EAST`; then Chinese and Japanese.
SOUTH_EAST_LANGUAGES = ("th", "lo", "my", "km", "bo")
UNSPACED_LANGUAGES = (*SOUTH_EAST_LANGUAGES, "zh", "ja")
_UNSPACED = regex.compile(UNSPACED)
_SOUTH_EAST_SPACE = regex.compile(rf"(?<={SOUTH_EAST}) +(?={SOUTH_EAST})")
# No spaces around these, nor around quotation marks.
_PUNCTUATION = f"(?:{IDEOGRAPHIC}|[\u2018-\u201d\u2026])"
_BESIDE_UNSPACED = regex.compile(
    rf"(?<={UNSPACED}) (?={UNSPACED})|(?<={_PUNCTUATION}) | (?={_PUNCTUATION})| ?{SPACE} ?"
)
_LETTERS = regex.compile(r"[\p{L}\p{N}]")
_WORD = regex.compile(WORD + "+")


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


class Tokenizer:
    """Tokenises text in a language, and restores it.

    Parameters
    ----------
    language
        A code such as ``de``. A region (``pt-br``) is ignored, because Moses has no rules for regions.
    further
        Regular expressions of further protected text; see `itersel.corpus.protect`.
    """

    def __init__(self, language: str, further: Sequence[str] = ()) -> None:
        sacremoses = import_sacremoses()
        language = language.split("-")[0].lower()
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
        self._is_unspaced = language in UNSPACED_LANGUAGES
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
        kept, end = [], 0
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
            marks = _edges(left)[1] + _edges(right)[0]
            is_spaced = (is_there or SPACE in marks) and JOIN not in marks
            pieces.append(f" {word}" if is_spaced else word)
        return "".join(pieces).replace(SPACE, " ")


def bare(token: str) -> str:
    """Return a token without the marks at its edges."""
    return token.strip(JOIN + SPACE) if len(token) > 1 else token


def _edges(token: str) -> tuple[str, str]:
    """Return the first and the last character of a token, where marks are; a token of one has none."""
    return (token[0], token[-1]) if len(token) > 1 else ("", "")


def text_of(token: str) -> str:
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
    spaces, place = [], 0
    for token in tokens:
        begin = place
        while place < len(text) and text[place].isspace() and not text.startswith(token, place):
            place += 1
        if not text.startswith(token, place):
            return None
        spaces.append(place > begin)
        place += len(token)
    return spaces[1:]


@lru_cache(maxsize=8)
def tokenizer(language: str, further: tuple[str, ...] = ()) -> Tokenizer:
    """Return the tokenizer of a language; reading Moses' rules takes longer than tokenising a sentence."""
    return Tokenizer(language, further)
