"""``itersel lm``: estimate, compile and query language models."""

from __future__ import annotations

import argparse
import sys

from itersel.atomic import temporary_folder
from itersel.cli.arguments import fold, output_file, whole
from itersel.errors import InputError
from itersel.limits import MAX_ORDER
from itersel.storage.files import STANDARD_STREAM, read_lines, write_lines

# how the names of compiled models end
COMPILED = ".bin"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sub-steps estimate, compile and score."""
    steps = parser.add_subparsers(dest="substep", metavar="SUBSTEP", required=True)
    _add_estimate(steps.add_parser("estimate", help="estimate a model from text"))
    _add_compile(steps.add_parser("compile", help="compile an ARPA file for scoring and decoding"))
    _add_score(steps.add_parser("score", help="print the log10 probability and unknown words of each line"))


def _add_estimate(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Interpolated modified Kneser-Ney estimation without pruning; gives the same numbers as KenLM's "
        "lmplz."
    )
    parser.add_argument(
        "--order", type=whole(1, MAX_ORDER), required=True, help="length of the longest n-grams"
    )
    parser.add_argument(
        "--input",
        nargs="+",
        required=True,
        metavar="TEXT",
        help="tokenised text, one sentence per line, plain or compressed (- is standard input); several are "
        "joined",
    )
    parser.add_argument(
        "--vocabulary",
        metavar="TEXT",
        help="replace words that do not occur in this text by <unk> before estimation (open vocabulary)",
    )
    parser.add_argument(
        "--leave-out",
        metavar="SHARDS",
        help="folder that 'itersel shard' made from the first text; its shards F, F + N, ... are left out, "
        "with all copies of their lines",
    )
    parser.add_argument(
        "--fold", type=fold, metavar="F/N", help="with --leave-out: fold F of N, such as 0/10 to 9/10"
    )
    parser.add_argument(
        "--output",
        required=True,
        type=output_file,
        help="ARPA file (compressed by name; - is standard output), or a compiled model, which needs memory "
        f"for all n-grams: NAME{COMPILED}",
    )
    parser.set_defaults(run=_estimate)


def _add_compile(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compile an ARPA file to memory-mapped arrays, of which all processes on a machine share one copy."
    )
    parser.add_argument("--input", required=True, help="ARPA file, plain or compressed (- is standard input)")
    parser.add_argument("--order", type=whole(1, MAX_ORDER), help="reject a model of another order")
    parser.add_argument("--output", required=True, type=output_file, help="compiled model")
    parser.set_defaults(run=_compile)


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "For each line, print the log10 of its probability including </s>, a tab, and the number of unknown "
        "words."
    )
    parser.add_argument("--model", required=True, help="compiled model")
    parser.add_argument(
        "--input", default=STANDARD_STREAM, help="tokenised text, one sentence per line (default: -)"
    )
    parser.add_argument(
        "--output", type=output_file, default=STANDARD_STREAM, help="output file (default: -)"
    )
    parser.set_defaults(run=_score)


def _estimate(options: argparse.Namespace) -> None:
    from itersel.lm.arpa import write_arpa
    from itersel.lm.binary import compile_estimate
    from itersel.lm.estimate import FALLBACK_DISCOUNTS, estimate
    from itersel.lm.text import lines_of_fold, read_text

    if (options.leave_out is None) != (options.fold is None):
        raise InputError("give --leave-out and --fold together, or neither")
    left_out = set()
    if options.fold:
        if options.input[0] == STANDARD_STREAM:
            raise InputError("--leave-out needs the text in a file, not on standard input")
        left_out = lines_of_fold(options.input[0], options.leave_out, *options.fold)
    # The temporary files are larger than the output: too large for most systems' temporary folder.
    folder = None if options.output == STANDARD_STREAM else temporary_folder(options.output)
    model = estimate(read_text(options.input, options.vocabulary, left_out, folder), options.order)
    if model.fallback:
        orders = ", ".join(map(str, model.fallback))
        used = ", ".join(map(str, FALLBACK_DISCOUNTS))
        print(
            f"itersel lm: warning: too little text for the discounts of order {orders}; using {used}",
            file=sys.stderr,
        )
    if options.output.endswith(COMPILED):
        compile_estimate(model, options.output)
    else:
        write_arpa(options.output, model)


def _compile(options: argparse.Namespace) -> None:
    from itersel.lm.binary import compile_model

    compile_model(options.input, options.output, options.order)


def _score(options: argparse.Namespace) -> None:
    from itersel.lm.binary import load_model, score_lines

    log10_probability, unknown = score_lines(load_model(options.model), read_lines(options.input))
    write_lines(
        options.output,
        (f"{p:.6f}\t{n}" for p, n in zip(log10_probability.tolist(), unknown.tolist(), strict=True)),
    )
