"""``itersel report``: tables for papers and of several runs, and the page of a run."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from itersel.cli.argument_types import output_file, positive
from itersel.cli.arguments import add_options
from itersel.cli.table_files import (
    PAGE_SUFFIX,
    PAPER_SUFFIXES,
    TABLE_SUFFIXES,
    Formatter,
    add_table_files,
    json_lines,
    write_formats,
)
from itersel.config.command_line import add_section_arguments, different_names, refuse, section_of
from itersel.config.evaluation import SignificanceSettings
from itersel.errors import InputError
from itersel.evaluate.names import DEFAULT_METRIC, DEFAULT_METRICS, METRICS, TABULATED, TOKENIZED_BLEU
from itersel.report.columns import COLUMNS
from itersel.results import PAGE, PROGRESS_PAGE

# See `add_command`.
RUNS_KERNELS = False

PARTS = {
    "report paper": "write the table of systems for a paper: LaTeX, Markdown",
    "report page": "write the page of a run: one HTML file",
    "report watch": "write the page of an unfinished run whenever it changes",
    "report runs": "compare the experiments of several runs with a baseline: tables, one page",
}


def _add_paper(parser: argparse.ArgumentParser) -> None:
    add_options(parser, {"--table FILE": "table.json of 'itersel step table'"}, required=True)
    parser.description = (
        "Write a table of the systems for each test set. The LaTeX table needs the packages booktabs and "
        "graphicx, and fits the width of a line."
    )
    columns = {"--columns NAMES": f"columns besides the scores, some of {', '.join(COLUMNS)} (default: none)"}
    add_options(parser, columns, type=different_names(COLUMNS), default=())
    listed = ", ".join((TOKENIZED_BLEU, *TABULATED))
    default = ",".join(DEFAULT_METRICS)
    metrics = f"some of {listed}, and scores of your own (default: {default}, and all of your own)"
    add_options(parser, {"--metrics NAMES": metrics}, type=_different_metrics, default=())
    add_table_files(parser, PAPER_SUFFIXES)


def _different_metrics(text: str) -> tuple[str, ...]:
    """Parse different metrics, separated by commas; only the table shows which there are."""
    given = different_names(None)(text)
    found = tuple(name.lower() if name.lower() in METRICS else name for name in given)
    if len({*found}) < len(found):
        refuse(text, "a comma-separated list of different names")
    return found


def _add_page(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Show a run as one HTML file that needs no network: tables, learning curves, features, translations. "
        "Parts whose files do not exist yet are left out."
    )
    _add_page_files(parser, PAGE)


def _add_watch(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write the page of an unfinished run, and rewrite it whenever files of the run change. An open "
        "browser reloads it. Ends when the run has its final page, or with Ctrl-C."
    )
    _add_page_files(parser, PROGRESS_PAGE)
    add_options(parser, {"--seconds N": "time between two checks (default: 30)"}, type=positive, default=30)
    parser.add_argument("--once", action="store_true", help="write the page once and stop")


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compare the experiments that several finished runs share, such as runs of other language pairs: "
        "their scores in each run, their differences from a baseline, and tests of the mean differences over "
        "all runs. Prints the tables as text, unless output files are given."
    )

    runs = "folder of a run: <output>/<name> of its config"
    add_options(parser, {"runs RESULTS": runs}, nargs="+", type=Path)

    baselines = (
        "experiments to compare with, separated by commas; if several are given, each run uses the best of "
        "them on its devtest"
    )
    add_options(parser, {"--baselines NAMES": baselines}, type=different_names(None), required=True)

    metric = {"--metric": f"metric that is compared (default: {DEFAULT_METRIC})"}
    add_options(parser, metric, type=str.lower, choices=(TOKENIZED_BLEU, *TABULATED), default=DEFAULT_METRIC)

    add_section_arguments(parser, SignificanceSettings)
    add_table_files(
        parser, (*TABLE_SUFFIXES, *PAPER_SUFFIXES, PAGE_SUFFIX), required=False, has_positional=True
    )


def _add_page_files(parser: argparse.ArgumentParser, default: str) -> None:
    results = {"--results FOLDER": "results of a run: <output>/<name> of its config"}
    add_options(parser, results, type=Path, required=True)
    page = {"--output FILE": f"HTML file (default: {default} in the folder of results)"}
    add_options(parser, page, type=output_file)


def _paper(options: argparse.Namespace) -> None:
    from itersel.report.papers import latex, markdown
    from itersel.report.table_content import read_table

    table = read_table(Path(options.table))
    if table is None:
        raise InputError("no such file", options.table)
    formatters = (partial(one, columns=options.columns, metrics=options.metrics) for one in (latex, markdown))
    write_formats(options.output, table, dict(zip(PAPER_SUFFIXES, formatters, strict=True)))


def _page(options: argparse.Namespace) -> None:
    from itersel.report.page.writing import write_page

    write_page(options.results, options.output or options.results / PAGE)


def _watch(options: argparse.Namespace) -> None:
    from itersel.report.page.writing import watch

    output = options.output or options.results / PROGRESS_PAGE
    watch(options.results, output, options.results / PAGE, seconds=options.seconds, once=options.once)


def _runs(options: argparse.Namespace) -> None:
    from itersel.report.finished import read_runs
    from itersel.report.page.runs import render_runs
    from itersel.report.runs import compare_runs
    from itersel.report.runs_table import latex, markdown, text_table, tsv_table

    made: list[Formatter] = [
        text_table,
        tsv_table,
        json_lines,
        latex,
        markdown,
        lambda one: [render_runs(one)],
    ]
    formatters = dict(zip((*TABLE_SUFFIXES, *PAPER_SUFFIXES, PAGE_SUFFIX), made, strict=True))
    runs = read_runs(options.runs)
    how = section_of(SignificanceSettings, options)
    content = compare_runs(runs, options.baselines, options.metric, how)
    write_formats(options.output, content, formatters)
    if not options.output:
        print(*text_table(content), sep="\n")
