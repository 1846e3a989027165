"""``itersel config``: check a config; print its schema, documentation and a commented template."""

from __future__ import annotations

import argparse
import sys

from itersel.cli.arguments import output_file
from itersel.errors import InputError, located
from itersel.project import SCHEMA
from itersel.storage.files import STANDARD_STREAM, open_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sub-steps check, template, schema and documentation."""
    steps = parser.add_subparsers(dest="substep", metavar="SUBSTEP", required=True)
    check = steps.add_parser("check", help="check a config file")
    check.description = (
        "Check keys and values, read all text that the config names, and estimate the cost of the run, "
        "without language models. Downloads are not checked."
    )
    check.add_argument("config", help="YAML or JSON file")
    check.add_argument("--no-text", action="store_true", help="do not read the text")
    check.set_defaults(run=_check)
    template = steps.add_parser("template", help="print a config file that explains every key")
    template.add_argument("config", help="config file that supplies the values")
    template.add_argument(
        "--schema",
        metavar="PATH",
        default=str(SCHEMA),
        help="JSON schema with which editors check the file (default: the installed one)",
    )
    schema = steps.add_parser("schema", help="print the JSON schema, for editors")
    documentation = steps.add_parser("documentation", help="print the documentation of all keys, as Markdown")
    for step, run in ((template, _template), (schema, _schema), (documentation, _documentation)):
        step.add_argument(
            "--output",
            type=output_file,
            default=STANDARD_STREAM,
            help="output file (default: standard output)",
        )
        step.set_defaults(run=run)


def _check(options: argparse.Namespace) -> None:
    from itersel.config import load_config
    from itersel.config.checks import warnings
    from itersel.config.file_checks import check_files_exist, check_sizes, read_texts
    from itersel.plan.estimates import estimate
    from itersel.progress import duration

    config = load_config(options.config)
    for warning in warnings(config):
        print(f"{options.config}: warning: {warning}", file=sys.stderr)
    try:
        for warning in check_files_exist(config):
            print(f"{options.config}: warning: {warning}", file=sys.stderr)
        sizes, suspicious = ({}, []) if options.no_text else read_texts(config)
        for warning in suspicious:
            print(f"{options.config}: warning: {warning}", file=sys.stderr)
        check_sizes(sizes)
    except InputError as error:
        raise located(error, options.config) from None
    print(f"{options.config}: valid; experiments: {', '.join(config.experiments)}")
    for split, size in sizes.items():
        print(f"  {split}: {size.sentences:,} sentences, {size.words:,} words")
    cost = estimate(config, sizes)
    if cost is not None:
        print(
            f"  rough estimate: {cost.jobs:,} jobs of extraction, training and decoding, "
            f"{duration(3600 * cost.hours)} of processor time, "
            f"{_size(cost.disk)} of grammars, {_size(cost.memory)} of memory per job"
        )


def _size(count: float) -> str:
    """Return a number of bytes in readable form."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def _template(options: argparse.Namespace) -> None:
    from itersel.config import load_config
    from itersel.config.rendering import commented_yaml

    _write(options.output, commented_yaml(load_config(options.config), options.schema))


def _schema(options: argparse.Namespace) -> None:
    from itersel.config.rendering import schema_text

    _write(options.output, schema_text())


def _documentation(options: argparse.Namespace) -> None:
    from itersel.config.rendering import documentation

    _write(options.output, documentation())


def _write(output: str, text: str) -> None:
    with open_output(output) as stream:
        stream.write(text)
