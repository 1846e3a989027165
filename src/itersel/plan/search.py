"""The search for translations, which many steps share."""

from __future__ import annotations

from typing import Any

from itersel.config.search import Search
from itersel.config.values import Config, Experiment


def search_of(config: Config, experiment: Experiment) -> Search:
    """Return the search with the features of an experiment and with all templates."""
    return Search(**search_keys(config, experiment))


def search_keys(config: Config, experiment: Experiment) -> dict[str, Any]:
    """Return the keys of this search, for settings that have further ones."""
    return {
        "features": experiment.features,
        "pop_limit": config.decoder.pop_limit,
        "max_span": config.grammar.max_span,
    }
