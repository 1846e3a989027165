"""The fuzzer itself: it must detect every kind of failure, and be deterministic."""

import gzip
import os
from random import Random

import h5py
import pytest
from tests.fuzz import hdf5_files
from tests.fuzz.cases import Case, damage
from tests.fuzz.steps import MEMORY_LIMIT, TRACEBACK, Ended, judge
from tests.fuzz.targets import CHANGED, DAMAGED, MODES, RESEALED, TARGETS
from tests.limited import limited

from itersel.lm.arpa import parse_arpa
from itersel.lm.binary import compile_model, load_model
from itersel.vectors.weights import make_weights, read_itersel_weights, write_itersel_weights

ARPA = (
    "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\t-0.5\n-1\t</s>\n-1\tx\t-0.25\n\n"
    "\\2-grams:\n-0.5\t<s> x\n-0.5\tx </s>\n\n\\end\\\n"
)


FORMATS = ("weights", "model", "arpa", "arpa-gz", "preparation", "config")
MADE = [(name, mode) for name in FORMATS for mode in MODES[TARGETS[name].kind]]


def ended(status=1, errors="itersel train: weights.h5: damaged\n", memory=0, timed_out=False):
    return Ended(status, 1.0, memory, b"", errors, timed_out)


@pytest.mark.parametrize(
    ("end", "outputs", "mode", "outcome"),
    [
        (ended(), {"": b""}, DAMAGED, "refused"),
        (ended(0, ""), {"": b"", "out": b"1"}, DAMAGED, "same"),
        (ended(0, ""), {"": b"", "out": b"2"}, DAMAGED, "silently different"),
        (ended(0, ""), {"": b""}, DAMAGED, "silently different"),
        (ended(0, ""), {"": b"printed", "out": b"1"}, DAMAGED, "silently different"),
        (ended(0, ""), {"": b"", "out": b"2"}, RESEALED, "different"),
        (ended(0, ""), {"": b"", "out": b"2"}, CHANGED, "different"),
        (ended(0, "RuntimeWarning: overflow\n"), {"": b"", "out": b"1"}, RESEALED, "untidy"),
        (ended(errors="itersel train: other.h5: damaged\n"), {"": b""}, DAMAGED, "untidy"),
        (ended(errors="one\nitersel train: weights.h5: damaged\n"), {"": b""}, DAMAGED, "untidy"),
        (ended(errors="a: weights.h5: one\na: weights.h5: two\n"), {"": b""}, CHANGED, "refused"),
        (ended(errors="a: weights.h5: one\na: other.h5: two\n"), {"": b""}, CHANGED, "untidy"),
        (ended(errors=""), {"": b""}, DAMAGED, "untidy"),
        (ended(), {"": b"", "out": b"1"}, DAMAGED, "untidy"),
        (ended(), {"": b"", ".tmp.x": b""}, DAMAGED, "untidy"),
        (ended(2), {"": b""}, CHANGED, "untidy"),
        (ended(TRACEBACK), {"": b""}, CHANGED, "traceback"),
        (ended(-11), {"": b""}, RESEALED, "crash"),
        (ended(-9, timed_out=True), {"": b""}, RESEALED, "time"),
        (ended(0, "", MEMORY_LIMIT + 1), {"": b"", "out": b"1"}, CHANGED, "memory"),
        (ended(errors="itersel step mix: not enough memory; weights.h5\n"), {"": b""}, CHANGED, "memory"),
    ],
)
def test_verdicts(end, outputs, mode, outcome):
    assert judge(end, outputs, {"": b"", "out": b"1"}, ("weights.h5",), mode).outcome == outcome


@pytest.mark.slow
def test_faulty_readers_are_detected(root):
    """One for each kind of failure; other tests show that the intact reader passes."""
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    result = limited(program=("-m", "tests.fuzz.broken"), env=environment, cwd=root)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


@pytest.mark.slow
def test_kernels_that_check_bounds_raise(tmp_path):
    """Also kernels without reference counting; otherwise `--bounds-check` would find nothing."""
    code = (
        "import numpy as np; from itersel.storage.string_kernels import copy_strings as copy; "
        "data, ends = np.zeros(3, np.uint8), np.array([0, 3]); copy(data, ends, np.array([5]), data, ends)"
    )
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "ITERSEL_CACHE": str(tmp_path)}
    result = limited(program=("-c", code), env=environment)
    assert result.stderr.endswith("IndexError: index is out of bounds\n")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    weights = make_weights({f"feature{i}": i / 7 for i in range(1, 9)})
    write_itersel_weights(folder / "weights.h5", weights, {"kind": "shard-weights"})
    (folder / "lm.arpa").write_text(ARPA)
    (folder / "lm.arpa.gz").write_bytes(gzip.compress(ARPA.encode(), mtime=0))
    for name in ("preparation.json", "config.yaml"):
        (folder / name).write_text('{"a": {"b": [1, 2, {"c": "x"}]}, "name": "small"}')
    compile_model(folder / "lm.arpa", folder / "lm.bin")
    return folder


@pytest.mark.parametrize(("format", "mode"), MADE)
def test_a_case_is_the_same_each_time(files, tmp_path, format, mode):
    """Most cases differ from each other and from the intact file."""
    original, seen = files / TARGETS[format].files[0], set()
    for number in range(30):
        case, contents = Case(1, format, mode, number), []
        for name in ("one", "other"):
            damage(case, case.chance(), original, tmp_path / name)
            contents.append((tmp_path / name).read_bytes())
        assert contents[0] == contents[1]
        seen.add(contents[0])
    assert len(seen - {original.read_bytes()}) > 20


@pytest.mark.parametrize(
    ("format", "mode", "read"),
    [
        ("weights", RESEALED, read_itersel_weights),
        ("model", RESEALED, load_model),
        ("arpa", CHANGED, lambda path: parse_arpa([path.read_bytes()], path)),
    ],
)
def test_some_damaged_files_are_still_read(files, tmp_path, format, mode, read):
    """Otherwise only the comparison of checksums, or the beginning of a file, would be tested."""
    original, count = files / TARGETS[format].files[0], 0
    copy = tmp_path / original.name
    for number in range(60):
        case = Case(1, format, mode, number)
        damage(case, case.chance(), original, copy)
        try:
            read(copy)
            count += 1
        except Exception as error:  # the fuzzer checks that it is the right error
            message = str(error)
            # the headers of array files are damaged with the checksums that they contain
            assert "does not match its checksum" not in message or format == "model"
    assert 3 < count < 57


def test_cases_have_names():
    case = Case.parse("7/grammars/resealed/12", seed=1)
    assert case == Case(7, "grammars", "resealed", 12)
    assert Case.parse(str(case), seed=1) == case
    assert Case.parse("grammars/resealed/12", seed=3).seed == 3
    for wrong in ("grammars/changed/1", "corpus/damaged/1", "nothing/damaged/1"):
        with pytest.raises(ValueError, match=wrong):
            Case.parse(wrong, seed=1)


@pytest.mark.parametrize("name", sorted(hdf5_files.STRUCTURE))
def test_damage_to_the_structure_of_hdf5_files(name, files, tmp_path):
    """Every operation works on an intact file; errors are ignored only after other damage."""
    done = 0
    copy = tmp_path / "copy.h5"
    for number in range(40):
        copy.write_bytes((files / "weights.h5").read_bytes())
        with h5py.File(copy, "r+") as stream:
            try:
                hdf5_files.STRUCTURE[name](Random(number), stream)
                done += 1
            except ValueError:
                assert name == "huge size"  # HDF5 rejects 2**61 rows
    assert done > 10
