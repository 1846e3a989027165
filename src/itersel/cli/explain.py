"""``itersel explain``: how two systems translated the sentences on which they differ most."""

from __future__ import annotations

import argparse
import json

from itersel.cli.arguments import add_section_arguments, output_file, positive
from itersel.config.search import Search


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Retranslate the test sentences on which a baseline and the best system differ most, and write their "
        "derivations: rules with scores and features, and the word alignment that they imply."
    )
    parser.add_argument(
        "--results", required=True, metavar="FOLDER", help="results of a run: <output>/<name> of its config"
    )
    parser.add_argument(
        "--shards",
        required=True,
        help="file that lists the shards of the test set in order, one per line (- is standard input)",
    )
    parser.add_argument("--model", required=True, help="compiled language model")
    parser.add_argument(
        "--sentences", type=positive, default=30, metavar="N", help="number of sentences (default: 30)"
    )
    add_section_arguments(parser, Search, ("pop_limit", "max_span"))
    parser.add_argument("--output", required=True, type=output_file, help="derivations (JSON)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Decode, and write the derivations."""
    from pathlib import Path

    from itersel.report.page.derivations import explain
    from itersel.storage.files import read_names, write_lines

    search = Search(pop_limit=options.pop_limit, max_span=options.max_span)
    found = explain(
        Path(options.results), read_names(options.shards), options.model, search, options.sentences
    )
    write_lines(options.output, [json.dumps(found, ensure_ascii=False)])
