"""The LibreOffice Help as parallel text.

Debian's packages ``libreoffice-help-<language>`` contain the same HTML pages in every language: page names
and the ids of paragraphs and headings are the same, so paragraphs align exactly. The folder of a page
(swriter, scalc, ...) is the LibreOffice module that it belongs to, which serves as its natural task.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lxml import etree, html

from itersel.corpus.text import Bitext, clean_text
from itersel.errors import InputError
from itersel.limits import LANGUAGE_PATTERN

_PARAGRAPHS = " or ".join(f"self::{tag}" for tag in ("p", "h1", "h2", "h3", "h4", "h5", "h6"))
# The rest of a page is navigation, whose ids differ between languages.
_PARAGRAPHS_WITH_ID = f"//*[@id='DisplayArea']//*[@id and ({_PARAGRAPHS})]"

Page = dict[tuple[str, int], str]


class Collection(NamedTuple):
    """The aligned paragraphs of two languages, with counts.

    Attributes
    ----------
    bitext
        The distinct pairs of each module, with the module as task, in the order of the source pages.
    counts
        ``pages``, ``paragraphs`` (source paragraphs with text), and the paragraphs that were dropped:
        ``no counterpart``, ``untranslated`` (both sides equal), ``duplicates``.
    """

    bitext: Bitext
    counts: dict[str, int]


def check_language(language: str) -> str:
    """Return a language code as in Debian's package names, such as ``de`` or ``pt-br``."""
    if not re.fullmatch(LANGUAGE_PATTERN, language):
        raise InputError(f"'{language}' is not a language code; write it as Debian does, as de or en-us")
    return language


def find_pages(folder: Path, language: str) -> Path:
    """Find the folder with the pages of one language, anywhere below `folder`.

    Raises
    ------
    InputError
        If there is no ``<language>/text`` below `folder`.
    """
    for path, folders, _ in os.walk(folder):
        folders.sort()
        # Package names are in lower case (en-us), their folders are named like locales (en-US).
        if "text" in folders and Path(path).name.lower() == language:
            return Path(path) / "text"
    message = f"holds no folder {language}/text of help pages; unpack libreoffice-help-{language} here"
    raise InputError(message, folder)


def collect(source: Path, target: Path) -> Collection:
    """Align the pages below two folders of `find_pages`."""
    counts = Counter({"pages": 0, "paragraphs": 0, "no counterpart": 0, "untranslated": 0, "duplicates": 0})
    found: dict[tuple[str, str, str], None] = {}
    for page in _page_names(source):
        counts["pages"] += 1
        target_page = read_page(target / page) if (target / page).is_file() else {}
        for source_text, target_text in _aligned(read_page(source / page), target_page):
            counts["paragraphs"] += 1
            pair = (source_text, target_text, page.parts[0])
            if not target_text:
                counts["no counterpart"] += 1
            elif source_text == target_text:
                counts["untranslated"] += 1
            elif pair in found:
                counts["duplicates"] += 1
            else:
                found[pair] = None
    if not found:
        raise InputError("no paragraph has a counterpart in the other language; give two languages", source)
    sources, targets, tasks = zip(*found, strict=True)
    return Collection(Bitext(list(sources), list(targets), list(tasks)), dict(counts))


def _page_names(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*.html"))


def _aligned(source: Page, target: Page) -> Iterator[tuple[str, str]]:
    """Yield each source paragraph with its counterpart, or with an empty string if it has none.

    A few ids occur more than once on a page. They are aligned in order if they occur equally often in both
    languages; otherwise their alignment is unknown, and they have no counterpart.
    """
    source_count, target_count = (Counter(name for name, _ in page) for page in (source, target))
    for key, text in source.items():
        if text:
            equal = source_count[key[0]] == target_count[key[0]]
            yield text, target[key] if equal else ""


def read_page(path: Path) -> Page:
    """Return the texts of the paragraphs and headings of a page by id and occurrence of the id.

    Raises
    ------
    InputError
        If the file is empty or not a page.
    OSError
        If it cannot be read.
    """
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
