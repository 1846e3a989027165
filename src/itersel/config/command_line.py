"""The keys of a section as options of a command that people type, and what options can be."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import Field, fields
from typing import Any, NoReturn, TypeVar

from itersel.code.field_types import ListOf, Scalar
from itersel.config.allowed_values import allowed_instead, as_usual
from itersel.corpus.languages import LANGUAGE_PATTERN
from itersel.keys import Declaration, declared, defaults_in_configs, is_required, types_of
from itersel.storage.numbers import parse_number

T = TypeVar("T")


def section_of(kind: type[T], options: argparse.Namespace) -> T:
    """Return a section with the values of the options that were stated, and defaults for the others."""
    names = (item.name for item in fields(kind))  # type: ignore[arg-type]
    return kind(**{name: getattr(options, name) for name in names if hasattr(options, name)})


def add_section_arguments(parser: argparse._ActionsContainer, section: Any) -> None:
    """Add an option for each key of a section; see `add_key`."""
    for item in fields(section):
        add_key(parser, section, item.name)


def add_key(
    parser: argparse._ActionsContainer,
    section: Any,
    name: str,
    explanation: str = "",
    prefix: str = "",
    unless: str = "--settings",
    **settings: Any,
) -> None:
    """Add an option for a key of a section: its name, default and bounds; true or false become flags.

    A key that is true by default becomes the flag ``--no-KEY``. The key has its own `explanation`, unless
    that says what only a config has, such as null. An option is repeated if its key may be a list without
    brackets, others list names with commas. The name of the option begins with the `prefix`. If its key is
    required, so is the option, `unless` another is given. `settings` are those of argparse.
    """
    item = section.__dataclass_fields__[name]
    kind = types_of(section)[name]
    declaration = declared(item)
    chosen: Any = item.default
    choices = declaration.choices
    shown = (explanation or declaration.explanation).replace("%", "%%")
    argument: dict[str, Any] = {"default": chosen}

    if kind.content == Scalar(bool):
        argument = {"action": "store_false" if chosen else "store_true", "dest": name}
    elif isinstance(kind.content, ListOf) and declaration.alone:
        shown += " May be repeated."
        argument |= {"action": _Repeated, "type": value_of(str, declaration), "metavar": "NAME"}
    elif isinstance(kind.content, ListOf):
        shown += (
            " Separate them with commas"
            if choices is None
            else " Known: %(known)s. Separate them with commas"
        )
        if chosen or choices is not None:
            shown += f" (default: {'all' if chosen is None else ','.join(chosen)})"
        shown += "."
        argument |= {"type": different_names(choices), "metavar": "NAMES"}
    elif isinstance(kind.content, Scalar):
        scalar = kind.content.kind
        if is_required(item):
            shown += f" (required without {unless})"
        elif not kind.is_optional:
            shown += f" (default: {chosen}{defaults_in_configs(item)})"

        if choices is not None:
            argument["choices"] = choices
        else:
            argument["type"] = value_of(scalar, declaration)

        if scalar is not str:
            argument["metavar"] = "N"
        elif declaration.pattern is None and choices is None:
            argument["metavar"] = "NAME"
        elif declaration.pattern == LANGUAGE_PATTERN:
            argument["metavar"] = "CODE"

    action = parser.add_argument(flag_of(item, prefix), **{**argument, **settings})
    # what packages add to the choices is looked up only when help is shown
    action.known, action.help = choices, shown  # type: ignore[attr-defined]


def flag_of(item: Field[Any], prefix: str = "") -> str:
    """Return the option for a key, which negates a key that is true by default."""
    negation = "no-" if item.default is True else ""
    return f"--{negation}{prefix}{item.name.replace('_', '-')}"


def add_chosen_section(
    parser: argparse.ArgumentParser, arguments: Sequence[str], option: str, choices: Mapping[str, Any]
) -> None:
    """Add the options of the section that `option` names on the command line, as in ``--tuner mert``.

    Modules of `itersel.cli` name the option and its choices for a step in `CHOSEN`.
    """
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    first.add_argument(f"--{option}", default=parser.get_default(option), dest="name")

    name = None
    with contextlib.suppress(argparse.ArgumentError):
        name = first.parse_known_args(arguments)[0].name

    if name is not None and name in choices:
        add_section_arguments(parser.add_argument_group(f"{option} {name}"), choices[name])


class _Repeated(argparse.Action):
    """Add a value to a tuple, which `argparse` has no action for."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, (*getattr(namespace, self.dest, ()), values))


def refuse(text: str, wanted: str) -> NoReturn:
    """Raise the error for an option whose value is not `wanted`."""
    raise argparse.ArgumentTypeError(f"is '{text}', must be {wanted}")


def value_of(kind: type, declaration: Declaration) -> Callable[[str], Any]:
    """Return a parser of text or numbers that a key can have."""

    def parse(text: str) -> Any:
        value = as_usual(declaration, _number(kind, text))
        instead = allowed_instead(declaration, kind, value)
        if instead is not None:
            refuse(text, instead)
        return value

    return parse


def _number(kind: type, text: str) -> int | float | str:
    """Return a number if one is wanted and this is one, otherwise the text."""
    # int() alone would accept '1_000' and digits of other scripts
    if kind is int and re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    if kind is float:
        with contextlib.suppress(ValueError):
            return parse_number(text)
    return text


def whole(minimum: int, maximum: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers within limits."""
    return value_of(int, Declaration(minimum=minimum, maximum=maximum))


def names(text: str) -> tuple[str, ...]:
    """Parse names separated by commas; there may be none."""
    return tuple(filter(None, text.split(",")))


def different_names(known: Collection[str] | None) -> Callable[[str], tuple[str, ...]]:
    """Return a parser of names separated by commas: of different known ones or none, or of any."""

    def parse(text: str) -> tuple[str, ...]:
        found = names(text)
        if known is None and not all(text.split(",")):
            refuse(text, "a comma-separated list of names")
        if known is not None and (len({*found}) != len(found) or not all(name in known for name in found)):
            refuse(text, f"a comma-separated list of different names out of {', '.join(known)}")
        return found

    return parse
