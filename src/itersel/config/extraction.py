"""The settings of the step that extracts grammars.

- ``itersel grammar extract``: `ExtractionSettings`, the section `grammar` of a config

See also `itersel.config.settings`.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.section_checks import check_section
from itersel.keys import key
from itersel.vectors.feature_names import DEFAULT_TEMPLATES, TEMPLATES

# Limits on a rule: words in its source span (phrases are indexed up to this length), source symbols,
# non-terminals.
MAX_SPAN = 30
MAX_SYMBOLS = 15
MAX_NONTERMINALS = 2
MAX_SAMPLES = 1_000_000


@dataclass(frozen=True)
class ExtractionSettings:
    """Extraction of the hierarchical rules (Chiang 2007)."""

    max_span: int = key("Longest source span of a rule, in words.", 15, minimum=1, maximum=MAX_SPAN)
    max_symbols: int = key(
        "Maximum number of symbols on the source side of a rule.", 5, minimum=1, maximum=MAX_SYMBOLS
    )
    max_nonterminals: int = key(
        "Maximum number of nonterminals in a rule.", 2, minimum=0, maximum=MAX_NONTERMINALS
    )
    min_gap: int = key(
        "Minimum number of words that a nonterminal covers in extraction.", 1, minimum=1, maximum=MAX_SPAN
    )
    max_samples: int = key(
        "Maximum number of sampled occurrences of a source side.", 300, minimum=1, maximum=MAX_SAMPLES
    )
    templates: tuple[str, ...] = key(
        "Templates of the sparse features of rules (docs/features.md).", DEFAULT_TEMPLATES, choices=TEMPLATES
    )

    def __post_init__(self) -> None:
        check_section(self)
