"""itersel: discriminative training of hierarchical translation systems on whole training corpora.

The names below can be used from Python, such as in a notebook. They are imported when they are first used, so
``import itersel`` loads neither numba nor scipy. ``docs/api.md`` has an example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from itersel.api import System as System
    from itersel.api import Translation as Translation
    from itersel.api import decode_sentences as decode_sentences
    from itersel.api import load_system as load_system
    from itersel.api import mix_weights as mix_weights
    from itersel.api import score_tokenized_bleu as score_tokenized_bleu
    from itersel.api import train_epoch as train_epoch
    from itersel.api import write_training as write_training
    from itersel.config.learning_steps import MixSettings as MixSettings
    from itersel.config.learning_steps import TrainSettings as TrainSettings
    from itersel.config.mixing import EpochsMean as EpochsMean
    from itersel.config.mixing import Mean as Mean
    from itersel.config.mixing import PathFollowing as PathFollowing
    from itersel.config.mixing import Selection as Selection
    from itersel.config.search import Search as Search
    from itersel.errors import InputError as InputError
    from itersel.evaluate.compare import MetricScores as MetricScores
    from itersel.evaluate.compare import compare as compare
    from itersel.evaluate.metrics import CorpusScore as CorpusScore
    from itersel.grammar.sentence_grammars import SentenceGrammars as SentenceGrammars
    from itersel.grammar.sentence_grammars import read_grammars as read_grammars
    from itersel.learn.learners.adagrad import AdaGrad as AdaGrad
    from itersel.learn.learners.margin_perceptron import MarginPerceptron as MarginPerceptron
    from itersel.learn.learners.mira import Mira as Mira
    from itersel.learn.learners.perceptron import Perceptron as Perceptron
    from itersel.learn.training import Training as Training
    from itersel.lists.rescoring import rescore as rescore
    from itersel.lists.weights import read_any_weights as read_any_weights
    from itersel.lists.weights import write_any_weights as write_any_weights
    from itersel.lm.binary import LanguageModel as LanguageModel
    from itersel.lm.binary import load_model as load_model
    from itersel.tune.nbest import TunedLists as TunedLists
    from itersel.tune.nbest import tune_nbest as tune_nbest
    from itersel.tune.tuners.kbest_mira import KBestMira as KBestMira
    from itersel.tune.tuners.mert import Mert as Mert
    from itersel.tune.tuners.pro import Pro as Pro
    from itersel.vectors.weights import Weights as Weights
    from itersel.vectors.weights import make_weights as make_weights

__version__ = "0.1.0"

# Where each name is defined.
_MODULES = {
    "itersel.api": (
        "System",
        "Translation",
        "decode_sentences",
        "load_system",
        "mix_weights",
        "score_tokenized_bleu",
        "train_epoch",
        "write_training",
    ),
    "itersel.config.learning_steps": ("MixSettings", "TrainSettings"),
    "itersel.config.mixing": ("EpochsMean", "Mean", "PathFollowing", "Selection"),
    "itersel.config.search": ("Search",),
    "itersel.errors": ("InputError",),
    "itersel.evaluate.compare": ("MetricScores", "compare"),
    "itersel.evaluate.metrics": ("CorpusScore",),
    "itersel.grammar.sentence_grammars": ("SentenceGrammars", "read_grammars"),
    "itersel.learn.learners.adagrad": ("AdaGrad",),
    "itersel.learn.learners.margin_perceptron": ("MarginPerceptron",),
    "itersel.learn.learners.mira": ("Mira",),
    "itersel.learn.learners.perceptron": ("Perceptron",),
    "itersel.learn.training": ("Training",),
    "itersel.lm.binary": ("LanguageModel", "load_model"),
    "itersel.tune.nbest": ("TunedLists", "tune_nbest"),
    "itersel.tune.tuners.kbest_mira": ("KBestMira",),
    "itersel.tune.tuners.mert": ("Mert",),
    "itersel.tune.tuners.pro": ("Pro",),
    "itersel.lists.rescoring": ("rescore",),
    "itersel.lists.weights": ("read_any_weights", "write_any_weights"),
    "itersel.vectors.weights": ("Weights", "make_weights"),
}

# Hidden from type checkers, which would accept any name.
if not TYPE_CHECKING:
    __all__ = sorted(["__version__", *(name for names in _MODULES.values() for name in names)])

    def __getattr__(name: str) -> object:
        """Import a name when it is first used (PEP 562)."""
        import importlib

        for module, names in _MODULES.items():
            if name in names:
                return getattr(importlib.import_module(module), name)
        raise AttributeError(f"module 'itersel' has no attribute '{name}'")

    def __dir__() -> list[str]:
        """Return the names that can be imported, whether they have been or not."""
        return sorted({*globals(), *__all__})
