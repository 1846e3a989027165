"""Text files, and the rules and features of grammars, lists and text grammars."""

import gzip
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.naive import extractor as naive

from itersel.grammar.grammar_kernels import GRAMMAR_RULE
from itersel.grammar.index import build_index
from itersel.grammar.sentence_grammars import SentenceGrammars
from itersel.grammar.sparse import SparseFeatures
from itersel.storage.files import read_lines


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    text = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def index_lines(folder: Path, source: Sequence[str], target: Sequence[str], alignment: Sequence[str]) -> Path:
    """Index an aligned corpus in a folder; returns the path of the index."""
    texts = {"source": source, "target": target, "alignment": alignment}
    build_index(*(write(folder / name, *lines) for name, lines in texts.items()), folder / "index")
    return folder / "index"


def rule_of(grammars: SentenceGrammars, rule: int) -> naive.Rule:
    sides = []
    for side, offset in ("rule_source", "rule_source_offset"), ("rule_target", "rule_target_offset"):
        symbols = getattr(grammars, side)[slice(*getattr(grammars, offset)[rule : rule + 2])].tolist()
        sides.append(tuple(symbol if symbol < 0 else grammars.vocabulary.get(symbol) for symbol in symbols))
    return sides[0], sides[1]


def rows_of(grammars: SentenceGrammars, sentence: int) -> list[tuple[int, naive.Rule, tuple[float, ...]]]:
    """Return the kind, the sides and the dense features of all rules of a sentence, in order."""
    bounds = grammars.grammar_offset[sentence : sentence + 2].tolist()
    rules, dense = grammars.grammar_rule[slice(*bounds)], grammars.dense(*bounds).tolist()
    return [
        (int(grammars.rule_kind[rule]), rule_of(grammars, rule), tuple(features))
        for rule, features in zip(rules, dense, strict=True)
    ]


def grammar_of(grammars: SentenceGrammars, sentence: int) -> dict[naive.Rule, naive.Entry]:
    """Return the extracted rules of a sentence; check that there are no duplicates."""
    entries = {}
    bounds = grammars.grammar_offset[sentence : sentence + 2].tolist()
    rules, dense = grammars.grammar_rule[slice(*bounds)], grammars.dense(*bounds).tolist()
    for rule, features in zip(rules, dense, strict=True):
        if grammars.rule_kind[rule] == GRAMMAR_RULE:
            points = slice(*grammars.rule_alignment_offset[rule : rule + 2])
            alignment = tuple((i, j) for i, j in grammars.rule_alignment[points].tolist())
            key = rule_of(grammars, rule)
            assert key not in entries
            entries[key] = naive.Entry(tuple(features), alignment)
    return entries


def features_by_rule(table: SentenceGrammars | SparseFeatures) -> list[dict[str, float]]:
    """Return the sparse features of each rule, by name."""
    names, feature = table.feature_name.to_list(), table.rule_feature.tolist()
    value, bounds = table.rule_feature_value.tolist(), table.rule_feature_offset.tolist()
    rows = itertools.starmap(range, itertools.pairwise(bounds))
    return [{names[feature[i]]: value[i] for i in row} for row in rows]


def read_kbest(path: Path) -> Iterator[tuple[int, str, dict[str, float], float]]:
    """Yield sentence number, text, features and score from k-best lists in cdec's format."""
    for line in read_lines(path):
        number, text, features, score = line.split(" ||| ")
        pairs = (item.rsplit("=", 1) for item in features.split(" "))
        yield int(number), text, {name: float(value) for name, value in pairs}, float(score)
