"""A project with made-up text, for tests and to try things: ``python -m tests.workflow.tiny FOLDER``."""

import argparse
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from itersel.vectors.feature_names import DEFAULT_TEMPLATES

VERBS = {f"geht{i}": f"goes{i}" for i in range(12)}
NOUNS = {f"haus{i}": f"house{i}" for i in range(25)}
ADJECTIVES = {f"schön{i}": f"nice{i}" for i in range(15)}
SIZES = {"train": 160, "dev": 20, "devtest": 16, "test": 16}

# One short experiment, with two shards that are mixed and a tuner that adjusts the weights on dev.
TRIED = {
    "try": {
        "epochs": 1,
        "tasks": {"name": "random", "shards": 2, "language_model_folds": 1},
        "learner": {"name": "perceptron", "sentence_bleu": "liang"},
        "mixing": {"name": "selection", "select": 300},
        "retune": {"tuner": {"name": "kbest-mira"}, "iterations": 1},
    }
}


def sentence(source: random.Random) -> tuple[str, str]:
    """Return a sentence pair: the verb is last in the source, and adjectives have two translations."""
    noun, other = source.choices(sorted(NOUNS), k=2)
    adjective, verb = source.choice(sorted(ADJECTIVES)), source.choice(sorted(VERBS))
    english = "fine" if source.random() < 0.2 else ADJECTIVES[adjective]
    left = f"das {adjective} {noun} zum {other} {verb} ."
    return left, f"the {english} {NOUNS[noun]} {VERBS[verb]} to {NOUNS[other]} ."


def write_project(folder: Path, experiments: Mapping[str, Any], **settings: Any) -> None:
    """Write the text, with labels, and config.yaml to a folder; `settings` are further keys of the config."""
    source = random.Random(5)
    data: dict[str, Any] = {}
    for split, size in SIZES.items():
        pairs = [sentence(source) for _ in range(size)]
        labels = ["even" if line % 2 == 0 else "odd" for line in range(size)]
        texts = dict(zip(("source", "target"), zip(*pairs, strict=True), strict=True))
        for side, lines in {**texts, "labels": labels}.items():
            (folder / f"{split}.{side}").write_text("".join(line + "\n" for line in lines))
        data[split] = {side: f"{split}.{side}" for side in ("source", "target")}

    data |= {"kind": "files", "source_language": "de", "target_language": "en"}
    config = {"name": "tiny", **settings, "data": data}
    config |= {"decoder": {"k_best": 20, "pop_limit": 30}, "evaluation": {"trials": 100}}
    config |= {"experiments": experiments}
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.workflow.tiny", description=__doc__)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args().folder
    chosen.mkdir(parents=True, exist_ok=True)
    write_project(chosen, TRIED, grammar={"templates": [*DEFAULT_TEMPLATES]})
