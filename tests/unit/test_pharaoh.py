"""The alignment readers of the aligner and of the index accept the same lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from itersel.corpus.columns import read_alignment
from itersel.errors import InputError
from itersel.grammar.index_kernels import parse_alignments

LINES = {
    "0-0 1-2": [(0, 0), (1, 2)],
    "": [],
    "  3-4   5-6 ": [(3, 4), (5, 6)],
    "999999999-1": [(999999999, 1)],
    "1000000000-1": None,
    "0-0\t1-1": None,
    "0-0\u00a01-1": None,
    "\u0661-1": None,
    "0-": None,
    "-1": None,
    "1-2-3": None,
    "1 2": None,
}


@pytest.mark.parametrize(("line", "points"), LINES.items())
def test_same_lines(line: str, points: list[tuple[int, int]] | None, tmp_path: Path) -> None:
    content = f"0-0\n{line}\n".encode()
    (tmp_path / "alignment").write_bytes(content)
    links, offset = np.zeros((9, 2), np.int32), np.zeros(3, np.int64)
    bad_line = parse_alignments(np.frombuffer(content, np.uint8), links, offset)
    if points is None:
        assert bad_line == 1
        with pytest.raises(InputError, match="alignment:2: "):
            list(read_alignment(tmp_path / "alignment"))
    else:
        assert bad_line == -1
        assert [tuple(link) for link in links[offset[1] : offset[2]].tolist()] == points
        assert list(read_alignment(tmp_path / "alignment"))[1] == points
