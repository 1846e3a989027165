"""Text preparation (NFC, tokenisation with Moses' rules, lowercasing, compound splitting), and its reverse.

The preparation of the training corpus is saved to a file (`write_preparation`), so a trained system can apply
it to new text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from itersel.corpus.compounds import CompoundSplitter
from itersel.corpus.languages import LANGUAGE_PATTERN
from itersel.corpus.recase import Recaser, lower
from itersel.corpus.settings import Words
from itersel.corpus.text import split_words
from itersel.corpus.tokenization import check_pattern, clean, protected, text_of_token, tokenizer
from itersel.errors import FilePath, checked
from itersel.results import PREPARATION_FILE, RECASER_FILE
from itersel.storage.files import write_lines
from itersel.storage.json_files import check_counts, from_content, parse_json, read_json, record_text


@dataclass
class Preparation:
    """How raw text becomes text for training and translation: a record, whose file is preparation.json."""

    words: Words
    compounds: CompoundSplitter | None = None  # splits compounds of the source; None leaves them whole
    # Text is cleaned, and otherwise stays as it is, like n-best lists and their references.
    only_cleaned: bool = False

    def source(self, lines: Sequence[str]) -> list[str]:
        """Prepare source text, except for compounds."""
        return self.prepare_cleaned_source(self.clean(lines))

    def prepare_cleaned_source(self, lines: Sequence[str]) -> list[str]:
        """Prepare source text that has been cleaned; to clean twice could change it again."""
        language = self.words.source_language
        return self._lower(self._tokenize(lines, language), language)

    def target(self, lines: Sequence[str]) -> list[str]:
        """Prepare target text."""
        return self.prepare_cleaned_target(self.clean(lines))

    def prepare_cleaned_target(self, lines: Sequence[str]) -> list[str]:
        """Prepare target text that has been cleaned; to clean twice could change it again."""
        return self.lower_target(self._tokenize(lines, self.words.target_language))

    def cased_target(self, lines: Sequence[str]) -> list[str]:
        """Prepare target text without lowercasing it."""
        return self._tokenize(self.clean(lines), self.words.target_language)

    def lower_target(self, cased: Sequence[str]) -> list[str]:
        """Lowercase prepared target text, except for what is protected."""
        return self._lower(cased, self.words.target_language)

    def split_compounds(self, lines: Sequence[str]) -> list[str]:
        """Split the compounds of prepared source text."""
        return list(lines) if self.compounds is None else list(map(self.compounds.split_sentence, lines))

    def clean(self, lines: Sequence[str]) -> list[str]:
        """Return text as it is scored: in NFC; if not `tokenized`, without entities or invisible characters.

        All text of a run passes here once before it is scored: references, translations in n-best lists, and
        the output of other systems.
        """
        if self.words.tokenized:
            return [unicodedata.normalize("NFC", " ".join(split_words(line))) for line in lines]
        return list(map(clean, lines))

    def clean_line(self, line: str) -> str:
        """Return a line as it is scored; see `clean`."""
        return self.clean([line])[0]

    def _tokenize(self, lines: Sequence[str], language: str) -> list[str]:
        if self.words.tokenized or self.only_cleaned:
            return list(lines)
        tokenize = tokenizer(language, self.words.protected).tokenize
        # shortcut: there may be many empty lines
        return [" ".join(tokenize(line)) if line else "" for line in lines]

    def _lower(self, lines: Sequence[str], language: str) -> list[str]:
        if self.only_cleaned:
            return list(lines)
        if self.words.tokenized:
            return [lower(line, language) for line in lines]

        is_protected = protected(self.words.protected)

        def lowercased(line: str) -> str:
            if line.islower():
                return line
            words = line.split(" ")
            return " ".join(
                word if is_protected(text_of_token(word)) else lower(word, language) for word in words
            )

        return list(map(lowercased, lines))


def write_preparation(folder: Path, preparation: Preparation, recaser: Recaser) -> None:
    """Write what new text and its translations need: ``preparation.json`` and ``recaser.json``."""
    write_lines(folder / PREPARATION_FILE, [record_text(preparation)])
    write_lines(folder / RECASER_FILE, [record_text(recaser)])


def read_preparation(path: FilePath, content: bytes | None = None) -> Preparation:
    """Read what `write_preparation` wrote, or such content of another file; an InputError if it is not."""
    with checked(path, "is not a preparation.json of itersel corpus prepare, or one of an earlier version"):
        document = read_json(path) if content is None else parse_json(content)
        preparation = from_content(Preparation, document)
        words = preparation.words

        for pattern in words.protected:
            check_pattern(pattern)
        for language in (words.source_language, words.target_language):
            if not re.fullmatch(LANGUAGE_PATTERN, language):
                raise ValueError
        if preparation.compounds is not None:
            check_counts(preparation.compounds.frequency)

        return preparation


def restore(lines: Sequence[str], preparation: Preparation, recaser: Recaser) -> list[str]:
    """Recase and detokenise translations.

    If the training corpus was given tokenised, they stay tokenised; those of n-best lists stay as they are.
    """
    if preparation.only_cleaned:
        return list(lines)
    words = preparation.words
    if words.tokenized:
        return [" ".join(recaser.recase(split_words(line))) for line in lines]
    join = tokenizer(words.target_language, words.protected).detokenize
    is_protected = protected(words.protected)
    restored = []
    for line in lines:
        tokens = split_words(line)
        kept = [is_protected(text_of_token(token)) for token in tokens]
        restored.append(join(recaser.recase(tokens, kept)))
    return restored
