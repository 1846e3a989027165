"""The options of the steps of ``itersel report``."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import (
    add_randomization_arguments,
    add_reference,
    add_section_arguments,
    add_tokenize,
    add_tokenizer,
    output_file,
    positive,
    whole,
)
from itersel.cli.formats import add_formats
from itersel.config.search import Grammar
from itersel.limits import MAX_POP_LIMIT, TEXT_SCORES, TOKENIZED_BLEU

# Pages in the folder of results. That of an unfinished run has a different name because the other one is an
# output of the workflow.
INDEX, PROGRESS = "report/index.html", "report/progress.html"


def add_choose(parser: argparse.ArgumentParser) -> None:
    """Add the options of `itersel report choose`."""
    parser.description = (
        "Score the translations of devtest after each epoch, copy the weights of the best epoch (the "
        "earliest in case of ties), and describe the system. With --labels and --task, score only the "
        "sentences of a task."
    )
    add_reference(parser)
    add_tokenize(parser)
    _add_choice(parser)
    parser.add_argument("--translations", nargs="+", required=True, help="one file per epoch, in order")
    parser.add_argument("--weights", nargs="+", required=True, help="one file per epoch, in order")
    parser.add_argument("--labels", metavar="FILE", help="task label of each line of devtest")
    parser.add_argument("--task", metavar="LABEL", help="score only the lines with this label")
    parser.add_argument("--name", required=True, help="name of the experiment")
    parser.add_argument(
        "--repeat", type=positive, default=1, metavar="N", help="number of the run, from 1 (default: 1)"
    )
    parser.add_argument("--learner", required=True, help="learner that trained the shards")
    parser.add_argument("--mixing", required=True, help="how the weights of the shards were mixed")
    parser.add_argument("--tune-on", required=True, help="corpus used for training")
    parser.add_argument("--features", required=True, help="features of the system")
    parser.add_argument(
        "--devtest", default="devtest", help="split that was translated (default: %(default)s)"
    )
    parser.add_argument("--tasks", default="random", help="kind of shards (default: %(default)s)")
    parser.add_argument("--shards", type=positive, required=True, help="number of shards")
    parser.add_argument(
        "--output-weights", required=True, type=output_file, help="copy of the weights of the best epoch"
    )
    parser.add_argument("--output", required=True, type=output_file, help="description of the system (JSON)")


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--by",
        choices=(TOKENIZED_BLEU, *TEXT_SCORES),
        default=TOKENIZED_BLEU,
        help="score by which the epoch is chosen (default: %(default)s); all other scores are of detokenised "
        "translations and require the next three options",
    )
    parser.add_argument(
        "--raw-references", nargs="+", metavar="FILE", help="original references, before preparation"
    )
    parser.add_argument("--preparation", metavar="FILE", help="preparation.json of the training corpus")
    parser.add_argument("--recaser", metavar="FILE", help="recaser.json of the training corpus")
    add_tokenizer(parser)


def add_resources(parser: argparse.ArgumentParser) -> None:
    """Add the options of `itersel report resources`."""
    parser.add_argument("--model", required=True, help="compiled language model")
    parser.add_argument("--index", required=True, help="index of the training corpus")
    parser.add_argument("--preparation", required=True, help="preparation.json of 'itersel corpus prepare'")
    parser.add_argument("--recaser", required=True, help="recaser.json of 'itersel corpus prepare'")
    parser.add_argument(
        "--pop-limit", type=whole(1, MAX_POP_LIMIT), required=True, help="pop limit of the decoder"
    )
    parser.add_argument("--features", choices=("dense", "all"), required=True, help="features of the decoder")
    add_section_arguments(parser, Grammar)
    parser.add_argument(
        "--output", required=True, type=output_file, help="resources.json in the folder of the system"
    )


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the options of `itersel report table`."""
    parser.description = (
        "Score systems on one or more test sets, and test every pair of systems for a significant "
        "difference. Systems with the same name are runs of one experiment; their scores are averaged. For "
        "several test sets, repeat --test-set, --systems, --translations and, if used, --counts in the same "
        "order; another table then scores all sentences together."
    )
    add_tokenize(parser)
    add_randomization_arguments(parser)
    parser.add_argument(
        "--test-set",
        nargs="+",
        action="append",
        required=True,
        metavar=("NAME", "REFERENCE"),
        help="name of the test set and its reference translations, one sentence per line",
    )
    parser.add_argument(
        "--systems",
        nargs="+",
        action="append",
        required=True,
        metavar="FILE",
        help="descriptions made by 'itersel report choose'",
    )
    parser.add_argument(
        "--translations",
        nargs="+",
        action="append",
        required=True,
        metavar="FILE",
        help="translations of the test set, in the order of --systems",
    )
    parser.add_argument(
        "--counts",
        nargs="+",
        action="append",
        default=[],
        metavar="FILE",
        help="output of 'itersel detokenize --counts' for each system, in the order of --systems, for scores "
        "of detokenised text",
    )
    parser.add_argument(
        "--stays-tokenized",
        action="store_true",
        help="the corpus was given tokenised, so the counted text is tokenised, too",
    )
    add_formats(parser)


def add_tasks(parser: argparse.ArgumentParser) -> None:
    """Add the options of `itersel report tasks`."""
    parser.description = (
        "Score systems on the sentences of each task of a test set and on all tasks together, and test every "
        "pair of systems for a significant difference on each. Systems with the same name are runs of one "
        "experiment; their scores are averaged. Sentences with other labels are left out."
    )
    add_reference(parser)
    add_tokenize(parser)
    add_randomization_arguments(parser)
    _add_labels(parser)
    parser.add_argument(
        "--system",
        nargs=2,
        action="append",
        required=True,
        metavar=("NAME", "FILE"),
        help="name of an experiment and its translations of the test set; may be repeated",
    )
    add_formats(parser)


def add_join(parser: argparse.ArgumentParser) -> None:
    """Add the options of `itersel report join`."""
    parser.description = (
        "Take the translation of each sentence from the model of its task. Lines with other labels are empty."
    )
    _add_labels(parser)
    parser.add_argument(
        "--translations",
        nargs="+",
        required=True,
        metavar="FILE",
        help="translations of the whole text by the model of each task, in the order of --tasks",
    )
    parser.add_argument("--output", required=True, type=output_file, help="joined translations")


def _add_labels(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--labels", required=True, metavar="FILE", help="task label of each line")
    parser.add_argument("--tasks", nargs="+", required=True, metavar="LABEL", help="labels of the tasks")


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add the options of `itersel report selection`."""
    parser.description = (
        "For each epoch and group of features, show how many features were selected, how many of these had "
        "been selected before, how many shards share them, and their norms."
    )
    parser.add_argument("--matrices", nargs="+", required=True, help="selection.h5 of each epoch, in order")
    add_formats(parser)


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the options of `itersel report rules`."""
    parser.add_argument(
        "--shards", required=True, help="file that lists one shard per line (- is standard input)"
    )
    parser.add_argument("--output", required=True, type=output_file, help="number of rules (JSON)")


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """Add the options of `itersel report corpus`."""
    parser.add_argument(
        "--preparation", nargs="+", required=True, help="statistics.json files of 'itersel corpus prepare'"
    )
    parser.add_argument(
        "--collection", metavar="FILE", help="statistics.json of 'itersel corpus libreoffice-help'"
    )
    parser.add_argument(
        "--rules",
        nargs=2,
        action="append",
        default=[],
        metavar=("SPLIT", "FILE"),
        help="output of 'itersel report rules' for a split; may be repeated",
    )
    add_formats(parser)


def add_paper(parser: argparse.ArgumentParser) -> None:
    """Add the options of `itersel report paper`."""
    parser.add_argument("--table", required=True, metavar="FILE", help="table.json of 'itersel report table'")
    parser.add_argument(
        "--output",
        nargs="+",
        type=output_file,
        required=True,
        help="output files; the name determines the format: .tex, .md",
    )


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add the options of `itersel report page`."""
    parser.description = (
        "Show a run as one HTML file that needs no network: tables, learning curves, features, translations. "
        "Parts whose files do not exist yet are left out."
    )
    _add_page_files(parser, INDEX)


def add_watch(parser: argparse.ArgumentParser) -> None:
    """Add the options of `itersel report watch`."""
    parser.description = (
        "Write the page of an unfinished run, and rewrite it whenever files of the run change. An open "
        "browser reloads it. Ends when the run has its final page, or with Ctrl-C."
    )
    _add_page_files(parser, PROGRESS)
    parser.add_argument(
        "--seconds", type=positive, default=30, metavar="N", help="time between two checks (default: 30)"
    )
    parser.add_argument("--once", action="store_true", help="write the page once and stop")


def _add_page_files(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--results", required=True, metavar="FOLDER", help="results of a run: <output>/<name> of its config"
    )
    parser.add_argument(
        "--output",
        type=output_file,
        metavar="FILE",
        help=f"HTML file (default: {default} in the folder of results)",
    )
