"""Splits and preparation compared with the recorded corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from itersel.corpus.prepare import Preparation
from itersel.corpus.split import split_of, unique
from itersel.corpus.text import read_parallel
from itersel.limits import SPLITS


@pytest.mark.parametrize("split", SPLITS)
def test_split_by_hash_of_the_source(parity: Path, split: str) -> None:
    folder = parity / "corpus"
    bitext = read_parallel(folder / f"{split}.de.gz", folder / f"{split}.en.gz", folder / f"{split}.task.gz")
    assert {split_of(source) for source in bitext.source} == {split}
    assert len(unique(bitext)) == bitext.size


def test_alignment_lies_inside_its_sentences(parity: Path) -> None:
    corpus, align = parity / "corpus", parity / "align"
    bitext = read_parallel(corpus / "train.de.gz", corpus / "train.en.gz", alignment=align / "gdfa.gz")
    assert bitext.size == 30_639


def test_tokenized_text_is_unchanged(parity: Path) -> None:
    folder = parity / "corpus"
    bitext = read_parallel(folder / "dev.de.gz", folder / "dev.en.gz")
    preparation = Preparation("de", "en", tokenized=True)
    assert preparation.source(bitext.source) == bitext.source
    assert preparation.target(bitext.target) == bitext.target
