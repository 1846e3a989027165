# The run as a whole: refuses to start next to other runs, records the run for the page, and shows results.
# There are no rules here.
#
# needs: common.smk     gives: lock_folder, refuse_running_jobs, refuse_future_inputs, copy_config, write_run,
#                              write_config, announce_jobs, show_results, show_progress, show_killed
import contextlib
import fcntl
import hashlib
import time

from snakemake.logging import logger
from snakemake_interface_executor_plugins.settings import SharedFSUsage

from snakemake_executor_plugin_arrays.runs import describe, killed_runs

from itersel.killed import killed_commands
from itersel.report.page.folder import LOCK, other_versions, write_config, write_run
from itersel.storage.files import write_lines

# A dry run logs to standard output, even if only a graph should be written there: -n --dag | dot. Snakemake's settings
# for the graph do not exist yet when it reads this file, hence the look at sys.argv.
if {"--dag", "--rulegraph", "--filegraph"} & {word.split("=")[0] for word in sys.argv}:
    for handler in [*logger.handlers, *workflow.logger_manager.get_log_handlers()]:
        if getattr(handler, "stream", None) is sys.stdout:
            handler.setStream(sys.stderr)

# Also before a dry run; a run that starts jobs records its versions.
if workflow.is_main_process and (changed := other_versions(Path(RESULTS))):
    print(
        f"itersel: warning: results in {RESULTS} were made with {changed} and are kept; to make all with the same"
        " versions, change 'output'",
        file=sys.stderr,
    )


# Clocks of hosts differ by less than this many seconds, and few jobs take less.
CLOCKS_DIFFER = 10


# What works in a folder that may only be read.
READING = {"--lint", "--list-rules", "-l", "--list-target-rules", "--lt"}
# Where Snakemake itself writes, even in a dry run.
OWN_FOLDERS = ("", "auxiliary", "incomplete", "iocache", "locks", "metadata", "shadow")


def refuse_read_only_folder():
    """Say in one line that this folder may not be written to; Snakemake would show a traceback."""
    if not workflow.is_main_process or READING & {
        word.split("=")[0] for word in sys.argv
    }:
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
    end, waiting = time.monotonic() + 10, False
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
    # by the clock that gives outputs their times, which may be that of a file server
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


def announce_jobs():
    """Say where logs are and whether kernels will be compiled; give the logger `steps` the planned jobs."""
    jobs = list(workflow.dag.needrun_jobs())
    planned = [(job.rule.name, job.wildcards_dict, job.rule.docstring) for job in jobs]
    logger.info(f"Logs of jobs: {LOGS} (updated once a minute)", extra={"planned": planned})
    if any("itersel" in (job.shellcmd or "") for job in jobs):
        from itersel.cli.warm_up import is_warm
        from itersel.compile.numba_versions import plain_notice

        if notice := plain_notice():
            logger.info(f"itersel: {notice}")
        if workflow.local_exec and not is_warm():
            logger.info(
                "The first job that needs kernels compiles them, once for this machine and version: about a"
                " minute. Other jobs wait for it."
            )


def copy_config():
    """Let jobs on other machines read a copy of the config: the file may be edited for the next run."""
    text = json.dumps(config, ensure_ascii=False, indent=2)
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = Path(RESULTS, ".configs", f"{name}.json")
    try:
        write_lines(path, [text])
    except OSError as error:
        sys.exit(f"itersel: {error.filename or path}: {error.strerror}")
    # without shared sources, jobs have the files that Snakemake has packed for them
    if SharedFSUsage.SOURCES in workflow.storage_settings.shared_fs_usage:
        workflow.config_settings.configfiles = [path.absolute()]


def show_progress():
    """Write the page of a run that has failed, and log where it is."""
    from itersel.report.page.render import write_page

    page = Path(RESULTS, "report", "progress.html")
    try:
        write_page(Path(RESULTS), page)
    except (InputError, OSError):
        # the run failed before there was anything to show, or the disk is full
        return
    logger.info(f"itersel: report on the unfinished run: {page}")


def show_results():
    """Show the tables, and where to find the results and what to do next."""
    # of an earlier run that did not end
    Path(RESULTS, "report", "progress.html").unlink(missing_ok=True)
    by_task = [f"tasks.{split}.txt" for split in TABLES.task_splits]
    tables = [
        Path(RESULTS, "report", name) for name in ("corpus.txt", "table.txt", *by_task)
    ]
    made = [table for table in tables if table.exists()]
    for table in made:
        logger.info("\n" + table.read_text(encoding="utf-8").rstrip())
    # a run with explicit targets may not have made them
    if made == tables:
        logger.info("\n".join(["", *next_steps()]))


def next_steps():
    """Yield where the results are, and the commands to translate text and to add an experiment."""
    from itersel.corpus.prepare import read_preparation
    from itersel.report.hints import hints, short_sentence

    yield f"Tables: {RESULTS}/report"
    page = Path(RESULTS, "report", "index.html")
    if page.exists():
        yield f"Report: {page}"
    yield f"Weights and translations: {RESULTS}/experiments/*/best"
    if HAS_LISTS:
        return
    names = TABLES.compared or list(CONFIG.experiments)
    systems = {name: Path(FILES.experiment(name, "best")) for name in names}
    # a run with explicit targets may not have made them
    systems = {
        name: path for name, path in systems.items() if (path / "system.json").exists()
    }
    if not systems:
        return
    split = next(iter(TEXTS.test_sets.values()))
    sentence = short_sentence(
        Path(FILES.text(split, "source")),
        TEXTS.corpora(split if split in TEXTS.given else TEXTS.first),
        read_preparation(FILES.preparation),
        CONFIG.data.max_line_bytes,
    )
    yield from hints(
        systems,
        sentence,
        CACHE and shortest(CACHE),
        shortest(os.path.dirname(sys.executable)),
        [shortest(file) for file in GIVEN_CONFIG_FILES],
    )


def shortest(path):
    """Return a path relative to the working folder, if that is shorter, else the absolute path."""
    return min(os.path.relpath(path), os.path.abspath(path), key=len)


def show_killed(logs):
    """Name the signals that killed commands; Snakemake shows an exit status such as 137."""
    # one log or a list, depending on the version of Snakemake
    for log in [logs] if isinstance(logs, str) else logs:
        text = Path(log).read_text(errors="replace") if Path(log).exists() else ""
        for line in killed_commands(text):
            logger.error(f"itersel: {line}")
