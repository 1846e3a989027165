"""What becomes of the Z weight vectors after an epoch: the choices by name, and the keys of each."""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.options import option

NORMS = ("l0", "l1", "l2", "linf")
DEFAULT_SELECT = 100_000


@dataclass(frozen=True)
class Nothing:
    """Nothing: the weights of the one shard are the result, and it goes on from them."""


@dataclass(frozen=True)
class EpochsMean:
    """The result is the mean over shards and epochs; each shard goes on from its own weights."""


@dataclass(frozen=True)
class Mean:
    """The mean over the shards is the result, and where all shards go on."""


@dataclass(frozen=True)
class Selection:
    """The same mean, of the features whose columns have the largest norm over the shards; others become 0."""

    select: int | None = option(
        "Features kept after each epoch; null: 100000, where no threshold is given.", minimum=1
    )
    threshold: float | None = option(
        "Keep the features with a norm above this, in place of a fixed number.", minimum=0
    )
    norm: str = option("Norm over the shards by which features are kept.", "l2", choices=NORMS)


Mixing = Nothing | EpochsMean | Mean | Selection

MIXINGS: dict[str, type[Mixing]] = {
    "none": Nothing,
    "mean-of-epochs": EpochsMean,
    "mean": Mean,
    "selection": Selection,
}

# The algorithms of Simianer, Riezler & Dyer (2012) by name, and their mixings; sgd has one shard.
ALGORITHMS = {
    "sgd": "mean-of-epochs",
    "mixsgd": "mean-of-epochs",
    "itermixsgd": "mean",
    "itersel": "selection",
}


def mixing_name(mixing: Mixing) -> str:
    """Return the name of the mixing that some settings are of."""
    return next(name for name, kind in MIXINGS.items() if kind is type(mixing))
