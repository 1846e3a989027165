"""The settings of the steps that extract grammars and search for translations.

- ``itersel grammar extract``: `Grammar`
- ``itersel decode``: `Search`; with lists of another decoder, `FeatureSettings`
- ``itersel step kbest``: `KBestSettings`
- ``itersel step forest``: `ForestSettings`
- ``itersel step resources``: `TranslationSettings`

The options ``--mbr`` of ``itersel decode``, ``translate`` and ``rescore`` are a `MinimumRisk`. Config,
command line and library use the same settings; see also `itersel.config.settings`.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.section_checks import check_section
from itersel.errors import InputError
from itersel.keys import REQUIRED, documented, key, key_of, section
from itersel.vectors.feature_names import DEFAULT_TEMPLATES, DENSE_FEATURES, TEMPLATES, TEXT_TEMPLATES

# Limits on a rule: words in its source span (phrases are indexed up to this length), source symbols,
# non-terminals.
MAX_SPAN = 30
MAX_SYMBOLS = 15
MAX_NONTERMINALS = 2
MAX_SAMPLES = 1_000_000

MAX_POP_LIMIT = 10_000
# Learning from a k-best list keeps the products of all pairs in memory: 800 MB for this size.
MAX_K_BEST = 10_000

# The time to compare translations grows with the square of their number.
MAX_COMPARED = 1000

DENSE_ONLY, ALL_FEATURES = "dense", "all"
BLEU_GAIN, CHRF_GAIN = GAINS = "sentence-bleu", "chrf"
# How keys and options explain the gain and the scale of minimum Bayes risk.
SIMILARITY = "Measure of the similarity of translations: sentence-bleu (lin) of their words, or chrf"
SCALING = "Factor of model scores before they become probabilities"
MAX_SCALE = 1_000_000
# Candidates for the scale. Among equally good ones, the first is chosen: the closest to the best score of the
# model.
SCALES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)


@dataclass(frozen=True)
class Grammar:
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


class WithFeatures:
    """Base class of settings with the key `features`."""

    features: str

    @property
    def uses_sparse(self) -> bool:
        """Whether sparse features are used, too."""
        return self.features == ALL_FEATURES


@dataclass(frozen=True)
class FeatureSettings(WithFeatures):
    """The features that score translations; lists of another decoder need no other settings."""

    features: str = key(
        f"dense: the {len(DENSE_FEATURES)} dense features; all: also sparse features.",
        ALL_FEATURES,
        choices=(DENSE_ONLY, ALL_FEATURES),
    )

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class GivenListFeatures(FeatureSettings):
    """The features of another decoder's lists that are used."""

    # files contain no weights of their features
    left_out_templates: tuple[str, ...] = key(
        "With features: all, templates of text_features that are not used.",
        (),
        choices=tuple(TEXT_TEMPLATES),
        recorded_otherwise=True,
    )


@documented
@dataclass(frozen=True)
class Search(FeatureSettings):
    """The search for translations; `max_span` is that of the grammar."""

    templates: tuple[str, ...] | None = key(
        "With features: all, use only these templates of grammar.templates; by default all of them.",
        choices=TEMPLATES,
    )
    pop_limit: int = key(
        "Cube pruning: maximum number of hypotheses popped at a node; more at glue nodes (docs/decoder.md).",
        200,
        minimum=1,
        maximum=MAX_POP_LIMIT,
    )
    max_span: int = key_of(Grammar, "max_span", maximum=None)


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


@dataclass(frozen=True)
class TranslationSettings(WithFeatures):
    """How a system translates: settings of the decoder and of rule extraction."""

    pop_limit: int = key_of(Search, "pop_limit")
    features: str = key_of(Search, "features")
    grammar: Grammar = section(Grammar)
    mbr: MinimumRisk | None = key("Minimum Bayes risk; null: the highest model scores.")

    def __post_init__(self) -> None:
        check_section(self)

    def search(self) -> Search:
        """Return the settings of the decoder."""
        return Search(self.features, pop_limit=self.pop_limit, max_span=self.grammar.max_span)


@dataclass(frozen=True)
class IterationSearch(Search):
    """The search for translations of a file of sentences in an iteration of a batch tuner."""

    iteration: int = key("Number of the iteration, from 1.", 1, minimum=1, place=True)
    file_number: int = key("Number of the file, from 0, which is recorded.", 0, minimum=0, place=True)


@dataclass(frozen=True)
class KBestSettings(IterationSearch):
    """Everything that affects k-best lists, except the contents of files."""

    k_best: int = key("Size of the k-best lists used for training.", 100, minimum=2, maximum=MAX_K_BEST)


@dataclass(frozen=True)
class ForestSettings(IterationSearch):
    """Everything that affects forests, except the contents of files."""

    features: str = key_of(
        Search,
        "features",
        default=REQUIRED,
        explanation="dense: only dense features; all: also the score of the sparse ones, as one feature, for "
        "retune.",
    )
    forest_density: int = key(
        "Edges per source word that are kept in the forests for forest tuners.", 50, minimum=1, maximum=10_000
    )
