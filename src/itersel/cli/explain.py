"""``itersel step explain``: show how two systems translated the sentences on which they differ most."""

from __future__ import annotations

import argparse
import json

from itersel.cli.arguments import add_options, add_output
from itersel.cli.settings import add_settings
from itersel.config.report_steps import ExplainSettings
from itersel.config.settings import read_settings


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Retranslate the test sentences on which a baseline and the best system differ most, and write their "
        "derivations: rules with scores and features, and the word alignment that they imply."
    )

    files = {
        "--results FOLDER": "results of a run: <output>/<name> of its config",
        "--inputs MANIFEST": "the pieces of the test set in order, one per line (- is standard input)",
        "--language-model": "compiled language model",
    }
    add_options(parser, files, required=True)

    add_settings(parser, ExplainSettings)
    add_output(parser, "derivations (JSON)", "--output")


def _explain(options: argparse.Namespace) -> None:
    from pathlib import Path

    from itersel.report.page.derivations import explain
    from itersel.storage.files import read_manifest, write_lines

    settings = read_settings(ExplainSettings, options.settings)
    pieces = read_manifest(options.inputs)
    found = explain(Path(options.results), pieces, options.language_model, settings)
    write_lines(options.output, [json.dumps(found, ensure_ascii=False)])
