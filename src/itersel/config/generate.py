"""Writes the project's config.yaml with an explanation of every key: ``python -m itersel.config.generate``.

Values are kept. Missing keys get their defaults, also those that depend on other keys
(`itersel.config.forms`) and do not follow them from then on. Values that `itersel.config.defaults` takes from
other keys, such as the seeds of experiments, stay null, so that they follow edits; `itersel config show`
prints them.
"""

from __future__ import annotations

from itersel.config.reading import load_config
from itersel.config.rendering import commented_yaml
from itersel.project import CONFIG, PROJECT, SCHEMA


def commented_config() -> str:
    """Return the project's config with explanations."""
    schema = SCHEMA.relative_to(PROJECT).as_posix()
    return commented_yaml(load_config(PROJECT / CONFIG, is_resolved=False), schema)


if __name__ == "__main__":
    (PROJECT / CONFIG).write_text(commented_config(), encoding="utf-8")
