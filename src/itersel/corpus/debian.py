"""Debian packages without root: ``apt-get download`` and ``dpkg-deb -x`` into folders of one's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from itersel.errors import InputError

_ADVICE = "or fetch the packages elsewhere and name their folder with --from"


def download(packages: Sequence[str], folder: Path) -> list[Path]:
    """Download packages into `folder`; returns the .deb files in the order of `packages`.

    The machine's own package lists are tried first. Where they are empty or out of date (as in fresh
    containers), apt gets a private state folder and fetches lists of its own.

    Raises
    ------
    InputError
        If apt is missing or does not get the packages.
    """
    _require("apt-get")
    folder.mkdir(parents=True, exist_ok=True)
    if _run(["apt-get", "download", *packages], folder).returncode != 0:
        private = _private_state(folder / "apt")
        # Not checked: one broken third-party source fails the update, yet the package may be there.
        update = _run(["apt-get", *private, "update"], folder)
        result = _run(["apt-get", *private, "download", *packages], folder)
        if result.returncode != 0:
            reason = _last_error(result.stderr) or _last_error(update.stderr)
            wanted = " ".join(packages)
            raise InputError(
                f"apt-get download {wanted} failed ({reason}); check languages and network, {_ADVICE}"
            )
    return [find_package(package, folder) for package in packages]


def find_package(package: str, folder: Path) -> Path:
    """Return the file of a package in `folder`, the last one by name if there are several versions."""
    files = sorted(folder.glob(f"{package}_*.deb"))
    if not files:
        raise InputError(f"holds no {package}_*.deb", folder)
    return files[-1]


def unpack(package: Path, folder: Path) -> None:
    """Unpack the files of a .deb below `folder`."""
    _require("dpkg-deb")
    result = _run(["dpkg-deb", "-x", str(package.absolute()), str(folder.absolute())], package.parent)
    if result.returncode != 0:
        raise InputError(
            f"dpkg-deb cannot unpack it ({_last_error(result.stderr)}); download it again", package
        )


def version(package: Path) -> str:
    """Return the version of a .deb, for the record."""
    return _run(["dpkg-deb", "-f", str(package.absolute()), "Version"], package.parent).stdout.strip()


def _private_state(folder: Path) -> list[str]:
    """Return apt options that keep lists and caches below `folder`, which any user may write."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    # `status` is what is installed; an empty one serves, since only files are wanted.
    (folder / "status").touch()
    settings = {
        "Dir::State": folder / "state",
        "Dir::State::Lists": folder / "state/lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        # As root, apt would fetch as the user _apt, who may not write here.
        "APT::Sandbox::User": "root",
    }
    return [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]


def _require(program: str) -> None:
    if shutil.which(program) is None:
        raise InputError(
            f"{program} is not on this machine (it is part of Debian and Ubuntu); use one of those, {_ADVICE}"
        )


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    # C.UTF-8: _last_error looks for apt's words in English.
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def _last_error(output: str) -> str:
    errors = [line for line in output.splitlines() if line.startswith(("E:", "dpkg-deb: error"))]
    return errors[0].strip() if errors else ""
