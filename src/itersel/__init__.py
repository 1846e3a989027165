"""itersel: discriminative training of hierarchical translation systems on whole training corpora.

The names below can be used from Python, such as in a notebook. They are imported when they are first used, so
``import itersel`` loads neither numba nor scipy. ``docs/api.md`` has an example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from itersel.api import (
        Translation,
        decode_shard,
        load_model,
        mix_weights,
        score_bleu,
        train_epoch,
        write_training,
    )
    from itersel.config.learners import AdaGrad, MarginPerceptron, Mira, Perceptron
    from itersel.config.search import Search
    from itersel.errors import InputError
    from itersel.evaluate.bleu import CorpusScore
    from itersel.grammar.shard import Shard, read_shard
    from itersel.learn.train import Training, TrainSettings
    from itersel.lm.binary import LanguageModel
    from itersel.vectors.weights import Weights, make_weights, read_weights, write_weights

__version__ = "0.1.0"

__all__ = [
    "AdaGrad",
    "CorpusScore",
    "InputError",
    "LanguageModel",
    "MarginPerceptron",
    "Mira",
    "Perceptron",
    "Search",
    "Shard",
    "TrainSettings",
    "Training",
    "Translation",
    "Weights",
    "__version__",
    "decode_shard",
    "load_model",
    "make_weights",
    "mix_weights",
    "read_shard",
    "read_weights",
    "score_bleu",
    "train_epoch",
    "write_training",
    "write_weights",
]

# Where each name is defined.
_MODULES = {
    "itersel.api": (
        "Translation",
        "decode_shard",
        "load_model",
        "mix_weights",
        "score_bleu",
        "train_epoch",
        "write_training",
    ),
    "itersel.config.learners": ("AdaGrad", "MarginPerceptron", "Mira", "Perceptron"),
    "itersel.config.search": ("Search",),
    "itersel.errors": ("InputError",),
    "itersel.evaluate.bleu": ("CorpusScore",),
    "itersel.grammar.shard": ("Shard", "read_shard"),
    "itersel.learn.train": ("TrainSettings", "Training"),
    "itersel.lm.binary": ("LanguageModel",),
    "itersel.vectors.weights": ("Weights", "make_weights", "read_weights", "write_weights"),
}

# Hidden from type checkers, which would accept any name.
if not TYPE_CHECKING:

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
