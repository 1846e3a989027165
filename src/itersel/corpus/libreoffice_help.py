"""The LibreOffice Help as parallel text, from Debian or from a folder.

Debian's packages ``libreoffice-help-<language>`` contain the same HTML pages in every language: page names
and the ids of paragraphs and headings are the same, so paragraphs align exactly. The folder of a page
(swriter, scalc, ...) is the LibreOffice module that it belongs to, which serves as its label.

Packages are downloaded and unpacked in Python, on any system.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from lxml import etree, html

from itersel.corpus.debian import DEBIAN_MIRROR, DEBIAN_RELEASE
from itersel.corpus.debian_files import download, unpack, version
from itersel.corpus.text import clean_text
from itersel.corpus.text_names import HELP_COLUMNS, STATISTICS, collected_file
from itersel.errors import InputError
from itersel.storage.files import write_lines
from itersel.storage.json_files import write_json

_PARAGRAPHS = " or ".join(f"self::{tag}" for tag in ("p", "h1", "h2", "h3", "h4", "h5", "h6"))
# The rest of a page is navigation, whose ids differ between languages.
_PARAGRAPHS_WITH_ID = f"//*[@id='DisplayArea']//*[@id and ({_PARAGRAPHS})]"


def fetch(
    source_language: str,
    target_language: str,
    output: Path,
    folder: Path | None = None,
    mirror: str = DEBIAN_MIRROR,
    release: str = DEBIAN_RELEASE,
) -> tuple[int, dict[str, int]]:
    """Write ``source.gz``, ``target.gz``, ``labels.gz`` and ``statistics.json`` to `output`, a folder.

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
            files = download(packages, Path(scratch, "download"), mirror, release)
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

    for name, column in zip(HELP_COLUMNS, zip(*pairs, strict=True), strict=True):
        write_lines(output / collected_file(name), column)

    packaged = dict(zip(packages, versions, strict=False))
    statistics = {"packages": packaged, "pairs": len(pairs), **counts}
    write_json(output / STATISTICS, statistics, indent=1)
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
