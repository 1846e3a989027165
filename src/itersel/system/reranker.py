"""Trained systems that rerank another decoder's n-best lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from itersel.errors import FilePath, InputError, located
from itersel.lists.dense import dense_features
from itersel.lists.reading import ReadLists, without_duplicates
from itersel.lists.table import no_sparse_rows
from itersel.lists.text import read_cleaned, with_features
from itersel.rerank.features import TextFeatureAdder
from itersel.rerank.models import TextModels, read_text_models
from itersel.rerank.preparation import preparation_of
from itersel.results import WEIGHTS
from itersel.system.resources import RerankerResources, RerankingSettings
from itersel.vectors.weights import Weights, find_named, read_itersel_weights


@dataclass(frozen=True)
class Reranker:
    """A trained system that reranks lists."""

    settings: RerankingSettings
    weights: Weights
    models: TextModels

    def read(
        self,
        lists: Sequence[FilePath],
        sources: Sequence[str] | None = None,
        source_path: FilePath = "source",
        has_lines: bool = False,
    ) -> ReadLists:
        """Read lists as the run read those of its test sets: without duplicates, with the system's features.

        Parameters
        ----------
        lists
            Files, or folders of files.
        sources
            The source of each sentence, which features of text need; `source_path` is its name in errors.
        has_lines
            Whether the lines are kept, too.

        Raises
        ------
        InputError
            If the lists cannot be read or lack a feature that the system was trained on, or if there is
            another number of sources, or no source although it is needed.
        """
        settings = self.settings
        if settings.adds_features and sources is None:
            raise InputError("the system computes features of text; give the source of the lists, too")

        def dense(names: Sequence[str], sizes: Mapping[str, int]) -> Sequence[str]:
            self._check_names(names, lists[0])
            return dense_features(names, sizes, settings.dense, lists[0])

        preparation = preparation_of(settings.lists)
        found = without_duplicates(read_cleaned(lists, preparation, dense, has_lines=has_lines))

        if sources is not None and len(sources) != (sentences := found.table.sentence_count):
            raise InputError(f"has {len(sources)} lines for the lists of {sentences} sentences", source_path)
        if sources is not None and settings.adds_features:
            adder = TextFeatureAdder(preparation, self.models, settings.lists)
            with located(lists[0]):
                # runs clean the source before they compute features, too
                found = with_features(found, adder, preparation.clean(sources))

        if settings.features == "dense":
            table = found.table
            return found._replace(table=table._replace(sparse=no_sparse_rows(table.translation_count)))
        return found

    def _check_names(self, names: Sequence[str], path: FilePath) -> None:
        """Raise an InputError if lists lack a dense feature that has a weight."""
        trained_with = self.settings.trained_with
        weights = find_named(self.weights, trained_with).tolist()
        for name, weight in zip(trained_with, weights, strict=True):
            if weight and name not in names:
                why = "which the system was trained with; use lists of the same decoder"
                raise InputError(f"has no feature '{name}', {why}", path)

    def best_texts(
        self, lists: Sequence[FilePath], sources: Sequence[str] | None, source_path: FilePath = "source"
    ) -> list[str]:
        """Return the best translation of each sentence; see `read`."""
        return list(self.read(lists, sources, source_path).table.best_texts(self.weights))


def load_reranker(folder: FilePath, resources: RerankerResources) -> Reranker:
    """Load the reranker in a folder, given its description."""
    return Reranker(
        resources.reranking(),
        read_itersel_weights(Path(folder, WEIGHTS)),
        read_text_models(resources.aligners, resources.models),
    )
