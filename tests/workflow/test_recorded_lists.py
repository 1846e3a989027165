"""A run on n-best lists that Moses has written, with a quality that the user gives."""

import gzip
import json

import pytest
import yaml

from itersel.cli.main import main
from itersel.storage.files import write_lines
from itersel.vectors.weights import read_itersel_weights

# sentences of the recorded lists
PARTS = {"dev": range(100), "devtest": range(100, 130), "test": range(130, 180), "train": range(180, 190)}
SEED = 3
FOLDER = "results/tiny/experiments/mert"
TABLE = "results/tiny/report/table.json"


def quality_of(text, reference):
    """Return a number for a translation: the share of its words that the reference has, cased."""
    words, known = text.split(), set(reference.split())
    return round(sum(word in known for word in words) / max(len(words), 1), 4)


def write_part(folder, split, lists, references):
    """Write some of the lists, numbered from 0, their references and a quality of each translation."""
    lines, numbers = [], []
    for number, sentence in enumerate(PARTS[split]):
        for text, rest in lists[sentence]:
            lines.append(f"{number} ||| {text} ||| {rest}")
            numbers.append(str(quality_of(text, references[sentence])))
    names = f"{split}.nbest", f"{split}.ref", f"{split}.quality"
    for name, content in zip(names, (lines, [references[one] for one in PARTS[split]], numbers), strict=True):
        write_lines(folder / name, content)
    return dict(zip(("lists", "target", "quality"), names, strict=True))


@pytest.fixture(scope="module")
def run(parity, make_project):
    """Return a project whose run has tuned on dev, and the first entry of each recorded list."""
    project = make_project()
    references = (parity / "tune/ref").read_text().splitlines()
    lists = {}
    with gzip.open(parity / "tune/nbest.gz", "rt") as stream:
        for line in stream:
            number, text, rest = line.rstrip("\n").split(" ||| ", 2)
            lists.setdefault(int(number), []).append((text, rest))

    data = {split: write_part(project.folder, split, lists, references) for split in PARTS}
    scores = {"words": {"list_numbers": data["test"].pop("quality")}}
    experiment = {"tune_on": "dev", "features": "dense", "epochs": 1, "learner": {"name": "mert"}}
    content = {
        **{"name": "tiny", "seed": SEED, "experiments": {"mert": experiment}},
        "data": {"kind": "lists", "target_language": "en", "tokenized": True, **data},
        "evaluation": {"trials": 100, "choose_by": "quality", "user_scores": scores},
    }
    (project.folder / "config.yaml").write_text(yaml.safe_dump(content))
    project.run("--cores", "2", TABLE)
    return project, {sentence: entries[0][0] for sentence, entries in lists.items()}


def test_row_0_is_the_decoder(run):
    project, first = run
    [test_set] = json.loads((project.folder / TABLE).read_text())["test_sets"]
    decoder, tuned = test_set["systems"]
    assert (decoder["number"], decoder["name"]) == (0, "first entries")
    references = (project.folder / "test.ref").read_text().splitlines()
    best = (project.folder / FOLDER / "best/test.txt").read_text().splitlines()
    for system, texts in ((decoder, [first[sentence] for sentence in PARTS["test"]]), (tuned, best)):
        found = [quality_of(*pair) for pair in zip(texts, references, strict=True)]
        assert system["scores"]["words"]["mean"] == pytest.approx(sum(found) / len(found))


def tuned_alone(folder, lists, quality):
    """Return the weights that `itersel tune` finds."""
    files = ["--nbest", str(lists), "--quality", str(quality), "--output", str(folder / "weights.h5")]
    assert main(["tune", "--tuner", "mert", "--seed", str(SEED), *files]) == 0
    return read_itersel_weights(folder / "weights.h5").to_dict()


def test_mert_in_a_run_and_alone(run, tmp_path):
    """Exactly the same weights, if sentences are in the same order: sums of floats depend on it."""
    project, _ = run
    weights = read_itersel_weights(project.folder / FOLDER / "epoch-1/weights.h5").to_dict()
    lists, quality = project.folder / "dev.nbest", project.folder / "dev.quality"
    assert tuned_alone(tmp_path, lists, quality) == pytest.approx(weights)

    # a run shuffles the sentences of dev
    [ids] = (project.results / "sentences/dev").glob("*/text/0.ids")
    place = {number: str(line) for line, number in enumerate(ids.read_text().split())}
    assert list(place) != list(place.values())
    fields = (line.partition(" ") for line in lists.read_text().splitlines())
    write_lines(tmp_path / "renumbered", (f"{place[number]} {rest}" for number, _, rest in fields))
    assert tuned_alone(tmp_path, tmp_path / "renumbered", quality) == weights
