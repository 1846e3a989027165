"""The LibreOffice Help: pages, folders, packages, mirrors."""

import hashlib
import json
import lzma
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.archives import archive
from tests.needs import missing

from itersel.cli.main import main
from itersel.corpus.debian_files import unpack, version
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
<h1 id="hd_1">Add an image</h1>
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
PAIRS = [("Ein Bild einfügen", "Add an image"), ("Drücken Sie Strg+F & warten Sie.", "Press Ctrl+F & wait.")]
PAIRS += [("Nur Zellen.", "Only cells."), ("Gleich", "Equal"), ("Eins", "One"), ("Zwei", "Two")]


def write_help(folder, language, **contents):
    for module, content in contents.items():
        path = folder / language / f"text/{module}/01/{module}.html"
        path.parent.mkdir(parents=True)
        page = PAGE.format(language=language, content=content, outside=f"header {language}")
        path.write_text(page, encoding="utf-8")


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "usr/share/libreoffice/help"
    write_help(folder, "de", swriter=GERMAN, scalc='<p id="sum">Summe</p>')
    write_help(folder, "en-US", swriter=ENGLISH, scalc='<p id="sum">sum</p>')
    return tmp_path


def command(folder, *options, target="en-us"):
    """Return the command that writes to `out`; without options, it takes the pages from the folder."""
    languages = ["--source-language=de", f"--target-language={target}", f"--output={folder / 'out'}"]
    return ["corpus", "libreoffice-help", *languages, *(options or [f"--folder={folder}"])]


def check_pairs(output):
    pairs = list(zip(read_lines(output / "source.gz"), read_lines(output / "target.gz"), strict=True))
    # Pages are sorted by name: scalc before swriter.
    assert pairs == [("Summe", "sum"), *PAIRS]
    assert read_lines(output / "labels.gz") == ["scalc"] + ["swriter"] * len(PAIRS)
    return dict(json.loads((output / "statistics.json").read_text()))


def test_unpacked_folder(pages):
    assert main(command(pages)) == 0
    found = check_pairs(pages / "out")
    # with text: h1, par_1 to par_5, par_6 and par_7 twice, par_8, and the total
    assert found.pop("paragraphs") == 12
    left_out = {"no counterpart": 3, "untranslated": 1, "duplicates": 1}
    assert found == {"packages": {}, "pairs": 7, "pages": 2, **left_out}


def test_page_by_id_and_occurrence(pages):
    page = read_page(pages / "usr/share/libreoffice/help/de/text/swriter/01/swriter.html")
    assert [page["par_6", 0], page["par_6", 1], page["par_9", 0]] == ["Eins", "Zwei", ""]
    assert ("outside", 0) not in page


def test_folder_without_the_language(pages, refused):
    refused(command(pages, target="fr"), f"{pages}:")
    refused(command(pages, f"--folder={pages / 'nowhere'}"), f"{pages / 'nowhere'}:")


def test_pages_that_change_while_they_are_read(pages, monkeypatch, refused):
    [page] = pages.glob("usr/share/libreoffice/help/de/text/scalc/01/*.html")
    page.write_bytes(b"")
    refused(command(pages), (f": {page}:", "HTML"))
    # listed, but removed before it is read
    monkeypatch.setattr(Path, "rglob", lambda folder, _: [folder / "gone.html"])
    refused(command(pages), f": {page.parents[2] / 'gone.html'}:")


def test_language_code(tmp_path, misused):
    misused(command(tmp_path, target="../en"), "'../en'")


def package_of(files, packing="xz"):
    """Return a .deb in the format of ``ar``: padded member names, and content at even positions."""
    control = b"Package: x\nVersion: 4:1.0\nDescription: x\n"
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


def build_packages(pages, folder, packing="xz"):
    """Create the two .deb files that Debian would have."""
    folder.mkdir(parents=True)
    for language in ("de", "en-US"):
        paths = sorted((pages / "usr/share/libreoffice/help" / language).rglob("*.html"))
        files = {f"./{path.relative_to(pages)}": path.read_bytes() for path in paths}
        content = package_of({**files, "./usr/share/doc/copyright": b"free"}, packing)
        (folder / f"libreoffice-help-{language.lower()}_1.0_all.deb").write_bytes(content)


@pytest.mark.parametrize("packing", ["xz", "gz"])
def test_folder_of_packages(pages, packing):
    build_packages(pages, pages / "packages", packing)
    assert main(command(pages, f"--folder={pages / 'packages'}")) == 0
    versions = check_pairs(pages / "out")["packages"]
    assert versions == {"libreoffice-help-de": "4:1.0", "libreoffice-help-en-us": "4:1.0"}


def test_packages_of_dpkg(pages, tmp_path):
    if shutil.which("dpkg-deb") is None:
        missing("the program dpkg-deb is not there")
    (pages / "DEBIAN").mkdir()
    control = "Package: x\nVersion: 2:1.0-1\nArchitecture: all\nMaintainer: x <x@y.z>\nDescription: x\n"
    (pages / "DEBIAN/control").write_text(control)
    command = ["dpkg-deb", "--root-owner-group", "-b", str(pages), str(tmp_path / "x.deb")]
    subprocess.run(command, check=True, capture_output=True)
    assert version(tmp_path / "x.deb") == "2:1.0-1"
    unpack(tmp_path / "x.deb", tmp_path / "unpacked", ".html")
    for path in sorted((pages / "usr").rglob("*.html")):
        assert (tmp_path / "unpacked" / path.relative_to(pages)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (b"not a package", ()),
        (package_of({})[:-100], ()),
        (package_of({"../../x.html": b"x"}), "/../x.html"),
        (package_of({"/x.html": b"x"}), "/x.html"),
        (package_of({}).replace(b"tar.xz ", b"tar.zst"), ()),
        (None, "libreoffice-help-en-us_*.deb"),
    ],
    ids=["other", "cut", "upwards", "absolute", "zstd", "missing"],
)
def test_bad_packages(content, facts, pages, refused):
    packages = pages / "packages"
    build_packages(pages, packages)
    package = packages / "libreoffice-help-en-us_1.0_all.deb"
    package.unlink() if content is None else package.write_bytes(content)
    blamed = packages if content is None else package
    refused(command(pages, f"--folder={packages}"), (f": {blamed}:", facts))


def build_mirror(pages, release="bookworm"):
    """Create a mirror with the two packages, and an index that also has other packages; return its URL."""
    folder = pages / "mirror"
    build_packages(pages, folder / "pool/help")
    entries = ["Package: libreoffice-help-de-extra\nSize: 1\n"]
    for path in sorted(folder.glob("pool/help/*.deb")):
        size, digest = path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
        lines = f"Package: {path.name.partition('_')[0]}", f"Filename: {path.relative_to(folder)}"
        entries.append("\n".join([*lines, f"Size: {size}", f"SHA256: {digest}", ""]))
    index = folder / f"dists/{release}/main/binary-all/Packages.xz"
    index.parent.mkdir(parents=True)
    index.write_bytes(lzma.compress("\n".join(entries).encode()))
    return folder.as_uri()


def test_mirror(pages, monkeypatch):
    """No other program is called, in particular not apt or dpkg."""
    mirror = build_mirror(pages, "trixie")
    monkeypatch.setenv("PATH", str(pages))
    assert main(command(pages, f"--mirror={mirror}/", "--release=trixie")) == 0
    check_pairs(pages / "out")


@pytest.mark.parametrize(
    ("damage", "facts"),
    [
        (lambda mirror: shutil.rmtree(mirror), "Packages.xz"),
        (lambda mirror: shutil.rmtree(mirror / "pool"), ".deb"),
        (lambda mirror: next(mirror.rglob("Packages.xz")).write_bytes(b"<html>"), "Packages.xz"),
        (lambda mirror: os.truncate(next(mirror.rglob("Packages.xz")), 100), "Packages.xz"),
        (lambda mirror: next(mirror.rglob("*-de_*.deb")).write_bytes(b"other"), "1.0_all.deb"),
    ],
)
def test_mirror_without_packages(damage, facts, pages, refused):
    mirror = build_mirror(pages)
    damage(pages / "mirror")
    refused(command(pages, f"--mirror={mirror}"), facts, ("data.folder", "--mirror", "--folder"))


def test_mirror_without_the_language(pages, refused):
    extra = command(pages, f"--mirror={build_mirror(pages)}", target="de-extra")
    refused(extra, "libreoffice-help-de-extra")
    closed = "http://127.0.0.1:9/debian"
    refused(command(pages, f"--mirror={closed}"), f"{closed}/dists/")
