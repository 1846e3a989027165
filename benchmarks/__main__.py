"""``python -m benchmarks``: measure, print a table, write it as JSON, compare it with the previous run."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from benchmarks.data import Data, extraction, make_bundle, make_corpus, prepare
from benchmarks.measure import PROJECT, SNAKEMAKE, Figure, figure, itersel, machine, number, run, task
from itersel.storage.files import read_lines

RUNS = 3
LENGTHS = (5, 10, 15, 20, 30, 40, 60)
POP_LIMITS = (10, 30, 100, 200, 300, 1000)
CORPUS_SIZES = (5000, 10000, 20000, 30000)
WEIGHTS_A_SHARD = 150_000
MIXED_SHARDS = 500  # enough to make process start-up negligible
ALL_SHARDS = (100, 500, 2290)
SELECT = 100_000
# Tuner, number of sparse features, and bounds for the processor time of `itersel step tune` in seconds.
TUNED = (("mert", 0, 20, 30), ("kbest-mira", 0, 10, 30), ("pro", 1_000_000, 40, 60))


def main() -> None:
    """Run the measurements that the options select."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--work", default="results/bench", metavar="DIR", help="default: %(default)s")
    parser.add_argument("--only", choices=tuple(PARTS), nargs="+", default=list(PARTS), help="default: all")
    parser.add_argument("--growth", action="store_true", help="also measure growth: 10 to 30 minutes more")
    parser.add_argument("--output", metavar="FILE", help="default: results.json beside the data, in --work")
    options = parser.parse_args()
    run(*itersel("warm-up"))
    data = prepare(Path(options.work).resolve())
    results: dict[str, Any] = {"machine": machine(), "data": data.name, "rows": [], "growth": {}}
    for name, value in results["machine"].items():
        print(f"{name}: {value}")
    print(f"data: {data.name}\n")
    for part in options.only:
        for row in PARTS[part](data):
            results["rows"].append(row)
            print(line_of(row), flush=True)
    if options.growth:
        for name, measure in GROWTH.items():
            results["growth"][name] = measure(data)
            print(
                f"\n{name}\n" + "\n".join(f"  {json.dumps(row)}" for row in results["growth"][name]),
                flush=True,
            )
    output = Path(options.output or data.work / "results.json")
    compare(results, output)
    output.write_text(json.dumps(results, indent=1) + "\n")


def row(
    what: str, unit: str, values: list[float], goal: float, floor: float, **further: Any
) -> dict[str, Any]:
    """Return a row of the table; lower is better if the goal is below the floor."""
    found = figure(values)
    better = found.median >= goal if goal > floor else found.median <= goal
    enough = found.median >= floor if goal > floor else found.median <= floor
    verdict = "goal" if better else "floor" if enough else "MISSED"
    return {
        "what": what,
        "unit": unit,
        **found._asdict(),
        "goal": goal,
        "floor": floor,
        "reached": verdict,
        **further,
    }


def line_of(row: dict[str, Any]) -> str:
    """Return a row as text."""
    found = Figure(row["median"], row["low"], row["high"])
    bounds = f"goal {number(row['goal'])}, floor {number(row['floor'])}"
    further = {key: value for key, value in row.items() if key not in FIXED}
    return f"{row['what']:34} {found!s:36} {row['unit']:14} {bounds:34} {row['reached']:7} {further or ''}"


FIXED = ("what", "unit", "median", "low", "high", "goal", "floor", "reached")


def rates(found: dict[str, Any]) -> list[float]:
    """Return the sentences per second of each round, by processor time."""
    return [found["sentences"] / seconds for seconds in found["processor"]]


def measure_decode(data: Data) -> list[dict[str, Any]]:
    """Decode on one core: 1-best and k-best."""
    rows = []
    for what, k, goal, floor in (("decode, 1-best", 1, 160, 120), ("decode, 100-best", 100, 150, 115)):
        found, done = task(
            "decode", grammars=data.test, model=data.corpus.model[3], weights=data.weights, k=k
        )
        rows.append(
            row(
                what,
                "sentences/s",
                rates(found),
                goal,
                floor,
                score=round(found["score"], 3),
                by_the_clock=round(found["sentences"] / float(np.median(found["wall"])), 1),
                peak_mb=done.memory >> 20,
            )
        )
    found, _ = task("phases", grammars=data.test, model=data.corpus.model[3], weights=data.weights)
    rows[-1]["ms"] = {name: round(value, 2) for name, value in found.items()}
    return rows


def measure_train(data: Data) -> list[dict[str, Any]]:
    """Train on a shard of the corpus for one epoch, with all sparse features."""
    found = [
        task("train", grammars=data.corpus.grammars, model=data.corpus.model[3], weights=data.weights)[0]
        for _ in range(RUNS)
    ]
    values = [one["sentences"] / one["processor"] for one in found]
    share = round(float(np.median([one["decoder"] for one in found])), 3)
    return [row("train, 100-best, sparse", "sentences/s", values, 150, 115, share_of_decoder=share)]


def measure_extract(data: Data) -> list[dict[str, Any]]:
    """Extract its grammars with leave-one-out, including process start-up."""
    done = [run(*extraction(data.corpus)) for _ in range(RUNS)]
    counts, _ = task("count_rules", grammars=data.corpus.grammars)
    return [
        row(
            "extract, leave-one-out",
            "rules/s",
            [counts["rules"] / one.processor for one in done],
            500_000,
            250_000,
            peak_mb=max(one.memory for one in done) >> 20,
            bytes_a_rule=round(counts["bytes"] / counts["rules"], 1),
        )
    ]


def measure_translate(data: Data) -> list[dict[str, Any]]:
    """Translate raw text with one process, including start-up, preparation and extraction."""
    bundle = make_bundle(data)
    sentences = len(read_lines(data.text))
    done = [run(*itersel("translate", system=bundle, input=data.text)) for _ in range(RUNS)]
    values = [sentences / one.processor for one in done]
    peak = max(one.memory for one in done) >> 20
    return [row("translate, all features", "sentences/s", values, 60, 30, peak_mb=peak)]


def mix(data: Data, shards: int, runs: int) -> list[dict[str, Any]]:
    """Select and mix synthetic shards of Zipfian features; also writes W.h5."""
    with tempfile.TemporaryDirectory(dir=data.work) as name:
        folder = Path(name)
        # in a separate process: the peak memory of a process includes that of its parent when it was forked
        making = ("--shards", str(shards), "--weights", str(WEIGHTS_A_SHARD), folder)
        run(sys.executable, "-m", "benchmarks.made_up_shards", *making)
        files = {"inputs": folder / "list", "output": folder / "v.h5", "matrix": folder / "W.h5"}
        settings = {"mixing": {"name": "selection", "select": SELECT}, "shards": shards}
        done = [run(*itersel("step mix", **files, settings=settings)) for _ in range(runs)]
    return [
        {
            "shards": shards,
            "seconds": round(one.wall, 1),
            "processor": round(one.processor, 1),
            "peak_mb": one.memory >> 20,
            "weights_a_second": shards * WEIGHTS_A_SHARD / one.processor,
        }
        for one in done
    ]


def measure_mix(data: Data) -> list[dict[str, Any]]:
    """Select and mix."""
    done = mix(data, MIXED_SHARDS, RUNS)
    values = [one["weights_a_second"] for one in done]
    return [
        row("select and mix", "weights/s", values, 20e6, 5e6, peak_mb=max(one["peak_mb"] for one in done))
    ]


def measure_tune(data: Data) -> list[dict[str, Any]]:
    """Tune on synthetic lists of 1,029 sentences, 100-best, ten iterations; whole process."""
    rows = []
    for tuner, features, goal, floor in TUNED:
        with tempfile.TemporaryDirectory(dir=data.work) as name:
            folder = Path(name)
            # in a separate process, as for `mix`
            run(sys.executable, "-m", "benchmarks.made_up_lists", "--features", str(features), folder)
            files = {"start": folder / "start", "inputs": folder / "list", "output": folder / "weights.h5"}
            settings = {"tuner": {"name": tuner}}
            done = run(*itersel("step tune", **files, settings=settings, iteration=10))
        what = f"tune, {tuner}, {f'{features:,} sparse' if features else '12 features'}"
        rows.append(row(what, "s", [done.processor], goal, floor, peak_mb=done.memory >> 20))
    return rows


def measure_job(data: Data) -> list[dict[str, Any]]:
    """Measure the time from the start of a shard job to the first translation, and its peak memory."""
    files = {"grammars": data.corpus.grammars, "weights": data.weights}
    model = data.corpus.model[3]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "weights.h5")
        seconds = [
            task("start", **files, model=model, output=output, begin=monotonic())[0]["seconds"]
            for _ in range(RUNS + 2)
        ]
        settings = {"learner": {"name": "perceptron"}}
        done = run(*itersel("train", **files, language_model=model, settings=settings, output=output))
    return [
        row("start of a shard job", "s", seconds, 1.2, 3),
        row("memory of a shard job", "MB", [done.memory / 2**20], 500, 1000),
    ]


def growth_of_decoding(data: Data) -> list[dict[str, Any]]:
    """Decode sentences of several lengths, with several pop limits, and with longer n-grams."""
    rows = []
    counts, _ = task("count_rules", grammars=data.corpus.grammars)
    lengths = np.array(counts["lengths"])
    files = {"weights": data.weights, "k": 100}
    for length in LENGTHS:
        nearest = np.argsort(np.abs(lengths - length), kind="stable")[:10].tolist()
        found, _ = task(
            "decode", grammars=data.corpus.grammars, model=data.corpus.model[3], sentences=nearest, **files
        )
        mean = float(lengths[nearest].mean())
        milliseconds = 1000 / figure(rates(found)).median
        rows.append(
            {
                "words": round(mean, 1),
                "ms": round(milliseconds, 2),
                "ms per word": round(milliseconds / mean, 2),
            }
        )
    for order in (3, 5):
        for pop_limit in POP_LIMITS if order == 3 else (200,):
            found, _ = task(
                "decode",
                grammars=data.test,
                model=data.corpus.model[order],
                pop_limit=pop_limit,
                rounds=3,
                **files,
            )
            rows.append(
                {
                    "order": order,
                    "pop limit": pop_limit,
                    "ms": round(1000 / figure(rates(found)).median, 2),
                    "mean score": round(found["score"], 3),
                }
            )
    return rows


def growth_with_the_corpus(data: Data) -> list[dict[str, Any]]:
    """Extract and train a shard of 1,000 pairs, with corpora of several sizes."""
    rows = []
    for pairs in CORPUS_SIZES:
        whole = data.corpus
        corpus = make_corpus(data.work / str(pairs), whole.source, whole.target, whole.alignment, pairs)
        done = run(*extraction(corpus))
        counts, _ = task("count_rules", grammars=corpus.grammars)
        trained, _ = task("train", grammars=corpus.grammars, model=corpus.model[3], weights=data.weights)
        rows.append(
            {
                "pairs": pairs,
                "rules per sentence": round(counts["rules"] / counts["sentences"]),
                "extract rules/s": round(counts["rules"] / done.processor),
                "extract peak MB": done.memory >> 20,
                "bytes per rule": round(counts["bytes"] / counts["rules"], 1),
                "train sentences/s": round(trained["sentences"] / trained["processor"], 1),
            }
        )
    return rows


def growth_of_mixing(data: Data) -> list[dict[str, Any]]:
    """Select and mix up to the 2,290 shards of the largest run of Simianer, Riezler & Dyer (2012)."""
    return [mix(data, shards, 1)[0] for shards in ALL_SHARDS]


def dry_run(data: Data) -> list[dict[str, Any]]:
    """Plan 2,290 shards and 10 epochs: `snakemake -n` of experiments/europarl.yaml."""
    with tempfile.TemporaryDirectory(dir=data.work) as name:
        folder = Path(name)
        for part in ("Snakefile", "config.yaml"):
            shutil.copy(PROJECT / part, folder)
        for part in ("workflow", "experiments", "envs", "profiles", "src"):
            (folder / part).symlink_to(PROJECT / part)
        files = ("--directory", folder, "--snakefile", folder / "Snakefile")
        config = ("--configfile", folder / "experiments/europarl.yaml")
        done = run(SNAKEMAKE, *files, *config, "--dry-run", "--quiet", "rules")
    jobs = next(line.split()[-1] for line in done.output.splitlines() if line.startswith("total"))
    return [
        {
            "jobs": int(jobs),
            "seconds": round(done.wall, 1),
            "processor": round(done.processor, 1),
            "peak_mb": done.memory >> 20,
        }
    ]


PARTS = {
    "decode": measure_decode,
    "train": measure_train,
    "extract": measure_extract,
    "translate": measure_translate,
    "mix": measure_mix,
    "tune": measure_tune,
    "job": measure_job,
}
GROWTH = {
    "decoding": growth_of_decoding,
    "corpus": growth_with_the_corpus,
    "mixing": growth_of_mixing,
    "dry run": dry_run,
}


def compare(results: dict[str, Any], before: Path) -> None:
    """Print the ratio of each figure to that of the previous run, if there was one."""
    if not before.exists():
        return
    last = json.loads(before.read_text())
    if any(last[key] != results[key] for key in ("machine", "data")):
        print(f"\nnot compared with {before}: different machine, versions or data")
        return
    old = {row["what"]: row["median"] for row in last["rows"]}
    print("\nratio to the previous run:")
    for row in results["rows"]:
        if old.get(row["what"]):
            print(f"  {row['what']:34} {row['median'] / old[row['what']]:.2f}")


if __name__ == "__main__":
    main()
