"""``itersel translate``, ``bundle`` and ``export``: use a trained system, here or elsewhere."""

from __future__ import annotations

import argparse
import sys

from itersel.cli.argument_types import output_file
from itersel.cli.arguments import add_options
from itersel.cli.mbr import add_mbr, mbr_of
from itersel.cli.shared_options import add_processes, add_text_files
from itersel.config.command_line import whole
from itersel.config.mbr import MinimumRisk
from itersel.config.search import MAX_K_BEST

PARTS = {"export cdec": "write a folder that cdec runs as it is"}


def _add_translate(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Translate raw text, one sentence per line. The text is prepared like the text of the run; the case "
        "of translations is restored, and they are detokenised unless the corpus was given tokenised. Input "
        "is translated as it arrives: a line written to a pipe is answered before the next one."
    )

    _add_system(parser)
    add_text_files(parser, "text")
    keep_tokens = "write what the decoder writes: lowercased words with spaces between them"
    add_options(parser, {"--keep-tokens": keep_tokens}, action="store_true")
    add_processes(parser)

    details = parser.add_argument_group("details", "Each writes JSON objects instead of translations.")
    k_best = "the K best different translations of each sentence, with their scores"
    add_options(details, {"--k-best K": k_best}, type=whole(1, MAX_K_BEST))
    flags = {
        "--feature-values": "the features of each translation that are not zero",
        "--alignments": "the word alignment that the rules of each translation imply",
        "--derivations": "the rules of each translation, as a tree, with scores",
    }
    add_options(details, flags, action="store_true")
    add_mbr(parser)


def _add_system(parser: argparse.ArgumentParser) -> None:
    system = "folder of a system, such as experiments/NAME/best in a run, or a bundle (`itersel bundle`)"
    add_options(parser, {"--system PATH": system}, required=True)


def _translate(options: argparse.Namespace) -> None:
    from itersel.run.progress import count_up
    from itersel.storage.files import STANDARD_STREAM, open_output
    from itersel.translate.translator import Details, translate_text

    wanted = (options.feature_values, options.alignments, options.derivations)
    is_plain = options.k_best is None and not any(wanted)
    details = None if is_plain else Details(options.k_best or 1, *wanted)

    def choose(of_system: MinimumRisk | None) -> MinimumRisk | None:
        return mbr_of(options, options.k_best or 1, of_system)

    translations = translate_text(
        options.input,
        options.system,
        keep_tokens=options.keep_tokens,
        details=details,
        processes=options.processes,
        choose=choose,
    )
    is_stream = options.output == STANDARD_STREAM
    if not (is_stream and sys.stdout.isatty()):
        translations = count_up(translations, "sentences translated", len)

    with open_output(options.output) as stream:
        for lines in translations:
            stream.writelines(line + "\n" for line in lines)
            if is_stream:
                stream.flush()


def _add_bundle(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write all that a system needs to translate new text to one file: index of the training corpus, "
        "language model, weights, preparation of text, recaser. `itersel translate --system FILE` needs "
        "nothing else from the run. A system that was trained on n-best lists becomes a file for `itersel "
        "rescore --system`."
    )
    add_options(parser, {"system SYSTEM": "folder of a system, such as experiments/NAME/best in a run"})
    add_options(parser, {"output OUTPUT": "bundle to write"}, type=output_file)


def _bundle(options: argparse.Namespace) -> None:
    from itersel.system.loading import bundle, load_any

    bundle(options.output, load_any(options.system))


def _add_cdec(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write everything that cdec needs to translate a text: cdec.ini, the text with a grammar for each "
        "sentence, the weights, and the language model. Run it with: cd FOLDER && cdec -c cdec.ini"
    )

    _add_system(parser)
    files = {
        "--input TEXT": "raw text, plain or compressed (.gz, .xz, .zst), or - for standard input",
        "--output FOLDER": "folder to write, new or empty",
    }
    add_options(parser, files, required=True)

    arpa = (
        "ARPA file (default: the file of the run); needed for bundles, and if the config named an ARPA file"
    )
    add_options(parser, {"--arpa FILE": arpa})


def _cdec(options: argparse.Namespace) -> None:
    from itersel.translate.cdec import export_cdec

    export_cdec(options.system, options.input, options.output, options.arpa)
