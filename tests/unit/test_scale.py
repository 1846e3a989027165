"""The corpora of any size on which `benchmarks.scale` measures."""

from __future__ import annotations

from pathlib import Path

from benchmarks.scale import grow, variants

from itersel.corpus.columns import read_alignment
from itersel.storage.files import read_lines

# Every word is aligned with its translation, and the order of words is reversed.
PAIRS = [("a", "A"), ("b c", "C B"), ("d e f", "F E D")]


def test_grown_pairs_are_aligned(tmp_path: Path) -> None:
    corpus = tmp_path / "source", tmp_path / "target", tmp_path / "alignment"
    corpus[0].write_text("".join(f"{left}\n" for left, _ in PAIRS))
    corpus[1].write_text("".join(f"{right}\n" for _, right in PAIRS))
    corpus[2].write_text("0-0\n0-1 1-0\n0-2 1-1 2-0\n")
    folder = tmp_path / "grown"
    folder.mkdir()
    source, target, alignment = grow(corpus, folder, 50)
    pairs = list(zip(read_lines(source), read_lines(target), read_alignment(alignment), strict=True))
    assert len(pairs) == 50
    assert len({len(left.split()) for left, _, _ in pairs}) > 3
    for left, right, points in pairs:
        words, translations = left.split(), right.split()
        assert [words[i].upper() for i, _ in points] == [translations[j] for _, j in points]
        assert {i for i, _ in points} == set(range(len(words)))


def test_rare_words_have_more_variants() -> None:
    words = ["the"] * 1000 + ["house"] * 30 + ["hapax"]
    assert variants(words, 1) == {"the": 1, "house": 1, "hapax": 1}
    # 16 ** (0.75 * (1 - log 30 / log 1000)) = 2.87, and 16 ** 0.75
    assert variants(words, 16) == {"the": 1, "house": 3, "hapax": 8}
