"""On a node, Snakemake looks for plugins once, and loads none that write reports, which no job does.

Snakemake looks into the folder of every installed package once for each kind of plugin, and imports all
plugins that it finds. That is about a sixth of the time in which it starts, and more than a quarter of its
requests to the file system, which is often on a server: the tasks of an array all start at once.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import Any

from snakemake_interface_common.plugin_registry import PluginRegistryBase
from snakemake_interface_report_plugins.registry import ReportPluginRegistry  # type: ignore[import-untyped]


def install() -> None:
    """Make Snakemake find its plugins in this way; it looks for them when it reads its command line."""
    PluginRegistryBase.collect_plugins = collect  # type: ignore[assignment, method-assign]
    ReportPluginRegistry.collect_plugins = collect_none


def collect(registry: Any) -> None:
    """Register the installed plugins of a kind."""
    registry.plugins = {}
    for name in _packages():
        if name.startswith(registry.module_prefix):
            registry.register_plugin(name, importlib.import_module(name))


def collect_none(registry: Any) -> None:
    """Register no plugin."""
    registry.plugins = {}


@functools.cache
def _packages() -> tuple[str, ...]:
    return tuple(module.name for module in pkgutil.iter_modules() if module.ispkg)
