"""Memory and time that jobs request."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from itersel.config import read_config
from itersel.config.requests import REQUESTS, UNKNOWN_WORDS, requests, train_words
from itersel.config.values import Config

# words of 1.66 million pairs
PAPER = 47e6


def config_of(train: dict[str, Any] | None = None, **tasks: Any) -> Config:
    text = {"source": "x", "target": "x"}
    data = {"kind": "files", **dict.fromkeys(("dev", "devtest", "test"), text), "train": train or text}
    data |= {"source_language": "de", "target_language": "en"}
    experiment = {"algorithm": "itersel", "tune_on": "train", "tasks": tasks or {"shards": 2}}
    return read_config({"name": "x", "data": data, "experiments": {"x": experiment}})


def test_requests_grow_with_the_text() -> None:
    """They are at least what was measured with 1.66 million pairs, in 2,290 shards (docs/scale.md)."""
    config = config_of(shards=2290)
    small, large, huge = (requests(config, words) for words in (1e5, PAPER, 10 * PAPER))
    assert large.keys() == REQUESTS.keys()
    for name, one in REQUESTS.items():
        assert (huge[name]["mem_mb"] > large[name]["mem_mb"]) == one.grows, name
        assert large[name]["mem_mb"] >= small[name]["mem_mb"]
        assert large[name]["runtime"] >= small[name]["runtime"]
    measured = {
        "align_direction": 1860,
        "compile_language_model": 1320,
        "index_corpus": 3460,
        "shard_corpus": 1220,
        "extract_shard": 4370,
        "train_shard": 4380,
    }
    for name, memory in measured.items():
        assert 1.2 * memory <= large[name]["mem_mb"] <= 5 * memory, name
    assert max(one["mem_mb"] for one in small.values()) == 8000


def test_larger_shards_need_more_memory() -> None:
    few, many = (requests(config_of(shards=shards), PAPER) for shards in (100, 2290))
    for name in ("extract_shard", "train_shard", "write_lists"):
        assert few[name]["mem_mb"] > many[name]["mem_mb"]
    assert few["index_corpus"] == many["index_corpus"]


def test_words_follow_from_the_files(tmp_path: Path) -> None:
    text = b"hello world ,\n" * 30_000
    (tmp_path / "plain").write_bytes(text)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(b"".join(b"%d hallo\n" % i for i in range(30_000))))
    words = train_words(
        config_of({"source": str(tmp_path / "packed.gz"), "target": str(tmp_path / "plain")}), ""
    )
    assert 40_000 < words < 80_000
    missing = config_of({"source": str(tmp_path / "missing"), "target": str(tmp_path / "plain")})
    assert train_words(missing, "") == UNKNOWN_WORDS


def test_words_of_a_download_are_known_afterwards(tmp_path: Path) -> None:
    config = config_of({"mtdata": "Statmt-europarl-7-deu-eng"})
    assert train_words(config, str(tmp_path)) == UNKNOWN_WORDS
    (tmp_path / "train").mkdir()
    for side in ("source", "target"):
        (tmp_path / f"train/{side}.gz").write_bytes(gzip.compress(b"a b c\n", 0))
    assert train_words(config, str(tmp_path)) == pytest.approx(
        sum(path.stat().st_size for path in (tmp_path / "train").iterdir()) * 3 / 12
    )
