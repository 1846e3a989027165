"""The script that makes parallel text of the descriptions of Debian's packages, from a mirror in a folder."""

import bz2
import gzip
import hashlib
import importlib.util
import json
import lzma
import sys

import pytest
from tests.refusals import check_facts

from itersel.storage.files import read_lines

ENGLISH = """\
Package: one
Description-md5: 1
Description-en: short form of one
 This is a sentence, which is wrapped at the
 end of the line. Another one, e.g. Italian text! "A third one."
 .
 It can:
  * do this. And
    that.
  * do the other
 .
  set as it
  is
 .
 1.2
 .
 The last one.

Package: two
Description-md5: 2
Description-en: two
 Same

Package: three
Description-md5: 3
Description-en: three

"""
ITALIAN = """\
Package: one
Description-md5: 1
Description-it: forma breve di uno
 Questa è una frase, che va a capo alla
 fine della riga. Un'altra, ad es. Testo\titaliano\x85! "Una terza."
 .
 Può:
  - fare questo. E
    quello.
  - fare l'altro
 .
  come è
 .
 1.2
 .
 L'ultima. E una.

Package: two
Description-md5: 2
Description-it: due
 Same

Package: three
Description-md5: 3
Description-it: tre
 e un altro paragrafo

Package: four
Description-md5: 4
Description-it: quattro
"""
PACKAGES = "Package: one\nSection: games\n\nPackage: three\nSection: doc\n"
WRAPPED = "Questa è una frase, che va a capo alla fine della riga."
PAIRS = [
    ("forma breve di uno", "short form of one", "games"),
    (WRAPPED, "This is a sentence, which is wrapped at the end of the line.", "games"),
    ("Un'altra, ad es. Testo italiano !", "Another one, e.g. Italian text!", "games"),
    ('"Una terza."', '"A third one."', "games"),
    ("Può:", "It can:", "games"),
    ("fare questo.", "do this.", "games"),
    ("E quello.", "And that.", "games"),
    ("fare l'altro", "do the other", "games"),
    ("due", "two", "other"),
]


@pytest.fixture
def mirror(tmp_path):
    """Write a mirror; returns its folder of the release."""
    folder = tmp_path / "mirror/dists/bookworm"
    for name, content in {
        "main/i18n/Translation-en.bz2": bz2.compress(ENGLISH.encode()),
        "main/i18n/Translation-it.xz": lzma.compress(ITALIAN.encode()),
        "main/binary-amd64/Packages.gz": gzip.compress(PACKAGES.encode()),
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        with (folder / "Release").open("a") as stream:
            stream.write(f" {hashlib.sha256(content).hexdigest()} {len(content):8} {name}\n")
    return folder


@pytest.fixture
def fetch(root, tmp_path, monkeypatch):
    """Return a function that runs the script."""
    path = root / "experiments/package-descriptions/fetch.py"
    specification = importlib.util.spec_from_file_location("fetch", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)

    def run(*options):
        output, mirror = f"--output={tmp_path / 'output'}", f"--mirror=file://{tmp_path / 'mirror'}"
        monkeypatch.setattr(sys, "argv", ["fetch.py", output, mirror, "--language=it", *options])
        module.main()
        return tmp_path / "output"

    return run


def test_pairs(mirror, fetch):
    """Sentences are paired within paragraphs with as many, and what is dropped is counted."""
    folder = fetch()
    columns = (read_lines(folder / f"{name}.gz") for name in ("source", "target", "labels"))
    assert list(zip(*columns, strict=True)) == PAIRS
    statistics = json.loads((folder / "statistics.json").read_text())
    assert statistics["pairs"] == len(PAIRS)
    dropped = {name: count for name, count in statistics.items() if "dropped" in name}
    assert sorted(dropped.values()) == [1] * 6


def test_damaged_mirror(mirror, fetch):
    """A file that is missing, or that has another digest, is named, and nothing is written."""
    path = mirror / "main/i18n/Translation-it.xz"
    for damaged in (lzma.compress(b"Package: another"), b""):
        path.write_bytes(damaged)
        with pytest.raises(SystemExit) as ended:
            fetch()
        check_facts(str(ended.value), "main/i18n/Translation-it.xz")

    with pytest.raises(SystemExit) as ended:
        fetch("--language=pt")
    check_facts(str(ended.value), "main/i18n/Translation-pt.xz")
    assert not (mirror.parents[2] / "output").exists()
