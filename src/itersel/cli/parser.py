"""The parser of command lines, which refuses abbreviations, old names, and a file that is written twice."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from itersel.cli.argument_types import output_file
from itersel.errors import InputError, suggest

# Steps that were renamed (CHANGELOG.md), and their new names.
RENAMED_STEPS: Mapping[str, str] = {"shard": "divide"}
# Options that were renamed (CHANGELOG.md), and their new names. A parser that has an option of the new name
# refuses the old one, unless that is another of its options.
RENAMED_OPTIONS: Mapping[str, str] = {
    "--bleu": "--sentence-bleu",
    "--folder": "--divided-lists",
    "--held-out-modules": "--held-out-labels",
    "--jobs": "--processes",
    "--models": "--text-models",
    "--modules": "--only-labels",
    "--scored": "--devtest-labels",
    "--scores": "--user-score",
    "--shard": "--sentences",
    "--shard-number": "--file-number",
    "--target": "--reference",
    "--task": "--labels",
    "--weights": "--start",
}


class Parser(argparse.ArgumentParser):
    """A parser that rejects abbreviated options: a new option must not change the meaning of a script.

    The old name of an option or a step is refused with its new name. Two outputs must be different files.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments, unless one of them is an old name of an option."""
        for argument in args or ():
            option = argument.partition("=")[0]
            renamed = RENAMED_OPTIONS.get(option)
            if renamed in self._option_string_actions and option not in self._option_string_actions:
                self.error(f"{option} is now called {renamed}")

        found, rest = super().parse_known_args(args, namespace)
        self._check_outputs(found)
        return found, rest

    def _check_outputs(self, options: argparse.Namespace) -> None:
        """Refuse options that write the same file: one of the outputs would be lost."""
        writers: dict[str, str] = {}
        for action in self._actions:
            if action.type is not output_file:
                continue

            paths = getattr(options, action.dest, None) or ()
            for path in [paths] if isinstance(paths, str) else paths:
                # a device, such as /dev/null, may be written by several
                if os.path.exists(path) and not os.path.isfile(path):
                    continue
                option = "/".join(action.option_strings) or action.dest
                file = path if path == "-" else os.path.realpath(path)
                if file in writers:
                    raise InputError(f"{writers[file]} and {option} write the same file, '{path}'")
                writers[file] = option

    def error(self, message: str) -> NoReturn:
        """Exit with a usage message, and suggest a command with a similar name."""
        chosen = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if chosen:
            names = re.findall(r"[\w.-]+", chosen[2])
            renamed = RENAMED_STEPS.get(chosen[1])
            if renamed in names:
                message = f"{chosen[1]} is now called {renamed}"
            elif similar := suggest(chosen[1], names):
                message = f"{message[: chosen.start()]}invalid choice: '{chosen[1]}'{similar}"
        super().error(message)
