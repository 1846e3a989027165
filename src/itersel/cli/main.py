"""``itersel STEP``: find and run the step; known errors become one line and exit status 1."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from itersel.cli.signals import INTERRUPTED, clean_end, exit_process, listen, was_interrupted
from itersel.code_check import check_code
from itersel.errors import InputError, errors_of

if TYPE_CHECKING:
    from itersel.cli.arguments import Parser

DESCRIPTION = "Discriminative training of hierarchical translation systems on whole training corpora."

# step: (module of itersel.cli, one line of help); see `add_step`. Only the module of the requested step is
# imported, so that `itersel bleu` does not wait for numba.
STEPS = {
    "init": ("run", "write a project that uses the installed workflow"),
    "run": ("run", "run the workflow; all arguments are Snakemake's"),
    "config": ("config", "check a config; print its schema, documentation and a template"),
    "translate": ("translate", "translate raw text with a trained system"),
    "bundle": ("translate", "write a trained system to one file that translates elsewhere"),
    "report": ("report", "choose the best epochs and make tables of experiments"),
    "compare": ("bleu", "compare systems with a baseline: BLEU and approximate randomization"),
    "tune": ("tune", "tune weights on k-best lists or forests: MERT, PRO, k-best MIRA"),
    "rescore": ("tune", "reorder the n-best lists of any decoder by given weights"),
    "weights": ("weights", "show and export weights"),
    "export": ("translate", "write a trained system in the format of another decoder"),
    # run by the workflow, seldom by hand
    "corpus": ("corpus", "fetch, prepare and split parallel text"),
    "align": ("align", "word-align parallel text or symmetrise alignments"),
    "lm": ("lm", "estimate, compile and query language models"),
    "grammar": ("grammar", "index a corpus; extract, import and export grammars"),
    "shard": ("shard", "shuffle a corpus and cut it into balanced shards"),
    "lists": ("decode", "make a shard to learn from of n-best lists of another decoder"),
    "decode": ("decode", "translate the sentences of a shard"),
    "train": ("train", "train one shard for one epoch"),
    "kbest": ("decode", "write the k-best lists of a shard for tuning"),
    "forest": ("decode", "write the pruned forests of a shard for tuning"),
    "mix": ("mix", "select features over all shards of an epoch and mix their weights"),
    "detokenize": ("detokenize", "restore the case of translations and detokenise them"),
    "bleu": ("bleu", "compute BLEU of one or more systems"),
    "explain": ("decode", "show how two systems translated the sentences on which they differ most"),
    "warm-up": ("warm_up", "compile all kernels into the cache"),
}
FOR_PEOPLE = list(STEPS)[: list(STEPS).index("corpus")]
# Modules whose steps run no kernels; for the others, see `warm_up.warm_up_once`.
WITHOUT_KERNELS = {"run", "corpus", "shard", "weights", "detokenize", "bleu", "report", "config", "warm_up"}

# Control characters and line ends, which messages may quote from files.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
LONGEST_MESSAGE = 10_000


def program() -> NoReturn:
    """Run the command line and exit the process."""
    # processes that it starts import no modules from the working directory
    os.environ.setdefault("PYTHONSAFEPATH", "1")
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
    if arguments[:1] == ["run"] and arguments[1:2] not in (["-h"], ["--help"]):
        # argparse would take Snakemake's options for its own
        importlib.import_module("itersel.cli.run").run_snakemake(arguments[1:])
    check_code()
    parser = make_parser(arguments)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    from itersel.progress import signs_of_life

    _plain_streams()
    # translate may wait for input for hours
    sign = contextlib.nullcontext if arguments[0] in ("warm-up", "translate") else signs_of_life
    compilation: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if STEPS[arguments[0]][0] not in WITHOUT_KERNELS:
        from itersel.cli.warm_up import announced_compilation, say_if_plain, warm_up_once
        from itersel.compile.numba_versions import is_plain

        if not is_plain():
            from itersel.compile.compiler import leave_out_linear_algebra

            leave_out_linear_algebra()
        say_if_plain()
        # before any thread starts, because it forks
        warm_up_once(main)
        compilation = announced_compilation()
    with sign(arguments[0]), compilation:
        options.run(options)
    return 0


def make_parser(arguments: Sequence[str] = ()) -> Parser:
    """Return the parser; only the step that the arguments begin with has its options."""
    # after `check_code`: modules that are being edited may not be importable
    from itersel import __version__
    from itersel.cli.arguments import Parser, add_options, add_step
    from itersel.cli.completion import SHELLS, PrintCompletion
    from itersel.config.command_line import add_chosen_section

    parser = Parser(prog="itersel", description=DESCRIPTION)
    parser.set_defaults(main=main)  # for `warm-up`, which runs the other steps
    parser.add_argument("--version", action="version", version=f"itersel {__version__}")
    modules = {name: module for name, (module, _) in STEPS.items()}
    script = f"print the completion script for {', '.join(SHELLS[:-1])} or {SHELLS[-1]}, and exit"
    shells = {"--print-completion SHELL": script}
    add_options(parser, shells, action=PrintCompletion, const=modules, choices=SHELLS)
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    # listed in two groups instead
    parser._positionals._group_actions.remove(steps)
    people, workflow = map(parser.add_argument_group, ("commands", "steps of the workflow"))
    for name, (module, summary) in STEPS.items():
        step = steps.add_parser(name, help=summary, description=summary)
        group = people if name in FOR_PEOPLE else workflow
        group._group_actions.append(steps._choices_actions[-1])
        if arguments[:1] == [name]:
            command = add_step(step, name, module)
            # options that depend on the values of others
            if chosen := getattr(command, "CHOSEN", {}).get(name):
                add_chosen_section(step, arguments[1:], *chosen)
    return parser


def _known(step: str, error: Exception) -> int:
    """Show a known error in one line; raise others, which are bugs, again."""
    if isinstance(error, InputError):
        return max(_fail(step, str(one)) for one in errors_of(error))
    if isinstance(error, MemoryError):
        return _fail(step, "not enough memory; provide more, or use smaller k-best lists, shards or orders")
    if isinstance(error, BrokenPipeError):
        # The reader of our output is gone (`| head`): not an error.
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
    # erase the progress line
    clear = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{clear}itersel {step}: {message}", file=sys.stderr)
    return 1


def _plain_streams() -> None:
    """Write UTF-8 with Unix line ends in any locale, so that outputs are the same bytes everywhere."""
    # file names may be any bytes; stderr shows undecodable ones escaped
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")


if __name__ == "__main__":
    program()
