"""Reading and merging shards by ranges of keys, compared with a dictionary of dictionaries."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import MANY
from tests.naive.selection import column_norm, second_hash

from itersel.config.numbered import NORMS
from itersel.select import merge_kernels as kernels
from itersel.select.merge_kernels import Entries, WeightColumns, make_columns, merge_entries
from itersel.select.shard_files import ShardReader
from itersel.storage.strings import string_table
from itersel.vectors.feature_kernels import hash_names
from itersel.vectors.shard_weights import locate_weights
from itersel.vectors.weights import make_weights, write_itersel_weights

HIGHEST, FINE = 2**64 - 1, (-1, -1)
# Keys close together and far apart, at both ends of the range.
KEYS = st.one_of(st.integers(0, 9), st.integers(0, HIGHEST), st.integers(HIGHEST - 9, HIGHEST))
SHARD = st.dictionaries(KEYS, st.integers(-2, 2).map(float), max_size=12)


def make_entries(shards: list[dict[int, float]]) -> Entries:
    rows = [(key, shard[key]) for shard in shards for key in sorted(shard)]
    table = string_table([str(key) for key, _ in rows])
    return Entries(
        np.cumsum([0] + [len(shard) for shard in shards]).astype(np.int64),
        np.array([key for key, _ in rows], np.uint64),
        np.array([second_hash(str(key)) for key, _ in rows], np.uint64),
        np.array([value for _, value in rows], np.float64),
        table.data.copy(),  # writable, as all arrays outside of tests
        table.offset,
    )


def merge(entries: Entries) -> tuple[WeightColumns, int, tuple[int, int]]:
    columns = make_columns(entries.key.shape[0])
    count, *bad = merge_entries(entries, np.uint64(0), np.uint64(HIGHEST), columns)
    return columns, count, (bad[0], bad[1])


def as_dictionary(columns: WeightColumns, count: int) -> dict[int, dict[int, float]]:
    shard, value, offset = columns.shard.tolist(), columns.value.tolist(), columns.offset.tolist()
    ranges = [range(*offset[c : c + 2]) for c in range(count)]
    keys = columns.key[:count].tolist()
    return {key: {shard[i]: value[i] for i in one} for key, one in zip(keys, ranges, strict=True)}


def transposed(shards: list[dict[int, float]]) -> dict[int, dict[int, float]]:
    keys = sorted({key for shard in shards for key, value in shard.items() if value})
    return {key: {z: shard[key] for z, shard in enumerate(shards) if shard.get(key)} for key in keys}


@MANY
@given(st.lists(SHARD, min_size=1, max_size=6))
def test_merge_transposes(shards: list[dict[int, float]]) -> None:
    entries = make_entries(shards)
    columns, count, bad = merge(entries)
    assert bad == FINE
    expected = transposed(shards)
    # also in the order of keys and shards
    assert repr(as_dictionary(columns, count)) == repr(expected)
    assert entries.key[columns.first[:count]].tolist() == list(expected)


@pytest.mark.parametrize("is_uniform", [True, False])
def test_merge_of_many_blocks(is_uniform: bool) -> None:
    """If keys are not uniform, most are in one block, whose memory is enlarged."""
    random = np.random.default_rng(1)
    highest = HIGHEST if is_uniform else HIGHEST // 4
    pool = random.integers(0, highest, size=3 * kernels.BLOCK, dtype=np.uint64).tolist()
    chosen = [random.choice(pool, kernels.BLOCK).tolist() for _ in range(4)]
    shards = [{key: float(random.normal()) for key in keys} for keys in chosen]
    columns, count, bad = merge(make_entries(shards))
    assert bad == FINE
    assert as_dictionary(columns, count) == transposed(shards)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.1e12, -1.1e12])
def test_value_beyond_the_limit(value: float) -> None:
    entries = make_entries([{1: 1.0}, {1: 1.0, 5: value}])
    assert merge(entries)[1:] == (0, (2, 2))


def test_two_names_of_one_key() -> None:
    entries = make_entries([{1: 1.0, 7: 1.0}, {7: 1.0}])
    assert merge(entries)[2] == FINE
    entries.check[2] += np.uint64(1)
    assert merge(entries)[2] == (2, 1)


def checks_of(names: list[str]) -> list[int]:
    table, check = string_table(names), np.empty(len(names), np.uint64)
    assert hash_names(table.data, table.offset, check)
    return check.tolist()


@MANY
@given(st.lists(st.text(min_size=1, max_size=30), max_size=6))
def test_second_hashes(names: list[str]) -> None:
    assert checks_of(names) == [second_hash(name) for name in names]


def test_second_hashes_differ_where_keys_are_equal() -> None:
    """Names that differ in one place, in the parts that overlap, in their length, or in two places.

    Of two changes, one in a byte that two words share and one in the last byte could cancel.
    """
    names = {"0" * length for length in range(1, 40)}
    names |= {f"{n[:i]}{c}{n[i + 1 :]}" for n in names for i in range(len(n)) for c in "12"}
    for length in (12, 20):
        name = "B:one184:two189:9999"[:length]
        for i, j in itertools.combinations(range(length), 2):
            names |= {f"{name[:i]}{a}{name[i + 1 : j]}{b}{name[j + 1 :]}" for a in range(9) for b in range(9)}
    assert len({*checks_of([*names])}) == len(names) > 15000


@pytest.mark.parametrize("offset", [[0, 4, 3], [0, 3, 3], [0, 2, 9], [-1, 2, 4], [2, -5, 4], [0, 2**62, 4]])
def test_second_hashes_of_damaged_names(offset: list[int]) -> None:
    data = np.zeros(4, np.uint8)
    assert not hash_names(data, np.array(offset), np.empty(2, np.uint64))


@pytest.mark.parametrize("norm", NORMS)
@given(st.lists(st.lists(st.integers(-4, 4).filter(bool), min_size=1, max_size=5), max_size=5))
def test_norms_and_sums(norm: str, columns: list[list[int]]) -> None:
    offset = np.cumsum([0] + [len(column) for column in columns]).astype(np.int64)
    value = np.array([entry for column in columns for entry in column], np.float64)
    norms = kernels.column_norms(offset, value, NORMS[norm]).tolist()
    assert norms == [column_norm(column, norm) for column in columns]
    assert kernels.column_sums(offset, value).tolist() == [sum(column) for column in columns]


@pytest.mark.parametrize(("range_entries", "shard_entries"), [(1, 99), (7, 99), (1000, 999), (1000, 2)])
def test_ranges_contain_every_entry_once(tmp_path, monkeypatch, range_entries, shard_entries):
    monkeypatch.setattr("itersel.select.shard_files.SHARD_ENTRIES", shard_entries)
    monkeypatch.setattr("itersel.select.shard_files.RANGE_ENTRIES", range_entries)
    random = np.random.default_rng(range_entries)
    shards = []
    for z in range(5):
        features = random.integers(60, size=30 * (z % 3))
        shards.append(make_weights({f"f{i}": float(random.normal()) for i in features}))
        write_itersel_weights(tmp_path / f"{z}.h5", shards[-1])
    found: list[list[tuple[int, float, str]]] = [[] for _ in shards]
    reader = ShardReader([locate_weights(str(tmp_path / f"{z}.h5")) for z in range(5)])
    limit, ranges = -1, 0
    for low, high, entries in reader.read():
        assert low == limit + 1
        ranges += 1
        limit = int(high)
        assert entries.key.shape[0] <= reader.largest_range
        for z in range(5):
            for i in range(entries.begin[z], entries.begin[z + 1]):
                assert low <= entries.key[i] <= high
                name = entries.name[entries.name_offset[i] : entries.name_offset[i + 1]].tobytes().decode()
                found[z].append((int(entries.key[i]), float(entries.value[i]), name))
    assert limit == HIGHEST
    total = sum(weights.key.shape[0] for weights in shards)
    assert ranges == max(1, total // min(range_entries, 5 * shard_entries))
    for weights, rows in zip(shards, found, strict=True):
        expected = zip(weights.key.tolist(), weights.value.tolist(), weights.name.to_list(), strict=True)
        assert rows == list(expected)
