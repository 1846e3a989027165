"""The command of a job, given to a real shell: what a stand-in for Snakemake is told is what was meant."""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from facts import api_error
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snakemake.cli import parse_args
from snakemake.spawn_jobs import SpawnedJobArgsFactory
from snakemake_interface_executor_plugins import utils
from snakemake_interface_executor_plugins.executors.real import RealExecutor
from snakemake_interface_executor_plugins.settings import ExecMode, SharedFSUsage
from snakemake_interface_executor_plugins.utils import TargetSpec

from snakemake_executor_plugin_arrays import Executor, common_settings, job_command, quoting
from snakemake_executor_plugin_arrays.job_command import MAX_JOBS_TOGETHER, refusal, refuse
from snakemake_executor_plugin_arrays.together import targets_of

NODE = "snakemake_executor_plugin_arrays.node"
TOGETHER = "snakemake_executor_plugin_arrays.together"
# in place of Snakemake: the words of its command line, each ended by NUL
SHOW = "#!/bin/bash\nprintf '%s\\0' \"$@\"\n"
# the same examples each time, whatever the speed of the machine
UNCHECKED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
SETTINGS = settings(deadline=None, derandomize=True, suppress_health_check=UNCHECKED)
NASTY = ["l'été $(touch pwned).en", "`touch pwned`", 'both\'"$(touch pwned)"', "back\\slash\\", "ta\tb"]
NASTY += ["*?[a-z]", ";&|<>#%!~", " spaces  ", "'quoted'", '"quoted"', "-dash", "--help", ""]
NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])) | st.sampled_from(NASTY)
FILES = st.text(
    st.characters(exclude_characters="\0\n/", exclude_categories=["Cs"]), min_size=1
) | st.sampled_from(NASTY[:-1])


@pytest.fixture(autouse=True, scope="module")
def quoted() -> Iterator[None]:
    """Quote as a run with this executor does, and take it back."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utils, "format_cli_pos_arg", utils.format_cli_pos_arg)
        patch.setattr(RealExecutor, "get_envvar_declarations", RealExecutor.get_envvar_declarations)
        quoting.install()
        yield


class Loose(SimpleNamespace):
    """Settings of Snakemake, of which those that nobody has named are `None`."""

    def __getattr__(self, name: str) -> None:
        return None


class Telling(Executor):
    """An executor that has nothing but what the command of a job is made from."""

    def __init__(
        self,
        folder: Path,
        snakefile: str = "/Snakefile",
        note: str = "",
        configfile: str = "/config.yaml",
        variable: str = "",
    ) -> None:
        self.snakefile, self._tmpdir = snakefile, str(folder)
        # of several versions of Snakemake
        overwritten = ("_parsed_overwrite_resources", "_parsed_overwrite_threads")
        overwritten += ("overwrite_resources", "overwrite_threads", "overwrite_scatter")
        empty = ("execution", "output", "deployment", "workflow", "scheduling")
        self.workflow = Loose(
            storage_settings=Loose(shared_fs_usage=SharedFSUsage.all()),
            **{f"{name}_settings": Loose() for name in empty},
            resource_settings=Loose(**{name: {} for name in overwritten}),
            remote_execution_settings=Loose(envvars=[]),
            config_settings=Loose(config_args={"note": note}),
            overwrite_configfiles=[configfile],
            storage_provider_settings={},
            storage_registry=Loose(),
            sourcecache=Loose(),
            envvars=[],
            executor_plugin=SimpleNamespace(common_settings=common_settings),
            dag=SimpleNamespace(get_unneeded_temp_files=lambda job: []),
        )
        self.workflow.spawned_job_args_factory = SpawnedJobArgsFactory(self.workflow)
        self.variables = {"NOTE": variable} if variable else {}
        (folder / "python").write_text(SHOW)
        (folder / "python").chmod(0o755)
        self.python = str(folder / "python")
        self.envvars, self.get_python_executable = lambda: self.variables, lambda: self.python
        self.get_exec_mode = lambda: ExecMode.REMOTE


def a_job(wildcards: dict[str, str], files: list[str], group: bool = False) -> Any:
    flags = dict.fromkeys(("is_updated", "is_local", "is_run", "is_template_engine"), False)
    return SimpleNamespace(
        **flags,
        name="copy",
        rules=["copy"],
        jobid="7",
        attempt=1,
        is_group=lambda: group,
        get_target_spec=lambda: [TargetSpec("copy", wildcards)],
        get_wait_for_files=lambda: files,
        wildcards_dict=wildcards,
        input=files,
        output=[],
        log=[],
        benchmark=None,
    )


def told(command: str, folder: Path) -> list[str]:
    """Return the words that a shell makes of a command."""
    done = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().split("\0")[:-1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a b'c$(touch pwned)").mkdir()
    return tmp_path / "a b'c$(touch pwned)"


@SETTINGS
@given(NAMES, FILES, NAMES, st.lists(FILES, max_size=25), FILES)
def test_round_trip(folder: Path, wildcard: str, snakefile: str, note: str, files: list[str], config: str):
    """Snakemake's own parser reads on the node what was meant here."""
    job = a_job({"name": wildcard, "other": "x"}, files)
    # a path with a dash in front is no question: these are absolute
    executor = Telling(folder, f"/{snakefile}", note, f"/{config}")
    command = executor.format_job_exec(job)
    words = told(command, folder)
    assert words == shlex.split(command)[1:]
    assert words[:3] == ["-P", "-m", NODE]
    assert not list(folder.rglob("pwned"))
    if refusal(job) is not None:
        return
    _, found = parse_args(words[2:])
    assert found.target_jobs == [TargetSpec("copy", {"name": wildcard, "other": "x"})]
    assert str(found.snakefile) == str(Path(f"/{snakefile}"))
    assert [str(path) for path in found.configfile] == [str(Path(f"/{config}"))]
    assert found.allowed_rules == ["copy"]
    assert f"note={note}" in words
    waited = set(found.wait_for_files or ())
    if found.wait_for_files_file:
        # as Snakemake does it
        with open(found.wait_for_files_file) as stream:
            waited |= {line.strip() for line in stream.readlines()}
    assert {Path(file) for file in waited} == {Path(file) for file in (executor.tmpdir, *files)}


@SETTINGS
@given(st.lists(st.tuples(NAMES, FILES), min_size=2, max_size=4))
def test_round_trip_of_several_jobs(folder: Path, jobs: list[tuple[str, str]]) -> None:
    """The names of all jobs, and each file that one of them waits for."""
    some = [a_job({"name": name, "other": "x"}, [file, "model"]) for name, file in jobs]
    executor = Telling(folder, "/Snakefile", "", "/config.yaml", None)
    [(first, command)] = executor.format_together(some, folder, 4).items()
    words = told(command, folder)
    assert (first, words[:5]) == (1, ["-P", "-m", TOGETHER, str(folder), "1"])
    assert not list(folder.rglob("pwned"))
    if any(refusal(job) is not None for job in some):
        return
    _, found = parse_args(words[4:])
    assert found.target_jobs == [TargetSpec("copy", job.wildcards_dict) for job in some]
    assert len(words[4:][targets_of(words[4:])]) == len(some)
    assert found.allowed_rules == ["copy"]
    assert {Path(file) for file in found.wait_for_files} == {
        Path(file) for file in (executor.tmpdir, "model", *(file for _, file in jobs))
    }
    assert len(found.wait_for_files) == len({file for _, file in jobs} | {"model"}) + 1


def many_jobs(number: int) -> list[Any]:
    return [a_job({"i": str(i)}, []) for i in range(number)]


@pytest.mark.parametrize(
    ("jobs", "per_task", "lines"),
    [
        (8, 4, {1: 4, 5: 4}),
        (9, 4, {1: 4, 5: 4}),
        (10, 4, {1: 4, 5: 4, 9: 2}),
        (3, 1, {}),
        (130, 129, {1: MAX_JOBS_TOGETHER, MAX_JOBS_TOGETHER + 1: MAX_JOBS_TOGETHER}),
    ],
)
def test_jobs_of_a_task_are_together(folder: Path, jobs: int, per_task: int, lines: dict[int, int]) -> None:
    """Not those of two tasks, nor one alone, nor more than a command line takes."""
    found = Telling(folder).format_together(many_jobs(jobs), folder, per_task)
    assert {line: len(re.findall(" copy:i=", command)) for line, command in found.items()} == lines
    for line, command in found.items():
        assert f" {line} --snakefile " in command
        assert f" copy:i={line - 1} " in command


def temporary_output(executor: Telling, job: Any) -> None:
    executor.workflow.dag.get_unneeded_temp_files = lambda asked: ["t"] if asked is job else []


def without(executor: Telling, usage: SharedFSUsage) -> None:
    """Do not share something with the nodes."""
    executor.workflow.storage_settings.shared_fs_usage = SharedFSUsage.all() - {usage}


ALONE: dict[str, Callable[[Telling, Any], None]] = {
    "another attempt": lambda executor, job: vars(job).update(attempt=2),
    "in a group": lambda executor, job: vars(job).update(is_group=lambda: True),
    "code of Python": lambda executor, job: vars(job).update(is_run=True),
    "template": lambda executor, job: vars(job).update(is_template_engine=True),
    "temporary output": temporary_output,
    "no shared files": lambda executor, job: without(executor, SharedFSUsage.INPUT_OUTPUT),
}


@pytest.mark.parametrize("change", ALONE)
def test_jobs_that_are_not_together(folder: Path, change: str) -> None:
    executor, jobs = Telling(folder), many_jobs(3)
    assert executor.format_together(jobs, folder, 3)
    ALONE[change](executor, jobs[1])
    assert executor.format_together(jobs, folder, 3) == {}


@pytest.mark.parametrize("variable", NASTY[:-1])
def test_variables(folder: Path, variable: str) -> None:
    executor = Telling(folder, variable=variable)
    Path(executor.python).write_text("#!/bin/bash\nprintf '%s\\0' \"$NOTE\"\n")
    assert told(executor.format_job_exec(a_job({}, [])), folder) == [variable]
    assert not list(folder.rglob("pwned"))


def test_command_of_the_user_comes_first(folder: Path) -> None:
    executor = Telling(folder, variable="it's")
    executor.workflow.remote_execution_settings.precommand = 'printf "%s\\0" "$NOTE" && true'
    assert told(executor.format_job_exec(a_job({}, [])), folder)[:4] == ["it's", "-P", "-m", NODE]


def quoted_by(module: str) -> str:
    """Return how Snakemake quotes a name as an argument after a module was imported."""
    code = (
        f"import {module}; from snakemake_interface_executor_plugins import utils;"
        " print(utils.format_cli_arg('--flag', NAME))".replace("NAME", repr(NASTY[2]))
    )
    return subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout


@pytest.mark.parametrize("group", [False, True])
def test_processes_that_jobs_start_have_the_same_quoting(folder: Path, group: bool) -> None:
    """Rules with `run:`, and jobs of a group."""
    module = told(Telling(folder).format_job_exec(a_job({}, [], group=group)), folder)[2]
    assert shlex.split(quoted_by(module)) == ["--flag", NASTY[2]]


def test_installed_plugin_changes_nothing_for_other_executors() -> None:
    assert quoted_by("snakemake_executor_plugin_arrays.executor") == quoted_by("snakemake.cli")


def test_node_without_a_shared_file_system_needs_snakemake_alone(folder: Path) -> None:
    executor = Telling(folder)
    without(executor, SharedFSUsage.SOFTWARE_DEPLOYMENT)
    assert told(executor.format_job_exec(a_job({}, [])), folder)[2] == "snakemake"


def test_text_of_another_snakemake_is_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Snakemake quotes in a way that is not known here, a job may fail, but nothing is run."""
    monkeypatch.setattr(utils, "format_cli_pos_arg", lambda value, **kwargs: " ".join(map(repr, [value])))
    executor = Telling(folder)
    executor.workflow.wrapper_prefix = None
    executor.workflow.workflow_settings.wrapper_prefix = "l'été $(touch pwned)"
    words = told(executor.format_job_exec(a_job({}, [])), folder)
    assert "l'été $(touch pwned)" in words
    assert not list(folder.rglob("pwned"))
    executor.workflow.workflow_settings.wrapper_prefix = "'\""
    with api_error("'\""):
        executor.format_job_exec(a_job({}, []))


def test_values() -> None:
    for value, words in (
        (True, ["True"]),
        (Path("/it's"), ["/it's"]),
        ([1, "a b"], ["1", "a b"]),
        ({"a": ["it's \\"], "b": None, "c": 3}, ['a=["it\'s \\\\"]', "b=", "c=3"]),
        (SharedFSUsage.INPUT_OUTPUT, ["input-output"]),
    ):
        assert shlex.split(utils.format_cli_pos_arg(value)) == words
    [word] = shlex.split(utils.format_cli_pos_arg("it's $X", base64_encode=True))
    assert utils.maybe_base64(str)(word) == "it's $X"


@pytest.mark.parametrize(
    ("wildcard", "file", "fact"),
    [
        ("fine'd", "it's $(x)\t`y`", None),
        ("x", "line\nbreak", "line\\nbreak"),
        ("x", "\udcff", "UTF-8"),
        ("a,b", "x", "a,b"),
        ("'a", "x", "'a"),
    ],
)
def test_what_is_refused(wildcard: str, file: str, fact: str | None) -> None:
    job = a_job({"name": wildcard}, [file])
    if fact is None:
        refuse([job])
        return
    with api_error(fact):
        refuse([job])
    job.is_local = True
    refuse([job])


def test_temporary_file_with_a_dash_is_refused() -> None:
    class File(str):
        pass

    job = a_job({}, [])
    job.output = [File("-x")]
    job.output[0].flags = {"temp": True}
    with api_error("-x"):
        refuse([job])


def test_most_of_a_command_is_split_once() -> None:
    job_command.split("'same text'")
    before = job_command.split.cache_info().hits
    assert job_command.split("'same text'") == ("same text",)
    assert job_command.split.cache_info().hits == before + 1
