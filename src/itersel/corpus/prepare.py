"""Preparation of text: NFC, Moses punctuation and tokens, lower case, compound splitting.

What was done to the training corpus is kept in a file (`Preparation.write`), so that a trained system can
do the same to new text.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from itersel.corpus.compounds import CompoundSplitter
from itersel.corpus.text import split_words
from itersel.errors import InputError
from itersel.limits import LANGUAGE_PATTERN, MAX_INTEGER
from itersel.storage.files import open_output
from itersel.storage.json_files import read_json

# Chinese and Japanese are written without spaces: each of their characters becomes a token, as BLEU's
# tokenizer for Chinese has it. Han, kana, and the halfwidth and extension blocks.
UNSPACED_LANGUAGES = ("zh", "ja")
UNSPACED = re.compile(
    "[\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003134f]"
)


def tokenizer(language: str) -> Callable[[str], str]:
    """Return a function from raw to tokenised text (Moses' scripts, as ported by sacremoses).

    Nothing is escaped (``&`` stays ``&``). `language` may carry a region (``pt-br``), for which Moses has
    no rules of its own.
    """
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    language = language.split("-")[0].lower()
    normalizer, moses = MosesPunctNormalizer(language), MosesTokenizer(language)

    def tokenize(text: str) -> str:
        if language in UNSPACED_LANGUAGES:
            text = UNSPACED.sub(r" \g<0> ", text)
        return " ".join(moses.tokenize(normalizer.normalize(text), escape=False))

    return tokenize


@dataclass
class Preparation:
    """How raw text becomes text for training and translation.

    Attributes
    ----------
    source_language, target_language
        Codes as ``de``; they choose the rules of tokenisation.
    tokenized
        The text is tokenised already: spaces separate tokens (and no other white space does, see
        `split_words`), only NFC and lower case are applied.
    compounds
        Splits compounds of the source; None: they stay whole.
    """

    source_language: str
    target_language: str
    tokenized: bool = False
    compounds: CompoundSplitter | None = None

    def source(self, lines: Sequence[str]) -> list[str]:
        """Prepare source text, except for compounds."""
        return [line.lower() for line in self._tokenize(lines, self.source_language)]

    def target(self, lines: Sequence[str]) -> list[str]:
        """Prepare target text."""
        return [line.lower() for line in self.cased_target(lines)]

    def cased_target(self, lines: Sequence[str]) -> list[str]:
        """Prepare target text, but for its case."""
        return self._tokenize(lines, self.target_language)

    def split_compounds(self, lines: Sequence[str]) -> list[str]:
        """Split the compounds of prepared source text."""
        return list(lines) if self.compounds is None else list(map(self.compounds.split_sentence, lines))

    def _tokenize(self, lines: Sequence[str], language: str) -> list[str]:
        tokenize = (lambda text: " ".join(split_words(text))) if self.tokenized else tokenizer(language)
        # an empty line is the same in all languages, and there may be many
        return [tokenize(unicodedata.normalize("NFC", line)) if line else "" for line in lines]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write as JSON."""
        frequency = None if self.compounds is None else self.compounds.frequency
        document = {
            "source_language": self.source_language,
            "target_language": self.target_language,
            "tokenized": self.tokenized,
            "source_frequency": frequency,
        }
        with open_output(path) as stream:
            json.dump(document, stream, ensure_ascii=False, sort_keys=True, indent=1)


def read_preparation(path: str | os.PathLike[str]) -> Preparation:
    """Read what `Preparation.write` wrote.

    Raises
    ------
    InputError
        If it is not such a file.
    """
    try:
        document = read_json(path)
        languages = document["source_language"], document["target_language"]
        tokenized, frequency = document["tokenized"], document["source_frequency"]
        if not (
            all(map(_is_language, languages)) and isinstance(tokenized, bool) and _is_frequency(frequency)
        ):
            raise ValueError
        compounds = None if frequency is None else CompoundSplitter(frequency)
        return Preparation(*languages, tokenized, compounds)
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
