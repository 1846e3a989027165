"""A small trained system in the form that a run writes, for tests of translation."""

import random
from collections.abc import Sequence
from pathlib import Path

from tests.scored import write_detokenizer
from tests.steps import settings

from itersel.cli.main import main
from itersel.corpus.compounds import CompoundSplitter
from itersel.storage.files import write_lines
from itersel.vectors.weights import make_weights, write_itersel_weights

NOUNS = {"haus": "house", "fluss": "river", "boot": "boat", "berg": "mountain", "kind": "child"}
ADJECTIVES = {"alte": "old", "kleine": "small", "kalte": "cold", "schöne": "nice"}
VERBS = {"liegt": "lies", "steht": "stands", "bleibt": "stays"}
WEIGHTS = {"LanguageModel": 0.4, "WordPenalty": -0.3, "Glue": 0.1, "PassThrough": -3.0}
WEIGHTS |= {"EgivenFCoherent": -0.2, "MaxLexFgivenE": -0.2, "MaxLexEgivenF": -0.15, "LanguageModel_OOV": -0.5}
# so that sparse features affect the result
WEIGHTS |= {"R:X:boot:ship": 0.9, "RBT:old_house": -0.7, "Shape_S10000_T10000": -0.1}


def sentences(count: int, seed: int = 1) -> list[tuple[str, str, str]]:
    """Return sentence pairs and their alignments; the verb is last in the source."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        noun, other = chance.choices(sorted(NOUNS), k=2)
        adjective, verb = chance.choice(sorted(ADJECTIVES)), chance.choice(sorted(VERBS))
        english = "ship" if noun == "boot" and chance.random() < 0.4 else NOUNS[noun]
        source = f"das {adjective} {noun} am {other} {verb} ."
        target = f"the {ADJECTIVES[adjective]} {english} {VERBS[verb]} at the {NOUNS[other]} ."
        found.append((source, target, "0-0 1-1 2-2 3-4 3-5 4-6 5-3 6-7"))
    return found


def raw_text(count: int, seed: int = 2) -> list[str]:
    """Return raw source sentences, some with words that are not in the training text."""
    chance = random.Random(seed)
    lines = []
    for source, *_ in sentences(count, seed):
        words = source.removesuffix(" .").split()
        if chance.random() < 0.3:
            words[chance.randrange(len(words))] = chance.choice(["Zebra", "Äpfel", "Quitte", "x%y"])
        lines.append(" ".join(words).capitalize() + ".")
    return lines


def make_system(
    folder: Path,
    features: str = "all",
    templates: Sequence[str] = (),
    corpus: Sequence[tuple[str, str, str]] | None = None,
) -> Path:
    """Write the files of a run to a folder; returns the folder of the system, ``experiments/x/best``."""
    best = folder / "experiments/x/best"
    best.mkdir(parents=True)
    columns = zip(*(corpus or sentences(120)), strict=True)
    for name, lines in zip(("source", "target", "alignment"), columns, strict=True):
        write_lines(folder / name, lines)
    target, arpa = folder / "target", folder / "lm.arpa.gz"
    itersel("lm", "estimate", "--order", "3", "--input", target, "--output", arpa)
    itersel("lm", "compile", "--input", arpa, "--output", folder / "lm.bin")
    texts = ["--source", folder / "source", "--target", target, "--alignment", folder / "alignment"]
    itersel("grammar", "index", *texts, "--output", folder / "index")
    cased = [line.capitalize().replace("river", "River") for line in target.read_text().splitlines()]
    write_itersel_weights(best / "weights.h5", make_weights(WEIGHTS))
    files = [f"--language-model={folder}/lm.bin", f"--index={folder}/index"]
    files += write_detokenizer(folder, cased, compounds=CompoundSplitter({"haus": 3, "boot": 5}))
    how = settings(pop_limit=30, features=features, grammar={"templates": templates} if templates else {})
    itersel("step", "resources", *files, *how, "--output", best / "resources.json")
    return best


def translate(system: Path, text: Path, output: Path, *options: str) -> list[str]:
    itersel("translate", "--system", system, "--input", text, "--output", output, *options)
    return output.read_text().splitlines()


def itersel(*arguments: object) -> None:
    assert main(list(map(str, arguments))) == 0
