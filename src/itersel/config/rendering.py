"""What is made from `values`: the JSON schema, the documentation, and commented YAML."""

from __future__ import annotations

import json
import textwrap
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from itersel.config.options import NAME_PATTERN
from itersel.config.reading import CHOICES, TYPE_NAMES, split_optional, types_of
from itersel.config.values import Config, Experiment
from itersel.limits import MAX_INTEGER

JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
JSON_BOUNDS = {"minimum": "minimum", "above": "exclusiveMinimum", "maximum": "maximum"}
WIDTH = 100


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a config."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "itersel",
        **_section_schema(Config),
        "required": ["experiments"],
    }


def _section_schema(kind: Any) -> dict[str, Any]:
    properties = {item.name: _value_schema(item, types_of(kind)[item.name]) for item in fields(kind)}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _choice_schema(name: str, kind: Any) -> dict[str, Any]:
    schema = _section_schema(kind)
    schema["properties"] = {"name": {"const": name}, **schema["properties"]}
    return schema | {"description": _summary(kind), "required": ["name"]}


def _summary(kind: Any) -> str:
    """Return the first line of a section's docstring."""
    return str(kind.__doc__).partition("\n")[0]


def _value_schema(item: Field[Any], kind: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"description": item.metadata["explanation"]}
    if item.name in CHOICES:
        return schema | {"oneOf": [_choice_schema(*choice) for choice in CHOICES[item.name].items()]}
    kind, optional = split_optional(kind)
    if is_dataclass(kind):
        return schema | _section_schema(kind)
    if typing.get_origin(kind) is dict:
        names = {"type": "object", "minProperties": 1, "additionalProperties": False}
        entry = _section_schema(Experiment)
        return schema | names | {"patternProperties": {f"^{NAME_PATTERN}$": entry}}
    if typing.get_origin(kind) is tuple:
        default: Any = item.default
        return schema | {"type": "array", "items": {"type": "string"}, "default": list(default)}
    schema["type"] = [JSON_TYPES[kind], "null"] if optional else JSON_TYPES[kind]
    if "choices" in item.metadata:
        schema["enum"] = [*item.metadata["choices"], *([None] if optional else [])]
    if "pattern" in item.metadata:
        schema["pattern"] = f"^{item.metadata['pattern']}$"
    for bound, name in JSON_BOUNDS.items():
        if bound in item.metadata:
            schema[name] = item.metadata[bound]
    if kind is int:
        schema.setdefault("maximum", MAX_INTEGER)
    return schema | {"default": item.default}


def schema_text() -> str:
    """Return the JSON schema as text."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def documentation() -> str:
    """Return the documentation of all keys, as Markdown."""
    lines = [
        "# Configuration",
        "",
        "Made by `itersel config documentation`; do not edit. A config is one YAML file; what it does not",
        "set has the default given here. An unknown key or a value out of bounds stops the run before it",
        "starts. Check a file with `itersel config check FILE`.",
    ]
    titles: dict[Any, str] = {}
    for title, explanation, kind in _sections(Config, ""):
        lines += ["", f"## {title}", "", explanation, ""]
        if kind in titles:
            lines.append(f"Keys as in {titles[kind]}.")
            continue
        titles[kind] = title
        if not fields(kind):
            lines.append("No further keys.")
            continue
        lines += ["| key | default | values | meaning |", "| --- | --- | --- | --- |"]
        lines += [_table_row(item, types_of(kind)[item.name]) for item in fields(kind) if _is_option(item)]
    return "\n".join(lines) + "\n"


def _is_option(item: Field[Any]) -> bool:
    """Return whether a field is an option, not a section."""
    return item.default is not MISSING


def _table_row(item: Field[Any], kind: Any) -> str:
    kind, optional = split_optional(kind)
    allowed = _allowed(item.metadata, kind) + (" or null" if optional else "")
    cells = f"`{item.name}`", f"`{_yaml(item.default)}`", allowed, item.metadata["explanation"]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _sections(kind: Any, key: str) -> Iterator[tuple[str, str, Any]]:
    """Yield title, explanation and class of a section and of all sections in it."""
    if not key:
        yield "Top level", "The run as a whole.", kind
    for item in fields(kind):
        inner = types_of(kind)[item.name]
        if typing.get_origin(inner) is dict:
            title = f"`{key}{item.name}.<name>`"
            yield title, item.metadata["explanation"], Experiment
            yield from _sections(Experiment, f"{key}{item.name}.<name>.")
        elif item.name in CHOICES:
            for name, choice in CHOICES[item.name].items():
                yield f"`{key}{item.name}: {{name: {name}}}`", _summary(choice), choice
        elif is_dataclass(inner):
            yield f"`{key}{item.name}`", item.metadata["explanation"], inner
            yield from _sections(inner, f"{key}{item.name}.")


def _allowed(bounds: Mapping[str, Any], kind: Any) -> str:
    if "choices" in bounds:
        return ", ".join(f"`{choice}`" for choice in bounds["choices"])
    limits = [
        f"{word} {bounds[bound]}"
        for bound, word in (("minimum", "at least"), ("above", "above"), ("maximum", "at most"))
        if bound in bounds
    ]
    name = "list of text" if typing.get_origin(kind) is tuple else TYPE_NAMES[kind]
    if "path" in bounds:
        name = "path"
    elif "pattern" in bounds:
        name += f" of the form `{bounds['pattern']}`"
    return ", ".join([name, *limits])


def commented_yaml(config: Config) -> str:
    """Return a config as YAML that sets and explains every key.

    Of sections of one form (experiments, splits) only the first is written out and explained; the
    others show what differs from the defaults.
    """
    introduction = [
        "# The config of a run. Every key is here with what it means; what another config file leaves out",
        "# has the default of docs/config.md, not the value below. Brought up to date with",
        "# `itersel config template FILE --output FILE`.",
    ]
    return "\n".join([*introduction, *_section_yaml(config, 0, set())]) + "\n"


def _section_yaml(section: Any, depth: int, explained: set[type]) -> Iterator[str]:
    """Yield the lines of a section; one like a section before it shows only what it sets."""
    indent, repeated = "  " * depth, type(section) in explained
    explained.add(type(section))
    for number, item in enumerate(fields(section)):
        value = getattr(section, item.name)
        if repeated and number > 0 and value == item.default:
            continue
        if depth == 0:
            yield ""
        if not repeated:
            yield from textwrap.wrap(
                _comment(item),
                WIDTH,
                initial_indent=f"{indent}# ",
                subsequent_indent=f"{indent}# ",
                break_on_hyphens=False,
            )
        yield f"{indent}{item.name}:" + _inline(value)
        if isinstance(value, dict):
            for name, entry in value.items():
                yield f"{indent}  {_yaml(name)}:"
                yield from _section_yaml(entry, depth + 2, explained)
        elif is_dataclass(value):
            if item.name in CHOICES:
                names = {kind: name for name, kind in CHOICES[item.name].items()}
                yield f"{indent}  name: {names[type(value)]}"
            yield from _section_yaml(value, depth + 1, explained)


def _inline(value: object) -> str:
    return "" if isinstance(value, dict) or is_dataclass(value) else f" {_yaml(value)}"


def _comment(item: Field[Any]) -> str:
    text: str = item.metadata["explanation"]
    choices = [choice for choice in item.metadata.get("choices", ()) if choice not in text]
    return f"{text} One of: {', '.join(item.metadata['choices'])}." if choices else text


def _yaml(value: object) -> str:
    """Return a scalar or a list as YAML on one line."""
    import yaml  # type: ignore[import-untyped]

    if isinstance(value, tuple):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    text: str = yaml.safe_dump(value, width=10**6, allow_unicode=True)
    return text.removesuffix("...\n").strip()
