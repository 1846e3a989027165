"""From decoder output to readable text: recasing and detokenisation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from itersel.corpus.moses import import_sacremoses
from itersel.corpus.prepare import UNSPACED, UNSPACED_LANGUAGES, Preparation
from itersel.corpus.recase import Recaser
from itersel.corpus.text import split_words

# Ideographic and full-width punctuation, and quotation marks: no spaces around them.
_PUNCTUATION = (
    "[\u2018-\u201d\u2026\u3001-\u3003\u3008-\u3011\u3014-\u301b\uff01-\uff0f\uff1a-\uff20\uff3b-\uff5e]"
)
_BESIDE_UNSPACED = re.compile(
    f"(?<={UNSPACED.pattern}) (?={UNSPACED.pattern})|(?<={_PUNCTUATION}) | (?={_PUNCTUATION})"
)


@lru_cache(maxsize=8)
def detokenizer(language: str) -> Callable[[Sequence[str]], str]:
    """Return a function from words to text (Moses' detokenizer, as ported by sacremoses).

    The reverse of `itersel.corpus.prepare.tokenizer`: nothing is unescaped, and Chinese and Japanese
    characters are joined. `language` may have a region.
    """
    language = language.split("-")[0].lower()
    moses = import_sacremoses().MosesDetokenizer(language)

    def detokenize(words: Sequence[str]) -> str:
        text: str = moses.detokenize(words, unescape=False)
        return _BESIDE_UNSPACED.sub("", text) if language in UNSPACED_LANGUAGES else text

    return detokenize


def restore(lines: Sequence[str], preparation: Preparation, recaser: Recaser) -> list[str]:
    """Recase and detokenise translations.

    Parameters
    ----------
    lines
        Tokenised, lowercased translations, as the decoder writes them.
    preparation
        How the training corpus was prepared. If its input was already tokenised, translations stay tokenised.
    recaser
        Learned from the target side of the training corpus.
    """
    join: Callable[[Sequence[str]], str] = " ".join
    if not preparation.tokenized:
        join = detokenizer(preparation.target_language)
    return [join(recaser.recase(split_words(line))) for line in lines]
