"""How the text of n-best lists, and of their source, becomes words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from itersel.config.cutting import GivenListSettings
from itersel.corpus.prepare import Preparation


@dataclass
class ListPreparation(Preparation):
    """Prepares each line of the target side once: both BLEU and features of text need its words."""

    _known: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def cleaned_target(self, lines: Sequence[str]) -> list[str]:
        """Prepare target text that has been cleaned."""
        new = [line for line in dict.fromkeys(lines) if line not in self._known]
        self._known.update(zip(new, super().cleaned_target(new), strict=True))
        return [self._known[line] for line in lines]


def preparation_of(settings: GivenListSettings) -> ListPreparation:
    """Return the preparation for features of text, and for BLEU to learn from.

    Words of tokenised text count as they stand; other text is prepared as its language needs.
    """
    is_tokenized = settings.language is None
    return ListPreparation(
        settings.source_language or "",
        settings.language or "",
        is_tokenized,
        protected=settings.protected,
        listed=is_tokenized,
    )
