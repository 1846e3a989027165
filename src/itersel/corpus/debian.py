"""Download Debian packages from a mirror and unpack them in Python, on any system."""

from __future__ import annotations

import hashlib
import http.client
import io
import lzma
import re
import tarfile
import urllib.request
from collections.abc import Iterator, Sequence
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath
from typing import IO

from itersel.errors import InputError
from itersel.limits import DEBIAN_MIRROR, DEBIAN_RELEASE

_ADVICE = (
    "check the network and the mirror, or fetch the two .deb files elsewhere and name their folder "
    "(in a config: data.mirror, data.folder; for the command: --mirror, --from)"
)
_TIMEOUT = 60  # seconds without data
_MAX_INDEX = 1 << 29  # bytes, unpacked; the index of a release has about 20 MB
_MAX_PACKAGE = 1 << 28

# An ar archive starts with this line; a header with fixed columns precedes each file.
_AR = b"!<arch>\n"
_AR_HEADER = re.compile(rb"(?P<name>.{16}).{12}.{6}.{6}.{8}(?P<size>[0-9]+) *`\n", re.DOTALL)
_AR_HEADER_BYTES = 60


def download(
    packages: Sequence[str], folder: Path, mirror: str = DEBIAN_MIRROR, release: str = DEBIAN_RELEASE
) -> list[Path]:
    """Download packages without their dependencies; returns the .deb files in the order of `packages`.

    Size and SHA-256 digest of each file are checked against the mirror's index.

    Parameters
    ----------
    packages
        Names of packages for all architectures.
    folder
        Where to write; created if missing.
    mirror, release
        URL of a mirror, and name of a release, such as ``bookworm``.

    Raises
    ------
    InputError
        If the mirror cannot be reached, lacks a package, or serves damaged files.
    """
    entries = _index(f"{mirror.rstrip('/')}/dists/{release}/main/binary-all/Packages.xz", packages)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for package in packages:
        if package not in entries:
            raise InputError(f"Debian {release} has no package {package}; check the languages")
        entry = entries[package]
        address = f"{mirror.rstrip('/')}/{entry['Filename']}"
        content = _fetch(address, min(int(entry["Size"]), _MAX_PACKAGE))
        if hashlib.sha256(content).hexdigest() != entry["SHA256"]:
            raise InputError(
                f"{address} is damaged: its digest is not the one in the mirror's index; {_ADVICE}"
            )
        files.append(folder / PurePosixPath(entry["Filename"]).name)
        files[-1].write_bytes(content)
    return files


def find_package(package: str, folder: Path) -> Path:
    """Return the .deb file of a package in `folder`; of several versions, the last by name."""
    files = sorted(folder.glob(f"{package}_*.deb"))
    if not files:
        raise InputError(f"holds no {package}_*.deb", folder)
    return files[-1]


def unpack(package: Path, folder: Path, suffix: str) -> None:
    """Unpack the files of a .deb whose names end in `suffix` into `folder`.

    Raises
    ------
    InputError
        If the file is not a valid package.
    """
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


def _index(address: str, packages: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the entries of packages in the index of a release."""
    try:
        decompressor = lzma.LZMADecompressor()
        text = decompressor.decompress(_fetch(address, _MAX_INDEX), _MAX_INDEX).decode(errors="replace")
    except lzma.LZMAError:
        raise InputError(f"{address} is damaged; {_ADVICE}") from None
    if not decompressor.eof:
        raise InputError(f"{address} is truncated; {_ADVICE}")
    entries = {}
    for package in packages:
        found = re.search(rf"^Package: {re.escape(package)}\n(.+\n)*", text, re.MULTILINE)
        fields = dict(HeaderParser().parsestr(found[0])) if found else {}
        if {"Filename", "Size", "SHA256"} <= fields.keys() and fields["Size"].isdecimal():
            entries[package] = fields
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
        position += _AR_HEADER_BYTES
        size = int(header["size"])
        name = header["name"].decode(errors="replace").strip().rstrip("/")
        if name.startswith(f"{part}.tar"):
            if name.endswith(".zst"):
                raise InputError(
                    "is packed with zstd, as Ubuntu does; unpack it and name the folder of its files",
                    package,
                )
            return content[position : position + size]
        position += size + size % 2
    raise InputError("is no Debian package; fetch it again", package)
