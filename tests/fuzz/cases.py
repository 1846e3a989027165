"""Cases: the file to damage, how, and the step that reads it, all determined by the name of the case.

They run one after the other; the files of failures are kept.
"""

import contextlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple, Self

from tests.declared import redeclare
from tests.fuzz import arrays, hdf5_files, steps, texts
from tests.fuzz.corpus import make_corpus
from tests.fuzz.steps import Ended, Outputs, Verdict
from tests.fuzz.targets import ARRAYS, HDF5, JSON, MODES, TARGETS, TEXT, YAML

from itersel.align import sampler
from itersel.cli.main import main
from itersel.evaluate import counts
from itersel.grammar import grammar_format, index
from itersel.lists import files as lists
from itersel.lm import binary
from itersel.rerank import lexicon
from itersel.storage.declared import DECLARATION
from itersel.system.reranker_bundle import FORMAT as RERANKER
from itersel.system.trained_translator import FORMAT as BUNDLE
from itersel.tune import forest_files
from itersel.vectors.shard_weights import WITH_STATE
from itersel.vectors.weights import FORMAT as WEIGHTS

FORMATS = {
    "alignment-model": sampler.FORMAT,
    **dict.fromkeys(("grammars", "grammars-categories"), grammar_format.FORMAT),
    **dict.fromkeys(("model", "text-language-model"), binary.FORMAT),
    "index": index.FORMAT,
    "bundle": BUNDLE,
    "reranker-bundle": RERANKER,
    "lexicon": lexicon.FORMAT,
    **dict.fromkeys(("lists", "listed"), lists.FORMAT),
    "forests": forest_files.FORMAT,
    "counts": counts.FORMAT,
    "state": WITH_STATE,
}


class Case(NamedTuple):
    """The name of a case; written ``format/mode/number`` or ``seed/format/mode/number``."""

    seed: int
    format: str
    mode: str
    number: int

    def __str__(self) -> str:
        return "/".join(map(str, self))

    @classmethod
    def parse(cls, text: str, seed: int) -> Self:
        """Parse a name; without a seed, use `seed`."""
        fields = text.split("/")
        if len(fields) == 3:
            fields = [str(seed), *fields]
        case = cls(int(fields[0]), fields[1], fields[2], int(fields[3]))
        if case.format not in TARGETS or case.mode not in MODES[TARGETS[case.format].kind]:
            raise ValueError(f"there is no case {text}")
        return case

    def chance(self) -> Random:
        return Random(f"itersel {self}")

    def choice(self) -> tuple[str, list[str]]:
        """Return the file to damage, and the arguments of the step."""
        chance = self.chance()
        target = TARGETS[self.format]
        file, step = chance.choice(target.files), chance.choice(target.steps)
        return file, [word.replace("FILE", file) for word in step.split()]


def write_damaged(case: Case, base: Path, folder: Path) -> list[str]:
    """Write the damaged file of a case to a folder of links; returns the changes."""
    file, _ = case.choice()
    chance = case.chance()
    chance.seed(chance.getrandbits(64))  # different numbers from those that chose file and step
    target = folder / file
    target.unlink()
    # not among the links, because HDF5 also opens the targets of links for writing
    apart = folder.parent / "damaged"
    names = damage(case, chance, base / file, apart)
    shutil.move(apart, target)
    # otherwise, no damage would get past the declaration
    if target.name != DECLARATION and target.with_name(DECLARATION).exists():
        redeclare(target.parent)
    return names


def damage(case: Case, chance: Random, original: Path, copy: Path) -> list[str]:
    kind = TARGETS[case.format].kind
    if kind in (HDF5, ARRAYS):
        mutate = hdf5_files.mutate if kind == HDF5 else arrays.mutate
        return mutate(chance, original, copy, case.mode, FORMATS.get(case.format, WEIGHTS))
    if kind in (TEXT, JSON, YAML):
        change = {TEXT: texts.change, JSON: texts.change_json, YAML: texts.change_yaml}[kind]
        content, names = change(chance, original.read_bytes())
    else:
        content, names = texts.change_packed(chance, original.read_bytes(), case.mode)
    copy.write_bytes(content)
    return names


def lay_out(base: Path, folder: Path) -> None:
    """Fill a folder with links to all undamaged files; folders are recreated."""
    folder.mkdir()
    for entry in os.scandir(base):
        if entry.is_dir():
            lay_out(Path(entry.path), folder / entry.name)
        else:
            os.symlink(entry.path, folder / entry.name)


class Result(NamedTuple):
    case: Case
    mutation: Sequence[str]
    arguments: list[str]
    verdict: Verdict
    seconds: float

    @property
    def is_bad(self) -> bool:
        return self.verdict.outcome in steps.BAD


class Runner:
    """Runs cases in an empty, temporary folder; keeps the files of those that fail in `kept`, if given.

    `in_time` says whether a step ends in time; see `steps.ends_in_time`.
    """

    def __init__(
        self, folder: Path, kept: Path | None = None, in_time: Callable[[int], bool] = steps.ends_in_time
    ) -> None:
        self._folder, self._kept, self._in_time = folder, kept, in_time
        self._base, self._case, self._streams = folder / "base", folder / "case", folder / "streams"
        self._streams.mkdir()
        self._expected: dict[tuple[str, ...], Outputs] = {}
        with contextlib.chdir(folder):
            make_corpus(self._base)
        files = [path for path in self._base.rglob("*") if path.is_file()]
        self._whole = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    def run(self, case: Case) -> Result:
        file, arguments = case.choice()
        expected = self._expect(arguments)
        lay_out(self._base, self._case)
        try:
            work = partial(write_damaged, case, self._base, self._case)
            try:
                mutation = steps.call_apart(work, self._folder, self._streams, self._in_time)
            except RuntimeError as error:
                return Result(case, ["?"], arguments, Verdict(steps.NOT_MADE, str(error)), 0.0)
            ended, outputs = self._step(arguments)
            names = file, *TARGETS[case.format].also
            verdict = steps.judge(ended, outputs, expected, names, case.mode)
            for path in self._restore():
                verdict = Verdict(steps.UNTIDY, f"changed {path.relative_to(self._base)}")
            result = Result(case, mutation, arguments, verdict, ended.seconds)
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
        ended = steps.run_apart(lambda: main(arguments), self._case, self._streams, self._in_time)
        return ended, steps.new_files(self._case, before, ended.output)

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
def runner(kept: Path | None = None, in_time: Callable[[int], bool] = steps.ends_in_time) -> Iterator[Runner]:
    """Yield a runner; its files are removed at the end."""
    with tempfile.TemporaryDirectory(prefix="itersel-fuzz-") as folder:
        yield Runner(Path(folder), kept, in_time)
