"""Shards of several files, loaded one at a time, give the same result as a single file."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import oracle
from tests.unit.test_learn_algorithms import TEXT, make_corpus, train_command

from itersel.cli.main import main
from itersel.config.learners import LEARNERS, REGULARIZATIONS, SCHEDULES, Perceptron
from itersel.learn.parts import LoadedPart
from itersel.learn.train import Training, TrainSettings, train_parts
from itersel.learn.weight_table import Start
from itersel.lm.binary import load_model
from itersel.vectors.weights import make_weights, read_weights

NAMES = [f"feature{i}" for i in range(8)]
# "elsewhere" is not a feature of any sentence
START = {"feature2": 0.25, "LanguageModel": -0.5, "feature5": -0.0625, "elsewhere": 0.75}


def load(corpus: list[oracle.Sentence]) -> LoadedPart:
    """Return a part whose table has only the features of its own sentences."""
    used = {name for one in corpus for features in one.features for name in features}
    names = sorted(used - set(oracle.DENSE_NAMES))
    shard = oracle.make_shard(corpus, names)
    return LoadedPart(shard, [oracle.OracleDecoder(corpus, shard)])


def assert_same(found: Training, expected: Training) -> None:
    assert found.weights.to_dict() == expected.weights.to_dict()
    assert found[2:] == expected[2:]
    assert (found.state is None) == (expected.state is None)
    if found.state is not None and expected.state is not None:
        assert found.state.weights.to_dict() == expected.state.weights.to_dict()
        memory, wanted = found.state.memory, expected.state.memory
        assert (memory is None) == (wanted is None)
        if memory is not None and wanted is not None:
            assert all(map(np.array_equal, memory, wanted))


@given(
    st.integers(0, 2**32),
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
    st.sampled_from(sorted(LEARNERS)),
    st.sampled_from(REGULARIZATIONS),
    st.sampled_from(SCHEDULES),
    st.booleans(),
    st.sampled_from(["nakov", "chiang"]),
)
def test_equals_one_part_with_all_sentences(
    seed: int, sizes: list[int], name: str, regularization: str, schedule: str, average: bool, bleu: str
) -> None:
    """Results are bit-identical over two consecutive epochs."""
    random = np.random.default_rng(seed)
    # each part lacks some features
    parts = [
        [oracle.random_sentence(random, NAMES[place : place + 6], exact=False) for _ in range(size)]
        for place, size in enumerate(sizes)
    ]
    options: dict[str, Any] = {"regularization": regularization, "average": average, "bleu": bleu}
    options |= {"strength": 0.01} if regularization != "none" else {}
    options |= {"schedule": schedule} if name.endswith("perceptron") else {}
    options |= {"pairs": "pro"} if name == "perceptron" else {}
    learner = LEARNERS[name](**options)
    one = separate = Start(make_weights(START))
    for epoch in (1, 2):
        how = TrainSettings(k_best=15, learner=learner, epoch=epoch)
        expected = train_parts([load(list(chain(*parts)))], one, how, measure_loss=True)
        found = train_parts([load(part) for part in parts], separate, how, measure_loss=True)
        assert_same(found, expected)
        one = expected.state or Start(expected.weights)
        separate = found.state or Start(found.weights)


def test_weights_go_from_part_to_part() -> None:
    """Updates of one part affect those of the next."""
    sentence = oracle.Sentence(((1, 2),), ((1, 3), (1, 2)), ({"feature0": 1.0}, {"feature1": 1.0}))
    how = TrainSettings(learner=Perceptron(learning_rate=1.0))
    once = train_parts([load([sentence])], None, how)
    twice = train_parts([load([sentence]), load([sentence])], None, how)
    assert (once.updates, twice.updates, twice.pairs) == (1, 1, 2)
    assert twice.weights.to_dict() == once.weights.to_dict() == {"feature0": -1.0, "feature1": 1.0}


def test_command(tmp_path: Path) -> None:
    """Several files at once, each with its model, equal consecutive runs that pass on the weights."""
    make_corpus(tmp_path)
    files = [str(tmp_path / f"{number}.h5") for number in range(3)]
    other = tmp_path / "other.bin"
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in TEXT[:2]))
    arpa = tmp_path / "other.arpa"
    estimate = ["lm", "estimate", "--order", "2", "--input", str(tmp_path / "text"), "--output", str(arpa)]
    assert main(estimate) == 0
    assert main(["lm", "compile", "--order", "2", "--input", str(arpa), "--output", str(other)]) == 0
    assert load_model(other).order == 2
    models = [str(tmp_path / "lm.bin"), str(other), str(tmp_path / "lm.bin")]
    row = tmp_path / "row.h5"
    command = train_command(tmp_path, "--shard", *files, "--output", str(row))
    command[command.index("--model") + 1 : command.index("--model") + 2] = models
    assert main(command) == 0
    weights: list[str] = []
    for number, (file, model) in enumerate(zip(files, models, strict=True)):
        output = str(tmp_path / f"step{number}.h5")
        step = train_command(tmp_path, "--shard", file, *weights, "--output", output)
        step[step.index("--model") + 1] = model
        assert main(step) == 0
        weights = ["--weights", output]
    expected, found = read_weights(output).to_dict(), read_weights(row).to_dict()
    assert found.keys() == expected.keys()
    assert found == pytest.approx(expected, abs=1e-12)
    assert len(found) > 20


def test_mismatched_files_and_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_corpus(tmp_path)
    files = [str(tmp_path / f"{number}.h5") for number in range(3)]
    command = train_command(tmp_path, "--shard", *files, "--output", str(tmp_path / "w.h5"))
    command.insert(command.index("--model") + 1, str(tmp_path / "lm.bin"))
    assert main(command) == 1
    error = capsys.readouterr().err
    assert "--model names 2 files, --shard 3; name one model for all files of the shard, or one per" in error
    assert not (tmp_path / "w.h5").exists()


def test_error_names_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_corpus(tmp_path)
    files = [str(tmp_path / "0.h5"), str(tmp_path / "1.h5")]
    command = train_command(tmp_path, "--shard", *files, "--output", str(tmp_path / "w.h5"))
    (tmp_path / "1.h5").write_bytes((tmp_path / "1.h5").read_bytes()[:-100])
    assert main(command) == 1
    assert f"{files[1]}: damaged or truncated" in capsys.readouterr().err
    assert not (tmp_path / "w.h5").exists()
