"""Grammar extraction in plain Python, from the definition in Chiang 2007, section 3.

Extracts every rule of every sentence pair by subtracting initial phrases from initial phrases, and then looks
up the rules of each grammar in the list. There is no index, so corpora must be tiny.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from itersel.config.extraction import ExtractionSettings

Words = tuple[str, ...]
Span = tuple[int, int]
# a word, or -1 or -2 for the first or second nonterminal of the source side
Symbol = str | int
Rule = tuple[tuple[Symbol, ...], tuple[Symbol, ...]]
Alignment = tuple[tuple[int, int], ...]
# the runs of words of a source side, and their begins in a sentence
Blocks = tuple[Words, ...]
Starts = tuple[int, ...]

INFINITE_COST = 99.0


class SentencePair(NamedTuple):
    """Words of both sides, and links (source position, target position)."""

    source: Words
    target: Words
    links: frozenset[tuple[int, int]]


class Entry(NamedTuple):
    """A rule in a grammar: its dense features in the order of GRAMMAR_FEATURES, and its alignment."""

    features: tuple[float, ...]
    alignment: Alignment


class Occurrence(NamedTuple):
    """An occurrence of a source side in the corpus."""

    sentence: int
    starts: Starts


def is_initial_phrase(pair: SentencePair, source: Span, target: Span) -> bool:
    """Return whether two spans are a tight initial phrase pair.

    They have a link, no link leaves the box, and the words at its four edges are aligned (of initial phrase
    pairs with the same links, only the smallest is kept).
    """
    inside = [(i, j) for i, j in pair.links if source[0] <= i < source[1] and target[0] <= j < target[1]]
    leaving = [(i, j) for i, j in pair.links if (source[0] <= i < source[1]) != (target[0] <= j < target[1])]
    rows, columns = {i for i, _ in inside}, {j for _, j in inside}
    edges = {source[0], source[1] - 1} <= rows and {target[0], target[1] - 1} <= columns
    return bool(inside) and not leaving and edges


def initial_phrases(pair: SentencePair, max_span: int) -> list[tuple[Span, Span]]:
    """Return all initial phrase pairs of at most `max_span` words on either side."""

    def spans(length: int) -> list[Span]:
        return [(i, j) for i in range(length) for j in range(i + 1, min(length, i + max_span) + 1)]

    return [
        (source, target)
        for source in spans(len(pair.source))
        for target in spans(len(pair.target))
        if is_initial_phrase(pair, source, target)
    ]


def write_side(words: Words, span: Span, gaps: Sequence[Span]) -> tuple[list[Symbol], dict[int, int]]:
    """Return one side of a rule, with gaps replaced by -1, -2, and the positions of its words there."""
    symbols: list[Symbol] = []
    places = {}
    position = span[0]
    while position < span[1]:
        gap = [number for number, (begin, _) in enumerate(gaps) if begin == position]
        if gap:
            symbols.append(-1 - gap[0])
            position = gaps[gap[0]][1]
        else:
            places[position] = len(symbols)
            symbols.append(words[position])
            position += 1
    return symbols, places


def split_blocks(symbols: Sequence[Symbol], start: int, gap_lengths: Sequence[int]) -> tuple[Blocks, Starts]:
    """Return the runs of words of a source side that begins at `start`, and their begins."""
    blocks, starts, position, gaps = [], [], start, list(gap_lengths)
    for is_gap, run in itertools.groupby(symbols, key=lambda symbol: isinstance(symbol, int)):
        if is_gap:
            position += gaps.pop(0)
        else:
            blocks.append(tuple(run))
            starts.append(position)
            position += len(blocks[-1])
    return tuple(blocks), tuple(starts)


def rules_of(
    pair: SentencePair, settings: ExtractionSettings
) -> Iterator[tuple[Blocks, Starts, Rule, Alignment]]:
    """Yield every rule of a sentence pair, once for each way to derive it."""
    phrases = initial_phrases(pair, settings.max_span)
    for source, target in phrases:
        parts = [
            (inner, outer)
            for inner, outer in phrases
            if source[0] <= inner[0] and inner[1] <= source[1] and inner[1] - inner[0] >= settings.min_gap
        ]
        for count in range(settings.max_nonterminals + 1):
            for chosen in itertools.combinations(sorted(parts), count):
                source_gaps, target_gaps = [gap for gap, _ in chosen], [gap for _, gap in chosen]
                # nonterminals are not adjacent on the source side
                if any(first[1] >= second[0] for first, second in itertools.pairwise(source_gaps)):
                    continue
                symbols, places = write_side(pair.source, source, source_gaps)
                target_symbols, target_places = write_side(pair.target, target, target_gaps)
                alignment = sorted(
                    (places[i], target_places[j]) for i, j in pair.links if i in places and j in target_places
                )
                if len(symbols) <= settings.max_symbols and alignment:
                    lengths = [end - begin for begin, end in source_gaps]
                    occurrence = split_blocks(symbols, source[0], lengths)
                    yield *occurrence, (tuple(symbols), tuple(target_symbols)), tuple(alignment)


def matches(words: Words, blocks: Blocks, settings: ExtractionSettings) -> Iterator[Starts]:
    """Yield the positions of the blocks in a sentence, with gaps of at least `min_gap` between them."""
    places = [[i for i in range(len(words)) if words[i : i + len(block)] == block] for block in blocks]
    for starts in itertools.product(*places):
        ends = [start + len(block) for start, block in zip(starts, blocks, strict=True)]
        gaps = [begin - end for end, begin in zip(ends[:-1], starts[1:], strict=True)]
        if all(gap >= settings.min_gap for gap in gaps) and ends[-1] - starts[0] <= settings.max_span:
            yield starts


def patterns_of(words: Words, settings: ExtractionSettings) -> set[Blocks]:
    """Return the possible runs of words in source sides of rules for a sentence."""
    found = set()
    runs = [(i, j) for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    for count in range(1, settings.max_nonterminals + 2):
        for chosen in itertools.combinations(runs, count):
            gaps = [second[0] - first[1] for first, second in itertools.pairwise(chosen)]
            symbols = sum(j - i for i, j in chosen) + len(gaps)
            is_short = symbols <= settings.max_symbols and chosen[-1][1] - chosen[0][0] <= settings.max_span
            if is_short and all(gap >= settings.min_gap for gap in gaps):
                found.add(tuple(words[i:j] for i, j in chosen))
    return found


class Extractor:
    """The rules of a corpus, by the occurrences that yield them."""

    def __init__(self, corpus: Sequence[SentencePair], settings: ExtractionSettings) -> None:
        self.corpus, self.settings = corpus, settings
        # (blocks, occurrence): {(rule, alignment)}
        self.rules: dict[tuple[Blocks, Occurrence], set[tuple[Rule, Alignment]]] = defaultdict(set)
        for number, pair in enumerate(corpus):
            for blocks, starts, rule, alignment in rules_of(pair, settings):
                self.rules[blocks, Occurrence(number, starts)].add((rule, alignment))
        self.links = link_counts(corpus)

    def suffix(self, occurrence: Occurrence) -> list[int]:
        """Return the text from an occurrence on: words by first appearance, 0 at sentence ends."""
        seen = list(dict.fromkeys(word for pair in self.corpus for word in pair.source))
        rest = [self.corpus[occurrence.sentence].source[occurrence.starts[0] :]]
        rest += [pair.source for pair in self.corpus[occurrence.sentence + 1 :]]
        return [number for words in rest for number in [*(1 + seen.index(word) for word in words), 0]]

    def sample(self, blocks: Blocks) -> list[Occurrence]:
        """Return evenly spaced occurrences: in suffix order, or in corpus order if they have gaps."""
        found = [
            Occurrence(number, starts)
            for number, pair in enumerate(self.corpus)
            for starts in sorted(matches(pair.source, blocks, self.settings))
        ]
        if len(blocks) == 1:
            found.sort(key=self.suffix)
        most = self.settings.max_samples
        if len(found) <= most:
            return found
        return [found[math.floor(k * len(found) / most + 0.5)] for k in range(most)]

    def grammar(self, words: Words, own: Collection[int] = ()) -> dict[Rule, Entry]:
        """Return the grammar of a sentence; `own` are the sentences of the corpus to leave out."""
        entries = {}
        for blocks in patterns_of(words, self.settings):
            sample = self.sample(blocks)
            others = [occurrence for occurrence in sample if occurrence.sentence not in own]
            found = [{rule for rule, _ in self.rules[blocks, occurrence]} for occurrence in others]
            count = Counter(rule for rules in found for rule in rules)
            source_count = Counter(source for rules in found for source in {rule[0] for rule in rules})
            votes: dict[Rule, Counter[Alignment]] = defaultdict(Counter)
            for occurrence in sample:
                for rule, alignment in self.rules[blocks, occurrence]:
                    votes[rule][alignment] += 1
            for rule in count:
                features = self.features(rule, len(others), count[rule], source_count[rule[0]])
                best = min(votes[rule], key=lambda alignment: (-votes[rule][alignment], alignment))
                entries[rule] = Entry(features, best)
        return entries

    def features(self, rule: Rule, samples: int, count: int, source_count: int) -> tuple[float, ...]:
        source = [symbol for symbol in rule[0] if isinstance(symbol, str)]
        target = [symbol for symbol in rule[1] if isinstance(symbol, str)]
        return (
            -math.log10(count / samples),
            math.log10(1 + samples),
            math.log10(1 + count),
            sum(self.cost(f, target, "source") for f in source),
            sum(self.cost(e, source, "target") for e in target),
            float(source_count == 1),
            float(count == 1),
        )

    def cost(self, word: str, others: Sequence[str], side: str) -> float:
        """Return -log10 of the largest p(word | other), where NULL is one of the others."""
        best = 0.0
        for other in [*others, None]:
            key, given = ((word, other), 1) if side == "source" else ((other, word), 0)
            total = sum(n for link, n in self.links.items() if link[given] == other)
            best = max(best, self.links[key] / total if total else 0.0)
        return -math.log10(best) if best else INFINITE_COST


def link_counts(corpus: Sequence[SentencePair]) -> Counter[tuple[str | None, str | None]]:
    """Count linked words; None stands for NULL, to which unaligned words are linked."""
    count: Counter[tuple[str | None, str | None]] = Counter()
    for pair in corpus:
        count.update((pair.source[i], pair.target[j]) for i, j in pair.links)
        sources, targets = {i for i, _ in pair.links}, {j for _, j in pair.links}
        count.update((f, None) for i, f in enumerate(pair.source) if i not in sources)
        count.update((None, e) for j, e in enumerate(pair.target) if j not in targets)
    return count
