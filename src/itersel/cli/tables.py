"""The tables of a run: ``itersel step table``, ``tasks``, ``join``, ``selection``, ``rules``, ``corpora``."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from functools import partial

from itersel.cli.arguments import add_files, add_optional_files, add_options, add_output
from itersel.cli.settings import add_settings
from itersel.cli.table_files import TABLE_SUFFIXES, add_table_files, write_table
from itersel.config.report_steps import CorporaSettings, JoinSettings, TableSettings, TaskTableSettings
from itersel.config.settings import read_settings
from itersel.errors import InputError
from itersel.storage.json_files import as_content

# See `add_command`.
RUNS_KERNELS = False

LABELS = {"--labels FILE": "label of each line"}


def _add_table(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score systems on one or more test sets, and test every pair of systems for a significant "
        "difference. Systems with the same name are repeats of one experiment; their scores are averaged. "
        "With several test sets, another table scores all sentences together."
    )
    add_settings(parser, TableSettings)
    preparation = "preparation.json of the training corpus, for the translations of other systems"
    add_optional_files(parser, {"--preparation FILE": preparation})
    add_table_files(parser, TABLE_SUFFIXES)


def _table(options: argparse.Namespace) -> None:
    from itersel.report.comparison import compare_systems
    from itersel.report.table import text_table, tsv_table
    from itersel.report.translations import read_test_set

    settings = read_settings(TableSettings, options.settings)
    needs_preparation = any(files.outputs or files.lists for files in settings.test_sets.values())
    if (options.preparation is None) == needs_preparation:
        raise InputError("outputs or lists and --preparation need each other; give both or neither")
    test_sets = [read_test_set(*named, options.preparation) for named in settings.test_sets.items()]
    table = compare_systems(test_sets, settings.comparison)
    write_table(options.output, table, partial(text_table, text=settings.text), tsv_table, as_content)


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score systems on the sentences of each task of a test set and on all tasks together, and test every "
        "pair of systems for a significant difference on each. Systems with the same name are repeats of one "
        "experiment; their scores are averaged. Sentences with other labels are left out."
    )
    add_settings(parser, TaskTableSettings)
    references = "reference translations, one sentence per line"
    add_files(parser, {"--reference FILE": references}, required=True)
    add_options(parser, LABELS, required=True)
    add_table_files(parser, TABLE_SUFFIXES)


def _tasks(options: argparse.Namespace) -> None:
    from itersel.corpus.labels import read_labels, refuse_repeats
    from itersel.evaluate.texts import read_references, read_translations
    from itersel.report.tasks import compare_tasks, text_table, tsv_table

    settings = read_settings(TaskTableSettings, options.settings)
    for repeat, count in Counter(settings.systems).items():
        if count > 1:
            why = f"given {count} times as '{repeat.name}'; give each repeat of a system once"
            raise InputError(why, repeat.translation)

    references = read_references(options.reference)
    refuse_repeats(settings.tasks)
    labels = read_labels(options.labels, len(references[0]), options.reference[0])

    texts: dict[str, list[list[str]]] = {}
    for repeat in settings.systems:
        translations = read_translations(repeat.translation, references, options.reference[0])
        texts.setdefault(repeat.name, []).append(translations)

    table = compare_tasks(texts, references, labels, settings.tasks, settings.comparison)
    write_table(options.output, table, text_table, tsv_table, as_content)


def _add_join(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Take the translation of each sentence by the model of its task; other lines are empty."
    )
    add_settings(parser, JoinSettings)
    add_options(parser, LABELS, required=True)
    add_output(parser, "joined translations", "--output")


def _join(options: argparse.Namespace) -> None:
    from itersel.corpus.labels import join_tasks
    from itersel.storage.files import write_lines

    settings = read_settings(JoinSettings, options.settings)
    write_lines(options.output, join_tasks(options.labels, settings.translations))


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "For each epoch and group of features, show how many features were selected, how many of these had "
        "been selected before, how many shards share them, and their norms."
    )
    add_files(parser, {"--matrix FILE": "matrix.h5 of each epoch, in order"}, required=True)
    add_table_files(parser, TABLE_SUFFIXES)


def _selection(options: argparse.Namespace) -> None:
    from itersel.report.selection import describe_selection, text_table, tsv_table

    write_table(options.output, describe_selection(options.matrix), text_table, tsv_table)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    listed = {"--inputs MANIFEST": "one file of sentences with grammars per line (- is standard input)"}
    add_options(parser, listed, required=True)
    add_output(parser, "number of rules (JSON)", "--output")


def _rules(options: argparse.Namespace) -> None:
    from itersel.report.corpus import count_rules
    from itersel.storage.files import read_manifest, write_lines

    write_lines(options.output, [json.dumps({"rules": count_rules(read_manifest(options.inputs))})])


def _add_corpora(parser: argparse.ArgumentParser) -> None:
    add_settings(parser, CorporaSettings)
    statistics = "statistics.json files of 'itersel corpus prepare'"
    add_files(parser, {"--statistics FILE": statistics}, required=True)
    collection = "statistics.json of 'itersel corpus libreoffice-help'"
    add_optional_files(parser, {"--collection FILE": collection})
    add_table_files(parser, TABLE_SUFFIXES)


def _corpora(options: argparse.Namespace) -> None:
    from itersel.report.corpus import describe_corpus, text_table, tsv_table

    settings = read_settings(CorporaSettings, options.settings)
    corpus = describe_corpus(options.statistics, settings.rules, options.collection)
    write_table(options.output, corpus, text_table, tsv_table)
