"""Text preparation: NFC, Moses punctuation normalisation and tokenisation, lowercasing, compound splitting.

The preparation of the training corpus is saved to a file (`Preparation.write`), so a trained system can apply
it to new text.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from itersel.corpus.compounds import CompoundSplitter
from itersel.corpus.moses import import_sacremoses
from itersel.corpus.text import split_words
from itersel.errors import InputError
from itersel.limits import LANGUAGE_PATTERN, MAX_INTEGER, MAX_JSON_BYTES
from itersel.storage.files import open_output, read_bytes
from itersel.storage.json_files import parse_json

# Chinese and Japanese are written without spaces, so each character becomes a token, as in BLEU's Chinese
# tokenizer. Han, kana, and the halfwidth and extension blocks.
UNSPACED_LANGUAGES = ("zh", "ja")
UNSPACED = re.compile(
    "[\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003134f]"
)


# Cached: reading Moses' rules from files takes longer than tokenising a sentence.
@lru_cache(maxsize=8)
def tokenizer(language: str) -> Callable[[str], str]:
    """Return a function that tokenises raw text with Moses' rules, as ported by sacremoses.

    Nothing is escaped (``&`` stays ``&``). `language` may have a region (``pt-br``), which is ignored because
    Moses has no rules for regions.
    """
    sacremoses = import_sacremoses()
    language = language.split("-")[0].lower()
    normalizer, moses = sacremoses.MosesPunctNormalizer(language), sacremoses.MosesTokenizer(language)

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
        Codes such as ``de``, which select the tokenisation rules.
    tokenized
        The text is already tokenised, with tokens separated by spaces (and no other white space, see
        `split_words`); only NFC and lowercasing are applied.
    compounds
        Splits compounds of the source; None leaves them whole.
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
        """Prepare target text without lowercasing it."""
        return self._tokenize(lines, self.target_language)

    def split_compounds(self, lines: Sequence[str]) -> list[str]:
        """Split the compounds of prepared source text."""
        return list(lines) if self.compounds is None else list(map(self.compounds.split_sentence, lines))

    def _tokenize(self, lines: Sequence[str], language: str) -> list[str]:
        tokenize = (lambda text: " ".join(split_words(text))) if self.tokenized else tokenizer(language)
        # shortcut: there may be many empty lines
        return [tokenize(unicodedata.normalize("NFC", line)) if line else "" for line in lines]

    def to_json(self) -> str:
        """Return it as JSON."""
        frequency = None if self.compounds is None else self.compounds.frequency
        document = {
            "source_language": self.source_language,
            "target_language": self.target_language,
            "tokenized": self.tokenized,
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
