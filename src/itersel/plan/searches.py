"""How our decoder searches: all steps that decode get their keys of a `Search` from here."""

from __future__ import annotations

from itersel.config.defaults import never_null
from itersel.config.search import Search, TranslationSettings
from itersel.config.values import Config, Experiment


def search_of(config: Config, experiment: Experiment) -> Search:
    """Return how an experiment searches, in training and testing."""
    return Search(
        features=experiment.features,
        templates=never_null(experiment.templates),
        pop_limit=config.decoder.pop_limit,
        max_span=config.grammar.max_span,
    )


def search_of_all_systems(config: Config) -> Search:
    """Return how all experiments search, except for the features, with the grammars as they are."""
    return Search(
        templates=config.grammar.templates,
        pop_limit=config.decoder.pop_limit,
        max_span=config.grammar.max_span,
    )


def translation_of(config: Config, experiment: Experiment) -> TranslationSettings:
    """Return how the system of an experiment translates; its minimum Bayes risk is in a file."""
    return TranslationSettings(
        pop_limit=config.decoder.pop_limit, features=experiment.features, grammar=config.grammar
    )
