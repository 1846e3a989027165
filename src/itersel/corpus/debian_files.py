"""Files of a Debian mirror, whose digests are checked, and packages (.deb), which are unpacked in Python."""

from __future__ import annotations

import bz2
import gzip
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

_PACKAGE_ADVICE = (
    "check the network and the mirror, or fetch the two .deb files elsewhere and name their folder "
    "(in a config: data.mirror, data.folder; for the command: --mirror, --folder)"
)
_MIRROR_ADVICE = "check the network, the mirror and the release"
_TIMEOUT = 60  # seconds without data
_MAX_INDEX = 1 << 29  # bytes, unpacked; the index of a release has about 20 MB
_MAX_PACKAGE = 1 << 28

# How the files of a release may be compressed, the best first, and the exceptions if one is damaged.
_COMPRESSED = {".xz": lzma.decompress, ".bz2": bz2.decompress, ".gz": gzip.decompress}
_DAMAGED = (lzma.LZMAError, OSError, EOFError, ValueError)
# The line of a file in ``Release``: digest, bytes, name.
_RELEASE_LINE = re.compile(r"^ (?P<digest>[0-9a-f]{64}) +(?P<size>[0-9]+) (?P<name>\S+)$", re.MULTILINE)

# An ar archive starts with this line; a header with fixed columns precedes each file.
_AR = b"!<arch>\n"
_AR_HEADER = re.compile(rb"(?P<name>.{16}).{12}.{6}.{6}.{8}(?P<size>[0-9]+) *`\n", re.DOTALL)


def download(packages: Sequence[str], folder: Path, mirror: str, release: str) -> list[Path]:
    """Download packages without their dependencies; sizes and digests are checked against the index."""
    entries = _index(packages, mirror, release)
    folder.mkdir(parents=True, exist_ok=True)
    files = []

    for entry in entries:
        address = f"{mirror.rstrip('/')}/{entry['Filename']}"
        most = min(int(entry["Size"]), _MAX_PACKAGE)
        content = _fetch_checked(address, most, entry["SHA256"], _PACKAGE_ADVICE)
        files.append(folder / PurePosixPath(entry["Filename"]).name)
        files[-1].write_bytes(content)
    return files


def fetch_release_file(mirror: str, release: str, name: str) -> str:
    """Return the text of a file of a release, such as ``main/binary-amd64/Packages``, unpacked.

    Its digest is checked against the one in the release's file ``Release``.
    """
    folder = f"{mirror.rstrip('/')}/dists/{release}"
    listed = _fetch(f"{folder}/Release", _MAX_INDEX, _MIRROR_ADVICE).decode(errors="replace")
    found = {match["name"]: match for match in _RELEASE_LINE.finditer(listed)}
    ending = next((ending for ending in _COMPRESSED if name + ending in found), None)
    if ending is None:
        raise InputError(f"{folder}/Release names no {name}{' or '.join(_COMPRESSED)}; {_MIRROR_ADVICE}")

    file = found[name + ending]
    address = f"{folder}/{file['name']}"
    most = min(int(file["size"]), _MAX_INDEX)
    content = _fetch_checked(address, most, file["digest"], _MIRROR_ADVICE)
    try:
        return _COMPRESSED[ending](content).decode()
    except _DAMAGED as error:
        raise InputError(f"{address} cannot be unpacked ({error}); {_MIRROR_ADVICE}") from None


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
        with lzma.open(io.BytesIO(_fetch(address, _MAX_INDEX, _PACKAGE_ADVICE))) as stream:
            unpacked = stream.read(_MAX_INDEX + 1)
    except (lzma.LZMAError, EOFError):
        raise InputError(f"{address} is damaged or truncated; {_PACKAGE_ADVICE}") from None
    if len(unpacked) > _MAX_INDEX:
        raise InputError(f"{address} has more than {_MAX_INDEX >> 20} MB; {_PACKAGE_ADVICE}")

    text = unpacked.decode(errors="replace")
    entries = []
    for package in packages:
        found = re.search(rf"^Package: {re.escape(package)}\n(.+\n)*", text, re.MULTILINE)
        entry = dict(HeaderParser().parsestr(found[0])) if found else {}
        if not ({"Filename", "Size", "SHA256"} <= entry.keys() and entry["Size"].isdecimal()):
            raise InputError(f"Debian {release} has no package {package}; check the languages")
        entries.append(entry)
    return entries


def _fetch_checked(address: str, most: int, digest: str, advice: str) -> bytes:
    """Return the content at a URL, whose digest (SHA-256) is known."""
    content = _fetch(address, most, advice)
    if hashlib.sha256(content).hexdigest() != digest:
        why = f"{address} is damaged: its digest is not the one in the mirror's index"
        raise InputError(f"{why}; {advice}")
    return content


def _fetch(address: str, most: int, advice: str) -> bytes:
    """Return the content at a URL, at most `most` bytes."""
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as response:
            content: bytes = response.read(most)
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(f"cannot fetch {address} ({reason}); {advice}") from None
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
