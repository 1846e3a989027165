"""n-best lists of another decoder, as text, and files that are made of them."""

from pathlib import Path

from tests.steps import TEXT_LANGUAGES, settings
from tests.systems import itersel
from tests.text_grammars import write

REFERENCES = ("the cat sat", "a dog", "it rains", "no")
# two files with the lists of four sentences; a translation of sentence 0 is in both
LISTS = (
    ("0 ||| the cat ||| LM= -1 w_the=1 ||| -1", "0 ||| a cat ||| LM= -2 ||| -2", "2 ||| it ||| LM= 3 TM_1=1"),
    (
        "1 ||| dog a ||| LM= 1 ||| 1",
        "0 ||| the cat ||| LM= -1 w_the=1 ||| -5",
        '{"id": 3, "text": "no ?", "features": {"LM": 0.5, "w_the": -1}}',
    ),
)


def write_given(folder: Path) -> Path:
    """Write the lists and their references; returns the folder."""
    (folder / "lists").mkdir()
    for number, lines in enumerate(LISTS):
        write(folder / "lists" / f"{number}.gz", *lines)
    write(folder / "references", *REFERENCES)
    return folder


def divide(folder, *options, **how):
    """Divide the lists; if it is not said how, into a single file that keeps the order of the sentences."""
    files = ["--nbest", folder / "lists", "--reference", folder / "references", "--output", folder / "cut"]
    itersel("step", "divide", *files, *options, *settings(division=how or {"name": "in-order"}))


def import_file(folder, number=0, **how):
    """Make a file of the lists, by default of tokenised ones; returns its file."""
    output = folder / f"{number}.h5"
    files = ["--divided-lists", folder / "cut", "--file-number", number, "--output", output]
    itersel("step", "lists", *files, *settings(**(TEXT_LANGUAGES | {"tokenized": True} | how)))
    return output
