"""The decoder: the k best distinct translations of a sentence, with their feature vectors.

Steps: `scoring_kernels` (scores and language model states of the rules), `trie_kernels` and `parse_kernels`
(CKY+ without the language model), `search_kernels` (cube pruning with it), `kbest_kernels` (lazy k-best
extraction), `vector_kernels` (features).
Single-threaded and deterministic: ties are broken by the order of the grammar.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from itersel.config.search import MAX_K_BEST, Search
from itersel.decode.hypothesis_kernels import Hypotheses, make_hypotheses
from itersel.decode.kbest_kernels import Best, kbest
from itersel.decode.parse_kernels import Forest, parse
from itersel.decode.queue_kernels import Queue, make_queue
from itersel.decode.scoring_kernels import (
    RuleTable,
    SentenceRules,
    make_sentence_rules,
    score_rules,
    state_rules,
)
from itersel.decode.search_kernels import SearchProblem, search, sort_rules
from itersel.decode.translations import Candidates, DerivationFinder, KBest, SentenceForest, WeightVectors
from itersel.decode.trie_kernels import build_trie
from itersel.decode.vector_kernels import dense_vectors, sparse_vectors
from itersel.errors import InputError
from itersel.grammar.grammar_kernels import GLUE, GLUE_RULES, PASS_THROUGH
from itersel.grammar.sentence_grammars import MAX_CATEGORY_SENTENCE, SentenceGrammars
from itersel.lm.binary import LanguageModel
from itersel.lm.ngrams import END, START
from itersel.lm.state_kernels import States, make_states, reset_states
from itersel.storage.arrays import Float64s, Int32s
from itersel.storage.ragged import offsets_of
from itersel.vectors.feature_names import DECODER_FEATURES, LANGUAGE_MODEL_FEATURE
from itersel.vectors.weights import Weights, find_named, find_weights

WORD_PENALTY = -1 / math.log(10)
# Size of the table of compositions; a typical sentence has 1,000 per word with a 3-gram model. The table of
# edges has a quarter of it. Both grow if a sentence has more edges.
PAIRS_PER_WORD = 2500
MAX_FIRST_PAIRS = 1 << 20  # upper limit of the initial table size
DEFAULT = Search()


class Decoder:
    """Decodes sentences with their grammars and one language model in one thread.

    With ``dense`` features, the search ignores sparse ones. Raises an `InputError` if it has other templates
    than the grammars were read with.
    """

    def __init__(
        self, grammars: SentenceGrammars, language_model: LanguageModel, search: Search = DEFAULT
    ) -> None:
        wanted = search.templates
        if search.uses_sparse and wanted is not None and {*wanted} != {*grammars.templates}:
            read, needed = (", ".join(names) or "none" for names in (grammars.templates, wanted))
            raise InputError(f"the grammars were read with the templates {read}, the search needs {needed}")

        self.grammars = grammars
        self.language_model = language_model
        self.pop_limit = search.pop_limit
        self.max_span = search.max_span
        self.dense_names = tuple(grammars.dense_names) + DECODER_FEATURES
        self.uses_sparse = search.uses_sparse

        lm_word = np.array(
            [language_model.ids.get(word, 0) for word in grammars.vocabulary.to_list()], np.int32
        )
        feature_offset = grammars.rule_feature_offset
        if not self.uses_sparse:
            feature_offset = np.zeros_like(feature_offset)
        self._rule_table = RuleTable(
            source=grammars.rule_source,
            source_offset=grammars.rule_source_offset,
            target=grammars.rule_target,
            target_offset=grammars.rule_target_offset,
            feature=grammars.rule_feature,
            feature_value=grammars.rule_feature_value,
            feature_offset=feature_offset,
            lm_word=lm_word,
            category=grammars.rule_category,
        )

        ranks = grammars.category_ranks()
        self._ranks = ranks if ranks.shape[0] else None  # None if there is only X
        self._rule_dense = _rule_dense(grammars, lm_word)

        # Tables of language model states by number of compositions: small ones fit in the CPU cache.
        self._states: dict[int, States] = {}
        self._queue: Queue | None = None
        self._hypotheses: Hypotheses | None = None
        self._queue_bundles = 0
        self._node_capacity = (0, 0)

    def weight_vectors(self, weights: Weights) -> WeightVectors:
        """Return `weights` as dense (C) and sparse (F) float64 vectors for these grammars."""
        dense = find_named(weights, self.dense_names)
        return WeightVectors(dense, find_weights(weights, self.grammars.feature_key))

    def candidates(
        self, sentence: int, weights: WeightVectors, k: int, finder: DerivationFinder | None = None
    ) -> Candidates:
        """Decode a sentence that has references, to learn from it; see `decode`."""
        kbest = self.decode(sentence, weights, k, finder)
        return Candidates(
            score=kbest.score,
            dense=kbest.dense,
            feature=kbest.feature,
            feature_value=kbest.feature_value,
            feature_offset=kbest.feature_offset,
            matches=kbest.matches(self.grammars.references(sentence)),
            length=kbest.length,
            quality=np.zeros(0),
        )

    def decode(
        self, sentence: int, weights: WeightVectors, k: int, finder: DerivationFinder | None = None
    ) -> KBest:
        """Translate one of the sentences; for the weights, see `weight_vectors`.

        Returns at most `k` translations, followed by those with new words that `finder` finds in the forest.
        """
        forest = self.forest(sentence, weights, k)
        if forest is None:
            return self.no_words()
        if finder is not None:
            found = finder(forest, self.grammars.references(sentence))
            forest = forest._replace(best=extend(forest.best, found))
        return self.translations(forest)

    def forest(self, sentence: int, weights: WeightVectors, k: int) -> SentenceForest | None:
        """Return the forest of a sentence with its `k` best derivations; None if it has no words.

        The arrays of the forest are reused for the next sentence.
        """
        if not 1 <= k <= MAX_K_BEST:
            raise InputError(f"{k} best translations are out of bounds; choose 1 to {MAX_K_BEST}")

        offset = self.grammars.source_offset
        if offset[sentence] == offset[sentence + 1]:
            return None

        rules, hypotheses = self.search(sentence, weights)
        best = self._find_best(hypotheses, rules, k)
        return SentenceForest(hypotheses, rules, self._rule_table, float(weights.dense[self.lm_column]), best)

    def translations(self, forest: SentenceForest) -> KBest:
        """Return the translations of the best derivations in a forest."""
        best = forest.best
        feature, feature_value, feature_offset = sparse_vectors(best, forest.rules, forest.rule_table)
        return KBest(
            word=best.word,
            word_offset=best.word_offset,
            score=best.score,
            dense=dense_vectors(best, forest.rules, self.lm_column),
            feature=feature,
            feature_value=feature_value,
            feature_offset=feature_offset,
        )

    def no_words(self) -> KBest:
        """Return the only translation of a sentence without words."""
        # nothing is translated, so nothing is scored, not even the end of the sentence
        none = np.zeros(0, np.int32)
        offset = np.zeros(2, np.int64)
        dense = np.zeros((1, len(self.dense_names)))
        return KBest(
            word=none,
            word_offset=offset,
            score=np.zeros(1),
            dense=dense,
            feature=none,
            feature_value=np.zeros(0),
            feature_offset=offset,
        )

    def search(self, sentence: int, weights: WeightVectors) -> tuple[SentenceRules, Hypotheses]:
        """Return the rules of a sentence with at least one word, and its forest with the language model.

        The arrays of the forest are reused for the next sentence. If the tables of language-model states
        are too small, the search starts again with larger ones.
        """
        words = self.grammars.source[slice(*self.grammars.source_offset[sentence : sentence + 2])]
        if self._ranks is not None and words.shape[0] > MAX_CATEGORY_SENTENCE:
            raise InputError(
                f"has a sentence of {words.shape[0]} words; with other categories than X the limit is "
                f"{MAX_CATEGORY_SENTENCE}"
            )

        rules = self._sentence_rules(sentence)
        score_rules(self._rule_table, rules, *weights)
        trie = build_trie(self._rule_table, rules.rule)
        forest = parse(words, trie, self.max_span, self._ranks)
        if forest.is_glue.shape[0] == 0:
            text = " ".join(self.grammars.vocabulary.get(word) for word in words.tolist())
            raise InputError(f"has no rules for some words of the sentence '{text}'; recreate the file")

        language_model = self.language_model
        lm_weight = float(weights.dense[self.lm_column])
        begin = language_model.ids[START]
        end = language_model.ids[END]
        # With categories other than X, a derivation of the whole sentence need not begin with [S] -> [X].
        glue_begin, goal_begin = (begin, -1) if self._ranks is None else (-1, begin)
        problem = SearchProblem(
            forest=forest,
            trie=trie,
            rules=rules,
            model=language_model.arrays,
            lm_weight=lm_weight,
            begin_of_sentence=goal_begin,
            end_of_sentence=end,
            pop_limit=self.pop_limit,
        )

        queue, hypotheses = self._search_tables(forest)
        expected_pairs = PAIRS_PER_WORD * words.shape[0]
        pairs = min(1 << expected_pairs.bit_length(), MAX_FIRST_PAIRS)
        while True:
            states = self._empty_states(pairs)
            state_rules(self._rule_table, rules, language_model.arrays, states, glue_begin, lm_weight)
            if not states.counts[1]:
                sort_rules(trie, rules)
                search(problem, states, queue, hypotheses)
                if not states.counts[1]:
                    return rules, hypotheses
            pairs *= 2

    def _empty_states(self, pairs: int) -> States:
        """Return tables of language-model states without any, for this number of compositions."""
        states = self._states.get(pairs)
        if states is None:
            states = make_states(self.language_model.order, pairs // 4, pairs)
            # larger ones, of few sentences, are not kept
            if pairs <= MAX_FIRST_PAIRS:
                self._states[pairs] = states

        reset_states(states)
        return states

    @property
    def lm_column(self) -> int:
        """Index of the language model among the dense features."""
        return len(self.grammars.dense_names) + DECODER_FEATURES.index(LANGUAGE_MODEL_FEATURE)

    def _sentence_rules(self, sentence: int) -> SentenceRules:
        """Collect the rules of a sentence, glue rules first, and their dense features."""
        grammars = self.grammars
        begin, end = grammars.grammar_offset[sentence : sentence + 2]
        rule = np.concatenate((np.arange(GLUE_RULES, dtype=np.int32), grammars.grammar_rule[begin:end]))
        columns = len(grammars.dense_names)
        dense = np.zeros((rule.shape[0], len(self.dense_names)))
        dense[GLUE_RULES:, :columns] = grammars.dense(begin, end)
        dense[:, columns:] = self._rule_dense[rule]
        return make_sentence_rules(rule, dense)

    def _find_best(self, hypotheses: Hypotheses, rules: SentenceRules, k: int) -> Best:
        """Find the k best; restarts with larger tables if they were too small."""
        items, edges = hypotheses.counts.tolist()
        pool = 2 * edges + 64 * k
        rows = min(items, 20000)
        while True:
            best = kbest(hypotheses, rules, self._rule_table, k, pool, rows)
            if best.score.shape[0]:
                return best
            pool *= 2
            rows = min(2 * rows, items)

    def _search_tables(self, forest: Forest) -> tuple[Queue, Hypotheses]:
        """Return tables large enough for a forest, reusing the previous sentence's tables if possible.

        Allocating new memory takes a tenth of a sentence's decoding time.
        """
        bundles = int(np.diff(forest.bundle_offset).max())
        if self._queue is None or bundles > self._queue_bundles:
            self._queue_bundles = 2 * bundles
            self._queue = make_queue(self._queue_bundles, self.pop_limit)
        nodes = forest.is_glue.shape[0]
        glue_nodes = int(forest.is_glue.sum())
        if self._hypotheses is None or nodes > self._node_capacity[0] or glue_nodes > self._node_capacity[1]:
            self._node_capacity = 2 * nodes, 2 * glue_nodes
            self._hypotheses = make_hypotheses(*self._node_capacity, self.pop_limit)
        return self._queue, self._hypotheses


def extend(best: Best, further: Sequence[Best]) -> Best:
    """Append derivations, in lists of at most one, whose words are not among the k best; best first.

    The extended list is still sorted: no derivation beats the one with the same words among the k best, and
    no other beats the last of them.
    """
    texts = {best.word[begin:end].tobytes() for begin, end in pairwise(best.word_offset)}
    parts = [best]
    for one in sorted((one for one in further if one.score.shape[0]), key=lambda one: -one.score[0]):
        if one.word.tobytes() not in texts:
            texts.add(one.word.tobytes())
            parts.append(one)

    if len(parts) == 1:
        return best

    return Best(
        score=np.concatenate([one.score for one in parts]),
        lm=np.concatenate([one.lm for one in parts]),
        rule=np.concatenate([one.rule for one in parts]),
        rule_offset=offsets_of(np.concatenate([np.diff(one.rule_offset) for one in parts])),
        word=np.concatenate([one.word for one in parts]),
        word_offset=offsets_of(np.concatenate([np.diff(one.word_offset) for one in parts])),
    )


def _rule_dense(grammars: SentenceGrammars, lm_word: Int32s) -> Float64s:
    """Return the decoder features that depend only on the rule, float64 (rules, decoder features)."""
    terminal = grammars.rule_target >= 0
    unknown = np.zeros(grammars.rule_target.shape[0], bool)
    unknown[terminal] = lm_word[grammars.rule_target[terminal]] == 0

    values = {
        "Glue": grammars.rule_kind == GLUE,
        "PassThrough": grammars.rule_kind == PASS_THROUGH,
        "WordPenalty": WORD_PENALTY * np.diff(offsets_of(terminal)[grammars.rule_target_offset]),
        "LanguageModel_OOV": np.diff(offsets_of(unknown)[grammars.rule_target_offset]),
    }

    dense = np.zeros((grammars.rule_kind.shape[0], len(DECODER_FEATURES)))
    for name, column in values.items():
        dense[:, DECODER_FEATURES.index(name)] = column
    return dense
