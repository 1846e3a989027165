"""Commands of a local run that were killed by a signal; Snakemake shows only an exit status such as 137."""

from __future__ import annotations

import re
import signal

# How Snakemake reports a failed command: its shell was killed, or a process that the shell started.
COMMAND = re.compile(
    r"Command '(?:set -euo pipefail; +)?([^\n]*)' (?:died with <Signals\.SIG\w+: (\d+)>"
    r"|returned non-zero exit status (\d+))"
)


def killed_commands(log: str) -> list[str]:
    """Return a line for each killed command reported in a Snakemake log."""
    lines = []
    names = {one.value: one.name for one in signal.Signals}
    for command, number, status in COMMAND.findall(log):
        killer = int(number) if number else int(status) - 128
        # Ctrl-C ends the processes of all jobs, which the user knows
        if killer > 0 and killer != signal.SIGINT:
            lines.append(f"killed by {names.get(killer, f'signal {killer}')}: {command}")
    return lines
