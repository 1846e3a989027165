"""Checks a site: every link and picture leads somewhere, and nothing is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, by tag: the attribute with the address.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class _Page(HTMLParser):
    """The addresses and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to."""
        values = {name: value for name, value in attrs if value is not None}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        address = values.get(LOADED.get(tag, ""))
        if address and values.get("rel") != "canonical":
            self.loaded.append(address)


def find_faults(site: Path) -> list[str]:
    """Return one line for each address of a site that leads nowhere, or is loaded from elsewhere."""
    pages = {path: _Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    # its links begin with /, as nobody knows where it is shown
    pages.pop(site / "404.html", None)
    return [f"{path.relative_to(site)}: {fault}" for path in pages for fault in _faults(path, pages)]


def _faults(path: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    page = pages[path]
    for address in page.loaded:
        if urlsplit(address).netloc:
            yield f"loads {address}, which is not part of the site"
    for address in [*page.links, *page.loaded]:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        if not target.is_file():
            yield f"links to {address}, but there is no such file"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
            yield f"links to {address}, but there is no such place"
