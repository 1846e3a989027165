"""``itersel --print-completion SHELL``: what a shell needs to complete commands, options and file names."""

from __future__ import annotations

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "fish")


class PrintCompletion(argparse.Action):
    """Print the completion script for a shell, and exit; `const` returns the parser with all options."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Print it."""
        import shtab

        print(shtab.complete(_with_files(_with_snakemake(self.const())), shell=values))
        parser.exit()


def _with_snakemake(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Let ``itersel run`` have Snakemake's options; returns the parser."""
    from snakemake.cli import get_argument_parser

    [commands] = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    run = commands.choices["run"]
    snakemake = get_argument_parser()
    snakemake.prog = run.prog
    for action in snakemake._actions:
        # shells show a line per option, where Snakemake has paragraphs
        action.help = action.help and action.help.split(". ")[0]
    commands.choices["run"] = snakemake
    return parser


def _with_files(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Let all options that take text complete the names of files; returns the parser."""
    import shtab

    parsers = [parser]
    for one in parsers:
        for action in one._actions:
            if isinstance(action, argparse._SubParsersAction):
                parsers += action.choices.values()
            elif action.choices is None and action.nargs != 0:
                # which of them are files, argparse does not know
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser
