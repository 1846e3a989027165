"""A synthetic results folder, for tests of the report page."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from tests.scored import learn_recaser, make_system

from itersel.config.report_steps import Comparison
from itersel.config.values import Config
from itersel.corpus.prepare import Preparation, write_preparation
from itersel.corpus.settings import Words
from itersel.report.comparison import compare_systems
from itersel.report.description import write_run
from itersel.report.table_content import Table
from itersel.report.translations import Output, Translations
from itersel.storage.files import write_lines
from itersel.storage.json_files import as_content
from itersel.system.chosen import ChosenSystem, write_system
from itersel.vectors.weights import make_weights, write_itersel_weights

WORDS = ["the", "a", "of", "open", "close", "file", "dialog", "menu", "text", "table", "chart", "page"]
BENCHMARK = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time"
FEATURES = ("LanguageModel", "WordPenalty", "R:X:haus:house", "RBS:das_haus", "RBT:the_house", "Shape_S1_T1")
SHARDS = 2


def made_up_sentence(source: random.Random) -> str:
    return " ".join(source.choices(WORDS, k=source.randint(3, 25)))


def changed(source: random.Random, text: str) -> str:
    """Return a translation that is slightly worse than the reference."""
    words = text.split()
    for _ in range(source.randint(0, 4)):
        words[source.randrange(len(words))] = source.choice(WORDS)
    return " ".join(words)


class MadeUpRun:
    """Writes the files of a run to its results folder, ``<output>/<name>``.

    `sentences` are test sentences, or their number; the `unfinished` experiments failed in their last epoch.
    With `others`, there is raw text, also of these other systems.
    """

    def __init__(
        self,
        folder: Path,
        names: Sequence[str],
        epochs: int = 3,
        sentences: int | Sequence[str] = 30,
        repeats: int = 1,
        unfinished: Sequence[str] = (),
        seed: int = 1,
        others: Sequence[str] = (),
    ) -> None:
        self.folder, self.names, self.epochs, self.repeats = folder, list(names), epochs, repeats
        self.unfinished, self.random, self.others = set(unfinished), random.Random(seed), others
        self.translations: list[list[str]] = []
        if isinstance(sentences, int):
            sentences = [made_up_sentence(self.random) for _ in range(sentences)]
        self.references = list(sentences)
        # thousands of small files that need not be synced to disk
        with mock.patch("itersel.run.atomic._flush"):
            self._write()

    def _write(self) -> None:
        runs = range(1, self.repeats + 1)
        self.systems = {name: [self._run(name, repeat) for repeat in runs] for name in self.names}
        self._corpus()
        # names of made-up experiments may be invalid
        write_run(self.folder, self.config(), Config(experiments={}))
        self.table: Table | None = None
        if not self.unfinished:
            systems = [system for runs in self.systems.values() for system in runs]
            if self.others:
                self._evaluation(systems)
                systems += map(Output, self.others)
            test_set = Translations("test", systems, self.translations, [self.references])
            self.table = compare_systems([test_set], Comparison(trials=20))
            path = self.folder / "report" / "table.json"
            write_lines(path, [json.dumps(as_content(self.table), ensure_ascii=False)])

    def _evaluation(self, systems: Sequence[ChosenSystem]) -> None:
        self.translations += [[changed(self.random, line) for line in self.references] for _ in self.others]
        names = [*(system.name for system in systems), *self.others]
        texts = dict(zip(names, self.translations, strict=True))
        for name, lines in {"reference.0": self.references, **texts}.items():
            raw = [line.capitalize() for line in lines]
            write_lines(self.folder / "evaluation" / "test" / f"{name}.txt", raw)
        write_lines(self.folder / "corpus" / "test.raw.source.gz", map(str.capitalize, self.references))
        write_preparation(self.folder / "corpus", Preparation(Words("de", "en")), learn_recaser([]))

    def config(self) -> dict[str, Any]:
        tasks = {"name": "random", "shards": SHARDS}
        experiment = {"epochs": self.epochs, "repeats": self.repeats, "tasks": tasks}
        return {"name": self.folder.name, "seed": 7, "experiments": dict.fromkeys(self.names, experiment)}

    def _run(self, name: str, repeat: int) -> ChosenSystem:
        run = name if repeat == 1 else f"{name}.repeat-{repeat}"
        folder, fails = self.folder / "experiments" / run, name in self.unfinished
        bleu = tuple(round(self.random.uniform(20, 40), 2) for _ in range(self.epochs))
        for epoch in range(1, self.epochs + 1):
            self._epoch(folder / f"epoch-{epoch}", run, epoch, fails and epoch == self.epochs)
        found = {"active_features": len(FEATURES), "devtest_brevity_penalty": (0.99,) * self.epochs}
        mixing = "selection" if len(name) % 2 else "mean"
        made_up = {"mixing": mixing, "shards": SHARDS, "signature": "nrefs:1|made:up"}
        system = make_system(name, bleu, repeat, **made_up, **found)
        if fails:
            log = self.folder / "logs" / "train" / run / f"epoch-{self.epochs}" / "1.log"
            write_lines(log, ["itersel train: lm.bin: damaged: array 'x' does not match its checksum"])
            return system
        write_system(folder / "best" / "system.json", system)
        write_itersel_weights(folder / "best" / "weights.h5", make_weights(self._weights()))
        texts = [changed(self.random, line) if line.split() else line for line in self.references]
        write_lines(folder / "best" / "test.txt", texts)
        self.translations.append(texts)
        return system

    def _weights(self) -> dict[str, float]:
        return {name: self.random.gauss(0, 1) for name in FEATURES}

    def _epoch(self, folder: Path, run: str, epoch: int, fails: bool) -> None:
        seen = {"sentences": 50, "pairs": 1000, "updates": 400 - 10 * epoch, "mean_quality": 20 + epoch}
        attributes = {"kind": "shard-weights", **seen}
        for shard in range(SHARDS - fails):
            write_itersel_weights(folder / f"shard-{shard}.h5", make_weights(self._weights()), attributes)
            benchmark = self.folder / "benchmarks" / "train" / run / folder.name / f"{shard}.tsv"
            write_lines(benchmark, [BENCHMARK, "36\t0:00:36\t300\t0\t0\t0\t0\t0\t99\t36.00"])
        if not fails:
            write_itersel_weights(
                folder / "weights.h5", make_weights(self._weights()), {"kind": "mixed-weights"}
            )

    def _corpus(self) -> None:
        corpus = self.folder / "corpus"
        write_lines(corpus / "test.source.gz", self.references)
        write_lines(corpus / "test.target.gz", self.references)
        split = {"sentences": len(self.references), "dropped": {"empty": 3}, "rules": 99999}
        split |= {side: {"tokens": 1234} for side in ("source", "target")}
        left_out = [{"of": "train", "why": "too long", "count": 3}]
        document = {"splits": {"train": split, "test": split}, "left_out": left_out}
        write_lines(self.folder / "report" / "corpus.json", [json.dumps(document)])
