"""The search for translations, which many steps share."""

from __future__ import annotations

from typing import Any, TypeVar

from itersel.config.search import Search
from itersel.config.values import Config, Experiment

S = TypeVar("S", bound=Search)


def search_of(config: Config, experiment: Experiment) -> Search:
    """Return the search with the features of an experiment and with all templates."""
    return search_settings(Search, config, experiment)


def search_settings(
    kind: type[S],
    config: Config,
    experiment: Experiment,
    templates: tuple[str, ...] | None = None,
    **further: Any,
) -> S:
    """Return a search of a kind with `further` keys, and with all templates unless some are given."""
    return kind(
        features=experiment.features,
        templates=templates,
        pop_limit=config.decoder.pop_limit,
        max_span=config.grammar.max_span,
        **further,
    )
