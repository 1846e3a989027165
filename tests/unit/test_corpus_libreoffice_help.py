"""The LibreOffice Help: pages, folders, packages; apt itself is played by a script."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.needs import missing

from itersel.cli.main import main
from itersel.corpus.libreoffice_help import read_page
from itersel.storage.files import read_lines

PAGE = """<!DOCTYPE html>
<html lang="{language}"><head><title>x</title></head><body>
<header><p id="outside">{outside}</p></header>
<div id="DisplayArea">
{content}
</div><footer><p id="bm_module"></p></footer></body></html>
"""

GERMAN = """
<h1 id="hd_1"><a name="x"></a>Ein   Bild
einfügen</h1>
<p id="par_1">Drücken Sie <span class="switchinline" id="swl"><span hidden="true" id="MAC1">Befehl</span>
<span hidden="true" id="default1">Strg</span></span>+F &amp; warten<br>Sie.</p>
<p id="par_2">Nur<!-- x --> <span class="switchinline"><span class="CALC" id="CALC2">Zellen</span></span>.</p>
<p id="par_3">=SUM(A1)</p>
<p id="par_4">Gleich</p><p id="par_5">Gleich</p>
<p id="par_6">Eins</p><p id="par_6">Zwei</p>
<p id="par_7">Eins</p><p id="par_7">Zwei</p>
<p id="par_8">Allein</p>
<p id="par_9"><img alt="Bild"></p>
<p>Ohne Kennung</p>
"""

ENGLISH = """
<h1 id="hd_1">Insert an image</h1>
<p id="par_1">Press <span class="switchinline"><span id="MAC1">Command</span>
<span id="default1">Ctrl</span></span>+F &amp; wait.</p>
<p id="par_2">Only <span class="switchinline"><span class="CALC" id="CALC2">cells</span></span>.</p>
<p id="par_3">=SUM(A1)</p>
<p id="par_4">Equal</p><p id="par_5">Equal</p>
<p id="par_6">One</p><p id="par_6">Two</p>
<p id="par_7">One and two</p>
<p id="par_9"></p>
<p>No id</p>
"""

# In the order of the German page; par_3 is untranslated, par_5 a duplicate; par_7 and par_8 have no
# counterpart.
PAIRS = [
    ("Ein Bild einfügen", "Insert an image"),
    ("Drücken Sie Strg+F & warten Sie.", "Press Ctrl+F & wait."),
    ("Nur Zellen.", "Only cells."),
    ("Gleich", "Equal"),
    ("Eins", "One"),
    ("Zwei", "Two"),
]


def write_help(folder: Path, language: str, content: str) -> None:
    for module in ("swriter/guide", "scalc/01"):
        (folder / language / "text" / module).mkdir(parents=True)
    page = PAGE.format(language=language, content=content, outside=f"header {language}")
    (folder / language / "text/swriter/guide/image.html").write_text(page, encoding="utf-8")
    extra = f'<p id="sum">{"Summe" if language == "de" else "sum"}</p>'
    page = PAGE.format(language=language, content=extra, outside="")
    (folder / language / "text/scalc/01/sum.html").write_text(page, encoding="utf-8")


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "usr/share/libreoffice/help"
    write_help(folder, "de", GERMAN)
    write_help(folder, "en-US", ENGLISH)
    return tmp_path


def fetch(output: Path, *options: str, target: str = "en-us") -> int:
    languages = ["--source-language", "de", "--target-language", target]
    return main(["corpus", "libreoffice-help", *languages, "--output", str(output), *options])


def check_pairs(output: Path) -> None:
    pairs = list(zip(read_lines(output / "source.gz"), read_lines(output / "target.gz"), strict=True))
    # Pages by name: scalc before swriter.
    assert pairs == [("Summe", "sum"), *PAIRS]
    assert read_lines(output / "task.gz") == ["scalc"] + ["swriter"] * len(PAIRS)


def test_unpacked_folder(pages: Path, tmp_path: Path) -> None:
    assert fetch(tmp_path / "out", "--from", str(pages)) == 0
    check_pairs(tmp_path / "out")
    statistics = json.loads((tmp_path / "out/statistics.json").read_text())
    assert statistics == {
        "packages": {},
        "pairs": 7,
        "pages": 2,
        # with text: h1, par_1 to par_5, twice par_6 and par_7, par_8, and the sum
        "paragraphs": 12,
        "no counterpart": 3,
        "untranslated": 1,
        "duplicates": 1,
    }


def test_page_by_id_and_occurrence(pages: Path) -> None:
    page = read_page(pages / "usr/share/libreoffice/help/de/text/swriter/guide/image.html")
    assert page["par_6", 0] == "Eins"
    assert page["par_6", 1] == "Zwei"
    assert page["par_9", 0] == ""
    assert ("outside", 0) not in page


def test_folder_without_the_language(pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fetch(tmp_path / "out", "--from", str(pages), target="fr") == 1
    assert f"{pages}: holds no folder fr/text" in capsys.readouterr().err
    assert fetch(tmp_path / "out", "--from", str(tmp_path / "nowhere")) == 1
    assert "no such folder" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_language_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fetch(tmp_path / "out", target="../en") == 2
    assert "'../en' is not the code of a language" in capsys.readouterr().err


def build_packages(pages: Path, folder: Path) -> None:
    """Make the two .deb files that Debian would have."""
    if shutil.which("dpkg-deb") is None:
        missing("the program dpkg-deb is not there")
    folder.mkdir()
    for language in ("de", "en-US"):
        package = f"libreoffice-help-{language.lower()}"
        tree = folder / "tree" / package
        (tree / "DEBIAN").mkdir(parents=True)
        control = (
            f"Package: {package}\nVersion: 1.0\nArchitecture: all\nMaintainer: x <x@y.z>\nDescription: x\n"
        )
        (tree / "DEBIAN/control").write_text(control)
        help_folder = "usr/share/libreoffice/help"
        shutil.copytree(pages / help_folder / language, tree / help_folder / language)
        command = ["dpkg-deb", "--root-owner-group", "-b", str(tree), str(folder / f"{package}_1.0_all.deb")]
        subprocess.run(command, check=True, capture_output=True)
    shutil.rmtree(folder / "tree")


def test_folder_of_packages(pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packages = tmp_path / "packages"
    build_packages(pages, packages)
    assert fetch(tmp_path / "out", "--from", str(packages)) == 0
    check_pairs(tmp_path / "out")
    versions = json.loads((tmp_path / "out/statistics.json").read_text())["packages"]
    assert versions == {"libreoffice-help-de": "1.0", "libreoffice-help-en-us": "1.0"}
    (packages / "libreoffice-help-en-us_1.0_all.deb").write_bytes(b"not a package")
    assert fetch(tmp_path / "out", "--from", str(packages)) == 1
    assert "libreoffice-help-en-us_1.0_all.deb: dpkg-deb cannot unpack it" in capsys.readouterr().err
    (packages / "libreoffice-help-en-us_1.0_all.deb").unlink()
    assert fetch(tmp_path / "out", "--from", str(packages)) == 1
    assert f"{packages}: holds no libreoffice-help-en-us_*.deb" in capsys.readouterr().err


APT = """#!/bin/sh
echo "$@" >> {log}
case "$*" in
{cases}
*download*) cp {packages}/*.deb . ;;
esac
"""


def install_apt(folder: Path, monkeypatch: pytest.MonkeyPatch, cases: str = "") -> Path:
    """Put an apt-get before the machine's own; returns the log of its calls."""
    (folder / "bin").mkdir()
    log = folder / "apt.log"
    script = folder / "bin/apt-get"
    script.write_text(APT.format(log=log, packages=folder / "packages", cases=cases))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return log


def test_apt_with_package_lists(pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_packages(pages, tmp_path / "packages")
    log = install_apt(tmp_path, monkeypatch)
    assert fetch(tmp_path / "out") == 0
    check_pairs(tmp_path / "out")
    assert log.read_text() == "download libreoffice-help-de libreoffice-help-en-us\n"


def test_apt_without_package_lists(pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_packages(pages, tmp_path / "packages")
    # Without a private state it knows no package; the update fails for some other source.
    cases = 'download*) echo "E: Unable to locate package" >&2; exit 100 ;;\n*update*) exit 100 ;;'
    log = install_apt(tmp_path, monkeypatch, cases)
    assert fetch(tmp_path / "out") == 0
    check_pairs(tmp_path / "out")
    _, update, download = log.read_text().splitlines()
    assert update.endswith(" update")
    assert download.endswith(" download libreoffice-help-de libreoffice-help-en-us")
    assert update.count("-o Dir::State=") == download.count("-o Dir::State=") == 1


def test_apt_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install_apt(tmp_path, monkeypatch, '*) echo "E: Unable to locate package x" >&2; exit 100 ;;')
    assert fetch(tmp_path / "out") == 1
    error = capsys.readouterr().err
    assert "E: Unable to locate package x" in error
    assert "--from" in error
    assert not (tmp_path / "out").exists()


def test_machine_without_apt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch(tmp_path / "out") == 1
    error = capsys.readouterr().err
    assert "apt-get is not on this machine" in error
    assert "--from" in error
