"""Join n-best lists with those of itersel's own decoder, sentence by sentence.

    python experiments/neural-lists/join.py dev.nbest.gz dev.own.gz dev.joined.gz

The second file is what ``itersel translate --k-best 12 --feature-values`` writes for the source. A
translation of the joined lists has the features of each decoder that found it: ``Neural`` and ``F0``,
``Own`` and others.
"""

import json
import sys

from itersel.storage.files import read_lines, write_lines


def main():
    """Run the script."""
    if len(sys.argv) != 4:
        sys.exit("usage: join.py NEURAL OWN OUTPUT")
    neural, own, output = sys.argv[1:]
    lists = {}
    for line in read_lines(neural):
        number, text, features, *_ = line.split(" ||| ")
        lists.setdefault(int(number), {})[text] = f"Neural= 1 {features}"

    for number, line in enumerate(read_lines(own)):
        if number not in lists:
            break
        best = {}
        for translation in json.loads(line)["translations"]:
            # detokenised, two can be the same
            best.setdefault(translation["text"], translation["features"])
        for text, features in best.items():
            values = " ".join(f"Own{name}= {value!r}" for name, value in features.items())
            lists[number][text] = " ".join(filter(None, [lists[number].get(text), f"Own= 1 {values}"]))

    # scores of both decoders cannot be compared, so the lists have none
    joined = (
        f"{number} ||| {text} ||| {features}"
        for number, found in lists.items()
        for text, features in found.items()
    )
    write_lines(output, joined)


if __name__ == "__main__":
    main()
