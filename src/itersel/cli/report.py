"""``itersel report``: choose epochs, and write tables and the page of a run."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itersel.cli.arguments import (
    add_devtest_scoring,
    add_options,
    add_output,
    add_randomization,
    add_scoring,
    add_tokenize,
    named_file,
    output_file,
    positive,
)
from itersel.config.command_line import add_section_arguments, section_of, whole
from itersel.config.search import Grammar
from itersel.errors import InputError
from itersel.limits import FEATURE_SETS, MAX_POP_LIMIT, TEXT_SCORES, TOKENIZED_BLEU

if TYPE_CHECKING:
    from itersel.evaluate.metrics import CorpusScore

# Pages in the folder of results. That of an unfinished run has a different name because the other one is an
# output of the workflow.
INDEX, PROGRESS = "report/index.html", "report/progress.html"

# How the names of output files end, which determines their formats; and what returns the lines of a format.
TABLES, PAPERS, PAGE = (".txt", ".tsv", ".json"), (".tex", ".md"), ".html"
Form = Callable[[Any], list[str]]

SUBSTEPS = {
    "report choose": "choose the best epoch of an experiment on devtest",
    "report patience": "decide whether training stops, by the scores on devtest",
    "report resources": "record what a system needs to translate text",
    "report table": "make a table of systems: scores and significant differences",
    "report tasks": "make a table of systems by task of the test sentences",
    "report join": "join translations by models for single tasks",
    "report selection": "make a table of what was selected in each epoch",
    "report rules": "count the rules in the grammars of some shards",
    "report corpus": "make a table of the corpora: sentences, words, rules",
    "report paper": "write the table of systems for a paper: LaTeX, Markdown",
    "report page": "write the page of a run: one HTML file",
    "report watch": "write the page of an unfinished run whenever it changes",
    "report runs": "compare the experiments of several runs with a baseline: tables, one page",
}


def _add_choose(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score the translations of devtest after each epoch, copy the weights of the best epoch (the "
        "earliest in case of ties), and describe the system. With --labels and --task, score only the "
        "sentences of a task."
    )
    add_devtest_scoring(parser)
    one_each = dict.fromkeys(("--translations", "--weights"), "one file per epoch, in order")
    add_options(parser, one_each, nargs="+", required=True)
    description = {
        "--name": "name of the experiment",
        "--learner": "learner that trained the shards",
        "--mixing": "how the weights of the shards were mixed",
        "--tune-on": "corpus used for training",
        "--features": "features of the system",
    }
    add_options(parser, description, required=True)
    add_options(parser, {"--repeat N": "number of the run, from 1 (default: 1)"}, type=positive, default=1)
    add_options(parser, {"--devtest": "split that was translated (default: %(default)s)"}, default="devtest")
    add_options(parser, {"--tasks": "kind of shards (default: %(default)s)"}, default="random")
    add_options(parser, {"--shards": "number of shards"}, type=positive, required=True)
    add_output(parser, "copy of the weights of the best epoch", "--output-weights")
    add_output(parser, "description of the system (JSON)", "--output")


def _add_patience(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score the translations of devtest after an epoch, and decide whether training stops: if none of the "
        "last N epochs is better than all before."
    )
    add_devtest_scoring(parser)
    add_options(parser, {"--translations FILE": "translations after the epoch"}, required=True)
    add_options(parser, {"--patience N": "number of epochs without a gain"}, type=positive, required=True)
    add_options(parser, {"--previous FILE": "output of this command after the previous epoch"})
    add_output(parser, "scores after each epoch, and the decision (JSON)", "--output")


def _add_resources(parser: argparse.ArgumentParser) -> None:
    files = {
        "--model": "compiled language model",
        "--index": "index of the training corpus",
        "--preparation": "preparation.json of 'itersel corpus prepare'",
        "--recaser": "recaser.json of 'itersel corpus prepare'",
    }
    add_options(parser, files, required=True)
    pop_limit = {"--pop-limit": "pop limit of the decoder"}
    add_options(parser, pop_limit, type=whole(1, MAX_POP_LIMIT), required=True)
    add_options(parser, {"--features": "features of the decoder"}, choices=FEATURE_SETS, required=True)
    add_section_arguments(parser, Grammar)
    add_output(parser, "resources.json in the folder of the system", "--output")


def _add_table(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score systems on one or more test sets, and test every pair of systems for a significant "
        "difference. Systems with the same name are runs of one experiment; their scores are averaged. For "
        "several test sets, repeat --test-set, --systems, --translations and, if used, --counts and "
        "--outputs in the same order; another table then scores all sentences together."
    )
    add_tokenize(parser)
    add_randomization(parser)
    several: dict[str, Any] = {"nargs": "+", "action": "append"}
    test_set = {"--test-set": "name of the test set and its reference translations, one sentence per line"}
    add_options(parser, test_set, required=True, metavar=("NAME", "REFERENCE"), **several)
    files = {
        "--systems FILE": "descriptions made by 'itersel report choose'",
        "--translations FILE": "translations of the test set, in the order of --systems",
    }
    add_options(parser, files, required=True, **several)
    counts = "output of 'itersel detokenize --counts' for all --systems and then all --outputs"
    add_options(parser, {"--counts FILE": counts}, default=[], **several)
    text = (
        "what the counted text is: detokenised, tokenised because the corpus was given so, or translations "
        "as they stand in n-best lists (default: detokenized)"
    )
    kinds = ("detokenized", "tokenized", "listed")
    add_options(parser, {"--text": text}, choices=kinds, default="detokenized")
    outputs = "translations by other systems, plain text; require --preparation"
    add_options(parser, {"--outputs NAME=FILE": outputs}, type=named_file, default=[], **several)
    add_options(parser, {"--preparation FILE": "preparation.json of the training corpus"})
    _add_outputs(parser, TABLES)


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Score systems on the sentences of each task of a test set and on all tasks together, and test every "
        "pair of systems for a significant difference on each. Systems with the same name are runs of one "
        "experiment; their scores are averaged. Sentences with other labels are left out."
    )
    add_scoring(parser)
    add_randomization(parser)
    _add_labels(parser)
    system = {"--system": "name of an experiment and its translations of the test set; may be repeated"}
    add_options(parser, system, nargs=2, action="append", required=True, metavar=("NAME", "FILE"))
    _add_outputs(parser, TABLES)


def _add_join(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Take the translation of each sentence by the model of its task; other lines are empty."
    )
    _add_labels(parser)
    translations = "translations of the whole text by the model of each task, in the order of --tasks"
    add_options(parser, {"--translations FILE": translations}, nargs="+", required=True)
    add_output(parser, "joined translations", "--output")


def _add_labels(parser: argparse.ArgumentParser) -> None:
    add_options(parser, {"--labels FILE": "task label of each line"}, required=True)
    add_options(parser, {"--tasks LABEL": "labels of the tasks"}, nargs="+", required=True)


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "For each epoch and group of features, show how many features were selected, how many of these had "
        "been selected before, how many shards share them, and their norms."
    )
    parser.add_argument("--matrices", nargs="+", required=True, help="selection.h5 of each epoch, in order")
    _add_outputs(parser, TABLES)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    listed = {"--shards": "file that lists one shard per line (- is standard input)"}
    add_options(parser, listed, required=True)
    add_output(parser, "number of rules (JSON)", "--output")


def _add_corpus(parser: argparse.ArgumentParser) -> None:
    preparation = "statistics.json files of 'itersel corpus prepare'"
    add_options(parser, {"--preparation": preparation}, nargs="+", required=True)
    add_options(parser, {"--collection FILE": "statistics.json of 'itersel corpus libreoffice-help'"})
    rules = "output of 'itersel report rules' for a split; may be repeated"
    add_options(parser, {"--rules": rules}, nargs=2, action="append", default=[], metavar=("SPLIT", "FILE"))
    _add_outputs(parser, TABLES)


def _add_paper(parser: argparse.ArgumentParser) -> None:
    add_options(parser, {"--table FILE": "table.json of 'itersel report table'"}, required=True)
    _add_outputs(parser, PAPERS)


def _add_page(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Show a run as one HTML file that needs no network: tables, learning curves, features, translations. "
        "Parts whose files do not exist yet are left out."
    )
    _add_page_files(parser, INDEX)


def _add_watch(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write the page of an unfinished run, and rewrite it whenever files of the run change. An open "
        "browser reloads it. Ends when the run has its final page, or with Ctrl-C."
    )
    _add_page_files(parser, PROGRESS)
    add_options(parser, {"--seconds N": "time between two checks (default: 30)"}, type=positive, default=30)
    parser.add_argument("--once", action="store_true", help="write the page once and stop")


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compare the experiments that several finished runs share, such as those of other language pairs: "
        "their scores in each run, their differences from a baseline, and tests of the mean differences over "
        "all runs. Prints the tables as text, unless output files are given."
    )
    runs = "folder of a run: <output>/<name> of its config"
    add_options(parser, {"runs RESULTS": runs}, nargs="+", type=Path)
    baseline = "experiment to compare with; of several, each run is compared with the best one on its devtest"
    add_options(parser, {"--baseline NAME": baseline}, action="append", required=True)
    metric = {"--metric": "score that is compared (default: bleu, cased, of detokenised text)"}
    add_options(parser, metric, choices=(TOKENIZED_BLEU, *TEXT_SCORES), default="bleu")
    add_randomization(parser)
    _add_outputs(parser, (*TABLES, *PAPERS, PAGE), required=False)


def _add_page_files(parser: argparse.ArgumentParser, default: str) -> None:
    results = {"--results FOLDER": "results of a run: <output>/<name> of its config"}
    add_options(parser, results, type=Path, required=True)
    page = {"--output FILE": f"HTML file (default: {default} in the folder of results)"}
    add_options(parser, page, type=output_file)


def _choose(options: argparse.Namespace) -> None:
    from itersel.evaluate.epochs import choose_epoch
    from itersel.report.system import System, keep_weights, write_system
    from itersel.vectors.weights import has_stopped

    count, given = len(options.translations), len(options.weights)
    if count != given:
        raise InputError(f"{count} translations, but {given} weights; give one of each per epoch")
    scores, signature, chosen_by = _score_devtest(options, options.translations)
    epoch = choose_epoch(chosen_by, options.by)
    active = keep_weights(options.weights[epoch - 1], options.output_weights)
    described = ("name", "repeat", "learner", "mixing", "tune_on", "features", "tasks", "shards", "devtest")
    system = System(
        **{name: getattr(options, name) for name in described},
        epoch=epoch,
        devtest_bleu=tuple(score.bleu for score in scores),
        chosen_by=options.by,
        devtest_scores=chosen_by,
        signature=signature,
        active_features=active,
        devtest_brevity_penalty=tuple(score.brevity_penalty for score in scores),
        passed_on=sum(map(has_stopped, options.weights)),
    )
    write_system(options.output, system)


def _score_devtest(
    options: argparse.Namespace, translations: list[str]
) -> tuple[tuple[CorpusScore, ...], str, tuple[float, ...]]:
    """Return the scores of each epoch, their signature, and the scores by which the epoch is chosen."""
    from itersel.report.system import score_epochs, score_epochs_as_text

    task = options.labels, options.task
    if (options.labels is None) != (options.task is None):
        raise InputError("--labels and --task need each other; give both, or neither to score all sentences")
    scores, signature = score_epochs(options.reference, translations, options.tokenize, *task)
    chosen_by = tuple(score.bleu for score in scores)
    if options.by != TOKENIZED_BLEU:
        files = options.raw_references, options.preparation, options.recaser
        if None in files:
            raise InputError(f"--by {options.by} needs --raw-references, --preparation and --recaser")
        detokenizer = options.preparation, options.recaser
        chosen_by = score_epochs_as_text(
            options.raw_references, translations, options.by, options.tokenizer, detokenizer, *task
        )
    return scores, signature, chosen_by


def _patience(options: argparse.Namespace) -> None:
    from itersel.evaluate.epochs import next_progress, read_progress, write_progress

    before = None if options.previous is None else read_progress(options.previous)
    _, _, (score,) = _score_devtest(options, [options.translations])
    write_progress(options.output, next_progress(before, score, options.patience, options.by))


def _resources(options: argparse.Namespace) -> None:
    from itersel.report.resources import Resources, write_resources

    names = ("model", "index", "preparation", "recaser", "pop_limit", "features")
    files = {name: getattr(options, name) for name in names}
    write_resources(options.output, Resources(**files, extraction=section_of(Grammar, options)))


def _table(options: argparse.Namespace) -> None:
    from itersel.report.comparison import compare, read_test_set
    from itersel.report.table import text_table, tsv_table

    count, systems, translations = map(len, (options.test_set, options.systems, options.translations))
    if not count == systems == translations:
        given = f"{count} --test-set, {systems} --systems and {translations} --translations"
        raise InputError(f"{given}; give one of each per test set")
    for name in ("counts", "outputs"):
        if len(getattr(options, name)) not in (0, count):
            given = f"{len(getattr(options, name))} --{name} for {count} test sets"
            raise InputError(f"{given}; give them for all test sets or none")
    if (options.preparation is None) != (not options.outputs):
        raise InputError("--outputs and --preparation need each other; give both or neither")
    counts, outputs = (found or [[]] * count for found in (options.counts, options.outputs))
    groups = zip(options.test_set, options.systems, options.translations, counts, outputs, strict=True)
    test_sets = [read_test_set(*group, options.preparation) for group in groups]
    how = {key: getattr(options, key) for key in ("tokenize", "trials", "seed")}
    table = compare(test_sets, **how)
    _write_table(options.output, table, partial(text_table, text=options.text), tsv_table)


def _tasks(options: argparse.Namespace) -> None:
    from itersel.corpus.columns import read_labels, refuse_repeats
    from itersel.evaluate.metrics import read_references, read_translations
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
    _write_table(options.output, table, text_table, tsv_table)


def _join(options: argparse.Namespace) -> None:
    from itersel.corpus.columns import join_translations
    from itersel.storage.files import write_lines

    write_lines(options.output, join_translations(options.labels, options.tasks, options.translations))


def _selection(options: argparse.Namespace) -> None:
    from itersel.report.selection import describe_selection, text_table, tsv_table

    _write_table(options.output, describe_selection(options.matrices), text_table, tsv_table)


def _rules(options: argparse.Namespace) -> None:
    from itersel.report.corpus import count_rules
    from itersel.storage.files import read_names, write_lines

    write_lines(options.output, [json.dumps({"rules": count_rules(read_names(options.shards))})])


def _corpus(options: argparse.Namespace) -> None:
    from itersel.report.corpus import describe_corpus, text_table, tsv_table

    corpus = describe_corpus(options.preparation, dict(options.rules), options.collection)
    _write_table(options.output, corpus, text_table, tsv_table)


def _paper(options: argparse.Namespace) -> None:
    from itersel.report.page.table import latex, markdown, read_table

    table = read_table(Path(options.table))
    if table is None:
        raise InputError("no such file", options.table)
    _write_forms(options.output, table, dict(zip(PAPERS, (latex, markdown), strict=True)))


def _page(options: argparse.Namespace) -> None:
    from itersel.report.page.render import write_page

    write_page(options.results, options.output or options.results / INDEX)


def _watch(options: argparse.Namespace) -> None:
    from itersel.report.page.render import watch

    output = options.output or options.results / PROGRESS
    watch(options.results, output, options.results / INDEX, seconds=options.seconds, once=options.once)


def _runs(options: argparse.Namespace) -> None:
    from itersel.report.runs import compare_runs, read_runs
    from itersel.report.runs_table import latex, markdown, render_runs, text_table, tsv_table

    made: list[Form] = [text_table, tsv_table, _as_json, latex, markdown, lambda one: [render_runs(one)]]
    forms = dict(zip((*TABLES, *PAPERS, PAGE), made, strict=True))
    runs = read_runs(options.runs)
    how = {key: getattr(options, key) for key in ("trials", "seed")}
    content = compare_runs(runs, options.baseline, options.metric, **how)
    _write_forms(options.output, content, forms)
    if not options.output:
        print(*text_table(content), sep="\n")


def _add_outputs(parser: argparse.ArgumentParser, suffixes: tuple[str, ...], required: bool = True) -> None:
    files = {"--output": f"output files; the name determines the format: {', '.join(suffixes)}"}
    add_options(parser, files, nargs="+", type=output_file, required=required, default=[])


def _write_forms(paths: list[str], content: Any, forms: dict[str, Form]) -> None:
    """Write lines in the formats that the names of the files end in; if one has none, no file is written."""
    from itersel.storage.files import write_lines

    chosen: dict[str, Form] = {}
    for path in paths:
        suffix = next((suffix for suffix in forms if path.endswith(suffix)), None)
        if suffix is None:
            raise InputError(f"the name must end in {', '.join(forms)}", path)
        chosen[path] = forms[suffix]
    for path, form in chosen.items():
        write_lines(path, form(content))


def _write_table(paths: list[str], table: Any, text: Form, tsv: Form) -> None:
    _write_forms(paths, table, dict(zip(TABLES, (text, tsv, _as_json), strict=True)))


def _as_json(table: object) -> list[str]:
    return [json.dumps(table, indent=2, ensure_ascii=False)]
