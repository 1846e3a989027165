"""Generate the JSON schema, the documentation and commented YAML from `values`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, cast

from itersel.code.field_types import ByName, FieldType, ListOf, OneOf, Scalar, Section
from itersel.config.allowed_values import TYPE_NAMES, described_limits
from itersel.config.names import EXPERIMENT_PATTERN, LABEL_PATTERN, SCORE_PATTERN
from itersel.config.plain import plain
from itersel.config.values import Config, Experiment
from itersel.corpus.corpora import Columns, Fields
from itersel.corpus.languages import ANY_LANGUAGE_PATTERN, LANGUAGE_PATTERN
from itersel.corpus.text_names import TEST_SET_PATTERN
from itersel.evaluate.names import METRICS, title_of
from itersel.keys import Declaration, declared, is_required, name_in, other_defaults, types_of
from itersel.storage.numbers import MAX_INTEGER

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


def _section_schema(kind: Any, in_grid: bool = False) -> dict[str, Any]:
    """Return the schema of a section; `in_grid`, single values may be lists."""
    properties = {item.name: _value_schema(item, types_of(kind)[item.name], in_grid) for item in fields(kind)}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _choice_schema(name: str, kind: Any, in_grid: bool) -> dict[str, Any]:
    schema = _section_schema(kind, in_grid)
    schema["properties"] = {"name": {"const": name}, **schema["properties"]}
    return schema | {"description": _summary(kind)}


def _list_schema(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": entry, "minItems": 1}


def _summary(kind: Any) -> str:
    return str(kind.__doc__).partition("\n")[0]


def _value_schema(item: Field[Any], kind: FieldType, in_grid: bool) -> dict[str, Any]:
    """Return the schema of the value of a key of this type; in a grid, it may also be a list of values."""
    explained: dict[str, Any] = {"description": _explained(item)}
    match kind.content:
        case OneOf(forms):
            return explained | _forms_schema(forms, in_grid)
        case Section(section):
            return explained | _section_schema(section, in_grid)
        case ByName(entry):
            return explained | _named_values_schema(item, entry)
        case ListOf():
            return explained | _values_schema(item, kind.is_optional)
        case Scalar(scalar):
            single = _single_schema(item, scalar, kind.is_optional)
            value = {"anyOf": [single, _list_schema(single)]} if in_grid else single
            return explained | value | {"default": item.default}


def _forms_schema(known: Mapping[str, type], in_grid: bool) -> dict[str, Any]:
    """Return the schema of a section that has one of several forms, such as a learner."""
    forms = [_choice_schema(name, one, in_grid) for name, one in known.items()]
    if in_grid:
        name = {"name": _list_schema({"enum": list(known)})}
        forms.append({"type": "object", "properties": name, "required": ["name"]})
    # without a name, several may match
    return {"anyOf": forms}


def _named_values_schema(item: Field[Any], entry: FieldType) -> dict[str, Any]:
    """Return the schema of values that have names of the user's choice: numbers, files or sections."""
    optional_names = {"type": ["object", "null"], "minProperties": 1}
    if not isinstance(entry.content, Section | ListOf):
        number = {"type": "integer", **_bounds(declared(item))}
        return _names_schema(LABEL_PATTERN, number, **optional_names) | {"default": None}
    if isinstance(entry.content, ListOf):
        path = {"type": "string", **_bounds(declared(item))}
        files = {"anyOf": [path, {"type": "array", "items": path}]}
        return _names_schema(EXPERIMENT_PATTERN, files, **optional_names) | {"default": None}
    if entry.content.kind is Experiment:
        experiment = _section_schema(Experiment, in_grid=True)
        return {"minProperties": 1} | _names_schema(EXPERIMENT_PATTERN, experiment)

    section = _section_schema(entry.content.kind)
    # keys of a section that may stand there without a name
    keys = declared(item).names.keys_of_single
    if not keys:
        return _names_schema(SCORE_PATTERN, section)
    pattern = f"(?!({'|'.join(keys)})$){TEST_SET_PATTERN}"
    return {"anyOf": [section, _names_schema(pattern, section)]}


def _values_schema(item: Field[Any], optional: bool) -> dict[str, Any]:
    """Return the schema of a list of texts; some keys also take a single text."""
    entry: dict[str, Any] = {"type": "string", **_bounds(declared(item))}
    if (choices := declared(item).choices) is not None:
        entry["enum"] = list(choices)
    allowed: dict[str, Any] = {"type": ["array", "null"] if optional else "array", "items": entry}
    if declared(item).alone:
        allowed = {"anyOf": [entry, allowed, {"type": "null"}]}
    default = None if item.default is None else list(cast(tuple[str, ...], item.default))
    return allowed | {"default": default}


def _single_schema(item: Field[Any], kind: Any, optional: bool) -> dict[str, Any]:
    """Return the schema of a text, a number, or true or false."""
    single: dict[str, Any] = {"type": [JSON_TYPES[kind], "null"] if optional else JSON_TYPES[kind]}
    if declared(item).choices is not None:
        single["enum"] = [*_spellings(declared(item)), *([None] if optional else [])]
    single |= _bounds(declared(item))
    if kind is int:
        single.setdefault("maximum", MAX_INTEGER)
    return single


def _spellings(declaration: Declaration) -> list[str]:
    """Return the choices of a key; a schema has no other way to say that case does not matter."""
    choices = list(declaration.choices or ())
    titles = [title_of(name) for name in choices if name in METRICS] if declaration.any_case else []
    return list(dict.fromkeys([*choices, *(one.replace(" ", "-") for one in titles)]))


def _names_schema(pattern: str, entry: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    entries = {f"^{pattern}$": entry}
    return {"type": "object", **more, "additionalProperties": False, "patternProperties": entries}


def _bounds(declaration: Declaration) -> dict[str, Any]:
    pattern = {}
    if declaration.pattern is not None:
        # other codes of a language are read as the usual one
        is_language = declaration.pattern == LANGUAGE_PATTERN
        pattern["pattern"] = f"^{ANY_LANGUAGE_PATTERN if is_language else declaration.pattern}$"
    limits = declaration.limits
    return pattern | {name: limits[bound] for bound, name in JSON_BOUNDS.items() if bound in limits}


def documentation() -> str:
    """Return the documentation of all keys, as Markdown."""
    lines = [
        "# Configuration",
        "",
        "Generated by `itersel config documentation`; do not edit. A config is one YAML file; keys that it",
        "does not set have the defaults given here. An unknown key or a value out of bounds stops the run",
        "before it starts. `itersel config check FILE` checks a file; `itersel config show FILE` prints",
        "the value of every key. A section may leave out its `name`: [learning.md](learning.md) says which",
        "form it then has.",
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
        lines += key_table(kind)

    return "\n".join(lines) + "\n"


def key_table(kind: Any) -> list[str]:
    """Return the documentation of the keys of a section, as a Markdown table."""
    rows = [_table_row(item, types_of(kind)[item.name]) for item in fields(kind) if _is_key(item)]
    return ["| key | default | values | meaning |", "| --- | --- | --- | --- |", *rows]


def _is_key(item: Field[Any]) -> bool:
    # sections have a factory or, if they must be stated, forms
    return item.default_factory is MISSING and declared(item).forms is None


def _table_row(item: Field[Any], kind: FieldType) -> str:
    allowed = _allowed(declared(item), kind)
    # null stands for a required key that is missing
    if kind.is_optional and not is_required(item):
        allowed += " or null"
    default = "required" if is_required(item) else f"`{_yaml(item.default)}`"
    default += "".join(f", `{other}` {condition}" for condition, other in _other_defaults(item))
    cells = f"`{item.name}`", default, allowed, declared(item).explanation
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _other_defaults(item: Field[Any]) -> Iterator[tuple[str, str]]:
    """Yield the conditions under which a key has other defaults, and these defaults."""
    for condition, other in other_defaults(item):
        yield condition, _yaml(other)


def _explained(item: Field[Any]) -> str:
    """Return the explanation of a key, with its default if that depends on other keys."""
    text = declared(item).explanation
    if not _is_key(item) or not declared(item).on:
        return text
    others = (f"{value} {condition}" for condition, value in _other_defaults(item))
    return f"{text} Default: {', '.join([_yaml(item.default), *others])}."


def _sections(kind: Any, key: str) -> Iterator[tuple[str, str, Any]]:
    """Yield title, explanation and class of a section and of all sections in it."""
    if not key:
        yield "Top level", "The run as a whole.", kind

    for item in fields(kind):
        match types_of(kind)[item.name].content:
            case ByName(FieldType(Section(entry))):
                place = f"{key}{item.name}.<name>"
                # a single corpus or test set has no name
                alone = f"`{key}{item.name}` or " if declared(item).names.keys_of_single else ""
                yield f"{alone}`{place}`", declared(item).explanation, entry
                yield from _sections(entry, f"{place}.")
            case OneOf(forms):
                for name, choice in forms.items():
                    yield f"`{key}{item.name}: {{name: {name}}}`", _summary(choice), choice
            case Section(section):
                yield f"`{key}{item.name}`", declared(item).explanation, section
                yield from _sections(section, f"{key}{item.name}.")


def _allowed(declaration: Declaration, kind: FieldType) -> str:
    is_list = isinstance(kind.content, ListOf)
    if declaration.choices is not None:
        listed = "list of " if is_list else ""
        return listed + ", ".join(f"`{choice}`" for choice in declaration.choices)

    limits = described_limits(declaration.limits)
    if kind.content == ByName(FieldType(Scalar(int))):
        return "names, each with " + ", ".join([TYPE_NAMES[int], *limits])

    name = "list of text" if is_list else ""
    if isinstance(kind.content, Scalar):
        name = TYPE_NAMES[kind.content.kind]
    if declaration.path:
        name = "path or list of paths" if declaration.alone else "path"
        if isinstance(kind.content, ByName):
            name = f"names, each with a {name}"
    elif declaration.alone:
        name = "text or list of text"
    elif declaration.pattern == LANGUAGE_PATTERN:
        name = "language code"
    elif declaration.pattern is not None:
        name += f" of the form `{declaration.pattern}`"

    return ", ".join([name, *limits])


def commented_yaml(config: Config, schema: str) -> str:
    """Return a config as YAML that sets and explains every key.

    Among sections with the same keys (experiments, splits), only the first is written out and explained;
    the others show what differs from the defaults. Editors read the `schema`, a path that is absolute or
    relative to the config.
    """
    introduction = [
        f"# yaml-language-server: $schema={schema}",
        "# The config of a run. It explains every key. Keys that another config file leaves out have the",
        "# defaults in docs/config.md, not the values below. `itersel config show FILE` prints the value of",
        "# every key of a config, also of those that follow others and are null here.",
    ]
    return "\n".join([*introduction, *_section_yaml(config, 0, set())]) + "\n"


def plain_yaml(config: Config) -> str:
    """Return a config as YAML with the value of every key; read again, it is the same."""
    return _dumped(plain(config), WIDTH)


def _section_yaml(section: Any, depth: int, explained: set[type]) -> Iterator[str]:
    """Yield the lines of a section; if an earlier one had the same keys, only those not at their defaults."""
    indent = "  " * depth
    of_section: Any = type(section)
    repeated = of_section in explained
    explained.add(of_section)

    for number, item in enumerate(fields(section)):
        value = getattr(section, item.name)
        if repeated and number > 0 and value == item.default and not declared(item).on:
            continue
        # few corpora are tables or records
        if any(kind in explained and value == kind() for kind in (Columns, Fields)):
            continue

        if depth == 0:
            yield ""
        if not repeated:
            text = _explained(item)
            choices = declared(item).choices or ()
            if any(choice not in text for choice in choices):
                text += f" One of: {', '.join(choices)}."
            lines = textwrap.wrap(text, WIDTH - len(indent) - 2, break_on_hyphens=False)
            yield from (f"{indent}# {line}" for line in lines)

        inline = f" {_yaml(value)}" if _is_key(item) or value == {} else ""
        yield f"{indent}{item.name}:{inline}"
        match types_of(of_section)[item.name].content:
            case ByName(FieldType(Section())):
                for name, entry in value.items():
                    if name:
                        yield f"{indent}  {_yaml(name)}:"
                    yield from _section_yaml(entry, depth + (2 if name else 1), explained)
            case OneOf(forms):
                yield f"{indent}  name: {name_in(forms, value)}"
                yield from _section_yaml(value, depth + 1, explained)
            case Section():
                yield from _section_yaml(value, depth + 1, explained)


def _yaml(value: object) -> str:
    """Return a value as YAML on one line."""
    return _dumped(value, 10**6, default_flow_style=True).removesuffix("...\n").strip()


def _dumped(value: object, width: int, **how: bool) -> str:
    import yaml  # type: ignore[import-untyped]

    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=width, **how)
    return text
