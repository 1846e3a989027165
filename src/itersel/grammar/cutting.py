"""Which sentences of a text, or of n-best lists, each shard has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from itersel.config.ways_to_cut import Cutting, InOrder, Labelled, Pooled, Shuffled
from itersel.corpus.labels import check_label_count, read_labels, refuse_repeats, require_label
from itersel.corpus.sharding import natural_lines, pooled_lines, shard_lines
from itersel.errors import FilePath, InputError, located
from itersel.storage.arrays import Int64s

# Returns the numbers of the sentences of each shard, given the number of all sentences.
Cut = Callable[[int], Sequence[Int64s]]


def read_cut(how: Cutting, *, text: FilePath, labels: FilePath | None, scored: FilePath | None) -> Cut:
    """Return a function that cuts a text; files of labels are read now, before the text.

    `labels` is the file of labels, only for a cutting that depends on them. `scored` is that of the text on
    which epochs are chosen by task, which must have all labels. `text` is named in messages.
    """
    if isinstance(how, InOrder | Shuffled):
        return partial(_cut_equally, how, text)

    assert isinstance(how, Labelled | Pooled)
    assert labels is not None
    found = read_labels(labels)
    of_scored = None if scored is None else read_labels(scored)

    def cut(sentence_count: int) -> Sequence[Int64s]:
        check_label_count(found, labels, sentence_count, text)
        with located(labels):
            if isinstance(how, Pooled):
                refuse_repeats(how.labels)
                return pooled_lines(found, how.labels, how.shards, how.seed, how.size == "one")

            if of_scored is not None:
                for name in how.labels:
                    require_label(of_scored, name, scored)
            return natural_lines(found, how.labels, how.others == "join", how.minimum, how.seed)

    return cut


def _cut_equally(how: InOrder | Shuffled, text: FilePath, sentence_count: int) -> Sequence[Int64s]:
    if sentence_count < how.shards:
        limit = f"use at most {sentence_count} (in a config: decoder.jobs, or shards of an experiment)"
        raise InputError(f"has {sentence_count} sentences, too few for {how.shards} shards; {limit}", text)
    return shard_lines(sentence_count, how.shards, how.seed if isinstance(how, Shuffled) else None)
