"""The settings of a command: as one value, or with an option for each key; and the place in the run."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import fields
from typing import Any, TypeVar

from itersel.cli.arguments import add_options
from itersel.config.command_line import add_section_arguments, flag_of, section_of, whole
from itersel.config.settings import read_settings
from itersel.errors import InputError
from itersel.keys import changed, declared, is_required

T = TypeVar("T")

# What help calls the numbers of epochs, iterations, shards and files.
PLACE_LETTERS = {"epoch": "t", "iteration": "i", "shard_number": "z", "file_number": "f"}


def add_settings(parser: argparse._ActionsContainer, kind: type, with_options: bool = False) -> None:
    """Add the option with the settings of a step, which are this dataclass, and perhaps one for each key.

    With options for the keys, `settings_of` returns the settings, else `read_settings`.
    """
    keys = ", ".join(item.name for item in fields(kind) if not declared(item).place)
    given = "YAML or JSON file, as a part of a config, or JSON itself, or - for JSON on standard input"
    added = parser.add_argument("--settings", metavar="FILE", help=f"{given}; keys: {keys}")
    # the reference of commands explains the keys
    added.settings = kind  # type: ignore[attr-defined]
    if with_options:
        before = len(parser._actions)
        add_section_arguments(parser, kind)
        for action in parser._actions[before:]:
            # only what is stated is known to `settings_of`
            action.default = argparse.SUPPRESS


def settings_of(
    kind: type[T], options: argparse.Namespace, with_all_keys: type[T] | None = None, case: str = ""
) -> T:
    """Return the settings of a command that people type, too: from ``--settings``, or from options.

    Parameters
    ----------
    kind
        The settings.
    options
        What is stated on the command line.
    with_all_keys
        The settings with a key for each option of the command, if `kind` lacks some of them.
    case
        When the other keys have no effect, such as ``without --language-model``.

    Raises
    ------
    InputError
        If both are given and differ, if a required option is missing, if a key without effect does not have
        its default, or for a wrong value.
    """
    if options.settings is not None:
        settings = read_settings(kind, options.settings)
        refuse_replaced(settings, options)
    else:
        items = fields(kind)  # type: ignore[arg-type]
        missing = [flag_of(item) for item in items if is_required(item) and item.name not in options]
        if missing:
            raise InputError(f"missing: {' and '.join(missing)} (or --settings)")
        settings = section_of(kind, options)

    if with_all_keys is not None:
        names = {item.name for item in fields(with_all_keys)}  # type: ignore[arg-type]
        used = {name: value for name, value in vars(settings).items() if name in names}
        others = {name: getattr(options, name) for name in names.difference(used) if name in options}
        refuse_unused(with_all_keys(**used, **others), case, used=used)
    return settings


def refuse_replaced(settings: Any, options: argparse.Namespace) -> None:
    """Raise an InputError for options that state other values than the settings, which are given, too."""
    stated = [item for item in fields(settings) if item.name in options]
    different = [item for item in stated if getattr(options, item.name) != getattr(settings, item.name)]
    if different:
        raise InputError(f"--settings replaces {', '.join(map(flag_of, different))}; give only one of them")


def refuse_unused(section: Any, case: str, *, used: Collection[str] = (), prefix: str = "") -> None:
    """Raise an InputError for a key that has no effect in a case, unless it has its default (see `changed`).

    Keys that are `used` have an effect; `prefix` is that of the options (see `add_key`).
    """
    unused = [name for name in changed(section) if name not in used]
    if unused:
        flag = flag_of(section.__dataclass_fields__[unused[0]], prefix)
        raise InputError(f"{flag} has no effect {case}; remove it")


def add_place(parser: argparse._ActionsContainer, kind: type) -> None:
    """Add options for the place in a run, such as the epoch: the keys with a `place` in this dataclass."""
    for item in fields(kind):
        declaration = declared(item)
        if declaration.place:
            explanation = declaration.explanation.removesuffix(".")
            option = f"--{item.name.replace('_', '-')} {PLACE_LETTERS[item.name]}"
            shown = f"{explanation[0].lower()}{explanation[1:]} (default: {item.default})"
            # it counts from there
            assert isinstance(declaration.minimum, int)
            add_options(parser, {option: shown}, type=whole(declaration.minimum))
