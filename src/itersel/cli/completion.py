"""``itersel --print-completion SHELL``: what a shell needs to complete steps, options and file names."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from itersel.cli.arguments import add_step
from itersel.config.command_line import add_chosen_section

SHELLS = ("bash", "zsh", "fish")


class PrintCompletion(argparse.Action):
    """Print the completion script for a shell, and exit."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Print it."""
        import shtab

        print(shtab.complete(full_parser(parser, self.const), shell=values))
        parser.exit()


def full_parser(parser: argparse.ArgumentParser, modules: Mapping[str, str]) -> argparse.ArgumentParser:
    """Give the steps of a parser, which have none, all options of all learners and tuners; returns it."""
    import shtab

    (steps,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for name, step in steps.choices.items():
        # learners share options
        step.conflict_handler = "resolve"
        command = add_step(step, name, modules[name])
        option, choices = getattr(command, "CHOSEN", {}).get(name, ("", ()))
        for choice in choices:
            add_chosen_section(step, [f"--{option}", choice], option, choices)
        parsers = [step]
        for one in parsers:
            for action in one._actions:
                if isinstance(action, argparse._SubParsersAction):
                    parsers += action.choices.values()
                elif action.choices is None and action.nargs != 0:
                    # which of them are files, argparse does not know
                    action.complete = shtab.FILE
    return parser
