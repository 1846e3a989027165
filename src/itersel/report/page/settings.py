"""The settings of a run as the page shows them: the value of every key, by experiment where these differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from itersel.config.plain import plain
from itersel.config.values import Config

# Instead of a value, for a key that the learner, tasks or mixing of an experiment lack.
ABSENT = ""


def settings_table(config: Config) -> dict[str, Any]:
    """Return the value of every key of a config, as text.

    ``systems`` are the names of the experiments, ``differing`` the keys in which these differ, each with its
    values, ``common`` their other keys, and ``run`` the keys that are not of experiments.
    """
    content = plain(config)
    systems = {name: dict(_leaves(one)) for name, one in content.pop("experiments").items()}
    columns = list(systems.values())
    keys = list(dict.fromkeys(key for column in columns for key in column))
    # those of a section together, also if only later experiments have them
    place = {section: number for number, section in enumerate(dict.fromkeys(map(_section, keys)))}
    keys.sort(key=lambda key: place[_section(key)])
    rows = {key: [column.get(key, ABSENT) for column in columns] for key in keys}
    differing = {key: values for key, values in rows.items() if len({*values}) > 1}
    common = {key: values[0] for key, values in rows.items() if key not in differing}

    return {
        "systems": list(systems),
        "differing": list(differing.items()),
        "common": list(common.items()),
        "run": list(_leaves(content)),
    }


def _section(key: str) -> str:
    """Return the name of the section to which a full key belongs, or of the key if it is in none."""
    return key.rpartition(".")[0] or key


def _leaves(content: Mapping[str, Any], key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the full name and the value of each key that has no keys below it."""
    for name, value in content.items():
        full = f"{key}.{name}" if key else str(name)
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, full)
        else:
            yield full, value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
