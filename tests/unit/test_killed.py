"""Commands killed by a signal, in the log of a run."""

from __future__ import annotations

from itersel.killed import killed_commands


def test_killed_commands_of_a_log():
    log = """CalledProcessError in file "x.smk", line 3:
Command 'set -euo pipefail;  itersel train --shard 'a b' &> l' returned non-zero exit status 137.
Command 'set -euo pipefail;  itersel mix' died with <Signals.SIGSEGV: 11>.
Command 'set -euo pipefail;  itersel decode' returned non-zero exit status 1.
"""
    assert killed_commands(log) == [
        "killed by SIGKILL: itersel train --shard 'a b' &> l",
        "killed by SIGSEGV: itersel mix",
    ]
