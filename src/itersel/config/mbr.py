"""Minimum Bayes risk: the section of the config, and what a system uses.

The options ``--mbr`` of ``itersel decode``, ``translate`` and ``rescore`` are a `MinimumRisk`.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.section_checks import check_section
from itersel.errors import InputError
from itersel.keys import documented, key, key_of

# The time to compare translations grows with the square of their number.
MAX_COMPARED = 1000

BLEU_GAIN, CHRF_GAIN = GAINS = "sentence-bleu", "chrf"
# How keys and options explain the gain and the scale of minimum Bayes risk.
SIMILARITY = "Measure of the similarity of translations: sentence-bleu (lin) of their words, or chrf"
SCALING = "Factor of model scores before they become probabilities"
MAX_SCALE = 1_000_000
# Candidates for the scale. Among equally good ones, the first is chosen: the closest to the best score of the
# model.
SCALES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)


@documented
@dataclass(frozen=True)
class MinimumRisk:
    """Minimum Bayes risk: choose the translation that is most similar to the other good ones."""

    gain: str = key(
        f"{SIMILARITY}; in a config, by default null: choose by model score.", BLEU_GAIN, choices=GAINS
    )
    scale: float = key(
        f"{SCALING}; the larger, the closer to the best score. In a config, by default null: the best of "
        "several on devtest.",
        1.0,
        above=0,
        maximum=MAX_SCALE,
    )
    size: int = key(
        "Number of translations per sentence that are compared, those with the best model scores.",
        100,
        minimum=2,
        maximum=MAX_COMPARED,
    )

    def __post_init__(self) -> None:
        check_section(self)

    def check_k_best(self, k_best: int, name: str = "k_best", advice: str = "ask for fewer") -> None:
        """Raise an InputError if fewer translations are compared than are asked for, under this `name`."""
        if k_best > self.size:
            why = f"more than the {self.size} translations that minimum Bayes risk compares"
            raise InputError(f"{name} {k_best} is {why}; {advice}")


@dataclass(frozen=True)
class MbrSettings:
    """Minimum Bayes risk: of each list for a test set, choose the translation most similar to the others."""

    gain: str | None = key_of(
        MinimumRisk,
        "gain",
        default=None,
        explanation=f"{SIMILARITY} (docs/decoder.md); null: choose by model score. The default of "
        f"`--mbr` is the system's gain or, if it has none, {MinimumRisk.gain}.",
    )
    scale: float | None = key_of(
        MinimumRisk,
        "scale",
        default=None,
        explanation=f"{SCALING}; null: for each experiment, the best on devtest of "
        f"{', '.join(f'{scale:g}' for scale in SCALES)}. The default of `--mbr-scale` is "
        f"the system's scale or, if it has none, {MinimumRisk.scale:g}.",
    )
    size: int = key_of(MinimumRisk, "size")

    @property
    def candidates(self) -> tuple[MinimumRisk, ...]:
        """What devtest chooses from: one for each scale; nothing without a gain."""
        if self.gain is None:
            return ()
        scales = SCALES if self.scale is None else (self.scale,)
        return tuple(MinimumRisk(gain=self.gain, scale=scale, size=self.size) for scale in scales)
