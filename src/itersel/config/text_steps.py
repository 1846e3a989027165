"""The settings of the commands for text, alignments and language models, whose keys are options, too.

- ``itersel align``: `AlignSettings`; of one direction `SamplerSettings`, of given alignments
  `SymmetrizationSettings`
- ``itersel lm estimate``: `EstimateSettings`
- ``itersel lm compile``: `CompileSettings`
- ``itersel detokenize``: `DetokenizeSettings`

See also `itersel.config.steps`.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.align.symmetrize import DEFAULT_HEURISTIC, HEURISTICS
from itersel.config.evaluation import Evaluation
from itersel.config.options import REQUIRED, option, option_of, seed_option
from itersel.config.section_checks import check_section
from itersel.config.text_features import TextModelSettings
from itersel.evaluate.names import DEFAULT_TOKENIZER


@dataclass(frozen=True)
class SamplerSettings:
    """How words are aligned in one direction."""

    seed: int = seed_option("Seed of the sampler.")

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class SymmetrizationSettings:
    """How the alignments of both directions become one."""

    symmetrization: str = option(
        "How the alignments of the two directions are combined.", DEFAULT_HEURISTIC, choices=tuple(HEURISTICS)
    )

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class AlignSettings(SymmetrizationSettings, SamplerSettings):
    """How words are aligned in both directions."""


@dataclass(frozen=True)
class EstimateSettings:
    """How a language model is estimated."""

    order: int = option_of(TextModelSettings, "order", default=REQUIRED)

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class CompileSettings:
    """Which language model is compiled."""

    expect_order: int | None = option_of(
        TextModelSettings, "order", explanation="Reject a model of another order.", default=None
    )

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class DetokenizeSettings:
    """How the translations of a test set are scored."""

    tokenizer: str = option_of(
        Evaluation,
        "tokenizer",
        explanation="sacrebleu's tokenizer for BLEU; none for words separated by spaces.",
        default=DEFAULT_TOKENIZER,
    )

    def __post_init__(self) -> None:
        check_section(self)
