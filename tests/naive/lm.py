"""Language models in plain Python, from the definitions, without arrays."""

import math
from collections import Counter, defaultdict

UNKNOWN, START, END = "<unk>", "<s>", "</s>"

# n-gram (tuple of words): (log10 probability, log10 backoff)
Model = dict[tuple[str, ...], tuple[float, float]]


def score_word(model: Model, context: tuple[str, ...], word: str) -> tuple[float, int]:
    """Return log10 p(word | context) and the length of the n-gram found, by the definition of backoff."""
    ngram = (*context, word)
    if ngram in model:
        return model[ngram][0], len(ngram)
    if not context:
        return model[(UNKNOWN,)][0], 1
    probability, used = score_word(model, context[1:], word)
    return model.get(context, (0.0, 0.0))[1] + probability, used


def score_sentence(model: Model, order: int, words: list[str]) -> float:
    """Return log10 p of a sentence, including its end."""
    known = [word if (word,) in model else UNKNOWN for word in words]
    sentence = (START, *known, END)
    contexts = [sentence[max(0, i - order + 1) : i] for i in range(1, len(sentence))]
    return sum(score_word(model, *one)[0] for one in zip(contexts, sentence[1:], strict=True))


def extend_key(key: int, word: int) -> int:
    """Return the key of an n-gram extended by one word to the left, in integer arithmetic."""
    mask = 2**64 - 1
    mixed = key ^ ((word + 1) * 0xD6E8FEB86659FD93 & mask)
    mixed = (mixed ^ (mixed >> 32)) * 0xFF51AFD7ED558CCD & mask
    mixed ^= mixed >> 32
    return max(mixed - mixed % 4, 4)


def estimate(sentences: list[list[str]], order: int) -> Model:
    """Estimate interpolated modified Kneser-Ney n-gram by n-gram, with fallback discounts if needed."""
    padded = [(START, *words, END) for words in sentences]
    occurrences: dict[int, Counter[tuple[str, ...]]] = {
        n: Counter(s[i : i + n] for s in padded for i in range(len(s) - n + 1)) for n in range(1, order + 1)
    }
    vocabulary = {UNKNOWN, START, END}.union(*padded)
    counts = {n: _adjusted(occurrences, n, order) for n in occurrences}
    counts[1].update({(word,): 0 for word in vocabulary if (word,) not in counts[1]})
    counts[1][(START,)] = 0
    probability: dict[tuple[str, ...], float] = defaultdict(lambda: 1 / (len(vocabulary) - 1))
    backoff: dict[tuple[str, ...], float] = {}
    for ngrams in counts.values():
        discounts = _discounts(ngrams)
        contexts: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for ngram, count in ngrams.items():
            contexts[ngram[:-1]].append(count)
        for context, values in contexts.items():
            backoff[context] = sum(discounts[min(value, 3)] for value in values) / sum(values)
        for ngram, count in ngrams.items():
            context = ngram[:-1]
            share = (count - discounts[min(count, 3)]) / sum(contexts[context])
            probability[ngram] = share + backoff[context] * probability[ngram[1:]]
        probability.pop((), None)
    return {
        ngram: (math.log10(p), math.log10(backoff[ngram]) if ngram in backoff else 0.0)
        for ngram, p in probability.items()
    }


def _adjusted(
    occurrences: dict[int, Counter[tuple[str, ...]]], n: int, order: int
) -> dict[tuple[str, ...], int]:
    if n == order:
        return dict(occurrences[n])
    left = Counter(longer[1:] for longer in occurrences[n + 1])
    return {ngram: count if ngram[0] == START else left[ngram] for ngram, count in occurrences[n].items()}


def _discounts(ngrams: dict[tuple[str, ...], int]) -> list[float]:
    n = [sum(count == c for count in ngrams.values()) for c in range(5)]
    if n[1] and n[2] and n[3]:
        y = n[1] / (n[1] + 2 * n[2])
        result = [0, 1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3]]
        if all(0 < result[c] <= c for c in (1, 2, 3)):
            return result
    return [0, 0.5, 1.0, 1.5]
