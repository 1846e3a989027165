"""Systems with made-up settings and scores, and sacrebleu's score of tokenised text."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics.bleu import BLEU

from itersel.report.system import System, choose_epoch


def make_system(name: str, bleu: Sequence[float] = (30.0, 31.0), repeat: int = 1, **changes: Any) -> System:
    """Return the description of a system with these scores on devtest after its epochs."""
    scores = tuple(bleu)
    system = System(
        name=name,
        repeat=repeat,
        learner="perceptron",
        mixing="selection",
        tune_on="train",
        features="all",
        tasks="random",
        shards=4,
        epoch=choose_epoch(scores),
        devtest_bleu=scores,
        chosen_by="tokenized-bleu",
        devtest_scores=scores,
        devtest="devtest",
        signature="nrefs:1|x",
        active_features=12,
        devtest_brevity_penalty=(1.0,) * len(scores),
    )
    return dataclasses.replace(system, **changes)


def sacrebleu(translations: Sequence[str], *references: Sequence[str | None]) -> float:
    """Return lowercased BLEU without smoothing."""
    metric = BLEU(lowercase=True, smooth_method="none", force=True)
    return float(metric.corpus_score(translations, list(references)).score)
