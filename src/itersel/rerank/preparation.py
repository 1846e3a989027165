"""How the text of n-best lists, and of their source, becomes words."""

from __future__ import annotations

from itersel.config.cutting import GivenListSettings
from itersel.corpus.prepare import Preparation


def preparation_of(settings: GivenListSettings) -> Preparation:
    """Return the preparation for features of text, and for BLEU to learn from.

    Words of tokenised text count as they stand; other text is prepared as its language needs.
    """
    is_tokenized = settings.language is None
    return Preparation(
        settings.source_language or "",
        settings.language or "",
        is_tokenized,
        protected=settings.protected,
        listed=is_tokenized,
    )
