"""``itersel --print-completion SHELL``: what a shell needs to complete steps, options and file names."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from typing import Any

from itersel.cli.arguments import Parser

SHELLS = ("bash", "zsh", "fish")
# Options that decide which further options a step has.
_CHOOSING = ("--learner", "--tuner")


class PrintCompletion(argparse.Action):
    """Print the completion script for a shell, and exit."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Print it; no step is needed."""
        import shtab

        print(shtab.complete(full_parser(), shell=values))
        parser.exit()


def full_parser() -> argparse.ArgumentParser:
    """Return a parser of all steps with all their options, those of every learner and tuner included."""
    import shtab

    from itersel.cli.main import STEPS, make_parser

    parser = make_parser()
    (steps,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for name, step in steps.choices.items():
        command = importlib.import_module(f"itersel.cli.{STEPS[name][0]}")
        # learners share options
        step.conflict_handler = "resolve"
        command.add_arguments(step)
        for option, choice in _choices(step):
            command.add_chosen_arguments(step, [option, choice])
        for action in _all_actions(step):
            if action.choices is None and action.nargs != 0:
                # which of the others are files, argparse does not know
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser


def _choices(parser: argparse.ArgumentParser) -> list[tuple[str, str]]:
    return [
        (option, choice)
        for action in parser._actions
        for option in action.option_strings
        if option in _CHOOSING
        for choice in action.choices or ()
    ]


def _all_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for step in action.choices.values():
                yield from _all_actions(step)
        yield action


def add_print_completion(parser: Parser) -> None:
    """Add the option to the parser of the command line."""
    parser.add_argument(
        "--print-completion",
        action=PrintCompletion,
        choices=SHELLS,
        metavar="SHELL",
        help=f"print the completion script for {', '.join(SHELLS[:-1])} or {SHELLS[-1]}, and exit",
    )
