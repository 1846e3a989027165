"""Hooks of MkDocs: pages that are not in docs/, and a check of all links of the finished site."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from commands import command_reference
from links import find_faults
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
# Files of the project that are pages of the site. On a forge they are read where they are.
PROJECT_PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
    "packages/snakemake-executor-plugin-arrays/README.md": "executor.md",
}
API_PAGE = "reference.md"
# Stands for the address of a file that is no page of the site.
NO_PAGE = "no-page"
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_DEAD_LINK = re.compile(rf"\[([^\]]*)\]\({NO_PAGE}\)")
_CODE_IN_TABLE = re.compile(r"^\|.*$", re.M)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    pages = {page: (ROOT / source).read_text() for source, page in PROJECT_PAGES.items()}
    pages |= {"commands.md": command_reference(), API_PAGE: api_reference()}
    for page, text in pages.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links between files of the project, as forges follow them, to pages of the site."""
    name = page.file.src_uri
    origins = {site: source for source, site in PROJECT_PAGES.items()}
    folder = posixpath.dirname(origins.get(name, f"docs/{name}"))

    def replace(found: re.Match[str]) -> str:
        address, _, anchor = found[2].partition("#")
        if not address or ":" in address:
            return found[0]
        target = posixpath.normpath(posixpath.join(folder, address))
        if (ROOT / target).is_dir():
            target += "/README.md"
        if target in PROJECT_PAGES:
            address = PROJECT_PAGES[target]
        elif target.startswith("docs/"):
            address = target.removeprefix("docs/")
        if files.get_file_from_path(address) is None and (ROOT / target).is_file():
            # a file of the project that is no page: its name is enough
            return f"]({NO_PAGE})"
        return f"]({address}{'#' * bool(anchor)}{anchor})"

    return _CODE_IN_TABLE.sub(_plain_pipes, _DEAD_LINK.sub(r"\1", _LINK.sub(replace, markdown)))


def _plain_pipes(row: re.Match[str]) -> str:
    """Return a row of a table without the backslashes that only forges need before a pipe in code."""
    return re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), row[0])


def api_reference() -> str:
    """Return the page of all names that `itersel` exports, for mkdocstrings, and the keys of settings."""
    import itersel
    from itersel.config.rendering import key_table

    names = sorted(name for exported in itersel._MODULES.values() for name in exported)
    functions = [name for name in names if name[0].islower()]
    classes = [name for name in names if name[0].isupper()]
    lines = [
        "# Python reference",
        "",
        "All names are imported from `itersel`. [api.md](api.md) has an example.",
        "",
    ]
    for title, members in (("Functions", functions), ("Classes", classes)):
        lines += [f"## {title}", ""]
        for name in members:
            module = getattr(itersel, name).__module__
            lines += [f"::: {module}.{name}", ""]
            if module.startswith("itersel.config."):
                lines += [*key_table(getattr(itersel, name)), ""]
    return "\n".join(lines)


def on_post_build(config: MkDocsConfig) -> None:
    """Check the finished site: links that lead nowhere, and anything that is loaded from elsewhere."""
    if faults := find_faults(Path(config.site_dir)):
        raise PluginError("\n".join(faults))
