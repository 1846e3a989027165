"""The steps that ``itersel warm-up`` runs on four sentences: together they call, and so compile, all kernels.

A new kernel needs nothing here if one of these steps calls it. Learners and tuners say themselves with which
keys they call all of theirs (`warm_up` of their settings); all groups and templates of features of text are
computed. For others, add a step, or settings to one: `test_steps_call_all_kernels` of
`tests/unit/test_warm_up.py` names the kernels that none calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from itersel.config.learners import LEARNERS
from itersel.config.tuners import TUNERS
from itersel.vectors.feature_names import ALL_FEATURES, DENSE, TEXT_GROUPS, TEXT_TEMPLATES

# What stands for the folder and a slash in names of files.
FOLDER = "%"


class WarmUpStep(NamedTuple):
    """A command and its settings."""

    command: str
    settings: Mapping[str, object] | None = None

    def words(self, folder: Path) -> list[str]:
        """Return the words of the command line, with files in a folder."""
        words = [word.replace(FOLDER, f"{folder}/") for word in self.command.split()]
        return words if self.settings is None else [*words, "--settings", json.dumps(self.settings)]


# The lines of the files that exist before the first step.
LINES = {
    "source": ("das haus ist klein .", "das kleine haus", "ein haus ist das", "klein ist das haus ."),
    "target": ("the house is small .", "the small house", "a house is that", "small is the house ."),
    "alignment": ("0-0 1-1 2-2 3-3 4-4", "0-0 1-1 2-2", "0-0 1-1 2-2 3-3", "0-0 1-1 2-2 3-3 4-4"),
    "ids": ("0", "1", "2", "3"),
    "lists": tuple(
        json.dumps({"id": sentence, "text": text, "score": -rank})
        for sentence in range(4)
        for rank, text in enumerate(("the house is small .", "the small house", "a house"))
    ),
    # manifests: steps make the files that they name
    "shards": ("%shard.h5",),
    "forests": ("%forests.h5",),
    "dense-lists": ("%dense-lists.h5",),
    "all-lists": ("%all-lists.h5",),
}

_EXTRACT = "grammar extract --index %index --input %source --reference %target"
# From text to grammars and a language model.
PREPARATION = (
    WarmUpStep("align --source %source --target %target --direction forward --output %links"),
    WarmUpStep("lm estimate --order 3 --input %target --output %arpa"),
    WarmUpStep("lm compile --input %arpa --output %lm"),
    WarmUpStep("lm score --language-model %lm --input %target --output %scores"),
    WarmUpStep("grammar index --source %source --target %target --alignment %alignment --output %index"),
    WarmUpStep(f"{_EXTRACT} --output %plain.h5"),
    WarmUpStep(f"{_EXTRACT} --leave-one-out %ids --output %loo.h5"),
)

_TEXT = {"source_language": "de", "target_language": "en", "tokenized": True}
_ALIGN = "align --source %source --target %target"
# Features of the text of lists, which no later step needs.
LISTS = (
    WarmUpStep("step words --source %source --target %target --output %words", _TEXT),
    WarmUpStep(f"{_ALIGN} --direction forward --save %forward.h5 --output %forward"),
    WarmUpStep(f"{_ALIGN} --direction reverse --save %reverse.h5 --output %reverse"),
    WarmUpStep(
        "step text-models --words %words --alignment %forward %reverse --output %models", {"order": 3}
    ),
    WarmUpStep(
        "step divide --nbest %lists --source %source --reference %target --output %divided",
        {"division": {"name": "in-order", "files": 1}},
    ),
    WarmUpStep(
        "step lists --divided-lists %divided --file-number 0 --aligner %forward.h5 %reverse.h5"
        " --text-models %models --output %text-features.h5",
        {**_TEXT, "groups": [*TEXT_GROUPS], "templates": [*TEXT_TEMPLATES]},
    ),
)

_KBEST = "step kbest --sentences %loo.h5 --language-model %lm"
# Between training and tuning.
DECODING = (
    WarmUpStep(
        "step mix --inputs %shards --matrix %matrix.h5 --output %mixed.h5", {"mixing": {"select": 10}}
    ),
    WarmUpStep(
        "decode --sentences %plain.h5 --language-model %lm --weights %mixed.h5 --k-best 10 --mbr"
        " --output %translations"
    ),
    WarmUpStep(
        "step forest --sentences %loo.h5 --language-model %lm --output %forests.h5", {"features": DENSE}
    ),
    WarmUpStep(f"{_KBEST} --output %dense-lists.h5", {"features": DENSE, "k_best": 10}),
    WarmUpStep(f"{_KBEST} --output %all-lists.h5", {"features": ALL_FEATURES, "k_best": 10}),
)


def write_files(folder: Path) -> None:
    """Write the files that exist before the first step."""
    for name, lines in LINES.items():
        text = "".join(f"{line}\n" for line in lines)
        (folder / name).write_text(text.replace(FOLDER, f"{folder}/"))


def learning_steps() -> Iterator[WarmUpStep]:
    """Yield the steps after preparation: all learners train, and all tuners tune."""
    train = "train --sentences %loo.h5 --language-model %lm --output %shard.h5"
    for name in LEARNERS.built_in:
        for keys in LEARNERS[name].warm_up:
            yield WarmUpStep(train, {"k_best": 10, "learner": {"name": name, **keys}})

    yield from DECODING

    for name in TUNERS.built_in:
        kind = TUNERS[name]
        read = "forests" if kind.reads_forests else "dense-lists" if kind.searches_lines else "all-lists"
        for keys in kind.warm_up:
            tune = f"step tune --inputs %{read} --output %tuned.h5"
            yield WarmUpStep(tune, {"tuner": {"name": name, **keys}})
