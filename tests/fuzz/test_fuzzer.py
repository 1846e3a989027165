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
from tests.fuzz import array_files, arrays, documents, hdf5_files, texts
from tests.fuzz.cases import Case
from tests.fuzz.steps import MEMORY_LIMIT, TRACEBACK, Ended, judge
from tests.fuzz.targets import CHANGED, DAMAGED, RESEALED

from itersel.errors import InputError
from itersel.lm.arpa import parse_arpa
from itersel.lm.binary import FORMAT as MODEL
from itersel.lm.binary import compile_model
from itersel.storage.formats import Array, check_arrays
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
        (ended(errors="itersel mix: not enough memory; weights.h5\n"), {"": b""}, CHANGED, "memory"),
    ],
)
def test_verdicts(end, outputs, mode, outcome):
    assert judge(end, outputs, {"": b"", "out": b"1"}, ("weights.h5",), mode).outcome == outcome


@pytest.mark.slow
def test_faulty_readers_are_detected(root):
    """One for each kind of failure; other tests show that the intact reader passes."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-m", "tests.fuzz.broken"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=root, timeout=600)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


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
    for wrong in ("shard/changed/1", "corpus/damaged/1", "nothing/damaged/1"):
        with pytest.raises(ValueError, match="no case"):
            Case.parse(wrong, seed=1)


@pytest.mark.parametrize("name", sorted(hdf5_files.STRUCTURE))
def test_damage_to_the_structure_of_hdf5_files(name, weights, tmp_path):
    """Every operation works on an intact file; errors are ignored only after other damage."""
    done = 0
    times = 40 if name != "packed zeros" else 2  # takes a second each
    for number in range(times):
        copy = tmp_path / "copy.h5"
        copy.write_bytes(weights.read_bytes())
        with h5py.File(copy, "r+") as stream:
            try:
                hdf5_files.STRUCTURE[name](Random(number), stream)
                done += 1
            except ValueError:
                assert name == "huge size"  # HDF5 rejects 2**61 rows
    assert done > times // 4


@pytest.mark.parametrize("name", sorted(arrays.WEIGHTS))
def test_damage_to_arrays(name):
    sizes = {"N": 50}
    for dtype in ("|u1", "<i4", "<i8", "<u8", "<f4", "<f8"):
        for shape in ((9,), (6, 2), (1,)):
            declared = Array(dtype, ("D", 2)[: len(shape)])
            array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)[::-1].copy()
            results = [arrays.apply(Random(number), array, name, declared, sizes) for number in range(30)]
            if name not in arrays.SHAPES:
                assert all(result.dtype == array.dtype and result.shape == shape for result in results)
            if array.size > 1:
                assert any(result.tobytes() != array.tobytes() for result in results) or name == "dimensions"
    arrays.apply(Random(1), np.zeros(0, np.int32), name, Array("<i4", ("D",)), sizes)


@pytest.mark.parametrize("name", ["v", "features/name_offset"])
def test_values_as_declared(weights, name):
    """Values drawn within the declared bounds pass the check of the format."""
    with h5py.File(weights) as stream:
        original = {array: stream[array][()] for array in WEIGHTS.arrays}
    sizes = check_arrays(WEIGHTS, original, "original")
    changed = 0
    for number in range(50):
        declared = WEIGHTS.arrays[name]
        array = arrays.apply(Random(number), original[name], arrays.DECLARED, declared, sizes)
        if name == "v":
            check_arrays(WEIGHTS, {**original, name: array}, "changed")
        else:
            assert (array[0], array[-1]) == (0, original["features/name"].size)
            assert (np.diff(array) >= 0).all()
        changed += int(not np.array_equal(array, original[name]))
    assert changed > 25


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


@pytest.mark.parametrize("name", sorted(texts.WEIGHTS))
def test_damage_to_bytes_and_text(name):
    content = ARPA.encode() * 20
    assert sum(texts.damage(Random(number), content, name) != content for number in range(20)) > 8
    texts.damage(Random(1), b"x", name)


def test_some_changed_text_is_still_read(tmp_path):
    read = 0
    for number in range(60):
        text, _ = texts.change(Random(number), ARPA.encode())
        with contextlib.suppress(Exception):  # the fuzzer checks that it is the right error
            parse_arpa([text], "lm.arpa")
            read += 1
    assert 3 < read < 57


def test_damage_to_documents_and_packed_text(tmp_path):
    original, copy = tmp_path / "original", tmp_path / "copy"
    document = b'{"a": {"b": [1, 2, {"c": "x"}]}, "name": "small"}'
    for mutate, mode, content in (
        (documents.mutate_json, CHANGED, document),
        (documents.mutate_yaml, CHANGED, document),
        (texts.mutate_packed, CHANGED, gzip.compress(ARPA.encode(), mtime=0)),
        (texts.mutate_packed, DAMAGED, gzip.compress(ARPA.encode(), mtime=0)),
    ):
        original.write_bytes(content)
        seen = set()
        for number in range(100):
            mutate(Random(number), original, copy, mode)
            # a changed text is packed correctly
            is_packed = mutate is texts.mutate_packed and mode == CHANGED
            seen.add(gzip.decompress(copy.read_bytes()) if is_packed else copy.read_bytes())
        assert len(seen - {content, ARPA.encode()}) > 50


def test_parts_of_an_array_file_join_to_the_same_file(model):
    content = model.read_bytes()
    parts = array_files.Parts(content)
    body = parts.body(seal=True)
    assert array_files.container(json.dumps(parts.header), body) == content
