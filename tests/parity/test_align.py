"""Symmetrisation compared with cdec's atools, on the whole training corpus."""

from __future__ import annotations

from pathlib import Path

from itersel.cli.main import main
from itersel.corpus.columns import read_alignment
from itersel.storage.files import read_lines


def test_grow_diag_final_and_equals_atools(parity: Path, tmp_path: Path) -> None:
    folder = parity / "align"
    options = ["--forward", str(folder / "fwd.gz"), "--reverse", str(folder / "rev.gz")]
    assert main(["align", *options, "--output", str(tmp_path / "gdfa.gz")]) == 0
    assert read_lines(tmp_path / "gdfa.gz") == read_lines(folder / "gdfa.gz")


def test_directions_have_the_same_meaning_as_in_cdec(parity: Path) -> None:
    forward = list(read_alignment(parity / "align" / "fwd.gz"))
    reverse = list(read_alignment(parity / "align" / "rev.gz"))
    assert all(len({j for _, j in points}) == len(points) for points in forward)
    assert all(len({i for i, _ in points}) == len(points) for points in reverse)
