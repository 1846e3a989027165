"""The LibreOffice Help as parallel text, from Debian or from a folder.

Debian's packages ``libreoffice-help-<language>`` contain the same HTML pages in every language: page names
and the ids of paragraphs and headings are the same, so paragraphs align exactly. The folder of a page
(swriter, scalc, ...) is the LibreOffice module that it belongs to, which serves as its natural task.

Packages are downloaded and unpacked in Python, on any system.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import lzma
import os
import re
import tarfile
import tempfile
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath
from typing import IO

from lxml import etree, html

from itersel.corpus.text import clean_text
from itersel.errors import InputError
from itersel.storage.files import write_lines
from itersel.storage.json_files import write_json

_PARAGRAPHS = " or ".join(f"self::{tag}" for tag in ("p", "h1", "h2", "h3", "h4", "h5", "h6"))
# The rest of a page is navigation, whose ids differ between languages.
_PARAGRAPHS_WITH_ID = f"//*[@id='DisplayArea']//*[@id and ({_PARAGRAPHS})]"

_ADVICE = (
    "check the network and the mirror, or fetch the two .deb files elsewhere and name their folder "
    "(in a config: data.mirror, data.folder; for the command: --mirror, --folder)"
)
_TIMEOUT = 60  # seconds without data
_MAX_INDEX = 1 << 29  # bytes, unpacked; the index of a release has about 20 MB
_MAX_PACKAGE = 1 << 28

# An ar archive starts with this line; a header with fixed columns precedes each file.
_AR = b"!<arch>\n"
_AR_HEADER = re.compile(rb"(?P<name>.{16}).{12}.{6}.{6}.{8}(?P<size>[0-9]+) *`\n", re.DOTALL)


def fetch(
    source_language: str, target_language: str, output: Path, folder: Path | None, mirror: str, release: str
) -> tuple[int, dict[str, int]]:
    """Write ``source.gz``, ``target.gz``, ``task.gz`` and ``statistics.json`` to `output`, a folder.

    `folder` has the unpacked help or the two .deb files; without it, the packages are downloaded from a
    `mirror`. Languages are written as in Debian's package names: ``de``, ``en-us``.

    Returns the number of pairs, and counts: ``pages``, ``paragraphs`` (source paragraphs with text), and
    those dropped: ``no counterpart``, ``untranslated`` (both sides equal), ``duplicates``.
    """
    languages = source_language, target_language
    packages = [f"libreoffice-help-{language}" for language in languages]

    with tempfile.TemporaryDirectory(prefix="itersel.") as scratch:
        files: list[Path] = []
        if folder is None:
            files = _download(packages, Path(scratch, "download"), mirror, release)
        elif not folder.is_dir():
            raise InputError("no such folder", folder)
        elif any(folder.glob("*.deb")):
            for package in packages:
                # of several versions, the last by name
                found = sorted(folder.glob(f"{package}_*.deb"))[-1:]
                if not found:
                    raise InputError(f"contains no {package}_*.deb", folder)
                files += found

        for file in files:
            unpack(file, Path(scratch, "help"), ".html")
        pages = Path(scratch, "help") if files or folder is None else folder
        pairs, counts = _collect(*(_find_pages(pages, language) for language in languages))
        versions = [version(file) for file in files]

    for name, column in zip(("source", "target", "task"), zip(*pairs, strict=True), strict=True):
        write_lines(output / f"{name}.gz", column)

    packaged = dict(zip(packages, versions, strict=False))
    statistics = {"packages": packaged, "pairs": len(pairs), **counts}
    write_json(output / "statistics.json", statistics, indent=1)
    return len(pairs), counts


def _find_pages(folder: Path, language: str) -> Path:
    """Find the folder with the pages of one language, anywhere below `folder`."""
    for path, folders, _ in os.walk(folder):
        folders.sort()
        # Package names are in lower case (en-us), their folders are named like locales (en-US).
        if "text" in folders and Path(path).name.lower() == language:
            return Path(path) / "text"
    message = f"contains no folder {language}/text of help pages; unpack libreoffice-help-{language} here"
    raise InputError(message, folder)


def _collect(source: Path, target: Path) -> tuple[list[tuple[str, str, str]], dict[str, int]]:
    """Return the distinct pairs of each module below two folders of `_find_pages`, and counts."""
    counts = Counter({"pages": 0, "paragraphs": 0, "no counterpart": 0, "untranslated": 0, "duplicates": 0})
    found: dict[tuple[str, str, str], None] = {}

    for page in sorted(path.relative_to(source) for path in source.rglob("*.html")):
        counts["pages"] += 1
        ours = read_page(source / page)
        theirs = read_page(target / page) if (target / page).is_file() else {}
        often, as_often = (Counter(name for name, _ in paragraphs) for paragraphs in (ours, theirs))

        for (name, number), text in ours.items():
            if not text:
                continue
            counts["paragraphs"] += 1
            # Ids that occur more than once are aligned in order, if equally often in both languages.
            counterpart = theirs[name, number] if often[name] == as_often[name] else ""
            pair = text, counterpart, page.parts[0]

            if not counterpart:
                counts["no counterpart"] += 1
            elif text == counterpart:
                counts["untranslated"] += 1
            elif pair in found:
                counts["duplicates"] += 1
            else:
                found[pair] = None

    if not found:
        raise InputError("no paragraph has a counterpart in the other language; give two languages", source)
    return list(found), dict(counts)


def read_page(path: Path) -> dict[tuple[str, int], str]:
    """Return the texts of the paragraphs and headings of a page by id and occurrence of the id."""
    occurrences: dict[str, int] = defaultdict(int)
    page = {}

    # read here, because an OSError of lxml does not name the file
    content = path.read_bytes()
    try:
        document = html.document_fromstring(content, parser=html.HTMLParser(encoding="utf-8"))
    except etree.LxmlError:
        raise InputError("is empty or no HTML page; unpack the help again", path) from None

    for element in document.xpath(_PARAGRAPHS_WITH_ID):
        name = element.get("id")
        page[name, occurrences[name]] = clean_text("".join(_texts(element)))
        occurrences[name] += 1
    return page


def _texts(element: html.HtmlElement) -> Iterator[str]:
    yield element.text or ""
    for child in _shown(element):
        if child.tag == "br":
            yield " "
        elif isinstance(child.tag, str):  # comments have no id
            yield from _texts(child)
        yield child.tail or ""


def _shown(element: html.HtmlElement) -> list[html.HtmlElement]:
    """Return the children of an element; of variants (by system or module), only the default or the first."""
    children = list(element)
    if "switchinline" not in (element.get("class") or ""):
        return children
    return [child for child in children if (child.get("id") or "").startswith("default")] or children[:1]


# ---- Debian packages


def _download(packages: Sequence[str], folder: Path, mirror: str, release: str) -> list[Path]:
    """Download packages without their dependencies; sizes and digests are checked against the index."""
    entries = _index(packages, mirror, release)
    folder.mkdir(parents=True, exist_ok=True)
    files = []

    for entry in entries:
        address = f"{mirror.rstrip('/')}/{entry['Filename']}"
        content = _fetch(address, min(int(entry["Size"]), _MAX_PACKAGE))
        if hashlib.sha256(content).hexdigest() != entry["SHA256"]:
            why = f"{address} is damaged: its digest is not the one in the mirror's index"
            raise InputError(f"{why}; {_ADVICE}")

        files.append(folder / PurePosixPath(entry["Filename"]).name)
        files[-1].write_bytes(content)
    return files


def unpack(package: Path, folder: Path, suffix: str) -> None:
    """Unpack the files of a .deb whose names end in `suffix` into `folder`."""
    for name, stream in _members(package, "data"):
        if name.endswith(suffix):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts:
                raise InputError(f"has a file outside of the folder: {name}", package)
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(stream.read())


def version(package: Path) -> str:
    """Return the version of a .deb."""
    for name, stream in _members(package, "control"):
        if PurePosixPath(name).name == "control":
            return HeaderParser().parsestr(stream.read().decode(errors="replace")).get("Version", "")
    return ""


def _index(packages: Sequence[str], mirror: str, release: str) -> list[dict[str, str]]:
    """Return the entries of packages in the index of a release."""
    address = f"{mirror.rstrip('/')}/dists/{release}/main/binary-all/Packages.xz"
    try:
        with lzma.open(io.BytesIO(_fetch(address, _MAX_INDEX))) as stream:
            unpacked = stream.read(_MAX_INDEX + 1)
    except (lzma.LZMAError, EOFError):
        raise InputError(f"{address} is damaged or truncated; {_ADVICE}") from None
    if len(unpacked) > _MAX_INDEX:
        raise InputError(f"{address} has more than {_MAX_INDEX >> 20} MB; {_ADVICE}")

    text = unpacked.decode(errors="replace")
    entries = []
    for package in packages:
        found = re.search(rf"^Package: {re.escape(package)}\n(.+\n)*", text, re.MULTILINE)
        entry = dict(HeaderParser().parsestr(found[0])) if found else {}
        if not ({"Filename", "Size", "SHA256"} <= entry.keys() and entry["Size"].isdecimal()):
            raise InputError(f"Debian {release} has no package {package}; check the languages")
        entries.append(entry)
    return entries


def _fetch(address: str, size: int) -> bytes:
    """Return the content at a URL, at most `size` bytes."""
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as response:
            content: bytes = response.read(size)
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(f"cannot fetch {address} ({reason}); {_ADVICE}") from None
    return content


def _members(package: Path, part: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield names and contents of the files in one of the two archives of a .deb, ``control`` or ``data``."""
    archive = _archive(package, part)
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r|*") as files:
            for member in files:
                stream = files.extractfile(member) if member.isfile() else None
                if stream is not None:
                    yield member.name, stream
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise InputError(f"cannot be unpacked ({error}); fetch it again", package) from None


def _archive(package: Path, part: str) -> bytes:
    """Return the archive ``<part>.tar.*`` in a .deb, which is an ar archive."""
    content = package.read_bytes()
    position = len(_AR)
    while content.startswith(_AR) and (header := _AR_HEADER.match(content, position)) is not None:
        position = header.end()
        size = int(header["size"])
        name = header["name"].decode(errors="replace").strip().rstrip("/")

        if name.startswith(f"{part}.tar"):
            if name.endswith(".zst"):
                why = "is packed with zstd, as Ubuntu does; unpack it and name the folder of its files"
                raise InputError(why, package)
            return content[position : position + size]

        position += size + size % 2
    raise InputError("is no Debian package; fetch it again", package)
