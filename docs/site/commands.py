"""The reference of the command line, made of the parsers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from itersel.cli.main import COMMANDS, make_parser
from itersel.cli.parser import Parser
from itersel.cli.tune import CHOSEN
from itersel.config.command_line import add_chosen_section
from itersel.config.rendering import key_table
from itersel.keys import declared, forms_of

# Sections of settings that docs/config.md explains.
OF_CONFIGS = ("learner", "mixing", "tuner")


def command_reference() -> str:
    """Return the page: every command with its options, and the options of each tuner."""
    lines = [
        "# Command line",
        "",
        "`-` stands for standard input or output; files whose names end in `.gz`, `.xz` or `.zst` are read "
        "and written compressed. The exit status is 0, or 1 for a known error (one line that says what to "
        "do), or 2 for wrong usage. Steps that only the workflow runs are parts of `itersel step`; "
        "`snakemake --dry-run --printshellcmds` prints their commands.",
        "",
        "`itersel --print-completion bash` prints a script that completes commands, options and file names, "
        "and Snakemake's options of `itersel run`; also for `zsh` and `fish`.",
        "",
    ]
    parsers = _parts_of(make_parser(is_full=True))
    for name in COMMANDS:
        chosen: tuple[str, Mapping[str, Any]] = CHOSEN.get(name, ("", {}))
        lines += [f"## itersel {name}", "", *_command(name, parsers[name], *chosen)]
    return "\n".join(lines)


def _command(
    name: str, parser: argparse.ArgumentParser, option: str, choices: Mapping[str, Any]
) -> Iterator[str]:
    yield from _describe(parser, 3, [f"{option} {choice}" for choice in choices])
    for choice in choices:
        yield from _chosen(name, option, choices, choice)


def _chosen(name: str, option: str, choices: Mapping[str, Any], choice: str) -> Iterator[str]:
    """Yield the options that only one tuner has."""
    parser = Parser(prog=f"itersel {name}")
    add_chosen_section(parser, [f"--{option}", choice], option, choices)
    yield from (f"### --{option} {choice}", "")
    yield from _options([action for action in parser._actions if action.dest != "help"])


def _parts_of(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    (parts,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return parts.choices


def _describe(parser: argparse.ArgumentParser, level: int, skipped: Sequence[str] = ()) -> Iterator[str]:
    """Yield description, usage and options of a parser, and of its parts below headings.

    Groups of options whose titles are in `skipped` are left out.
    """
    if parser.description:
        yield from (_sentence(_escape(parser.description)), "")
    steps = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not steps:
        yield from ("```text", _usage(parser), "```", "")
    for group in parser._action_groups:
        actions = [
            action
            for action in group._group_actions
            if action.dest != "help" and not isinstance(action, argparse._SubParsersAction)
        ]
        title = group.title or ""
        if actions and title not in skipped:
            if title not in ("options", "positional arguments"):
                yield from (f"**{title[:1].upper()}{title[1:]}**", "")
            yield from _options(actions)
            for action in actions:
                if kind := getattr(action, "settings", None):
                    yield from _keys(kind)
    for action in steps:
        summaries = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, step in action.choices.items():
            yield from (f"{'#' * level} {parser.prog} {name}", "")
            if not step.description:
                step.description = summaries.get(name, "")
            yield from _describe(step, level + 1)


def _keys(kind: Any) -> Iterator[str]:
    """Yield the keys of the settings of a step, and the forms of sections that no config has."""
    own = [item for item in fields(kind) if declared(item).forms is not None]
    others = [item.name for item in own if item.name in OF_CONFIGS]
    more = f" ({' and '.join(others)}: see [config.md](config.md))" if others else ""
    yield from (f"Keys of `--settings`{more}:", "", *key_table(kind), "")
    for item in own:
        for name, form in {} if item.name in OF_CONFIGS else forms_of(item).items():
            yield from (f"`{item.name}: {{name: {name}}}`: {form.__doc__}", "", *key_table(form), "")


def _usage(parser: argparse.ArgumentParser) -> str:
    return re.sub(r"\s+", " ", parser.format_usage()).removeprefix("usage: ").replace(" [-h]", "").strip()


def _options(actions: list[argparse.Action]) -> Iterator[str]:
    yield from ("| option | meaning |", "| --- | --- |")
    for action in actions:
        formatter = argparse.HelpFormatter("")
        shown = formatter._format_action_invocation(action)
        meaning = formatter._expand_help(action) if action.help else ""
        if action.required and action.option_strings:
            meaning += " (required)"
        yield f"| `{shown}` | {_escape(meaning)} |"
    yield ""


def _escape(text: str) -> str:
    """Return a text in which Markdown finds no markup but code."""
    parts = " ".join(text.split()).split("`")
    return "`".join(part if i % 2 else _plain(part) for i, part in enumerate(parts))


def _plain(text: str) -> str:
    return re.sub(r"([|*_\[\]])", r"\\\1", text.replace("<", "&lt;").replace(">", "&gt;"))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ":")) else ".")
