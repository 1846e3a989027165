"""Find what can be read in a config and its text, but is probably wrong."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import itemgetter
from statistics import correlation, fmean, stdev
from typing import NamedTuple

from itersel.config.near_duplicates import NearDuplicates
from itersel.config.values import Config
from itersel.corpus.languages import SOUTH_EAST_LANGUAGES, is_unspaced, primary_language
from itersel.corpus.text import Bitext
from itersel.corpus.tokenization import import_sacremoses
from itersel.lm.arpa import read_unigrams
from itersel.lm.ngrams import UNKNOWN

# Number of lines of a side that are examined, and of each block of train whose words are collected.
SAMPLE = 500
SIDES = ("source", "target")
# Minimum number of pairs for correlating the lengths of two sides; the minimum correlation of sides that
# belong together; and the maximum number of lines by which one side is tried shifted.
MIN_PAIRS = 50
MIN_CORRELATION = 0.3
MAX_SHIFT = 3
# Lines of a window, since a shift may begin anywhere in a text.
WINDOW = MIN_PAIRS
# Minimum variation of lengths, relative to their mean, for a meaningful correlation.
MIN_VARIATION = 0.1
# Minimum share of near-duplicates in a held-out set for a warning.
MIN_NEAR_DUPLICATES = 0.01
# Minimum share of a side's words that occur on the other side of train, if the sides may be swapped.
MIN_SHARED_WORDS = 0.3
# A first line that consists only of these words is the header of a table.
_HEADER = frozenset(("source", "src", "target", "tgt", "trg", "text", "translation", "sentence", "label"))
# Languages that are recognised by their alphabet: the first word in the names of its letters in Unicode.
_SCRIPTS = {
    "CYRILLIC": ("ru", "uk", "bg", "be", "mk", "kk", "ky", "mn", "tg"),
    "GREEK": ("el",),
    "ARABIC": ("ar", "fa", "ur", "ps", "ug"),
    "HEBREW": ("he", "yi"),
    "DEVANAGARI": ("hi", "mr", "ne", "sa"),
    "CJK": ("zh", "ja"),
    "HANGUL": ("ko",),
    "THAI": ("th",),
    "ARMENIAN": ("hy",),
    "GEORGIAN": ("ka",),
}
_SCRIPT_OF = {language: script for script, languages in _SCRIPTS.items() for language in languages}
# Languages that are certainly written in Latin script.
_LATIN = (
    "af ca cs cy da de en es et eu fi fr ga gl hr hu id is it la lt lv mt nl no pl pt ro sk sl sq sv sw tr vi"
)
_SCRIPT_OF |= dict.fromkeys(_LATIN.split(), "LATIN")
# A point or comma that is a word of its own, and one that ends a word.
_PUNCTUATION = re.compile(r"\w [.,](?: |$)"), re.compile(r"\w[.,](?: |$)")
_STRIPPED = ".,;:!?\"'()[]“”„«»"


class _Slip(NamedTuple):
    """A window of pairs whose lengths only go together if the target is moved."""

    line: int  # the first, from 1
    measured: float  # correlation of the lengths
    shift: int  # by how many lines the target is moved
    best: float  # correlation then


@dataclass
class _Found:
    """What is known about the pairs of a split."""

    scripts: list[str]  # alphabets of the two sides
    words: tuple[Counter[str], Counter[str]]  # of the two sides
    correlation: dict[int, float]  # of the lengths of the two sides, the target moved by some lines
    is_tokenized: bool
    has_header: bool
    slip: _Slip | None = None  # where lines begin to be shifted
    pairs: int = 0
    empty: int = 0
    longest: int = 0  # words of a reference
    # of held-out sets: sources, and how many of them are a source or a target of train
    sources: set[str] = field(default_factory=set)
    same: int = 0
    swapped: int = 0


class Suspicions:
    """Looks at the pairs of all splits; held-out sets come before train."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._splits: dict[str, _Found] = {}
        self._near = NearDuplicates()
        self._words: tuple[Counter[str], Counter[str]] = Counter(), Counter()  # of the two sides of train

    def add(self, split: str, block: Bitext) -> None:
        """Look at a block of pairs."""
        if split not in self._splits:
            self._splits[split] = self._look_at_first(block)
        found = self._splits[split]

        found.slip = found.slip or _find_slip(block, found.pairs)
        found.pairs += block.size
        found.empty += sum(not line.strip() for line in block.target)
        references = chain(block.target, *(block.further or ()))
        found.longest = max(found.longest, *(len(line.split()) for line in references), 0)

        if split != "train":
            found.sources.update(block.source)
            self._near.hold_out(split, block.source)
            return

        for known, side in zip(self._words, (block.source, block.target), strict=True):
            if known.total() < 20 * SAMPLE:
                known.update(_words(side[:SAMPLE]))

        for other in self._splits.values():
            other.same += len(other.sources.intersection(block.source))
            other.swapped += len(other.sources.intersection(block.target))

        self._near.compare(block.source)

    def _look_at_first(self, block: Bitext) -> _Found:
        lines = [*block.source[:SAMPLE], *block.target[:SAMPLE]]
        free, attached = (sum(pattern.search(line) is not None for line in lines) for pattern in _PUNCTUATION)
        first = {side[0].strip().lower() for side in (block.source, block.target) if side}
        data = self._config.data
        names = _HEADER | {data.source_language, data.target_language}
        return _Found(
            [_script(side[:SAMPLE]) for side in (block.source, block.target)],
            (_words(block.source[:SAMPLE]), _words(block.target[:SAMPLE])),
            _correlations(block.source[:SAMPLE], block.target[:SAMPLE]),
            is_tokenized=10 * free > len(lines) and free > 4 * attached,
            has_header=first <= names | {primary_language(name) for name in names},
        )

    def warnings(self) -> Iterator[str]:
        """Yield a warning for each suspicion."""
        yield from self._languages()

        for split, found in self._splits.items():
            if found.has_header:
                yield f"the first pair of {split} looks like the header of a table; remove it"
        for split, found in self._splits.items():
            if 2 * found.empty >= found.pairs:
                yield f"{found.empty:,} of the {found.pairs:,} references of {split} are empty"
        for split, found in self._splits.items():
            if found.is_tokenized and not self._config.data.tokenized:
                yield (
                    f"the text of {split} seems to be tokenised: spaces precede points and commas; use the "
                    "original, or set data.tokenized: true"
                )

        yield from self._sides()
        yield from self._shifts()
        yield from self._near_duplicates()
        if is_unspaced(self._config.data.target_language):
            return  # words cannot be counted without tokenising

        yield from self._short_references()
        if self._config.language_model.arpa is not None:
            yield from self._unknown_words(self._config.language_model.arpa)

    def _languages(self) -> Iterator[str]:
        data = self._config.data
        if data.tokenized:
            return

        known = import_sacremoses().corpus.NonbreakingPrefixes().available_langs
        for language in dict.fromkeys((data.source_language, data.target_language)):
            primary = primary_language(language)
            if primary in SOUTH_EAST_LANGUAGES:
                yield (
                    f"'{language}' is written without spaces, so each character becomes a token; for better "
                    "translations, segment the text into words and set data.tokenized: true"
                )
            elif primary not in known and not is_unspaced(language):
                yield f"Moses' tokeniser has no abbreviations for '{language}'; it uses those of English"

    def _sides(self) -> Iterator[str]:
        """Yield a warning for each split with a side that is probably not in its language."""
        data = self._config.data
        codes = data.source_language, data.target_language
        wanted = [_script_of(code) for code in codes]

        for split, found in self._splits.items():
            by_script = all(wanted) and wanted[0] != wanted[1] and found.scripts == wanted[::-1]
            by_text = found.swapped > max(2, found.same, len(found.sources) // 20)
            by_words = [self._of_other_side(split, side) for side in range(2)]

            if by_script or by_text or all(by_words):
                why = f": {by_words[0]}" if by_words[0] else ""
                yield f"source and target of {split} seem to be swapped{why}"
                continue

            for side, code, script, there, why in zip(
                SIDES, codes, wanted, found.scripts, by_words, strict=True
            ):
                if script and there and there != script:
                    letters = f"nearly all of its letters are {_name(there)}, not {_name(script)}"
                    yield f"the {side} of {split} does not seem to be in '{code}': {letters}"
                elif why:
                    yield f"the {side} of {split} does not seem to be in '{code}': {why}"

    def _of_other_side(self, split: str, side: int) -> str:
        """Return how many words of a side the two sides of train have, if the other side has far more."""
        words = self._splits[split].words[side]
        if split == "train" or not words or not all(self._words):
            return ""
        own, other = (_share(words, set(self._words[place])) for place in (side, 1 - side))
        if other < MIN_SHARED_WORDS or other < 2 * own:
            return ""
        shares = f"{100 * own:.0f} % of its words are in the {SIDES[side]} of train"
        return f"{shares}, {100 * other:.0f} % in the {SIDES[1 - side]}"

    def _shifts(self) -> Iterator[str]:
        """Yield a warning for each split whose lines are probably not translations of each other."""
        for split, found in self._splits.items():
            what = f"the lengths of source and target of {split} do not go together"
            slip = found.slip
            measured = found.correlation.get(0, 1.0)

            if slip is not None and slip.line > 1:
                yield (
                    f"{what} in lines {slip.line:,} to {slip.line + WINDOW - 1:,} (correlation "
                    f"{slip.measured:.2f}): {_moved(slip.shift, slip.best)}; is there an extra or a missing "
                    "line above?"
                )
            elif measured < MIN_CORRELATION:
                shift, best = max(found.correlation.items(), key=itemgetter(1))
                advice = "are they translations of each other?"
                if best > 2 * MIN_CORRELATION:
                    advice = _moved(shift, best)
                yield f"{what} (correlation {measured:.2f}): {advice}"

    def _near_duplicates(self) -> Iterator[str]:
        for split, found in self._splits.items():
            count = self._near.count(split)
            total = len(found.sources)
            if count >= max(1, MIN_NEAR_DUPLICATES * total):
                yield (
                    f"{count:,} of the {total:,} different sources of {split} ({100 * count / total:.0f} %) "
                    "differ from one of train only in numbers or in one capitalised word; scores may tell "
                    "more about memory than about translation"
                )

    def _short_references(self) -> Iterator[str]:
        for name, experiment in self._config.experiments.items():
            tuner, split = experiment.batch_tuner, experiment.tune_on
            if tuner is None:
                tuner, split = experiment.retune.batch_tuner, "dev"
            if tuner is None or not tuner.searches_lines:
                continue
            if split in self._splits and 0 < self._splits[split].longest < 4:
                yield (
                    f"no reference of {split} has four words, so its BLEU is 0 whatever the weights: the "
                    f"tuner of experiment '{name}' will fail; use longer text, or another learner"
                )

    def _unknown_words(self, arpa: str) -> Iterator[str]:
        """Yield a warning if an ARPA file has hardly any word of train, which is lowercased."""
        words = self._words[1]
        if not words:
            return

        (known, order), wanted = read_unigrams(arpa), self._config.language_model.order
        if order != wanted:
            yield f"{arpa} is of order {order}, but language_model.order is {wanted}"
        if UNKNOWN not in known:
            yield f"{arpa} does not list {UNKNOWN}: unknown words will have a log10 probability of -100"

        lowercased: Counter[str] = Counter()
        for word, count in words.items():
            lowercased[word.lower()] += count
        small, cased = (_share(some, known) for some in (lowercased, words))
        if small < 0.3:
            case = "; was it made from text with capitals?" if cased > 2 * small else ""
            yield f"{arpa} has only {100 * small:.0f} % of the words of train, lowercased{case}"


def _script_of(code: str) -> str:
    """Return the alphabet of a language, or '' if it is not known for certain, as with ``kk-latn``."""
    language, *rest = code.split("-")
    return "" if any(len(part) == 4 for part in rest) else _SCRIPT_OF.get(language, "")


def _name(script: str) -> str:
    return "Chinese characters" if script == "CJK" else script.capitalize()


def _words(lines: Sequence[str]) -> Counter[str]:
    words = chain.from_iterable(map(str.split, lines))
    return Counter(filter(None, (word.strip(_STRIPPED) for word in words)))


def _correlations(source: Sequence[str], target: Sequence[str]) -> dict[int, float]:
    """Return the correlation of line lengths by shift of the target; none if lengths vary too little."""
    first, second = ([float(len(line)) for line in side] for side in (source, target))
    if len(first) < MIN_PAIRS or any(stdev(one) < MIN_VARIATION * fmean(one) for one in (first, second)):
        return {}

    found: dict[int, float] = {}
    for shift in sorted(range(-MAX_SHIFT, MAX_SHIFT + 1), key=abs):
        if found.get(0, 0.0) >= MIN_CORRELATION:
            # the sides belong together as they are, so no shift needs to be tried
            break
        # line i of the source and line i + shift of the target
        begin, end = max(0, -shift), len(first) - max(0, shift)
        sides = first[begin:end], second[begin + shift : end + shift]
        if all(len(set(side)) > 1 for side in sides):
            found[shift] = correlation(*sides)
    return found


def _find_slip(block: Bitext, before: int) -> _Slip | None:
    """Return the first window of a block, after `before` pairs, in which the target seems to be shifted."""
    for begin in range(0, block.size - WINDOW + 1, WINDOW):
        window = slice(begin, begin + WINDOW)
        found = _correlations(block.source[window], block.target[window])
        shift, best = max(found.items(), key=itemgetter(1), default=(0, 0.0))
        if found.get(0, 1.0) < MIN_CORRELATION and best > 2 * MIN_CORRELATION:
            return _Slip(before + begin + 1, found[0], shift, best)
    return None


def _moved(shift: int, best: float) -> str:
    lines = f"{abs(shift)} line{'s' * (abs(shift) > 1)}"
    return f"it is {best:.2f} if the target is moved {'up' if shift > 0 else 'down'} by {lines}"


def _share(words: Counter[str], known: set[str]) -> float:
    return sum(count for word, count in words.items() if word in known) / words.total()


def _script(lines: Sequence[str]) -> str:
    """Return the alphabet of nearly all letters of lines, or ''."""
    letters = Counter(filter(str.isalpha, chain.from_iterable(islice(line, 200) for line in lines)))
    found: Counter[str] = Counter()
    for letter, count in letters.items():
        name = unicodedata.name(letter, "?").partition(" ")[0]
        found["CJK" if name in ("HIRAGANA", "KATAKANA") else name] += count
    [(name, count)] = found.most_common(1) or [("", 0)]
    return name if count >= 0.8 * found.total() else ""
