"""The files to damage, and the steps that read them."""

from pathlib import Path
from typing import NamedTuple

from tests.fuzz.corpus import LANGUAGES, PATH, SEARCH

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

    In the arguments of a step, FILE stands for the damaged file. Output files begin with ``out``.

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


_TRAIN = f"train --learner perceptron --model lm.bin {SEARCH} --output out.h5 --shard"
_DECODE = "decode --model lm.bin --output out --shard"
_TUNE = "tune --shards 1 --iteration 1 --output out.h5 --lists"
_MIX = "mix --shards 2 --output out.h5"
_PREPARE = f"corpus prepare --split train --output out {LANGUAGES}"
_PREPARE_TEST = _PREPARE.replace("--split train", "--split test.x")
_START, _SHOW = f"{_TRAIN} shard.h5 --weights FILE", "weights show FILE --number 0"
_DECODE_SHARD = f"{_DECODE} shard.h5 --weights FILE --pop-limit 30"
_WEIGHTS = (_START, _DECODE_SHARD, _SHOW, "weights export FILE --output out")
_PACKED = (f"{_PREPARE} --source source.txt --target FILE", "bleu --reference FILE hypotheses.txt")
_CHOOSE = (
    "report choose --name x --learner mira --mixing none --tune-on dev --features all --shards 1 "
    "--weights weights.h5 --output-weights out.h5 --output out.json"
)
_RESTORED = "--preparation preparation.json --recaser recaser.json"
_TASKS = "report tasks --reference target.txt --trials 20 --system one hypotheses.txt --system two"
_TABLES = "--output out.txt out.tsv out.json"
_CORPUS = f"report corpus {_TABLES} --preparation"
_TABLE = f"report table {_TABLES} --test-set test target.txt --trials 50 --translations"
_DETOKENIZE = "detokenize --input target.txt --output out"
TARGETS = {
    "shard": _target(
        "shard.h5 plain-references.h5",
        f"{_TRAIN} FILE",
        f"{_TRAIN} FILE --weights weights.h5 --update sequential --pairs all",
        f"{_DECODE} FILE --weights weights.h5 {SEARCH}",
        f"{_DECODE} FILE --weights weights.h5 --features dense --pop-limit 9",
        "grammar export --shard FILE --output out",
        "report rules --shards shards.txt --output out",
    ),
    "shard-categories": _target(
        "syntax.h5",
        f"{_TRAIN} FILE",
        f"{_DECODE} FILE --weights weights.h5 {SEARCH}",
        "grammar export --shard FILE --output out",
    ),
    "shard-lists": _target(
        "listed.h5",
        "train --learner mira --output out.h5 --shard FILE",
        "train --learner adagrad --pairs all --features dense --output out.h5 --shard FILE",
        "decode --weights weights.txt --output out --shard FILE",
        "kbest --k-best 3 --output out.h5 --shard FILE",
    ),
    "weights": _target("weights.h5 part0.h5", *_WEIGHTS),
    "matrix": _target("W.h5 path.W.h5", *_WEIGHTS, "report selection --matrices FILE --output out.txt"),
    "lists": _target(
        "lists.h5 dense.h5",
        f"{_TUNE} lists.txt --tuner pro",
        f"{_TUNE} lists.txt --tuner kbest-mira --passes 3",
        f"{_TUNE} dense.txt --tuner mert --restarts 1",
        f"{_TUNE} lists.txt --tuner line-search --directions dense --sum-sparse --previous weights.h5",
    ),
    "forests": _target("forests.h5", f"{_TUNE} forests.txt --tuner forest-mert"),
    "state": _target("state.h5", f"{_START} --learner adagrad --epoch 2", _SHOW),
    "mix-input": _target(
        "part0.h5 part1.h5",
        f"{_MIX} --inputs parts.txt --epoch 1 --mixing selection --select 9 --matrix out.matrix.h5",
        f"{_MIX} --inputs parts.txt --epoch 1 --mixing selection --threshold 0.001 --norm l1",
        f"{_MIX} --inputs parts.txt --epoch 1 --mixing mean-of-epochs",
    ),
    "mix-previous": _target(
        "previous.h5", f"{_MIX} --inputs late.txt --epoch 2 --mixing mean-of-epochs --previous FILE"
    ),
    "path-previous": _target(
        "path.h5",
        f"{_MIX} --inputs path.txt --epoch 2 {PATH} --previous FILE",
        f"{_START} --measure-loss --learner mira --epoch 2",
    ),
    "path-input": _target("path0.h5", f"{_MIX} --inputs path.txt --epoch 2 {PATH} --previous path.h5"),
    "model": _target(
        "lm.bin",
        f"train --learner perceptron --shard shard.h5 --model FILE {SEARCH} --output out.h5",
        f"decode --shard shard.h5 --model FILE --weights weights.h5 {SEARCH} --output out",
        "lm score --model FILE --input source.txt --output out",
        "lm score --model FILE --input target.txt --output out",
    ),
    "index": _target(
        "index",
        "grammar extract --index FILE --input source.txt --output out.h5",
        "grammar extract --index FILE --input part.source.gz --references part.target.gz "
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
    "arpa": _target(
        "lm.arpa", "lm compile --input FILE --output out", "lm compile --input FILE --order 3 --output out"
    ),
    "arpa-gz": _target("lm.arpa.gz", "lm compile --input FILE --output out"),
    "grammar": _target(
        " ".join(f"plain/grammar.{i}" for i in range(6)),
        "grammar import --input source.txt --grammars plain --output out.h5",
        "grammar import --input source.txt --grammars plain --references target.txt --output out.h5",
    ),
    "grammar-gz": _target(
        " ".join(f"grammars/grammar.{i}.gz" for i in range(6)),
        "grammar import --input source.txt --grammars grammars --output out.h5",
        "grammar import --input segments.txt --output out.h5",
    ),
    "grammar-categories": _target(
        "syntax.grammar",
        "grammar import --input source.txt --grammar FILE --output out.h5",
        "grammar import --input source.txt --grammar FILE --references target.txt --output out.h5",
    ),
    "segments": _target("segments.txt", "grammar import --input FILE --output out.h5", also=("",)),
    "weights-text": _target("weights.txt", *_WEIGHTS),
    "n-best": _target(
        "nbest.txt nbest.json",
        "rescore --nbest FILE --weights nbest.ini --k-best 9 --output out",
        "tune --tuner mert --restarts 1 --nbest FILE --references target.txt --output out.ini",
        "tune --tuner pro --nbest FILE --references target.txt --start nbest.ini --output out.json",
        "tune --tuner kbest-mira --nbest FILE --references target.txt --quality ter --output out.h5",
        "shard --nbest FILE --target target.txt --shards 2 --output out",
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
    ),
    "alignment-model": _target(
        "forward.model reverse.model",
        "align --source source.txt --target target.txt --model FILE --output out",
    ),
    "source-text": _target(
        "source.txt raw.source",
        f"{_PREPARE} --source FILE --target target.txt",
        f"{_PREPARE} --source FILE --target raw.target --task tasks.txt --split-compounds",
        f"{_PREPARE} --source FILE --target target.txt --tokenized",
        "grammar index --source FILE --target target.txt --alignment alignment.txt --output out",
        "grammar extract --index index --input FILE --output out.h5",
        "shard --source FILE --target target.txt --shards 2 --output out",
        "lm score --model lm.bin --input FILE --output out",
        "translate --system system --input FILE --output out",
        "export cdec --system system.bundle --input FILE --arpa lm.arpa --output out",
    ),
    "target-text": _target(
        "target.txt raw.target",
        f"{_PREPARE} --source raw.source --target FILE",
        f"{_PREPARE} --source source.txt --target target.txt --tokenized --monolingual FILE",
        f"{_PREPARE_TEST} --source source.txt --target target.txt --target FILE",
        "grammar index --source source.txt --target FILE --alignment alignment.txt --output out",
        "grammar extract --index index --input source.txt --references FILE --output out.h5",
        "shard --source source.txt --target FILE --shards 2 --output out",
        "lm estimate --order 3 --input FILE --output out",
        "lm estimate --order 3 --input target.txt --vocabulary FILE --output out",
        "bleu --reference target.txt FILE",
        "bleu --reference FILE hypotheses.txt",
        "bleu --reference target.txt --reference FILE hypotheses.txt",
        "compare --trials 20 --reference target.txt hypotheses.txt FILE",
        f"{_TASKS} FILE --labels tasks.txt --tasks nature --output out.txt",
        "report join --labels tasks.txt --tasks people --translations FILE --output out",
        f"detokenize {_RESTORED} --input FILE --output out",
        f"detokenize {_RESTORED} --input hypotheses.txt --references FILE --counts out.h5 --output out",
        f"{_CHOOSE} --reference target.txt --translations FILE --by ter --raw-references raw.target "
        f"{_RESTORED}",
    ),
    "corpus-gz": _target("target.txt.gz", *_PACKED, "lm estimate --order 3 --input FILE --output out"),
    "corpus-xz-zstd": _target("target.txt.xz target.txt.zst", *_PACKED),
    "tsv": _target("pairs.tsv", f"{_PREPARE} --file FILE", f"{_PREPARE} --file FILE --columns 2,1,3"),
    "tmx": _target("memory.tmx", f"{_PREPARE} --file FILE"),
    "ids": _target(
        "shards/0.ids",
        "grammar extract --index index --input part.source.gz --leave-one-out FILE --output out.h5",
        "lm estimate --order 2 --input target.txt --leave-out shards --fold 0/2 --output out",
        also=("shards: ", "shards/0.target.gz"),
    ),
    "sentences": _target(
        "listed/0.ids",
        "lists --folder listed --number 0 --output out.h5",
        also=("listed/0.lists.gz", "listed/0.target.gz"),
    ),
    "declaration": _target(
        "shards/shards.tsv",
        "lm estimate --order 2 --input target.txt --leave-out shards --fold 0/2 --output out",
        "grammar extract --index index --input shards/0.source.gz --references shards/0.target.gz "
        "--leave-one-out shards/0.ids --output out.h5",
        also=("shards/", "shards: "),
    ),
    "declaration-lists": _target(
        "listed/shards.tsv", "lists --folder listed --number 0 --output out.h5", also=("listed/",)
    ),
    "list": _target("parts.txt", f"{_MIX} --inputs FILE --epoch 1 --mixing selection --select 9", also=("",)),
    "tasks": _target(
        "tasks.txt",
        f"{_PREPARE} --source source.txt --target target.txt --task FILE",
        f"{_TASKS} target.txt --labels FILE --tasks nature people --output out.txt out.tsv out.json",
        "report join --labels FILE --tasks people nature --output out "
        "--translations hypotheses.txt target.txt",
        f"{_CHOOSE} --reference target.txt --translations hypotheses.txt --labels FILE --task nature",
    ),
    "config": _target("config.yaml", "config check FILE", "config template FILE --output out"),
    "preparation": _target(
        "preparation.json",
        "corpus prepare --source raw.source --target raw.target --split test --output out --preparation FILE",
        f"{_DETOKENIZE} --preparation FILE --recaser recaser.json",
        "translate --system system --input raw.source --output out",
    ),
    "recaser": _target("recaser.json", f"{_DETOKENIZE} --preparation preparation.json --recaser FILE"),
    "statistics": _target("statistics.json", "corpus statistics FILE", f"{_CORPUS} FILE"),
    "rules": _target("rules.json", f"{_CORPUS} statistics.json --rules train FILE"),
    "counts": _target("counts.h5", f"{_TABLE} hypotheses.txt --systems system.json --counts FILE"),
    "system": _target("system.json", f"{_TABLE} hypotheses.txt target.txt --systems FILE other.json"),
    "resources": _target(
        "system/resources.json",
        "translate --system system --input raw.source --output out",
        also=(": no such file", "lm.bin: ", "index: ", "preparation.json: "),
    ),
}
