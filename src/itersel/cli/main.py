"""``itersel STEP``: find the step, run it, turn known errors into one line and exit status 1."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from itersel import __version__
from itersel.errors import InputError

# step: (module of itersel.cli, one line of help). Modules are imported for the step asked for, so that
# `itersel bleu` does not wait for numba.
STEPS = {
    "corpus": ("corpus", "fetch, prepare and split parallel text"),
    "align": ("align", "word-align parallel text, symmetrise alignments"),
    "lm": ("lm", "estimate, compile and query language models"),
    "grammar": ("grammar", "index a corpus; extract, import and export grammars"),
    "shard": ("shard", "cut a corpus into shards, balanced, shuffled with a seed"),
    "decode": ("decode", "translate the sentences of a shard"),
    "train": ("train", "train one shard for one epoch"),
    "mix": ("mix", "select features over all shards of an epoch, and mix their weights"),
    "weights": ("weights", "show and export weights"),
    "bleu": ("bleu", "BLEU of one or more systems"),
    "compare": ("compare", "BLEU and approximate randomization against a baseline"),
    "report": ("report", "choose epochs, table of experiments"),
    "translate": ("translate", "translate raw text with a trained system"),
    "config": ("config", "check a config; print its schema, defaults and documentation"),
    "warm-up": ("warm_up", "compile all kernels into the cache"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one step; returns the exit status: 0, 1 (known error) or 2 (usage)."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(prog="itersel", description=__import__("itersel").__doc__)
    parser.add_argument("--version", action="version", version=f"itersel {__version__}")
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    for name, (module, summary) in STEPS.items():
        step = steps.add_parser(name, help=summary, description=summary)
        if arguments[:1] == [name]:
            importlib.import_module(f"itersel.cli.{module}").add_arguments(step)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    try:
        options.run(options)
    except InputError as error:
        print(f"itersel {arguments[0]}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"itersel {arguments[0]}: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
