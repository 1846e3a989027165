"""``itersel step divide``: divide a corpus, or n-best lists, into files of sentences."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from itersel.cli.arguments import add_files, add_optional_files, add_options
from itersel.cli.given_lists import kind_of_settings
from itersel.cli.settings import add_settings
from itersel.config.division import (
    DivideSettings,
    Division,
    GivenListDivideSettings,
    InOrder,
    Labelled,
    Pooled,
    Shuffled,
)
from itersel.config.settings import read_settings
from itersel.errors import FilePath, InputError, located

if TYPE_CHECKING:
    from itersel.storage.arrays import Int64s

    # Returns the numbers of the sentences of each file, given the number of all sentences.
    Divide = Callable[[int], Sequence[Int64s]]

# See `add_command`.
RUNS_KERNELS = False


def _add_divide(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Divide parallel text into files, numbered from 0: DIR/f.source.gz, DIR/f.target.gz and DIR/f.ids, "
        "the line number (from 0) of each sentence and of its copies, for 'itersel grammar extract "
        "--leave-one-out'. The sizes of the files (with labels: of the files of a task) differ by at most "
        "one. With --nbest, divide n-best lists of another decoder: DIR/f.lists.gz, DIR/f.ids without "
        "copies, source and references, and DIR/dense.txt, the names of the dense features."
    )

    add_settings(parser, GivenListDivideSettings)
    add_optional_files(parser, {"--source FILE": "source text, one sentence per line"})
    texts = {
        "--target FILE": "its translations: one file for each reference (DIR/f.target.gz, DIR/f.target.1.gz)",
        "--nbest FILE": "n-best lists of any decoder, or folders of them; --source is optional then",
        "--reference FILE": "with --nbest: one file for each reference, written like those of --target",
    }
    add_files(parser, texts, nargs="*", default=[])

    files = {
        "--quality FILE": "with --nbest: a number for each translation, higher is better; no references",
        "--labels FILE": "label of each line, to divide by label",
        "--devtest-labels FILE": "labels of devtest if epochs are chosen by task; it must have all labels",
    }
    add_optional_files(parser, files)

    add_options(parser, {"--output DIR": "folder to write to"}, required=True)


def _divide(options: argparse.Namespace) -> None:
    kind = kind_of_settings(options, DivideSettings, GivenListDivideSettings)
    settings = read_settings(kind, options.settings)
    if isinstance(settings, GivenListDivideSettings):
        _divide_lists(options, settings)
    else:
        _divide_corpus(options, settings)


def _divide_lists(options: argparse.Namespace, settings: GivenListDivideSettings) -> None:
    from itersel.lists.dividing import divide_lists

    if options.target:
        raise InputError("with --nbest, use --reference instead of --target")
    if not options.reference and options.quality is None:
        raise InputError("--nbest needs --reference or --quality")

    divide_lists(
        options.nbest,
        _divider(options, settings.division, text=options.nbest[0]),
        options.output,
        references=options.reference,
        quality=options.quality,
        dense_names=settings.dense_names,
        source=options.source,
    )


def _divide_corpus(options: argparse.Namespace, settings: DivideSettings) -> None:
    from itersel.corpus.dividing import divide_corpus

    if options.source is None or not options.target:
        raise InputError("missing: --source and --target (or --nbest)")
    if options.reference or options.quality is not None:
        raise InputError("--reference and --quality need --nbest")

    target, *further = options.target
    divide = _divider(options, settings.division, text=options.source)
    divide_corpus(options.source, target, divide, options.output, further=further)


def _check_labels(options: argparse.Namespace, how: Division) -> None:
    """Raise an InputError if a file of labels is missing or superfluous."""
    needs_labels = isinstance(how, Labelled | Pooled)
    if needs_labels != (options.labels is not None):
        raise InputError("--labels is needed to divide by label, and only then")
    if options.devtest_labels is not None and not isinstance(how, Labelled):
        raise InputError("--devtest-labels is only for tasks of labels")


def _divider(options: argparse.Namespace, how: Division, *, text: FilePath) -> Divide:
    """Return a function that divides a text, which messages name; files of labels are read now, before it.

    There are labels only for a division that depends on them, and those of devtest if epochs are chosen by
    task: it must have all labels.
    """
    from itersel.corpus.dividing import natural_lines, pooled_lines
    from itersel.corpus.labels import check_label_count, read_labels, refuse_repeats, require_label

    _check_labels(options, how)
    if isinstance(how, InOrder | Shuffled):
        return partial(_divide_equally, how, text)

    assert isinstance(how, Labelled | Pooled)
    labels, devtest_labels = options.labels, options.devtest_labels
    found = read_labels(labels)
    of_devtest = None if devtest_labels is None else read_labels(devtest_labels)

    def divide(sentence_count: int) -> Sequence[Int64s]:
        check_label_count(found, labels, sentence_count, text)
        with located(labels):
            if isinstance(how, Pooled):
                refuse_repeats(how.labels)
                return pooled_lines(found, how.labels, how.files, how.seed, how.size_of_one_task)

            if of_devtest is not None:
                for name in how.labels:
                    require_label(of_devtest, name, devtest_labels)
            return natural_lines(found, how.labels, how.others == "join", how.minimum_sentences, how.seed)

    return divide


def _divide_equally(how: InOrder | Shuffled, text: FilePath, sentence_count: int) -> Sequence[Int64s]:
    from itersel.corpus.dividing import equal_groups

    if sentence_count < how.files:
        limit = f"use at most {sentence_count} (in a config: decoder.pieces, or tasks of an experiment)"
        raise InputError(f"has {sentence_count} sentences, too few for {how.files} files; {limit}", text)
    return equal_groups(sentence_count, how.files, how.seed if isinstance(how, Shuffled) else None)
