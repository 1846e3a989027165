"""``itersel config``: check a config; print its schema, documentation and a commented template."""

from __future__ import annotations

import argparse
import sys

from itersel.cli.arguments import output_file
from itersel.storage.files import STANDARD_STREAM, open_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sub-steps check, template, schema and documentation."""
    steps = parser.add_subparsers(dest="substep", metavar="SUBSTEP", required=True)
    check = steps.add_parser("check", help="check a config file")
    check.add_argument("config", help="YAML or JSON file")
    check.set_defaults(run=_check)
    template = steps.add_parser("template", help="print a config file that explains every key")
    template.add_argument("config", help="config file that supplies the values")
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

    config = load_config(options.config)
    for warning in warnings(config):
        print(f"{options.config}: warning: {warning}", file=sys.stderr)
    print(f"{options.config}: fine; experiments: {', '.join(config.experiments)}")


def _template(options: argparse.Namespace) -> None:
    from itersel.config import load_config
    from itersel.config.rendering import commented_yaml

    _write(options.output, commented_yaml(load_config(options.config)))


def _schema(options: argparse.Namespace) -> None:
    from itersel.config.rendering import schema_text

    _write(options.output, schema_text())


def _documentation(options: argparse.Namespace) -> None:
    from itersel.config.rendering import documentation

    _write(options.output, documentation())


def _write(output: str, text: str) -> None:
    with open_output(output) as stream:
        stream.write(text)
