"""What users see: whole messages from real calls, one of each kind. Other tests compare no words."""

import gzip
import re

import numpy as np
import pytest
from tests.damage import put, replaced, set_attributes, unsealed
from tests.refusals import is_wording

from itersel.cli.main import main
from itersel.vectors.weights import make_weights, write_itersel_weights

# The files that the commands below read.
FILES = {
    "one": "a b c d\n",
    "two": "a b\nb\n",
    "three": "a\nb\nc\n",
    "empty": "",
    "folder/one": "a\n",
    # text
    "latin1": b"fine\nf\xe4hig\n",
    "control": "fine\nnot\x01fine\n",
    "reserved": "a\nb ||| c\n",
    "marks": "a\n<s>\n",
    "labels": "news\ntwo words\n",
    "points": "0-0\n0-0 1:1\n",
    "outside": "0-0 2-0\n0-0\n",
    "packed": gzip.compress(b"text\n", mtime=0),
    "a.csv": "de,en\nja,yes\n",
    "a.jsonl": '{"source": "ja"}\n',
    "a.tmx": "<html/>",
    "short.tsv": "ja\n",
    "data.json": "{",
    "old.json": '{"test_sets": []}',
    "old/resources.json": '{"pop_limit": 200, "features": "all", "model": "lm.bin"}',
    # models
    "arpa": "ngram\n",
    "grammar.0": "[X] ||| a ||| x ||| A=1\n[X] ||| a ||| x\n",
    "cycle": "[X] ||| a ||| x ||| A=1\n[X] ||| [X,1] ||| [X,1] ||| A=1\n",
    "weights": "LM 1\n",
    "no-value": "a 1\nb\n",
    "no-number": "a 1\nb x\n",
    "infinite": "a inf\n",
    "beyond": "a 1e13\n",
    "beyond.json": '{"LM": 1e13}',
    "twice": "a 1\na 2\n",
    # n-best lists
    "list": "0 ||| a ||| LM=1\n0 ||| b ||| LM=2\n",
    "bad-list": "0 ||| a\n",
    "gap-list": "0 ||| a ||| LM=1\n2 ||| a ||| LM=1\n",
    "nan-list": "0 ||| a ||| LM=nan\n",
    "counts": "1\n",
    "functions": "0 ||| a ||| TM= 1 2 3 4 5\n",
    "moses.ini": "[weight]\nTM= 1 1 1\n",
}

WEIGHTS = make_weights({"LM": 1.0, "WP": -1.0})
# How files that itersel wrote are damaged.
DAMAGED = {
    "flipped.h5": put("v", 0, 9.0, unsealed),
    "nan.h5": put("v", 0, np.nan),
    "short.h5": replaced("v", lambda values: values[1:]),
    "floats.h5": replaced("v", lambda values: values.astype(np.float32)),
    "lost.h5": replaced("v"),
    "format.h5": set_attributes(format="weights/99"),
}

PREPARE = "corpus prepare --tokenized --source-language de --target-language en --split train --output new"

# A command, and what it says after its name.
COMMANDS = [
    # Files
    ("bleu --reference missing two", "missing: no such file"),
    ("bleu --reference folder two", "folder: is a folder, expected a file"),
    ("bleu --reference empty two", "empty: is empty; expected reference translations"),
    ("bleu --reference latin1 two", "latin1:2: not valid UTF-8; convert the file with iconv"),
    ("bleu --reference packed two", "packed: is compressed with gzip; rename it to end in .gz"),
    ("weights show data.json", "data.json: is not JSON"),
    (
        "step divide --source two --target two --output folder",
        "folder: exists, and is not an empty folder; name another one",
    ),
    # Parallel text
    (
        f"{PREPARE} --source two --target three",
        "three:3: has no partner: 3 lines, but 2 in two; the files must be parallel",
    ),
    (
        f"{PREPARE} --source control --target two",
        "control:2: control character U+0001; remove it or replace it by a space",
    ),
    (
        f"{PREPARE} --source reserved --target two",
        "reserved:2: '|||' separates the fields of grammars, so no token may contain it; replace it",
    ),
    (
        f"{PREPARE} --source marks --target two",
        (
            "marks:2: '<s>' cannot be a word because it has a meaning in grammars or language "
            "models; rename it"
        ),
    ),
    (
        f"{PREPARE} --source two --target two --labels labels",
        "labels:2: 'two words' is not a label; give one word per line",
    ),
    (
        f"{PREPARE} --source two --target two --alignment outside",
        (
            "outside:1: alignment point 2-0 is outside its sentence pair (2 and 2 tokens, counted "
            "from 0); align this text again"
        ),
    ),
    (
        f"{PREPARE} --source two --target two --alignment points",
        "points:2: '1:1' is not an alignment point; write source-target, for example 0-1",
    ),
    (f"{PREPARE} --source two --file a.tmx", "--file replaces --source; give only one of them"),
    (
        f"{PREPARE} --file short.tsv",
        "short.tsv:1: has 1 column, separated by tabs, but the target is column 2",
    ),
    (
        f"{PREPARE} --file a.csv --columns 1,4",
        "a.csv:1: has 2 columns, separated by commas; column 4 is needed",
    ),
    (f"{PREPARE} --file a.csv --fields fr,en", "a.csv:1: has no column 'fr'; its header is de, en"),
    (f"{PREPARE} --file a.jsonl", "a.jsonl:1: has no text in field 'target'; its fields are source"),
    (f"{PREPARE} --file a.tmx", "a.tmx:1: is not TMX: its root is <html>, not <tmx>"),
    (
        f"{PREPARE} --file two",
        (
            "two: the name must end in .tsv, .csv, .tmx, .xlf, .xliff, .po, .mo, .jsonl, .parquet, "
            ".xml, or one of these and .gz, .xz or .zst"
        ),
    ),
    # Options that do not go together, or have no effect
    (f"{PREPARE} --source two", "--target is missing; give --source and --target, or --file"),
    (
        f"{PREPARE} --source two --target three --settings {{}}",
        "--settings replaces the options for corpora; give only one of the two",
    ),
    (
        "align --source two --target two --seed 2 --settings {} --output new",
        "--settings replaces --seed; give only one of them",
    ),
    ("lm estimate --input two --output new", "missing: --order (or --settings)"),
    ("align --source two --output new", "give either --source and --target, or --forward and --reverse"),
    (
        "align --source two --target two --output new --save model",
        "--save needs --direction: a model is of one direction",
    ),
    (
        "lm estimate --order 3 --input two --leave-out folder --output new",
        "give --leave-out and --fold together, or neither",
    ),
    (
        "tune --tuner kbest-mira --nbest list --reference one --output new --quality ter --tokenizer none",
        "tokenizer none has no effect: quality is not BLEU; remove it",
    ),
    (
        "tune --tuner mert --nbest list --reference one --output new --seeds 1-5",
        "--seeds needs --devtest-nbest, lists for choosing between the seeds",
    ),
    (
        "weights export weights --output new.h5",
        "new.h5: is not a name for a text file; choose one that does not end in .h5",
    ),
    ("compare --reference two two two", "two: is given twice; give each system once"),
    # Texts and lists that do not belong together
    (
        "bleu --reference two three",
        "three: has 3 lines, but the reference two has 2; both must have one line per sentence",
    ),
    (
        "bleu --reference two --reference three two",
        "three: has 3 lines, but two has 2; all references must be of the same text",
    ),
    (
        "rescore --nbest list --weights weights --feature f=counts",
        "counts: has 1 lines for 2 translations; give a number for each",
    ),
    (
        "rescore --nbest functions --weights moses.ini",
        "moses.ini: 'TM' has 3 weights, but 5 values in the lists; use the weights that made the lists",
    ),
    (
        "tune --tuner pro --nbest list --reference two --output new",
        "list: has no translation of sentence 1 (of 0 to 1)",
    ),
    (
        "tune --tuner pro --nbest gap-list --reference one --output new",
        (
            "gap-list: has translations of sentence 2, but the number of references is 1, and "
            "sentences are numbered from 0"
        ),
    ),
    # Formats
    ("weights show no-value", "no-value:2: expected 'name value'"),
    ("weights show no-number", "no-number:2: 'x' is not a number"),
    ("weights show infinite", "infinite:1: the weight of 'a' is inf, not finite"),
    ("weights show beyond", "beyond:1: the weight of 'a' is 1e13, beyond 1e+12"),
    ("rescore --nbest list --weights beyond.json", "beyond.json: the weight of 'LM' is 1e+13, beyond 1e+12"),
    ("weights show twice", "twice:2: feature 'a' is listed twice"),
    ("lm compile --input arpa --output new", "arpa:1: is not an ARPA file: expected \\data\\"),
    (
        "grammar import --input one --grammars . --output new.h5",
        (
            "grammar.0:2: 3 fields separated by |||, expected '[X] ||| source ||| target ||| "
            "features' and optionally an alignment"
        ),
    ),
    (
        "grammar import --input one --grammar cycle --output new.h5",
        (
            "cycle:2: the source side is a lone nonterminal; with [S] -> [X] and other rules of this "
            "kind, [X] would be part of a cycle of unit rules"
        ),
    ),
    (
        "grammar import --input one --grammars folder --output new.h5",
        "one:1: its grammar folder/grammar.0.gz: no such file",
    ),
    (
        "grammar index --source two --target two --alignment points --output new",
        "points:2: expected alignment points such as '0-0 1-2'",
    ),
    (
        "tune --tuner pro --nbest bad-list --reference one --output new",
        "bad-list:1: expected 'number ||| text ||| features ||| score', or a JSON object",
    ),
    (
        "tune --tuner pro --nbest nan-list --reference one --output new",
        "nan-list:1: the value of 'LM' is nan, not finite",
    ),
    (
        "tune --tuner mert --nbest list --reference one --output new",
        (
            "list: BLEU is 0 for all weights: no translation in any list has a 2-gram of its "
            "reference; use better weights, larger lists, or references of at least 2 words"
        ),
    ),
    # Damage
    (
        "weights show flipped.h5",
        "flipped.h5: damaged: array 'v' does not match its checksum; recreate the file",
    ),
    ("weights show nan.h5", "nan.h5: the weight of 'LM' is not finite; recreate it"),
    ("weights show short.h5", "short.h5: damaged: array 'v' has the shape 1, not 2; recreate the file"),
    ("weights show floats.h5", "floats.h5: damaged: array 'v' is of type <f4, not <f8; recreate the file"),
    (
        "weights show lost.h5",
        "lost.h5: damaged: array 'v' cannot be read (there is no 'v'); recreate the file",
    ),
    ("weights show format.h5", "format.h5: is not a weights file; make one with 'itersel train'"),
    (
        "grammar export --sentences flipped.h5 --output new",
        "flipped.h5: is not a file of sentences with grammars; make one with 'itersel grammar extract'",
    ),
    (
        "translate --system flipped.h5 --input two",
        "flipped.h5: is not a file of kind 'bundle' made by itersel",
    ),
    ("corpus statistics data.json", "data.json: is not a statistics file of itersel corpus prepare"),
    (
        "report paper --table data.json --output new.md",
        "data.json: is not JSON; delete it and run snakemake again",
    ),
    (
        (
            "step count --preparation one --translation one --reference one --settings {} "
            "--output-text new --output -"
        ),
        "--output needs a file: counts are HDF5, which standard output cannot take",
    ),
    (
        "report paper --table data.json --output new.md --output ./new.md",
        "--output and --output write the same file, './new.md'",
    ),
    (
        "report paper --table old.json --output new.md",
        "old.json: is not a table of systems, or one of an earlier version; run snakemake again",
    ),
    # Folders and settings of a run
    (
        "translate --system folder --input two",
        ("folder: has no resources.json; name a folder experiments/NAME/best of a finished run, or a bundle"),
    ),
    (
        "translate --system old --input two",
        "old/resources.json: is not the description of a system, or one of an earlier version; "
        "run the workflow again",
    ),
    ("translate --system missing --input two", "missing: no such file or folder"),
    ("rescore --system missing --nbest two", "missing: no such file or folder"),
    (
        "rescore --system folder --nbest two",
        ("folder: has no resources.json; name a folder experiments/NAME/best of a finished run, or a bundle"),
    ),
    ("rescore --first --source two --nbest two", "--source has no effect without --system; remove it"),
    (
        "report runs folder --baselines a",
        "folder: has no report/table.json; name the folder of a finished run, <output>/<name>",
    ),
    (
        'step divide --source two --target two --output new --settings {"division":{"files":3}}',
        (
            "two: has 2 sentences, too few for 3 files; use at most 2 (in a config: decoder.pieces, "
            "or tasks of an experiment)"
        ),
    ),
    (
        'step divide --source two --target two --output new --settings {"division":{"files":0}}',
        "--settings: config key 'division.files' is 0, must be a whole number, at least 1, at most 100000",
    ),
    ("step mix --inputs list --output new.h5", "2 weights files for 1 shards; give one for each shard"),
]

# A command with wrong options, and the last line of what it says.
USAGE = [
    ("bleu", "itersel bleu: error: the following arguments are required: --reference, SYSTEM"),
    ("train --weights a", "itersel train: error: --weights is now called --start"),
    ("bleux", "itersel: error: argument COMMAND: invalid choice: 'bleux' (did you mean 'bleu'?)"),
    ("weights shwo", "itersel weights: error: argument PART: invalid choice: 'shwo' (did you mean 'show'?)"),
    (
        "compare --reference a --trials 0 b c",
        "itersel compare: error: argument --trials: is '0', must be a whole number, at least 1",
    ),
    (
        "lm estimate --order 3 --input a --leave-out b --fold 2/2 --output c",
        (
            "itersel lm estimate: error: argument --fold: is '2/2', must be a fold of two or more: 0/2, "
            "1/2, 0/3, ..."
        ),
    ),
    (
        "weights export w --output .",
        "itersel weights export: error: argument --output: is '.', must be the name of a file",
    ),
    (
        "tune --tuner pro --nbest a --output b --strength x",
        "itersel tune: error: argument --strength: is 'x', must be a number, at least 0",
    ),
    (
        "tune --tuner mert --nbest a --output b --seeds 3",
        "itersel tune: error: argument --seeds: is '3', must be a list of 2 to 1000 different seeds, such as "
        "1-5 or 1,7,9",
    ),
    (
        "tune --tuner pro --nbest a --output b --passes 3",
        "itersel: error: unrecognized arguments: --passes 3",
    ),
    (
        "corpus prepare --source a --target b --output c --source-language x_y",
        (
            "itersel corpus prepare: error: argument --source-language: is 'x_y', must be a language "
            "code, such as de or pt-br"
        ),
    ),
]

# A config, and what is said of it after its name.
CONFIGS = [
    (
        "experimets: {}",
        (
            ": config has an unknown key 'experimets' (did you mean 'experiments'?); known keys: "
            "name, output, cache, seed, data, text_features, align, language_model, grammar, decoder, "
            "mbr, evaluation, report, experiments"
        ),
    ),
    ("experiments: {}", ": config key 'experiments' is missing or empty; name at least one experiment"),
    ("", ": config file must contain 'key: value' lines, not null"),
    ("- a", ": config file must contain 'key: value' lines, not ['a']"),
    ("seed: [1]", ": config key 'seed' is [1], must be a whole number, at least 0, at most 4294967295"),
    (
        "experiments: {a: {epochs: 0}}",
        ": config key 'experiments.a.epochs' is 0, must be a whole number, at least 1, at most 1000",
    ),
    (
        "experiments: {a: {epochs: x}}",
        ": config key 'experiments.a.epochs' is 'x', must be a whole number, at least 1, at most 1000",
    ),
    (
        "experiments: {a: {features: dens}}",
        (
            ": config key 'experiments.a.features' is 'dens', must be one of dense, all (did you "
            "mean 'dense'?)"
        ),
    ),
    (
        "experiments: {a: {learner: mira}}",
        ": config key 'experiments.a.learner' must contain 'name: ...', not 'mira'",
    ),
    (
        "experiments: {a: {learner: {name: perceptron, c: 1}}}",
        (
            ": config key 'experiments.a.learner.c' does not apply to learner perceptron, only to "
            "mira, kbest-mira"
        ),
    ),
    (
        "experiments: {a: {learner: {name: perceptron, learning_rate: 1e-4}}}",
        (
            ": config key 'experiments.a.learner.learning_rate' is '1e-4', must be a number, "
            "above 0; YAML reads 1e-4 as text, write 0.0001"
        ),
    ),
    (
        "experiments: {a/b: {}}",
        (
            ": config key 'experiments.a/b': the name of an experiment may contain letters, digits, "
            "'.', '_' and '-', and must not be like reference.0"
        ),
    ),
    (
        "experiments: {a: {start_from: b}}",
        ": config key 'experiments.a.start_from' is 'b', must be another experiment; there is none",
    ),
    (
        "experiments: {a: {start_from: c}, b: {}}",
        ": config key 'experiments.a.start_from' is 'c', must be one of b",
    ),
    (
        "experiments: {a: {templates: [R, R]}}",
        ": config key 'experiments.a.templates': 'R' is listed twice; remove one",
    ),
    (
        "experiments: {a: {templates: [R], features: dense}}",
        (": config key 'experiments.a.templates' has no effect with features: dense; remove one of them"),
    ),
    (
        "experiments: {a: {mixing: {name: selection, select: 5, threshold: 1}}}",
        (
            ": config key 'experiments.a.mixing.threshold' cannot be combined with 'select'; remove "
            "one of them"
        ),
    ),
    (
        "experiments: {a: {mixing: {name: path-following, first_threshold: 1}}}",
        (": config key 'experiments.a.mixing.epsilon' is missing; see path-following in docs/learning.md"),
    ),
    (
        "experiments: {a: {tune_on: dev, tasks: {shards: 2, language_model_folds: 2}}}",
        ": config key 'experiments.a.tasks.language_model_folds' needs tune_on: train",
    ),
    (
        "experiments: {a: {tasks: {name: natural}}}",
        (
            ": config key 'experiments.a.tasks.labels' is missing; name the tasks, each with a "
            "number of shards"
        ),
    ),
    (
        "experiments: {a: {epochs: 3, patience: 2}}",
        (
            ": config key 'experiments.a.patience' is 2, has no effect with epochs: 3; raise epochs, "
            "or remove this"
        ),
    ),
    (
        "output: a{b}",
        (
            ": config key 'output' is 'a{b}', must be a path without control characters, { and }, "
            "Snakemake's wildcards"
        ),
    ),
    (
        (
            "experiments: {a: {}}\ndata: {kind: files, train: {source: s, target: t, file: f.tsv}, "
            "dev: {source: s, target: t}, devtest: {source: s, target: t}, test: {source: s, target: "
            "t}}"
        ),
        (": config key 'data.train.source' cannot be combined with 'data.train.file'; remove one of them"),
    ),
    (
        "experiments: {a: {}}\ndata: {protected: [(a)]}",
        ": config key 'data.protected': '(a)' has a group; write (?:...) instead of (...)",
    ),
    (
        "experiments: {a: {}}\ndata: {split: {dev: 5}}",
        ": config key 'data.split' is now 'data.cut'; CHANGELOG.md says whether its values have changed",
    ),
    (
        "experiments: {a: {}}\nevaluation: {outputs: {a: x}}",
        ": config key 'evaluation.outputs.a': an experiment has this name; choose another",
    ),
    (
        "experiments: {a: {}}\nevaluation: {user_scores: {COMET: {system_numbers: {b: x}}}}",
        ": config key 'evaluation.user_scores.COMET.system_numbers.b': no system has this name; known: a",
    ),
    (
        (
            "experiments: {a: {}}\ndata: {kind: lists, train: &text {lists: l, target: t}, dev: *text, "
            "devtest: *text, test: *text}\nevaluation: {choose_by: quality}"
        ),
        ": config key 'data.devtest.quality' is missing; evaluation.choose_by: quality needs it",
    ),
    ("seed: 1\nseed: 2", ":2: not YAML: key 'seed' is already set in line 1; rename or remove one"),
    ("name: [", ":2: not YAML: expected the node content, but found '<stream end>'"),
    ("seed: 1:30", ":1: not YAML: 1:30 is a number to base 60 in YAML; put it in quotes"),
    (
        "seed: 0100",
        ":1: not YAML: 0100 is a number to base 8 in YAML; write it without the zero, or in quotes",
    ),
    (
        "data: {source_language: no}",
        (
            ": config key 'data.source_language' is false, must be text; YAML reads no, off and "
            "false in this way: put the word in quotes, as in 'no'"
        ),
    ),
    (
        "data: {target_language: pt BR}",
        ": config key 'data.target_language' is 'pt BR', must be a language code, such as de or pt-br",
    ),
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for name, damage in DAMAGED.items():
        write_itersel_weights(tmp_path / name, WEIGHTS)
        damage(tmp_path / name)
    return tmp_path


def said(capsys, arguments, status):
    """Return what a command says before it ends with a status."""
    assert main(arguments) == status
    return capsys.readouterr().err.removesuffix("\n")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("command", "message"), COMMANDS)
def test_messages_of_commands(capsys, command, message):
    arguments = command.split()
    name = " ".join(arguments[: 2 if arguments[0] == "step" else 1])
    assert said(capsys, arguments, 1) == f"itersel {name}: {message}"


@pytest.mark.parametrize(("command", "message"), USAGE)
def test_messages_about_options(capsys, command, message):
    assert said(capsys, command.split(), 2).splitlines()[-1] == message


@pytest.mark.parametrize(("content", "message"), CONFIGS)
def test_messages_about_configs(tmp_path, monkeypatch, capsys, content, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(content + "\n")
    arguments = ["config", "check", "--no-text", "config.yaml"]
    assert said(capsys, arguments, 1) == f"itersel config: config.yaml{message}"


def test_other_tests_compare_no_words(root):
    """tests/refusals.py checks the facts that it is given; this is what pytest matches."""
    matched = [
        (path.name, text)
        for path in root.glob("tests/**/test_*.py")
        for text in re.findall(r'match=\w?"([^"]*)"', path.read_text())
    ]
    assert len(matched) > 5
    # what a test raises itself
    assert [(name, text) for name, text in matched if is_wording(text) and "is wrong" not in text] == []
