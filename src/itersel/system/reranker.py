"""Trained systems that rerank another decoder's n-best lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from itersel.corpus.prepare import Preparation
from itersel.errors import FilePath, InputError, located
from itersel.lists.blocks import ListBlocks
from itersel.lists.reading import ReadLists, read_block
from itersel.rerank.features import TextFeatureAdder
from itersel.rerank.mbr import ranking_of
from itersel.rerank.models import FeatureModels, read_feature_models
from itersel.rerank.preparation import list_preparation
from itersel.results import WEIGHTS
from itersel.system.resources import RerankerDescription, RerankerResources
from itersel.vectors.feature_names import added_dense_features, text_prefix
from itersel.vectors.sparse_rows import no_sparse_rows
from itersel.vectors.weights import Weights, find_named, read_itersel_weights

# If the first sentences have no sparse features, although the system was trained with some, lists are refused
# after this number.
WITHOUT_SPARSE = 100


@dataclass(frozen=True)
class Reranker(RerankerDescription):
    """A trained system that reranks lists."""

    weights: Weights
    models: FeatureModels

    def blocks(
        self,
        paths: Sequence[FilePath],
        sources: Sequence[str] | None = None,
        source_path: FilePath = "source",
        has_lines: bool = False,
    ) -> Iterator[ReadLists]:
        """Read lists as the run read those of its test sets: without duplicates, with the system's features.

        Yields blocks of sentences, so that memory hardly grows with the number of lists.

        Parameters
        ----------
        paths
            Files of lists, or folders of files.
        sources
            The source of each sentence, which features of text need; `source_path` is its name in errors.
        has_lines
            Whether the lines are kept, too.

        Raises
        ------
        InputError
            If the lists cannot be read or lack a feature that the system was trained on, or if the
            number of sources differs, or if there is no source although it is needed.
        """
        settings = self.settings
        if settings.lists.adds_features and sources is None:
            raise InputError("the system computes features of text; give the source of the lists, too")

        blocks = ListBlocks(paths)
        found = blocks.summary
        self._check_names(found.features.names, paths[0])
        dense_names = found.features.dense(settings.dense_names, paths[0])
        self._check_sparse(found.features.names, dense_names, found.sentence_count, paths[0])

        sentences = found.sentence_count
        if sources is not None and len(sources) != sentences:
            raise InputError(f"has {len(sources)} lines for the lists of {sentences} sentences", source_path)

        for block in blocks:
            # a preparation remembers its lines
            preparation = list_preparation(settings.lists)
            read = read_block(block, paths[0], lambda _: dense_names, preparation.clean_line, has_lines)
            own = [] if sources is None else [sources[number] for number in block.ids.tolist()]
            with located(paths[0]):
                read = self._with_features(read.without_duplicates(), preparation, own)
            yield read

    def _with_features(self, read: ReadLists, preparation: Preparation, sources: Sequence[str]) -> ReadLists:
        """Return lists with the features of text, and without those that are not used."""
        settings = self.settings
        if settings.lists.adds_features:
            adder = TextFeatureAdder(preparation, self.models, settings.lists)
            # runs clean the source before they compute features, too
            read = read.with_features(adder, preparation.clean(sources))
        if not settings.uses_sparse:
            table = read.table
            return read._replace(table=table._replace(sparse=no_sparse_rows(table.translation_count)))
        return read

    def _check_names(self, names: Sequence[str], path: FilePath) -> None:
        """Raise an InputError if lists lack a dense feature that has a weight."""
        weights = find_named(self.weights, self.training_dense_names).tolist()
        for name, weight in zip(self.training_dense_names, weights, strict=True):
            if weight and name not in names:
                why = "which the system was trained with; use lists of the same decoder"
                raise InputError(f"has no feature '{name}', {why}", path)

    def _check_sparse(
        self, names: Sequence[str], dense_names: Sequence[str], sentence_count: int, path: FilePath
    ) -> None:
        """Raise an InputError if many lists have no sparse features, but the system was trained with some.

        Any single one may be missing, as in a sentence without its word, and a few lists may have none.
        """
        settings = self.settings
        has_some = not {*dense_names}.issuperset(names)
        if not settings.uses_sparse or has_some or sentence_count < WITHOUT_SPARSE:
            return

        added = added_dense_features(settings.lists.groups, settings.lists.user_model_names)
        known = {*self.training_dense_names, *added}
        of_text = tuple(map(text_prefix, settings.lists.templates))
        for name, weight in zip(self.weights.name.to_list(), self.weights.value.tolist(), strict=True):
            if weight and name not in known and not name.startswith(of_text):
                why = f"but the system was trained with some, such as '{name}'; use lists of the same decoder"
                raise InputError(f"has no sparse features, {why}", path)

    def best_texts(
        self, paths: Sequence[FilePath], sources: Sequence[str] | None, source_path: FilePath = "source"
    ) -> list[str]:
        """Return the best translation of each sentence; see `blocks`."""
        ranking = ranking_of(self.settings.mbr)
        texts: list[str] = []
        for block in self.blocks(paths, sources, source_path):
            texts += block.table.best_texts(self.weights, ranking)
        return texts


def read_reranker_folder(folder: FilePath, resources: RerankerResources) -> Reranker:
    """Load the reranker in a folder, given its description."""
    files = resources.files
    needed = resources.settings.lists.needed_models
    return Reranker(
        settings=resources.settings,
        training_dense_names=resources.training_dense_names,
        weights=read_itersel_weights(Path(folder, WEIGHTS)),
        models=read_feature_models(files.aligners, files.text_models, needed, files.user_models),
    )
