"""A shard's files in training: each is read when its turn comes, with its language model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

from itersel.decode.decoder import Decoder
from itersel.grammar.shard import Shard, count_sentences, read_shard
from itersel.learn.train import TrainSettings
from itersel.lm.binary import load_model

# Consecutive files often have the same model.
_load_model = lru_cache(maxsize=1)(load_model)


class ShardFile:
    """A file of a shard, and the language model for decoding its sentences.

    Parameters
    ----------
    path, model
        Paths of the two files.
    start
        File of the weights that training starts from; named in messages.
    settings
        Settings of the decoder, and the feature templates.
    threads
        Number of decoder threads; at most the learner's delay is used.
    """

    def __init__(
        self, path: str, model: str, start: str | None, settings: TrainSettings, threads: int = 1
    ) -> None:
        self.path, self._model, self._settings = path, model, settings
        self._threads = min(threads, settings.learner.delay)
        # conflicting features and overflowing weights can be due to either file
        self.name = path if start is None else f"{path} and {start}"

    @cached_property
    def sentence_count(self) -> int:
        """Number of sentences."""
        return count_sentences(self.path)

    def open(self) -> tuple[Shard, Sequence[Decoder]]:
        """Read the file and make its decoders.

        Raises
        ------
        InputError
            If a file is missing, damaged, or of the wrong kind.
        """
        settings = self._settings
        shard = read_shard(self.path, settings.templates, settings.features)
        model = _load_model(self._model)
        return shard, [Decoder(shard, model, settings) for _ in range(self._threads)]
