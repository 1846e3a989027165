"""Dividing a corpus into files of sentences."""

import os
import shutil
from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import settings

from itersel.cli.main import main
from itersel.corpus import dividing
from itersel.errors import InputError
from itersel.storage.files import read_lines, write_lines

TASKS = ["x", "y", "x", "z", "x", "y", "x", "x", "y", "x", "z"]


@given(st.integers(0, 300), st.integers(1, 40), st.one_of(st.none(), st.integers(0, 2**31 - 1)))
def test_every_line_once_and_balanced(lines, groups, seed):
    parts = dividing.equal_groups(lines, groups, seed)
    sizes = [len(part) for part in parts]
    assert len(parts) == groups
    assert max(sizes) - min(sizes) <= 1
    assert sorted(np.concatenate(parts).tolist()) == list(range(lines))
    if seed is None:
        assert np.concatenate(parts).tolist() == list(range(lines))


@pytest.fixture
def corpus(tmp_path):
    for side in ("source", "target"):
        write_lines(tmp_path / f"{side}.gz", [f"{side} {line}\u2028x" for line in range(11)])
    write_lines(tmp_path / "task", TASKS)
    return tmp_path


def labelled(**labels):
    return {"name": "labelled", "labels": labels}


def pooled(*labels, files=1):
    return {"name": "pooled", "labels": labels, "files": files}


def command(folder, *options, **division):
    files = [f"--{side}={folder / side}.gz" for side in ("source", "target")]
    return ["step", "divide", *files, *options, *settings(division=division), f"--output={folder / 'out'}"]


def divided(folder, *options, **division):
    """Divide the corpus; return the line numbers of each file, and of the lines that are in none."""
    assert main(command(folder, *options, **division)) == 0
    out = folder / "out"
    numbers = []
    for file in range(len(list(out.glob("[0-9]*.ids")))):
        numbers.append([int(line) for line in read_lines(out / f"{file}.ids")])
        for side in ("source", "target"):
            assert read_lines(out / f"{file}.{side}.gz") == [f"{side} {n}\u2028x" for n in numbers[-1]]
    rest = [int(line) for line in read_lines(out / "rest.ids")] if (out / "rest.ids").exists() else None
    return numbers, rest


@pytest.mark.parametrize("order", [{"name": "shuffled", "seed": 3}, {"name": "in-order"}, {}])
def test_files(corpus, order):
    parts, rest = divided(corpus, files=3, **order)
    ids = [*chain(*parts)]
    assert (len(parts), sorted(ids), rest) == (3, list(range(11)), None)
    assert (ids == list(range(11))) == (order == {"name": "in-order"})


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
    if any(sizes[name] < count for name, count in counts.items()) or (has_others and rest == 0):
        with pytest.raises(InputError):
            dividing.natural_lines(labels, counts, has_others, 1, seed)
        return
    parts = dividing.natural_lines(labels, counts, has_others, 1, seed)
    places = iter(parts)
    for name, count in counts.items():
        own = [next(places).tolist() for _ in range(count)]
        assert max(map(len, own)) - min(map(len, own)) <= 1
        assert sorted(chain(*own)) == [line for line, label in enumerate(labels) if label == name]
        # the order is that of the shuffle of all lines, whatever the other tasks are
        [shuffled] = dividing.equal_groups(len(labels), 1, seed)
        assert list(chain(*own)) == [line for line in shuffled if labels[line] == name]
    others = [line for line, label in enumerate(labels) if label not in counts]
    assert [sorted(part.tolist()) for part in places] == ([others] if has_others else [])


def tasks(folder, *options, **division):
    return divided(folder, f"--labels={folder / 'task'}", *options, seed=3, **division)


def test_files_of_natural_tasks(corpus):
    numbers, rest = tasks(corpus, **labelled(y=1, x=2))
    assert sorted(numbers[0]) == [1, 5, 8]
    assert sorted(numbers[1] + numbers[2]) == [0, 2, 4, 6, 7, 9]
    assert rest == [3, 10]
    shutil.rmtree(corpus / "out")
    numbers, rest = tasks(corpus, others="join", **labelled(y=1))
    assert ([*map(len, numbers)], rest) == ([3, 8], None)


@pytest.mark.parametrize(
    ("division", "options", "facts"),
    [
        (labelled(q=1), "", ("task:", "'q'", "'x' (6), 'y' (3)")),
        (labelled(x=2, y=4), "", ("task:", "'y'", 3, 4)),
        ({**labelled(x=2, z=1), "minimum_sentences": 3}, "", ("task:", "'z'", 2, 3)),
        ({**labelled(x=1, y=1, z=1), "others": "join"}, "", "others"),
        ({"files": 2}, "", "--labels"),
        (labelled(x=1), "--labels", "--labels"),
        ({"files": 2, "minimum_sentences": 2}, "", "division.minimum_sentences"),
        ({"files": 2, "size_of_one_task": True}, "", "division.size_of_one_task"),
        (pooled("x", files=2), "--devtest-labels=devtest", "--devtest-labels"),
        ({"name": "pooled"}, "", "division.labels"),
        ({**labelled(x=1), "files": 2}, "", "division.files"),
        (pooled("x", "y", "x", files=2), "", "'x'"),
        (pooled("x", "q", files=2), "", ("task:", "'q'")),
        ({**pooled("x", "z", files=5), "size_of_one_task": True}, "", ("task:", 4, 5)),
        (labelled(x=1, y=1), "--devtest-labels=devtest", ("devtest:", "'y'")),
        (labelled(x=1), "--labels=devtest", ("devtest:", 3)),
    ],
)
def test_bad_tasks(corpus, refused, monkeypatch, division, options, facts):
    monkeypatch.chdir(corpus)
    write_lines(corpus / "devtest", ["x", "z", "x"])
    refused(command(corpus, "--labels=task", *options.split(), **division), facts)


def test_texts_that_are_scored_have_all_labels(corpus):
    write_lines(corpus / "devtest", ["x", "z", "x"])
    numbers, _ = tasks(corpus, f"--devtest-labels={corpus / 'devtest'}", **labelled(x=1, z=1))
    assert len(numbers) == 2


def test_pool_of_all_sentences(corpus):
    """In the order of the shuffle of all lines."""
    numbers, rest = tasks(corpus, **pooled("z", "x", files=3))
    [order] = dividing.equal_groups(len(TASKS), 1, 3)
    assert [*chain(*numbers)] == [line for line in order if TASKS[line] != "y"]
    assert ([*map(len, numbers)], rest) == ([3, 3, 2], [1, 5, 8])


def test_pool_of_the_size_of_one_task(corpus):
    """11 sentences of 3 tasks: 3.67 per task, so each contributes one, the first in the shuffle."""
    [numbers], rest = tasks(corpus, size_of_one_task=True, **pooled("x", "y", "z"))
    [order] = dividing.equal_groups(len(TASKS), 1, 3)
    firsts = {TASKS[line]: line for line in order.tolist()[::-1]}
    assert (sorted(numbers), len(rest)) == (sorted(firsts.values()), 8)


@pytest.mark.parametrize(("sizes", "share"), [((40, 40), 20), ((90, 10), 10), ((100, 50, 30), 20)])
def test_share_of_a_task_in_a_pool(sizes, share):
    """The mean size divided by the number of tasks, but no more than the size of the smallest task."""
    labels = [name for name, size in zip("xyz", sizes, strict=False) for _ in range(size)]
    [lines] = dividing.pooled_lines(labels, "xyz"[: len(sizes)], 1, 7, size_of_one_task=True)
    assert Counter(labels[line] for line in lines) == dict.fromkeys("xyz"[: len(sizes)], share)


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 2**31 - 1), st.integers(1, 9))
def test_files_are_reshuffled_in_each_epoch(shards, parts, seed, epoch):
    """Compared with plain Python: files are sorted by random bits and divided."""
    files = shards * parts
    bits = np.random.PCG64((seed, epoch)).random_raw(files).tolist()
    order = sorted(range(files), key=bits.__getitem__)
    dealt = dividing.deal_files(files, shards, seed, epoch)
    assert dealt == [order[shard * parts : (shard + 1) * parts] for shard in range(shards)]
    assert sorted(file for one in dealt for file in one) == list(range(files))


def test_the_shuffle_does_not_depend_on_the_version_of_numpy():
    """Lines are sorted by raw bits of PCG64, which numpy does not change between versions."""
    first, second = (np.concatenate(dividing.equal_groups(8, 2, seed)).tolist() for seed in (1, 2))
    # the order of numpy.random.PCG64(1).random_raw(8), recorded with numpy 2.4.6
    assert first == [2, 4, 7, 5, 0, 6, 3, 1] != second


def divide_in_three(folder):
    files = folder / "source.gz", folder / "target.gz"
    dividing.divide_corpus(*files, lambda lines: dividing.equal_groups(lines, 3, 1), folder / "out")


def test_no_partial_folder_appears(corpus, monkeypatch):
    """Nor what another attempt, or a killed process, has left."""
    written = []

    def write(path, lines, durable):
        written.append(path)
        if len(written) == 4:
            raise KeyboardInterrupt
        path.write_text("x")

    left = corpus / ".tmp.elsewhere.1.01234567.out"
    left.mkdir()
    (left / "7.ids").touch()
    before = sorted(corpus.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr("itersel.storage.declared.write_lines", write)
        with pytest.raises(KeyboardInterrupt):
            divide_in_three(corpus)
    assert sorted(corpus.iterdir()) == before
    assert len({path.parent for path in written}) == 1
    assert written[0].parent not in (left, corpus / "out")
    divide_in_three(corpus)
    assert len(list((corpus / "out").iterdir())) == 10
    assert list(left.iterdir()) == [left / "7.ids"]


def test_what_was_written_is_on_disk_before_it_appears(corpus, monkeypatch):
    """Every file and the folder, but nothing of other processes; the folder that it appears in afterwards."""
    flushed, seen = [], set()

    def flush(file):
        path = Path(os.readlink(f"/proc/self/fd/{file}"))
        if path.is_file():
            seen.add((len(list(path.parent.iterdir())), (corpus / "out").exists()))
        flushed.append(path.name)

    monkeypatch.setattr("os.fsync", flush)
    monkeypatch.setattr("os.sync", lambda: pytest.fail("waits for other processes"))
    divide_in_three(corpus)
    assert seen == {(10, False)}
    *files, folder, parent = flushed
    assert sorted(files) == sorted(path.name for path in (corpus / "out").iterdir())
    assert (folder[:5], parent) == (".tmp.", corpus.name)


def test_folder_that_is_there(corpus, refused):
    divided(corpus, files=3)
    refused(command(corpus, files=3), "out:")


def test_bad_input(corpus, refused):
    refused(command(corpus, **labelled(x=1)), "--labels")
    refused(command(corpus, files=12), ("source.gz", 11, 12), "decoder.pieces")
    write_lines(corpus / "target.gz", ["x"])
    facts = ("source.gz:2:", 11, 1), "target.gz"
    refused(command(corpus, files=2), *facts)
    refused(command(corpus, files=0), ("'division.files'", 0, 1))
