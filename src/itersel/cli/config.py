"""``itersel config``: check a config; print it with all values, its schema and its documentation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from itersel.cli.shared_options import add_text_output
from itersel.errors import located
from itersel.plan.estimates import estimate_cost
from itersel.storage.files import write_lines

# See `add_command`.
RUNS_KERNELS = False

PARTS = {
    "config check": "check a config file",
    "config show": "print the value of every key that the jobs of a run use",
    "config schema": "print the JSON schema, for editors",
    "config documentation": "print the documentation of all keys, as Markdown",
}

_add_schema = add_text_output
_add_documentation = add_text_output


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Check keys and values, read all text that the config names, and estimate the cost of the run, "
        "without language models. Downloads are not checked."
    )
    parser.add_argument("config", nargs="+", help="YAML or JSON file; later files change values of the first")
    parser.add_argument("--no-text", action="store_true", help="do not read the text")


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print a config with the value of every key that the jobs of a run use, as YAML. Read again, it is "
        "the same config."
    )
    parser.add_argument("config", nargs="+", help="YAML or JSON file; later files change values of the first")
    add_text_output(parser)


def _check(options: argparse.Namespace) -> None:
    from itersel.config.checks import warnings
    from itersel.config.file_checks import check_files_exist, check_given_texts, check_sizes
    from itersel.config.name_checks import check_names
    from itersel.config.reading import load_config
    from itersel.config.splits import has_given_lists
    from itersel.plan.checks import check_user_scores, describe_lists
    from itersel.run.processor_time import format_hours

    name = ", ".join(options.config)
    config = load_config(*options.config)

    def warn(problems: Iterable[str]) -> None:
        for problem in problems:
            print(f"{name}: warning: {problem}", file=sys.stderr)

    warn(warnings(config))
    with located(name):
        check_names(config)
        warn(check_files_exist(config))
        is_read = not (options.no_text or has_given_lists(config))
        sizes, suspicious = check_given_texts(config) if is_read else ({}, [])
        warn(suspicious)
        check_sizes(sizes)
        if is_read:
            check_user_scores(config, {split: size.total() for split, size in sizes.items()})
        described = list(describe_lists(config)) if has_given_lists(config) and not options.no_text else []

    print(f"{name}: valid; experiments: {', '.join(config.experiments)}")
    for line in described:
        print(f"  {line}")
    for split, size in sizes.items():
        print(f"  {split}: {size.total():,} sentences, {size.words:,} words")

    cost = estimate_cost(config, sizes)
    if cost is None and is_read:
        print("  no estimate: some of the text is downloaded by the run")
    if cost is not None:
        print(
            f"  rough estimate: {cost.jobs:,} jobs of extraction, training and decoding, "
            f"{format_hours(cost.hours)} of processor time, "
            f"{_size(cost.disk)} of grammars, {_size(cost.memory)} of memory per job"
        )


def _size(count: float) -> str:
    """Return a number of bytes in readable form."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def _show(options: argparse.Namespace) -> None:
    from itersel.config.reading import load_config
    from itersel.config.rendering import plain_yaml

    write_lines(options.output, [plain_yaml(load_config(*options.config)).rstrip()])


def _schema(options: argparse.Namespace) -> None:
    from itersel.config.rendering import json_schema
    from itersel.storage.json_files import write_json

    write_json(options.output, json_schema(), indent=2, is_ascii=False)


def _documentation(options: argparse.Namespace) -> None:
    from itersel.config.rendering import documentation

    write_lines(options.output, [documentation().rstrip()])
