"""Features of text added to a list table (`ListTable`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from itersel.align.sampler import TrainedAligner
from itersel.config.list_steps import GivenListSettings
from itersel.corpus.prepare import Preparation
from itersel.errors import InputError
from itersel.lists.table import ListTable, feature_exists
from itersel.rerank.dense import GROUPS, FeatureInputs, user_model_scores
from itersel.rerank.lexicon import LexicalTable
from itersel.rerank.links import Links, align_lists
from itersel.rerank.models import FeatureModels
from itersel.rerank.sparse import text_rows
from itersel.rerank.words import ListWords, list_words
from itersel.storage.arrays import Float64s, Int64s, UInt64s
from itersel.storage.ragged import begins_run, rows_of
from itersel.storage.strings import concatenate, string_table
from itersel.vectors.feature_names import ALIGNERS, LANGUAGE_MODEL, LEXICON, added_dense_features, that_need
from itersel.vectors.features import feature_keys
from itersel.vectors.sparse_rows import SparseRows, sparse_rows

LEAVE_OUT_TEMPLATE = "leave out the template that computes it"


class TextFeatureAdder:
    """Adds features of text to list tables: those of some groups, and of some templates.

    Parameters
    ----------
    preparation
        How sources and translations become words.
    models
        The models that the features need.
    settings
        The groups and templates.

    Raises
    ------
    InputError
        If a model is missing.
    """

    def __init__(self, preparation: Preparation, models: FeatureModels, settings: GivenListSettings) -> None:
        self._preparation = preparation
        self._models = models
        self._settings = settings
        self._groups = [group for group in GROUPS if group in settings.groups]

        for kind, model, option in (
            (ALIGNERS, models.aligners, "models of both directions of word alignment (--aligner)"),
            (LEXICON, models.lexicon, "a lexicon (--text-models)"),
            (LANGUAGE_MODEL, models.language_model, "a language model (--text-models)"),
        ):
            if model is None and (found := that_need(kind, settings.groups, settings.templates)):
                raise InputError(f"features of text '{found[0]}' need {option}")
        given, named = len(models.user_models), len(settings.user_model_names)
        if given != named:
            raise InputError(f"{given} language models (--user-model) for {named} names; give one for each")
        self._has_links = settings.needed_models.aligners

    def __call__(self, table: ListTable, sources: Sequence[str], score: Float64s) -> ListTable:
        """Return the list table with further features.

        Parameters
        ----------
        table
            Lists of N sentences, with the cleaned text of their H translations.
        sources
            The N source sentences, cleaned.
        score
            The decoder's score of each translation, float64 (H).

        Raises
        ------
        InputError
            If the lists have features of these names already.
        """
        words = list_words(table.offset, sources, table.text.to_list(), self._preparation)
        links = align_lists(words, *self._aligners()) if self._has_links else no_links(words)

        dense, names = self._dense(table, words, links, score)
        sparse = table.sparse_rows
        if self._settings.templates:
            found = text_rows(words, links, self._settings.templates)
            taken = shared(table.dense_names, found.key)
            if taken:
                raise feature_exists(taken[0], LEAVE_OUT_TEMPLATE)
            sparse = joined(sparse, frequent(found, table.sentence, self._settings.minimum_count))
        return table._replace(dense=dense, dense_names=names, sparse=sparse)

    def _aligners(self) -> tuple[TrainedAligner, TrainedAligner]:
        assert self._models.aligners is not None
        return self._models.aligners

    def _dense(
        self, table: ListTable, words: ListWords, links: Links, score: Float64s
    ) -> tuple[Float64s, tuple[str, ...]]:
        """Return the dense features with the further ones, and their names."""
        lexicon, model = self._models.lexicon, self._models.language_model
        lexical = None if lexicon is None else LexicalTable(lexicon, words)
        protected = self._preparation.words.protected
        inputs = FeatureInputs(
            words=words,
            score=score,
            protected=protected,
            links=links,
            lexicon=lexical,
            language_model=model,
            user_models=self._models.user_models,
        )

        names = added_dense_features(self._groups, self._settings.user_model_names)
        taken = [name for name in names if name in table.dense_names]
        taken += shared(names, table.feature_key)
        if taken:
            remedy = "leave out the group or language model of text_features that computes it"
            raise feature_exists(taken[0], remedy)

        groups = [
            *(GROUPS[group] for group in self._groups),
            *([user_model_scores] if self._models.user_models else []),
        ]
        columns = [group(inputs).reshape(table.translation_count, -1) for group in groups]
        dense = np.concatenate([table.dense, *columns], axis=1, dtype=np.float64)
        return dense, (*table.dense_names, *names)


def shared(names: Sequence[str], key: UInt64s) -> list[str]:
    """Return the names whose keys are among those of sparse features."""
    is_shared = np.isin(feature_keys(string_table(names)), key).tolist()
    return [name for name, found in zip(names, is_shared, strict=True) if found]


def frequent(rows: SparseRows, sentence: Int64s, minimum: int) -> SparseRows:
    """Return only the features of at least `minimum` sentences; `sentence` gives that of each row (H)."""
    if minimum <= 1:
        return rows
    of_entry = np.repeat(sentence, np.diff(rows.offset))
    # sentences rise, so those of a feature do, too
    order = np.argsort(rows.feature, kind="stable")
    feature = rows.feature[order]
    sentence_of_entry = of_entry[order]
    count = np.bincount(feature[begins_run(feature, sentence_of_entry)], minlength=rows.key.shape[0])

    return rows.only(count >= minimum)


def no_links(words: ListWords) -> Links:
    """Return translations without links."""
    none = np.zeros(0, np.int32)
    return Links(none, none, np.zeros(words.offset[-1] + 1, np.int64))


def joined(left: SparseRows, right: SparseRows) -> SparseRows:
    """Return the sparse features of both; an InputError if they have one in common."""
    if (shared := np.intersect1d(left.key, right.key)).size:
        name = left.name.get(int(np.searchsorted(left.key, shared[0])))
        raise feature_exists(name, LEAVE_OUT_TEMPLATE)

    row = np.concatenate([rows_of(left.offset), rows_of(right.offset)])
    feature = np.concatenate([left.feature, right.feature + left.key.shape[0]])
    order = np.argsort(row, kind="stable")
    value = np.concatenate([left.value, right.value])[order]
    names = concatenate([left.name, right.name])
    key = np.concatenate([left.key, right.key])
    return sparse_rows(feature[order], value, left.offset + right.offset, key, names)
