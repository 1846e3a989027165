"""A text that equals the references has the best score in every column, whatever characters it has."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.scored import count_command, make_system, table_command
from tests.steps import settings

from itersel.cli.main import main
from itersel.corpus.prepare import Preparation
from itersel.corpus.settings import Words
from itersel.evaluate.names import TABULATED
from itersel.lists.files import read_list_table
from itersel.storage.files import read_lines, write_lines
from itersel.system.chosen import write_system
from itersel.vectors.weights import make_weights, write_itersel_weights

# Not in NFC, soft hyphens, spaces without width or without a break, entities of entities, I with a dot.
TEXT = [
    "Cafe\u0301 na\u0308chste\u00adwoche &amp;lt; ge\u200bo\u0308ffnet an jedem Tag",
    "&quot;Ja&quot;  sagte\u00a0er \ufb01nal \u212b und ging &amp;amp; kam",
    "\u0130stanbul \u202aliegt\u202c am Bosporus, 3&#160;000 km &#x2013; weit weg",
    "\u1100\u1161 bleibt \u2126 wie es war, I\u0307 auch &nbsp;",
] * 3
KINDS = {"text": (), "tokenized": ("--tokenized",), "lists": (), "tokenized lists": ("--tokenized",)}
BEST = {name: 0.0 if name.endswith("ter") else 100.0 for name in ("tokenized-bleu", *TABULATED)}


def prepare(folder, kind):
    """Prepare the text as the references of test; returns the folder of the corpus."""
    write_lines(folder / "text", TEXT)
    text, corpus = str(folder / "text"), folder / "corpus"
    languages = ["--source-language", "de", "--target-language", "tr", *KINDS[kind]]
    if "lists" in kind:
        for split in ("train", "test"):
            command = ["corpus", "references", "--split", split, "--reference", text, *languages]
            assert main([*command, "--output", str(corpus)]) == 0
    else:
        for split, how in (
            ("train", languages),
            ("test", ["--preparation", str(corpus / "preparation.json")]),
        ):
            command = ["corpus", "prepare", "--split", split, "--source", text, "--target", text, *how]
            keep = ["--deduplicate", "none"] if split == "train" else []
            assert main([*command, *keep, "--output", str(corpus)]) == 0
    return corpus


def own_translation(folder, kind, corpus):
    """Return the file with a system's own translation: the best of its lists, or the prepared target."""
    if "lists" not in kind:
        return corpus / "test.target.gz"

    worse = ["anders", "x y"]
    lines = [
        f"{number} ||| {text} ||| good={int(text == line)} ||| 0"
        for number, line in enumerate(TEXT)
        for text in (worse[number % 2], line)
    ]
    write_lines(folder / "nbest", lines)
    divided, sentences = str(folder / "divided"), str(folder / "0.h5")
    command = [
        "step",
        "divide",
        "--nbest",
        str(folder / "nbest"),
        "--reference",
        str(corpus / "test.target.gz"),
    ]
    division = settings(division={"name": "in-order", "files": 1}, dense_names=["good"])
    assert main([*command, *division, "--output", divided]) == 0
    how = settings(tokenized="tokenized" in kind, source_language="de", target_language="tr")
    files = ["--divided-lists", divided, "--file-number", "0", "--output", sentences]
    assert main(["step", "lists", *files, *how]) == 0

    # learning sees the same: all n-grams match
    statistics = read_list_table(sentences).statistics
    rows = range(1, 2 * len(TEXT), 2)
    assert all(statistics.matches[row, 0] == statistics.length[row] for row in rows)

    weights = str(folder / "weights.txt")
    write_itersel_weights(weights, make_weights({"good": 1.0}))
    best = folder / "best.txt"
    command = [
        "decode",
        "--sentences",
        sentences,
        "--weights",
        weights,
        "--settings",
        '{"features": "dense"}',
    ]
    assert main([*command, "--output", str(best)]) == 0
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_references_as_translations(tmp_path, kind):
    corpus = prepare(tmp_path, kind)
    own = own_translation(tmp_path, kind, corpus)

    raw = corpus / ("test.target.gz" if "lists" in kind else "test.raw.gz")
    write_lines(tmp_path / "reference.txt", read_lines(raw))
    restoring = [f"--{name}={corpus / name}.json" for name in ("preparation", "recaser")]
    scored = {"own": (own, restoring), "other": (tmp_path / "text", restoring[:1])}
    for name, (text, how) in scored.items():
        outputs = [tmp_path / f"{name}.txt", tmp_path / f"{name}.h5"]
        assert main(count_command(text, [tmp_path / "reference.txt"], how, outputs)) == 0

    write_system(tmp_path / "system.json", make_system("own"))
    files = {
        "references": [str(corpus / "test.target.gz")],
        "systems": [str(tmp_path / "system.json")],
        "translations": [str(own)],
        "counts": [str(tmp_path / f"{name}.h5") for name in scored],
        "outputs": {"other": str(tmp_path / "other.txt")},
    }
    table = tmp_path / "table.json"
    command = table_command({"test": files}, table, trials=20)
    assert main([*command, "--preparation", str(corpus / "preparation.json")]) == 0

    systems = {one["name"]: one for one in json.loads(table.read_text())["test_sets"][0]["systems"]}
    for name, system in systems.items():
        # Moses' rules do not restore everything in our own translation of raw text
        if name == "other" or kind != "text":
            found = {metric: score["mean"] for metric, score in system["scores"].items()}
            assert found == pytest.approx(BEST), name


CHARACTERS = st.sampled_from(
    [*"aB &;#", "e\u0301", "\u00ad", "\u200b", "\u200d", "\u00a0", "\u2028", "&amp;", "lt;"]
)


@given(st.lists(st.lists(CHARACTERS, max_size=12).map("".join), max_size=3), st.booleans(), st.booleans())
@example(["&amp;lt; a"], False, False)
def test_prepared_once(lines, tokenized, only_cleaned):
    """The output of another system, cleaned before, has the tokens of the reference that it equals."""
    preparation = Preparation(Words("de", "en", tokenized), only_cleaned=only_cleaned)
    assert preparation.prepare_cleaned_target(preparation.clean(lines)) == preparation.target(lines)
