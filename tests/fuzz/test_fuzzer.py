"""The fuzzer itself: it must detect every kind of failure, and be deterministic."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import subprocess
import sys
from random import Random

import h5py
import numpy as np
import pytest
from tests.fuzz import array_files, arrays, documents, hdf5_files, raw_bytes, texts
from tests.fuzz.cases import Case
from tests.fuzz.hdf5_structure import STRUCTURE
from tests.fuzz.server import MEMORY_LIMIT, TRACEBACK, Ended
from tests.fuzz.targets import CHANGED, DAMAGED, RESEALED
from tests.fuzz.verdicts import judge

from itersel.errors import InputError
from itersel.lm.arpa import parse_arpa
from itersel.lm.binary import FORMAT as MODEL
from itersel.lm.binary import compile_model
from itersel.storage.formats import check_arrays
from itersel.vectors.weights import FORMAT as WEIGHTS
from itersel.vectors.weights import make_weights, read_weights, write_weights

ARPA = (
    "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\t-0.5\n-1\t</s>\n-1\tx\t-0.25\n\n"
    "\\2-grams:\n-0.5\t<s> x\n-0.5\tx </s>\n\n\\end\\\n"
)


def ended(status=1, errors="itersel train: weights.h5: damaged\n", memory=0, timed_out=False):
    return Ended(status, 1.0, memory, b"", errors, timed_out)


@pytest.mark.parametrize(
    ("end", "outputs", "mode", "outcome"),
    [
        (ended(), {"": b""}, DAMAGED, "refused"),
        (ended(0, ""), {"": b"", "out": b"1"}, DAMAGED, "same"),
        (ended(0, ""), {"": b"", "out": b"2"}, DAMAGED, "silently different"),
        (ended(0, ""), {"": b""}, DAMAGED, "silently different"),
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
        (ended(errors="itersel mix: not enough memory; weights.h5\n"), {"": b""}, CHANGED, "memory"),
    ],
)
def test_verdicts(end, outputs, mode, outcome):
    assert judge(end, outputs, {"": b"", "out": b"1"}, ("weights.h5",), mode).outcome == outcome


def test_printed_output_counts():
    assert judge(ended(0, ""), {"": b"a"}, {"": b"b"}, ("x",), DAMAGED).outcome == "silently different"


@pytest.mark.slow
def test_faulty_readers_are_detected(root):
    """One for each kind of failure; other tests show that the intact reader passes."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    result = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.broken"],
        env=environment,
        capture_output=True,
        cwd=root,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr.decode()
    outcomes = json.loads(result.stdout)
    expected = {
        "raises": "traceback",
        "crashes": "crash",
        "hangs": "time",
        "takes memory": "memory",
        "says too much": "untidy",
        "leaves a file": "untidy",
        "refuses without a name": "untidy",
        "stops": "traceback",
        "compares no checksums": "silently different",
    }
    assert {name: outcome in outcomes[name] for name, outcome in expected.items()} == dict.fromkeys(
        expected, True
    ), outcomes


@pytest.mark.slow
def test_kernels_that_check_bounds_raise(tmp_path):
    """Also kernels without reference counting; otherwise `--bounds-check` would find nothing."""
    code = (
        "import numpy as np; from itersel.storage.string_kernels import copy_strings as copy; "
        "data, ends = np.zeros(3, np.uint8), np.array([0, 3]); copy(data, ends, np.array([5]), data, ends)"
    )
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "ITERSEL_CACHE": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert result.stderr.endswith("IndexError: index is out of bounds\n")


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "original.h5"
    write_weights(path, make_weights({f"feature{i}": i / 7 for i in range(1, 9)}), {"kind": "shard-weights"})
    return path


@pytest.fixture
def model(tmp_path):
    (tmp_path / "lm.arpa").write_text(ARPA)
    compile_model(tmp_path / "lm.arpa", tmp_path / "lm.bin")
    return tmp_path / "lm.bin"


def test_a_case_is_the_same_each_time(weights, model, tmp_path):
    for kind, original, format in ((hdf5_files, weights, WEIGHTS), (array_files, model, MODEL)):
        for mode in (DAMAGED, RESEALED):
            seen = set()
            for number in range(30):
                contents = []
                for name in ("one", "other"):
                    copy = tmp_path / name
                    kind.mutate(Case(1, "weights", mode, number).chance(), original, copy, mode, format)
                    contents.append(copy.read_bytes())
                assert contents[0] == contents[1]
                seen.add(contents[0])
            assert len(seen) > 20


def test_cases_have_names():
    case = Case.parse("7/shard/resealed/12", seed=1)
    assert case == Case(7, "shard", "resealed", 12)
    assert Case.parse(str(case), seed=1) == case
    assert Case.parse("shard/resealed/12", seed=3).seed == 3
    assert Case(1, "shard", "resealed", 12).choice() == Case(1, "shard", "resealed", 12).choice()
    for wrong in ("shard/changed/1", "corpus/damaged/1", "nothing/damaged/1"):
        with pytest.raises(ValueError, match="no case"):
            Case.parse(wrong, seed=1)


@pytest.mark.parametrize("name", sorted(STRUCTURE))
def test_damage_to_the_structure_of_hdf5_files(name, weights, tmp_path):
    """Every operation works on an intact file; errors are ignored only after other damage."""
    done = 0
    times = 40 if name != "packed zeros" else 2  # takes a second each
    for number in range(times):
        copy = tmp_path / "copy.h5"
        copy.write_bytes(weights.read_bytes())
        with h5py.File(copy, "r+") as stream:
            try:
                STRUCTURE[name](Random(number), stream)
                done += 1
            except ValueError:
                assert name == "huge size"  # HDF5 rejects 2**61 rows
    assert done > times // 4


@pytest.mark.parametrize("name", sorted(arrays.VALUES))
def test_damage_to_values(name):
    for dtype in ("|u1", "<i4", "<i8", "<u8", "<f4", "<f8"):
        for shape in ((9,), (6, 2), (1,)):
            array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)[::-1].copy()
            results = [arrays.change_values(Random(number), array, name) for number in range(30)]
            assert all(result.dtype == array.dtype and result.shape == shape for result in results)
            if array.size > 1:
                assert any(result.tobytes() != array.tobytes() for result in results)
    assert arrays.change_values(Random(1), np.zeros(0, np.int32), name).size == 0


def test_values_as_declared(weights, tmp_path):
    """Values drawn within the declared bounds nearly always pass the check of the format."""
    passed = changed = 0
    with h5py.File(weights) as stream:
        original = {name: stream[name][()] for name in WEIGHTS.arrays}
    sizes = check_arrays(WEIGHTS, original, "original")
    for number in range(50):
        array = arrays.redraw(Random(number), original["v"], WEIGHTS.arrays["v"], sizes)
        check_arrays(WEIGHTS, {**original, "v": array}, "changed")
        changed += int(not np.array_equal(array, original["v"]))
    assert changed > 25
    for number in range(50):
        array = arrays.redraw(
            Random(number), original["features/name_offset"], WEIGHTS.arrays["features/name_offset"], sizes
        )
        assert array[0] == 0
        assert array[-1] == original["features/name"].size
        assert (np.diff(array) >= 0).all()
        passed += int(not np.array_equal(array, original["features/name_offset"]))
    assert passed > 25


def test_resealed_files_get_past_the_checksums(weights, tmp_path):
    """Otherwise only the comparison of checksums would be tested."""
    read = 0
    for number in range(60):
        copy = tmp_path / "copy.h5"
        hdf5_files.mutate(Random(number), weights, copy, RESEALED, WEIGHTS)
        try:
            read_weights(copy)
            read += 1
        except InputError as error:
            message = str(error)
            assert "does not match its checksum" not in message
    assert read > 10


@pytest.mark.parametrize("name", sorted(raw_bytes.OPERATIONS))
def test_damage_to_bytes(name):
    content = bytes(range(256)) * 20
    assert sum(raw_bytes.damage(Random(number), content, name) != content for number in range(20)) > 10
    raw_bytes.damage(Random(1), b"x", name)


@pytest.mark.parametrize("name", sorted(texts.OPERATIONS))
def test_damage_to_text(name):
    changed = 0
    for number in range(20):
        lines = ARPA.encode().split(b"\n")
        texts.OPERATIONS[name](Random(number), lines)
        changed += lines != ARPA.encode().split(b"\n")
    assert changed > 8
    texts.OPERATIONS[name](Random(1), [b""])


def test_some_changed_text_is_still_read(tmp_path):
    read = 0
    for number in range(60):
        text, _ = texts.change(Random(number), ARPA.encode())
        with contextlib.suppress(Exception):  # the fuzzer checks that it is the right error
            parse_arpa(text, "lm.arpa")
            read += 1
    assert 3 < read < 57


def test_damage_to_documents(tmp_path):
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.write_text('{"a": {"b": [1, 2, {"c": "x"}]}, "name": "small"}')
    for mutate in (documents.mutate_json, documents.mutate_yaml):
        seen = set()
        for number in range(200):
            mutate(Random(number), original, copy, CHANGED)
            seen.add(copy.read_bytes())
        assert len(seen) > 100


def test_packed_text(tmp_path):
    original, copy = tmp_path / "x.gz", tmp_path / "copy.gz"
    original.write_bytes(gzip.compress(ARPA.encode(), mtime=0))
    changed, damaged = set(), set()
    for number in range(30):
        texts.mutate_packed(Random(number), original, copy, CHANGED)
        # a valid file, whatever its text
        changed.add(gzip.decompress(copy.read_bytes()))
        texts.mutate_packed(Random(number), original, copy, DAMAGED)
        damaged.add(copy.read_bytes())
    assert len(changed - {ARPA.encode()}) > 20
    assert len(damaged - {original.read_bytes()}) > 20


def test_parts_of_an_array_file_join_to_the_same_file(model):
    content = model.read_bytes()
    parts = array_files.Parts(content)
    assert parts.join(seal=True) == content
