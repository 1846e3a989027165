"""Text preparation: NFC, tokenisation with Moses' rules, lowercasing, compound splitting.

The preparation of the training corpus is saved to a file (`Preparation.write`), so a trained system can apply
it to new text.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from itersel.corpus.case import lower
from itersel.corpus.compounds import CompoundSplitter
from itersel.corpus.protect import check_pattern, protected
from itersel.corpus.text import split_words
from itersel.corpus.tokenization import clean, text_of, tokenizer
from itersel.errors import InputError
from itersel.limits import LANGUAGE_PATTERN, MAX_INTEGER, MAX_JSON_BYTES
from itersel.storage.files import open_output, read_bytes
from itersel.storage.json_files import parse_json


@dataclass
class Preparation:
    """How raw text becomes text for training and translation.

    Attributes
    ----------
    source_language, target_language
        Codes such as ``de``, which select the tokenisation rules.
    tokenized
        The text is already tokenised, with tokens separated by spaces (and no other white space, see
        `split_words`); only NFC and lowercasing are applied.
    compounds
        Splits compounds of the source; None leaves them whole.
    protected
        Regular expressions of further text that is one token; see `itersel.corpus.protect`.
    """

    source_language: str
    target_language: str
    tokenized: bool = False
    compounds: CompoundSplitter | None = None
    protected: tuple[str, ...] = ()

    def source(self, lines: Sequence[str]) -> list[str]:
        """Prepare source text, except for compounds."""
        return self._lower(self._tokenize(lines, self.source_language), self.source_language)

    def target(self, lines: Sequence[str]) -> list[str]:
        """Prepare target text."""
        return self.lower_target(self.cased_target(lines))

    def cased_target(self, lines: Sequence[str]) -> list[str]:
        """Prepare target text without lowercasing it."""
        return self._tokenize(lines, self.target_language)

    def lower_target(self, cased: Sequence[str]) -> list[str]:
        """Lowercase prepared target text, except for what is protected."""
        return self._lower(cased, self.target_language)

    def split_compounds(self, lines: Sequence[str]) -> list[str]:
        """Split the compounds of prepared source text."""
        return list(lines) if self.compounds is None else list(map(self.compounds.split_sentence, lines))

    def clean(self, lines: Sequence[str]) -> list[str]:
        """Return raw text without entities and invisible characters, as references are scored."""
        return list(lines) if self.tokenized else list(map(clean, lines))

    def _tokenize(self, lines: Sequence[str], language: str) -> list[str]:
        if self.tokenized:
            return [unicodedata.normalize("NFC", " ".join(split_words(line))) for line in lines]
        tokenize = tokenizer(language, self.protected).tokenize
        # shortcut: there may be many empty lines
        return [" ".join(tokenize(clean(line))) if line else "" for line in lines]

    def _lower(self, lines: Sequence[str], language: str) -> list[str]:
        if self.tokenized:
            return [lower(line, language) for line in lines]
        is_protected = protected(self.protected)
        return [
            line
            if line.islower()
            else " ".join(
                word if is_protected(text_of(word)) else lower(word, language) for word in line.split(" ")
            )
            for line in lines
        ]

    def to_json(self) -> str:
        """Return it as JSON."""
        frequency = None if self.compounds is None else self.compounds.frequency
        document = {
            "source_language": self.source_language,
            "target_language": self.target_language,
            "tokenized": self.tokenized,
            "protected": list(self.protected),
            "source_frequency": frequency,
        }
        return json.dumps(document, ensure_ascii=False, sort_keys=True, indent=1)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write as JSON."""
        with open_output(path) as stream:
            stream.write(self.to_json())


def read_preparation(path: str | os.PathLike[str]) -> Preparation:
    """Read what `Preparation.write` wrote.

    Raises
    ------
    InputError
        If it is not such a file.
    """
    return parse_preparation(read_bytes(path, MAX_JSON_BYTES), path)


def parse_preparation(content: bytes, path: str | os.PathLike[str]) -> Preparation:
    """Parse the content of a file written by `Preparation.write`; raises what `read_preparation` raises."""
    try:
        document = parse_json(content)
        languages = document["source_language"], document["target_language"]
        tokenized, frequency = document["tokenized"], document["source_frequency"]
        further = document["protected"]
        if not isinstance(further, list):
            raise ValueError
        for pattern in further:
            check_pattern(pattern)
        if not (
            all(map(_is_language, languages)) and isinstance(tokenized, bool) and _is_frequency(frequency)
        ):
            raise ValueError
        compounds = None if frequency is None else CompoundSplitter(frequency)
        return Preparation(*languages, tokenized, compounds, tuple(further))
    except (ValueError, KeyError, TypeError):
        raise InputError("is not a preparation.json of itersel corpus prepare", path) from None


def _is_language(code: object) -> bool:
    return isinstance(code, str) and re.fullmatch(LANGUAGE_PATTERN, code) is not None


def _is_frequency(content: object) -> bool:
    if content is None:
        return True
    return isinstance(content, dict) and all(
        type(count) is int and 0 < count <= MAX_INTEGER for count in content.values()
    )
