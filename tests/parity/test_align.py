"""Symmetrisation compared with cdec's atools, on the whole training corpus."""

from __future__ import annotations

from pathlib import Path

from itersel.cli.main import main
from itersel.storage.files import read_lines


def test_grow_diag_final_and_equals_atools(parity: Path, tmp_path: Path) -> None:
    folder = parity / "align"
    options = ["--forward", str(folder / "fwd.gz"), "--reverse", str(folder / "rev.gz")]
    assert main(["align", *options, "--output", str(tmp_path / "gdfa.gz")]) == 0
    assert read_lines(tmp_path / "gdfa.gz") == read_lines(folder / "gdfa.gz")
