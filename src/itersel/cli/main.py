"""``itersel COMMAND``: find and run the command; known errors become one line and exit status 1."""

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
from itersel.code.edits import check_code
from itersel.errors import InputError, errors_of

if TYPE_CHECKING:
    from itersel.cli.parser import Parser

DESCRIPTION = "Discriminative training of hierarchical translation systems on whole training corpora."

# command: (module of itersel.cli, one line of help); see `add_command`. Only the module of the requested
# command is imported, so that `itersel bleu` does not wait for numba.
FOR_PEOPLE = {
    "init": ("run", "write a project that uses the installed workflow"),
    "run": ("run", "run the workflow; all arguments are Snakemake's"),
    "config": ("config", "check a config; print it with all values; its schema and documentation"),
    "translate": ("translate", "translate raw text with a trained system"),
    "bundle": ("translate", "write a trained system to one file that translates elsewhere"),
    "report": ("report", "write tables and pages of finished and unfinished runs"),
    "compare": ("bleu", "compare systems with a baseline: BLEU and approximate randomization"),
    "tune": ("tune", "tune weights on the n-best lists of any decoder: MERT, PRO, k-best MIRA"),
    "rescore": ("rescore", "reorder the n-best lists of any decoder by given weights"),
    "weights": ("weights", "show and export weights"),
    "export": ("translate", "write a trained system in the format of another decoder"),
}
# The same for the commands of the workflow, which people use, too.
OF_WORKFLOW = {
    "corpus": ("corpus", "fetch, prepare and split parallel text"),
    "align": ("align", "word-align parallel text or symmetrise alignments"),
    "lm": ("lm", "estimate, compile and query language models"),
    "grammar": ("grammar", "index a corpus; extract, import and export grammars"),
    "decode": ("decode", "translate sentences with their grammars"),
    "train": ("train", "train one shard for one epoch"),
    "detokenize": ("detokenize", "restore the case of translations and detokenise them"),
    "bleu": ("bleu", "compute tokenized BLEU of one or more systems"),
    "warm-up": ("warm_up", "compile all kernels into the cache"),
    "step": ("", "run a step that only the workflow runs; 'itersel step --help' lists them"),
}
COMMANDS = FOR_PEOPLE | OF_WORKFLOW
# The same for `itersel step`.
STEPS = {
    "divide": ("divide", "shuffle a corpus or lists and divide them into files of equal size"),
    "lists": ("lists", "build a file to train on from another decoder's n-best lists"),
    "first-entries": ("lists", "write the translations that another decoder ranks first"),
    "words": ("text_models", "prepare the text of the models that features of lists need"),
    "text-models": ("text_models", "estimate the models that features of lists need"),
    "kbest": ("decode", "write the k-best lists of sentences for tuning"),
    "forest": ("decode", "write the pruned forests of sentences for tuning"),
    "mix": ("mix", "select features over all shards of an epoch and mix their weights"),
    "tune": ("step_tune", "tune on the lists or forests of all sentences and iterations so far"),
    "explain": ("explain", "show how two systems translated the sentences on which they differ most"),
    "choose": ("choose", "choose the best epoch of an experiment on devtest"),
    "patience": ("choose", "decide whether training stops, by the scores on devtest"),
    "scale": ("scale", "choose the scale of minimum Bayes risk on devtest"),
    "resources": ("resources", "record what a system needs to translate text"),
    "reranker": ("resources", "record what a system needs to rerank n-best lists"),
    "count": ("count", "count the matches and edits of translations, from which tables compute scores"),
    "table": ("tables", "make a table of systems: scores and significant differences"),
    "tasks": ("tables", "make a table of systems by task of the test sentences"),
    "join": ("tables", "join translations by models for single tasks"),
    "selection": ("tables", "make a table of what was selected in each epoch"),
    "rules": ("tables", "count the rules in the grammars of sentences"),
    "corpora": ("tables", "make a table of the corpora: sentences, words, rules"),
}

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
    """Run one command; returns the exit status: 0, 1 (known error), 2 (usage) or 130 (Ctrl-C)."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    name = " ".join(arguments[: 2 if arguments[:1] == ["step"] else 1])

    with clean_end():
        try:
            return _run(arguments)
        except (KeyboardInterrupt, Exception) as error:
            if not isinstance(error, KeyboardInterrupt) and not was_interrupted():
                return _known(name, error)

            _fail(name, "interrupted")
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

    from itersel.run.progress import signs_of_life

    _plain_streams()

    # translate may wait for input for hours
    sign = contextlib.nullcontext if arguments[0] in ("warm-up", "translate") else signs_of_life
    compilation: contextlib.AbstractContextManager[None] = contextlib.nullcontext()

    if options.runs_kernels:
        from itersel.cli.warm_up import announced_compilation, say_if_plain, warm_up_once
        from itersel.compile.numba_versions import is_plain

        if not is_plain():
            from itersel.compile.compiler import leave_out_linear_algebra

            leave_out_linear_algebra()

        say_if_plain()
        # before any thread starts, because it forks
        warm_up_once(main)
        compilation = announced_compilation()

    with sign(arguments[1] if arguments[0] == "step" else arguments[0]), compilation:
        options.run(options)
    return 0


def make_parser(arguments: Sequence[str] = (), is_full: bool = False) -> Parser:
    """Return the parser; only the command that the arguments begin with has options, unless it `is_full`."""
    # after `check_code`: modules that are being edited may not be importable
    from itersel import __version__
    from itersel.cli.arguments import add_options
    from itersel.cli.commands import ListedParser, add_command
    from itersel.cli.completion import SHELLS, PrintCompletion
    from itersel.cli.parser import Parser

    parser = Parser(prog="itersel", description=DESCRIPTION)
    parser.set_defaults(main=main)  # for `warm-up`, which runs the other commands
    parser.add_argument("--version", action="version", version=f"itersel {__version__}")

    script = f"print the completion script for {', '.join(SHELLS[:-1])} or {SHELLS[-1]}, and exit"
    shells = {"action": PrintCompletion, "choices": SHELLS, "const": lambda: make_parser(is_full=True)}
    add_options(parser, {"--print-completion SHELL": script}, **shells)

    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=ListedParser
    )
    # listed in two groups instead
    parser._positionals._group_actions.remove(commands)
    people, workflow = map(parser.add_argument_group, ("commands", "commands of the workflow"))

    for name, (module, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        group = people if name in FOR_PEOPLE else workflow
        group._group_actions.append(commands._choices_actions[-1])
        if name == "step":
            steps = command.add_subparsers(dest="step", metavar="STEP", required=True)
            for one, (its_module, its_summary) in STEPS.items():
                step = steps.add_parser(one, help=its_summary, description=its_summary)
                if is_full or list(arguments[:2]) == ["step", one]:
                    add_command(step, one, its_module, arguments[2:], is_full)
        elif is_full or arguments[:1] == [name]:
            add_command(command, name, module, arguments[1:], is_full)

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
