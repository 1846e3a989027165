"""Recasing of lowercased text: each word gets the form that its neighbours suggest.

A recaser is learned from the tokenised target side of train before lowercasing. For a word w between l and r,
it chooses the form f with the greatest p(f | l, w) p(f | w, r) / p(f | w), assuming that the neighbours are
independent given the form. A neighbour that w was never seen with is ignored. The first word of a sentence,
also after an opening quotation mark or bracket, and after a sentence within the line, gets its most frequent
form in that position; if it was never seen there, it is capitalised, provided that most sentences of train
begin with a capital letter. Capitals at the beginning of a sentence are not counted elsewhere. Protected text
(see `itersel.corpus.tokenization`) keeps its case.

Lower and upper case are Unicode's, except for what SpecialCasing.txt lists by language: the dotted and
dotless i of Turkish and Azeri, and the dot that Lithuanian keeps on an accented i or j. For Greek,
`str.lower` writes a final sigma.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from itersel.corpus.languages import primary_language
from itersel.corpus.tokenization import bare, text_of_token
from itersel.errors import FilePath, checked
from itersel.storage.json_files import check_counts, from_content, parse_json, read_json

# The neighbour of the first and the last word of a sentence; words contain no space.
EDGE = " "
# Maximum number of neighbour pairs counted, to bound memory. Beyond it, pairs seen once are dropped.
MAX_COUNTED = 2_000_000
# Number of neighbour pairs kept, the most frequent ones: a file of about 20 MB.
MAX_KEPT = 400_000

# What ends a sentence, and what may come between this and the first word of the next one.
_ENDS = frozenset(".!?\u061f\u06d4\u0964\u0965\u3002\uff01\uff0e\uff1f")
_BETWEEN = frozenset("\"'()[]{}<>\u00a1\u00bf\u00ab\u00bb\u2018\u201a\u201c\u201d\u201e\u2022*-")

_TURKIC = ("tr", "az")
_TO_LOWER = str.maketrans({"İ": "i", "I": "ı"})
# I, J and Į before a mark above them, and the letters that consist of the two
_LITHUANIAN = re.compile("[IJ\u012e](?=[\u0300\u0301\u0303])")

FormCounts = dict[str, int]
# By neighbour and word, separated by a space.
Contexts = dict[str, FormCounts]


def lower(text: str, language: str) -> str:
    """Return a text in lower case."""
    primary = primary_language(language)
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
    if first == "i" and primary_language(language) in _TURKIC:
        return f"İ{word[1:]}"
    return first.title() + word[1:]


@dataclass(frozen=True)
class Recaser:
    """Restores the case of words: a record, whose file is recaser.json."""

    # For each lowercased word, how often each form was seen; words seen only in lower case are omitted.
    forms: Contexts
    # The same for words with several forms, together with the word before (keys ``before word``) and the word
    # after (``word after``).
    left: Contexts
    right: Contexts
    capitalizes: bool  # whether sentences begin with a capital letter
    language: str = ""  # the language, whose rules of case apply

    def recase(self, words: Sequence[str], protected: Sequence[bool] = ()) -> list[str]:
        """Return lowercased words with their case restored; protected ones stay as they are."""
        neighbours = zip(_before(words, words), words, [*words, EDGE][1:], strict=True)
        recased = [self._form(before, word, after) for before, word, after in neighbours]
        for index, is_protected in enumerate(protected):
            if is_protected:
                recased[index] = words[index]
        return recased

    def _form(self, before: str, word: str, after: str) -> str:
        forms = self.forms.get(word, {word: 1})
        left, right = self.left.get(f"{before} {word}"), self.right.get(f"{word} {after}")
        if before == EDGE:
            return _best(left) if left else _first(forms, word, self.capitalizes, self.language)

        total = sum(forms.values())
        prior = {form: count / total for form, count in forms.items()}
        score = dict(prior)

        for context in (left, right):
            if context is not None:
                # The prior counts as one additional occurrence, so no form has zero probability.
                seen = sum(context.values()) + 1
                for form, share in prior.items():
                    score[form] *= (context.get(form, 0) + share) / seen / share

        return min(score, key=lambda form: (-score[form], form))


class _Case(NamedTuple):
    lower: str
    is_kept: bool  # it is protected
    begins_large: bool | None  # None if its first character has no case
    is_capitalized: bool  # only its beginning is not in lower case


class RecaserCounts:
    """Counts the forms of words, alone and next to their neighbours; protected words are not counted."""

    def __init__(self, language: str = "", is_protected: Callable[[str], bool] = lambda word: False) -> None:
        self._language = language
        self._is_protected = is_protected
        self._forms: Counter[str] = Counter()
        self._left: Counter[tuple[str, str]] = Counter()
        self._right: Counter[tuple[str, str]] = Counter()
        self._starts: Counter[bool] = Counter()
        self._limit = MAX_COUNTED
        self._case = lru_cache(maxsize=2**16)(self._case_of)

    def add(self, lines: Iterable[Sequence[str]]) -> None:
        """Count the words of lines."""
        for words in lines:
            cases = [self._case(word) for word in words]
            small = [case.lower for case in cases]
            following = [*small, EDGE][1:]

            for before, word, after, case in zip(_before(words, small), words, following, cases, strict=True):
                if case.is_kept:
                    continue

                self._left[before, word] += 1
                if before == EDGE and case.begins_large is not None:
                    self._starts[case.begins_large] += 1
                # A capital at the beginning of a sentence says nothing about the word elsewhere.
                if before != EDGE or not case.is_capitalized:
                    self._forms[word] += 1
                    self._right[word, after] += 1

            if max(len(self._left), len(self._right)) > self._limit:
                self._left, self._right = (
                    Counter({pair: count for pair, count in counts.items() if count > 1})
                    for counts in (self._left, self._right)
                )
                self._limit = max(MAX_COUNTED, 2 * len(self._left), 2 * len(self._right))

    def _case_of(self, word: str) -> _Case:
        small = lower(word, self._language)
        first = word[0]
        return _Case(
            small,
            self._is_protected(text_of_token(word)),
            None if first.lower() == first.upper() else first == first.upper(),
            word == capitalize(small, self._language) != small,
        )

    def recaser(self) -> Recaser:
        """Return the recaser learned so far."""
        forms: defaultdict[str, FormCounts] = defaultdict(dict)
        for form, count in self._forms.items():
            forms[lower(form, self._language)][form] = count
        several = {word for word, seen in forms.items() if len(seen) > 1}

        left: defaultdict[str, FormCounts] = defaultdict(dict)
        for (before, form), count in self._left.items():
            if before == EDGE or lower(form, self._language) in several:
                left[f"{before} {lower(form, self._language)}"][form] = count

        right: defaultdict[str, FormCounts] = defaultdict(dict)
        for (form, after), count in self._right.items():
            if lower(form, self._language) in several:
                right[f"{lower(form, self._language)} {after}"][form] = count

        capitalizes = self._starts[True] > self._starts[False]
        for context in [context for context in left if context.startswith(EDGE)]:
            word = context.removeprefix(f"{EDGE} ")
            if _best(left[context]) == _first(forms.get(word, {word: 1}), word, capitalizes, self._language):
                del left[context]

        cased = {word: seen for word, seen in forms.items() if set(seen) != {word}}
        return Recaser(cased, _most_frequent(left), _most_frequent(right), capitalizes, self._language)


def _before(words: Sequence[str], small: Sequence[str]) -> list[str]:
    """Return for each word the lowercased one before it, or `EDGE` if it may begin a sentence."""
    found = []
    begins = True
    for index, word in enumerate(words):
        found.append(EDGE if begins else small[index - 1])
        mark = bare(word)
        begins = mark in _ENDS or (begins and mark in _BETWEEN)
    return found


def read_recaser(path: FilePath, content: bytes | None = None) -> Recaser:
    """Read what `write_preparation` wrote, or such content of another file; an InputError if it is not."""
    with checked(path, "is not a recaser.json of itersel corpus prepare"):
        document = read_json(path) if content is None else parse_json(content)
        recaser = from_content(Recaser, document)

        for seen in (*recaser.forms.values(), *recaser.left.values(), *recaser.right.values()):
            check_counts(seen)
            if not seen or "" in seen:
                raise ValueError
        for word, seen in recaser.forms.items():
            if any(lower(form, recaser.language) != word for form in seen):
                raise ValueError

        return recaser


def _first(forms: FormCounts, word: str, capitalizes: bool, language: str) -> str:
    """Return the form for the beginning of a sentence of a word that was never seen there."""
    best = _best(forms)
    return capitalize(word, language) if capitalizes and best == word else best


def _best(forms: FormCounts) -> str:
    """Return the most frequent form; ties go to the first in alphabetical order."""
    return min(forms, key=lambda form: (-forms[form], form))


def _most_frequent(contexts: Contexts) -> Contexts:
    order = sorted(contexts, key=lambda name: (-sum(contexts[name].values()), name))
    return {name: contexts[name] for name in order[:MAX_KEPT]}
