"""MERT's line search over k-best lists: upper envelopes of lines, and corpus BLEU along a line (Och 2003).

The score of a translation with the weights w + x * d is a line in x: its intercept is the score with w, its
slope the score with d. The best translation of a sentence changes only where the upper envelope of its lines
bends. Shapes: N sentences, H translations, B bends of all sentences, I intervals.
"""

from __future__ import annotations

import numpy as np

from itersel.bleu.bleu_kernels import COUNTS, Statistics, add_counts, bleu_of_counts
from itersel.compile.jit import kernel
from itersel.grammar.array_kernels import grown
from itersel.storage.arrays import Float64s, Int64s


@kernel
def project(columns: Float64s, vector: Float64s) -> Float64s:
    """Return the inner products with `vector` (C), float64 (H); `columns` is (C, H).

    Does not use BLAS, whose order of summation depends on the processor and the threads. The result is that
    of `itersel.lists.table.dense_scores`, down to the last bit, but takes a quarter of the time and, along
    the axis of a feature, a fiftieth.
    """
    total = np.zeros(columns.shape[1])
    for c in range(columns.shape[0]):
        if vector[c] != 0.0:
            for row in range(columns.shape[1]):
                total[row] += vector[c] * columns[c, row]
    return total


@kernel
def envelope_bends(intercept: Float64s, slope: Float64s, offset: Int64s) -> tuple[Int64s, Float64s, Int64s]:
    """Walk along the upper envelope of each sentence from left to right.

    Sorting the lines by slope would not pay off: an envelope has about five of hundreds of lines, and a step
    only considers lines steeper than the last one. If several lines meet in a point, the envelope continues
    with the steepest; of equal lines it takes the first.

    Returns the first line of each sentence, int64 (N); the positions of the bends, float64 (B); and the lines
    before and after each, int64 (B, 2); sorted by sentence, then from left to right.
    """
    sentences = offset.shape[0] - 1
    start = np.empty(sentences, np.int64)
    place = np.empty((16 * sentences + 16, 1))
    lines = np.empty((16 * sentences + 16, 2), np.int64)
    left = np.empty(slope.shape[0], np.int64)  # of which the longest list is used
    bends = 0

    for sentence in range(sentences):
        begin, end = offset[sentence], offset[sentence + 1]

        # the highest line far to the left: smallest slope, then largest intercept, then first
        line = begin
        for row in range(begin + 1, end):
            if slope[row] < slope[line] or (slope[row] == slope[line] and intercept[row] > intercept[line]):
                line = row
        start[sentence] = line

        count = end - begin
        for i in range(count):
            left[i] = begin + i

        last = -np.inf
        while True:
            steeper = 0
            best = np.int64(-1)
            nearest = np.inf
            for i in range(count):
                row = left[i]
                if slope[row] <= slope[line]:
                    continue

                left[steeper] = row
                steeper += 1

                x = (intercept[line] - intercept[row]) / (slope[row] - slope[line])
                if x < nearest or (x == nearest and best >= 0 and slope[row] > slope[best]):
                    best = row
                    nearest = x

            if best < 0:
                break

            count = steeper
            if bends == place.shape[0]:
                place = grown(place, bends + 1)
                lines = grown(lines, bends + 1)

            # rounding could put a bend to the left of the previous one
            last = max(last, nearest)
            place[bends, 0] = last
            lines[bends, 0] = line
            lines[bends, 1] = best
            bends += 1
            line = best
    return start, place[:bends, 0].copy(), lines[:bends].copy()


@kernel
def bleu_along_line(
    start: Int64s, place: Float64s, lines: Int64s, statistics: Statistics
) -> tuple[Float64s, Float64s]:
    """Return the begin of each interval, float64 (I), and its corpus BLEU, float64 (I).

    The first interval begins at minus infinity; each ends where the next begins. Adjacent intervals with the
    same summed counts are merged.

    `start`, `place` and `lines` (rows of `statistics`) are the result of `envelope_bends`, all bends from
    left to right.
    """
    counts = np.zeros(COUNTS, np.int64)
    for row in start:
        add_counts(counts, statistics, row, 1)

    bends = place.shape[0]
    begin = np.empty(bends + 1)
    bleu = np.empty(bends + 1)
    begin[0] = -np.inf
    bleu[0] = bleu_of_counts(counts)
    before = counts.copy()
    intervals = 1
    i = 0

    while i < bends:
        x = place[i]
        while i < bends and place[i] == x:
            add_counts(counts, statistics, lines[i, 0], -1)
            add_counts(counts, statistics, lines[i, 1], 1)
            i += 1

        changed = False
        for n in range(COUNTS):
            changed = changed or counts[n] != before[n]
            before[n] = counts[n]

        if changed:
            begin[intervals] = x
            bleu[intervals] = bleu_of_counts(counts)
            intervals += 1
    return begin[:intervals].copy(), bleu[:intervals].copy()
