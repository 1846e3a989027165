# The run as a whole: what must not be running beside it, and what it shows at its end. Nothing here makes files.
#
# needs: common.smk     gives: lock_folder, refuse_running_jobs, show_results, show_killed
import fcntl
import logging
import time

from snakemake_executor_plugin_arrays.arrays import dead_runs, starting
from snakemake_executor_plugin_arrays.failures import killed_commands

# A dry run logs to standard output, also where that is to hold a graph and nothing else: -n --dag | dot. Snakemake
# has no settings of the graph yet when it reads this.
if {"--dag", "--rulegraph", "--filegraph"} & {word.split("=")[0] for word in sys.argv}:
    for handler in logging.getLogger("snakemake.logging").handlers:
        if getattr(handler, "stream", None) is sys.stdout:
            handler.setStream(sys.stderr)


def lock_folder():
    """Hold the folder of results for this run; unlike Snakemake's lock, a killed run leaves none."""
    path = Path(RESULTS, ".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock_folder.stream = path.open("w")
    except OSError as error:
        sys.exit(f"itersel: {error.filename}: {error.strerror}; change 'output'")
    try:
        fcntl.flock(lock_folder.stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(
            f"itersel: another run is working in {RESULTS}; wait for it, or stop it"
        )
    except OSError as error:
        # a file system without locks: Snakemake's own lock is left
        print(f"itersel: {RESULTS} cannot be locked: {error.strerror}", file=sys.stderr)


def refuse_running_jobs():
    """Stop if jobs of a killed run may still be running: they would put old results over new ones."""
    # the executor of a cluster has ended them before it comes to this
    arrays = Path(workflow.workdir_init, ".snakemake", "arrays")
    if arrays.exists():
        with starting(arrays, warn=print):
            for folder in dead_runs(arrays):
                sys.exit(
                    f"itersel: jobs of a run that was killed may still be on the cluster ({folder}): start Snakemake"
                    " once with the profile of that run, which ends them; or cancel them, and delete that folder"
                )
    # what has just been cancelled takes a moment to end
    end = time.monotonic() + 10
    while process := next(running_jobs(), None):
        if time.monotonic() > end:
            sys.exit(
                f"itersel: process {process.pid} ({process.info['name']}), a job left over from a killed run,"
                f" is still running in {RESULTS}; wait for it, or stop it"
            )
        time.sleep(0.2)


def running_jobs():
    """Yield the processes on this machine that work in the folder of results."""
    import psutil

    for process in psutil.process_iter(["environ", "name"]):
        environment = process.info["environ"] or {}
        if environment.get("ITERSEL_RUN") == os.path.abspath(RESULTS):
            yield process


def show_results():
    """Print the tables, and where they and the trained systems are."""
    by_task = [f"tasks.{split}.txt" for split in TASK_SPLITS]
    tables = [
        Path(RESULTS, "report", name) for name in ("corpus.txt", "table.txt", *by_task)
    ]
    made = [table for table in tables if table.exists()]
    for table in made:
        print(table.read_text(encoding="utf-8"), file=sys.stderr)
    # a run of some files only may have made none
    if made == tables:
        print(f"Tables: {RESULTS}/report", file=sys.stderr)
        print(
            f"Weights and translations: {RESULTS}/experiments/*/best", file=sys.stderr
        )


def show_killed(logs):
    """Name the signals that killed commands; Snakemake shows an exit status such as 137."""
    # versions of Snakemake have one log, or a list
    for log in [logs] if isinstance(logs, str) else logs:
        text = Path(log).read_text(errors="replace") if Path(log).exists() else ""
        for line in killed_commands(text):
            print(f"itersel: {line}", file=sys.stderr)
