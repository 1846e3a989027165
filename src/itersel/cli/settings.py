"""The settings of a command: as one value, or with an option for each key; and the place in the run."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import TypeVar

from itersel.cli.arguments import add_options
from itersel.config.command_line import add_section_arguments, flag_of, section_of, whole
from itersel.config.settings import read_settings
from itersel.errors import InputError
from itersel.keys import is_required

T = TypeVar("T")

# What help calls the numbers of epochs, iterations, shards and files.
PLACE_LETTERS = {"epoch": "t", "iteration": "i", "shard_number": "z", "file_number": "f"}


def add_settings(parser: argparse._ActionsContainer, kind: type, with_options: bool = False) -> None:
    """Add the option with the settings of a step, which are this dataclass, and perhaps one for each key.

    With options for the keys, `settings_of` returns the settings, else `read_settings`.
    """
    keys = ", ".join(item.name for item in fields(kind) if "place" not in item.metadata)
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


def settings_of(kind: type[T], options: argparse.Namespace) -> T:
    """Return the settings of a command that people type, too: from ``--settings``, or from options.

    Raises
    ------
    InputError
        If both are given, if a required option is missing, or for a wrong value.
    """
    items = fields(kind)  # type: ignore[arg-type]
    stated = [flag_of(item) for item in items if item.name in options]
    if options.settings is not None:
        if stated:
            raise InputError(f"--settings replaces {', '.join(stated)}; give only one of them")
        return read_settings(kind, options.settings)

    missing = [flag_of(item) for item in items if is_required(item) and item.name not in options]
    if missing:
        raise InputError(f"missing: {' and '.join(missing)} (or --settings)")
    return section_of(kind, options)


def add_place(parser: argparse._ActionsContainer, kind: type) -> None:
    """Add options for the place in a run, such as the epoch: the keys with a `place` in this dataclass."""
    for item in fields(kind):
        if "place" in item.metadata:
            explanation = item.metadata["explanation"].removesuffix(".")
            option = f"--{item.name.replace('_', '-')} {PLACE_LETTERS[item.name]}"
            shown = f"{explanation[0].lower()}{explanation[1:]} (default: {item.default})"
            add_options(parser, {option: shown}, type=whole(item.metadata["minimum"]))
