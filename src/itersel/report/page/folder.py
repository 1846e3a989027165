"""A folder of results, finished or not: its experiments, their config and the versions of packages."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import itersel
from itersel.config.experiments import split_repeat
from itersel.config.forms import FormNames, default_forms
from itersel.config.grids import without_grids
from itersel.config.options import default_of, name_in
from itersel.config.plain import recorded
from itersel.config.rendering import plain_yaml
from itersel.config.values import Config, Experiment
from itersel.errors import InputError, checked
from itersel.results import EXPERIMENTS, RUN
from itersel.storage.files import write_lines
from itersel.storage.json_files import check_texts, read_json

# Written when the workflow starts, like `RUN`: the config with the value of every key that jobs use.
RESOLVED = "config.yaml"
# Locked by the workflow while it runs; its modification time is when the workflow last started.
LOCK = ".lock"
# Packages whose versions are recorded: first those on which results depend (and on Python, with its tables of
# Unicode), then those on which only the bytes of files or the order of jobs depend.
OF_RESULTS = ("numpy", "scipy", "numba", "sacrebleu", "sacremoses", "regex", "lxml")
PACKAGES = (*OF_RESULTS, "h5py", "deflate", "snakemake")


class Repeat(NamedTuple):
    """A repeat of an experiment, in a folder called `name`."""

    name: str
    experiment: str
    number: int  # from 1
    folder: Path


def find_repeats(results: Path, order: Sequence[str] = ()) -> list[Repeat]:
    """Return the repeats of all experiments in a folder of results, ``<output>/<name>``.

    Experiments in `order` come first, even those that have not started yet; then all others by name. If there
    are none, it is an InputError.
    """
    folder = results / EXPERIMENTS
    names = {path.name for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else set()
    names |= {name for name in order if not any(split_repeat(one)[0] == name for one in names)}
    if not names:
        raise InputError("has no experiments; name the folder of a run, <output>/<name>", results)
    place = {name: number for number, name in enumerate(order)}
    repeats = (Repeat(name, *split_repeat(name), folder / name) for name in names)
    return sorted(
        repeats, key=lambda one: (place.get(one.experiment, len(place)), one.experiment, one.number)
    )


def read_optional(path: Path, check: Callable[[Any], None], otherwise: str) -> Any:
    """Return the content of a JSON file; None if it does not exist yet.

    `check` raises an error of Python if others cannot rely on the content; it becomes an InputError with the
    message `otherwise`.
    """
    if not path.is_file():
        return None
    try:
        content = read_json(path)
    except ValueError:
        raise InputError("is not JSON; delete it and run snakemake again", path) from None
    with checked(path, otherwise):
        check(content)
    return content


def current_versions() -> dict[str, str]:
    """Return the versions of itersel, Python and the packages that matter."""
    versions = {"itersel": itersel.__version__, "Python": platform.python_version()}
    return versions | {package: version(package) for package in PACKAGES}


def write_run(results: Path, config: Mapping[str, Any], settings: Config) -> None:
    """Write the config of a run that starts, its settings, and the versions, if they have changed.

    The config is the content of the YAML file; `settings` are the values that the jobs use, which are
    `recorded` without keys that change no result. Versions of runs before, with which some of
    the results may have been made, are kept as ``earlier``.
    """
    versions, (before, earlier) = current_versions(), _recorded_versions(results)
    # packages that one of them did not record may have been the same
    earlier = [one for one in (*earlier, before) if _differing(one, versions)]
    earlier = [one for number, one in enumerate(earlier) if one not in earlier[number + 1 :]]
    content: dict[str, Any] = {"config": config, "settings": recorded(settings), "versions": versions}
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
    versions, (before, _) = current_versions(), _recorded_versions(results)
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
    otherwise = "is not the description of a run; delete it and run snakemake again"
    return read_optional(results / RUN, _check_run, otherwise) or {}


def _check_run(content: Any) -> None:
    """Raise an error of Python unless this has a config, its settings, and versions of now and earlier."""
    settings, versions = (
        content.get("settings", {}),
        [content.get("versions", {}), *content.get("earlier", [])],
    )
    experiments = settings.get("experiments", {})
    sections = [content["config"], settings, experiments, *experiments.values(), *versions]
    if not all(isinstance(section, dict) for section in sections):
        raise TypeError
    check_texts(version for packages in versions for version in packages.values())


def describe_config(content: object, config: Config) -> dict[str, Any]:
    """Return a config as ``yaml``, and the values that differ from their defaults (``changed``).

    These are rows of key, value, default, without values that follow from others. `config` is that of
    `read_unresolved`.
    """
    import yaml  # type: ignore[import-untyped]

    given = [*_keys(without_grids(content)[0], "")]
    changed = [
        list(row) for row in _changed(config, "") if any(f"{key}.".startswith(f"{row[0]}.") for key in given)
    ]
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    return {"yaml": text, "changed": changed}


def _keys(content: object, key: str) -> Iterable[str]:
    if not isinstance(content, Mapping) or not content:
        yield key
        return
    for name, value in content.items():
        yield from _keys(value, f"{key}.{name}" if key else str(name))


def _changed(section: Any, key: str, forms: FormNames | None = None) -> Iterable[tuple[str, str, str]]:
    """Yield key, value and default of values that differ from the defaults, including nested sections.

    `forms` are the default ones of an experiment.
    """
    if isinstance(section, Experiment):
        forms = default_forms(section)

    for item in fields(section):
        value, name = getattr(section, item.name), f"{key}{item.name}"

        if isinstance(value, dict) and value and all(is_dataclass(one) for one in value.values()):
            for entry, one in value.items():
                yield from _changed(one, f"{name}.{entry}." if entry else f"{name}.")
        elif is_dataclass(value):
            if forms is not None and "forms" in item.metadata:
                form, default = name_in(item.metadata["forms"], value), getattr(forms, item.name)
                if form != default:
                    yield f"{name}.name", form, default
            yield from _changed(value, f"{name}.", forms)
        else:
            default = _default(item, forms)
            if default is MISSING or value != default:
                yield name, _text(value), "" if default is MISSING else _text(default)


def _default(item: Field[Any], forms: FormNames | None) -> Any:
    if forms is None:
        return item.default_factory() if item.default_factory is not MISSING else item.default
    return forms.tune_on if item.name == "tune_on" else default_of(item, forms.conditions)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
