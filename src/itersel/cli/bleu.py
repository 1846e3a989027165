"""``itersel bleu``: BLEU of one or more systems."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_reference, add_tokenize


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Compute lowercased BLEU as in mteval-v11b, with sacrebleu. Prints one line per system (BLEU, the "
        "precisions of 1-grams to 4-grams, the brevity penalty, the file), then sacrebleu's signature."
    )
    add_reference(parser)
    add_tokenize(parser)
    parser.add_argument(
        "systems", nargs="+", metavar="SYSTEM", help="translations, one per line (- is standard input)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print BLEU of systems."""
    from itersel.evaluate.bleu import make_bleu, read_references, read_translations, score_corpus, signature

    references = read_references(options.reference)
    metric = make_bleu(references, options.tokenize)
    systems = [read_translations(path, references, options.reference[0]) for path in options.systems]
    print("BLEU\tprecisions\tbrevity_penalty\tsystem")
    for path, translations in zip(options.systems, systems, strict=True):
        score = score_corpus(metric, translations)
        precisions = "/".join(f"{precision:.1f}" for precision in score.precisions)
        print(f"{score.bleu:.2f}\t{precisions}\t{score.brevity_penalty:.3f}\t{path}")
    print(f"# {signature(metric)}")
