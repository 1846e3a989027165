"""How the text of n-best lists, and of their source, becomes words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from itersel.config.list_steps import WordSettings
from itersel.corpus.prepare import Preparation


@dataclass
class ListPreparation(Preparation):
    """The preparation of lists, whose case may count.

    Each line of the target side is prepared once: both BLEU and features of text need its words.
    """

    words: WordSettings
    _known: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def prepare_cleaned_target(self, lines: Sequence[str]) -> list[str]:
        """Prepare target text that has been cleaned."""
        new = [line for line in dict.fromkeys(lines) if line not in self._known]
        self._known.update(zip(new, super().prepare_cleaned_target(new), strict=True))
        return [self._known[line] for line in lines]

    def _lower(self, lines: Sequence[str], language: str) -> list[str]:
        return super()._lower(lines, language) if self.words.lowercase else list(lines)


def list_preparation(settings: WordSettings) -> ListPreparation:
    """Return the preparation of text for features, and for the BLEU that learners use.

    Text is tokenised by the rules of its language; if it is tokenised already, its words are kept.
    """
    return ListPreparation(settings, only_cleaned=settings.tokenized)
