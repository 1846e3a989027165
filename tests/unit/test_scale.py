"""The corpora of any size on which `benchmarks.scale` measures."""

from __future__ import annotations

from pathlib import Path

from benchmarks.scale import join

from itersel.align.pharaoh import read_alignment
from itersel.storage.files import read_lines

# Every word is aligned with its translation, and the order of words is reversed.
PAIRS = [("a", "A"), ("b c", "C B"), ("d e f", "F E D")]


def test_joined_pairs_are_aligned(tmp_path: Path) -> None:
    corpus = tmp_path / "source", tmp_path / "target", tmp_path / "alignment"
    corpus[0].write_text("".join(f"{left}\n" for left, _ in PAIRS))
    corpus[1].write_text("".join(f"{right}\n" for _, right in PAIRS))
    corpus[2].write_text("0-0\n0-1 1-0\n0-2 1-1 2-0\n")
    folder = tmp_path / "joined"
    folder.mkdir()
    source, target, alignment = join(corpus, folder, 50)
    pairs = list(zip(read_lines(source), read_lines(target), read_alignment(alignment), strict=True))
    assert len(pairs) == 50
    assert len({len(left.split()) for left, _, _ in pairs}) > 3
    for left, right, points in pairs:
        words, translations = left.split(), right.split()
        assert [words[i].upper() for i, _ in points] == [translations[j] for _, j in points]
        assert {i for i, _ in points} == set(range(len(words)))
