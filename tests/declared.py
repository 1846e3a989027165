"""Folders of divided text whose files have been changed on purpose, with a declaration that says so."""

import gzip
from pathlib import Path

import xxhash

from itersel.storage.declared import DECLARATION, HEADER


def redeclare(folder: Path) -> Path:
    """Declare the files of a folder as they are now; it may be a link."""
    rows = [HEADER]
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.name != DECLARATION:
            content = path.read_bytes()
            text = gzip.decompress(content) if path.suffix == ".gz" else content
            count, digest = text.count(b"\n"), xxhash.xxh3_128_hexdigest(text)
            rows.append(f"{path.name}\t{count}\t{digest}")
    (folder / DECLARATION).unlink(missing_ok=True)
    (folder / DECLARATION).write_text("".join(f"{row}\n" for row in rows))
    return folder
