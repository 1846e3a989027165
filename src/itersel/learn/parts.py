"""The parts of a shard in training: one or more, each with its decoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from itersel.decode.decoder import KBest
    from itersel.decode.derivations import DerivationFinder
    from itersel.grammar.shard import Shard


class SentenceDecoder(Protocol):
    """The decoder interface used in training, implemented by `itersel.decode.decoder.Decoder`."""

    dense_names: tuple[str, ...]

    def decode(
        self,
        sentence: int,
        dense_weights: NDArray[np.float64],
        sparse_weights: NDArray[np.float64],
        k: int = 100,
        finder: DerivationFinder | None = None,
    ) -> KBest:
        """Return the k best translations of a sentence in the shard, and those that a finder adds."""
        ...


class Part(Protocol):
    """Some of a shard's sentences, with their grammars.

    Attributes
    ----------
    path
        The part's file, if it has one.
    name
        The name of the part in messages; None for no name.
    sentence_count
        Number of sentences.
    """

    @property
    def path(self) -> str | None: ...  # noqa: D102

    @property
    def name(self) -> str | None: ...  # noqa: D102

    @property
    def sentence_count(self) -> int: ...  # noqa: D102

    def open(self) -> tuple[Shard, Sequence[SentenceDecoder]]:
        """Return the sentences, and a decoder for each thread."""
        ...


class LoadedPart:
    """A part in memory."""

    path = name = None

    def __init__(self, shard: Shard, decoders: Sequence[SentenceDecoder]) -> None:
        self._loaded, self.sentence_count = (shard, decoders), shard.sentence_count

    def open(self) -> tuple[Shard, Sequence[SentenceDecoder]]:
        """Return the shard and the decoders."""
        return self._loaded
