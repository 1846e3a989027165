"""How an experiment retunes its mixed weights on dev."""

from __future__ import annotations

from itersel.config.defaults import never_null
from itersel.config.tuners import Batch, NoTuner
from itersel.config.values import Experiment


def retuner(experiment: Experiment) -> Batch | None:
    """Return the tuner that retunes mixed weights on dev, if any."""
    tuner = experiment.retune.tuner
    return None if isinstance(tuner, NoTuner) else tuner


def retune_iterations(experiment: Experiment) -> int:
    """Return how often dev is decoded and the weights are tuned in an epoch."""
    return never_null(experiment.retune.iterations) if retuner(experiment) else 0
