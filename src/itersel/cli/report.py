"""``itersel report``: choose epochs, and write tables and the page of a run."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from functools import partial

from itersel.cli import report_arguments as arguments
from itersel.cli.formats import write_formats
from itersel.cli.report_arguments import INDEX, PROGRESS
from itersel.config.options import section_of
from itersel.config.search import Grammar
from itersel.errors import InputError
from itersel.limits import TOKENIZED_BLEU


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sub-steps."""
    steps = parser.add_subparsers(dest="substep", metavar="SUBSTEP", required=True)
    for name, (add, run, summary) in {
        "choose": (arguments.add_choose, _choose, "choose the best epoch of an experiment on devtest"),
        "resources": (
            arguments.add_resources,
            _resources,
            "record what a system needs to translate text",
        ),
        "table": (arguments.add_table, _table, "make a table of systems: scores and significant differences"),
        "tasks": (arguments.add_tasks, _tasks, "make a table of systems by task of the test sentences"),
        "join": (arguments.add_join, _join, "join translations by models for single tasks"),
        "selection": (arguments.add_selection, _selection, "make a table of what was selected in each epoch"),
        "rules": (arguments.add_rules, _rules, "count the rules in the grammars of some shards"),
        "corpus": (arguments.add_corpus, _corpus, "make a table of the corpora: sentences, words, rules"),
        "paper": (arguments.add_paper, _paper, "write the table of systems for a paper: LaTeX, Markdown"),
        "page": (arguments.add_page, _page, "write the page of a run: one HTML file"),
        "watch": (arguments.add_watch, _watch, "write the page of an unfinished run whenever it changes"),
    }.items():
        step = steps.add_parser(name, help=summary)
        add(step)
        step.set_defaults(run=run)


def _choose(options: argparse.Namespace) -> None:
    from itersel.report.system import (
        AsText,
        System,
        choose_epoch,
        keep_weights,
        score_epochs,
        score_epochs_as_text,
        write_system,
    )

    if len(options.translations) != len(options.weights):
        raise InputError(
            f"{len(options.translations)} translations, but {len(options.weights)} weights; give one of each "
            "per epoch"
        )
    if (options.labels is None) != (options.task is None):
        raise InputError("--labels and --task need each other; give both, or neither to score all sentences")
    scores, signature = score_epochs(
        options.reference, options.translations, options.tokenize, options.labels, options.task
    )
    bleu = tuple(score.bleu for score in scores)
    chosen_by = bleu
    if options.by != TOKENIZED_BLEU:
        if None in (options.raw_references, options.preparation, options.recaser):
            raise InputError(f"--by {options.by} needs --raw-references, --preparation and --recaser")
        text = AsText(
            options.by, options.raw_references, options.preparation, options.recaser, options.tokenizer
        )
        chosen_by = score_epochs_as_text(text, options.translations, options.labels, options.task)
    epoch = choose_epoch(chosen_by, options.by)
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
        chosen_by=options.by,
        devtest_scores=chosen_by,
        devtest=options.devtest,
        signature=signature,
        active_features=active,
        devtest_brevity_penalty=tuple(score.brevity_penalty for score in scores),
    )
    write_system(options.output, system)


def _resources(options: argparse.Namespace) -> None:
    from itersel.report.resources import Resources, write_resources

    resources = Resources(
        model=options.model,
        index=options.index,
        preparation=options.preparation,
        recaser=options.recaser,
        pop_limit=options.pop_limit,
        features=options.features,
        extraction=section_of(Grammar, options),
    )
    write_resources(options.output, resources)


def _table(options: argparse.Namespace) -> None:
    from itersel.report.comparison import compare, read_test_set, run_of
    from itersel.report.table import text_table, tsv_table

    if not len(options.test_set) == len(options.systems) == len(options.translations):
        raise InputError(
            f"{len(options.test_set)} --test-set, {len(options.systems)} --systems and "
            f"{len(options.translations)} --translations; give one of each per test set"
        )
    if len(options.counts) not in (0, len(options.test_set)):
        raise InputError(
            f"{len(options.counts)} --counts for {len(options.test_set)} test sets; give them for all test "
            "sets or none"
        )
    groups = zip(options.test_set, options.systems, options.translations, strict=True)
    counts = options.counts or [[]] * len(options.test_set)
    test_sets = [read_test_set(*group, one) for group, one in zip(groups, counts, strict=True)]
    first = test_sets[0]
    for number, one in enumerate(test_sets):
        if one.name in {other.name for other in test_sets[:number]}:
            raise InputError(f"two test sets are named '{one.name}'; rename one of them")
        if [run_of(system) for system in one.systems] != [run_of(system) for system in first.systems]:
            raise InputError(
                f"test sets '{first.name}' and '{one.name}' have different systems; give the same systems in "
                "the same order"
            )
    how = {key: getattr(options, key) for key in ("tokenize", "trials", "seed")}
    table = compare(test_sets, **how)
    text = partial(text_table, stays_tokenized=options.stays_tokenized)
    write_formats(options.output, table, text, tsv_table)


def _tasks(options: argparse.Namespace) -> None:
    from itersel.corpus.labels import read_labels, refuse_repeats
    from itersel.evaluate.bleu import read_references, read_translations
    from itersel.report.tasks import compare_tasks, text_table, tsv_table

    for (name, path), count in Counter(map(tuple, options.system)).items():
        if count > 1:
            raise InputError(f"given {count} times as '{name}'; give each run of a system once", path)
    references = read_references(options.reference)
    refuse_repeats(options.tasks)
    labels = read_labels(options.labels, len(references[0]), options.reference[0])
    texts: dict[str, list[list[str]]] = {}
    for name, path in options.system:
        texts.setdefault(name, []).append(read_translations(path, references, options.reference[0]))
    how = {key: getattr(options, key) for key in ("tokenize", "trials", "seed")}
    table = compare_tasks(texts, references, labels, options.tasks, **how)
    write_formats(options.output, table, text_table, tsv_table)


def _join(options: argparse.Namespace) -> None:
    from itersel.report.labels import join_translations
    from itersel.storage.files import write_lines

    write_lines(options.output, join_translations(options.labels, options.tasks, options.translations))


def _selection(options: argparse.Namespace) -> None:
    from itersel.report.selection import describe_selection, text_table, tsv_table

    write_formats(options.output, describe_selection(options.matrices), text_table, tsv_table)


def _rules(options: argparse.Namespace) -> None:
    from itersel.report.corpus import count_rules
    from itersel.storage.files import read_names, write_lines

    write_lines(options.output, [json.dumps({"rules": count_rules(read_names(options.shards))})])


def _corpus(options: argparse.Namespace) -> None:
    from itersel.report.corpus import describe_corpus, text_table, tsv_table

    corpus = describe_corpus(options.preparation, dict(options.rules), options.collection)
    write_formats(options.output, corpus, text_table, tsv_table)


def _paper(options: argparse.Namespace) -> None:
    from pathlib import Path

    from itersel.report.page.table import latex, markdown, read_table
    from itersel.storage.files import write_lines

    table = read_table(Path(options.table))
    if table is None:
        raise InputError("no such file", options.table)
    writers = {".tex": latex, ".md": markdown}
    for path in options.output:
        if Path(path).suffix not in writers:
            raise InputError(f"the name must end in {', '.join(writers)}", path)
    for path in options.output:
        write_lines(path, writers[Path(path).suffix](table))


def _page(options: argparse.Namespace) -> None:
    from pathlib import Path

    from itersel.report.page.render import write_page

    write_page(Path(options.results), options.output or Path(options.results, INDEX))


def _watch(options: argparse.Namespace) -> None:
    from pathlib import Path

    from itersel.report.page.render import watch

    results = Path(options.results)
    output = options.output or results / PROGRESS
    watch(results, output, results / INDEX, seconds=options.seconds, once=options.once)
