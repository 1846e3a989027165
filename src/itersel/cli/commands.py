"""The commands as parsers: one is initialised when it is used, and gets its options from its module."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from itersel.cli.parser import Parser
from itersel.config.command_line import add_chosen_section


class ListedParser(Parser):
    """The parser of a command that most command lines only list: it is initialised when first used.

    For all commands, that would take longer than everything else that happens before a command runs.
    """

    def __init__(self, **settings: Any) -> None:
        self._settings = settings

    def __getattr__(self, name: str) -> Any:
        """Initialise the parser, because it lacks an attribute."""
        settings = vars(self).pop("_settings", None)
        if settings is None:
            raise AttributeError(name)
        # such as a description
        changed = dict(vars(self))
        super().__init__(**settings)
        vars(self).update(changed)
        return getattr(self, name)


def add_command(
    parser: argparse.ArgumentParser,
    name: str,
    module: str,
    arguments: Sequence[str] = (),
    is_full: bool = False,
) -> ModuleType:
    """Add the options of a command, and what runs it; returns its module in `itersel.cli`.

    The command `warm-up` has functions ``_add_warm_up`` and ``_warm_up``. If the module's `PARTS` name parts
    of the command, such as ``report page``, with a line of help, these have such functions instead:
    ``_add_page`` and ``_page``. Some options depend on the value of another one, which the module's `CHOSEN`
    names: those that fit the given `arguments` are added, or all of them if `is_full`. Unless the module's
    `RUNS_KERNELS` is false, all kernels are compiled before a command runs (`warm_up.warm_up_once`).
    """
    command = importlib.import_module(f"itersel.cli.{module}")
    parsers = {name: parser}
    listed = getattr(command, "PARTS", {}).items()
    prefix = f"{name} "
    parts = {one.removeprefix(prefix): summary for one, summary in listed if one.startswith(prefix)}
    if parts:
        added = parser.add_subparsers(dest="part", metavar="PART", required=True)
        parsers = {one: added.add_parser(one, help=summary) for one, summary in parts.items()}

    for one, its_parser in parsers.items():
        function = one.replace("-", "_")
        getattr(command, f"_add_{function}")(its_parser)
        runs_kernels = getattr(command, "RUNS_KERNELS", True)
        its_parser.set_defaults(run=getattr(command, f"_{function}", None), runs_kernels=runs_kernels)

    option, choices = getattr(command, "CHOSEN", {}).get(name, ("", ()))
    if option and is_full:
        # they share options
        parser.conflict_handler = "resolve"
        for choice in choices:
            add_chosen_section(parser, [f"--{option}", choice], option, choices)
    elif option:
        add_chosen_section(parser, arguments, option, choices)

    return command
