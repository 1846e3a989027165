"""The files to damage, and the steps that read them."""

from __future__ import annotations

from dataclasses import dataclass

from tests.fuzz.corpus import LANGUAGES, PATH, SEARCH

DAMAGED, RESEALED, CHANGED = "damaged", "resealed", "changed"
# Ways to damage files; `cases` maps them to modules.
HDF5, ARRAYS, TEXT, PACKED, JSON, YAML = "hdf5", "arrays", "text", "packed", "json", "yaml"
# Compressed, but not with gzip.
PACKED_OTHERWISE = "packed otherwise"
# damaged: checksums are unchanged. resealed: checksums are corrected. changed: text, without checksums.
MODES = {
    HDF5: (DAMAGED, RESEALED),
    ARRAYS: (DAMAGED, RESEALED),
    TEXT: (CHANGED,),
    PACKED: (DAMAGED, CHANGED),
    PACKED_OTHERWISE: (DAMAGED,),
    JSON: (CHANGED,),
    YAML: (CHANGED,),
}


@dataclass(frozen=True)
class Target:
    """A format: its files, how to damage them, and the steps that read them.

    In the arguments of a step, FILE stands for the damaged file. Output files begin with ``out``.

    also
        Names that an error may give instead of the file's, such as files that it names. "" matches anything.
    """

    files: tuple[str, ...]
    kind: str
    steps: tuple[str, ...]
    also: tuple[str, ...] = ()


_TRAIN = f"train --model lm.bin {SEARCH} --output out.h5 --shard"
_DECODE = "decode --model lm.bin --output out --shard"
_TUNE = "tune --shards 1 --iteration 1 --output out.h5 --lists"
_MIX = "mix --shards 2 --output out.h5"
_PREPARE = f"corpus prepare --split train --output out {LANGUAGES}"
_PREPARE_TEST = _PREPARE.replace("--split train", "--split test.x")
_WEIGHTS = (
    f"{_TRAIN} shard.h5 --weights FILE",
    f"{_DECODE} shard.h5 --weights FILE --pop-limit 30",
    "weights show FILE --number 0",
    "weights export FILE --output out",
)
_CHOOSE = (
    "report choose --name x --learner mira --mixing none --tune-on dev --features all --shards 1 "
    "--weights weights.h5 --output-weights out.h5 --output out.json"
)
_RESTORED = "--preparation preparation.json --recaser recaser.json"
_TASKS = "report tasks --reference target.txt --trials 20 --system one hypotheses.txt --system two"
_SYSTEMS = "report table --test-set test target.txt --translations hypotheses.txt target.txt --trials 50"
TARGETS = {
    "shard": Target(
        ("shard.h5", "plain-references.h5"),
        HDF5,
        (
            f"{_TRAIN} FILE",
            f"{_TRAIN} FILE --weights weights.h5 --update sequential --pairs all",
            f"{_DECODE} FILE --weights weights.h5 {SEARCH}",
            f"{_DECODE} FILE --weights weights.h5 --features dense --pop-limit 9",
            "grammar export --shard FILE --output out",
            "report rules --shards shards.txt --output out",
        ),
    ),
    "shard-categories": Target(
        ("syntax.h5",),
        HDF5,
        (
            f"{_TRAIN} FILE",
            f"{_DECODE} FILE --weights weights.h5 {SEARCH}",
            "grammar export --shard FILE --output out",
        ),
    ),
    "weights": Target(("weights.h5", "part0.h5"), HDF5, _WEIGHTS),
    "matrix": Target(
        ("W.h5", "path.W.h5"), HDF5, (*_WEIGHTS, "report selection --matrices FILE --output out.txt")
    ),
    "lists": Target(
        ("lists.h5", "dense.h5"),
        HDF5,
        (
            f"{_TUNE} lists.txt --tuner pro",
            f"{_TUNE} lists.txt --tuner kbest-mira --passes 3",
            f"{_TUNE} dense.txt --tuner mert --restarts 1",
            f"{_TUNE} lists.txt --tuner line-search --directions dense --sum-sparse --previous weights.h5",
        ),
    ),
    "forests": Target(("forests.h5",), HDF5, (f"{_TUNE} forests.txt --tuner forest-mert",)),
    "state": Target(
        ("state.h5",),
        HDF5,
        (f"{_TRAIN} shard.h5 --weights FILE --learner adagrad --epoch 2", "weights show FILE --number 0"),
    ),
    "mix-input": Target(
        ("part0.h5", "part1.h5"),
        HDF5,
        (
            f"{_MIX} --inputs parts.txt --epoch 1 --mixing selection --select 9 --matrix out.matrix.h5",
            f"{_MIX} --inputs parts.txt --epoch 1 --mixing selection --threshold 0.001 --norm l1",
            f"{_MIX} --inputs parts.txt --epoch 1 --mixing mean-of-epochs",
        ),
    ),
    "mix-previous": Target(
        ("previous.h5",),
        HDF5,
        (f"{_MIX} --inputs late.txt --epoch 2 --mixing mean-of-epochs --previous FILE",),
    ),
    "path-previous": Target(
        ("path.h5",),
        HDF5,
        (
            f"{_MIX} --inputs path.txt --epoch 2 {PATH} --previous FILE",
            f"{_TRAIN} shard.h5 --weights FILE --measure-loss --learner mira --epoch 2",
        ),
    ),
    "path-input": Target(
        ("path0.h5",), HDF5, (f"{_MIX} --inputs path.txt --epoch 2 {PATH} --previous path.h5",)
    ),
    "model": Target(
        ("lm.bin",),
        ARRAYS,
        (
            f"train --shard shard.h5 --model FILE {SEARCH} --output out.h5",
            f"decode --shard shard.h5 --model FILE --weights weights.h5 {SEARCH} --output out",
            "lm score --model FILE --input source.txt --output out",
            "lm score --model FILE --input target.txt --output out",
        ),
    ),
    "index": Target(
        ("index",),
        ARRAYS,
        (
            "grammar extract --index FILE --input source.txt --output out.h5",
            "grammar extract --index FILE --input part.source.gz --references part.target.gz "
            "--leave-one-out lines.ids --output out.h5",
            "grammar extract --index FILE --input source.txt --max-samples 2 --max-symbols 8 --output out.h5",
            "translate --system system --input raw.source --output out",
        ),
    ),
    "bundle": Target(
        ("system.bundle",),
        ARRAYS,
        (
            "translate --system FILE --input raw.source --output out",
            "translate --system FILE --input raw.source --k-best 5 --derivations --output out",
            "bundle FILE out",
            "export cdec --system FILE --input raw.source --arpa lm.arpa --output out",
        ),
        ("lm.arpa: is not the ARPA file",),
    ),
    "arpa": Target(
        ("lm.arpa",),
        TEXT,
        ("lm compile --input FILE --output out", "lm compile --input FILE --order 3 --output out"),
    ),
    "arpa-gz": Target(("lm.arpa.gz",), PACKED, ("lm compile --input FILE --output out",)),
    "grammar": Target(
        tuple(f"plain/grammar.{i}" for i in range(6)),
        TEXT,
        (
            "grammar import --input source.txt --grammars plain --output out.h5",
            "grammar import --input source.txt --grammars plain --references target.txt --output out.h5",
        ),
    ),
    "grammar-gz": Target(
        tuple(f"grammars/grammar.{i}.gz" for i in range(6)),
        PACKED,
        (
            "grammar import --input source.txt --grammars grammars --output out.h5",
            "grammar import --input segments.txt --output out.h5",
        ),
    ),
    "grammar-categories": Target(
        ("syntax.grammar",),
        TEXT,
        (
            "grammar import --input source.txt --grammar FILE --output out.h5",
            "grammar import --input source.txt --grammar FILE --references target.txt --output out.h5",
        ),
    ),
    "segments": Target(("segments.txt",), TEXT, ("grammar import --input FILE --output out.h5",), ("",)),
    "weights-text": Target(("weights.txt",), TEXT, _WEIGHTS),
    "n-best": Target(
        ("nbest.txt", "nbest.json"),
        TEXT,
        (
            "rescore --nbest FILE --weights nbest.ini --k-best 9 --output out",
            "tune --tuner mert --restarts 1 --nbest FILE --references target.txt --output out.ini",
            "tune --tuner pro --nbest FILE --references target.txt --start nbest.ini --output out.json",
            "tune --tuner kbest-mira --nbest FILE --references target.txt --quality ter --output out.h5",
        ),
        ("nbest.ini",),
    ),
    "weights-moses": Target(
        ("nbest.ini",), TEXT, ("rescore --nbest nbest.txt --weights FILE --output out",), ("nbest.txt",)
    ),
    "alignment": Target(
        ("alignment.txt", "forward.txt", "reverse.txt"),
        TEXT,
        (
            "grammar index --source source.txt --target target.txt --alignment FILE --output out",
            "align --forward forward.txt --reverse FILE --output out",
            "align --forward FILE --reverse reverse.txt --symmetrization union --output out",
            f"{_PREPARE} --tokenized --source source.txt --target target.txt --alignment FILE",
        ),
    ),
    "alignment-model": Target(
        ("forward.model", "reverse.model"),
        HDF5,
        ("align --source source.txt --target target.txt --model FILE --output out",),
    ),
    "source-text": Target(
        ("source.txt", "raw.source"),
        TEXT,
        (
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
    ),
    "target-text": Target(
        ("target.txt", "raw.target"),
        TEXT,
        (
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
    ),
    "corpus-gz": Target(
        ("target.txt.gz",),
        PACKED,
        (
            f"{_PREPARE} --source source.txt --target FILE",
            "lm estimate --order 3 --input FILE --output out",
            "bleu --reference FILE hypotheses.txt",
        ),
    ),
    "corpus-xz-zstd": Target(
        ("target.txt.xz", "target.txt.zst"),
        PACKED_OTHERWISE,
        (f"{_PREPARE} --source source.txt --target FILE", "bleu --reference FILE hypotheses.txt"),
    ),
    "tsv": Target(
        ("pairs.tsv",), TEXT, (f"{_PREPARE} --file FILE", f"{_PREPARE} --file FILE --columns 2,1,3")
    ),
    "tmx": Target(("memory.tmx",), TEXT, (f"{_PREPARE} --file FILE",)),
    "ids": Target(
        ("shards/0.ids",),
        TEXT,
        (
            "grammar extract --index index --input part.source.gz --leave-one-out FILE --output out.h5",
            "lm estimate --order 2 --input target.txt --leave-out shards --fold 0/2 --output out",
        ),
        ("shards: ", "shards/0.target.gz"),
    ),
    "list": Target(
        ("parts.txt",), TEXT, (f"{_MIX} --inputs FILE --epoch 1 --mixing selection --select 9",), ("",)
    ),
    "tasks": Target(
        ("tasks.txt",),
        TEXT,
        (
            f"{_PREPARE} --source source.txt --target target.txt --task FILE",
            f"{_TASKS} target.txt --labels FILE --tasks nature people --output out.txt out.tsv out.json",
            "report join --labels FILE --tasks people nature --output out "
            "--translations hypotheses.txt target.txt",
            f"{_CHOOSE} --reference target.txt --translations hypotheses.txt --labels FILE --task nature",
        ),
    ),
    "config": Target(("config.yaml",), YAML, ("config check FILE", "config template FILE --output out")),
    "preparation": Target(
        ("preparation.json",),
        JSON,
        (
            "corpus prepare --source raw.source --target raw.target --split test --output out "
            "--preparation FILE",
            "detokenize --preparation FILE --recaser recaser.json --input target.txt --output out",
            "translate --system system --input raw.source --output out",
        ),
    ),
    "recaser": Target(
        ("recaser.json",),
        JSON,
        ("detokenize --preparation preparation.json --recaser FILE --input target.txt --output out",),
    ),
    "statistics": Target(
        ("statistics.json",),
        JSON,
        ("corpus statistics FILE", "report corpus --preparation FILE --output out.txt out.tsv out.json"),
    ),
    "rules": Target(
        ("rules.json",),
        JSON,
        ("report corpus --preparation statistics.json --rules train FILE --output out.txt out.json",),
    ),
    "counts": Target(
        ("counts.h5",),
        HDF5,
        (
            "report table --test-set test target.txt --systems system.json --translations hypotheses.txt "
            "--trials 20 --counts FILE --output out.txt out.tsv out.json",
        ),
    ),
    "system": Target(
        ("system.json",), JSON, (f"{_SYSTEMS} --systems FILE other.json --output out.txt out.tsv out.json",)
    ),
    "resources": Target(
        ("system/resources.json",),
        JSON,
        ("translate --system system --input raw.source --output out",),
        (": no such file", "lm.bin: ", "index: ", "preparation.json: "),
    ),
}
