"""The search for translations, which many steps share."""

from __future__ import annotations

from collections.abc import Sequence

from itersel.config.search import Search
from itersel.config.values import Config, Experiment


def search_of(config: Config, experiment: Experiment, templates: Sequence[str] = ()) -> Search:
    """Return the search with the features of an experiment, and with all templates if none are named."""
    return Search(
        features=experiment.features,
        templates=tuple(templates),
        pop_limit=config.decoder.pop_limit,
        max_span=config.grammar.max_span,
    )
