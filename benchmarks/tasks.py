"""Measurements inside a process: ``python -m benchmarks.tasks NAME OPTIONS`` prints a result as JSON."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic, perf_counter, process_time
from typing import Any

import numpy as np

from itersel.config.learning_steps import TrainSettings
from itersel.config.search import Search
from itersel.decode.decoder import Decoder
from itersel.grammar.sentence_grammars import read_grammars
from itersel.learn.learners.perceptron import Perceptron
from itersel.learn.train import train_shard
from itersel.lm.binary import load_model
from itersel.vectors.shard_weights import ShardState
from itersel.vectors.weights import read_itersel_weights


def decode(
    grammars: str,
    model: str,
    weights: str,
    k: int = 1,
    pop_limit: int = 200,
    rounds: int = 5,
    sentences: list[int] | None = None,
) -> dict[str, Any]:
    """Decode sentences (all if none are given) `rounds` times."""
    decoder = Decoder(read_grammars(grammars), load_model(model), Search(pop_limit=pop_limit))
    vectors = decoder.weight_vectors(read_itersel_weights(weights))
    numbers = list(range(decoder.grammars.sentence_count)) if sentences is None else sentences
    decoder.decode(numbers[0], vectors, k=k)
    processor, wall, scores = [], [], []
    for _ in range(rounds):
        start, start_wall = process_time(), perf_counter()
        scores = [float(decoder.decode(i, vectors, k=k).score[0]) for i in numbers]
        processor.append(process_time() - start)
        wall.append(perf_counter() - start_wall)
    return {"sentences": len(numbers), "processor": processor, "wall": wall, "score": float(np.mean(scores))}


def phases(grammars: str, model: str, weights: str, k: int = 100, rounds: int = 5) -> dict[str, Any]:
    """Return the median milliseconds per sentence of each step of the decoder, and counts."""
    import itersel.decode.decoder as module

    names = (
        *("build_trie", "parse", "score_rules", "state_rules", "sort_rules", "search", "kbest"),
        *("dense_vectors", "sparse_vectors"),
    )
    spent = dict.fromkeys(names, 0.0)

    def timed(name: str) -> Any:
        function = getattr(module, name)

        def call(*arguments: Any) -> Any:
            start = process_time()
            result = function(*arguments)
            spent[name] += process_time() - start
            return result

        return call

    for name in names:
        setattr(module, name, timed(name))
    decoder = Decoder(read_grammars(grammars), load_model(model))
    vectors = decoder.weight_vectors(read_itersel_weights(weights))
    numbers = range(decoder.grammars.sentence_count)
    decoder.decode(0, vectors, k=k)
    result: dict[str, list[float]] = {name: [] for name in (*names, "everything")}
    for _ in range(rounds):
        spent.update(dict.fromkeys(names, 0.0))
        start = process_time()
        for i in numbers:
            decoder.decode(i, vectors, k=k)
        result["everything"].append(process_time() - start)
        for name in names:
            result[name].append(spent[name])
    return {name: float(np.median(values)) / len(numbers) * 1000 for name, values in result.items()}


def train(grammars: str, model: str, weights: str, pop_limit: int = 200) -> dict[str, Any]:
    """Train one epoch, as `itersel train` does; includes the decoder's share of the time."""
    sentences = read_grammars(grammars)
    decoder = Decoder(sentences, load_model(model), Search(pop_limit=pop_limit))
    start_weights = read_itersel_weights(weights)
    decoder.decode(0, decoder.weight_vectors(start_weights), k=100)
    inside, decode_sentence = [0.0], decoder.decode

    def timed(*arguments: Any) -> Any:
        start = process_time()
        result = decode_sentence(*arguments)
        inside[0] += process_time() - start
        return result

    decoder.decode = timed  # type: ignore[method-assign, assignment]
    settings = TrainSettings(pop_limit=pop_limit, learner=Perceptron(sentence_bleu="lin"))
    start, start_wall = process_time(), perf_counter()
    train_shard(sentences, [decoder], ShardState(start_weights), settings)
    processor, wall = process_time() - start, perf_counter() - start_wall
    return {
        "sentences": sentences.sentence_count,
        "processor": processor,
        "wall": wall,
        "decoder": inside[0] / processor,
    }


def start(grammars: str, model: str, weights: str, output: str, begin: float) -> dict[str, Any]:
    """Run `itersel train`; returns the seconds from `begin` to the first translation.

    `begin`: when the process was started, by `monotonic`, a clock that all processes share.
    """
    from itersel.cli.main import main

    decode_sentence, seconds = Decoder.decode, []

    def first(*arguments: Any, **options: Any) -> Any:
        decode_sentence(*arguments, **options)
        seconds.append(monotonic() - begin)
        raise SystemExit

    Decoder.decode = first  # type: ignore[method-assign]
    files = {"sentences": grammars, "language-model": model, "start": weights, "output": output}
    settings = json.dumps({"learner": {"name": "perceptron"}})
    words = [f"--{name}={path}" for name, path in files.items()]
    sys.argv = ["itersel", "train", *words, "--settings", settings]
    with suppress(SystemExit):
        main()
    return {"seconds": seconds[0]}


def count_rules(grammars: str) -> dict[str, Any]:
    """Return the sizes of a file of grammars: their rules, sentences, bytes."""
    content = read_grammars(grammars)
    return {
        "rules": int(content.grammar_rule.shape[0]),
        "sentences": content.sentence_count,
        "words": int(content.source.shape[0]),
        "lengths": np.diff(content.source_offset).tolist(),
        "bytes": Path(grammars).stat().st_size,
    }


TASKS = {function.__name__: function for function in (decode, phases, train, start, count_rules)}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](**json.loads(sys.argv[2]))))
