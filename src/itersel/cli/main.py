"""``itersel STEP``: find the step, run it, turn known errors into one line and exit status 1."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from itersel import __version__
from itersel.cli.arguments import Parser
from itersel.cli.signals import INTERRUPTED, clean_end, exit_process, listen, was_interrupted
from itersel.errors import InputError
from itersel.progress import signs_of_life

# step: (module of itersel.cli, one line of help). Modules are imported for the step asked for, so that
# `itersel bleu` does not wait for numba.
STEPS = {
    "corpus": ("corpus", "fetch, prepare and split parallel text"),
    "align": ("align", "word-align parallel text or symmetrise alignments"),
    "lm": ("lm", "estimate, compile and query language models"),
    "grammar": ("grammar", "index a corpus; extract, import and export grammars"),
    "shard": ("shard", "shuffle a corpus and cut it into balanced shards"),
    "decode": ("decode", "translate the sentences of a shard"),
    "train": ("train", "train one shard for one epoch"),
    "kbest": ("kbest", "write the k-best lists of a shard for tuning"),
    "forest": ("forest", "write the pruned forests of a shard for tuning"),
    "tune": ("tune", "tune weights on k-best lists or forests: MERT, PRO, k-best MIRA"),
    "mix": ("mix", "select features over all shards of an epoch and mix their weights"),
    "weights": ("weights", "show and export weights"),
    "detokenize": ("detokenize", "turn translations into text: case, and no spaces before punctuation"),
    "bleu": ("bleu", "compute BLEU of one or more systems"),
    "compare": ("compare", "compare systems with a baseline: BLEU and approximate randomization"),
    "report": ("report", "choose the best epochs and make tables of experiments"),
    "explain": ("explain", "show how two systems translated the sentences in which they differ most"),
    "translate": ("translate", "translate raw text with a trained system"),
    "config": ("config", "check a config; print its schema, documentation and a template"),
    "warm-up": ("warm_up", "compile all kernels into the cache"),
}


# Steps that run kernels; see `warm_up.warm_up_once`.
STEPS_WITH_KERNELS = frozenset(
    {"lm", "grammar", "train", "kbest", "forest", "tune", "mix", "decode", "explain", "translate"}
)

# Controls of terminals and line ends: messages quote names and words of files.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
LONGEST_MESSAGE = 10_000


def program() -> NoReturn:
    """Run the command line as a process of its own."""
    listen()
    exit_process(main())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one step; returns the exit status: 0, 1 (known error), 2 (usage) or 130 (Ctrl-C)."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    with clean_end():
        try:
            return _run(arguments)
        except (KeyboardInterrupt, Exception) as error:
            if not isinstance(error, KeyboardInterrupt) and not was_interrupted():
                return _known(arguments[0], error)
            _fail(" ".join(arguments[:1]), "interrupted")
            return INTERRUPTED


def _run(arguments: list[str]) -> int:
    parser = Parser(prog="itersel", description=__import__("itersel").__doc__)
    parser.set_defaults(main=main)  # for the step that runs the others, `warm-up`
    parser.add_argument("--version", action="version", version=f"itersel {__version__}")
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    for name, (module, summary) in STEPS.items():
        step = steps.add_parser(name, help=summary, description=summary)
        if arguments[:1] == [name]:
            command = importlib.import_module(f"itersel.cli.{module}")
            command.add_arguments(step)
            # options that depend on others
            getattr(command, "add_chosen_arguments", lambda *_: None)(step, arguments[1:])
    try:
        options = parser.parse_args(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    _plain_streams()
    if arguments[0] in STEPS_WITH_KERNELS:
        from itersel.cli.warm_up import announce_compilation, warm_up_once

        warm_up_once(main)
        announce_compilation()
    # warm-up forks processes, in which no other thread would be left
    with contextlib.nullcontext() if arguments[0] == "warm-up" else signs_of_life(arguments[0]):
        options.run(options)
    return 0


def _known(step: str, error: Exception) -> int:
    """Show a known error in one line; others are faults of the program, and raised again."""
    if isinstance(error, InputError):
        return _fail(step, str(error))
    if isinstance(error, MemoryError):
        return _fail(step, "not enough memory; give it more, or make k-best lists, shards or orders smaller")
    if isinstance(error, BrokenPipeError):
        # The reader of our output has gone (`| head`): not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return _fail(step, f"{place}{error.strerror or error}")
    raise error


def _fail(step: str, message: str) -> int:
    message = _UNPRINTABLE.sub(lambda match: ascii(match.group())[1:-1], message)
    if len(message) > LONGEST_MESSAGE:
        message = message[:LONGEST_MESSAGE] + "..."
    # away with what shows progress
    clear = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{clear}itersel {step}: {message}", file=sys.stderr)
    return 1


def _plain_streams() -> None:
    """Write UTF-8 with plain line ends, whatever the locale: outputs are the same bytes everywhere."""
    # stderr shows what cannot be written in another way; a name of a file may be any bytes
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")


if __name__ == "__main__":
    program()
