"""The aligner against its formulas in plain Python."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest
from numba import config
from tests.conftest import ROOT
from tests.naive import aligner

from itersel.align import sampler
from itersel.align.sampler import (
    NumberedBitext,
    Sampler,
    TrainedAligner,
    align_with,
    read_model,
    schedule,
    write_model,
)
from itersel.align.sampler_kernels import DECIDE, FERTILE, HMM, IBM1, RANDOM, SentencePairs
from itersel.storage.ragged import offsets_of

STAGES = [RANDOM, *[IBM1] * 2, *[HMM] * 2, *[FERTILE] * 3, DECIDE]


def text_of(pairs):
    arrays = []
    for lines in zip(*pairs, strict=True) if pairs else ((), ()):
        words = np.array([word for line in lines for word in line], np.int32)
        arrays += [words, offsets_of(list(map(len, lines)))]
    return SentencePairs(*arrays)


def drawn_pairs(seed, words, pairs, longest):
    drawn = random.Random(seed)
    return [
        tuple([drawn.randint(1, words) for _ in range(drawn.randint(0, longest))] for _ in range(2))
        for _ in range(pairs)
    ]


@pytest.mark.parametrize(
    ("seed", "words", "pairs"),
    [
        (1, 20, drawn_pairs(1, 10, 12, 5)),
        (2, 3000, drawn_pairs(2, 14, 12, 5)),
        (3, 20, drawn_pairs(3, 18, 12, 5)),
        (0, 20, drawn_pairs(0, 6, 12, 12)),
        # Jumps of more than 200 words are counted together.
        (1, 4, [([1, *[2] * 248, 3], [3, 1]), ([1, 3], [3, 1, 2])]),
        # Nothing to align.
        (1, 3, [((), (1, 2)), ((1,), ()), ((), ())]),
        (1, 1, []),
    ],
)
def test_equals_plain_python(seed, words, pairs, monkeypatch):
    """Also when the table of pairs is made anew within a pass."""
    monkeypatch.setattr(sampler, "schedule", lambda _: STAGES)
    monkeypatch.setattr(sampler, "SLOTS", 64)
    found = Sampler(text_of(pairs), 20, words, seed).run().tolist()
    assert found == aligner.links_of(aligner.align(pairs, words, seed, STAGES))


@pytest.mark.parametrize("seed", range(3))
def test_trained_model_equals_plain_python(seed, tmp_path, monkeypatch):
    """Read from its file; the text also has words that it does not know."""
    pairs, others = drawn_pairs(seed, 12, 9, 8), drawn_pairs(seed + 10, 15, 6, 9)
    monkeypatch.setattr(sampler, "schedule", lambda _: STAGES)
    trained = Sampler(text_of(pairs), 13, 13, seed)
    trained.run()
    words = ["", *map(str, range(1, 13))]
    write_model(tmp_path / "model", TrainedAligner("forward", words, words, trained.model), seed)
    model = read_model(tmp_path / "model")
    assert (model.direction, list(model.given), list(model.generated)) == ("forward", words, words)
    names = ["", *map(str, range(1, 16))]
    text = NumberedBitext(text_of(others), names, names).renumbered(model.given, model.generated)
    before = [np.copy(array) for array in model.model]
    found = align_with(model.model, text, seed).tolist()
    clipped = [tuple([min(word, 13) for word in side] for side in pair) for pair in others]
    samples = aligner.align(pairs, 13, seed, STAGES)
    assert found == aligner.links_of(aligner.align(clipped, 13, seed, sampler.TRAINED, samples))
    assert all(np.array_equal(old, new) for old, new in zip(before, model.model, strict=True))


def test_tables_have_room(monkeypatch):
    """A full table would be searched for ever."""
    monkeypatch.setattr(sampler, "schedule", lambda _: STAGES)
    monkeypatch.setattr(sampler, "SLOTS", 8)
    one = Sampler(text_of(drawn_pairs(1, 40, 60, 9)), 41, 41, 1)
    whole_pass, tables = one._pass, []

    def checked(task):
        tables.append(len(one.model.pairs))
        whole_pass(task)
        used = np.count_nonzero(one.model.pairs)
        assert one._used == used <= sampler.FULL * len(one.model.pairs)

    monkeypatch.setattr(one, "_pass", checked)
    one.run()
    assert len(set(tables)) > 1


@pytest.mark.skipif(config.DISABLE_JIT, reason="kernels are interpreted")
def test_interpreted_kernels():
    """An index that is negative is an error there; compiled, it would read other memory."""
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore:overflow encountered:RuntimeWarning"]
    command = [sys.executable, "-m", "pytest", *options, __file__, "-k", "equals_plain_python"]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("pairs", "counts"), [(30_000, (1, 7, 7, 29, 1)), (2_000_000, (1, 2, 1, 4, 1))])
def test_schedule(pairs, counts):
    expected = zip((RANDOM, IBM1, HMM, FERTILE, DECIDE), counts, strict=True)
    assert schedule(pairs) == [stage for stage, count in expected for _ in range(count)]
