"""The retuning of mixed weights on dev after each epoch."""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.conditions import BATCH_TUNER, TUNE_ON_TRAIN
from itersel.config.tuners import ALL_TUNERS, RETUNE_ONLY, Batch, NoTuner
from itersel.keys import key, section

# What retunes the mixed weights of experiments on train.
DEFAULT_RETUNER = "kbest-mira"
_OF_LINE_SEARCH = RETUNE_ONLY["line-search"].retune_iterations


@dataclass(frozen=True)
class Retuning:
    """After each epoch, retune the dense features and one factor for all sparse features on dev."""

    tuner: Batch | NoTuner = section(
        NoTuner,
        "How the mixed weights are tuned on k-best lists or forests of dev.",
        forms=ALL_TUNERS,
        on={BATCH_TUNER: "none", TUNE_ON_TRAIN: DEFAULT_RETUNER},
    )
    iterations: int | None = key(
        "How often dev is decoded and the weights are tuned after each epoch. Each iteration starts from the "
        "weights of the previous one and reads all k-best lists so far, or only the newest forests. "
        f"null: {_OF_LINE_SEARCH} for line-search, {Batch.retune_iterations} for the others.",
        minimum=1,
        maximum=100,
    )
    next_epoch_from: str = key(
        "Which weights the next epoch starts from, if its shards start from mixed weights: those before "
        "(mixed) or after (tuned) retuning.",
        "mixed",
        choices=("mixed", "tuned"),
    )

    @property
    def batch_tuner(self) -> Batch | None:
        """What retunes the weights; None if nothing does."""
        return None if isinstance(self.tuner, NoTuner) else self.tuner

    @property
    def iteration_count(self) -> int:
        """How often dev is decoded and the weights are tuned in an epoch; 0 without a tuner."""
        if self.batch_tuner is None:
            return 0
        return self.batch_tuner.retune_iterations if self.iterations is None else self.iterations

    @property
    def named_directions(self) -> tuple[str, ...]:
        """The directions of the tuner's search, if a key names them."""
        return () if self.batch_tuner is None else self.batch_tuner.named_directions or ()
