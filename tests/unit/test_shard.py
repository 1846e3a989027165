"""Cutting a corpus into shards."""

from __future__ import annotations

import argparse
import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.cli import shard as command
from itersel.corpus import sharding
from itersel.corpus.sharding import shard_corpus, shard_lines
from itersel.errors import InputError


@given(st.integers(0, 300), st.integers(1, 40), st.one_of(st.none(), st.integers(0, 2**31 - 1)))
def test_every_line_once_and_balanced(lines, shards, seed):
    parts = shard_lines(lines, shards, seed)
    sizes = [len(part) for part in parts]
    assert len(parts) == shards
    assert max(sizes) - min(sizes) <= 1
    assert sorted(np.concatenate(parts).tolist()) == list(range(lines))
    if seed is None:
        assert np.concatenate(parts).tolist() == list(range(lines))


def test_shuffled_by_the_seed():
    order = [np.concatenate(shard_lines(100, 4, seed)).tolist() for seed in (1, 1, 2)]
    assert order[0] == order[1] != order[2]
    assert order[0] != list(range(100))


@pytest.fixture
def corpus(tmp_path):
    for side in ("source", "target"):
        with gzip.open(tmp_path / f"{side}.gz", "wt", encoding="utf-8") as stream:
            stream.writelines(f"{side} {line}\u2028x\n" for line in range(11))
    return tmp_path


def read(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
        return stream.read().split("\n")[:-1]


def run(*arguments):
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = parser.parse_args(list(arguments))
    options.run(options)


@pytest.mark.parametrize("order", [["--seed", "3"], ["--keep-order"], []])
def test_files(corpus, order):
    files = ["--source", str(corpus / "source.gz"), "--target", str(corpus / "target.gz")]
    run(*files, "--shards", "3", *order, "--output", str(corpus / "out"))
    ids = []
    for shard in range(3):
        numbers = [int(line) for line in (corpus / f"out/{shard}.ids").read_text().split()]
        for side in ("source", "target"):
            assert read(corpus / f"out/{shard}.{side}.gz") == [f"{side} {n}\u2028x" for n in numbers]
        ids += numbers
    assert sorted(ids) == list(range(11))
    assert (ids == list(range(11))) == (order == ["--keep-order"])


# numpy.random.PCG64(1).random_raw(8), recorded with numpy 2.4.6
FIRST_BITS = [
    9441442522235856127,
    17532960557476522086,
    2659275481604167885,
    17499493567006797778,
    5752274989370667689,
    7808994663829368904,
    15268417917351259428,
    7548391743784893130,
]


def test_the_shuffle_does_not_depend_on_the_version_of_numpy():
    """Lines are sorted by raw bits of PCG64, which numpy keeps from version to version."""
    assert np.concatenate(shard_lines(8, 2, 1)).tolist() == np.argsort(FIRST_BITS).tolist()


def test_the_folder_appears_whole(corpus, monkeypatch):
    """What a killed process left is no folder of shards, and no hindrance."""
    files = [corpus / "source.gz", corpus / "target.gz", 3, 1, corpus / "out"]
    written = []

    def write(path, lines):
        written.append(path)
        if len(written) == 4:
            raise KeyboardInterrupt
        path.write_text("x")

    (corpus / ".unfinished.out").mkdir()
    (corpus / ".unfinished.out/7.ids").touch()
    with monkeypatch.context() as patch:
        patch.setattr(sharding, "write_lines", write)
        with pytest.raises(KeyboardInterrupt):
            shard_corpus(*files)
    assert sorted(path.name for path in corpus.iterdir()) == ["source.gz", "target.gz"]
    assert {path.parent.name for path in written} == {".unfinished.out"}
    shard_corpus(*files)
    assert len(list((corpus / "out").iterdir())) == 9
    with pytest.raises(InputError, match="out: is a folder that holds something"):
        shard_corpus(*files)


def test_bad_input(corpus):
    with pytest.raises(InputError, match=r"source\.gz: has 11 lines, too few for 12 shards; .*decoder\.jobs"):
        shard_corpus(corpus / "source.gz", corpus / "target.gz", 12, 1, corpus / "out")
    (corpus / "short").write_text("x\n")
    with pytest.raises(InputError, match=r"short: has 1 lines, .*source\.gz has 11"):
        shard_corpus(corpus / "source.gz", corpus / "short", 2, 1, corpus / "out")
    assert not (corpus / "out").exists()
    with pytest.raises(SystemExit):
        run("--source", "x", "--target", "y", "--shards", "0", "--output", "z")
