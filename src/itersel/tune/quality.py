"""What weights are tuned for on n-best lists of any decoder: a metric, or numbers for the translations."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from itersel.errors import FilePath
from itersel.evaluate.names import METRICS, OF_TEXT, sign_of, title_of
from itersel.lists.numbers import Numbers, read_numbers


class Quality(NamedTuple):
    """A metric, or else numbers, of which higher ones are better."""

    metric: str | None = None
    numbers: Numbers | None = None

    @property
    def title(self) -> str:
        """What people read."""
        return "quality" if self.metric is None else title_of(self.metric)

    @property
    def sign(self) -> int:
        """What makes a score one of which higher values are better: -1 for TER, else 1."""
        return 1 if self.metric is None else sign_of(self.metric)

    @property
    def is_bleu(self) -> bool:
        """Whether this is BLEU, which is computed over the corpus and not a mean over sentences."""
        return self.metric is not None and METRICS[self.metric].kind == "bleu"

    @property
    def is_lowercased(self) -> bool:
        """Whether case is ignored."""
        return self.metric is not None and METRICS[self.metric].is_lowercased

    def is_better(self, one: float, other: float) -> bool:
        """Return whether a score is better than another."""
        return self.sign * (one - other) > 0


def read_quality(given: FilePath | ArrayLike) -> Quality:
    """Return a metric, whose name may have capitals, or the numbers in a file or an array."""
    name = given.lower() if isinstance(given, str) else ""
    return Quality(name) if name in OF_TEXT else Quality(numbers=read_numbers(given))
