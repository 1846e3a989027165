"""Runs cases one after the other, and keeps the files of failures."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.cases import Case, lay_out, write_damaged
from tests.fuzz.corpus import make_corpus
from tests.fuzz.server import TIME_LIMIT, Ended, call_apart, run_step
from tests.fuzz.targets import TARGETS
from tests.fuzz.verdicts import BAD, NOT_MADE, UNTIDY, Outputs, Verdict, judge, new_files


class Result(NamedTuple):
    """A case, the changes to the file, the step, and the verdict."""

    case: Case
    mutation: tuple[str, ...]
    arguments: list[str]
    verdict: Verdict
    seconds: float

    @property
    def is_bad(self) -> bool:
        """Whether the case failed."""
        return self.verdict.outcome in BAD


class Runner:
    """Runs cases in a temporary folder.

    Parameters
    ----------
    folder
        Temporary, empty folder.
    kept
        Where to keep the folders of failed cases; None to discard them.
    """

    def __init__(self, folder: Path, kept: Path | None = None, seconds: float = TIME_LIMIT) -> None:
        self._folder, self._kept, self._seconds = folder, kept, seconds
        self._base, self._case, self._streams = folder / "base", folder / "case", folder / "streams"
        self._streams.mkdir()
        self._expected: dict[tuple[str, ...], Outputs] = {}
        with contextlib.chdir(folder):
            make_corpus(self._base)
        files = [path for path in self._base.rglob("*") if path.is_file()]
        self._whole = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    def run(self, case: Case) -> Result:
        """Run one case."""
        file, arguments = case.choice()
        expected = self._expect(arguments)
        lay_out(self._base, self._case)
        try:
            try:
                mutation = call_apart(
                    lambda: write_damaged(case, self._base, self._case), self._folder, self._streams
                )
            except RuntimeError as error:
                return Result(case, ("?",), arguments, Verdict(NOT_MADE, str(error)), 0.0)
            ended, outputs = self._step(arguments)
            verdict = judge(ended, outputs, expected, (file, *TARGETS[case.format].also), case.mode)
            for path in self._restore():
                verdict = Verdict(UNTIDY, f"changed {path.relative_to(self._base)}")
            result = Result(case, tuple(mutation), arguments, verdict, ended.seconds)
            if result.is_bad and self._kept is not None:
                self._keep(result, file, ended)
            return result
        finally:
            shutil.rmtree(self._case)

    def _restore(self) -> list[Path]:
        """Restore the files of the corpus that a case has changed, and return them."""
        changed = [path for path, (time, _) in self._whole.items() if path.stat().st_mtime_ns != time]
        for path in changed:
            path.write_bytes(self._whole[path][1])
            self._whole[path] = path.stat().st_mtime_ns, self._whole[path][1]
        return changed

    def _expect(self, arguments: list[str]) -> Outputs:
        """Return the outputs of a step with undamaged files."""
        key = tuple(arguments)
        if key not in self._expected:
            lay_out(self._base, self._case)
            ended, outputs = self._step(arguments)
            shutil.rmtree(self._case)
            if ended.status:
                raise RuntimeError(f"without damage: {shlex.join(arguments)}: {ended.errors}")
            self._expected[key] = outputs
        return self._expected[key]

    def _step(self, arguments: list[str]) -> tuple[Ended, Outputs]:
        before = {str(path.relative_to(self._case)) for path in self._case.rglob("*")}
        ended = run_step(arguments, self._case, self._streams, self._seconds)
        return ended, new_files(self._case, before, ended.output)

    def _keep(self, result: Result, file: str, ended: Ended) -> None:
        """Copy the files of a case, with the command that repeats it."""
        assert self._kept is not None
        folder = self._kept / str(result.case).replace("/", "-")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._base, folder)
        shutil.copyfile(self._case / file, folder / file)
        about = [
            f"case {result.case}: {result.verdict.outcome}: {result.verdict.why}",
            f"done to {file}: {', '.join(result.mutation)}",
            f"run here: itersel {shlex.join(result.arguments)}",
            f"or in the project: python -m tests.fuzz --case {result.case}",
            "",
            ended.errors,
        ]
        (folder / "CASE").write_text("\n".join(about))


@contextlib.contextmanager
def runner(kept: Path | None = None, seconds: float = TIME_LIMIT) -> Iterator[Runner]:
    """Yield a runner; its files are removed at the end."""
    with tempfile.TemporaryDirectory(prefix="itersel-fuzz-") as folder:
        yield Runner(Path(folder), kept, seconds)
