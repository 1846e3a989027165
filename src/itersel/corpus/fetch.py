"""Get the LibreOffice Help in two languages, from Debian or from a folder, and write it as parallel text."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from itersel.corpus import debian
from itersel.corpus.libreoffice_help import Collection, check_language, collect, find_pages
from itersel.errors import InputError
from itersel.limits import DEBIAN_MIRROR, DEBIAN_RELEASE
from itersel.storage.files import open_output, write_lines


def fetch(
    source_language: str,
    target_language: str,
    output: Path,
    folder: Path | None = None,
    mirror: str = DEBIAN_MIRROR,
    release: str = DEBIAN_RELEASE,
) -> Collection:
    """Write ``source.gz``, ``target.gz``, ``task.gz`` and ``statistics.json`` to `output`.

    Parameters
    ----------
    source_language, target_language
        As in Debian's package names: ``de``, ``en-us``.
    output
        A folder; created if missing.
    folder
        Folder with the unpacked help or the two .deb files; None downloads the packages.
    mirror, release
        Where to download them from; see `debian.download`.

    Raises
    ------
    InputError
        If the packages are not available, or contain no help pages in these languages.
    """
    languages = [check_language(language) for language in (source_language, target_language)]
    packages = [f"libreoffice-help-{language}" for language in languages]
    with tempfile.TemporaryDirectory(prefix="itersel.") as scratch:
        files: list[Path] = []
        if folder is None:
            files = debian.download(packages, Path(scratch, "download"), mirror, release)
        elif not folder.is_dir():
            raise InputError("no such folder", folder)
        elif any(folder.glob("*.deb")):
            files = [debian.find_package(package, folder) for package in packages]
        for file in files:
            debian.unpack(file, Path(scratch, "help"), ".html")
        pages = Path(scratch, "help") if files or folder is None else folder
        collection = collect(*(find_pages(pages, language) for language in languages))
        versions = [debian.version(file) for file in files]
    for name, column in collection.bitext.columns().items():
        write_lines(output / f"{name}.gz", column)
    with open_output(output / "statistics.json") as stream:
        packaged = dict(zip(packages, versions, strict=False))
        json.dump(
            {"packages": packaged, "pairs": collection.bitext.size, **collection.counts}, stream, indent=1
        )
        stream.write("\n")
    return collection
