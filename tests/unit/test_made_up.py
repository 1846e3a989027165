"""The synthetic lists, shards and corpora for benchmarks: the steps accept them, and a seed decides."""

import itertools
import os
import platform
from functools import partial

import numpy as np
import pytest
from benchmarks.made_up_lists import make_lists
from benchmarks.made_up_shards import make_shards
from benchmarks.scale import grow, variants
from tests.limited import limited
from tests.steps import settings
from tests.systems import itersel
from tests.text_grammars import write

from itersel.bleu.bleu_kernels import best_bleu
from itersel.config.learning_steps import TuneSettings
from itersel.corpus.alignments import read_alignment
from itersel.lists.joining import find_tuning_files, join_files
from itersel.storage.files import read_lines
from itersel.tune.iteration import tune
from itersel.tune.tuners.kbest_mira import KBestMira
from itersel.vectors.feature_names import DENSE_FEATURES
from itersel.vectors.features import feature_keys
from itersel.vectors.weights import read_itersel_weights

SIZES = {"sentences": 12, "k_best": 20, "iterations": 2, "features": 500}


def test_sizes(tmp_path):
    paths = make_lists(tmp_path, **SIZES).read_text().split()
    files = find_tuning_files(paths, 1, range(1, 3))
    table = join_files(files)
    # no translation is dropped because it equals another one
    assert np.diff(table.offset).tolist() == [40] * 12
    sparse = table.sparse.take(np.arange(table.translation_count))
    counts = np.diff(sparse.offset)
    assert counts.max() <= 100
    assert counts.mean() > 60
    assert all((np.diff(sparse.feature[a:b]) > 0).all() for a, b in itertools.pairwise(sparse.offset))


def test_tuners_learn_from_them(tmp_path):
    lists = make_lists(tmp_path, **{**SIZES, "features": 0}).read_text().split()
    table = join_files(find_tuning_files(lists, 1, range(1, 3)))
    start_weights = read_itersel_weights(tmp_path / "start")
    start = table.dense @ [start_weights.to_dict().get(name, 0.0) for name in DENSE_FEATURES]
    output = tmp_path / "weights.h5"
    tuned = tune(TuneSettings(KBestMira(passes=3), iteration=2), lists, output, start_weights=start_weights)
    assert tuned.quality > best_bleu(start, table.offset, table.statistics) + 0.05


def test_mix_accepts_shards(tmp_path):
    files = ["--inputs", make_shards(tmp_path, 6, 500), "--output", tmp_path / "v.h5"]
    itersel("step", "mix", *files, *settings(mixing={"name": "selection", "select": 50}, shards=6))
    assert 0 < read_itersel_weights(tmp_path / "v.h5").key.shape[0] <= 50
    shards = [read_itersel_weights(tmp_path / f"{z}.h5") for z in range(6)]
    for weights in shards:
        assert 400 < weights.key.shape[0] < 600
        assert np.array_equal(feature_keys(weights.name), weights.key)
    # Zipf: some features are in all shards, most only in one
    _, times = np.unique(np.concatenate([weights.key for weights in shards]), return_counts=True)
    assert (times == 6).sum() > 50
    assert (times == 1).sum() > 500


@pytest.mark.parametrize(
    "make",
    [partial(make_lists, **SIZES), partial(make_shards, shards=2, weights=100)],
    ids=["lists", "shards"],
)
def test_seeds(tmp_path, make):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        make(tmp_path / name, seed=seed)
    a, b, c = ((tmp_path / name / "1.h5").read_bytes() for name in "abc")
    assert a == b
    assert a != c


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names types of x86-64 processors")
def test_pro_does_not_depend_on_the_type_of_processor(tmp_path):
    """OpenBLAS adds up in another order on each of these, and chooses one when a process starts."""
    files = ["--inputs", make_lists(tmp_path, **SIZES), "--start", tmp_path / "start"]
    output, found = tmp_path / "weights.h5", set()
    for core in ("Prescott", "Nehalem", "Sandybridge"):
        step = ["step", "tune", *settings(tuner={"name": "pro"}), "--iteration=2", *files, "--output", output]
        done = limited(*step, env={**os.environ, "OPENBLAS_CORETYPE": core})
        assert done.returncode == 0, done.stderr
        found.add(output.read_bytes())
        output.unlink()
    assert len(found) == 1


def test_grown_pairs_are_aligned(tmp_path):
    """Every word is aligned with its translation, and the order of words is reversed."""
    texts = {"source": ["a", "b c", "d e f"], "target": ["A", "C B", "F E D"]}
    texts["alignment"] = ["0-0", "0-1 1-0", "0-2 1-1 2-0"]
    (tmp_path / "grown").mkdir()
    corpus = tuple(write(tmp_path / name, *lines) for name, lines in texts.items())
    source, target, alignment = grow(corpus, tmp_path / "grown", 50)
    sides = ([line.split() for line in read_lines(path)] for path in (source, target))
    pairs = list(zip(*sides, read_alignment(alignment), strict=True))
    assert len(pairs) == 50
    assert len({len(words) for words, _, _ in pairs}) > 3
    for words, translations, points in pairs:
        assert [words[i].upper() for i, _ in points] == [translations[j] for _, j in points]
        assert {i for i, _ in points} == set(range(len(words)))


def test_rare_words_have_more_variants():
    words = ["the"] * 1000 + ["house"] * 30 + ["hapax"]
    assert variants(words, 1) == {"the": 1, "house": 1, "hapax": 1}
    # 16 ** (0.75 * (1 - log 30 / log 1000)) = 2.87, and 16 ** 0.75
    assert variants(words, 16) == {"the": 1, "house": 3, "hapax": 8}
