"""``itersel grammar``: index a corpus; extract, export and import grammars."""

from __future__ import annotations

import argparse

from itersel.cli.arguments import add_files, add_optional_files, add_options, add_output
from itersel.cli.settings import add_settings, settings_of
from itersel.config.command_line import add_key
from itersel.config.extraction import ExtractionSettings

PARTS = {
    "grammar index": "index a word-aligned corpus for extraction",
    "grammar extract": "extract grammars for sentences",
    "grammar export": "write the grammars of sentences in cdec's format",
    "grammar import": "read sentences with grammars in cdec's format",
}


def _add_index(parser: argparse.ArgumentParser) -> None:
    parser.description = "Index a word-aligned parallel corpus for `itersel grammar extract`."
    files = {
        "--source TEXT": "tokenised source text, plain or compressed",
        "--target TEXT": "its translation, one sentence per line",
        "--alignment": "word alignment of each line, source-target in Pharaoh format",
    }
    add_options(parser, files, required=True)
    add_output(parser, "index to write", "--output INDEX")


def _add_extract(parser: argparse.ArgumentParser) -> None:
    parser.description = "Extract the hierarchical rules (Chiang 2007) of each sentence, with their features."
    files = {"--index": "index of the training corpus", "--input TEXT": "sentences to translate, tokenised"}
    add_options(parser, files, required=True)
    leave_one_out = (
        "a line for each sentence: its number in the indexed corpus, from 0, and the numbers of its copies; "
        "its grammar is extracted without these"
    )
    add_optional_files(parser, {"--leave-one-out IDS": leave_one_out})
    _add_references_and_output(parser)
    add_settings(parser, ExtractionSettings, with_options=True)


def _add_references_and_output(parser: argparse.ArgumentParser) -> None:
    references = (
        "references, one per line; needed for training. Repeat it for further references; an empty line "
        "means that the sentence has no such reference"
    )
    add_files(parser, {"--reference TEXT": references}, default=[])
    add_output(parser, "sentences with their grammars, .h5")


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.description = "Write grammar.0.gz, grammar.1.gz ... for cdec, without glue and pass-through rules."
    files = {"--sentences FILE": "sentences with grammars, .h5", "--output DIR": "folder for the grammars"}
    add_options(parser, files, required=True)


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Read sentences and their grammars in cdec's text format: lines `[NP] ||| ein [NN,1] "
        "||| a [NN,1] ||| name=value ... ||| 0-0`. Nonterminals may have any name; a sentence is an [S]. "
        "Glue rules ([S] -> [S] [X], [S] -> [X]) and rules for copying words are added."
    )

    sentences = 'tokenised sentences, one per line, or lines <seg grammar="FILE" id="N"> text </seg>'
    add_options(parser, {"--input TEXT": sentences}, required=True)
    grammars = {
        "--grammars DIR": "folder of grammar.0.gz, ... or plain files; required if the input names none",
        "--grammar FILE": "one grammar for all sentences; each gets the rules whose words it contains",
    }
    add_options(parser.add_mutually_exclusive_group(), grammars)

    _add_references_and_output(parser)
    add_key(parser, ExtractionSettings, "templates")


def _index(options: argparse.Namespace) -> None:
    from itersel.grammar.index import build_index

    build_index(options.source, options.target, options.alignment, options.output)


def _extract(options: argparse.Namespace) -> None:
    from itersel.grammar.extract import extract_grammars

    extract_grammars(
        index=options.index,
        input=options.input,
        output=options.output,
        leave_one_out=options.leave_one_out,
        references=options.reference,
        settings=settings_of(ExtractionSettings, options),
    )


def _export(options: argparse.Namespace) -> None:
    from itersel.grammar.text_format import export_grammars

    export_grammars(options.sentences, options.output)


def _import(options: argparse.Namespace) -> None:
    from itersel.grammar.text_format import import_grammars

    import_grammars(
        text=options.input,
        grammars=options.grammars,
        output=options.output,
        references=options.reference,
        grammar=options.grammar,
        templates=options.templates,
    )
