"""The search for translations, which many steps share."""

from __future__ import annotations

from typing import Any

from itersel.config.defaults import available_templates
from itersel.config.search import Search
from itersel.config.values import Config, Experiment


def restricted_templates(config: Config, experiment: Experiment) -> tuple[str, ...] | None:
    """Return the templates of an experiment that uses only some; otherwise None.

    In settings, None means all templates of the files. So it makes no difference to steps and tables whether
    a config states all of them.
    """
    return None if experiment.templates == available_templates(config) else experiment.templates


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
