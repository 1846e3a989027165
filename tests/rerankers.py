"""A small system that reranks n-best lists, in the form that a run writes."""

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.steps import settings
from tests.systems import itersel, sentences

from itersel.lists.files import read_list_table
from itersel.storage.files import write_lines
from itersel.vectors.feature_names import TEXT_GROUPS, TEXT_TEMPLATES
from itersel.vectors.weights import make_weights, write_itersel_weights

LANGUAGES = {"source_language": "de", "target_language": "en"}
TOKENIZED = {"tokenized": True}
ALL_TEXT = {
    **LANGUAGES,
    "groups": list(TEXT_GROUPS),
    "templates": list(TEXT_TEMPLATES),
    "user_model_names": ["short", "long.er"],
}
# so that text changes whenever it is cleaned, and again
CHANGED_BY_CLEANING = "&amp;amp;amp;lt;"
FILES = 2


def as_json(line: str) -> str:
    """Return a line of a list as an object whose features of value 0 are left out, as some decoders do."""
    number, text, features, score = line.split(" ||| ")
    lm, one, two, *sparse = [float(word) for word in re.findall(r"(?<=[ =])-?[0-9.]+", features)]
    values = {"LM": round(lm), "TM_0": one, "TM_1": two, "w_x": sum(sparse)}
    given = {name: value for name, value in values.items() if value}
    return json.dumps({"id": int(number), "text": text, "features": given, "score": float(score)})


def write_text(
    folder: Path, count: int = 9, seed: int = 3, form: Callable[[str], str] = str
) -> tuple[Path, Path]:
    """Write a source, ``s.de``, and its lists, in two files, with equal translations; returns both paths."""
    chance = random.Random(seed)
    pairs = [(f"{source} {CHANGED_BY_CLEANING}", target) for source, target, _ in sentences(count, seed)]
    source, lists = folder / "s.de", folder / "lists"
    write_lines(source, [pair[0].capitalize() for pair in pairs])
    write_lines(folder / "s.en", [pair[1] for pair in pairs])
    lists.mkdir()
    files: list[list[str]] = [[], []]
    for number, (_, target) in enumerate(pairs):
        words = f"{target} {CHANGED_BY_CLEANING}".split()
        for rank in range(6):
            text = " ".join(chance.sample(words, chance.randint(2, len(words)))).capitalize()
            line = f"{number} ||| {text} ||| LM= {-rank}.5 TM= {chance.random()} 1 w_x={rank} ||| {-rank}.25"
            files[chance.randrange(2)] += [line] * chance.choice([1, 1, 2])
        for lines in files:
            # each file has each sentence
            lines.append(f"{number} ||| {words[0]} ||| LM= -9 TM= 0 0 ||| -7")
    for name, lines in enumerate(files):
        write_lines(lists / f"{name}.gz", map(form, lines))
    return source, lists


def make_reranker(
    folder: Path,
    features: str = "all",
    columns: Sequence[str] = (),
    form: Callable[[str], str] = str,
    **how: Any,
) -> Path:
    """Write the files of a run, whose system learned from the lists of `write_text`.

    `columns` are its `data.dense_names`, `form` changes lines, and `how` are the settings of
    `itersel step lists`. Returns the folder of the system, ``experiments/x/best``; in it, ``test.txt`` has
    the run's translations of these lists.
    """
    best = folder / "experiments/x/best"
    best.mkdir(parents=True)
    corpus = list(zip(*sentences(60), strict=True))
    for name, lines in zip(("source", "target"), corpus, strict=False):
        write_lines(folder / f"{name}.gz", lines)
    models: list[object] = []
    how = LANGUAGES | how
    if how.get("groups") or how.get("templates"):
        models += write_models(folder, how)
    if names := how.get("user_model_names"):
        models += ["--user-model", *(write_model(folder, name) for name in names)]

    source, lists = write_text(folder, form=form)
    tokenized = ["--tokenized"] if how.get("tokenized") else []
    given = [f"--source={source}", f"--reference={folder}/s.en", *tokenized]
    languages = ["--source-language=de", "--target-language=en"]
    itersel("corpus", "references", "--split=test", *given, *languages, "--output", folder)
    texts = ["--source", folder / "test.source.gz", "--reference", folder / "test.target.gz"]
    cut = ["--nbest", lists, *texts, "--output", folder / "cut"]
    itersel(
        "step", "divide", *cut, *settings(division={"name": "in-order", "files": FILES}, dense_names=columns)
    )

    chance, weights = random.Random(5), dict[str, float]()
    for number in range(FILES):
        output = folder / f"{number}.h5"
        files = ["--divided-lists", folder / "cut", "--file-number", number, *models, "--output", output]
        itersel("step", "lists", *files, *settings(**how))
        table = read_list_table(output)
        # so that no feature decides alone
        scales = [*np.maximum(table.dense.std(axis=0), 1e-3).tolist(), *[3.0] * table.feature_name.count]
        for name, scale in zip([*table.dense_names, *table.feature_name.to_list()], scales, strict=True):
            weights.setdefault(name, chance.uniform(-1, 1) / scale)
    write_itersel_weights(best / "weights.h5", make_weights(weights))
    kept = how | ({"templates": []} if features == "dense" and "templates" in how else {})
    files = ["--divided-lists", folder / "cut", *models, "--output", best / "resources.json"]
    itersel("step", "reranker", *files, *settings(features=features, dense_names=columns, lists=kept))
    write_lines(best / "test.txt", decoded(folder, features))
    return best


def write_models(folder: Path, how: dict[str, Any]) -> Sequence[object]:
    """Write the models of features of text; returns the options that name them."""
    texts = ["--source", folder / "source.gz", "--target", folder / "target.gz"]
    words = {key: how[key] for key in (*LANGUAGES, *TOKENIZED) if key in how}
    itersel("step", "words", *texts, *settings(**words), "--output", folder / "words")
    aligners = []
    for direction in ("forward", "reverse"):
        words = ["--source", folder / "words/source.gz", "--target", folder / "words/target.gz"]
        aligners.append(folder / f"{direction}.h5")
        output = ["--save", aligners[-1], "--output", folder / f"{direction}.gz"]
        itersel("align", *words, "--direction", direction, *output)
    links = ["--alignment", folder / "forward.gz", folder / "reverse.gz"]
    itersel(
        "step",
        "text-models",
        "--words",
        folder / "words",
        *links,
        *settings(order=3),
        "--output",
        folder / "all",
    )
    return ["--aligner", *aligners, "--text-models", folder / "all"]


def write_model(folder: Path, name: str) -> Path:
    """Write one of the user's own language models; returns its file."""
    text, arpa, model = (folder / f"{name}.{suffix}" for suffix in ("txt", "arpa", "bin"))
    write_lines(text, [line for _, line, _ in sentences(20, seed=len(name))])
    itersel("lm", "estimate", "--order", len(name) % 3 + 1, "--input", text, "--output", arpa)
    itersel("lm", "compile", "--input", arpa, "--output", model)
    return model


def decoded(folder: Path, features: str, *options: object) -> list[str]:
    """Return what a run translates its files to, with further options of `itersel decode`."""
    found = []
    for number in range(FILES):
        weights = ["--weights", folder / "experiments/x/best/weights.h5"]
        output = ["--output", folder / f"{number}.txt"]
        itersel(
            "decode",
            "--sentences",
            folder / f"{number}.h5",
            *weights,
            *settings(features=features),
            *output,
            *options,
        )
        found += (folder / f"{number}.txt").read_text().splitlines()
    return found
