"""The data for the measurements: recorded text and grammars if available, else the LibreOffice Help."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import PROJECT, SNAKEMAKE, itersel, run
from itersel.config.extraction import ExtractionSettings
from itersel.config.search import TranslationSettings
from itersel.corpus.prepare import Preparation
from itersel.corpus.recase import RecaserCounts
from itersel.corpus.settings import Words
from itersel.corpus.text import split_words
from itersel.grammar.index import load_index
from itersel.lm.binary import load_model
from itersel.storage.files import open_output, read_lines
from itersel.system.trained_translator import TrainedTranslator, write_translator_bundle
from itersel.vectors.weights import read_itersel_weights

TRAIN_SENTENCES = 1000
TEST_SENTENCES = 60
# Roughly the weights after a few epochs on dev, which make the search as hard as in practice.
WEIGHTS = {
    "MaxLexFgivenE": -0.2,
    "MaxLexEgivenF": -0.2,
    "EgivenFCoherent": -0.2,
    "WordPenalty": -0.5,
    "LanguageModel": 1.0,
    "Glue": 0.1,
    "PassThrough": -10.0,
}


@dataclass(frozen=True)
class Corpus:
    """A word-aligned training corpus, its index and language models (by order), and grammars of a part."""

    source: Path
    target: Path
    alignment: Path
    index: Path
    model: dict[int, Path]
    ids: Path
    text: Path
    reference: Path
    grammars: Path


class Data(NamedTuple):
    """The input of the measurements; `name` is its origin, `text` is raw text to translate."""

    name: str
    work: Path
    corpus: Corpus
    test: Path
    weights: Path
    text: Path


def prepare(work: Path) -> Data:
    """Create what is missing in the folder `work`, which has a subfolder for each data set."""
    recorded = os.environ.get("ITERSEL_PARITY")
    work = work / ("recorded" if recorded else "libreoffice-help")
    work.mkdir(parents=True, exist_ok=True)
    weights = work / "weights.txt"
    weights.write_text("".join(f"{name} {value}\n" for name, value in WEIGHTS.items()))
    test = work / "test.h5"
    if recorded:
        folder = Path(recorded)
        name = "recorded text of the LibreOffice Help"
        source, target = (folder / "corpus" / f"train.{language}.gz" for language in ("de", "en"))
        corpus = make_corpus(work / "all", source, target, folder / "align" / "gdfa.gz", None)
        if not test.exists():
            texts = {"input": folder / "decode" / "src.de", "reference": folder / "decode" / "ref.en"}
            run(*itersel("grammar import", **texts, grammars=folder / "decode" / "grammar", output=test))
        return Data(name, work, corpus, test, weights, folder / "corpus" / "test.de.gz")
    name, results = "LibreOffice Help", "results/libreoffice-help"
    files = (
        "corpus/train.source.gz",
        "corpus/train.target.gz",
        "align/train.align.gz",
        "corpus/devtest.source.gz",
        "corpus/devtest.target.gz",
    )
    # the config is last, because this option takes all arguments that follow
    config = ("--configfile", "experiments/libreoffice-help.yaml")
    run(SNAKEMAKE, *(f"{results}/{file}" for file in files), *config)
    source, target, alignment, test_source, test_target = (PROJECT / results / file for file in files)
    corpus = make_corpus(work / "all", source, target, alignment, None)
    if not test.exists():
        head(test_source, work / "test.source", TEST_SENTENCES)
        head(test_target, work / "test.target", TEST_SENTENCES)
        texts = {"input": work / "test.source", "reference": work / "test.target"}
        run(*itersel("grammar extract", index=corpus.index, **texts, output=test))
    return Data(name, work, corpus, test, weights, test_source)


def make_bundle(data: Data) -> Path:
    """Write a bundle from the corpus and the weights."""
    recaser = RecaserCounts("en")
    recaser.add(map(split_words, read_lines(data.corpus.target)))
    system = TrainedTranslator(
        load_index(data.corpus.index),
        load_model(data.corpus.model[3]),
        read_itersel_weights(data.weights),
        Preparation(Words("de", "en")),
        recaser.recaser(),
        TranslationSettings(pop_limit=200, features="all", grammar=ExtractionSettings()),
    )
    path = data.work / "system.bundle"
    write_translator_bundle(path, system)
    return path


def make_corpus(folder: Path, source: Path, target: Path, alignment: Path, pairs: int | None) -> Corpus:
    """Index the first pairs (all if None), estimate language models, and extract grammars of a part."""
    folder.mkdir(parents=True, exist_ok=True)
    if pairs is not None:
        source, target, alignment = (
            head(path, folder / name, pairs)
            for path, name in ((source, "source"), (target, "target"), (alignment, "alignment"))
        )
    corpus = Corpus(
        source,
        target,
        alignment,
        folder / "index",
        {n: folder / f"lm.{n}" for n in (3, 5)},
        folder / "divided" / "0.ids",
        folder / "divided" / "0.source.gz",
        folder / "divided" / "0.target.gz",
        folder / "grammars.h5",
    )
    for order, model in corpus.model.items():
        if not model.exists():
            arpa = folder / f"arpa.{order}"
            run(*itersel("lm estimate", order=order, input=target, output=arpa))
            run(*itersel("lm compile", input=arpa, output=model))
    texts = {"source": source, "target": target}
    if not corpus.index.exists():
        run(*itersel("grammar index", **texts, alignment=alignment, output=corpus.index))
    if not corpus.ids.exists():
        files = max(1, sum(1 for _ in read_lines(source)) // TRAIN_SENTENCES)
        settings = {"division": {"name": "shuffled", "files": files}}
        run(*itersel("step divide", **texts, settings=settings, output=corpus.ids.parent))
    if not corpus.grammars.exists():
        run(*extraction(corpus))
    return corpus


def extraction(corpus: Corpus) -> list[str]:
    """Return the command that extracts the grammars of a part of a corpus, with leave-one-out."""
    texts = {"input": corpus.text, "reference": corpus.reference, "leave_one_out": corpus.ids}
    return itersel("grammar extract", index=corpus.index, **texts, output=corpus.grammars)


def head(path: Path, output: Path, lines: int) -> Path:
    """Copy the first lines of a text; returns the path of the copy."""
    with open_output(output) as stream:
        stream.writelines(f"{line}\n" for line in islice(read_lines(path), lines))
    return output
