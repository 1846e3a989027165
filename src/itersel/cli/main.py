"""``itersel STEP``: find the step, run it, turn known errors into one line and exit status 1."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType

from itersel import __version__
from itersel.cli.arguments import Parser
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
    "kbest": ("kbest", "write the k-best lists of a shard, to tune on"),
    "forest": ("forest", "write the pruned forests of a shard, to tune on"),
    "tune": ("tune", "tune weights on k-best lists or forests: MERT, PRO, k-best MIRA"),
    "mix": ("mix", "select features over all shards of an epoch, and mix their weights"),
    "weights": ("weights", "show and export weights"),
    "bleu": ("bleu", "BLEU of one or more systems"),
    "compare": ("compare", "BLEU and approximate randomization against a baseline"),
    "report": ("report", "choose epochs, table of experiments"),
    "translate": ("translate", "translate raw text with a trained system"),
    "config": ("config", "check a config; print its schema, defaults and documentation"),
    "warm-up": ("warm_up", "compile all kernels into the cache"),
}


# Steps that run kernels; see `warm_up.warm_up_once`.
STEPS_WITH_KERNELS = frozenset({"lm", "grammar", "train", "kbest", "forest", "tune", "mix", "decode"})

# Statuses of processes that a signal ended, as shells count them.
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one step; returns the exit status: 0, 1 (known error), 2 (usage) or 130 (Ctrl-C)."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    parser = Parser(prog="itersel", description=__import__("itersel").__doc__)
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
    _plain_streams()
    with _clean_end():
        return _run(arguments[0], options)


def _run(step: str, options: argparse.Namespace) -> int:
    try:
        if step in STEPS_WITH_KERNELS:
            from itersel.cli.warm_up import warm_up_once

            warm_up_once()
        options.run(options)
    except InputError as error:
        return _fail(step, str(error))
    except KeyboardInterrupt:
        _fail(step, "interrupted")
        return INTERRUPTED
    except MemoryError:
        return _fail(step, "not enough memory; give it more, or make k-best lists, shards or orders smaller")
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(step, f"{place}{error.strerror or error}")
    return 0


def _fail(step: str, message: str) -> int:
    print(f"itersel {step}: {message}", file=sys.stderr)
    return 1


def _plain_streams() -> None:
    """Write UTF-8 with plain line ends, whatever the locale: outputs are the same bytes everywhere."""
    # stderr shows what cannot be written in another way; a name of a file may be any bytes
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")


@contextlib.contextmanager
def _clean_end() -> Iterator[None]:
    """Turn SIGTERM, which clusters send before they kill, into an end that removes temporary files."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main())
