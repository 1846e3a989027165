"""Shell quoting of the arguments that Snakemake passes to its jobs.

Snakemake's plugin interface quotes arguments with Python's `repr`, and executors pass that text to a shell,
which expands text in double quotes: ``$(...)`` in a file name with an apostrophe is run as a command. The
functions are replaced when a run uses this executor, on the submit host and on the nodes, where Snakemake's
local executor, which starts rules with ``run:`` as processes, needs them, too. Runs with other executors are
not affected, although Snakemake loads every installed plugin.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from snakemake_interface_common.settings import SettingsEnumBase
from snakemake_interface_common.utils import not_iterable
from snakemake_interface_executor_plugins import utils
from snakemake_interface_executor_plugins.executors.real import RealExecutor


def install() -> None:
    """Make Snakemake quote arguments for a shell."""
    utils.format_cli_pos_arg = shell_words
    RealExecutor.get_envvar_declarations = envvar_declarations


def shell_words(value: Any, quote: bool = True, base64_encode: bool = False) -> str:
    """Return the values of an option as words for a shell.

    Parameters
    ----------
    value
        A value, an iterable of values, or a mapping, which becomes words ``key=value``.
    quote
        Ignored: every word that needs quoting is quoted.
    base64_encode
        Whether to encode the words as base64, which Snakemake decodes.
    """
    if isinstance(value, Mapping):
        words = [f"{key}={_word(one)}" for key, one in value.items()]
    else:
        words = [_word(value)] if not_iterable(value) else [_word(one) for one in value]
    return shlex.join(map(utils.encode_as_base64, words) if base64_encode else words)


def envvar_declarations(executor: Any) -> str:
    """Return the shell code that sets the variables of the directive ``envvars:`` before a command."""
    if not executor.common_settings.pass_envvar_declarations_to_cmd:
        return ""
    words = [f"{name}={shlex.quote(value)}" for name, value in executor.envvars().items()]
    return f"export {' '.join(words)} &&" if words else ""


def _word(value: Any) -> str:
    if isinstance(value, SettingsEnumBase):
        return str(value.item_to_choice())
    # values of --config, parsed as YAML, which includes JSON
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)
