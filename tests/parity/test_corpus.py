"""Splits, preparation and symmetrisation compared with the recorded corpus and its alignment."""

import pytest

from itersel.cli.main import main
from itersel.corpus.blocks import corpus_blocks
from itersel.corpus.corpora import Corpus, Reading
from itersel.corpus.filters import unique
from itersel.corpus.split import split_of
from itersel.corpus.text import concatenate_bitexts
from itersel.corpus.text_names import SPLITS
from itersel.storage.files import read_lines


def read(**files):
    corpus = Corpus(**{side: (str(path),) for side, path in files.items()})
    return concatenate_bitexts(corpus_blocks([corpus], Reading("de", "en")))


@pytest.mark.parametrize("split", SPLITS)
def test_split_by_hash_of_the_source(parity, split):
    folder = parity / "corpus"
    sides = {side: folder / f"{split}.{end}.gz" for side, end in (("source", "de"), ("target", "en"))}
    bitext = read(**sides, labels=folder / f"{split}.task.gz")
    assert {split_of(source) for source in bitext.source} == {split}
    assert len(unique(bitext)) == bitext.size


def test_alignment_lies_inside_its_sentences(parity):
    corpus, align = parity / "corpus", parity / "align"
    sides = {"source": corpus / "train.de.gz", "target": corpus / "train.en.gz"}
    bitext = read(**sides, alignment=align / "gdfa.gz")
    assert bitext.size == 30_639


def test_symmetrization_equals_atools_of_cdec(parity, tmp_path):
    folder = parity / "align"
    options = ["--forward", str(folder / "fwd.gz"), "--reverse", str(folder / "rev.gz")]
    assert main(["align", *options, "--output", str(tmp_path / "gdfa.gz")]) == 0
    assert read_lines(tmp_path / "gdfa.gz") == read_lines(folder / "gdfa.gz")
