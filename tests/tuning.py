"""Synthetic k-best lists, in memory and as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.naive.tuning import ORDER, Sentence, Translation
from tests.steps import settings
from tests.systems import itersel

from itersel.bleu.bleu_kernels import Statistics
from itersel.cli.main import main
from itersel.config.tuners import TUNERS
from itersel.grammar.build import Rule, make_grammars
from itersel.grammar.sentence_grammars import write_grammars
from itersel.lists.files import write_lists
from itersel.lists.headers import header_attributes
from itersel.lists.table import ListTable
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import string_table
from itersel.tune.start_weights import START_WEIGHTS
from itersel.vectors.features import feature_keys
from itersel.vectors.sparse_rows import sparse_rows

DENSE_NAMES = ("LanguageModel", "WordPenalty", "Glue")
SPARSE_NAMES = tuple(f"feature{i}" for i in range(6))
SETTINGS = {"features": "all", "k_best": 10}
# MERT over forests has separate tests: test_tune_forest.py
LIST_TUNERS = sorted(name for name, kind in TUNERS.items() if not kind.reads_forests)


def random_translation(random: np.random.Generator) -> Translation:
    """Return a translation whose features are multiples of 1/8, so that sums are exact."""
    length = int(random.integers(9))
    matches = [int(random.integers(length + 1))]
    for n in range(1, ORDER):
        matches.append(int(random.integers(max(0, min(matches[-1], length - n)) + 1)))
    chosen = random.choice(len(SPARSE_NAMES), size=random.integers(4), replace=False)
    features = {SPARSE_NAMES[i]: float(random.integers(1, 3)) for i in sorted(chosen)}
    for name in DENSE_NAMES:
        features[name] = float(random.integers(-16, 17)) / 8
    return Translation(tuple(matches), length, features)


def random_sentences(seed: int, count: int = 5, most: int = 12) -> list[Sentence]:
    random = np.random.default_rng(seed)
    more = random.spawn(1)[0]
    return [
        Sentence(
            (int(random.integers(1, 9)), *more.integers(1, 9, size=more.integers(3)).tolist()),
            # a complete match somewhere, so that BLEU is not always 0
            [random_translation(random) for _ in range(random.integers(1, most))]
            + [Translation((6, 5, 4, 3), 6, dict.fromkeys(DENSE_NAMES, 0.125))],
        )
        for _ in range(count)
    ]


def make_table(sentences: Sequence[Sentence], sparse_names: Sequence[str] = SPARSE_NAMES) -> ListTable:
    """Return lists in the form that tuners receive."""
    every = [one for sentence in sentences for one in sentence.translations]
    table = string_table(sparse_names)
    row_of = {name: row for row, name in enumerate(sparse_names)}
    rows = [[(row_of[n], v) for n, v in one.features.items() if n in row_of] for one in every]
    closest = [s.reference_length(one) for s in sentences for one in s.translations]
    dense = [[one.features.get(name, 0.0) for name in DENSE_NAMES] for one in every]
    sparse = sparse_rows(
        np.array([i for row in rows for i, _ in row], np.int32),
        np.array([value for row in rows for _, value in row], np.float64),
        offsets_of([len(row) for row in rows]),
        feature_keys(table),
        table,
    )
    return ListTable(
        offsets_of([len(sentence.translations) for sentence in sentences]),
        np.array(dense, np.float64).reshape(-1, len(DENSE_NAMES)),
        DENSE_NAMES,
        sparse,
        # of translations with different counts
        text=string_table(f"{one.matches} {one.length}" for one in every),
        reference_length=np.array([n for sentence in sentences for n in sentence.reference_lengths]),
        sentence_reference_offset=offsets_of([len(sentence.reference_lengths) for sentence in sentences]),
        statistics=Statistics(
            np.array([one.matches for one in every], np.int32).reshape(-1, ORDER),
            np.array([one.length for one in every], np.int32),
            np.array(closest, np.int32),
        ),
    )


def write_file(path: Path, sentences: Sequence[Sentence], number: int = 0, iteration: int = 1) -> Path:
    """Write a file of a decoder's lists."""
    every = (name for sentence in sentences for one in sentence.translations for name in one.features)
    names = [name for name in dict.fromkeys(every) if name not in DENSE_NAMES]
    tables = [make_table([sentence], names) for sentence in sentences]
    features = make_table([], names).sparse_rows
    attributes = header_attributes("lists", number, iteration, SETTINGS, f"sentences {number}", DENSE_NAMES)
    with write_lists(path, len(DENSE_NAMES), attributes, features.key, features.name) as writer:
        for table in tables:
            writer.append(table)
    return path


def dense(sentences: Sequence[Sentence]) -> list[Sentence]:
    def without_sparse(one: Translation) -> Translation:
        return one._replace(features={name: one.features[name] for name in DENSE_NAMES})

    return [Sentence(s.reference_lengths, list(map(without_sparse, s.translations))) for s in sentences]


def write_run(
    folder: Path, seed: int = 1, files: int = 2, iterations: int = 2, sparse: bool = True
) -> list[Path]:
    """Write the files of a run: the same sentences in every iteration, with different translations."""
    paths = []
    for number in range(files):
        whole = random_sentences(seed + number, count=4)
        for iteration in range(1, iterations + 1):
            random = np.random.default_rng((seed, number, iteration))
            part = []
            for lengths, (*every, last) in whole:
                part.append(Sentence(lengths, [t for t in every if random.random() < 0.7] + [last]))
            path = folder / f"{number}.{iteration}.h5"
            paths.append(write_file(path, part if sparse else dense(part), number, iteration))
    return paths


def tune_command(
    folder: Path,
    paths: Sequence[Path],
    *options: str,
    tuner: str = "mert",
    iteration: int = 2,
    files: int = 2,
    more: Mapping[str, Any] | None = None,
    **keys: Any,
) -> list[str]:
    """Return the command that tunes on the lists of all files of sentences, and writes `out.h5`.

    `keys` are those of the tuner, and `more` other settings.
    """
    (folder / "lists").write_text("".join(f"{path}\n" for path in paths))
    words = [*settings(tuner={"name": tuner, **keys}, files=files, **more or {}), f"--iteration={iteration}"]
    if iteration > 1 and "--start" not in options:
        (folder / "start").write_text("".join(f"{name} {value}\n" for name, value in START_WEIGHTS.items()))
        words.append(f"--start={folder / 'start'}")
    words += [f"--inputs={folder / 'lists'}", f"--output={folder / 'out.h5'}"]
    return ["step", "tune", *words, *options]


def further_references(references: Sequence[Sequence[str]]) -> tuple[list, list]:
    """Return two further references of each sentence, except for the last, which has only the second."""
    other = {"x": "y", "y": "z"}
    translated = [tuple(other.get(word, word) for word in one) for one in references]
    return [*translated[:-1], ()], [words[:-1] for words in references]


def make_decodable(folder: Path, model_text: str, sentences: Sequence[tuple[str, str]]) -> Path:
    """Write files of sentences with one reference, with several and with none, and a language model.

    For the additional references see `further_references`.
    """
    rules = [Rule((s,), (t,), {"EgivenFCoherent": v}, ((0, 0),)) for s, t, v in
             (("a", "x", 0.5), ("a", "y", 0.25), ("b", "y", 0.125), ("b", "z", 1.0))]  # fmt: skip
    sources, references = ([tuple(text.split()) for text in side] for side in zip(*sentences, strict=True))
    grammars = [rules if words else [] for words in sources]
    write_grammars(folder / "plain.h5", make_grammars(sources, None, grammars))
    for name, further in (("sentences", ()), ("several", further_references(references))):
        built = make_grammars(sources, references, grammars, further_references=further)
        write_grammars(folder / f"{name}.h5", built)
    (folder / "text").write_text(model_text)
    itersel("lm", "estimate", "--order=3", f"--input={folder / 'text'}", f"--output={folder / 'arpa'}")
    itersel("lm", "compile", f"--input={folder / 'arpa'}", f"--output={folder / 'model'}")
    return folder


def write_decoded(
    step: str, folder: Path, output: Path, *options: str, sentences: str = "sentences.h5"
) -> int:
    """Run a step such as `step kbest` in a folder of `make_decodable`; returns the exit status."""
    files = [
        "--sentences",
        str(folder / sentences),
        "--language-model",
        str(folder / "model"),
        "--output",
        str(output),
    ]
    return main([*step.split(), *files, *options])
