"""MERT over forests (Kumar, Macherey, Dyer and Och 2009): the line search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from itersel.bleu.bleu_kernels import Statistics
from itersel.errors import InputError
from itersel.lists.headers import TuningFile
from itersel.lists.joining import NO_SENTENCES
from itersel.storage.arrays import Float64s
from itersel.storage.ragged import offsets_of
from itersel.tune.forest_files import read_forests
from itersel.tune.forest_kernels import Forests, goal_lines
from itersel.tune.line_kernels import project
from itersel.tune.mert import ExactLineSearch, ScoreLines, squared_deviation
from itersel.vectors.feature_names import LANGUAGE_MODEL_FEATURE


class ForestLineSearch(ExactLineSearch):
    """Line search over the forests of each file of sentences and each iteration.

    The best derivations of a sentence in any of its forests form a short list of lines; the rest is the same
    as with k-best lists. `lm_column` is the number of the dense feature for the language model.
    """

    def __init__(self, forests: Sequence[Sequence[Forests]], lm_column: int) -> None:
        self._forests = [one for of_file in forests for one in of_file]
        # for each file, the numbers of its sentences among all sentences
        base = offsets_of([of_file[0].item_offset.shape[0] - 1 for of_file in forests])
        self._sentence = [
            np.arange(base[i], base[i + 1]) for i, of_file in enumerate(forests) for _ in of_file
        ]
        self._columns = [np.ascontiguousarray(one.rule_dense.T) for one in self._forests]
        self._lm_column = lm_column
        self.sentence_count = int(base[-1])

        # deviations over the edges of a sentence: over derivations, they would be more precise, but there are
        # too many, and only the relative scale matters
        total = np.zeros(self._columns[0].shape[0])
        edges = 0
        for one in self._forests:
            offset = one.edge_offset[one.item_offset]
            rule = one.edge_rule + np.repeat(one.rule_offset[:-1], np.diff(offset))
            for c in range(total.shape[0]):
                value = one.rule_dense[rule, c]
                if c == lm_column:
                    value = value + one.edge_lm
                total[c] += squared_deviation(value, offset)
            edges += rule.shape[0]

        self.deviation = np.sqrt(total / edges)

    def score_lines(self, weights: Float64s, direction: Float64s) -> ScoreLines:
        """Return the lines of the best derivations of all sentences by iteration; see `goal_lines`."""
        lm_line = np.array([weights[self._lm_column], direction[self._lm_column]])

        goals = []
        for forests, columns in zip(self._forests, self._columns, strict=True):
            rule_line = np.stack((project(columns, weights), project(columns, direction)), axis=1)
            goals.append(goal_lines(forests, rule_line, lm_line))

        sentence = np.concatenate(
            [np.repeat(rows, np.diff(one[0])) for rows, one in zip(self._sentence, goals, strict=True)]
        )

        order = np.argsort(sentence, kind="stable")
        intercept, slope = np.ascontiguousarray(np.concatenate([one[1] for one in goals])[order].T)
        parts = zip(*(one[2] for one in goals), strict=True)
        statistics = Statistics(*(np.concatenate(part)[order] for part in parts))

        offset = offsets_of(np.bincount(sentence, minlength=self.sentence_count))
        return ScoreLines(intercept, slope, offset, statistics)


def read_line_search(files: Sequence[TuningFile]) -> ForestLineSearch:
    """Read the forests of all sentences and iterations (`files` as returned by `find_tuning_files`)."""
    names = files[0].dense_names
    if LANGUAGE_MODEL_FEATURE not in names:
        lacks = f"has no dense feature '{LANGUAGE_MODEL_FEATURE}'"
        raise InputError(f"{lacks}; recreate the forests with 'itersel step forest'", files[0].path)

    by_number: dict[int, list[Forests]] = {}
    for file in files:
        forests = read_forests(file.path, len(names))
        others = by_number.setdefault(file.number, [])
        others.append(forests)
        for name in ("reference", "reference_offset"):
            if not np.array_equal(getattr(forests, name), getattr(others[0], name)):
                raise InputError("damaged: the sentences do not match their digest; recreate it", file.path)

    # a file without sentences adds nothing
    with_sentences = [of_file for of_file in by_number.values() if of_file[0].reference_offset.shape[0] > 1]
    if not with_sentences:
        raise InputError(NO_SENTENCES, files[0].path)
    return ForestLineSearch(with_sentences, names.index(LANGUAGE_MODEL_FEATURE))
