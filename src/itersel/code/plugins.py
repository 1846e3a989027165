"""What installed packages add to itersel, found by their entry points (docs/plugins.md).

Packages are searched only for a name that is not built in, or if all names are listed, because that takes
tens of milliseconds. A package is imported only if its name is used.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from itersel.code.edits import CODE_VARIABLE, check_code, fingerprint
from itersel.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_-]*")
TAKEN = "has a name that itersel uses; rename it, or uninstall the package"


@dataclass(frozen=True)
class Code:
    """The code of an imported package: the package, its folder or file, and its fingerprint."""

    package: str
    place: Path
    fingerprint: str

    @property
    def digest(self) -> str:
        """The digest of the contents."""
        return self.fingerprint.split()[1]

    @property
    def variable(self) -> str:
        """The environment variable that tells jobs which code the run has."""
        return f"{CODE_VARIABLE}_{re.sub(r'[^A-Za-z0-9]', '_', self.package)}"


# The imported packages, by group of entry points and name.
_imported: dict[tuple[str, str], Code] = {}


@dataclass(frozen=True)
class Plugin:
    """An entry point: what an installed package adds under a name."""

    entry: EntryPoint

    @property
    def package(self) -> str:
        """The name of the installed package."""
        return self.entry.dist.name if self.entry.dist is not None else self.entry.module

    def error(self, problem: str) -> InputError:
        """Return the error for a problem, which continues the sentence."""
        what = self.entry.group.removeprefix("itersel.").removesuffix("s")
        return InputError(f"{what} '{self.entry.name}' of the installed package '{self.package}' {problem}")

    def load(self) -> Any:
        """Import it unless it is imported, and return `value`."""
        return self.value

    @functools.cached_property
    def value(self) -> Any:
        """What the entry point names; raises an `InputError` if it cannot be imported."""
        try:
            code = _find_code(self.entry.module)
            # known before the import, because kernels need it (`itersel.compile.cache_folder`)
            _imported[self.entry.group, self.entry.name] = code
            value = self.entry.load()
        except Exception as error:
            why = f"{type(error).__name__}: {' '.join(str(error).split())}"
            problem = f"cannot be imported from {self.entry.value}: {why}; repair or uninstall the package"
            raise self.error(problem) from None
        check_code(code.variable, code.place)
        return value


class Extensible(Mapping[str, T]):
    """Values by name: the built-in ones, then those that installed packages add to a group, if there is one.

    Built-in values are named as entry points are, ``package.module:Name``, and imported when they are first
    used. `make` returns the value of a plugin, and `is_taken` tells whether its name is used for something
    else.
    """

    def __init__(
        self,
        group: str | None,
        built_in: Mapping[str, str],
        make: Callable[[Plugin], T] = lambda plugin: plugin.value,
        is_taken: Callable[[str], bool] = lambda name: False,
    ) -> None:
        self.group = group
        self.built_in = built_in
        self._make = make
        self._is_taken = is_taken

    def __getitem__(self, name: str) -> T:
        plugin = self.plugin(name)
        return self._load(self.built_in[name]) if plugin is None else self._make(plugin)

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in self.plugins

    def __iter__(self) -> Iterator[str]:
        yield from self.built_in
        yield from self.plugins

    def __len__(self) -> int:
        return len(self.built_in) + len(self.plugins)

    def __str__(self) -> str:
        return ", ".join(self)

    def _load(self, reference: str) -> T:
        value: T = load(reference)
        return value

    @functools.cached_property
    def plugins(self) -> dict[str, Plugin]:
        """What packages add, by name; raises an `InputError` if a name is wrong or used twice."""
        if self.group is None:
            return {}
        # takes longer than all other imports of a config together
        from importlib.metadata import entry_points

        found: dict[str, Plugin] = {}
        for plugin in map(Plugin, sorted(entry_points(group=self.group), key=lambda entry: entry.name)):
            name = plugin.entry.name
            if not NAME.fullmatch(name):
                raise plugin.error("must have a name of letters, digits, '_' and '-'; rename it")
            if name in self.built_in or self._is_taken(name):
                raise plugin.error(TAKEN)
            if name in found:
                raise _used_twice(plugin, found[name])
            found[name] = plugin
        return found

    def plugin(self, name: str) -> Plugin | None:
        """Return what a package adds under a name; None if it is built in."""
        return None if name in self.built_in else self.plugins[name]

    def known_name(self, value: type) -> str | None:
        """Return the name of a value that is built in or of an imported plugin, without further imports."""
        reference = f"{value.__module__}:{value.__qualname__}"
        built_in = (name for name, one in self.built_in.items() if one == reference)
        imported = (name for group, name in sorted(_imported) if group == self.group and self[name] is value)
        return next(itertools.chain(built_in, imported), None)


class Joined(Mapping[str, Any]):
    """The values of several groups of extensions by name: the built-in extensions, then those of packages.

    If packages are searched, it is an `InputError` if one adds to a group a name that another group has built
    in.
    """

    def __init__(self, *parts: Extensible[Any]) -> None:
        self.parts = parts

    def __getitem__(self, name: str) -> Any:
        part = self.part(name)
        if part is None:
            raise KeyError(name)
        return part[name]

    def __contains__(self, name: object) -> bool:
        return self.part(name) is not None

    def __iter__(self) -> Iterator[str]:
        yield from (name for part in self.parts for name in part.built_in)
        yield from (name for part in self._searched for name in part.plugins)

    def __len__(self) -> int:
        return sum(map(len, self._searched))

    def __str__(self) -> str:
        return ", ".join(self)

    @property
    def _searched(self) -> Sequence[Extensible[Any]]:
        """The groups, after a search for packages."""
        built_in = {name for part in self.parts for name in part.built_in}
        for part in self.parts:
            for name, plugin in part.plugins.items():
                if name in built_in:
                    raise plugin.error(TAKEN)
        return self.parts

    def part(self, name: object) -> Extensible[Any] | None:
        """Return the group that has a name, if any; a name that is built in needs no search of packages."""
        for part in self.parts:
            if name in part.built_in:
                return part
        having = [part for part in self._searched if name in part.plugins]
        if len(having) > 1:
            first, second, *_ = (part.plugins[str(name)] for part in having)
            raise _used_twice(second, first)
        return having[0] if having else None

    def known_name(self, value: type) -> str | None:
        """Return the name of a value without further imports, as `Extensible.known_name` does."""
        return next(filter(None, (part.known_name(value) for part in self.parts)), None)


def load(reference: str) -> Any:
    """Return what ``package.module:Name`` names."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def refuse_old_names(kind: type, **renamed: str) -> None:
    """Raise a TypeError if a class declares an attribute by an old name, which nothing would read."""
    for old, new in renamed.items():
        if old in vars(kind):
            raise TypeError(f"attribute '{old}' of {kind.__name__} is now called '{new}'")


def _used_twice(plugin: Plugin, other: Plugin) -> InputError:
    return plugin.error(f"has the name of one of '{other.package}'; uninstall one of the packages")


def _find_code(module: str) -> Code:
    """Find the outermost package of a module that is not a namespace of several packages."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        package = ".".join(parts[:count])
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            place = Path(spec.origin)
            place = place if spec.submodule_search_locations is None else place.parent
            return Code(package, place, fingerprint(place))
    raise ModuleNotFoundError(f"No module named '{module}'")


def imported_code(group: str = "") -> list[Code]:
    """Return the code of the packages imported so far, of one group or all."""
    return sorted(
        {code for (kind, _), code in _imported.items() if group in ("", kind)}, key=lambda code: code.package
    )


def code_of(module: str) -> Code | None:
    """Return the code that a module belongs to, if a plugin's package has it."""
    return next((code for code in imported_code() if f"{module}.".startswith(f"{code.package}.")), None)
