"""``itersel report``: choice of the epoch; tables of experiments, tasks, selected features, corpora."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from functools import partial

from itersel.cli.arguments import (
    add_extraction_settings,
    add_randomization_arguments,
    add_reference,
    add_tokenize,
    output_file,
    positive,
    whole,
)
from itersel.cli.formats import add_formats, write_formats
from itersel.errors import InputError
from itersel.limits import MAX_POP_LIMIT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sub-steps choose, resources, table, tasks, join, selection, rules and corpus."""
    steps = parser.add_subparsers(dest="substep", metavar="SUBSTEP", required=True)
    _add_choose(steps.add_parser("choose", help="choose the best epoch of an experiment on devtest"))
    _add_resources(steps.add_parser("resources", help="record what a system needs to translate new text"))
    _add_table(steps.add_parser("table", help="make a table of systems: scores and significant differences"))
    _add_tasks(steps.add_parser("tasks", help="make a table of systems by task of the test sentences"))
    _add_join(steps.add_parser("join", help="join the translations by models for one task each"))
    _add_selection(steps.add_parser("selection", help="make a table of what was selected in each epoch"))
    _add_rules(steps.add_parser("rules", help="count the rules in the grammars of some shards"))
    _add_corpus(steps.add_parser("corpus", help="make a table of the corpora: sentences, words, rules"))


def _add_choose(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score the translations of devtest after each epoch, copy the weights of the best epoch (the "
        "earliest if several are equal), and describe the system. With --labels and --task, score only the "
        "sentences of a task."
    )
    add_reference(parser)
    add_tokenize(parser)
    parser.add_argument("--translations", nargs="+", required=True, help="one file per epoch, in order")
    parser.add_argument("--weights", nargs="+", required=True, help="one file per epoch, in order")
    parser.add_argument("--labels", metavar="FILE", help="task label of each line of devtest")
    parser.add_argument("--task", metavar="LABEL", help="score only the lines with this label")
    parser.add_argument("--name", required=True, help="name of the experiment")
    parser.add_argument(
        "--repeat", type=positive, default=1, metavar="N", help="number of the run, from 1 (default: 1)"
    )
    parser.add_argument("--learner", required=True, help="learner that trained its shards")
    parser.add_argument("--mixing", required=True, help="mixing of their weights")
    parser.add_argument("--tune-on", required=True, help="corpus it was trained on")
    parser.add_argument("--features", required=True, help="features it uses")
    parser.add_argument(
        "--devtest", default="devtest", help="split that the translations are of (default: %(default)s)"
    )
    parser.add_argument("--tasks", default="random", help="what its shards are (default: %(default)s)")
    parser.add_argument("--shards", type=positive, required=True, help="number of shards")
    parser.add_argument(
        "--output-weights", required=True, type=output_file, help="copy of the weights of the best epoch"
    )
    parser.add_argument("--output", required=True, type=output_file, help="description of the system (JSON)")
    parser.set_defaults(run=_choose)


def _add_resources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="compiled language model")
    parser.add_argument("--index", required=True, help="index of the training corpus")
    parser.add_argument("--preparation", required=True, help="preparation.json of 'itersel corpus prepare'")
    parser.add_argument(
        "--pop-limit", type=whole(1, MAX_POP_LIMIT), required=True, help="pop limit of the decoder"
    )
    parser.add_argument("--features", choices=("dense", "all"), required=True, help="features of the decoder")
    add_extraction_settings(parser)
    parser.add_argument(
        "--output", required=True, type=output_file, help="resources.json in the folder of the system"
    )
    parser.set_defaults(run=_resources)


def _add_table(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score systems on one or more test sets, and test every pair of systems for a significant "
        "difference. Systems with the same name are runs of one experiment; their scores are averaged. For "
        "several test sets, repeat --test-set, --systems and --translations in the same order; a further "
        "table then scores all sentences together."
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
    add_formats(parser)
    parser.set_defaults(run=_table)


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score systems on the sentences of each task of a test set and on those of all tasks together, and "
        "test every pair of systems for a significant difference on each. Systems with the same name are "
        "runs of one experiment; their scores are averaged. Sentences with other labels are left out."
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
    parser.set_defaults(run=_tasks)


def _add_join(parser: argparse.ArgumentParser) -> None:
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
    parser.set_defaults(run=_join)


def _add_labels(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--labels", required=True, metavar="FILE", help="task label of each line")
    parser.add_argument("--tasks", nargs="+", required=True, metavar="LABEL", help="labels of the tasks")


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "For each epoch and group of features, show how many were selected, how many of these had been "
        "selected before, how many shards share them, and their norms."
    )
    parser.add_argument("--matrices", nargs="+", required=True, help="selection.h5 of each epoch, in order")
    add_formats(parser)
    parser.set_defaults(run=_selection)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shards", required=True, help="file that lists one shard per line (- is standard input)"
    )
    parser.add_argument("--output", required=True, type=output_file, help="number of rules (JSON)")
    parser.set_defaults(run=_rules)


def _add_corpus(parser: argparse.ArgumentParser) -> None:
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
    parser.set_defaults(run=_corpus)


def _choose(options: argparse.Namespace) -> None:
    from itersel.report.system import System, choose_epoch, keep_weights, score_epochs, write_system

    if len(options.translations) != len(options.weights):
        raise InputError(
            f"{len(options.translations)} translations, but {len(options.weights)} weights; give one of each "
            "for every epoch"
        )
    if (options.labels is None) != (options.task is None):
        raise InputError("--labels and --task need each other; give both, or none to score all sentences")
    bleu, signature = score_epochs(
        options.reference, options.translations, options.tokenize, options.labels, options.task
    )
    epoch = choose_epoch(bleu)
    active = keep_weights(options.weights[epoch - 1], options.output_weights)
    system = System(
        name=options.name,
        repeat=options.repeat,
        learner=options.learner,
        mixing=options.mixing,
        tune_on=options.tune_on,
        features=options.features,
        tasks=options.tasks,
        shards=options.shards,
        epoch=epoch,
        devtest_bleu=bleu,
        devtest=options.devtest,
        signature=signature,
        active_features=active,
    )
    write_system(options.output, system)


def _resources(options: argparse.Namespace) -> None:
    from dataclasses import fields

    from itersel.grammar.extract import ExtractionSettings
    from itersel.report.resources import Resources, write_resources

    settings = {item.name: getattr(options, item.name) for item in fields(ExtractionSettings)}
    resources = Resources(
        model=options.model,
        index=options.index,
        preparation=options.preparation,
        pop_limit=options.pop_limit,
        features=options.features,
        extraction=ExtractionSettings(**settings),
    )
    write_resources(options.output, resources)


def _table(options: argparse.Namespace) -> None:
    from itersel.report.comparison import compare, read_test_set, run_of

    if not len(options.test_set) == len(options.systems) == len(options.translations):
        raise InputError(
            f"{len(options.test_set)} --test-set, {len(options.systems)} --systems and "
            f"{len(options.translations)} --translations; give one of each for every test set"
        )
    groups = zip(options.test_set, options.systems, options.translations, strict=True)
    test_sets = [read_test_set(*group) for group in groups]
    first = test_sets[0]
    for number, one in enumerate(test_sets):
        if one.name in {other.name for other in test_sets[:number]}:
            raise InputError(f"two test sets are named '{one.name}'; rename one of them")
        if [run_of(system) for system in one.systems] != [run_of(system) for system in first.systems]:
            raise InputError(
                f"test sets '{first.name}' and '{one.name}' have different systems; give the same, in the "
                "same order"
            )
    comparison = compare(test_sets, tokenize=options.tokenize, trials=options.trials, seed=options.seed)
    write_formats(options.output, comparison.text, comparison.tsv, comparison.json)


def _tasks(options: argparse.Namespace) -> None:
    from itersel.evaluate.bleu import read_references, read_translations
    from itersel.report.labels import read_labels
    from itersel.report.tasks import compare_tasks

    for (name, path), count in Counter(map(tuple, options.system)).items():
        if count > 1:
            raise InputError(f"given {count} times as '{name}'; give each run of a system once", path)
    references = read_references(options.reference)
    labels = read_labels(options.labels, options.tasks, len(references[0]), options.reference[0])
    texts: dict[str, list[list[str]]] = {}
    for name, path in options.system:
        texts.setdefault(name, []).append(read_translations(path, references, options.reference[0]))
    how = {key: getattr(options, key) for key in ("tokenize", "trials", "seed")}
    table = compare_tasks(texts, references, labels, options.tasks, **how)
    write_formats(options.output, table.text, table.tsv, table.json)


def _join(options: argparse.Namespace) -> None:
    from itersel.report.labels import join_translations
    from itersel.storage.files import write_lines

    write_lines(options.output, join_translations(options.labels, options.tasks, options.translations))


def _selection(options: argparse.Namespace) -> None:
    from itersel.report.selection import describe_selection, json_table, text_table, tsv_table

    rows = describe_selection(options.matrices)
    write_formats(options.output, *(partial(table, rows) for table in (text_table, tsv_table, json_table)))


def _rules(options: argparse.Namespace) -> None:
    from itersel.report.corpus import count_rules
    from itersel.storage.files import read_names, write_lines

    write_lines(options.output, [json.dumps({"rules": count_rules(read_names(options.shards))})])


def _corpus(options: argparse.Namespace) -> None:
    from itersel.corpus.statistics import read_left_out
    from itersel.report.corpus import describe_splits, json_table, text_table, tsv_table

    splits = describe_splits(options.preparation, dict(options.rules))
    left_out = read_left_out(options.preparation, options.collection)
    tables = (partial(table, splits, left_out) for table in (text_table, tsv_table, json_table))
    write_formats(options.output, *tables)
