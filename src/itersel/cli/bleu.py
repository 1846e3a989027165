"""``itersel bleu`` and ``itersel compare``: BLEU, and significance of the differences from a baseline."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_randomization_arguments, add_scoring


def _add_bleu(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compute lowercased BLEU as in mteval-v11b, with sacrebleu. Prints one line per system (BLEU, the "
        "precisions of 1-grams to 4-grams, the brevity penalty, the file), then sacrebleu's signature."
    )
    add_scoring(parser)
    parser.add_argument(
        "systems", nargs="+", metavar="SYSTEM", help="translations, one per line (- is standard input)"
    )


def _bleu(options: argparse.Namespace) -> None:
    from itersel.evaluate.metrics import (
        make_bleu,
        read_references,
        read_translations,
        score_corpus,
        signature,
    )

    references = read_references(options.reference)
    metric = make_bleu(references, options.tokenize)
    systems = [read_translations(path, references, options.reference[0]) for path in options.systems]
    print("BLEU\tprecisions\tbrevity_penalty\tsystem")
    for path, translations in zip(options.systems, systems, strict=True):
        score = score_corpus(metric, translations)
        precisions = "/".join(f"{precision:.1f}" for precision in score.precisions)
        print(f"{score.bleu:.2f}\t{precisions}\t{score.brevity_penalty:.3f}\t{path}")
    print(f"# {signature(metric)}")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compute lowercased BLEU of a baseline and other systems, and for each system the p-value of its "
        "difference from the baseline by approximate randomization (paired, two-sided)."
    )
    add_scoring(parser)
    add_randomization_arguments(parser)
    parser.add_argument("baseline", metavar="BASELINE", help="translations of the baseline, one per line")
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help="translations of the other systems")


def _compare(options: argparse.Namespace) -> None:
    from itersel.evaluate.metrics import (
        make_bleu,
        read_references,
        read_translations,
        score_corpus,
        signature,
        tokenized_bleu,
    )
    from itersel.evaluate.significance import p_values

    references = read_references(options.reference)
    metric = make_bleu(references, options.tokenize)
    paths = [options.baseline, *options.systems]
    texts = {path: read_translations(path, references, options.reference[0]) for path in paths}
    baseline = texts[options.baseline]
    others = {path: texts[path] for path in options.systems}
    p_value = p_values(tokenized_bleu(metric), baseline, others, options.trials, options.seed)
    observed = score_corpus(metric, baseline).bleu
    print("BLEU\tdifference\tp\tsystem")
    print(f"{observed:.2f}\t\t\t{options.baseline}")
    for path, translations in others.items():
        bleu = score_corpus(metric, translations).bleu
        print(f"{bleu:.2f}\t{bleu - observed:+.2f}\t{p_value[path]:.4f}\t{path}")
    print(f"# {signature(metric)}|ar:{options.trials}|seed:{options.seed}")
