"""The settings of a run: the value of every key, by experiment where these differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

# Instead of a value, for a key that an experiment (its learner, tasks or mixing) or a run lacks.
ABSENT = ""
# A key, and its value in each column, as text (`ABSENT` if a column lacks the key).
DifferingKey = tuple[str, list[str]]
# A key, and the value that all columns have, as text.
CommonKey = tuple[str, str]


class ExperimentSettings(TypedDict):
    """The settings of experiments, which are the columns, in the order of `systems`."""

    systems: list[str]  # names of the experiments
    differing: list[DifferingKey]
    common: list[CommonKey]


class SettingsTable(ExperimentSettings):
    """The settings of a run, as its page has them."""

    run: list[CommonKey]  # the keys that are not of experiments


def settings_table(settings: Mapping[str, Any]) -> SettingsTable:
    """Return the value of every key of a run, as text; `settings` are those that it recorded."""
    systems = {name: as_texts(one) for name, one in settings["experiments"].items()}
    differing, common = compare_keys(list(systems.values()))
    of_run = {name: value for name, value in settings.items() if name != "experiments"}
    return {
        "systems": list(systems),
        "differing": differing,
        "common": common,
        "run": list(as_texts(of_run).items()),
    }


def compare_keys(columns: Sequence[Mapping[str, str]]) -> tuple[list[DifferingKey], list[CommonKey]]:
    """Return the keys in which columns differ, each with the value of every column, and all other keys."""
    keys = list(dict.fromkeys(key for column in columns for key in column))
    # those of a section together, also if only later columns have them
    place = {section: number for number, section in enumerate(dict.fromkeys(map(_section, keys)))}
    keys.sort(key=lambda key: place[_section(key)])
    rows = {key: [column.get(key, ABSENT) for column in columns] for key in keys}
    differing = {key: values for key, values in rows.items() if len({*values}) > 1}
    common = {key: values[0] for key, values in rows.items() if key not in differing}
    return list(differing.items()), list(common.items())


def as_texts(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the value of each key that has no keys below it, as text, by its full name."""
    return {
        key: value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
        for key, value in leaves(content)
    }


def _section(key: str) -> str:
    """Return the name of the section to which a full key belongs, or of the key if it is in none."""
    return key.rpartition(".")[0] or key


def leaves(content: Mapping[str, Any], key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the full name and the value of each key that has no keys below it."""
    for name, value in content.items():
        full = f"{key}.{name}" if key else str(name)
        if isinstance(value, Mapping) and value:
            yield from leaves(value, full)
        else:
            yield full, value
