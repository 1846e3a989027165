# The run as a whole: records it for the page, says what it will do, and shows results. There are no rules here.
#
# needs: common.smk     gives: copy_config, write_run, write_config, announce_jobs, show_results, show_progress,
#                              show_killed
import hashlib

from snakemake.logging import logger
from snakemake_interface_executor_plugins.settings import SharedFSUsage

from itersel.report.description import other_versions, write_config, write_run
from itersel.run.killed import killed_commands
from itersel.storage.files import write_lines

# A dry run logs to standard output, even if only a graph should be written there: -n --dag | dot. Snakemake's settings
# for the graph do not exist yet when it reads this file, hence the look at sys.argv.
if {"--dag", "--rulegraph", "--filegraph"} & {word.split("=")[0] for word in sys.argv}:
    for handler in [*logger.handlers, *workflow.logger_manager.get_log_handlers()]:
        if getattr(handler, "stream", None) is sys.stdout:
            handler.setStream(sys.stderr)

# Also before a dry run; a run that starts jobs records its versions.
if changed := other_versions(Path(RESULTS)):
    print(
        f"itersel: warning: results in {RESULTS} were made with {changed} and are kept; to make all with the same"
        " versions, change 'output'",
        file=sys.stderr,
    )


def announce_jobs():
    """Say where logs are and whether kernels will be compiled; give the logger `steps` the planned jobs."""
    jobs = list(workflow.dag.needrun_jobs())
    planned = [(job.rule.name, job.wildcards_dict, job.rule.docstring) for job in jobs]
    logger.info(
        f"Logs of jobs: {LOGS} (updated once a minute)", extra={"planned": planned}
    )
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
    from itersel.report.page.writing import write_page

    page = Path(RESULTS, results.PROGRESS_PAGE)
    try:
        write_page(Path(RESULTS), page)
    except (InputError, OSError):
        # the run failed before there was anything to show, or the disk is full
        return
    logger.info(f"itersel: report on the unfinished run: {page}")


def show_results():
    """Show the tables, and where to find the results and what to do next."""
    # of an earlier run that did not end
    Path(RESULTS, results.PROGRESS_PAGE).unlink(missing_ok=True)
    by_task = [f"tasks.{split}.txt" for split in PLAN.tables.task_splits]
    tables = [Path(REPORT, name) for name in ("corpus.txt", "table.txt", *by_task)]
    made = [table for table in tables if table.exists()]
    for table in made:
        logger.info("\n" + table.read_text(encoding="utf-8").rstrip())
    # a run with explicit targets may not have made them
    if made == tables:
        logger.info("\n".join(["", *next_steps()]))


def next_steps():
    """Yield where the results are, and commands to translate text or rerank lists, and to add an experiment."""
    from itersel.corpus.prepare import read_preparation
    from itersel.report.hints import hints, hints_for_lists, short_sentence

    yield f"Tables: {REPORT}"
    page = Path(RESULTS, results.PAGE)
    if page.exists():
        yield f"Report: {page}"
    yield f"Weights and translations: {EXPERIMENTS}/*/{results.BEST}"
    names = PLAN.tables.compared or list(EXPANDED_CONFIG.experiments)
    systems = {name: Path(PLAN.files.experiment(name, results.BEST)) for name in names}
    # a run with explicit targets may not have made them
    systems = {
        name: path for name, path in systems.items() if (path / results.SYSTEM).exists()
    }
    if not systems:
        return
    split = next(iter(PLAN.texts.test_sets.values()))
    cache = CACHE and shortest(CACHE)
    tools = shortest(os.path.dirname(sys.executable))
    if HAS_GIVEN_LISTS:
        options = PLAN.list_texts.reranking_options(split)
        yield from hints_for_lists(systems, options, cache, tools)
        return
    sentence = short_sentence(
        Path(PLAN.files.text(split, "source")),
        PLAN.texts.corpora(split if split in PLAN.texts.given else PLAN.texts.first),
        read_preparation(PLAN.files.preparation),
        EXPANDED_CONFIG.data.max_line_bytes,
    )
    yield from hints(
        systems,
        sentence,
        cache,
        tools,
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
