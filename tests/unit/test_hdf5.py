"""HDF5 files: a full disk (one line, no file left, no crash of the library), locks, packed arrays."""

import fcntl
import os
import zlib

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.damage import resealed
from tests.limited import limited
from tests.mixing import write_shards
from tests.refusals import input_error
from tests.steps import settings
from tests.text_grammars import write

from itersel.storage import hdf5
from itersel.storage.files import MAX_UNPACKING, UNPACKED_BYTES
from itersel.storage.formats import Array, FileFormat
from itersel.storage.hdf5 import open_hdf5, read_arrays, read_packed, write_arrays, write_hdf5, write_packed
from itersel.storage.hdf5_rows import stream_hdf5
from itersel.vectors.weights import FORMAT, make_weights, read_itersel_weights, write_itersel_weights

TRAIN_OUTPUT = """
import resource, sys
from itersel.grammar.build import Rule, make_grammars
from itersel.grammar.sentence_grammars import write_grammars
from itersel.vectors.weights import make_weights, write_itersel_weights
# before the limit: kernels that are not in the cache yet could not be kept there
weights = make_weights({f"f{i}": 1.0 for i in range(2000)})
grammars = make_grammars([[f"w{i}" for i in range(2000)]], None, [[]])
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for write, content in (write_itersel_weights, weights), (write_grammars, grammars):
    try:
        write(sys.argv[1], content)
    except OSError as error:
        print(error.filename, error.strerror)
"""
LARGE = UNPACKED_BYTES // 4 + 1


def test_full_disk_weights_and_grammars(tmp_path):
    path = tmp_path / "out.h5"
    done = limited(path, program=("-c", TRAIN_OUTPUT))
    assert (done.stdout, done.stderr, done.returncode) == (f"{path} File too large\n" * 2, "", 0)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """Return the manifest of three shards of 30,000 weights: W.h5 takes about 5 MB, v.h5 almost nothing."""
    folder = tmp_path_factory.mktemp("shards")
    weights = [{f"feature {z * 15_000 + i}": 1.0 + i for i in range(30_000)} for z in range(3)]
    return write(folder / "list", *write_shards(folder, weights))


def mix(folder, shards, size, *options):
    """Select features, with files of at most `size` bytes."""
    how = settings(mixing={"name": "selection", "select": 2}, shards=3)
    files = ["--inputs", shards, "--output", folder / "v.h5"]
    return limited("step", "mix", *files, *how, *options, file_size=size)


@pytest.mark.parametrize("size", [100, 100_000, 4_400_000])
def test_full_disk_matrix(tmp_path, shards, size):
    done = mix(tmp_path, shards, size, f"--matrix={tmp_path / 'W.h5'}")
    assert (done.stderr, done.returncode) == (f"itersel step mix: {tmp_path / 'W.h5'}: File too large\n", 1)
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_full_disk_when_all_but_the_end_is_written(tmp_path, shards):
    """Find the sizes of W.h5 and v.h5, then allow one byte less."""
    matrix = f"--matrix={tmp_path / 'W.h5'}"
    assert mix(tmp_path, shards, 1 << 30, matrix).returncode == 0
    sizes = {}
    for path in tmp_path.iterdir():
        sizes[path.name] = path.stat().st_size
        path.unlink()
    assert sizes["W.h5"] > 4_400_000
    assert sizes["v.h5"] < 100_000
    for name, options in (("W.h5", [matrix]), ("v.h5", [])):
        done = mix(tmp_path, shards, sizes[name] - 1, *options)
        assert done.stderr == f"itersel step mix: {tmp_path / name}: File too large\n"
        assert os.listdir(tmp_path) == []


def test_streams_are_written_in_steps(tmp_path):
    data = np.arange(300_000)
    with stream_hdf5(tmp_path / "disk.h5") as (stream, check):
        stream.create_dataset("a", (0,), np.int64, maxshape=(None,), chunks=(1000,))
        for begin in range(0, 300_000, 29_999):
            part = data[begin : begin + 29_999]
            stream["a"].resize((begin + part.size,))
            stream["a"][begin:] = part
            check()
    with h5py.File(tmp_path / "disk.h5") as stream:
        assert np.array_equal(stream["a"][:], data)


@pytest.mark.parametrize("way", [write_hdf5, stream_hdf5])
def test_nothing_is_left_on_errors(tmp_path, way):
    with pytest.raises(KeyError), way(tmp_path / "out.h5"):
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_be_opened(tmp_path):
    (tmp_path / "text").write_text("a 1\n")
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    with write_hdf5(tmp_path / "cut") as stream:
        stream["a"] = np.arange(1000)
    os.truncate(tmp_path / "cut", 1000)
    for name in ("text", "empty", "cut", "folder", "missing"):
        with input_error(f"{tmp_path / name}:"):
            open_hdf5(tmp_path / name)


def test_permissions(tmp_path, request):
    (tmp_path / "a.h5").touch(mode=0)
    request.getfixturevalue("ordinary_user")
    with pytest.raises(PermissionError):
        open_hdf5(tmp_path / "a.h5")


def test_variable_length_texts_are_not_read(tmp_path):
    """HDF5 stores them in a heap without a checksum; if that is damaged, it may search endlessly."""
    path = tmp_path / "w.h5"
    write_itersel_weights(path, make_weights({"a": 1.0}), {"kind": "x", "nothing": "", "umlaut": "\u00e4"})
    assert b"GCOL" not in path.read_bytes()  # the beginning of such a heap
    assert read_arrays(path, FORMAT)[1] == {"kind": "x", "nothing": "", "umlaut": "\u00e4"}
    with h5py.File(path, "r+") as stream:
        stream.attrs["kind"] = "x"
    with input_error(f"{path}:", "'kind'"):
        read_itersel_weights(path)


@pytest.mark.parametrize("dtype", [h5py.string_dtype(), h5py.ref_dtype, h5py.vlen_dtype(int), "S4", "V8"])
def test_arrays_of_anything_but_numbers(tmp_path, dtype):
    path = tmp_path / "w.h5"
    write_itersel_weights(path, make_weights({"a": 1.0}))
    with resealed(path) as stream:
        del stream["v"]
        stream.create_dataset("v", (1,), dtype)
    with input_error(f"{path}:", "'v'"):
        read_itersel_weights(path)


def test_reading_needs_no_lock(tmp_path):
    """A file system that refuses locks is not a damaged file."""
    path = tmp_path / "weights.h5"
    write_itersel_weights(path, make_weights({"a": 1.0}))
    with path.open("rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert read_itersel_weights(path).to_dict() == {"a": 1.0}


def test_a_large_array_of_equal_numbers(tmp_path):
    """It unpacks to several hundred times its size, the whole file does not; real grammars are like that."""
    arrays = {name: Array("<i4", (name,)) for name in ("equal", "other")}
    form = FileFormat("numbers", 1, ("itersel",), arrays, packed=True)
    equal = np.ones(UNPACKED_BYTES // 4 + 1, np.int32)
    other = np.random.default_rng(1).integers(1 << 30, size=1 << 18, dtype=np.int32)
    write_arrays(tmp_path / "file.h5", form, {"equal": equal, "other": other}, {})
    with h5py.File(tmp_path / "file.h5") as stream:
        assert equal.nbytes > MAX_UNPACKING * stream["equal"].id.get_storage_size()
    found, _ = read_arrays(tmp_path / "file.h5", form)
    np.testing.assert_array_equal(found["equal"], equal)


# Arrays packed by libdeflate are those of HDF5's filters, in both directions.

DTYPES = ("|u1", "<u2", "<i4", "<u8", "<f4", ">i4")
FORM = FileFormat("numbers", 1, ("itersel",), {"a": Array("<i4", ("A",))}, packed=True)


def in_memory():
    return h5py.File("memory", "w", driver="core", backing_store=False)


def numbers(seed, dtype, shape):
    return np.random.default_rng(seed).integers(200, size=shape).astype(dtype)


shapes = st.one_of(
    st.tuples(st.integers(1, 70)),
    st.tuples(st.integers(1, 30), st.integers(1, 4)),
    st.tuples(st.integers(1, 9), st.integers(1, 3), st.integers(1, 3)),
)


@given(st.integers(0, 99), st.sampled_from(DTYPES), shapes, st.booleans(), st.sampled_from([8, 64, 1 << 18]))
def test_hdf5_reads_what_is_packed(seed, dtype, shape, shuffled, chunk_bytes):
    array = numbers(seed, dtype, shape)
    with pytest.MonkeyPatch.context() as patch, in_memory() as stream:
        patch.setattr(hdf5, "CHUNK_BYTES", chunk_bytes)
        write_packed(stream, "a", array, shuffled)
        for found in (stream["a"][:], read_packed(stream["a"])):
            assert found.dtype == array.dtype
            np.testing.assert_array_equal(found, array)
        assert (stream["a"].compression, stream["a"].shuffle) == ("gzip", shuffled)


@given(st.integers(0, 99), st.sampled_from(DTYPES), shapes, st.data())
def test_what_hdf5_packs_is_read(seed, dtype, shape, data):
    array = numbers(seed, dtype, shape)
    filters = [{}, {"compression": "gzip"}, {"compression": "lzf"}, {"fletcher32": True}]
    options = {"shuffle": data.draw(st.booleans()), **data.draw(st.sampled_from(filters))}
    chunk = tuple(data.draw(st.integers(1, size + 3)) for size in shape)
    with in_memory() as stream:
        unlimited = (None,) * len(shape)
        stream.create_dataset("a", shape, array.dtype, chunks=chunk, maxshape=unlimited, **options)
        stream["a"][...] = array
        np.testing.assert_array_equal(read_packed(stream["a"]), array)


def test_arrays_without_chunks():
    options = {"chunks": (1, 1), "maxshape": (None, None), "compression": "gzip"}
    with in_memory() as stream:
        stream["a"], stream["empty"] = np.arange(9), np.zeros((0, 3))
        stream.create_dataset("wide", (0, 10**11), np.int32, **options)
        np.testing.assert_array_equal(read_packed(stream["a"]), np.arange(9))
        assert [read_packed(stream[name]).shape for name in ("empty", "wide")] == [(0, 3), (0, 10**11)]


def test_chunks_that_did_not_become_smaller():
    """HDF5 stores them as they are, and marks them."""
    array = np.random.default_rng(1).integers(1 << 31, size=1000).astype(np.int32)
    with in_memory() as stream:
        write_packed(stream, "a", array, shuffled=True)
        both = 0b11
        stream["a"].id.write_direct_chunk((0,), array.tobytes(), both)
        np.testing.assert_array_equal(read_packed(stream["a"]), array)


def write_chunk(chunk):
    return lambda stream: stream["a"].id.write_direct_chunk((0,), chunk)


def recreate(chunk, filled=0, size=100):
    """Return a change: an array in chunks, of which only some numbers are written."""

    def change(stream):
        del stream["a"]
        options = {"chunks": (chunk,), "maxshape": (None,), "compression": "gzip"}
        stream.create_dataset("a", (size,), np.int32, **options)[:filled] = 1

    return change


@pytest.mark.parametrize(
    ("change", "sizes"),
    [
        (write_chunk(b"\x00" * 20), ()),
        (write_chunk(zlib.compress(bytes(400))[:-1]), ()),
        (write_chunk(zlib.compress(bytes(399))), ()),
        (write_chunk(zlib.compress(bytes(401))), ()),
        *((recreate(chunk), ()) for chunk in (10, 30, 100)),
        *((recreate(chunk, chunk), ()) for chunk in (10, 30)),
        (lambda stream: (stream.pop("a"), stream.create_dataset("a", data=np.int32(5))), ()),
        (lambda stream: (stream.pop("a"), stream.create_group("a")), ()),
        # a small file must not make the process allocate more than fits in memory
        (recreate(LARGE), 4 * LARGE),
        (recreate(1 << 20, size=1 << 40), (1 << 42, 0)),
        (recreate(1 << 20, filled=LARGE, size=LARGE), 4 * LARGE),
    ],
)
def test_damaged_arrays(tmp_path, change, sizes):
    path = tmp_path / "numbers.h5"
    write_arrays(path, FORM, {"a": np.arange(100, dtype=np.int32)}, {})
    with h5py.File(path, "r+", libver=("v110", "v110")) as stream:
        change(stream)
    with input_error(f"{path}:", "'a'", sizes):
        read_arrays(path, FORM)


def test_types_that_numpy_stores_differently():
    twelve_bits = h5py.h5t.STD_I32LE.copy()
    twelve_bits.set_precision(12)
    twelve_bits.set_offset(8)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((4,))
    properties.set_deflate(1)
    with in_memory() as stream:
        h5py.h5d.create(stream.id, b"a", twelve_bits, h5py.h5s.create_simple((4,)), properties)
        stream["a"][:] = [0, 1, 2, 3]
        assert read_packed(stream["a"]).tolist() == [0, 1, 2, 3]
