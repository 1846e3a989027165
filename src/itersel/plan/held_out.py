"""How an experiment tunes its mixed weights on dev."""

from __future__ import annotations

from itersel.config.defaults import never_null
from itersel.config.tuners import Batch, NoTuner
from itersel.config.values import Experiment


def held_out_tuner(experiment: Experiment) -> Batch | None:
    """Return the tuner of mixed weights on dev, if any."""
    tuner = experiment.held_out.tuner
    return None if isinstance(tuner, NoTuner) else tuner


def held_out_iterations(experiment: Experiment) -> int:
    """Return how often dev is decoded and the weights are tuned in an epoch."""
    return never_null(experiment.held_out.iterations) if held_out_tuner(experiment) else 0
