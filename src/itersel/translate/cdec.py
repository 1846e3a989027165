"""Export of a trained system and a text as a folder that cdec can decode."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from itersel.config.search import TranslationSettings
from itersel.errors import FilePath, InputError
from itersel.grammar.text_format import grammar_lines
from itersel.run.atomic import atomic_path
from itersel.run.progress import count_up
from itersel.storage.files import open_output, read_bytes, write_lines
from itersel.system.resources import translator_resources
from itersel.system.trained_translator import TrainedTranslator, load_translator
from itersel.translate.translator import Translator, read_blocks
from itersel.vectors.feature_names import CDEC_TEMPLATES
from itersel.vectors.weights import write_itersel_weights

CONFIG, MODEL, INPUT, GRAMMARS = "cdec.ini", "lm.arpa", "input.sgm", "grammars"
TEXT_WEIGHTS = "weights.txt"
# Strings with a special meaning in cdec's input: end of a segment, beginning of a lattice, a nonterminal.
SEGMENT_END, LATTICE = "</seg>", "((('"
NONTERMINAL = re.compile(r"\[[^\]]+\]")


def export_cdec(system: FilePath, text: FilePath, output: FilePath, arpa: FilePath | None = None) -> None:
    """Write a folder, new or empty, with everything that cdec needs to translate a text.

    Paths in its files are relative to it. `arpa` is the file that the system's model was compiled from
    (default: ``NAME.arpa.gz`` or ``NAME.arpa`` next to the compiled model ``NAME.bin``, as in the folder of a
    run).
    """
    if os.path.exists(output) and not (os.path.isdir(output) and not os.listdir(output)):
        raise InputError("exists, and is not an empty folder; name another one", output)

    loaded = load_translator(system)
    file = _find_arpa(system) if arpa is None else arpa
    content = read_bytes(file)
    if hashlib.sha256(content).hexdigest() != loaded.language_model.attributes.get("arpa_sha256"):
        raise InputError("is not the ARPA file that the language model of the system was made from", file)

    with atomic_path(output) as temporary:
        try:
            temporary.mkdir()
            _write(temporary, loaded, text, content)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def _write(folder: Path, system: TrainedTranslator, text: FilePath, arpa: bytes) -> None:
    segments = []
    for number, (words, grammar) in enumerate(count_up(_sentences(system, text), "sentences", lambda _: 1)):
        name = f"{GRAMMARS}/grammar.{number}.gz"
        with open_output(folder / name) as stream:
            stream.writelines(grammar)
        segments.append(f'<seg grammar="{name}" id="{number}"> {words} </seg>')
    write_lines(folder / INPUT, segments)
    (folder / MODEL).write_bytes(arpa)
    write_itersel_weights(folder / TEXT_WEIGHTS, system.weights)
    write_lines(folder / CONFIG, config_lines(system.settings))


def config_lines(settings: TranslationSettings) -> Iterator[str]:
    """Yield the lines of ``cdec.ini``."""
    yield "formalism=scfg"
    yield "add_pass_through_rules=true"
    yield f"scfg_max_span_limit={settings.grammar.max_span}"

    yield "intersection_strategy=cube_pruning"
    yield f"cubepruning_pop_limit={settings.pop_limit}"

    yield "feature_function=WordPenalty"
    yield f"feature_function=KLanguageModel {MODEL}"
    if settings.uses_sparse:
        for template in settings.grammar.templates:
            if template in CDEC_TEMPLATES:
                yield f"feature_function={CDEC_TEMPLATES[template]}"

    yield f"weights={TEXT_WEIGHTS}"
    yield f"input={INPUT}"


def _sentences(system: TrainedTranslator, text: FilePath) -> Iterator[tuple[str, list[str]]]:
    translator = Translator(system)
    for block in read_blocks(text):
        sentences = translator.prepare(block, text)
        for number, words in enumerate(sentences, block.first):
            if any(SEGMENT_END in word for word in words):
                raise InputError(f"'{SEGMENT_END}' ends a sentence for cdec; remove it", text, number)
            if words[:1] and words[0].startswith(LATTICE):
                raise InputError(f"'{LATTICE}' begins a lattice for cdec; remove it", text, number)

        grammars = translator.extractor.extract(sentences)
        nonterminals = list(filter(NONTERMINAL.fullmatch, grammars.vocabulary.to_list()))
        if nonterminals:
            raise InputError(
                f"'{nonterminals[0]}' in a rule of this text would be a nonterminal of cdec", text
            )

        for words, lines in zip(sentences, grammar_lines(grammars), strict=True):
            yield " ".join(words), lines


def _find_arpa(system: FilePath) -> Path:
    if os.path.isdir(system):
        compiled = Path(translator_resources(system).files.language_model)
        for suffix in (".arpa.gz", ".arpa"):
            if (path := compiled.with_suffix(suffix)).is_file():
                return path
        why = f"has no ARPA file beside its language model {compiled}"
    else:
        why = "contains the language model in compiled form only"
    raise InputError(f"{why}; name the ARPA file that it was made from with --arpa", system)
