"""The files to damage, and the steps that read them."""

from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.corpus import DIVIDE, LANGUAGES, PATH, PERCEPTRON, SELECT_9, SYSTEM, TEXT_MODELS, mix
from tests.steps import TEXT_LANGUAGES, step

from itersel.vectors.feature_names import TEXT_GROUPS, TEXT_TEMPLATES

DAMAGED, RESEALED, CHANGED = "damaged", "resealed", "changed"
# Ways to damage files; `cases` maps them to modules.
HDF5, ARRAYS, TEXT, PACKED, JSON, YAML = "hdf5", "arrays", "text", "packed", "json", "yaml"
# Compressed, but not with gzip.
PACKED_OTHERWISE = "packed otherwise"
# damaged: checksums are unchanged. resealed: checksums are corrected. changed: text, without checksums.
MODES = {
    **dict.fromkeys((HDF5, ARRAYS), (DAMAGED, RESEALED)),
    **dict.fromkeys((TEXT, JSON, YAML), (CHANGED,)),
    **{PACKED: (DAMAGED, CHANGED), PACKED_OTHERWISE: (DAMAGED,)},
}


# By the ending of the file's name; the others are text.
KINDS = {".h5": HDF5, ".model": HDF5, ".bin": ARRAYS, ".bundle": ARRAYS, "": ARRAYS, ".gz": PACKED}
KINDS |= {".xz": PACKED_OTHERWISE, ".zst": PACKED_OTHERWISE, ".json": JSON, ".yaml": YAML}


class Target(NamedTuple):
    """A format: its files, how to damage them, and the steps that read them.

    In the arguments of a step and in its settings, FILE stands for the damaged file. Output files begin
    with ``out``.

    also
        Names that an error may give instead of the file's, such as files that it names. "" matches anything.
    """

    files: tuple[str, ...]
    kind: str
    steps: tuple[str, ...]
    also: tuple[str, ...]


def _target(files: str, *steps: str, also: tuple[str, ...] = ()) -> Target:
    names = tuple(files.split())
    return Target(names, KINDS.get(Path(names[0]).suffix, TEXT), steps, also)


def _train(weights: str = "", **changes: Any) -> str:
    """Return the step that trains a shard, whose name follows."""
    files = f"--language-model lm.bin {weights} --output out.h5 --sentences"
    return f"{step('train', **{**PERCEPTRON, **changes})} {files}"


def _tune(name: str, lists: str, **more: Any) -> str:
    keys = more.pop("keys", {})
    return f"{step('step tune', tuner={'name': name, **keys}, **more)} --output out.h5 --inputs {lists}"


def _mix(inputs: str, **mixing: Any) -> str:
    return f"{mix(**mixing)} --output out.h5 --inputs {inputs}"


_TRAIN = _train()
_RERANK = "rescore --source source.txt --nbest nbest.txt --output out --system"
_DECODE = "decode --language-model lm.bin --output out --sentences"
_PREPARE = f"corpus prepare --split train --output out {LANGUAGES}"
_PREPARE_TEST = _PREPARE.replace("--split train", "--split test.x")
_START, _SHOW = f"{_train('--start FILE')} sentences.h5", "weights show FILE --number 0"
_DECODE_SENTENCES = f"{_DECODE} sentences.h5 --weights FILE --pop-limit 30"
_WEIGHTS = (_START, _DECODE_SENTENCES, _SHOW, "weights export FILE --output out")
_PACKED = (f"{_PREPARE} --source source.txt --target FILE", "bleu --reference FILE hypotheses.txt")
_SCORED = "--reference target.txt --weights weights.h5 --output-weights out.h5 --output out.json"
SEQUENTIAL = {"name": "perceptron", "update": "sequential", "pairs": "all"}
ADAGRAD = {"name": "adagrad", "pairs": "all"}
JOINED = {"people": "hypotheses.txt", "nature": "target.txt"}
_RESTORED = "--preparation preparation.json --recaser recaser.json"
_TABLES = "--output out.txt out.tsv out.json"
_CORPORA = f"step corpora {_TABLES} --statistics"


def _tasks(two: str, labels: str) -> str:
    """Return the step that makes a table by task of two systems."""
    texts = {"one": "hypotheses.txt", "two": two}
    systems = [{"name": name, "translation": path} for name, path in texts.items()]
    made = step("step tasks", tasks=["nature", "people"], systems=systems, comparison={"trials": 20})
    return f"{made} {_TABLES} --reference target.txt --labels {labels}"


def _choose(**scoring: str) -> str:
    """Return the step that chooses an epoch, with these keys of its scoring."""
    return step("step choose", **{**SYSTEM, "scoring": {"tokenizer": "13a", **scoring}})


def _table(**files: list[str]) -> str:
    """Return the step that makes a table of systems."""
    test_set = {"references": ["target.txt"], **files}
    return f"{step('step table', test_sets={'test': test_set}, comparison={'trials': 50})} {_TABLES}"


_LISTED = f"{step('step lists', **TEXT_LANGUAGES)} --divided-lists listed --file-number 0"
# All features of the text of lists; the models of word alignment follow.
_TOKENIZED = {**TEXT_LANGUAGES, "tokenized": True}
_FEATURES = step("step lists", **_TOKENIZED, groups=[*TEXT_GROUPS], templates=[*TEXT_TEMPLATES])
_FEATURES += " --divided-lists reranked --file-number 0 --text-models models --output out.h5 --aligner"
_DETOKENIZE = "detokenize --input target.txt --output out"
TARGETS = {
    "grammars": _target(
        "sentences.h5 plain-references.h5",
        f"{_TRAIN} FILE",
        f"{_train('--start weights.h5', learner=SEQUENTIAL)} FILE",
        f"{_DECODE} FILE --weights weights.h5 --k-best 20 --pop-limit 30",
        f"{_DECODE} FILE --weights weights.h5 --features dense --pop-limit 9",
        "grammar export --sentences FILE --output out",
        "step rules --inputs sentences.txt --output out",
    ),
    "grammars-categories": _target(
        "syntax.h5",
        f"{_TRAIN} FILE",
        f"{_DECODE} FILE --weights weights.h5 --k-best 20 --pop-limit 30",
        "grammar export --sentences FILE --output out",
    ),
    "listed": _target(
        "listed.h5",
        f"{step('train', learner={'name': 'mira'})} --output out.h5 --sentences FILE",
        f"{step('train', learner=ADAGRAD, features='dense')} --output out.h5 --sentences FILE",
        "decode --weights weights.txt --output out --sentences FILE",
        _tune("pro", "listed.txt"),
    ),
    "weights": _target("weights.h5 part0.h5", *_WEIGHTS),
    "matrix": _target("W.h5 path.W.h5", *_WEIGHTS, "step selection --matrix FILE --output out.txt"),
    "lists": _target(
        "lists.h5 dense.h5",
        _tune("pro", "lists.txt"),
        _tune("kbest-mira", "lists.txt", keys={"passes": 3}),
        _tune("mert", "dense.txt", keys={"restarts": 1}),
        f"{_tune('line-search', 'lists.txt', retune=True)} --start weights.h5",
    ),
    "forests": _target("forests.h5", _tune("forest-mert", "forests.txt")),
    "state": _target(
        "state.h5", f"{_train('--epoch 2 --start FILE', learner={'name': 'adagrad'})} sentences.h5", _SHOW
    ),
    "mix-input": _target(
        "part0.h5 part1.h5",
        f"{_mix('parts.txt', **SELECT_9)} --matrix out.matrix.h5",
        _mix("parts.txt", name="selection", threshold=0.001, norm="l1"),
        _mix("parts.txt", name="mean-of-epochs"),
    ),
    "mix-previous": _target(
        "previous.h5", f"{_mix('late.txt', name='mean-of-epochs')} --epoch 2 --previous FILE"
    ),
    "path-previous": _target(
        "path.h5",
        f"{_mix('path.txt', **PATH)} --epoch 2 --previous FILE",
        f"{_train('--epoch 2 --start FILE', learner={'name': 'mira'}, measure_loss=True)} sentences.h5",
    ),
    "path-input": _target("path0.h5", f"{_mix('path.txt', **PATH)} --epoch 2 --previous path.h5"),
    "model": _target(
        "lm.bin",
        f"{step('train', **PERCEPTRON)} --sentences sentences.h5 --language-model FILE --output out.h5",
        "decode --sentences sentences.h5 --language-model FILE --weights weights.h5 --output out --k-best 20 "
        "--pop-limit 30",
        "lm score --language-model FILE --input source.txt --output out",
        "lm score --language-model FILE --input target.txt --output out",
    ),
    "index": _target(
        "index",
        "grammar extract --index FILE --input source.txt --output out.h5",
        "grammar extract --index FILE --input part.source.gz --reference part.target.gz "
        "--leave-one-out lines.ids --output out.h5",
        "grammar extract --index FILE --input source.txt --max-samples 2 --max-symbols 8 --output out.h5",
        "translate --system system --input raw.source --output out",
    ),
    "bundle": _target(
        "system.bundle",
        "translate --system FILE --input raw.source --output out",
        "translate --system FILE --input raw.source --k-best 5 --derivations --output out",
        "bundle FILE out",
        "export cdec --system FILE --input raw.source --arpa lm.arpa --output out",
        also=("lm.arpa: is not the ARPA file",),
    ),
    "reranker-bundle": _target(
        "reranker.bundle", f"{_RERANK} FILE", f"{_RERANK} FILE --k-best 3", "bundle FILE out"
    ),
    "lexicon": _target(
        "models/lexicon.h5",
        f"{_FEATURES} forward.model reverse.model",
        f"{_RERANK} reranker",
        "bundle reranker out",
        also=("reranked",),
    ),
    "arpa": _target(
        "lm.arpa",
        "lm compile --input FILE --output out",
        "lm compile --input FILE --expect-order 3 --output out",
    ),
    "arpa-gz": _target("lm.arpa.gz", "lm compile --input FILE --output out"),
    "grammar": _target(
        " ".join(f"plain/grammar.{i}" for i in range(6)),
        "grammar import --input source.txt --grammars plain --output out.h5",
        "grammar import --input source.txt --grammars plain --reference target.txt --output out.h5",
    ),
    "grammar-gz": _target(
        " ".join(f"grammars/grammar.{i}.gz" for i in range(6)),
        "grammar import --input source.txt --grammars grammars --output out.h5",
        "grammar import --input segments.txt --output out.h5",
    ),
    "grammar-categories": _target(
        "syntax.grammar",
        "grammar import --input source.txt --grammar FILE --output out.h5",
        "grammar import --input source.txt --grammar FILE --reference target.txt --output out.h5",
    ),
    "segments": _target("segments.txt", "grammar import --input FILE --output out.h5", also=("",)),
    "weights-text": _target("weights.txt", *_WEIGHTS),
    "n-best": _target(
        "nbest.txt nbest.json",
        "rescore --nbest FILE --weights nbest.ini --k-best 9 --output out",
        "tune --tuner mert --restarts 1 --nbest FILE --reference target.txt --output out.ini",
        "tune --tuner pro --nbest FILE --reference target.txt --start nbest.ini --output out.json",
        "tune --tuner kbest-mira --nbest FILE --reference target.txt --quality ter --output out.h5",
        f"{DIVIDE} --nbest FILE --reference target.txt --output out",
        also=("nbest.ini",),
    ),
    "weights-moses": _target(
        "nbest.ini", "rescore --nbest nbest.txt --weights FILE --output out", also=("nbest.txt",)
    ),
    "alignment": _target(
        "alignment.txt forward.txt reverse.txt",
        "grammar index --source source.txt --target target.txt --alignment FILE --output out",
        "align --forward forward.txt --reverse FILE --output out",
        "align --forward FILE --reverse reverse.txt --symmetrization union --output out",
        f"{_PREPARE} --tokenized --source source.txt --target target.txt --alignment FILE",
        f"{TEXT_MODELS} --alignment FILE reverse.txt --output out",
    ),
    "alignment-model": _target(
        "forward.model reverse.model",
        "align --source source.txt --target target.txt --aligner FILE --output out",
        f"{_RERANK} reranker",
        "bundle reranker out",
    ),
    "source-text": _target(
        "source.txt raw.source",
        f"{_PREPARE} --source FILE --target target.txt",
        f"{_PREPARE} --source FILE --target raw.target --labels tasks.txt --compound-splitting",
        f"{_PREPARE} --source FILE --target target.txt --tokenized",
        "grammar index --source FILE --target target.txt --alignment alignment.txt --output out",
        "grammar extract --index index --input FILE --output out.h5",
        f"{DIVIDE} --source FILE --target target.txt --output out",
        f"{DIVIDE} --nbest nbest.txt --source FILE --reference target.txt --output out",
        f"{step('step words', **TEXT_LANGUAGES)} --source source.txt FILE --target target.txt target.txt"
        " --output out",
        "lm score --language-model lm.bin --input FILE --output out",
        "translate --system system --input FILE --output out",
        "export cdec --system system.bundle --input FILE --arpa lm.arpa --output out",
    ),
    "target-text": _target(
        "target.txt raw.target",
        f"{_PREPARE} --source raw.source --target FILE",
        f"{_PREPARE} --source source.txt --target target.txt --tokenized --monolingual FILE",
        f"{_PREPARE_TEST} --source source.txt --target target.txt --target FILE",
        "grammar index --source source.txt --target FILE --alignment alignment.txt --output out",
        "grammar extract --index index --input source.txt --reference FILE --output out.h5",
        f"{DIVIDE} --source source.txt --target FILE --output out",
        "lm estimate --order 3 --input FILE --output out",
        "lm estimate --order 3 --input target.txt --vocabulary FILE --output out",
        "bleu --reference target.txt FILE",
        "bleu --reference FILE hypotheses.txt",
        "bleu --reference target.txt --reference FILE hypotheses.txt",
        "compare --trials 20 --reference target.txt hypotheses.txt FILE",
        _tasks("FILE", "tasks.txt"),
        f"{step('step join', translations={'people': 'FILE'})} --labels tasks.txt --output out",
        f"detokenize {_RESTORED} --input FILE --output out",
        f"{step('step count', tokenizer='13a')} {_RESTORED} --translation hypotheses.txt --reference FILE "
        "--output-text out --output out.h5",
        f"{_choose(choose_by='ter')} {_SCORED} --translation FILE --raw-reference raw.target {_RESTORED}",
    ),
    "corpus-gz": _target("target.txt.gz", *_PACKED, "lm estimate --order 3 --input FILE --output out"),
    "corpus-xz-zstd": _target("target.txt.xz target.txt.zst", *_PACKED),
    "tsv": _target("pairs.tsv", f"{_PREPARE} --file FILE", f"{_PREPARE} --file FILE --columns 2,1,3"),
    "tmx": _target("memory.tmx", f"{_PREPARE} --file FILE"),
    "ids": _target(
        "divided/0.ids",
        "grammar extract --index index --input part.source.gz --leave-one-out FILE --output out.h5",
        "lm estimate --order 2 --input target.txt --leave-out divided --fold 0/2 --output out",
        also=("divided: ", "divided/0.target.gz"),
    ),
    "sentences": _target(
        "listed/0.ids", f"{_LISTED} --output out.h5", also=("listed/0.lists.gz", "listed/0.target.gz")
    ),
    "declaration": _target(
        "divided/files.tsv",
        "lm estimate --order 2 --input target.txt --leave-out divided --fold 0/2 --output out",
        "grammar extract --index index --input divided/0.source.gz --reference divided/0.target.gz "
        "--leave-one-out divided/0.ids --output out.h5",
        also=("divided/", "divided: "),
    ),
    "text-language-model": _target(
        "models/lm.bin",
        f"{_FEATURES} forward.model reverse.model",
        f"{step('step lists', **_TOKENIZED, user_model_names=['own'])} --divided-lists reranked"
        " --file-number 0 --user-model FILE --output out.h5",
        also=("reranked",),
    ),
    "words": _target(
        "words/source.gz words/target.gz",
        f"{TEXT_MODELS} --alignment forward.txt reverse.txt --output out",
        also=("forward.txt", "reverse.txt"),
    ),
    "declaration-lists": _target("listed/files.tsv", f"{_LISTED} --output out.h5", also=("listed/",)),
    "list": _target("parts.txt", _mix("FILE", **SELECT_9), also=("",)),
    "tasks": _target(
        "tasks.txt",
        f"{_PREPARE} --source source.txt --target target.txt --labels FILE",
        _tasks("target.txt", "FILE"),
        f"{step('step join', translations=JOINED)} --labels FILE --output out",
        f"{_choose(label='nature')} {_SCORED} --translation hypotheses.txt --labels FILE",
    ),
    "settings": _target(
        "settings.yaml",
        f"step resources --settings FILE --language-model lm.bin --index index {_RESTORED} --output out.json",
    ),
    "config": _target("config.yaml", "config check FILE", "config show FILE --output out"),
    "preparation": _target(
        "preparation.json",
        "corpus prepare --source raw.source --target raw.target --split test --output out --preparation FILE",
        f"{_DETOKENIZE} --preparation FILE --recaser recaser.json",
        "translate --system system --input raw.source --output out",
    ),
    "recaser": _target("recaser.json", f"{_DETOKENIZE} --preparation preparation.json --recaser FILE"),
    "statistics": _target("statistics.json", "corpus statistics FILE", f"{_CORPORA} FILE"),
    "rules": _target(
        "rules.json",
        f"{step('step corpora', rules={'train': 'FILE'})} {_TABLES} --statistics statistics.json",
    ),
    "counts": _target(
        "counts.h5", _table(systems=["system.json"], translations=["hypotheses.txt"], counts=["FILE"])
    ),
    "system": _target(
        "system.json", _table(systems=["FILE", "other.json"], translations=["hypotheses.txt", "target.txt"])
    ),
    "mbr": _target(
        "mbr.json", f"{_DECODE} sentences.h5 --weights weights.h5 --pop-limit 30 --chosen-mbr FILE"
    ),
    "reranker": _target(
        "reranker/resources.json",
        f"{_RERANK} reranker",
        "bundle reranker out",
        also=(": no such file", "nbest.txt: ", "model: ", "models"),
    ),
    "resources": _target(
        "system/resources.json",
        "translate --system system --input raw.source --output out",
        also=(": no such file", "lm.bin: ", "index: ", "preparation.json: "),
    ),
}
