"""The parts of a shard in training, each with its decoders: in memory, or files that are read in turn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

from itersel.decode.decoder import Decoder
from itersel.grammar.shard import Shard, count_sentences, read_shard
from itersel.lm.binary import load_model

if TYPE_CHECKING:
    from itersel.learn.train import TrainSettings

# Consecutive files often have the same model.
_load_model = lru_cache(maxsize=1)(load_model)


class LoadedPart:
    """A part in memory, with a decoder for each thread."""

    path = name = None

    def __init__(self, shard: Shard, decoders: Sequence[Decoder]) -> None:
        self._loaded, self.sentence_count = (shard, decoders), shard.sentence_count

    def open(self) -> tuple[Shard, Sequence[Decoder]]:
        """Return the shard and the decoders."""
        return self._loaded


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
        self, path: str, model: str, start: str | None, settings: TrainSettings, threads: int
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


Part: TypeAlias = LoadedPart | ShardFile
