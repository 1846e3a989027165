"""The four algorithms with the decoder, compared with their pseudo-code, and as a chain of commands."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from tests.damage import put
from tests.naive import learning, selection
from tests.naive.learning import Hypothesis
from tests.naive.strategies import features_of
from tests.steps import settings
from tests.systems import itersel as step
from tests.text_grammars import write

import itersel
from itersel.config.mixing import ALGORITHMS
from itersel.decode.decoder import Decoder
from itersel.grammar.build import Rule, make_grammars
from itersel.grammar.sentence_grammars import write_grammars
from itersel.lm.binary import load_model
from itersel.storage.hdf5 import read_header
from itersel.vectors.weights import FORMAT, make_weights, read_itersel_weights, write_itersel_weights

K_BEST, RATE, SHARDS, EPOCHS, NUMBER = 12, 0.01, 3, 3, 20

WORDS = {
    "das": ("the", "this", "that"),
    "haus": ("house", "home", "building"),
    "ist": ("is", "be"),
    "klein": ("small", "little", "minor"),
    "groß": ("large", "big", "great"),
    "alt": ("old", "ancient"),
    "sehr": ("very", "much"),
}
TEXT = [
    "the house is small",
    "the old house is large",
    "this building is very old",
    "the very old home is big",
]


def make_rules(random):
    """Return rules for all words, alone and next to a nonterminal, with uninformative costs."""
    sides = [((word,), (other,)) for word, others in WORDS.items() for other in others]
    sides += [(("sehr", -1), ("very", -1)), (("sehr", -1), (-1, "much")), ((-1, "ist", -2), (-1, "is", -2))]
    sides += [((-1, "ist", -2), (-2, "is", -1)), (("das", "haus"), ("the", "house"))]
    costs = random.uniform(0, 2, len(sides)).round(3).tolist()
    return [Rule(*both, {"EgivenFCoherent": cost}) for both, cost in zip(sides, costs, strict=True)]


def make_corpus(folder):
    random = np.random.default_rng(7)
    shards = []
    for z in range(SHARDS):
        source = [
            ("das", str(random.choice(["alt", "klein", "groß"])), "haus", "ist", "sehr", str(adjective))
            for adjective in random.choice(["alt", "klein", "groß"], 3)
        ]
        reference = [tuple(WORDS[word][0] for word in sentence) for sentence in source]
        shards.append(make_grammars(source, reference, [make_rules(random) for _ in source]))
        write_grammars(folder / f"{z}.h5", shards[-1])
    make_model(folder / "lm.bin", TEXT)
    return shards


def make_model(path, lines):
    text = write(path.with_suffix(".text"), *lines)
    step("lm", "estimate", "--order", 2, "--input", text, "--output", path)


def plain_training(folder, update):
    """Return a function that trains on a shard in plain Python, except for the search."""
    model = load_model(folder / "lm.bin")

    def train(shard, weights):
        decoder, bleu = Decoder(shard, model), learning.Bleu("liang")
        for i in range(shard.sentence_count):
            kbest = hypotheses(decoder, i, weights)
            reference = shard.references(i).word.tolist()
            quality = bleu.of_all([hypothesis.words for hypothesis in kbest], reference)
            pairs = learning.multipartite_pairs(quality)
            weights, _ = learning.update_pairs(weights, kbest, pairs, "perceptron", update, RATE)
        return weights

    return train


def hypotheses(decoder, sentence, weights):
    found = decoder.decode(sentence, decoder.weight_vectors(make_weights(weights)), k=K_BEST)
    result = []
    for i, score in enumerate(found.score.tolist()):
        words = found.word[slice(*found.word_offset[i : i + 2])].tolist()
        result.append(Hypothesis(tuple(words), features_of(decoder, found, i), score))
    return result


def train_command(*models, learner=None, **keys):
    """Return the command that trains a perceptron with these keys, and with other settings."""
    perceptron = {"name": "perceptron", "sentence_bleu": "liang", "learning_rate": RATE, **(learner or {})}
    return ["train", *settings(k_best=K_BEST, learner=perceptron, **keys), "--language-model", *models]


def chain(folder, algorithm, update):
    own, shards = algorithm in ("sgd", "mixsgd"), 1 if algorithm == "sgd" else SHARDS
    mixing = {"name": ALGORITHMS[algorithm]} | ({"select": NUMBER} if algorithm == "itersel" else {})
    out = folder / algorithm
    out.mkdir()
    for epoch in range(1, EPOCHS + 1):
        for z in range(shards):
            begin = out / (f"w{epoch - 1}.{z}.h5" if own else f"v{epoch - 1}.h5")
            start = ["--start", begin] if epoch > 1 else []
            files = ["--sentences", folder / f"{z}.h5", "--output", out / f"w{epoch}.{z}.h5"]
            command = train_command(folder / "lm.bin", learner={"update": update})
            step(*command, *files, *start, "--epoch", epoch, "--shard-number", z)
        files = write(out / "list", *(f"{out}/w{epoch}.{z}.h5" for z in range(shards)))
        mix = [*settings(mixing=mixing, shards=shards), "--output", out / f"v{epoch}.h5"]
        mix += ["--previous", out / f"v{epoch - 1}.h5"] if own and epoch > 1 else []
        step("step", "mix", "--inputs", files, "--epoch", epoch, *mix)
    return read_itersel_weights(out / f"v{EPOCHS}.h5").to_dict()


@pytest.mark.parametrize("update", ["sequential", "sentence"])
def test_commands_equal_the_pseudo_code(tmp_path, update):
    shards = make_corpus(tmp_path)
    train = plain_training(tmp_path, update)
    expected = {
        "sgd": selection.sgd(shards[0], EPOCHS, train),
        "mixsgd": selection.mix_sgd(shards, EPOCHS, train),
        "itermixsgd": selection.iter_mix_sgd(shards, EPOCHS, train),
        "itersel": selection.iter_sel_sgd(shards, EPOCHS, train, NUMBER),
    }
    for algorithm, weights in expected.items():
        found = chain(tmp_path, algorithm, update)
        for name in found.keys() | weights.keys():
            assert found.get(name, 0.0) == pytest.approx(weights.get(name, 0.0), abs=1e-12)
        assert sum(abs(value) > 1e-6 for value in found.values()) >= NUMBER / 2
    assert max(abs(value) for value in expected["itersel"].values()) > RATE


def test_provenance_and_bytes(tmp_path):
    make_corpus(tmp_path)
    learner = {"name": "margin-perceptron", "pairs": "pro", "sentence_bleu": "chiang"}
    command = train_command(tmp_path / "lm.bin", learner=learner, features="dense", seed=3)
    command += ["--sentences", tmp_path / "1.h5", "--epoch", 4, "--shard-number", 1]
    for name in ("one.h5", "two.h5"):
        step(*command, "--output", tmp_path / name)
    assert (tmp_path / "one.h5").read_bytes() == (tmp_path / "two.h5").read_bytes()
    with h5py.File(tmp_path / "one.h5") as stream:
        found = read_header(stream, FORMAT, tmp_path / "one.h5").attributes
    assert (found["version"], found["epoch"], found["shard"]) == (itersel.__version__, 4, 1)
    assert (found["sentences"], found["pairs"]) == (3, 150)
    assert 0 < found["updates"] <= found["pairs"]
    search = {"features": "dense", "templates": None, "k_best": K_BEST, "pop_limit": 200, "max_span": 15}
    learner = {"name": "margin-perceptron", "sentence_bleu": "chiang", "pairs": "pro", "update": "sentence"}
    steps = {
        "learning_rate": RATE,
        "schedule": "constant",
        "regularization": "none",
        "strength_per_epoch": 0.0,
    }
    learner |= {**steps, "average": False, "delay": 1}
    assert json.loads(found["settings"]) == {**search, "learner": learner, "seed": 3}
    names = set(read_itersel_weights(tmp_path / "one.h5").name.to_list())
    assert names
    assert not any(":" in name for name in names)


def test_several_files(tmp_path):
    """Several files at once, each with its model, equal consecutive runs that pass on the weights."""
    make_corpus(tmp_path)
    make_model(tmp_path / "other.bin", TEXT[:2])
    files = [tmp_path / f"{number}.h5" for number in range(3)]
    models = [tmp_path / name for name in ("lm.bin", "other.bin", "lm.bin")]
    step(*train_command(*models), "--sentences", *files, "--output", tmp_path / "row.h5")
    weights, output = [], tmp_path / "step.h5"
    for file, model in zip(files, models, strict=True):
        step(*train_command(model), "--sentences", file, *weights, "--output", output)
        weights = ["--start", output]
    expected, found = (
        read_itersel_weights(output).to_dict(),
        read_itersel_weights(tmp_path / "row.h5").to_dict(),
    )
    assert found.keys() == expected.keys()
    assert found == pytest.approx(expected, abs=1e-12)
    assert len(found) > 20


def drop_references(path):
    write_grammars(path, make_grammars([("das",)], None, [[]]))


@pytest.mark.parametrize(
    ("broken", "damage", "models", "facts"),
    [
        ("1.h5", Path.unlink, 1, "1.h5"),
        ("0.h5", drop_references, 1, ("0.h5", "--reference")),
        ("start.h5", put("v", 0, np.nan), 1, ("start.h5", "'Glue'")),
        ("0.h5", Path.exists, 2, ("--language-model", 2, "--sentences", 3)),
    ],
)
def test_bad_input(tmp_path, refused, broken, damage, models, facts):
    make_corpus(tmp_path)
    write_itersel_weights(tmp_path / "start.h5", make_weights({"Glue": 1.0}))
    damage(tmp_path / broken)
    files = ["--start", tmp_path / "start.h5", "--sentences", *(tmp_path / f"{z}.h5" for z in range(SHARDS))]
    refused([*train_command(*[tmp_path / "lm.bin"] * models), *files, "--output", tmp_path / "w.h5"], facts)
