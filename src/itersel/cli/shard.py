"""``itersel step shard``: cut a corpus, or n-best lists, into shards."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_files, add_optional_files, add_options, add_settings
from itersel.config.cutting import CutSettings, GivenListCutSettings
from itersel.config.settings import read_settings
from itersel.config.ways_to_cut import Labelled, Pooled
from itersel.errors import InputError


def _add_shard(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Cut parallel text into Z shards, numbered from 0: DIR/z.source.gz, DIR/z.target.gz and DIR/z.ids, "
        "the line number (from 0) of each sentence and of its copies, for 'itersel grammar extract "
        "--leave-one-out'. The sizes of the shards (with labels: of the shards of a task) differ by at most "
        "one. With --nbest, cut n-best lists of another decoder: DIR/z.lists.gz, DIR/z.ids without copies, "
        "source and references, and DIR/dense.txt, the names of the dense features."
    )

    add_settings(parser, GivenListCutSettings)
    add_optional_files(parser, {"--source FILE": "source text, one sentence per line"})
    texts = {
        "--target FILE": "its translations: one file for each reference (DIR/z.target.gz, DIR/z.target.1.gz)",
        "--nbest FILE": "n-best lists of any decoder, or folders of them; --source is optional then",
    }
    add_files(parser, texts, nargs="*", default=[])

    files = {
        "--quality FILE": "with --nbest: a number for each translation, higher is better; no references",
        "--task FILE": "task label of each line, if shards depend on it",
        "--scored FILE": "labels of the text on which epochs are chosen by task; it must have all labels",
    }
    add_optional_files(parser, files)

    add_options(parser, {"--output DIR": "folder to write to"}, required=True)


def _shard(options: argparse.Namespace) -> None:
    from itersel.grammar.cutting import read_cut

    settings = read_settings(GivenListCutSettings if options.nbest else CutSettings, options.settings)
    _check_files(options, settings)
    first = options.nbest[0] if options.nbest else options.source
    cut = read_cut(settings.cut, text=first, labels=options.task, scored=options.scored)
    if isinstance(settings, GivenListCutSettings):
        from itersel.lists.sharding import shard_lists

        given = options.target, options.quality, settings.dense_names, options.source
        shard_lists(options.nbest, cut, options.output, *given)
    else:
        from itersel.corpus.sharding import shard_corpus

        target, *further = options.target
        shard_corpus(options.source, target, cut, options.output, further)


def _check_files(options: argparse.Namespace, settings: CutSettings) -> None:
    """Raise an InputError if a file is missing or superfluous."""
    if options.nbest and not options.target and options.quality is None:
        raise InputError("--nbest needs references (--target) or --quality")
    if not options.nbest and (options.source is None or not options.target):
        raise InputError("missing: --source and --target (or --nbest)")
    if not options.nbest and options.quality is not None:
        raise InputError("--quality needs --nbest")

    needs_labels = isinstance(settings.cut, Labelled | Pooled)
    if needs_labels != (options.task is not None):
        raise InputError("--task is needed to cut by label, and only then")
    if options.scored is not None and not isinstance(settings.cut, Labelled):
        raise InputError("--scored is only for shards of labels")
