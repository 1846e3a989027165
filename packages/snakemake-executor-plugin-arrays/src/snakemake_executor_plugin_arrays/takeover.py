"""Runs whose Snakemake was killed: their arrays are cancelled before anything is submitted again.

What another user started in the same folder cannot be cancelled. It is taken over if its tasks are known to
have ended; otherwise Snakemake stops, and says who has to act.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from snakemake_interface_common.exceptions import ApiError

from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.attempt import ENDS_WITHIN
from snakemake_executor_plugin_arrays.commands import Client, SchedulerError
from snakemake_executor_plugin_arrays.runs import LOCK, Owner, close_run, dead_runs, describe
from snakemake_executor_plugin_arrays.schedulers import SURVIVED


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
            _end(run, owner, client, patience + ENDS_WITHIN, warn)
        except SchedulerError as error:
            raise ApiError(f"an earlier run may have left arrays: {error}") from None
        except KeyboardInterrupt:
            raise ApiError(f"interrupted while the jobs of an earlier run were ending ({run})") from None
        except OSError as error:
            # a lock that cannot be read may belong to a run that is alive
            raise ApiError(
                f"a run of {owner.user or 'another user'}, which may still be going on or have been killed:"
                f" {error.filename}: {error.strerror}. {_advice(owner)}"
            ) from None
        close_run(run)


def _advice(owner: Owner) -> str:
    user = owner.user or "its user"
    return (
        f"Only {user} or an administrator can cancel its jobs; Snakemake does so when {user} runs it here. If"
        " no job of that run is left, delete the folder"
    )


def _end(run: Path, owner: Owner, client: Client, patience: float, warn: Callable[[str], None]) -> None:
    is_own = owner.user == client.user
    # by name: a reinstalled scheduler repeats numbers, and a run may be killed before it notes one
    names = {name for name in os.listdir(run) if _exists(run / name / "jobs")}
    if not is_own:
        (run / LOCK).read_bytes()  # it says which scheduler it is
    if not is_own and names and not client.sees_everybody():
        hidden = f"{client.scheduler.name} does not show you the jobs of others, so they may be running"
        raise ApiError(f"{describe(run)}: {hidden}. {_advice(owner)}")
    left = client.living(client.find_all(names, not is_own), not is_own)
    where = f"in {client.scheduler.name}: {', '.join(sorted(left))}"
    if left and not is_own:
        raise ApiError(f"{describe(run)} and has left arrays {where}. {_advice(owner)}")
    started = may_run(run / name for name in names)
    unclear = _unclear(started, client, not is_own)
    if unclear and not is_own:
        why = f"{client.scheduler.name} does not know what has become of jobs that were running"
        raise ApiError(f"{describe(run)}: {why}. {_advice(owner)}")
    for folder, tasks in started.items() if is_own else ():
        folder.revoke(*tasks)
    if left:
        warn(f"Cancelling arrays that an earlier run left {where}")
        client.clear(left)
    _wait(unclear, patience, warn)


def _unclear(started: Mapping[Folder, set[int]], client: Client, everybody: bool) -> dict[Folder, set[int]]:
    """Return the tasks that may run although the scheduler does not list them, or as ended."""
    statuses = client.statuses(everybody) if started else {}
    found = {}
    for folder, tasks in started.items():
        known = client.find_all({folder.path.name}, everybody)
        survived = {
            task for (array, task), status in statuses.items() if array in known and status.word in SURVIVED
        }
        if some := tasks & survived if known else tasks:
            found[folder] = some
    return found


def _exists(path: Path) -> bool:
    """Return whether a file exists; raises an OSError if that cannot be seen."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def may_run(folders: Iterable[Path]) -> dict[Folder, set[int]]:
    """Return the tasks that run a job according to their tokens, by the folder of their array."""
    opened = [Folder.open(path) for path in folders if _exists(path / "task.sh")]
    return {folder: tasks for folder in opened if (tasks := folder.may_run())}


def _wait(tasks: Mapping[Folder, set[int]], patience: float, warn: Callable[[str], None]) -> None:
    """Wait until tasks have stopped, or have been revoked for `patience` seconds."""
    revoked = [folder.revoked_for(*numbers) for folder, numbers in tasks.items()]
    seconds = patience - min(revoked, default=patience)
    if seconds <= 0:
        return
    warn(
        f"Waiting at most {seconds:.0f} s for jobs of an earlier run that have no exit status and are not in"
        " the queue"
    )
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(folder.may_run() & numbers for folder, numbers in tasks.items()):
        time.sleep(1)
