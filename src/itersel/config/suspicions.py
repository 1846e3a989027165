"""Find text of a config that can be read, but is probably wrong."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from itersel.config.tuners import Batch
from itersel.config.values import Config
from itersel.corpus.text import Bitext
from itersel.corpus.tokenization import SOUTH_EAST_LANGUAGES, UNSPACED_LANGUAGES, import_sacremoses
from itersel.lm.arpa import read_unigrams
from itersel.lm.ngrams import UNKNOWN

# Number of lines of a side that are examined, and of each block of train whose words are collected.
SAMPLE = 500
# Words of which only the header of a table consists.
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
# A point or comma that is a word of its own, and one that ends a word.
_PUNCTUATION = re.compile(r"\w [.,](?: |$)"), re.compile(r"\w[.,](?: |$)")
_STRIPPED = ".,;:!?\"'()[]“”„«»"


@dataclass
class _Found:
    """What is known about the pairs of a split."""

    scripts: list[str]  # alphabets of the two sides
    is_tokenized: bool
    has_header: bool
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
        self._words: Counter[str] = Counter()  # of the target side of train

    def add(self, split: str, block: Bitext) -> None:
        """Look at a block of pairs."""
        if split not in self._splits:
            self._splits[split] = self._look_at_first(block)
        found = self._splits[split]

        found.pairs += block.size
        found.empty += sum(not line.strip() for line in block.target)
        references = chain(block.target, *(block.further or ()))
        found.longest = max(found.longest, *(len(line.split()) for line in references), 0)

        if split != "train":
            found.sources.update(block.source)
            return

        if self._words.total() < 20 * SAMPLE:
            words = chain.from_iterable(map(str.split, block.target[:SAMPLE]))
            self._words.update(filter(None, (word.strip(_STRIPPED) for word in words)))

        for other in self._splits.values():
            other.same += len(other.sources.intersection(block.source))
            other.swapped += len(other.sources.intersection(block.target))

    def _look_at_first(self, block: Bitext) -> _Found:
        lines = [*block.source[:SAMPLE], *block.target[:SAMPLE]]
        free, attached = (sum(pattern.search(line) is not None for line in lines) for pattern in _PUNCTUATION)
        first = {side[0].strip().lower() for side in (block.source, block.target) if side}
        data = self._config.data
        names = _HEADER | {data.source_language, data.target_language}
        return _Found(
            [_script(side[:SAMPLE]) for side in (block.source, block.target)],
            is_tokenized=10 * free > len(lines) and free > 4 * attached,
            has_header=first <= names | {name.partition("-")[0] for name in names},
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
        if self._config.data.target_language.partition("-")[0] in UNSPACED_LANGUAGES:
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
            primary = language.partition("-")[0]
            if primary in SOUTH_EAST_LANGUAGES:
                yield (
                    f"'{language}' is written without spaces, so each character becomes a token; for better "
                    "translations, segment the text into words and set data.tokenized: true"
                )
            elif primary not in known and primary not in UNSPACED_LANGUAGES:
                yield f"Moses' tokeniser has no abbreviations for '{language}'; it uses those of English"

    def _sides(self) -> Iterator[str]:
        """Yield a warning for each split whose source and target are probably swapped."""
        data = self._config.data
        wanted = [
            _SCRIPT_OF.get(code.partition("-")[0], "LATIN")
            for code in (data.source_language, data.target_language)
        ]
        for split, found in self._splits.items():
            by_script = wanted[0] != wanted[1] and found.scripts == wanted[::-1]
            by_text = found.swapped > max(2, found.same, len(found.sources) // 20)
            if by_script or by_text:
                yield f"source and target of {split} seem to be swapped"

    def _short_references(self) -> Iterator[str]:
        for name, experiment in self._config.experiments.items():
            tuners = [experiment.learner, experiment.held_out.tuner]
            searching = [tuner for tuner in tuners if isinstance(tuner, Batch) and tuner.searches]
            if not searching:
                continue
            split = experiment.tune_on if experiment.learner in searching else "dev"
            if split in self._splits and 0 < self._splits[split].longest < 4:
                yield (
                    f"no reference of {split} has four words, so its BLEU is 0 whatever the weights: the "
                    f"tuner of experiment '{name}' will fail; use longer text, or another learner"
                )

    def _unknown_words(self, arpa: str) -> Iterator[str]:
        """Yield a warning if an ARPA file has hardly any word of train, which is lowercased."""
        if not self._words:
            return

        (known, order), wanted = read_unigrams(arpa), self._config.language_model.order
        if order != wanted:
            yield f"{arpa} is of order {order}, but language_model.order is {wanted}"
        if UNKNOWN not in known:
            yield f"{arpa} does not list {UNKNOWN}: unknown words will have a log10 probability of -100"

        lowercased: Counter[str] = Counter()
        for word, count in self._words.items():
            lowercased[word.lower()] += count
        small, cased = (_share(words, known) for words in (lowercased, self._words))
        if small < 0.3:
            case = "; was it made from text with capitals?" if cased > 2 * small else ""
            yield f"{arpa} has only {100 * small:.0f} % of the words of train, lowercased{case}"


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
