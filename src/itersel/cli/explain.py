"""``itersel explain``: how two systems translated the sentences on which they differ most."""

from __future__ import annotations

import argparse
import json

from itersel.cli.arguments import add_options, add_output, add_section_arguments, positive
from itersel.config.search import Search


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Retranslate the test sentences on which a baseline and the best system differ most, and write their "
        "derivations: rules with scores and features, and the word alignment that they imply."
    )
    files = {
        "--results FOLDER": "results of a run: <output>/<name> of its config",
        "--shards": "file that lists the shards of the test set in order, one per line (- is standard input)",
        "--model": "compiled language model",
    }
    add_options(parser, files, required=True)
    add_options(parser, {"--sentences N": "number of sentences (default: 30)"}, type=positive, default=30)
    add_section_arguments(parser, Search, ("pop_limit", "max_span"))
    add_output(parser, "derivations (JSON)", "--output")


def _explain(options: argparse.Namespace) -> None:
    from pathlib import Path

    from itersel.report.page.derivations import explain
    from itersel.storage.files import read_names, write_lines

    search = Search(pop_limit=options.pop_limit, max_span=options.max_span)
    found = explain(
        Path(options.results), read_names(options.shards), options.model, search, options.sentences
    )
    write_lines(options.output, [json.dumps(found, ensure_ascii=False)])
