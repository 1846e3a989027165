"""Measure each step on a corpus of any size.

    python -m benchmarks.scale --pairs 166000 1660000
    python -m benchmarks.scale --pairs 16600 --align

The text is made from that of the other measurements (`benchmarks.data`) and its alignment: each pair joins
two pairs, each from one of several copies of the text. The rarer a word, the more variants it has, and a copy
decides which one it uses, on both sides. So the vocabulary grows as that of real text does: with
300,000 pairs made of recorded text, it is as large as that of as much of Europarl. Sentences have 29 words.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Data, prepare
from benchmarks.measure import Run, itersel, machine, run
from itersel.corpus.alignments import format_points, read_alignment
from itersel.storage.files import open_output, read_lines

SHARD_PAIRS = 725  # as with 2,290 shards of 1.66 million pairs
SHARDS = 2  # of which grammars are extracted and weights learned
GROWTH = 0.75  # exponent of the number of variants
SEED = 1


def main() -> None:
    """Measure the sizes that are asked for and print them as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--work", default="results/bench", metavar="DIR", help="default: %(default)s")
    parser.add_argument("--pairs", type=int, nargs="+", default=[16_600, 166_000], metavar="N")
    parser.add_argument("--align", action="store_true", help="also measure word alignment, the longest step")
    options = parser.parse_args()
    run(*itersel("warm-up"))
    data = prepare(Path(options.work).resolve())
    print(json.dumps(machine()))
    alignment = data.work / "alignment.gz"
    if not alignment.exists():
        run(*itersel("align", source=data.corpus.source, target=data.corpus.target, output=alignment))
    for pairs in options.pairs:
        measure(data, alignment, pairs, options.align)


def variants(words: Iterable[str], copies: int) -> dict[str, int]:
    """Return the number of variants of each word in so many copies of a text: one for the most frequent."""
    frequency = Counter(words)
    most = math.log(max(2, max(frequency.values(), default=2)))
    growth = {word: GROWTH * (1 - math.log(number) / most) for word, number in frequency.items()}
    # rounded, because the last bits of powers depend on the machine
    return {word: math.ceil(round(copies**exponent, 9)) for word, exponent in growth.items()}


def grow(corpus: tuple[Path, Path, Path], folder: Path, pairs: int) -> tuple[Path, Path, Path]:
    """Write `pairs` sentence pairs, each joined from two pairs of copies of a corpus.

    The corpus and the result are source, target and alignment.
    """
    sides = [[line.split() for line in read_lines(path)] for path in corpus[:2]]
    points, size = list(read_alignment(corpus[2])), len(sides[0])
    copies = -(-2 * pairs // size)
    numbers = [variants(chain.from_iterable(side), copies) for side in sides]
    drawn = np.random.default_rng(SEED).integers(copies * size, size=(pairs, 2))
    paths = folder / "source.gz", folder / "target.gz", folder / "alignment.gz"
    with contextlib.ExitStack() as stack:
        *streams, alignment = (stack.enter_context(open_output(path)) for path in paths)
        for first, second in drawn.tolist():
            for stream, side, number in zip(streams, sides, numbers, strict=True):
                words = [
                    variant(word, copy % number[word])
                    for copy, pair in (divmod(first, size), divmod(second, size))
                    for word in side[pair]
                ]
                stream.write(" ".join(words) + "\n")
            left, right = (len(side[first % size]) for side in sides)
            moved = [(i + left, j + right) for i, j in points[second % size]]
            alignment.write(format_points([*points[first % size], *moved]) + "\n")
    return paths


def variant(word: str, number: int) -> str:
    """Return a variant of a word; the first is the word itself."""
    return f"{word}~{number}" if number else word


def measure(data: Data, aligned: Path, pairs: int, with_alignment: bool) -> None:
    """Run each step once, for the first `SHARDS` of all shards, and print a line for each.

    The lines have seconds by the clock and of the processor, peak memory, and size of the output.
    """
    folder = data.work / f"scale-{pairs}"
    folder.mkdir(exist_ok=True)
    corpus = (data.corpus.source, data.corpus.target, aligned)
    source, target, alignment = grow(corpus, folder, pairs)
    index, text, arpa, model = (folder / name for name in ("index", "divided", "lm.arpa.gz", "lm.bin"))
    shards = max(SHARDS, round(pairs / SHARD_PAIRS))
    both = {"source": source, "target": target}

    def step(name: str, command: str, output: Path, **options: object) -> None:
        done = run(*itersel(command, **options, output=output))
        row = {"pairs": pairs, "step": name, **costs(done), "MB on disk": megabytes(output)}
        print(json.dumps(row), flush=True)

    if with_alignment:
        step("align", "align", folder / "aligned.gz", **both)
    step("estimate language model", "lm estimate", arpa, order=3, input=target)
    step("compile language model", "lm compile", model, input=arpa)
    step("index", "grammar index", index, **both, alignment=alignment)
    step("divide", "step divide", text, **both, settings={"division": {"name": "shuffled", "files": shards}})
    for shard in range(SHARDS):
        grammars = folder / f"{shard}.h5"
        texts = {"input": text / f"{shard}.source.gz", "reference": text / f"{shard}.target.gz"}
        step(
            "extract", "grammar extract", grammars, index=index, **texts, leave_one_out=text / f"{shard}.ids"
        )
        # weights as after some epochs: with weights of zero the search is easier
        given = {"sentences": grammars, "language_model": model, "start": data.weights}
        step("train", "train", folder / f"{shard}.weights.h5", **given)


def costs(done: Run) -> dict[str, Any]:
    """Return the figures of a command."""
    return {
        "seconds": round(done.wall, 1),
        "processor": round(done.processor, 1),
        "peak MB": done.memory >> 20,
    }


def megabytes(path: Path) -> float:
    """Return the size of a file or folder."""
    files = [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]
    return round(sum(one.stat().st_size for one in files) / 2**20, 1)


if __name__ == "__main__":
    main()
