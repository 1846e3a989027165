"""The sentences of the test sets with all translations: their scores, and what the page shows of them.

Two systems are told apart as in compare-mt (Neubig et al. 2019): by the kinds of sentences that each
translates better, and by n-grams.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from operator import or_
from pathlib import Path
from typing import Any, NamedTuple

from sacrebleu.metrics.chrf import CHRF

from itersel.corpus.prepare import read_preparation
from itersel.corpus.text import split_words
from itersel.corpus.text_names import RAW_SOURCE, column_file, split_of_test_set
from itersel.evaluate.metrics import signature
from itersel.evaluate.texts import read_translations, without_empty
from itersel.report.folder import FoundRepeat, plain_references_of, references_of, translation_of
from itersel.report.page.groups import Frequency, group_sentences
from itersel.results import CORPUS, PREPARATION, detokenized_text
from itersel.storage.files import read_lines

# Longest n-grams, and the number of those that the page keeps.
LONGEST, MOST = 4, 1000


class TestSetTexts(NamedTuple):
    """The source of a test set, its references, and its translations by each system."""

    source: list[str]
    references: list[list[str]]
    translations: list[list[str]]


class Translated(NamedTuple):
    """A test set as the page shows it, and its tokens, which are also shown where there is no other text."""

    name: str
    systems: list[str]
    shown: TestSetTexts
    tokens: TestSetTexts


def read_translated(
    results: Path, name: str, repeats: Sequence[FoundRepeat], others: Sequence[str] = ()
) -> Translated | None:
    """Return a test set with the translations by all repeats that have some; None if there are none yet.

    Detokenised text (``evaluation/<name>``) is shown if there is some. It may have text of `others`, too,
    which are not experiments.
    """
    split = split_of_test_set(name)
    corpus = results / CORPUS
    source, raw_source = (corpus / column_file(split, column) for column in ("source", RAW_SOURCE))
    plain = {one.folder: path for one in repeats if (path := translation_of(one.path, name)) is not None}
    files = references_of(corpus, split)
    if not plain or not files:
        return None

    reference = read_lines(files[0])

    def parallel(paths: Iterable[Path]) -> list[list[str]]:
        return [read_translations(path, [reference], files[0]) for path in paths]

    # translations in n-best lists may come without their sources
    [lines] = parallel([source]) if source.is_file() else [[""] * len(reference)]
    tokens = TestSetTexts(lines, parallel(files), parallel(plain.values()))

    raw = plain_references_of(results, name)
    outputs = {one: results / detokenized_text(name, one) for one in (*plain, *others)}
    texts = {one: path for one, path in outputs.items() if path.is_file()}
    if not raw or not texts.keys() >= plain.keys():
        return Translated(name, list(plain), tokens, tokens)

    sources = [path for path in (raw_source, source) if path.is_file()]
    [shown_source] = parallel(sources[:1]) or [lines]
    shown = TestSetTexts(shown_source, parallel(raw), parallel(texts.values()))

    further = shown.translations[len(plain) :]
    if further:
        prepare = read_preparation(results / PREPARATION).prepare_cleaned_target
        tokens.translations.extend(map(prepare, further))

    return Translated(name, list(texts), shown, tokens)


def pack(test_set: Translated, frequencies: Mapping[str, Frequency] | None) -> dict[str, Any]:
    """Return what the page shows of a test set.

    ``rows`` has, for each sentence: source, references, its different translations (systems often agree), for
    each of ``systems`` an index into these, the chrF of each (in tenths), and the sentence's place in each of
    the ``groupings``. Everything about a sentence is adjacent, which compresses well.
    """
    shown, tokens = test_set.shown, test_set.tokens
    groupings = []
    if any(tokens.source):
        groupings = list(group_sentences(tokens.source, tokens.translations, frequencies))

    scored = sentence_scores(test_set)
    rows = [
        [source, list(references), *scores, [grouping.groups[number] for grouping in groupings]]
        for number, (source, references, scores) in enumerate(
            zip(shown.source, zip(*shown.references, strict=True), scored, strict=True)
        )
    ]

    return {
        "name": test_set.name,
        "systems": test_set.systems,
        "rows": rows,
        "groupings": [{"title": one.title, "labels": one.labels} for one in groupings],
        "ngrams": count_matches(tokens.references, tokens.translations),
        "signature": signature_of_sentences(len(shown.references)),
    }


def sentence_scores(test_set: Translated) -> list[tuple[list[str], list[int], list[int]]]:
    """Return each sentence's different translations, for each system an index into these, and chrF x 10."""
    chrf = CHRF()
    shown = test_set.shown
    sides = (zip(*lines, strict=True) for lines in (without_empty(shown.references), shown.translations))

    scored = []
    for references, translations in zip(*sides, strict=True):
        found: dict[str, int] = {}
        which = [found.setdefault(line, len(found)) for line in translations]
        known = [reference for reference in references if reference is not None]
        scores = [round(float(chrf.sentence_score(text, known).score) * 10) for text in found]
        scored.append((list(found), which, scores))
    return scored


def signature_of_sentences(references: int) -> str:
    """Return the signature of the scores of sentences with this many references."""
    return signature(CHRF(references=[[""]] * references))


def count_matches(
    references: Sequence[Sequence[str]], translations: Sequence[Sequence[str]]
) -> list[tuple[str, tuple[int, ...]]]:
    """Return the n-grams that some system translates more often than another, those that differ most first.

    `references` and `translations` are tokens: for each reference or system, a line per sentence. With each
    n-gram comes how often the translations of each system share it with a reference, at most as often as the
    reference that has it most often. The order is that of the ratio of counts, each plus one, as in
    compare-mt.
    """
    # the union of counters takes the larger of two counts
    expected = [
        reduce(or_, (Counter(_ngrams(line)) for line in lines)) for lines in zip(*references, strict=True)
    ]
    total = Counter(chain.from_iterable(one.elements() for one in expected))

    matches: dict[str, list[int]] = {}
    for system, lines in enumerate(translations):
        for one, line in zip(expected, lines, strict=True):
            for ngram, count in (Counter(_ngrams(line)) & one).items():
                # otherwise it cannot differ by two
                if total[ngram] > 1:
                    matches.setdefault(ngram, [0] * len(translations))[system] += count

    found = [
        (-(max(counts) + 1) / (min(counts) + 1), min(counts) - max(counts), ngram)
        for ngram, counts in matches.items()
        if max(counts) - min(counts) > 1
    ]
    return [(ngram, tuple(matches[ngram])) for *_, ngram in sorted(found)[:MOST]]


def _ngrams(line: str) -> Iterator[str]:
    words = split_words(line)
    for length in range(1, LONGEST + 1):
        for begin in range(len(words) - length + 1):
            yield " ".join(words[begin : begin + length])
