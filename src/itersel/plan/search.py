"""The search for translations, which many steps share."""

from __future__ import annotations

from itersel.config.search import Search
from itersel.config.values import Config, Experiment


def search_of(config: Config, experiment: Experiment, templates: tuple[str, ...] | None = None) -> Search:
    """Return the search with the features of an experiment, and with all templates unless some are given."""
    return Search(
        features=experiment.features,
        templates=templates,
        pop_limit=config.decoder.pop_limit,
        max_span=config.grammar.max_span,
    )
