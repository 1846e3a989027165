"""``itersel grammar``: index a corpus; extract, export and import grammars."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_section_arguments, add_templates, output_file
from itersel.config.options import section_of
from itersel.config.search import Grammar
from itersel.limits import DEFAULT_TEMPLATES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sub-steps index, extract, export and import."""
    steps = parser.add_subparsers(dest="substep", metavar="SUBSTEP", required=True)
    _add_index(steps.add_parser("index", help="index a word-aligned corpus for extraction"))
    _add_extract(steps.add_parser("extract", help="extract grammars for sentences into a shard"))
    _add_export(steps.add_parser("export", help="write the grammars of a shard in cdec's format"))
    _add_import(steps.add_parser("import", help="make a shard from grammars in cdec's format"))


def _add_index(parser: argparse.ArgumentParser) -> None:
    parser.description = "Index a word-aligned parallel corpus for `itersel grammar extract`."
    parser.add_argument(
        "--source", required=True, metavar="TEXT", help="tokenised source text, plain or compressed"
    )
    parser.add_argument(
        "--target", required=True, metavar="TEXT", help="its translation, one sentence per line"
    )
    parser.add_argument(
        "--alignment", required=True, help="word alignment of each line, source-target in Pharaoh format"
    )
    parser.add_argument("--output", required=True, type=output_file, metavar="INDEX", help="index to write")
    parser.set_defaults(run=_index)


def _add_extract(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Extract the hierarchical rules (Chiang 2007) that apply to each sentence, with their features."
    )
    parser.add_argument("--index", required=True, help="index of the training corpus")
    parser.add_argument("--input", required=True, metavar="TEXT", help="sentences to translate, tokenised")
    parser.add_argument(
        "--leave-one-out",
        metavar="IDS",
        help="line numbers in the indexed corpus, from 0: each line of the file has that of a sentence and "
        "those of its copies, without which the sentence's grammar is extracted",
    )
    _add_references(parser)
    parser.add_argument("--output", required=True, type=output_file, metavar="SHARD", help="shard")
    add_section_arguments(parser, Grammar)
    parser.set_defaults(run=_extract)


def _add_references(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--references",
        action="append",
        default=[],
        metavar="TEXT",
        help="one reference a line; needed for training. Repeat it for further references; an empty line "
        "means that the sentence has no such reference",
    )


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write grammar.0.gz, grammar.1.gz ... in cdec's text format, without glue and pass-through rules."
    )
    parser.add_argument("--shard", required=True, help="shard")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder for the grammars")
    parser.set_defaults(run=_export)


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make a shard from sentences and their grammars in cdec's text format: lines `[NP] ||| ein [NN,1] "
        "||| a [NN,1] ||| name=value ... ||| 0-0`. Nonterminals may have any name; a sentence is an [S]. "
        "Glue rules ([S] -> [S] [X], [S] -> [X]) and rules for copying words are added."
    )
    parser.add_argument(
        "--input",
        required=True,
        metavar="TEXT",
        help='tokenised sentences, one per line, or lines <seg grammar="FILE" id="N"> text </seg>',
    )
    grammar = parser.add_mutually_exclusive_group()
    grammar.add_argument(
        "--grammars",
        metavar="DIR",
        help="folder of grammar.0.gz, grammar.1.gz ... (or plain files); required if the input names no "
        "grammars",
    )
    grammar.add_argument(
        "--grammar",
        metavar="FILE",
        help="one grammar for all sentences, whatever the input names; each sentence gets the rules whose "
        "words it contains",
    )
    _add_references(parser)
    add_templates(parser, DEFAULT_TEMPLATES, "templates of the sparse features (Count cannot be computed)")
    parser.add_argument("--output", required=True, type=output_file, metavar="SHARD", help="shard")
    parser.set_defaults(run=_import)


def _index(options: argparse.Namespace) -> None:
    from itersel.grammar.index import build_index

    build_index(options.source, options.target, options.alignment, options.output)


def _extract(options: argparse.Namespace) -> None:
    from itersel.grammar.extract import extract_shard

    settings = section_of(Grammar, options)
    extract_shard(
        options.index, options.input, options.output, options.leave_one_out, options.references, settings
    )


def _export(options: argparse.Namespace) -> None:
    from itersel.grammar.text import export_grammars

    export_grammars(options.shard, options.output)


def _import(options: argparse.Namespace) -> None:
    from itersel.grammar.text import import_grammars

    import_grammars(
        options.input,
        options.grammars,
        options.output,
        options.references,
        options.grammar,
        options.templates,
    )
