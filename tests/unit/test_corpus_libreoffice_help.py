"""The LibreOffice Help: pages, folders, packages, mirrors."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.needs import missing

from itersel.cli.main import main
from itersel.corpus import libreoffice_help
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

# In the order of the German page; par_3 is untranslated, par_5 is a duplicate, par_7 and par_8 have no
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
    # Pages are sorted by name: scalc before swriter.
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
        # with text: h1, par_1 to par_5, par_6 and par_7 twice, par_8, and the total
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


def test_pages_that_change_while_they_are_read(
    pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [page] = pages.glob("usr/share/libreoffice/help/de/text/scalc/01/*.html")
    page.write_bytes(b"")
    assert fetch(tmp_path / "out", "--from", str(pages)) == 1
    error = capsys.readouterr().err
    assert error == f"itersel corpus: {page}: is empty or no HTML page; unpack the help again\n"
    # listed, but removed before it is read
    names = [Path("gone.html")]
    monkeypatch.setattr(libreoffice_help, "_page_names", lambda folder: names)
    assert fetch(tmp_path / "out", "--from", str(pages)) == 1
    gone = page.parents[2] / "gone.html"
    assert capsys.readouterr().err == f"itersel corpus: {gone}: No such file or directory\n"
    assert not (tmp_path / "out").exists()


def test_language_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fetch(tmp_path / "out", target="../en") == 2
    assert "'../en' is not a language code" in capsys.readouterr().err


def archive(files: dict[str, bytes], packing: str = "xz") -> bytes:
    """Return a tar archive of files."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=f"w:{packing}") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
    return content.getvalue()


def package_of(files: dict[str, bytes], version: str = "4:1.0", packing: str = "xz") -> bytes:
    """Return a .deb in the format of ``ar``: padded member names, and content at even positions."""
    control = f"Package: x\nVersion: {version}\nDescription: x\n".encode()
    members = {
        "debian-binary": b"2.0\n",
        f"control.tar.{packing}": archive({"./md5sums": b"", "./control": control}, packing),
        f"data.tar.{packing}": archive(files, packing),
    }
    content = b"!<arch>\n"
    for name, data in members.items():
        content += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data
        content += b"\n" * (len(data) % 2)
    return content


def build_packages(pages: Path, folder: Path, packing: str = "xz") -> None:
    """Create the two .deb files that Debian would have."""
    folder.mkdir(parents=True)
    for language in ("de", "en-US"):
        paths = sorted((pages / "usr/share/libreoffice/help" / language).rglob("*.html"))
        files = {f"./{path.relative_to(pages)}": path.read_bytes() for path in paths}
        files["./usr/share/doc/copyright"] = b"free"
        content = package_of(files, packing=packing)
        (folder / f"libreoffice-help-{language.lower()}_1.0_all.deb").write_bytes(content)


@pytest.mark.parametrize("packing", ["xz", "gz"])
def test_folder_of_packages(pages: Path, tmp_path: Path, packing: str) -> None:
    packages = tmp_path / "packages"
    build_packages(pages, packages, packing)
    assert fetch(tmp_path / "out", "--from", str(packages)) == 0
    check_pairs(tmp_path / "out")
    versions = json.loads((tmp_path / "out/statistics.json").read_text())["packages"]
    assert versions == {"libreoffice-help-de": "4:1.0", "libreoffice-help-en-us": "4:1.0"}


def test_packages_of_dpkg(pages: Path, tmp_path: Path) -> None:
    if shutil.which("dpkg-deb") is None:
        missing("the program dpkg-deb is not there")
    (pages / "DEBIAN").mkdir()
    control = "Package: x\nVersion: 2:1.0-1\nArchitecture: all\nMaintainer: x <x@y.z>\nDescription: x\n"
    (pages / "DEBIAN/control").write_text(control)
    command = ["dpkg-deb", "--root-owner-group", "-b", str(pages), str(tmp_path / "x.deb")]
    subprocess.run(command, check=True, capture_output=True)
    assert libreoffice_help.version(tmp_path / "x.deb") == "2:1.0-1"
    libreoffice_help.unpack(tmp_path / "x.deb", tmp_path / "unpacked", ".html")
    for path in sorted((pages / "usr").rglob("*.html")):
        assert (tmp_path / "unpacked" / path.relative_to(pages)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"not a package", "is no Debian package; fetch it again"),
        (package_of({})[:-100], "cannot be unpacked"),
        (package_of({"../../x.html": b"x"}), "has a file outside of the folder: ../../x.html"),
        (package_of({"/x.html": b"x"}), "has a file outside of the folder: /x.html"),
        (package_of({}).replace(b"tar.xz ", b"tar.zst"), "is packed with zstd"),
        (None, "holds no libreoffice-help-en-us_*.deb"),
    ],
    ids=["other", "cut", "upwards", "absolute", "zstd", "missing"],
)
def test_bad_packages(
    content: bytes | None, reason: str, pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packages = tmp_path / "packages"
    build_packages(pages, packages)
    package = packages / "libreoffice-help-en-us_1.0_all.deb"
    package.unlink() if content is None else package.write_bytes(content)
    assert fetch(tmp_path / "out", "--from", str(packages)) == 1
    error = capsys.readouterr().err
    assert f": {packages if content is None else package}: {reason}" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "x.html").exists()


def build_mirror(pages: Path, folder: Path, release: str = "bookworm") -> None:
    """Create a mirror with the two packages, and an index that also has other packages."""
    build_packages(pages, folder / "pool/help")
    entries = ["Package: libreoffice-help-de-extra\nSize: 1\n"]
    for path in sorted(folder.glob("pool/help/*.deb")):
        content = path.read_bytes()
        fields = {
            "Package": path.name.partition("_")[0],
            "Filename": str(path.relative_to(folder)),
            "Size": len(content),
            "SHA256": hashlib.sha256(content).hexdigest(),
        }
        entries.append("".join(f"{name}: {value}\n" for name, value in fields.items()))
    index = folder / f"dists/{release}/main/binary-all/Packages.xz"
    index.parent.mkdir(parents=True)
    index.write_bytes(lzma.compress("\n".join(entries).encode()))


def test_mirror(pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other program is called, in particular not apt or dpkg."""
    build_mirror(pages, tmp_path / "mirror", "trixie")
    monkeypatch.setenv("PATH", str(tmp_path))
    mirror = (tmp_path / "mirror").as_uri()
    assert fetch(tmp_path / "out", "--mirror", f"{mirror}/", "--release", "trixie") == 0
    check_pairs(tmp_path / "out")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda mirror: shutil.rmtree(mirror), "cannot fetch"),
        (lambda mirror: shutil.rmtree(mirror / "pool"), "cannot fetch"),
        (lambda mirror: next(mirror.rglob("Packages.xz")).write_bytes(b"<html>"), "Packages.xz is damaged"),
        (lambda mirror: os.truncate(next(mirror.rglob("Packages.xz")), 100), "Packages.xz is truncated"),
        (lambda mirror: next(mirror.rglob("*-de_*.deb")).write_bytes(b"other"), "1.0_all.deb is damaged"),
    ],
)
def test_mirror_without_packages(
    damage: Callable[[Path], object],
    reason: str,
    pages: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    build_mirror(pages, tmp_path / "mirror")
    damage(tmp_path / "mirror")
    assert fetch(tmp_path / "out", "--mirror", (tmp_path / "mirror").as_uri()) == 1
    error = capsys.readouterr().err
    assert reason in error
    assert "data.folder; for the command: --mirror, --from)" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_mirror_without_the_language(pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_mirror(pages, tmp_path / "mirror")
    assert fetch(tmp_path / "out", "--mirror", (tmp_path / "mirror").as_uri(), target="de-extra") == 1
    assert "Debian bookworm has no package libreoffice-help-de-extra" in capsys.readouterr().err
    assert fetch(tmp_path / "out", "--mirror", "http://127.0.0.1:9/debian") == 1
    assert "cannot fetch http://127.0.0.1:9/debian/dists/" in capsys.readouterr().err
