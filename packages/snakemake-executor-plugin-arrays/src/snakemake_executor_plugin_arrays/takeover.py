"""Runs whose Snakemake was killed: their arrays are cancelled before anything is submitted again.

What another user started in the same folder cannot be cancelled. It is taken over if its tasks are known to
have ended; otherwise Snakemake stops, and says who has to act.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from snakemake_interface_common.exceptions import ApiError

from snakemake_executor_plugin_arrays.arrays import Folder, Owner, close_run, dead_runs, describe
from snakemake_executor_plugin_arrays.commands import Client, SchedulerError


def end_dead_runs(parent: Path, client: Client, patience: float, warn: Callable[[str], None]) -> None:
    """Cancel what killed runs left in the scheduler, wait until it has ended, and close them.

    Parameters
    ----------
    parent
        The folder of all runs.
    client
        The scheduler.
    patience
        Seconds to wait for tasks of which the scheduler knows nothing: until they have noticed that they are
        revoked.
    warn
        Called with messages.

    Raises
    ------
    ApiError
        If tasks may still run and cannot be ended.
    """
    for run in dead_runs(parent):
        owner = Owner.of(run)
        if owner.scheduler not in ("", client.scheduler.key):
            raise ApiError(
                f"{run}: a killed run with {owner.scheduler} may have left arrays there: run Snakemake once"
                f" with its profile, or with --executor arrays --arrays-scheduler {owner.scheduler}, to"
                " cancel them; or cancel them yourself and delete that folder"
            )
        try:
            _end(run, owner, client, patience, warn)
        except SchedulerError as error:
            raise ApiError(f"an earlier run may have left arrays: {error}") from None
        except PermissionError as error:
            raise ApiError(f"{describe(run)}: {error.filename} is closed to you. {ADVICE}") from None
        close_run(run)


ADVICE = (
    "Only this user or an administrator can cancel them; a Snakemake that this user starts here does so. If"
    " none of them is left, delete that folder"
)


def _end(run: Path, owner: Owner, client: Client, patience: float, warn: Callable[[str], None]) -> None:
    is_own = owner.user in ("", client.user)
    # by name: a reinstalled scheduler repeats numbers, and a run may be killed before it notes one
    names = {name for name in os.listdir(run) if (run / name / "jobs").exists()}
    if not is_own and names and not client.sees_everybody():
        hidden = f"{client.scheduler.name} does not show you the jobs of others, so they may be running"
        raise ApiError(f"{describe(run)}: {hidden}. {ADVICE}")
    left = client.living(client.find_all(names, not is_own), not is_own)
    where = f"in {client.scheduler.name}: {', '.join(sorted(left))}"
    if left and not is_own:
        raise ApiError(f"{describe(run)} and has left arrays {where}. {ADVICE}")
    # Where the scheduler still knows an array, it knows whether its tasks run.
    forgotten = [
        (folder, task)
        for folder, task in _may_run(run / name for name in names)
        if not client.find_all({folder.path.name}, not is_own)
    ]
    if left:
        warn(f"Cancelling arrays that an earlier run left {where}")
        client.clear(left)
    _revoke(forgotten, patience, warn)


def _may_run(folders: Iterable[Path]) -> list[tuple[Folder, int]]:
    """Return the tasks that run a job, by their markers."""
    opened = [Folder.open(path) for path in folders if (path / "task.sh").exists()]
    return [(folder, task) for folder in opened for task in {folder.task(line) for line in folder.started()}]


def _revoke(tasks: list[tuple[Folder, int]], patience: float, warn: Callable[[str], None]) -> None:
    """Revoke tasks, and wait until they have no job without an exit status, or for `patience` seconds."""
    if not tasks:
        return
    for folder, task in tasks:
        folder.revoke(task)
    warn(
        f"Waiting for at most {patience:.0f} s for {len(tasks)} tasks of a killed run that have no exit"
        " status and are not in the queue"
    )
    end = time.monotonic() + patience
    while time.monotonic() < end and any(
        folder.task(line) == task for folder, task in tasks for line in folder.started()
    ):
        time.sleep(1)
