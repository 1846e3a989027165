"""Helpers for tests of steps: their settings as one argument."""

import json
from typing import Any

# The languages of texts, which steps that split it into words need.
TEXT_LANGUAGES = {"source_language": "de", "target_language": "en-us"}


def settings(**values: Any) -> list[str]:
    """Return the option with the settings of a step: ``settings(k_best=5, learner={"name": "mira"})``."""
    return ["--settings", json.dumps(values)]


def step(command: str, /, **values: Any) -> str:
    """Return the command of a step with settings, as words with a space between them."""
    return f"{command} --settings {json.dumps(values, separators=(',', ':'))}"
