"""The config of a run as the page shows it: as written, and what differs from the defaults."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from itersel.config.forms import conditions_in
from itersel.config.grids import without_grids
from itersel.config.values import Config, Experiment
from itersel.keys import declared, default_form, default_of, forms_of, name_in


def describe_config(content: object, config: Config) -> dict[str, Any]:
    """Return a config as ``yaml``, and the values that differ from their defaults (``changed``).

    These are rows of key, value, default, without values that follow from others. `config` is that of
    `read_unresolved`.
    """
    import yaml  # type: ignore[import-untyped]

    given = [*_keys(without_grids(content)[0], "")]
    changed = [
        list(row) for row in _changed(config, "") if any(f"{key}.".startswith(f"{row[0]}.") for key in given)
    ]
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    return {"yaml": text, "changed": changed}


def _keys(content: object, key: str) -> Iterable[str]:
    if not isinstance(content, Mapping) or not content:
        yield key
        return
    for name, value in content.items():
        yield from _keys(value, f"{key}.{name}" if key else str(name))


def _changed(
    section: Any, key: str, conditions: Collection[str] | None = None
) -> Iterable[tuple[str, str, str]]:
    """Yield key, value and default of values that differ from the defaults, including nested sections.

    The defaults of an experiment depend on `conditions`.
    """
    if isinstance(section, Experiment):
        conditions = conditions_in(section)

    for item in fields(section):
        value = getattr(section, item.name)
        name = f"{key}{item.name}"

        if isinstance(value, dict) and value and all(is_dataclass(one) for one in value.values()):
            for entry, one in value.items():
                yield from _changed(one, f"{name}.{entry}." if entry else f"{name}.")
        elif is_dataclass(value):
            if conditions is not None and declared(item).forms is not None:
                form = name_in(forms_of(item), value)
                default = default_form(item, conditions)
                if form != default:
                    yield f"{name}.name", form, default
            yield from _changed(value, f"{name}.", conditions)
        else:
            default = _default(item, conditions)
            if default is MISSING or value != default:
                yield name, _text(value), "" if default is MISSING else _text(default)


def _default(item: Field[Any], conditions: Collection[str] | None) -> Any:
    if conditions is None:
        return item.default_factory() if item.default_factory is not MISSING else item.default
    return default_of(item, conditions)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
