"""Compare two systems on sentences with and without a near-duplicate in the training corpus.

    near_duplicates.py results/descriptions-it-33000 --baseline dev-all-mira-small-c --system train-4-adagrad

The similarity of two sentences is the fuzzy match of translation memories: one minus the edit distance in
words, divided by the length of the longer sentence. A sentence of test has a near-duplicate if a source
sentence of train has at least the similarity of --similarity. Prints, for each run, for both kinds of
sentences and for all: their number, the tokenized BLEU of both systems, the difference and its p-value.
"""

import argparse
import itertools
import sys
from collections import Counter, defaultdict
from pathlib import Path

from itersel import compare
from itersel.corpus.text import check_line_counts
from itersel.errors import InputError
from itersel.storage.files import read_lines

# Bigrams that are in more sentences do not suggest similar ones, and so many sentences are compared in full.
MAX_SENTENCES_PER_BIGRAM = 3000
MAX_COMPARED = 60
BEGIN = ""


def main():
    """Run the script."""
    summary = __doc__.partition("\n")[0]
    parser = argparse.ArgumentParser(description=summary, allow_abbrev=False)
    parser.add_argument("results", nargs="+", type=Path, help="folders of finished runs")
    parser.add_argument("--baseline", required=True, help="experiment to compare with")
    parser.add_argument("--system", required=True, help="experiment to compare")
    parser.add_argument(
        "--similarity", type=float, default=0.7, help="least similarity of near-duplicates (default: 0.7)"
    )
    arguments = parser.parse_args()
    if not 0 < arguments.similarity <= 1:
        parser.error(f"--similarity is {arguments.similarity}; give a number above 0, at most 1")
    if arguments.baseline == arguments.system:
        parser.error(f"--baseline and --system are both {arguments.baseline}; give two experiments")

    print("run\tnear-duplicate\tsentences\tbaseline\tsystem\tdifference\tp")
    try:
        for run in arguments.results:
            for row in compare_in_run(run, arguments.baseline, arguments.system, arguments.similarity):
                print(run.name, *row, sep="\t", flush=True)
    except InputError as error:
        sys.exit(f"near_duplicates.py: {error}")


def compare_in_run(run, baseline, system, similarity):
    """Yield a row for sentences without a near-duplicate, one for sentences with one, and one for all."""
    corpus = run / "corpus"
    train = [line.split() for line in read_lines(corpus / "train.source.gz")]
    test = [line.split() for line in read_lines(corpus / "test.source.gz")]
    reference_path = corpus / "test.target.gz"
    reference = read_lines(reference_path)

    outputs = {}
    for name in (baseline, system):
        path = run / "experiments" / name / "best" / "test.txt"
        outputs[name] = read_lines(path)
        check_line_counts((reference_path, reference), (path, outputs[name]))

    near = [score >= similarity for score in best_similarities(train, test)]
    groups = {
        "no": [number for number, is_near in enumerate(near) if not is_near],
        "yes": [number for number, is_near in enumerate(near) if is_near],
        "all": range(len(near)),
    }

    for name, group in groups.items():
        if not group:
            yield name, 0, "", "", "", ""
            continue

        texts = {one: [lines[number] for number in group] for one, lines in outputs.items()}
        # of tokenised text, this is the tokenized BLEU of the run's table
        [scores] = compare(texts, [reference[number] for number in group], metrics=["lowercased-bleu"])
        first, second = scores.systems
        numbers = f"{first.score:.2f}", f"{second.score:.2f}", f"{second.difference:+.2f}"
        yield name, len(group), *numbers, f"{second.p:.4g}"


def best_similarities(train, test):
    """Return the largest similarity of each sentence of test to one of train, of the likeliest ones."""
    by_bigram = defaultdict(list)
    for number, words in enumerate(train):
        for bigram in bigrams(words):
            by_bigram[bigram].append(number)

    best = []
    for words in test:
        shared = Counter()
        for bigram in bigrams(words):
            numbers = by_bigram.get(bigram, ())
            if len(numbers) <= MAX_SENTENCES_PER_BIGRAM:
                shared.update(numbers)

        # equal counts in the order of train
        likeliest = sorted(shared, key=lambda number: (-shared[number], number))[:MAX_COMPARED]
        best.append(max((similarity_of(words, train[number]) for number in likeliest), default=0.0))
    return best


def bigrams(words):
    """Return the different bigrams of a sentence; the first word is one with the beginning."""
    return set(itertools.pairwise([BEGIN, *words]))


def similarity_of(one, other):
    """Return one minus the edit distance in words, divided by the length of the longer sentence."""
    distances = range(len(other) + 1)
    for row, word in enumerate(one, 1):
        current = [row]
        for column, its_word in enumerate(other, 1):
            substituted = distances[column - 1] + (word != its_word)
            current.append(min(substituted, distances[column] + 1, current[-1] + 1))
        distances = current
    return 1 - distances[-1] / max(len(one), len(other))


if __name__ == "__main__":
    main()
