"""Gibbs sampling of word alignments, from its formulas: everything is counted again for each word."""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise, product

import numpy as np

from itersel.align.sampler_kernels import DECIDE, FERTILE, HMM, RANDOM

Pair = tuple[Sequence[int], Sequence[int]]
WORD = 2**64


class Generator:
    """splitmix64."""

    def __init__(self, state: int) -> None:
        self.state = self.mixed(state % WORD)

    @staticmethod
    def mixed(number: int) -> int:
        number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        number = (number ^ (number >> 27)) * 0x94D049BB133111EB % WORD
        return number ^ (number >> 31)

    def uniform(self) -> float:
        self.state = (self.state + 0x9E3779B97F4A7C15) % WORD
        return (self.mixed(self.state) >> 11) / 2**53


class Sample:
    """The links of all sentences: positions + 1, 0 for NULL, None if there is none yet.

    Those of `model` are counted, if there is one.
    """

    def __init__(self, pairs: Sequence[Pair], prior: float, model: "Sample | None" = None) -> None:
        self.pairs, self.prior, self.model = pairs, prior, model
        self.links: list[list[int | None]] = [[None] * len(generated) for _, generated in pairs]
        self.fertilities: Counter[tuple[int, int]] = Counter()

    def count_fertilities(self) -> None:
        """Count how often each given word has how many links."""
        self.fertilities.clear()
        for (given, generated), links in zip(self.pairs, self.links, strict=True):
            for position, word in enumerate(given if generated else (), 1):
                self.fertilities[word, min(links.count(position), 7)] += 1

    def scores(self, sentence: int, j: int, stage: int) -> list[float]:
        """Return the scores of NULL and of all positions for word j, which has no link now."""
        pairs, words, jumps = Counter[tuple[int, int]](), Counter[int](), Counter[int]()
        counted = self.model or self
        for (given, generated), links in zip(counted.pairs, counted.links, strict=True):
            place = -1
            for word, link in zip(generated, links, strict=True):
                if link is not None:
                    origin = given[link - 1] if link else 0
                    pairs[origin, word] += 1
                    words[origin] += 1
                if link:
                    jumps[clipped(link - 1 - place)] += 1
                    place = link - 1
            if given and generated:
                jumps[clipped(len(given) - place)] += 1
        given, generated = self.pairs[sentence]
        links = self.links[sentence]
        before = next((link - 1 for link in reversed(links[:j]) if link), -1)
        after = next((link - 1 for link in links[j + 1 :] if link), len(given))
        if self.model is None:
            # the jump over this word is not one of the others
            jumps[clipped(after - before)] -= 1

        def translation(word: int) -> float:
            return (0.001 + pairs[word, generated[j]]) * (1 / (self.prior + words[word]))

        found = [0.125 * translation(0)]
        if stage >= HMM:
            found[0] *= (0.5 + jumps[clipped(after - before)]) * (100 * 0.5 + sum(jumps.values()))
        for i, word in enumerate(given):
            score = translation(word)
            if stage >= HMM:
                score *= (0.5 + jumps[clipped(i - before)]) * (0.5 + jumps[clipped(after - i)])
            if stage >= FERTILE:
                now = links.count(i + 1)
                more = 0.5 + counted.fertilities[word, now + 1]
                ratio = more / (0.5 + counted.fertilities[word, now])
                score *= float(np.float32(1e-10 if now >= 6 else ratio))
            found.append(score)
        return found


def clipped(jump: int) -> int:
    """Return a jump, or the longest one that is counted."""
    return min(max(jump, -200), 200)


def align(
    pairs: Sequence[Pair], words: int, seed: int, stages: Sequence[int], models: Sequence[Sample] = ()
) -> list[Sample]:
    """Return samples; those of the last one are the result. `words`: generated words, with NULL."""
    samples = [Sample(pairs, min(1, words / 1000), model) for model in models or 3 * [None]]
    for number, stage in enumerate(stages):
        for sample in samples:
            sample.count_fertilities()
        for sentence, (given, generated) in enumerate(pairs):
            if not given:
                continue
            sums = [[0.0] * (len(given) + 1) for _ in generated]
            for sweep, (k, sample) in product(range(2 if stage == DECIDE else 1), enumerate(samples)):
                place = (2 * (0 if sample.model else sentence) + sweep) * len(samples) + k
                generator = Generator((1000 * seed + number) * 0x9E3779B97F4A7C15 + place)
                links = sample.links[sentence]
                for j in range(len(generated)):
                    links[j] = None
                    scores = sample.scores(sentence, j, stage)
                    drawn = generator.uniform()
                    if stage == DECIDE:
                        # rounded as in the kernel, because equal ones are frequent
                        ends = [0.0, *accumulate(scores)]
                        parts = [(end - begin) / ends[-1] for begin, end in pairwise(ends)]
                        sums[j] = [old + part for old, part in zip(sums[j], parts, strict=True)]
                    if stage == RANDOM:
                        links[j] = 0 if drawn < 0.125 else 1 + int((drawn - 0.125) / 0.875 * len(given))
                    elif stage == DECIDE and sweep == 1:
                        links[j] = sums[j].index(max(sums[j]))
                    else:
                        links[j] = next(
                            i for i in range(len(given) + 1) if sum(scores[: i + 1]) > drawn * sum(scores)
                        )
    return samples


def links_of(samples: Sequence[Sample]) -> list[int]:
    return [link or 0 for links in samples[-1].links for link in links]
