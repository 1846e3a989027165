"""``itersel bleu`` and ``itersel compare``: scores, and significance of the differences from a baseline."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from itersel.cli.argument_types import named_file
from itersel.cli.arguments import add_options
from itersel.cli.shared_options import add_tokenizer
from itersel.config.command_line import add_section_arguments, different_names, refuse, section_of
from itersel.config.evaluation import SignificanceSettings
from itersel.errors import InputError
from itersel.evaluate.names import (
    DEFAULT_METRICS,
    DEFAULT_TOKENIZER,
    OF_TEXT,
    RETOKENIZATIONS,
    TOKENIZED_BLEU,
    decimals_of,
    title_of,
)

if TYPE_CHECKING:
    from itersel.evaluate.compare import MetricScores

# See `add_command`.
RUNS_KERNELS = False


def _add_bleu(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        f"Compute {title_of(TOKENIZED_BLEU)}, which is lowercased, as in mteval-v11b. Prints one line per "
        "system (BLEU, precisions of 1-grams to 4-grams, brevity penalty, file), then sacrebleu's signature."
    )
    _add_reference(parser)
    kinds = f"{DEFAULT_TOKENIZER}, as in mteval-v11b, or none to keep the tokens (default: %(default)s)"
    retokenize = {"--retokenize": f"sacrebleu's tokenizer, applied to the tokenised text: {kinds}"}
    add_options(parser, retokenize, choices=RETOKENIZATIONS, default=DEFAULT_TOKENIZER)
    add_options(parser, {"systems SYSTEM": "translations, one per line (- is standard input)"}, nargs="+")


def _add_reference(parser: argparse.ArgumentParser) -> None:
    """Add the option for the references of one text."""
    reference = "reference translation, one sentence per line, plain or compressed; may be repeated"
    add_options(parser, {"--reference FILE": reference}, required=True, action="append")


def _bleu(options: argparse.Namespace) -> None:
    from itersel.evaluate.metrics import make_tokenized_bleu, score_corpus
    from itersel.evaluate.texts import read_references, read_translations

    references = read_references(options.reference)
    metric = make_tokenized_bleu(references, options.retokenize)
    systems = [read_translations(path, references, options.reference[0]) for path in options.systems]
    print(f"{title_of(TOKENIZED_BLEU)}\tprecisions\tbrevity_penalty\tsystem")
    for path, translations in zip(options.systems, systems, strict=True):
        score = score_corpus(metric, translations)
        precisions = "/".join(f"{precision:.1f}" for precision in score.precisions)
        print(f"{score.bleu:.2f}\t{precisions}\t{score.brevity_penalty:.3f}\t{path}")
    print(f"# sacrebleu {metric.signature}")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score the outputs of systems with sacrebleu, whose BLEU is smoothed, unlike that of 'itersel tune'. "
        "Prints scores with 95 % intervals (bootstrap), and for each system the p-value of its difference "
        "from the baseline by approximate randomization (paired, two-sided)."
    )

    _add_reference(parser)
    listed = f"{', '.join(OF_TEXT)}, separated by commas (default: {','.join(DEFAULT_METRICS)})"
    metrics = {"--metrics NAMES": f"some of {listed}; lowercased metrics ignore case"}
    add_options(parser, metrics, type=different_metrics, default=DEFAULT_METRICS)
    add_tokenizer(parser)
    user_score = (
        "a score of your own, such as COMET, whose mean is compared: a number for each line of a system, "
        "higher is better; once for each system, in their order"
    )
    add_options(parser, {"--user-score NAME=FILE": user_score}, type=named_file, action="append", default=[])
    add_options(parser, {"--json": "print JSON"}, action="store_true")
    add_section_arguments(parser, SignificanceSettings)

    parser.add_argument("baseline", metavar="BASELINE", help="translations of the baseline, one per line")
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="translations of other systems")


def different_metrics(text: str) -> tuple[str, ...]:
    """Parse different metrics, separated by commas."""
    found = different_names(OF_TEXT)(text.lower())
    if not found:
        refuse(text, f"a list of some of {', '.join(OF_TEXT)}")
    return found


def _compare(options: argparse.Namespace) -> None:
    from itersel.evaluate.compare import compare
    from itersel.evaluate.texts import read_references, read_translations

    references = read_references(options.reference)
    outputs = {}
    for path in (options.baseline, *options.systems):
        if path in outputs:
            raise InputError("is given twice; give each system once", path)
        outputs[path] = read_translations(path, references, options.reference[0])

    how = asdict(section_of(SignificanceSettings, options))
    settings = {name: getattr(options, name) for name in ("metrics", "tokenizer")}
    scores = _user_scores(options.user_score, [*outputs], len(references[0]))
    found = compare(outputs, *references, user_scores=scores, **settings, **how)

    if options.json:
        metrics = [one._asdict() | {"systems": [system._asdict() for system in one.systems]} for one in found]
        about = {"sentences": len(references[0]), **how, "metrics": metrics}
        print(json.dumps(about, ensure_ascii=False, indent=2))
        return

    print("\n\n".join("\n".join(_table(one)) for one in found))
    print(f"\np: approximate randomization, {options.trials} trials, seed {options.seed}")


def _user_scores(
    given: list[tuple[str, str]], systems: list[str], sentences: int
) -> dict[str, dict[str, Any]]:
    """Read the scores that a user has for each line, by name and system."""
    from itersel.lists.numbers import read_user_score_numbers

    paths: dict[str, list[str]] = {}
    for name, path in given:
        paths.setdefault(name, []).append(path)

    found = {}
    for name, files in paths.items():
        if len(files) != len(systems):
            raise InputError(f"--user-score names {len(files)} files of {name} for {len(systems)} systems")
        numbers = [read_user_score_numbers(file).of_translations(sentences) for file in files]
        found[name] = dict(zip(systems, numbers, strict=True))
    return found


def _table(found: MetricScores) -> Iterator[str]:
    """Yield the table of a metric, and sacrebleu's signature."""
    from tabulate import tabulate

    from itersel.report.p_values import format_p
    from itersel.report.scores import ALPHA

    digits = decimals_of(found.name)
    rows = [
        (
            one.system,
            one.score,
            " to ".join(f"{bound:.{digits}f}" for bound in one.interval),
            one.difference,
            None if one.p is None else format_p(one.p, ALPHA),
        )
        for one in found.systems
    ]
    headers = ("system", title_of(found.name), "95 % interval", "difference", "p")
    forms = {"floatfmt": ("", f".{digits}f", "", f"+.{digits}f", ""), "colalign": ("left", *["right"] * 4)}
    yield tabulate(rows, headers, tablefmt="simple", **forms, disable_numparse=[0, 4])
    how = f"sacrebleu {found.signature}" if found.signature else "mean of the given numbers"
    yield f"{title_of(found.name)}: {how}"
