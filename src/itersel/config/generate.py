"""Writes the project's config.yaml with an explanation of every key: ``python -m itersel.config.generate``.

Values are kept; missing keys get their defaults. Values that depend on others, such as seeds, stay null, so
that they follow edits; `itersel config show` prints them.
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
