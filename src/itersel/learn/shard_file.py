"""A file of a shard as training needs it: read when its turn comes, with its language model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

from itersel.decode.decoder import Decoder
from itersel.grammar.shard import Shard, count_sentences, read_shard
from itersel.learn.train import TrainSettings
from itersel.lm.binary import load_model

# Files that follow each other often have the same model.
_load_model = lru_cache(maxsize=1)(load_model)


class ShardFile:
    """A file of a shard, and the language model that its sentences are decoded with.

    Parameters
    ----------
    path, model
        The two files.
    start
        The weights that training starts from; named in messages.
    settings
        Of the decoder and of its templates.
    threads
        In how many threads sentences are decoded, at most the learner's delay.
    """

    def __init__(
        self, path: str, model: str, start: str | None, settings: TrainSettings, threads: int = 1
    ) -> None:
        self.path, self._model, self._settings = path, model, settings
        self._threads = min(threads, settings.learner.delay)
        # features that do not go together, weights that overflow: it takes both files
        self.name = path if start is None else f"{path} and {start}"

    @cached_property
    def sentence_count(self) -> int:
        """The number of its sentences."""
        return count_sentences(self.path)

    def open(self) -> tuple[Shard, Sequence[Decoder]]:
        """Read it, and make its decoders.

        Raises
        ------
        InputError
            If a file is missing or damaged, or not what is needed.
        """
        settings = self._settings
        shard = read_shard(self.path, settings.templates)
        model = _load_model(self._model)
        return shard, [
            Decoder(shard, model, settings.pop_limit, settings.features, settings.max_span)
            for _ in range(self._threads)
        ]
