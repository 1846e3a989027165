"""Small text grammars, and shards made from them."""

import gzip
from pathlib import Path

from itersel.grammar.shard import Shard, read_shard
from itersel.grammar.text import (
    import_grammars,
)


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    text = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def import_one(folder: Path, *lines: str, text: str = "a b") -> Shard:
    """Import one sentence with a grammar consisting of these lines."""
    write(folder / "g" / "grammar.0", *lines)
    import_grammars(write(folder / "text", text), folder / "g", folder / "shard.h5")
    return read_shard(folder / "shard.h5")


def listed_rules(shard: Shard, sentence: int = 0) -> list[tuple]:
    """Return the kind, source and target side of the rules of a sentence, as words."""
    words = shard.vocabulary.to_list()

    def side(symbols, offset, rule):
        return tuple(words[s] if s >= 0 else s for s in symbols[offset[rule] : offset[rule + 1]].tolist())

    begin, end = shard.grammar_offset[sentence : sentence + 2]
    return [
        (
            int(shard.rule_kind[rule]),
            side(shard.rule_source, shard.rule_source_offset, rule),
            side(shard.rule_target, shard.rule_target_offset, rule),
        )
        for rule in shard.grammar_rule[begin:end].tolist()
    ]
