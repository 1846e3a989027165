"""The undamaged files: a small corpus, and everything that the steps make from it."""

import contextlib
import gzip
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

from tests.steps import TEXT_LANGUAGES, step

from itersel.cli.main import main
from itersel.storage.files import write_lines
from itersel.vectors.feature_names import TEXT_GROUPS, TEXT_TEMPLATES
from itersel.vectors.weights import make_weights, write_itersel_weights

SOURCE = [
    "der fluss ist breit und kalt .",
    "ein boot liegt am ufer .",
    "das kleine boot ist alt .",
    "am ufer ist der fluss kalt .",
    "der alte mann liegt nicht im boot .",
    "ein mann und ein kleiner fluss",
]
TARGET = [
    "the river is wide and cold .",
    "a boat lies at the bank .",
    "the small boat is old .",
    "at the bank the river is cold .",
    "the old man does not lie in the boat .",
    "a man and a small river",
]
ALIGNMENT = [
    "0-0 1-1 2-2 3-3 4-4 5-5 6-6",
    "0-0 1-1 2-2 3-3 3-4 4-5 5-6",
    "0-0 1-1 2-2 3-3 4-4 5-5",
    "0-0 0-1 1-2 2-5 3-3 4-4 5-6 6-7",
    "0-0 1-1 2-2 3-5 4-3 4-4 5-6 5-7 6-8 7-9",
    "0-0 1-1 2-2 3-3 4-4 5-5",
]


MEMORY = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<!DOCTYPE tmx SYSTEM "tmx14.dtd">',
    '<tmx version="1.4"><header srclang="de"/><body>',
    *(
        f'<tu><tuv xml:lang="de-DE"><seg>{source}</seg></tuv><tuv xml:lang="en">'
        f'<seg><bpt i="1">&lt;b></bpt>{target}<ept i="1"/></seg></tuv></tu>'
        for source, target in zip(SOURCE, TARGET, strict=True)
    ),
    "</body></tmx>",
]


def _one_link(column: int) -> list[str]:
    """Return alignments of one direction: each word of one side has at most one link."""
    links = [{point.split("-")[column]: point for point in line.split()} for line in ALIGNMENT]
    return [" ".join(points.values()) for points in links]


FORWARD, REVERSE = _one_link(1), _one_link(0)
# Categories other than X, a chain of unary rules, and both notations for nonterminals of the target side.
SYNTAX = [
    "[S] ||| [NP,1] [VP,2] ||| [1] [2] ||| Rule=1",
    "[S] ||| [CL,1] . ||| [CL,1] . |||",
    "[CL] ||| [NP,1] ist [ADJ,2] ||| [2] is [1] ||| Swap:one=1 ||| 1-1",
    "[NP] ||| [N,1] ||| the [N,1] ||| Rule=0.5",
    "[NP] ||| der [N,1] ||| the [1] ||| Rule=1 ||| 0-0",
    "[NP] ||| am [N,1] ||| at the [N,1] ||| Rule=-1",
    "[N] ||| [X,1] ||| [X,1] ||| Lone:x=1",
    "[N] ||| fluss ||| river ||| ||| 0-0",
    "[N] ||| ufer ||| bank |||",
    "[ADJ] ||| kalt ||| cold ||| Rule=2",
    "[ADJ] ||| breit und [ADJ,1] ||| wide and [ADJ,1] |||",
    "[VP] ||| [S,1] liegt [NP,2] ||| lies [2] [1] |||",
]
SEARCH = {"k_best": 20, "pop_limit": 30}
PERCEPTRON = {"learner": {"name": "perceptron"}, **SEARCH}
SELECT_9 = {"name": "selection", "select": 9}
DIVIDE = step("step divide", division={"files": 2})
TEXT_MODELS = f"{step('step text-models', order=3)} --words words"
PATH = {"name": "path-following", "first_threshold": 0.0001, "epsilon": 1}
SYSTEM = {
    "name": "small",
    "experiment": {"learner": {"name": "mira"}, "mixing": {"name": "none"}},
    "scoring": {"tokenizer": "13a"},
}
LANGUAGES = "--source-language de --target-language en"
CONFIG = """\
name: small
output: results
seed: 1
data:
  kind: files
  source_language: de
  target_language: en
  train: {source: raw.source, target: raw.target}
  dev: {source: dev.source, target: dev.target}
  devtest: {source: devtest.source, target: devtest.target}
  test: {source: test.source, target: test.target}
  max_ratio: 9.0
language_model:
  order: 3
decoder:
  pop_limit: 30
experiments:
  baseline:
    algorithm: sgd
    tune_on: dev
    features: dense
    epochs: 2
"""
SETTINGS = """\
features: dense
pop_limit: 30
grammar:
  max_span: 12
  templates: [RBT, Shape]
"""


def make_corpus(folder: Path) -> None:
    """Write all files to a folder, which becomes the working folder; this also loads all kernels."""
    folder.mkdir(parents=True)
    os.chdir(folder)
    lists = [(x, i, line) for x, side in enumerate((TARGET, SOURCE)) for i, line in enumerate(side)]
    texts = {
        "source.txt": SOURCE,
        "target.txt": TARGET,
        "alignment.txt": ALIGNMENT,
        "forward.txt": FORWARD,
        "reverse.txt": REVERSE,
        "raw.source": [line.capitalize() for line in SOURCE],
        "raw.target": [line.capitalize() for line in TARGET],
        **{
            f"{split}.{side}": [f"{split} {line}" for line in lines]
            for split in ("dev", "devtest", "test")
            for side, lines in (("source", SOURCE), ("target", TARGET))
        },
        "pairs.tsv": [f"{source}\t{target}\tnature" for source, target in zip(SOURCE, TARGET, strict=True)],
        "memory.tmx": MEMORY,
        "tasks.txt": ["nature", "nature", "people", "nature", "people", "people"],
        "hypotheses.txt": [line.replace("the", "a") for line in TARGET],
        "nbest.txt": [f"{i} ||| {line} ||| LM= -{i}.5 TM= 1 -2 R:{x}=1 ||| -{i}" for x, i, line in lists],
        "nbest.json": [
            json.dumps({"id": i, "text": line, "features": {"LM": x - 0.5, f"s{x}": 1}, "score": i})
            for x, i, line in lists
        ],
        "nbest.ini": ["[weight]", "LM= 0.5 # of the model", "TM= 1 -1", "R:0= 1"],
        "parts.txt": ["part0.h5", "part1.h5"],
        "sentences.txt": ["sentences.h5", "others.h5"],
        **{f"{name}.txt": [f"{name}0.h5", f"{name}1.h5"] for name in ("late", "path")},
        **{f"{name}.txt": [f"{name}.h5"] for name in ("lists", "listed", "dense", "forests")},
        "syntax.grammar": SYNTAX,
    }
    for name, lines in texts.items():
        Path(name).write_text("".join(line + "\n" for line in lines))
    Path("config.yaml").write_text(CONFIG)
    Path("settings.yaml").write_text(SETTINGS)
    _make_models()
    _make_sentences()
    _make_weights()
    _make_descriptions()


def _make_models() -> None:
    itersel("lm estimate --order 3 --input target.txt --output lm.arpa")
    itersel("lm compile --input lm.arpa --output lm.bin")
    for name in ("lm.arpa", "target.txt"):
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes(), mtime=0))
    for suffix in ("xz", "zst"):
        write_lines(f"target.txt.{suffix}", TARGET)
    itersel("lm score --language-model lm.bin --input target.txt --output scores.txt")
    texts = "--source source.txt --target target.txt"
    itersel(f"grammar index {texts} --alignment alignment.txt --output index")
    for direction in ("forward", "reverse"):
        itersel(f"align {texts} --direction {direction} --save {direction}.model --output sampled.txt")


def _make_sentences() -> None:
    itersel(f"{DIVIDE} --source source.txt --target target.txt --output divided")
    itersel("step divide --nbest nbest.txt nbest.json --reference target.txt --output listed")
    itersel(
        f"{step('step lists', **TEXT_LANGUAGES)} --divided-lists listed --file-number 0 --output listed.h5"
    )
    for part, name in (("divided/0", "sentences.h5"), ("divided/1", "others.h5")):
        texts = f"--input {part}.source.gz --reference {part}.target.gz --leave-one-out {part}.ids"
        itersel(f"grammar extract --index index {texts} --output {name}")
    shutil.copy("divided/0.ids", "lines.ids")
    shutil.copy("divided/0.source.gz", "part.source.gz")
    shutil.copy("divided/0.target.gz", "part.target.gz")
    extract = "grammar extract --index index --input source.txt"
    itersel(f"{extract} --output plain.h5")
    itersel(f"{extract} --reference target.txt --reference source.txt --output plain-references.h5")
    itersel("grammar export --sentences plain.h5 --output grammars")
    segments = enumerate(SOURCE)
    lines = [f'<seg grammar="grammars/grammar.{i}.gz" id="{i}"> {text} </seg>\n' for i, text in segments]
    Path("segments.txt").write_text("".join(lines))
    texts = "--input source.txt --reference target.txt"
    itersel(f"grammar import {texts} --grammar syntax.grammar --output syntax.h5")
    Path("plain").mkdir()
    for packed in Path("grammars").iterdir():
        Path("plain", packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))


def _train(output: str, options: str = "", **changes: Any) -> None:
    train = step("train", **{**PERCEPTRON, **changes})
    for number, sentences in enumerate(("sentences.h5", "others.h5")):
        files = f"--sentences {sentences} --language-model lm.bin --shard-number {number}"
        itersel(f"{train} {files} {options} --output {output}{number}.h5")


def mix(**mixing: Any) -> str:
    """Return the step that mixes the weights of both shards."""
    return step("step mix", mixing=mixing, shards=2)


def _make_weights() -> None:
    _train("part", learner={"name": "perceptron", "update": "sentence"})
    itersel(f"{mix(**SELECT_9)} --inputs parts.txt --matrix W.h5 --output weights.h5")
    itersel(f"{mix(name='mean-of-epochs')} --inputs parts.txt --output previous.h5")
    _train("late", "--epoch 2 --start previous.h5")
    # an epoch of path following, and the weights of the shards in the next epoch
    mira = {"learner": {"name": "mira"}, "measure_loss": True}
    _train("path", "--epoch 1", **mira)
    itersel(f"{mix(**PATH)} --inputs path.txt --matrix path.W.h5 --output path.h5")
    _train("path", "--epoch 2 --start path.h5", **mira)
    itersel("weights export weights.h5 --output weights.txt")
    data = "--sentences plain-references.h5 --language-model lm.bin"
    itersel(f"{step('step kbest', **SEARCH)} {data} --output lists.h5")
    itersel(f"{step('step kbest', features='dense', **SEARCH)} {data} --output dense.h5")
    itersel(
        f"{step('step forest', features='dense', forest_density=5, pop_limit=30)} {data} --output forests.h5"
    )
    train = step("train", **{**PERCEPTRON, "learner": {"name": "adagrad", "average": True}})
    itersel(f"{train} --sentences sentences.h5 --language-model lm.bin --output state.h5")


def _make_descriptions() -> None:
    texts = "--source raw.source --target raw.target --labels tasks.txt"
    itersel(f"corpus prepare {texts} {LANGUAGES} --split train --compound-splitting --output ready")
    shutil.copy("ready/preparation.json", "preparation.json")
    shutil.copy("ready/recaser.json", "recaser.json")
    shutil.copy("ready/train.statistics.json", "statistics.json")
    itersel("step rules --inputs sentences.txt --output rules.json")
    Path("system").mkdir()
    shutil.copy("weights.h5", "system/weights.h5")
    restored = "--preparation preparation.json --recaser recaser.json"
    files = f"--language-model lm.bin --index index {restored}"
    itersel(f"{step('step resources', pop_limit=30)} {files} --output system/resources.json")
    itersel("bundle system system.bundle")
    scale = step("step scale", mbr={"gain": "sentence-bleu"}, pop_limit=30, scoring={"tokenizer": "13a"})
    devtest = "--inputs sentences.txt --language-model lm.bin --weights weights.h5 --reference target.txt"
    itersel(f"{scale} {devtest} --output mbr.json")
    _make_reranker()
    choose = step("step choose", **SYSTEM)
    scoring = "--reference target.txt --translation hypotheses.txt --weights weights.h5"
    itersel(f"{choose} {scoring} --output-weights best.h5 --output system.json")
    system = json.loads(Path("system.json").read_text())
    Path("other.json").write_text(json.dumps({**system, "name": "other"}) + "\n")
    counted = "--translation hypotheses.txt --reference raw.target --output-text hypotheses.text"
    itersel(f"{step('step count', tokenizer='13a')} {restored} {counted} --output counts.h5")


def _make_reranker() -> None:
    texts = "--source source.txt --target target.txt"
    itersel(f"{step('step words', **TEXT_LANGUAGES, tokenized=True)} {texts} --output words")
    itersel(f"{TEXT_MODELS} --alignment forward.txt reverse.txt --output models")
    itersel("step divide --nbest nbest.txt --source source.txt --reference target.txt --output reranked")
    Path("reranker").mkdir()
    weights = {"LM": 0.5, "TM_0": -0.25, "TextModel": 0.1, "TextLexForward": 0.2, "TextUncovered": -0.3}
    weights |= {"Lex:fluss_river": 0.5, "Ngram1:the": 0.25, "R:0": 0.1}
    write_itersel_weights("reranker/weights.h5", make_weights(weights))
    models = "--aligner forward.model reverse.model --text-models models"
    lists = {**TEXT_LANGUAGES, "tokenized": True}
    lists |= {"groups": list(TEXT_GROUPS), "templates": list(TEXT_TEMPLATES)}
    files = f"--divided-lists reranked {models} --output reranker/resources.json"
    itersel(f"{step('step reranker', lists=lists)} {files}")
    itersel("bundle reranker reranker.bundle")


def itersel(command: str) -> None:
    messages, text = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(messages), contextlib.redirect_stdout(text):
        status = main(command.split())
    if status:
        raise RuntimeError(f"{command}: {messages.getvalue()}")
