"""Splitting a corpus into shards."""

from __future__ import annotations

import argparse
import gzip
import shutil
from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.cli import shard as command
from itersel.corpus import sharding
from itersel.corpus.sharding import (
    NaturalShards,
    deal_files,
    natural_lines,
    pooled_lines,
    shard_corpus,
    shard_lines,
)
from itersel.errors import InputError
from itersel.storage.files import read_lines


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
    command._add_shard(parser)
    command._shard(parser.parse_args(list(arguments)))


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


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=60),
    st.dictionaries(st.sampled_from("abc"), st.integers(1, 3), min_size=1),
    st.booleans(),
    st.integers(0, 1000),
)
def test_natural_tasks(labels, counts, has_others, seed):
    """Every line of a task is in one of its shards; other lines are all in the last shard, or in none."""
    sizes = Counter(labels)
    rest = sum(size for name, size in sizes.items() if name not in counts)
    tasks = NaturalShards(counts, has_others)
    if any(sizes[name] < count for name, count in counts.items()) or (has_others and rest == 0):
        with pytest.raises(InputError):
            natural_lines(labels, tasks, seed)
        return
    parts = natural_lines(labels, tasks, seed)
    places = iter(parts)
    for name, count in counts.items():
        own = [next(places).tolist() for _ in range(count)]
        assert max(map(len, own)) - min(map(len, own)) <= 1
        assert sorted(chain(*own)) == [line for line, label in enumerate(labels) if label == name]
        # the order is that of the shuffle of all lines, whatever the other tasks are
        assert list(chain(*own)) == [
            line for line in shard_lines(len(labels), 1, seed)[0] if labels[line] == name
        ]
    others = [line for line, label in enumerate(labels) if label not in counts]
    assert [sorted(part.tolist()) for part in places] == ([others] if has_others else [])


TASKS = ["x", "y", "x", "z", "x", "y", "x", "x", "y", "x", "z"]


def natural(corpus, *options, tasks=TASKS):
    (corpus / "task").write_text("".join(f"{task}\n" for task in tasks))
    files = ["--source", str(corpus / "source.gz"), "--target", str(corpus / "target.gz")]
    run(*files, "--task", str(corpus / "task"), *options, "--output", str(corpus / "out"))


def test_files_of_natural_tasks(corpus):
    natural(corpus, "--labels", "y=1", "x=2", "--seed", "3")
    out = corpus / "out"
    numbers = [[int(line) for line in (out / f"{shard}.ids").read_text().split()] for shard in range(3)]
    assert sorted(numbers[0]) == [1, 5, 8]
    assert sorted(numbers[1] + numbers[2]) == [0, 2, 4, 6, 7, 9]
    assert read(out / "0.source.gz") == [f"source {n}\u2028x" for n in numbers[0]]
    assert (out / "rest.ids").read_text() == "3\n10\n"
    assert sorted(path.name for path in out.iterdir() if path.suffix == ".ids") == [
        "0.ids",
        "1.ids",
        "2.ids",
        "rest.ids",
    ]


def test_other_tasks_are_joined(corpus):
    natural(corpus, "--labels", "y=1", "--others", "join")
    assert len((corpus / "out/1.ids").read_text().split()) == 8
    assert not (corpus / "out/rest.ids").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--labels", "q=1"],
            r"task: no sentence has the label 'q'; the most frequent labels are 'x' \(6\), 'y' \(3\)",
        ),
        (["--labels", "x=2", "y=4"], r"task: task 'y' has 3 sentences, too few for 4 shards"),
        (
            ["--labels", "x=2", "z=1", "--minimum", "3"],
            "task: task 'z' has 2 sentences, too few for a minimum of 3",
        ),
        (
            ["--labels", "x=1", "y=1", "z=1", "--others", "join"],
            "every sentence has one of the labels that are named",
        ),
        (["--labels", "x=1", "x=2"], "task 'x' is named twice"),
        (["--labels", "x=1", "--keep-order"], "--labels excludes --keep-order"),
        (["--shards", "2"], "--task needs --labels or --pool"),
        (["--shards", "2", "--minimum", "2"], "--others, --minimum and --scored need --labels"),
        (["--shards", "2", "--size", "one"], "--size needs --pool"),
        (["--pool", "x"], "--pool needs --shards"),
        (["--labels", "x=1", "--shards", "2"], "--labels excludes --shards: it gives the number"),
        (["--pool", "x", "y", "x", "--shards", "2"], "task 'x' is named twice"),
        (["--pool", "x", "--shards", "2", "--keep-order"], "--pool excludes --keep-order"),
        (["--pool", "x", "q", "--shards", "2"], "task: no sentence has the label 'q'; the most frequent"),
        (
            ["--pool", "x", "z", "--shards", "5", "--size", "one"],
            "task: the pool of the tasks has 4 sentences, too few for 5 shards",
        ),
    ],
)
def test_bad_tasks(corpus, options, message):
    with pytest.raises(InputError, match=message):
        natural(corpus, *options)
    assert not (corpus / "out").exists()


def test_labels_need_a_file(corpus):
    files = ["--source", str(corpus / "source.gz"), "--target", str(corpus / "target.gz")]
    with pytest.raises(InputError, match="--labels needs --task, the file with the label of each line"):
        run(*files, "--labels", "x=1", "--output", str(corpus / "out"))


def test_texts_that_are_scored_have_all_labels(corpus):
    (corpus / "devtest").write_text("x\nz\nx\n")
    natural(corpus, "--labels", "x=1", "z=1", "--scored", str(corpus / "devtest"))
    shutil.rmtree(corpus / "out")
    with pytest.raises(InputError, match="devtest: no sentence has the label 'y'; the most frequent labels"):
        natural(corpus, "--labels", "x=1", "y=1", "--scored", str(corpus / "devtest"))
    assert not (corpus / "out").exists()


def test_labels_of_another_text(corpus):
    with pytest.raises(InputError, match=r"task: has 10 lines, .*source\.gz has 11"):
        natural(corpus, "--labels", "x=1", tasks=TASKS[1:])


def pooled(corpus, shards, *options):
    """Return the line numbers of the files of a pool."""
    natural(corpus, "--shards", str(shards), *options, "--seed", "3")
    return [list(map(int, read_lines(corpus / f"out/{shard}.ids"))) for shard in range(shards)]


def test_pool_of_all_sentences(corpus):
    """In the order of the shuffle of all lines."""
    numbers = pooled(corpus, 3, "--pool", "z", "x")
    [order] = shard_lines(len(TASKS), 1, 3)
    assert [line for part in numbers for line in part] == [line for line in order if TASKS[line] != "y"]
    assert [len(part) for part in numbers] == [3, 3, 2]
    assert read(corpus / "out/1.source.gz") == [f"source {n}\u2028x" for n in numbers[1]]
    assert read_lines(corpus / "out/rest.ids") == ["1", "5", "8"]


def test_pool_of_the_size_of_one_task(corpus):
    """11 sentences of 3 tasks: 3.67 per task, so each contributes one, the first in the shuffle."""
    [numbers] = pooled(corpus, 1, "--pool", "x", "y", "z", "--size", "one")
    [order] = shard_lines(len(TASKS), 1, 3)
    firsts = {TASKS[line]: line for line in order.tolist()[::-1]}
    assert sorted(numbers) == sorted(firsts.values())
    assert len(read_lines(corpus / "out/rest.ids")) == 8


@pytest.mark.parametrize(("sizes", "share"), [((40, 40), 20), ((90, 10), 10), ((100, 50, 30), 20)])
def test_share_of_a_task_in_a_pool(sizes, share):
    """The mean size divided by the number of tasks, but no more than the size of the smallest task."""
    labels = [name for name, size in zip("xyz", sizes, strict=False) for _ in range(size)]
    [lines] = pooled_lines(labels, "xyz"[: len(sizes)], 1, 7, size_of_one=True)
    assert Counter(labels[line] for line in lines) == dict.fromkeys("xyz"[: len(sizes)], share)


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 2**31 - 1), st.integers(1, 9))
def test_files_are_reshuffled_in_each_epoch(shards, parts, seed, epoch):
    """Compared with plain Python: files are sorted by random bits and divided."""
    files = shards * parts
    bits = np.random.PCG64((seed, epoch)).random_raw(files).tolist()
    order = sorted(range(files), key=bits.__getitem__)
    dealt = deal_files(files, shards, seed, epoch)
    assert dealt == [order[shard * parts : (shard + 1) * parts] for shard in range(shards)]
    assert sorted(file for one in dealt for file in one) == list(range(files))


def test_epochs_and_seeds_deal_different_files():
    dealt = {str(deal_files(40, 10, seed, epoch)) for seed in (1, 2) for epoch in (1, 2, 3)}
    assert len(dealt) == 6


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
    """Lines are sorted by raw bits of PCG64, which numpy does not change between versions."""
    assert np.concatenate(shard_lines(8, 2, 1)).tolist() == np.argsort(FIRST_BITS).tolist()


def test_no_partial_folder_appears(corpus, monkeypatch):
    """Leftovers of a killed process are not taken for a folder of shards, and do no harm."""
    files = [corpus / "source.gz", corpus / "target.gz", 3, 1, corpus / "out"]
    written = []

    def write(path, lines, durable):
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


def test_one_wait_for_the_disk(corpus, monkeypatch):
    """When all files are there, and before the folder appears: not one for each of thousands of files."""
    waits = []

    def sync():
        waits.append((len(list((corpus / ".unfinished.out").iterdir())), (corpus / "out").exists()))

    monkeypatch.setattr("os.sync", sync)
    monkeypatch.setattr("os.fsync", lambda file: pytest.fail("waits for the disk"))
    shard_corpus(corpus / "source.gz", corpus / "target.gz", 3, 1, corpus / "out")
    assert waits == [(9, False)]


def test_folder_that_is_there(corpus):
    files = [corpus / "source.gz", corpus / "target.gz", 3, 1, corpus / "out"]
    shard_corpus(*files)
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
