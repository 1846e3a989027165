"""Start weights of tuners where none are given: in a run, and of `itersel tune --nbest`.

`itersel.config.tuners` describes both to users.
"""

from __future__ import annotations

from collections.abc import Sequence

from itersel.errors import InputError
from itersel.vectors.feature_names import LANGUAGE_MODEL_FEATURE
from itersel.vectors.weights import Weights, make_weights

# With all weights zero, the order of the grammar would determine the lists. The language model and the three
# costs of a rule have the same weight. Words are rewarded, because each of these costs something for every
# word. Copied and unknown words and glue rules are penalised.
START_WEIGHTS = {
    LANGUAGE_MODEL_FEATURE: 1.0,
    "EgivenFCoherent": -1.0,
    "MaxLexFgivenE": -1.0,
    "MaxLexEgivenF": -1.0,
    "WordPenalty": -2.0,
    "Glue": -1.0,
    "PassThrough": -1.0,
    "LanguageModel_OOV": -1.0,
}


def default_start(dense_names: Sequence[str]) -> Weights:
    """Return the weights that a run decodes its first lists with, and tunes from; all others are 0.

    These are `START_WEIGHTS` for features of our decoder. If none of the dense features is ours, as in lists
    of another decoder, all of them start from 1.
    """
    has_own = not START_WEIGHTS.keys().isdisjoint(dense_names)
    return make_weights(START_WEIGHTS if has_own else dict.fromkeys(dense_names, 1.0))


def default_start_on_lists(dense_names: Sequence[str]) -> Weights:
    """Return the weights that `itersel tune --nbest` starts from: 1 for dense features, 0 for all others.

    For tuners that search lines, all features are dense; they cannot start from 0, where all translations
    have the same score. For other tuners, no feature is dense.
    """
    return make_weights(dict.fromkeys(dense_names, 1.0))


def start_weights_of_iteration(given: Weights | None, iteration: int, dense_names: Sequence[str]) -> Weights:
    """Return the weights that an iteration decodes with and tunes from; only the first has a default."""
    if given is not None:
        return given
    if iteration > 1:
        raise InputError(f"iteration {iteration} needs --start, the weights of the previous iteration")
    return default_start(dense_names)
