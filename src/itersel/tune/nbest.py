"""Tuning on n-best lists of any decoder, from their lines to weights.

Everything that goes with the lists of a text is read before them (`read_all_but_lists`), because lists take
longest. The lists are read into a table (`_read_table`), which a tuner gets with start weights
(`prepare_nbest`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from numpy.typing import ArrayLike

from itersel.config.tuners import LIST_TUNERS, Batch
from itersel.errors import FilePath, InputError, check_choice, short_name
from itersel.evaluate.names import DEFAULT_METRIC, DEFAULT_TOKENIZER
from itersel.evaluate.texts import ReferenceText, checked_references
from itersel.keys import name_in
from itersel.lists.features import ListFeatures, none_dense
from itersel.lists.numbers import Numbers, read_further_features
from itersel.lists.reading import ReadLists, read_lists
from itersel.lists.table import ListTable
from itersel.lists.weights import given_weights
from itersel.storage.numbers import DEFAULT_SEED
from itersel.tune.measure import Measure, read_measure
from itersel.tune.problem import ListProblem, run_tuner
from itersel.tune.start_weights import default_start_on_lists
from itersel.vectors.weights import Weights, make_weights

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
    text = read_all_but_lists(lists, references, features or {}, read_measure(quality, tokenizer))
    return prepare_nbest(text, tuner, start).tune(seed)


class TextLists(NamedTuple):
    """Where the lists of a text are, dev or devtest, and everything that goes with them."""

    paths: Sequence[FilePath]  # of the lists
    references: Sequence[ReferenceText]
    features: Mapping[str, Numbers]  # in addition to those in the lists
    measure: Measure

    @property
    def name(self) -> str:
        """The name of the lists in messages."""
        return short_name(self.paths)


def read_all_but_lists(
    paths: Sequence[FilePath],
    references: Sequence[ReferenceText],
    features: Mapping[str, FilePath | ArrayLike],
    measure: Measure,
) -> TextLists:
    """Check the references, and read the further features; see `tune_nbest`."""
    if not references and measure.metric_name is not None:
        raise InputError(f"quality {measure.metric_name} needs references")
    return TextLists(paths, checked_references(references), read_further_features(features), measure)


class PreparedLists(NamedTuple):
    """Lists as a tuner needs them, which can be tuned on with several seeds."""

    tuner: Batch
    problem: ListProblem
    all_start_weights: Weights  # also of features that are in no list, which the problem lacks
    features: ListFeatures  # of the lists
    absent_weights: dict[str, float]  # start weights of features that are in no list
    measure: Measure
    name: str  # of the lists, in messages

    def tune(self, seed: int) -> TunedLists:
        """Tune with a seed."""
        # the random numbers of the first iteration of a run
        problem = replace(self.problem, seed=(seed, 1))
        tuned = run_tuner(self.tuner, problem, self.name)
        return TunedLists(
            weights=make_weights(tuned.weights.to_dict() | self.absent_weights),
            quality_points=self.measure.shown(tuned.quality),
            start_quality_points=self._quality_points(problem.table, self.all_start_weights),
            sentences=tuned.sentences,
            translations=tuned.translations,
            sizes=self.features.sizes,
            absent=sorted(self.absent_weights),
        )

    def quality_points_on(self, text: TextLists) -> Callable[[Weights], float]:
        """Return a function from weights to the quality that they reach on other lists, as in `TunedLists`.

        The lists have the same features as those that are tuned on.
        """
        read = _read_table(text, self.tuner)
        self._check_features(read.features, text.name)
        # features are rounded as in tuning
        table = ListProblem.of_table(read.table, self.all_start_weights).table
        return partial(self._quality_points, table)

    def _check_features(self, others: ListFeatures, name: str) -> None:
        """Raise an InputError if other lists, with a name, have different features."""
        advice = "make both with the same models"
        if {*others.names}.isdisjoint(self.features.names):
            raise InputError(f"has no feature of {self.name}; {advice}", name)

        sizes = self.features.sizes
        if different := sorted(sizes.items() ^ others.sizes.items()):
            feature, _ = different[0]
            count = others.sizes.get(feature, 0)
            expected = sizes.get(feature, 0)
            difference = f"the number of values of '{feature}' is {count}, but {expected} in {self.name}"
            raise InputError(f"{difference}; {advice}", name)

    def _quality_points(self, table: ListTable, weights: Weights) -> float:
        return self.measure.shown(table.quality_of_best(table.scores(weights)))


def prepare_nbest(
    text: TextLists, tuner: Batch | str, start: Weights | Mapping[str, float] | FilePath | None = None
) -> PreparedLists:
    """Read the start weights and the lists, and make them the problem of a tuner; see `tune_nbest`."""
    if isinstance(tuner, str):
        check_choice("tuner", tuner, LIST_TUNERS)
        tuner = LIST_TUNERS[tuner]()
    if tuner.reads_forests or tuner.only_retunes:
        raise InputError(f"n-best lists are tuned with one of {LIST_TUNERS}")

    given = None if start is None else given_weights(start)
    read = _read_table(text, tuner)

    if given is None:
        start_weights = default_start_on_lists(read.table.dense_names)
    else:
        start_weights = given.checked_against(read.features)

    # Moses's lists lack features that are not to be tuned, such as UnknownWordPenalty0
    listed, absent = read.features.split(start_weights)
    problem = ListProblem.of_table(read.table, listed)
    return PreparedLists(
        tuner=tuner,
        problem=problem,
        all_start_weights=start_weights,
        features=read.features,
        absent_weights=absent.to_dict(),
        measure=text.measure,
        name=text.name,
    )


def _read_table(text: TextLists, tuner: Batch) -> ReadLists:
    """Return the lists as the tuner needs them: each of equal translations once, with what it learns from."""

    def searched(features: ListFeatures) -> Sequence[str]:
        """Return all features, along which the tuner searches."""
        count = len(features.names)
        if count > MAX_SEARCHED_FEATURES:
            own = f"{name_in(LIST_TUNERS, tuner)} tunes at most {MAX_SEARCHED_FEATURES}"
            why = f"{own}; choose a tuner without this limit, such as kbest-mira or pro"
            raise InputError(f"has {count} features; {why}", text.name)
        return features.names

    references = text.references
    read = read_lists(
        text.paths,
        len(references[0]) if references else None,
        text.features,
        choose_dense=searched if tuner.searches_lines else none_dense,
        prepare=text.measure.line_preparation(),
    )
    return text.measure.measured(read, references, text.name)
