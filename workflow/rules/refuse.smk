# Reasons not to start a run: other runs and their jobs, folders that may not be written to, files from the future.
# There are no rules here.
#
# needs: common.smk     gives: lock_folder, note_start, refuse_running_jobs, refuse_future_inputs
import contextlib
import fcntl
import time

from snakemake.logging import logger

from snakemake_executor_plugin_arrays.runs import describe, killed_runs

from itersel.report.folder import LOCK

# Seconds by which the clocks of hosts may differ.
CLOCKS_DIFFER = 10

# What works in a folder that may only be read.
READING = {"--lint", "--list-rules", "-l", "--list-target-rules", "--lt"}
# Where Snakemake itself writes, even in a dry run.
OWN_FOLDERS = ("", "auxiliary", "incomplete", "iocache", "locks", "metadata", "shadow")


def refuse_read_only_folder():
    """Say in one line that this folder may not be written to; Snakemake would show a traceback."""
    if READING & {word.split("=")[0] for word in sys.argv}:
        return
    for path in [Path(".snakemake", name) for name in OWN_FOLDERS]:
        place = path if path.is_dir() else path.parent
        if place.is_dir() and not os.access(place, os.W_OK | os.X_OK):
            sys.exit(
                f"itersel: {place.absolute()}: may not be written to; run Snakemake in a folder of your own"
            )


refuse_read_only_folder()


def lock_folder():
    """Lock the folder of results for this run; unlike Snakemake's lock, this one ends with a killed run."""
    path = Path(RESULTS, LOCK)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock_folder.stream = path.open("a")
    except OSError as error:
        sys.exit(f"itersel: {error.filename}: {error.strerror}; change 'output'")
    try:
        fcntl.flock(lock_folder.stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(
            f"itersel: another run is working in {RESULTS}; wait for it or stop it"
        )
    except OSError as error:
        # a file system without locks
        print(f"itersel: {RESULTS} cannot be locked: {error.strerror}", file=sys.stderr)


def note_start():
    """Give the lock the time of a run that has started: until its end, the page is out of date."""
    os.utime(lock_folder.stream.fileno())


def refuse_running_jobs():
    """Stop if jobs of a killed run may still be running: they would overwrite new results with old ones."""
    # with a cluster profile, the executor has already cancelled them
    for folder in killed_runs(workflow.workdir_init):
        sys.exit(
            f"itersel: {describe(folder)}, and its jobs may still be on the cluster: start Snakemake once with"
            " the profile of that run, which cancels them; or cancel them yourself and delete that folder"
        )
    # jobs that have just been cancelled take a moment to end
    end = time.monotonic() + 10
    waiting = False
    while process := next(running_jobs(), None):
        if not waiting:
            waiting = True
            logger.info(
                f"Waiting for process {process.pid} of a killed run to end, at most 10 s"
            )
        if time.monotonic() > end:
            sys.exit(
                f"itersel: process {process.pid} ({process.info['name']}), a job left over from a killed run,"
                f" is still running in {RESULTS}; wait for it or stop it"
            )
        time.sleep(0.2)


def running_jobs():
    """Yield the processes on this machine that work in the folder of results."""
    import psutil

    for process in psutil.process_iter(["environ", "name"]):
        environment = process.info["environ"] or {}
        if environment.get("ITERSEL_RUN") == os.path.abspath(RESULTS):
            yield process


def refuse_future_inputs():
    """Stop before jobs run in vain: Snakemake removes finished outputs that are older than an input."""
    jobs = list(workflow.dag.needrun_jobs())
    made = {file for job in jobs for file in job.output}
    # by the clock that gives outputs their times, which may be a file server's
    look = Path(RESULTS, ".clock")
    look.touch()
    now = look.stat().st_mtime
    look.unlink()
    times = {}
    for file in {str(file) for job in jobs for file in job.input if file not in made}:
        # Snakemake says what is missing
        with contextlib.suppress(OSError):
            times[file] = os.stat(file).st_mtime
    if late := sorted(
        file for file, moment in times.items() if moment > now + CLOCKS_DIFFER
    ):
        moment = time.strftime("%F %T", time.localtime(times[late[0]]))
        others = f" (and {len(late) - 1} more)" if len(late) > 1 else ""
        sys.exit(
            f"itersel: {late[0]}{others}: the time of the file is in the future ({moment}), so everything made of"
            " it would count as outdated; set the clock right, and then the time with `touch`"
        )
