"""Kernels that choose the word alignment of a rule: the most frequent one in the sampled occurrences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.array_kernels import grown
from itersel.grammar.index_kernels import LINK_BEGIN
from itersel.grammar.rule_kernels import (
    BEFORE,
    HIGH_1,
    HIGH_2,
    LOW,
    LOW_1,
    LOW_2,
    NEXT,
    NUMBER,
    VARIANT,
)
from itersel.jit import kernel, leaf_kernel

# columns of the votes: begin and end of an alignment's points, and the number of occurrences with it
VOTED_BEGIN, VOTED_END, VOTES = range(3)


@leaf_kernel
def write_points(
    position: NDArray[np.int32],
    link: NDArray[np.int32],
    row: NDArray[np.int32],
    i: int,
    begins: NDArray[np.int32],
    lengths: tuple[int, int, int],
    point: NDArray[np.int32],
    end: int,
) -> int:
    """Write the alignment of row i to point[end:]; returns its end.

    row: see rule_kernels.Pairs. begins, lengths: (3), begin and length of each block of its occurrence.
    point: (any, 2), symbols of the source and the target side.
    """
    symbol = row[i, VARIANT] & BEFORE
    for block in range(3):
        for p in range(begins[block], begins[block] + lengths[block]):
            for k in range(position[p, LINK_BEGIN], position[p + 1, LINK_BEGIN]):
                place = link[k] - row[i, LOW]
                if row[i, LOW_1] >= 0 and link[k] >= row[i, HIGH_1]:
                    place -= row[i, HIGH_1] - row[i, LOW_1] - 1
                if row[i, LOW_2] >= 0 and link[k] >= row[i, HIGH_2]:
                    place -= row[i, HIGH_2] - row[i, LOW_2] - 1
                point[end, 0], point[end, 1] = symbol, place
                end += 1
            symbol += 1
        symbol += 1
    return end


@leaf_kernel
def compare_points(point: NDArray[np.int32], first: int, first_end: int, second: int, second_end: int) -> int:
    """Return -1, 0 or 1 if the first alignment is less than, equal to, or greater than the second."""
    result, i = 0, 0
    length = min(first_end - first, second_end - second)
    while i < 2 * length and result == 0:
        result = np.sign(point[first + i // 2, i % 2] - point[second + i // 2, i % 2])
        i += 1
    return np.sign(first_end - first - second_end + second) if result == 0 else result


@kernel
def vote_alignment(
    position: NDArray[np.int32],
    link: NDArray[np.int32],
    row: NDArray[np.int32],
    i: int,
    sample: NDArray[np.int32],
    lengths: tuple[int, int, int],
    point: NDArray[np.int32],
    vote: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Find the most frequent alignment of the pair whose first row is i.

    Ties go to the smallest alignment, compared point by point. sample: (samples, 3), begins of blocks.
    point: (any, 2), vote: (any, 3), scratch.

    Returns point and vote, grown if needed, and the row of the result in `vote`: the alignment is
    point[vote[line, VOTED_BEGIN] : vote[line, VOTED_END]].
    """
    count, end = 0, 0
    while i >= 0:
        begin, links = end, 0
        for block in range(3):
            first = sample[row[i, NUMBER], block]
            links += position[first + lengths[block], LINK_BEGIN] - position[first, LINK_BEGIN]
        point, vote = grown(point, end + links), grown(vote, count + 1)
        end = write_points(position, link, row, i, sample[row[i, NUMBER]], lengths, point, begin)
        line = 0
        while line < count and compare_points(
            point, vote[line, VOTED_BEGIN], vote[line, VOTED_END], begin, end
        ):
            line += 1
        if line == count:
            vote[line, VOTED_BEGIN], vote[line, VOTED_END] = begin, end
            vote[line, VOTES] = 0
            count += 1
        else:
            end = begin
        vote[line, VOTES] += 1
        i = row[i, NEXT]
    best = 0
    for line in range(1, count):
        more = vote[line, VOTES] - vote[best, VOTES]
        if more == 0:
            more = compare_points(
                point,
                vote[best, VOTED_BEGIN],
                vote[best, VOTED_END],
                vote[line, VOTED_BEGIN],
                vote[line, VOTED_END],
            )
        if more > 0:
            best = line
    return point, vote, best
