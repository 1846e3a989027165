"""``itersel tune``: weights from the k-best lists of all shards and iterations."""

from __future__ import annotations

import argparse
import os
from typing import Any

from itersel.cli.arguments import finite, not_negative, output_file, positive, rate, seed
from itersel.errors import InputError

# The optimiser of PRO is scipy's, whose sums of many numbers depend on the number of BLAS's threads. It is
# read when numpy is imported, which no module does before the step is known.
os.environ["OPENBLAS_NUM_THREADS"] = "1"


def _part(text: str) -> float:
    """Parse a number above 0, at most 1."""
    number = rate(text)
    if number > 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0, at most 1")
    return number


def _strength(text: str) -> float:
    """Parse a number of 0 or more."""
    number = finite(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of 0 or more")
    return number


def _variant(text: str) -> str:
    """Parse a variant of sentence BLEU that needs nothing but the sentence."""
    if text not in ("liang", "lin", "nakov", "papineni"):
        raise argparse.ArgumentTypeError(f"'{text}' is none of liang, lin, nakov, papineni")
    return text


# Settings by tuner: name, type, help. The defaults are those of the settings in itersel.tune.
MERT_OPTIONS: tuple[tuple[str, Any, str], ...] = (
    (
        "directions",
        not_negative,
        "random directions a round, besides the axes (default: 12; forest-mert: 5)",
    ),
    (
        "restarts",
        not_negative,
        "random points to start from, besides the weights before (default: 5; forest-mert: 0)",
    ),
)
OPTIONS: dict[str, tuple[tuple[str, Any, str], ...]] = {
    "mert": MERT_OPTIONS,
    "pro": (
        ("bleu", _variant, "sentence BLEU: liang, lin, nakov or papineni (default: lin, BLEU+1)"),
        ("strength", _strength, "of the l2 regularisation (default: 1)"),
        ("interpolation", _part, "how much new weights count, against those before (default: 0.1)"),
        ("max-difference", _part, "drop pairs further apart in BLEU, as 0.2 (default: 1, none is dropped)"),
    ),
    "forest-mert": MERT_OPTIONS,
    "kbest-mira": (
        ("step-limit", rate, "C, the longest step (default: 0.01)"),
        ("passes", positive, "passes over the lists (default: 60)"),
        ("decay", _part, "of the background of BLEU, a sentence (default: 0.999)"),
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        "Tune weights on the k-best lists of all shards and of all iterations so far; equal translations of "
        "a sentence count once."
    )
    parser.add_argument(
        "--tuner",
        required=True,
        choices=tuple(OPTIONS),
        help="mert: Och 2003, dense features; pro: Hopkins and May 2011; kbest-mira: Cherry and Foster "
        "2012; forest-mert: Kumar et al. 2009, on files of 'itersel forest'",
    )
    parser.add_argument(
        "--lists",
        required=True,
        metavar="LIST",
        help="text file with the path of a file of 'itersel kbest' a line, those of all shards and "
        "iterations, in any order; forest-mert: of 'itersel forest'; - is standard input",
    )
    parser.add_argument("--shards", required=True, type=positive, metavar="Z", help="how many there are")
    parser.add_argument(
        "--iteration", required=True, type=positive, metavar="T", help="number of the iteration, from 1"
    )
    parser.add_argument(
        "--previous",
        metavar="FILE",
        help="weights that the newest lists were made with, .h5 or text (default: those of 'itersel kbest')",
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="of what is drawn (default: 1)")
    parser.add_argument(
        "--output", required=True, type=output_file, metavar="FILE", help="weights, .h5 or text"
    )
    shown: set[str] = set()
    for tuner, settings in OPTIONS.items():
        if not shown.issuperset(name for name, _, _ in settings):
            group = parser.add_argument_group("mert, forest-mert" if settings is MERT_OPTIONS else tuner)
            for name, parse, meaning in settings:
                group.add_argument(f"--{name}", type=parse, metavar=name.split("-")[-1].upper(), help=meaning)
        shown.update(name for name, _, _ in settings)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Tune, and write the weights whole or not at all."""
    from itersel.files import read_lines
    from itersel.tune.tuner import TUNERS, tune
    from itersel.weights import read_weights

    values = _own_settings(options)
    paths = read_lines(options.lists)
    if "" in paths:
        raise InputError("empty line; every line names a file", options.lists, paths.index("") + 1)
    tune(
        options.tuner,
        paths,
        options.output,
        TUNERS[options.tuner].settings(**values),
        shards=options.shards,
        iteration=options.iteration,
        before=None if options.previous is None else read_weights(options.previous),
        seed=options.seed,
    )


def _own_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given; those of another tuner are an error."""
    own = {name.replace("-", "_"): name for name, _, _ in OPTIONS[options.tuner]}
    others = {name.replace("-", "_"): name for settings in OPTIONS.values() for name, _, _ in settings}
    given = {name: getattr(options, name) for name in others if getattr(options, name) is not None}
    for name in given:
        if name not in own:
            raise InputError(f"--{others[name]} is no option of --tuner {options.tuner}")
    return given
