"""The provenance of a run: its config and package versions."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import itersel
from itersel.config import read_config
from itersel.config.reading import CHOICES
from itersel.errors import InputError
from itersel.report.page.folder import RUN, read_optional
from itersel.storage.files import write_lines

# Packages on which results, or the bytes of their files, depend.
PACKAGES = ("numpy", "scipy", "numba", "h5py", "deflate", "sacrebleu", "sacremoses", "snakemake")


def write_run(results: Path, config: Mapping[str, Any]) -> None:
    """Write the config of a run that starts, as in the YAML file, and the versions, if they have changed."""
    path = results / RUN
    text = json.dumps({"config": config, "versions": versions()}, indent=2, ensure_ascii=False)
    if not path.is_file() or path.read_text(encoding="utf-8") != text + "\n":
        write_lines(path, [text])


def versions() -> dict[str, str]:
    """Return the versions of Python, this package, and the packages on which results depend."""
    found = {"itersel": itersel.__version__, "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def read_run(results: Path) -> dict[str, Any]:
    """Return the description of a run; empty if it was not written.

    Raises
    ------
    InputError
        If the file was not written by `write_run`.
    """
    content = read_optional(results / RUN)
    if content is None:
        return {}
    if not isinstance(content, dict) or not isinstance(content.get("config"), dict):
        raise InputError("is not the description of a run; delete it and run snakemake again", results / RUN)
    return content


def describe_config(content: object) -> dict[str, Any]:
    """Return a config as YAML, and each value that differs from its default.

    Returns
    -------
    dict
        ``yaml``: the config file; ``changed``: rows of key, value, default, without values that follow from
        others.
    """
    import yaml  # type: ignore[import-untyped]

    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    given = [*_keys(content, "")]
    changed = [
        list(row)
        for row in _changed(read_config(content), "")
        if any(f"{key}.".startswith(f"{row[0]}.") for key in given)
    ]
    return {"yaml": text, "changed": changed}


def _keys(content: object, key: str) -> Iterable[str]:
    """Yield the keys of all values of a config file."""
    if not isinstance(content, Mapping) or not content:
        yield key
        return
    for name, value in content.items():
        yield from _keys(value, f"{key}.{name}" if key else str(name))


def _changed(section: Any, key: str) -> Iterable[tuple[str, str, str]]:
    """Yield key, value and default of values that differ from the defaults, including nested sections."""
    for item in fields(section):
        value, name = getattr(section, item.name), f"{key}{item.name}"
        if isinstance(value, dict) and value and all(is_dataclass(one) for one in value.values()):
            for entry, one in value.items():
                yield from _changed(one, f"{name}.{entry}." if entry else f"{name}.")
        elif is_dataclass(value):
            yield from _changed_kind(item, value, name)
            yield from _changed(value, f"{name}.")
        elif (default := _default(item)) is MISSING or value != default:
            yield name, _text(value), "" if default is MISSING else _text(default)


def _changed_kind(item: Field[Any], value: Any, name: str) -> Iterable[tuple[str, str, str]]:
    """Yield the name of the chosen section, if several are possible and it is not the default."""
    if item.name in CHOICES:
        names = {kind: one for one, kind in CHOICES[item.name].items()}
        default = _default(item)
        if type(value) is not type(default):
            yield f"{name}.name", names[type(value)], names.get(type(default), "")


def _default(item: Field[Any]) -> Any:
    return item.default_factory() if item.default_factory is not MISSING else item.default


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
