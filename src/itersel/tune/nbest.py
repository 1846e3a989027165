"""Tuning on n-best lists of any decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from itersel.config.tuners import LIST_TUNERS, Batch
from itersel.errors import FilePath, InputError, check_choice, short_name
from itersel.evaluate.names import DEFAULT_METRIC, DEFAULT_TOKENIZER
from itersel.evaluate.texts import ReferenceText, checked_references
from itersel.keys import name_in
from itersel.lists.numbers import read_numbers
from itersel.lists.reading import ReadLists, read_lists
from itersel.lists.table import ListTable
from itersel.lists.weights import given_weights
from itersel.storage.numbers import DEFAULT_SEED
from itersel.storage.strings import string_table
from itersel.tune.measure import Measure, read_measure
from itersel.tune.problem import ListProblem, run_tuner
from itersel.tune.start_weights import default_start
from itersel.vectors.features import feature_keys
from itersel.vectors.weights import Weights, make_weights, take_weights

# A line search goes along the axis of each feature.
MAX_SEARCHED_FEATURES = 500


class TunedLists(NamedTuple):
    """Result of tuning on n-best lists.

    Attributes
    ----------
    weights
        All non-zero weights.
    quality_points, start_quality_points
        Of the best translations in the lists under these and the start weights: corpus BLEU, or the mean of
        another metric, 0 to 100 as in sacrebleu (of TER, lower is better); with numbers, their mean, where 0
        is the lowest of them, and 100 the highest.
    sentences, translations
        Number of sentences, and of different translations.
    sizes
        Number of values of each name that ended in ``=`` in the lists; see `write_any_weights`.
    absent
        Features that have a start weight, but are in no list; they keep it.
    """

    weights: Weights
    quality_points: float
    start_quality_points: float
    sentences: int
    translations: int
    sizes: Mapping[str, int]
    absent: Sequence[str]


def tune_nbest(
    lists: Sequence[FilePath],
    *references: ReferenceText,
    tuner: Batch | str,
    start: Weights | Mapping[str, float] | FilePath | None = None,
    features: Mapping[str, FilePath | ArrayLike] | None = None,
    quality: FilePath | ArrayLike = DEFAULT_METRIC,
    tokenizer: str = DEFAULT_TOKENIZER,
    seed: int = DEFAULT_SEED,
) -> TunedLists:
    """Tune weights on n-best lists of any decoder, as ``itersel tune --nbest`` does.

    Parameters
    ----------
    lists
        Files of lists, such as those of several iterations, or folders of such files.
    *references
        One or more reference translations, each with one line per sentence.
    tuner
        `Mert`, `Pro` or `KBestMira`, or the name of a tuner.
    start
        Start weights, or a file of them. By default, all are 0; for `Mert` and other tuners that search
        lines, all are 1, because with 0, all translations have the same score.
    features
        Further features: for each, a number for each line of the lists, in a file or an array.
    quality
        ``bleu``, ``chrf``, ``chrf++`` or ``ter``; ``lowercased-bleu`` and so on, which ignore case; or a
        number for each line of the lists, in a file or an array, higher is better. BLEU is computed
        over the corpus; other metrics are means over sentences.
    tokenizer
        sacrebleu's tokenizer for BLEU; ``none`` for tokenised text. Other metrics have none.
    seed
        Random seed.

    Returns
    -------
    TunedLists
        Weights, and what they reach.

    Raises
    ------
    InputError
        If the lists cannot be read, or nothing can be learned from them.
    """
    measure = read_measure(quality, tokenizer)
    return prepare_nbest(lists, references, tuner, start, features, measure).tune(seed)


class PreparedLists(NamedTuple):
    """Lists as a tuner needs them, which can be tuned on with several seeds."""

    tuner: Batch
    problem: ListProblem
    start_weights: Weights
    feature_names: Sequence[str]  # of all features in the lists
    absent_weights: dict[str, float]  # start weights of features that are in no list
    sizes: Mapping[str, int]  # see `TunedLists`
    measure: Measure
    name: str  # of the lists, in messages

    def tune(self, seed: int) -> TunedLists:
        """Tune with a seed."""
        # the random numbers of the first iteration of a run
        problem = replace(self.problem, seed=(seed, 1))
        tuned = run_tuner(self.tuner, problem, self.name)
        return TunedLists(
            make_weights(tuned.weights.to_dict() | self.absent_weights),
            self.measure.shown(tuned.quality),
            self._quality_points(problem.table, self.start_weights),
            tuned.sentences,
            tuned.translations,
            self.sizes,
            sorted(self.absent_weights),
        )

    def quality_points_on(
        self,
        paths: Sequence[FilePath],
        references: Sequence[ReferenceText],
        features: Mapping[str, FilePath | ArrayLike] | None,
        numbers: FilePath | ArrayLike | None = None,
    ) -> Callable[[Weights], float]:
        """Return a function from weights to the quality that they reach on other lists, as in `TunedLists`.

        The lists have the same features as those that are tuned on. If not by a metric, their translations
        are measured by `numbers`.
        """
        measure = self.measure if numbers is None else Measure(numbers=read_numbers(numbers))
        read = _read_lists(paths, references, self.tuner, features, measure)
        advice = "make both with the same models"
        if {*read.names}.isdisjoint(self.feature_names):
            raise InputError(f"has no feature of {self.name}; {advice}", short_name(paths))
        if different := sorted(self.sizes.items() ^ read.sizes.items()):
            name, _ = different[0]
            count = read.sizes.get(name, 0)
            expected = self.sizes.get(name, 0)
            difference = f"the number of values of '{name}' is {count}, but {expected} in {self.name}"
            raise InputError(f"{difference}; {advice}", short_name(paths))
        # features are rounded as in tuning
        table = ListProblem.of_table(read.table, self.start_weights).table
        return partial(self._quality_points, table)

    def _quality_points(self, table: ListTable, weights: Weights) -> float:
        return self.measure.shown(table.quality_of_best(table.scores(weights)))


def prepare_nbest(
    paths: Sequence[FilePath],
    references: Sequence[ReferenceText],
    tuner: Batch | str,
    start: Weights | Mapping[str, float] | FilePath | None,
    features: Mapping[str, FilePath | ArrayLike] | None,
    measure: Measure,
) -> PreparedLists:
    """Read lists for a tuner; see `tune_nbest`."""
    if isinstance(tuner, str):
        check_choice("tuner", tuner, LIST_TUNERS)
        tuner = LIST_TUNERS[tuner]()
    if tuner.reads_forests or tuner.only_retunes:
        raise InputError(f"n-best lists are tuned with one of {LIST_TUNERS}")

    # before the lists, which take longest
    given = None if start is None else given_weights(start)
    read = _read_lists(paths, references, tuner, features, measure)

    if given is None:
        start_weights = default_start(read.table.dense_names, of_run=False)
    else:
        start_weights = given.checked_against(read)
    # Moses's lists lack features that are not to be tuned, such as UnknownWordPenalty0
    listed = np.isin(start_weights.key, feature_keys(string_table(read.names)))
    absent_weights = take_weights(start_weights, ~listed).to_dict()
    problem = ListProblem.of_table(read.table, take_weights(start_weights, listed))
    return PreparedLists(
        tuner, problem, start_weights, read.names, absent_weights, read.sizes, measure, short_name(paths)
    )


def _read_lists(
    paths: Sequence[FilePath],
    references: Sequence[ReferenceText],
    tuner: Batch,
    features: Mapping[str, FilePath | ArrayLike] | None,
    measure: Measure,
) -> ReadLists:
    """Return the lists as the tuner needs them; see `tune_nbest`."""
    if not references and measure.metric_name is not None:
        raise InputError(f"quality {measure.metric_name} needs references")
    texts = checked_references(references)

    def choose_dense(names: Sequence[str], sizes: Mapping[str, int]) -> Sequence[str]:
        """Return the features that are columns: all if the tuner searches along them, else none."""
        if not tuner.searches_lines:
            return ()
        if len(names) > MAX_SEARCHED_FEATURES:
            own = f"{name_in(LIST_TUNERS, tuner)} tunes at most {MAX_SEARCHED_FEATURES}"
            why = f"{own}; choose a tuner without this limit, such as kbest-mira or pro"
            raise InputError(f"has {len(names)} features; {why}", short_name(paths))
        return names

    read = read_lists(
        paths,
        len(texts[0]) if texts else None,
        features,
        choose_dense=choose_dense,
        prepare=measure.line_preparation(),
    )
    return measure.measured(read, texts, short_name(paths))
