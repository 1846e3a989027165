"""From decoder output to readable text: recasing and detokenisation."""

from __future__ import annotations

from collections.abc import Sequence

from itersel.corpus.prepare import Preparation
from itersel.corpus.protect import protected
from itersel.corpus.recase import Recaser
from itersel.corpus.text import split_words
from itersel.corpus.tokenization import text_of, tokenizer


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
    if preparation.tokenized:
        return [" ".join(recaser.recase(split_words(line))) for line in lines]
    join = tokenizer(preparation.target_language, preparation.protected).detokenize
    is_protected = protected(preparation.protected)
    restored = []
    for line in lines:
        words = split_words(line)
        restored.append(join(recaser.recase(words, [is_protected(text_of(word)) for word in words])))
    return restored
