"""The description of a run in its folder of results: its config and the versions of packages."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from itersel import __version__
from itersel.config.plain import recorded
from itersel.config.reading import read_config
from itersel.config.rendering import plain_yaml
from itersel.config.values import Config
from itersel.errors import InputError
from itersel.report.folder import read_optional
from itersel.results import RUN
from itersel.storage.files import write_lines
from itersel.storage.json_files import check_texts

# Written when the workflow starts, like `RUN`: the config with the value of every key that jobs use.
RESOLVED = "config.yaml"
# Packages whose versions are recorded: first those on which results depend (and on Python, with its tables of
# Unicode), then those on which only the bytes of files or the order of jobs depend.
OF_RESULTS = ("numpy", "scipy", "numba", "sacrebleu", "sacremoses", "regex", "lxml")
PACKAGES = (*OF_RESULTS, "h5py", "deflate", "snakemake")


def current_versions() -> dict[str, str]:
    """Return the versions of itersel, Python and the packages that matter."""
    versions = {"itersel": __version__, "Python": platform.python_version()}
    return versions | {package: version(package) for package in PACKAGES}


def write_run(results: Path, given: Mapping[str, Any], config: Config) -> None:
    """When a run starts, write its config, settings and versions, unless they are unchanged.

    `given` is the content of the YAML file. `config` has the values that jobs use; of these, `recorded`
    leaves out keys that change no result. Versions of earlier runs are kept as ``earlier``, because some
    results may have been made with them.
    """
    versions = current_versions()
    before, earlier = _recorded_versions(results)
    # packages that one of them did not record may have been the same
    others = [other for other in (*earlier, before) if _differing(other, versions)]
    earlier = [other for number, other in enumerate(others) if other not in others[number + 1 :]]
    content: dict[str, Any] = {"config": given, "settings": recorded(config), "versions": versions}
    content |= {"earlier": earlier} if earlier else {}
    _write_changed(results / RUN, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def write_config(results: Path, config: Config) -> None:
    """Write the value of every key that the jobs of a run use, if they have changed."""
    _write_changed(results / RESOLVED, plain_yaml(config))


def _write_changed(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_lines(path, [text.removesuffix("\n")])


def other_versions(results: Path) -> str:
    """Return which packages that results depend on had other versions in the last run, or ''."""
    versions = current_versions()
    before, _ = _recorded_versions(results)
    differing = _differing(before, versions)
    return ", ".join(
        f"{name} {before[name]} (now {versions[name]})"
        for name in ("Python", *OF_RESULTS)
        if name in differing
    )


def _differing(before: Mapping[str, str], versions: Mapping[str, str]) -> list[str]:
    """Return the packages that both name, with different versions."""
    return [name for name, one in before.items() if versions.get(name, one) != one]


def _recorded_versions(results: Path) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the versions of the last run, and of earlier runs; nothing if they were not recorded."""
    try:
        found = read_run(results)
    except InputError:
        # the run that starts writes it again
        found = {}
    return found.get("versions", {}), found.get("earlier", [])


def read_run(results: Path) -> dict[str, Any]:
    """Return the description of a run; empty if it was not written."""
    otherwise = (
        "is not the description of a run, or one of an earlier version; delete it and run snakemake again"
    )
    return read_optional(results / RUN, _checked_run, otherwise) or {}


def settings_of(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a finished run, by key: those that it recorded, else those of its config."""
    # an earlier version did not record them
    settings: dict[str, Any] = description.get("settings") or recorded(read_config(description["config"]))
    return settings


def _checked_run(content: Any) -> dict[str, Any]:
    """Return this if it has a config, its settings, and versions of now and earlier, or raise an error."""
    settings = content.get("settings", {})
    experiments = settings.get("experiments", {})
    versions = [content.get("versions", {}), *content.get("earlier", [])]
    sections = [content["config"], settings, experiments, *experiments.values(), *versions]
    if not all(isinstance(section, dict) for section in sections):
        raise TypeError
    check_texts(version for packages in versions for version in packages.values())
    # an earlier version did not record settings
    if settings:
        check_texts((settings["name"], settings["evaluation"]["retokenize"]))

    found: dict[str, Any] = content
    return found
