"""Import of sacremoses, the port of Moses' rules that prepares and restores text."""

from __future__ import annotations

import types
import warnings


def import_sacremoses() -> types.ModuleType:
    """Import sacremoses without the warning of a library that it imports but itersel does not use.

    sacremoses can process files in parallel with joblib, which warns on import if the machine has no named
    semaphores, as in containers without ``/dev/shm``.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*joblib will operate in serial mode", UserWarning)
        import sacremoses
    module: types.ModuleType = sacremoses
    return module
