"""The settings of the steps that search for translations.

- ``itersel decode``: `Search`; with given lists, `GivenListFeatures`
- ``itersel step kbest``: `KBestSettings`
- ``itersel step forest``: `ForestSettings`
- ``itersel step resources``: `TranslationSettings`

Settings of all steps that decode the sentences of an experiment extend `Search`: those here, `TrainSettings`
and `ScaleSettings`. With given lists, they extend `GivenListFeatures` instead. Two steps know more or less
than a search: a system, which extracts its grammars, has their limits only once (`TranslationSettings`), and
the derivations of a page are those of systems with different features (`ExplainSettings`).

Config, command line and library use the same settings; see also `itersel.config.settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

from itersel.config.extraction import ExtractionSettings
from itersel.config.mbr import MinimumRisk
from itersel.config.section_checks import check_section
from itersel.keys import REQUIRED, documented, key, key_of, section
from itersel.vectors.feature_names import ALL_FEATURES, DENSE, DENSE_FEATURES, TEMPLATES, TEXT_TEMPLATES

MAX_POP_LIMIT = 10_000
# Learning from a k-best list keeps the products of all pairs in memory: 800 MB for this size.
MAX_K_BEST = 10_000


class WithFeatures:
    """Base class of settings with the key `features`."""

    features: str

    @property
    def uses_sparse(self) -> bool:
        """Whether sparse features are used, too."""
        return self.features == ALL_FEATURES


@dataclass(frozen=True)
class FeatureSettings(WithFeatures):
    """The features that score translations, of our decoder or another one."""

    features: str = key(
        f"dense: the {len(DENSE_FEATURES)} dense features; all: also sparse features.",
        ALL_FEATURES,
        choices=(DENSE, ALL_FEATURES),
    )

    def __post_init__(self) -> None:
        check_section(self)


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
    max_span: int = key_of(ExtractionSettings, "max_span", maximum=None)


@dataclass(frozen=True)
class GivenListFeatures(FeatureSettings):
    """The features of given lists that are used; lists need no search."""

    no_key_because: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (item.name for item in fields(Search)),
        "needs --language-model, which is missing; lists of another decoder have no such key",
    )
    # Not the templates that are used, as in `Search`, because files of lists do not say where a feature comes
    # from: without a template `Lex` of text_features, features with its prefix `Lex:` are the lists' own, and
    # all of them are used. Files of weights contain none of a template that is left out.
    left_out_templates: tuple[str, ...] = key(
        "With features: all, templates of text_features that are not used.",
        (),
        choices=tuple(TEXT_TEMPLATES),
        recorded_otherwise=True,
    )


@dataclass(frozen=True)
class TranslationSettings(WithFeatures):
    """How a system translates: settings of the decoder and of rule extraction.

    This is no `Search`, whose `max_span` and `templates` are those of the system's `grammar`.
    """

    pop_limit: int = key_of(Search, "pop_limit")
    features: str = key_of(Search, "features")
    grammar: ExtractionSettings = section(ExtractionSettings)
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
