"""What a shard consists of in training: one or more parts, each with its decoders."""

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
    """What training needs of a decoder (`itersel.decode.decoder.Decoder` is one)."""

    dense_names: tuple[str, ...]

    def decode(
        self,
        sentence: int,
        dense_weights: NDArray[np.float64],
        sparse_weights: NDArray[np.float64],
        k: int = 100,
        finder: DerivationFinder | None = None,
    ) -> KBest:
        """Return the k best translations of a sentence of the shard, and what a finder adds."""
        ...


class Part(Protocol):
    """Some of the sentences of a shard, with their grammars.

    Attributes
    ----------
    path
        Its file, if it has one.
    name
        What messages about training on it name; None: nothing.
    sentence_count
        Number of its sentences.
    """

    @property
    def path(self) -> str | None: ...  # noqa: D102

    @property
    def name(self) -> str | None: ...  # noqa: D102

    @property
    def sentence_count(self) -> int: ...  # noqa: D102

    def open(self) -> tuple[Shard, Sequence[SentenceDecoder]]:
        """Return the sentences, and a decoder of them for each thread."""
        ...


class LoadedPart:
    """A part that is in memory."""

    path = name = None

    def __init__(self, shard: Shard, decoders: Sequence[SentenceDecoder]) -> None:
        self._loaded, self.sentence_count = (shard, decoders), shard.sentence_count

    def open(self) -> tuple[Shard, Sequence[SentenceDecoder]]:
        """Return what is in memory."""
        return self._loaded
