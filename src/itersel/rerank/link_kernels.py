"""Kernel that symmetrises the links of both directions; see `itersel.align.symmetrize`."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.storage.arrays import Int16s, Int32s, Int64s, UInt8s

# What is known of a cell: the directions that link its words, and whether its link is taken.
FORWARD, REVERSE, TAKEN = 1, 2, 4


@leaf_kernel
def has_neighbour(cell: UInt8s, i: int, j: int, sources: int, targets: int) -> bool:
    """Return whether one of the eight cells around a cell is taken."""
    for row in range(max(i - 1, 0), min(i + 2, sources)):
        for column in range(max(j - 1, 0), min(j + 2, targets)):
            if (row != i or column != j) and cell[row * targets + column] & TAKEN:
                return True
    return False


@leaf_kernel
def grow(cell: UInt8s, source_links: UInt8s, target_links: UInt8s, sources: int, targets: int) -> int:
    """Take each direction's cells that have a neighbour and a word without links; return their number."""
    added = 0
    for i in range(sources):
        for j in range(targets):
            one = cell[i * targets + j]
            if one == 0 or one & TAKEN or (source_links[i] and target_links[j]):
                continue
            if has_neighbour(cell, i, j, sources, targets):
                cell[i * targets + j] |= TAKEN
                source_links[i] = 1
                target_links[j] = 1
                added += 1
    return added


@leaf_kernel
def finish(
    cell: UInt8s, direction: int, source_links: UInt8s, target_links: UInt8s, sources: int, targets: int
) -> None:
    """Take the cells of one direction in which neither word has a link."""
    for i in range(sources):
        for j in range(targets):
            if cell[i * targets + j] & direction and not (source_links[i] or target_links[j]):
                cell[i * targets + j] |= TAKEN
                source_links[i] = 1
                target_links[j] = 1


@kernel
def grow_diag_final_and(
    source_offset: Int64s, target_offset: Int64s, forward: Int16s, reverse: Int16s
) -> tuple[Int32s, Int32s, Int64s]:
    """Symmetrise the links of H sentence pairs.

    source_offset, target_offset: int64 (H + 1); forward: for each target word, the position + 1 of the source
    word that it is linked to, or 0; reverse: for each source word likewise.

    Returns the source and target positions of all links, ascending within each pair, and offsets (H + 1).
    """
    pairs = source_offset.shape[0] - 1
    longest_source = 1
    longest_target = 1
    cells = 1
    for pair in range(pairs):
        sources = source_offset[pair + 1] - source_offset[pair]
        targets = target_offset[pair + 1] - target_offset[pair]
        longest_source = max(longest_source, sources)
        longest_target = max(longest_target, targets)
        cells = max(cells, sources * targets)

    cell = np.zeros(cells, np.uint8)
    source_links = np.zeros(longest_source, np.uint8)
    target_links = np.zeros(longest_target, np.uint8)
    # each direction links each of its words at most once
    most = forward.shape[0] + reverse.shape[0]
    source = np.empty(most, np.int32)
    target = np.empty(most, np.int32)
    offset = np.zeros(pairs + 1, np.int64)
    count = 0

    for pair in range(pairs):
        first_source = source_offset[pair]
        first_target = target_offset[pair]
        sources = source_offset[pair + 1] - first_source
        targets = target_offset[pair + 1] - first_target

        for place in range(sources * targets):
            cell[place] = 0
        for i in range(sources):
            source_links[i] = 0
        for j in range(targets):
            target_links[j] = 0

        for j in range(targets):
            if forward[first_target + j]:
                cell[(forward[first_target + j] - 1) * targets + j] |= FORWARD
        for i in range(sources):
            if reverse[first_source + i]:
                j = reverse[first_source + i] - 1
                cell[i * targets + j] |= REVERSE
                if cell[i * targets + j] & FORWARD:
                    cell[i * targets + j] |= TAKEN
                    source_links[i] = 1
                    target_links[j] = 1

        while grow(cell, source_links, target_links, sources, targets):
            pass
        finish(cell, FORWARD, source_links, target_links, sources, targets)
        finish(cell, REVERSE, source_links, target_links, sources, targets)

        for i in range(sources):
            for j in range(targets):
                if cell[i * targets + j] & TAKEN:
                    source[count] = i
                    target[count] = j
                    count += 1
        offset[pair + 1] = count

    return source[:count].copy(), target[:count].copy(), offset
