"""``itersel lm``: estimate, compile and query language models."""

from __future__ import annotations

import argparse
import sys

from itersel.cli.arguments import add_files, add_optional_files, add_options, add_output
from itersel.cli.folds import check_fold, fold
from itersel.cli.settings import add_settings, settings_of
from itersel.cli.shared_options import add_text_output
from itersel.config.text_steps import CompileSettings, EstimateSettings
from itersel.errors import InputError
from itersel.run.atomic import temporary_folder
from itersel.storage.files import STANDARD_STREAM, read_lines, suffix_in, write_lines

# how the names of compiled models end
COMPILED = ".bin"

PARTS = {
    "lm estimate": "estimate a model from text",
    "lm compile": "compile an ARPA file for scoring and decoding",
    "lm score": "print the log10 probability and unknown words of each line",
}


def _add_estimate(parser: argparse.ArgumentParser) -> None:
    parser.description = "Interpolated modified Kneser-Ney estimation without pruning, as by KenLM's lmplz."
    add_settings(parser, EstimateSettings, with_options=True)

    text = (
        "tokenised text, one sentence per line, plain or compressed (- is standard input); several are joined"
    )
    add_files(parser, {"--input TEXT": text}, required=True)

    further = {
        "--vocabulary TEXT": "replace words that do not occur in this text by <unk> (open vocabulary)",
        "--leave-out DIR": "folder that 'itersel step divide' made from the first text; its files F, "
        "F + N, ... are left out, with all copies of their lines",
    }
    add_optional_files(parser, further)
    folds = {"--fold F/N": "with --leave-out: fold F of N, such as 0/10 to 9/10"}
    add_options(parser, folds, type=fold, nargs="?")

    model = (
        f"ARPA file (- is standard output), or NAME{COMPILED}, compiled, which takes memory for all n-grams"
    )
    add_output(parser, model, "--output")


def _add_compile(parser: argparse.ArgumentParser) -> None:
    parser.description = "Compile an ARPA file to memory-mapped arrays, which processes on a machine share."
    add_options(parser, {"--input": "ARPA file, plain or compressed (- is standard input)"}, required=True)
    add_settings(parser, CompileSettings, with_options=True)
    add_output(parser, "compiled model", "--output")


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print log10 of the probability of each line with </s>, a tab, and the number of unknown words."
    )
    add_options(parser, {"--language-model": "compiled model"}, required=True)
    text = "tokenised text, one sentence per line (default: -)"
    add_options(parser, {"--input": text}, default=STANDARD_STREAM)
    add_text_output(parser)


def _estimate(options: argparse.Namespace) -> None:
    from itersel.lm.arpa import write_arpa
    from itersel.lm.binary import compile_estimate
    from itersel.lm.estimate import FALLBACK_DISCOUNTS, estimate
    from itersel.lm.numbered_text import lines_of_fold, read_numbered_text

    settings = settings_of(EstimateSettings, options)
    check_fold(options)

    left_out = set()
    if options.fold:
        if options.input[0] == STANDARD_STREAM:
            raise InputError("--leave-out needs the text in a file, not on standard input")
        left_out = lines_of_fold(options.input[0], options.leave_out, *options.fold)

    # The temporary files are larger than the output: too large for most systems' temporary folder.
    folder = None if options.output == STANDARD_STREAM else temporary_folder(options.output)
    model = estimate(read_numbered_text(options.input, options.vocabulary, left_out, folder), settings.order)
    if model.fallback:
        orders, used = (", ".join(map(str, numbers)) for numbers in (model.fallback, FALLBACK_DISCOUNTS))
        problem = f"too little text for the discounts of order {orders}; using {used}"
        print(f"itersel lm: warning: {problem}", file=sys.stderr)

    if suffix_in(options.output, [COMPILED]):
        compile_estimate(model, options.output)
    else:
        write_arpa(options.output, model)


def _compile(options: argparse.Namespace) -> None:
    from itersel.lm.binary import compile_model

    compile_model(options.input, options.output, settings_of(CompileSettings, options).expect_order)


def _score(options: argparse.Namespace) -> None:
    from itersel.lm.binary import load_model, score_lines

    scores = score_lines(load_model(options.language_model), read_lines(options.input))
    rows = zip(*(numbers.tolist() for numbers in scores), strict=True)
    write_lines(options.output, (f"{probability:.6f}\t{unknown}" for probability, unknown in rows))
