"""On a node, Snakemake looks for plugins once, and loads none that write reports, unless a profile names any.

Jobs write no reports. But they read the profiles that Snakemake finds by itself, and with unknown options
there, such as `report-html-path`, they would not start.

Snakemake looks into the folder of every installed package once for each kind of plugin, and imports all
plugins that it finds. That is about a sixth of the time in which it starts, and more than a quarter of its
requests to the file system, which is often on a server: the tasks of an array all start at once.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from pathlib import Path
from typing import Any

from snakemake_interface_common.plugin_registry import PluginRegistryBase
from snakemake_interface_report_plugins.registry import ReportPluginRegistry  # type: ignore[import-untyped]

# What Snakemake does elsewhere.
_collect_reporters = ReportPluginRegistry.collect_plugins
_register_options = PluginRegistryBase.register_cli_args


def install() -> None:
    """Make Snakemake find its plugins in this way; it looks for them when it reads its command line."""
    PluginRegistryBase.collect_plugins = collect  # type: ignore[assignment, method-assign]
    ReportPluginRegistry.collect_plugins = collect_none
    ReportPluginRegistry.register_cli_args = register_options


def collect(registry: Any) -> None:
    """Register the installed plugins of a kind."""
    registry.plugins = {}
    for name in _packages():
        if name.startswith(registry.module_prefix):
            registry.register_plugin(name, importlib.import_module(name))


def collect_none(registry: Any) -> None:
    """Register no plugin."""
    registry.plugins = {}


def register_options(registry: Any, parser: Any) -> None:
    """Register the options of reporters, but only if a profile that the parser reads could name them."""
    if any("report" in Path(file).read_text(errors="replace") for file in parser._default_config_files):
        _collect_reporters(registry)
    _register_options(registry, parser)


@functools.cache
def _packages() -> tuple[str, ...]:
    return tuple(module.name for module in pkgutil.iter_modules() if module.ispkg)
