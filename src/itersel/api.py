"""Functions for use from Python; `itersel` exports them.

They are thin wrappers of the code behind the command line, so results are byte-identical.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from itersel.errors import InputError, check_choice
from itersel.evaluate.names import DEFAULT_TOKENIZER, RETOKENIZATIONS

if TYPE_CHECKING:
    from itersel.config.learning_steps import MixSettings, TrainSettings
    from itersel.config.search import Search
    from itersel.errors import FilePath
    from itersel.evaluate.metrics import CorpusScore
    from itersel.grammar.sentence_grammars import SentenceGrammars
    from itersel.learn.training import Training
    from itersel.lm.binary import LanguageModel
    from itersel.system.reranker import Reranker
    from itersel.system.trained_translator import TrainedTranslator
    from itersel.vectors.weights import Weights


class Translation(NamedTuple):
    """One translation of a sentence.

    Attributes
    ----------
    text
        Words separated by single spaces, tokenised and lowercased as in the sentences that were read.
    score
        Model score: the dot product of `features` and the weights.
    features
        Feature values by name, zeros left out: dense features first, then sparse ones.
    """

    text: str
    score: float
    features: Mapping[str, float]


def decode_sentences(
    grammars: SentenceGrammars,
    language_model: LanguageModel,
    weights: Weights,
    *,
    k_best: int = 1,
    sentences: Iterable[int] | None = None,
    search: Search | None = None,
) -> Iterator[list[Translation]]:
    """Translate sentences with their grammars, as ``itersel decode`` does.

    Parameters
    ----------
    grammars
        Sentences with their grammars, from `read_grammars`.
    language_model
        Language model, from `load_model`.
    weights
        Feature weights, from `read_any_weights` or `make_weights`; other features weigh 0.
    k_best
        Maximum number of translations per sentence, from 1 to 10,000.
    sentences
        Numbers of the sentences to translate, from 0 (default: all).
    search
        Settings of the search: features, pop limit, longest span (default: those of `Search`).

    Yields
    ------
    list of Translation
        For each sentence, its best different translations, best first. There are fewer than `k_best` if the
        forest has fewer.

    Raises
    ------
    InputError
        If an argument is out of bounds, or a sentence has no complete derivation.
    IndexError
        If there is no such sentence.
    """
    from itersel.decode.decoder import DEFAULT, Decoder
    from itersel.decode.output import feature_values, text_of

    decoder = Decoder(grammars, language_model, DEFAULT if search is None else search)
    vectors = decoder.weight_vectors(weights)
    words = grammars.vocabulary.to_list()

    for sentence in range(grammars.sentence_count) if sentences is None else sentences:
        if not 0 <= sentence < grammars.sentence_count:
            raise IndexError(f"sentence {sentence}: there are {grammars.sentence_count}, numbered from 0")
        kbest = decoder.decode(sentence, vectors, k=k_best)
        names = decoder.dense_names, grammars.feature_name
        yield [
            Translation(text_of(kbest, rank, words), score, dict(feature_values(kbest, rank, *names)))
            for rank, score in enumerate(kbest.score.tolist())
        ]


def train_epoch(
    grammars: SentenceGrammars,
    language_model: LanguageModel,
    start: Weights | FilePath | None = None,
    settings: TrainSettings | None = None,
) -> Training:
    """Train on the sentences of a shard for one epoch, as ``itersel train`` does.

    Parameters
    ----------
    grammars
        Sentences with references and grammars, from `read_grammars`.
    language_model
        Language model, from `load_model`.
    start
        Start weights, or the name of their file (default: all zero). The file of a shard's weights also holds
        the state of its learner (averages, sums of squares), which weights in memory do not have; with it,
        only the next epoch can start.
    settings
        Learner, size of the k-best lists, and so on (default: those of `TrainSettings`, AdaGrad on 100-best
        lists). The number of the epoch and that of the shard are among them: both matter to `mix_weights`.

    Returns
    -------
    Training
        The new weights and the counts of the epoch. Write them with `write_training`. If path following has
        ended, these are the weights that it started from.

    Raises
    ------
    InputError
        If the sentences have no references, if `start` cannot be read, or if a weight or a score overflows.
    """
    from itersel.config.learning_steps import TrainSettings
    from itersel.decode.decoder import Decoder
    from itersel.learn.train import train_shard
    from itersel.learn.training import untrained
    from itersel.vectors.shard_weights import ShardState, read_start
    from itersel.vectors.weights import Weights

    settings = TrainSettings() if settings is None else settings
    if isinstance(start, Weights):
        state = ShardState(start)
    else:
        state = read_start(start, settings.epoch, follows_path=settings.measure_loss)
    if state.stopped:
        return untrained(state)
    return train_shard(grammars, [Decoder(grammars, language_model, settings)], state, settings)


def write_training(path: FilePath, training: Training, settings: TrainSettings | None = None) -> None:
    """Write the weights of a shard with their provenance, as ``itersel train`` does.

    Parameters
    ----------
    path
        File to write: HDF5 if the name ends in ``.h5``, otherwise text. `mix_weights` needs HDF5.
    training, settings
        The result of `train_epoch`, and the settings it was called with.
    """
    from itersel.config.learning_steps import TrainSettings
    from itersel.learn.training import write_training as write

    write(path, training, TrainSettings() if settings is None else settings)


def mix_weights(
    inputs: Sequence[FilePath],
    output: FilePath,
    settings: MixSettings | None = None,
    previous: FilePath | None = None,
) -> Weights:
    """Mix the weights of all shards of an epoch, as ``itersel step mix`` does.

    Parameters
    ----------
    inputs
        Files of `write_training`, in any order: shards 0 to Z - 1 of the same epoch, trained with the same
        settings.
    output
        File to write, ``.h5`` or text.
    settings
        How they are mixed, such as ``MixSettings(Selection(threshold=0.1), shards=4)``; by default as in the
        first epoch of a config on train.
    previous
        For `EpochsMean` and `PathFollowing`, from epoch 2 on: the mixed weights of the previous epoch.

    Returns
    -------
    Weights
        The mixed weights, as written.

    Raises
    ------
    InputError
        If settings contradict each other, if a shard is missing, or if files do not belong together. Nothing
        is written then.
    """
    from itersel.config.learning_steps import MixSettings
    from itersel.select.mix import mix
    from itersel.vectors.weights import read_itersel_weights

    _refuse_string("inputs", inputs)
    if settings is None:
        settings = MixSettings(shards=len(inputs))
    mix([os.fspath(path) for path in inputs], output, settings, previous)
    return read_itersel_weights(output)


class System:
    """A trained system, which translates or reranks; see `load_system`."""

    def __init__(self, system: TrainedTranslator | Reranker, path: FilePath) -> None:
        self._system = system
        self._path = path

    def translate(
        self,
        lines: Sequence[str],
        *,
        k_best: int = 1,
        feature_values: bool = False,
        alignments: bool = False,
        derivations: bool = False,
    ) -> list[Any]:
        """Translate raw text, as ``itersel translate`` does.

        Parameters
        ----------
        lines
            One sentence per line.
        k_best
            Number of different translations of each sentence.
        feature_values, alignments, derivations
            Whether to return these, too.

        Returns
        -------
        list
            The best translation of each line. With any option, a mapping for each line instead, with the
            keys that docs/translate.md describes.

        Raises
        ------
        InputError
            If a line has too many words, or cannot be translated, if the system reranks lists, or if it
            chooses by minimum Bayes risk, which compares fewer than `k_best` translations.
        """
        from itersel.corpus.text import check_text
        from itersel.system.trained_translator import TrainedTranslator
        from itersel.translate.translator import Details, TextBlock, Translator

        if not isinstance(self._system, TrainedTranslator):
            raise InputError("reranks n-best lists; use rerank", self._path)
        _refuse_string("lines", lines)
        check_text(lines, "lines", range(1, len(lines) + 1))
        details = Details(k_best, feature_values, alignments, derivations)
        is_plain = details == Details()
        mbr = self._system.settings.mbr
        if mbr is not None:
            mbr.check_k_best(k_best)
        translator = Translator(self._system, details=None if is_plain else details, mbr=mbr)
        found = translator.translate(TextBlock(1, list(lines)), "lines")
        return list(found) if is_plain else list(map(json.loads, found))

    def rerank(self, source: Sequence[str] | None, lists: Sequence[FilePath]) -> list[str]:
        """Return the best translation of each sentence in n-best lists, as ``itersel rescore --system`` does.

        Parameters
        ----------
        source
            The source of the lists, one sentence per line; None for systems without features of text.
        lists
            Files, or folders of files.

        Raises
        ------
        InputError
            If the lists cannot be read, if they lack a feature that the system was trained with, if the
            source has a different number of lines, or if the system translates.
        """
        from itersel.corpus.text import check_text
        from itersel.system.reranker import Reranker

        if not isinstance(self._system, Reranker):
            raise InputError("is a system that translates; use translate", self._path)
        if source is not None:
            _refuse_string("source", source)
            check_text(source, "source", range(1, len(source) + 1))
        return self._system.best_texts(lists, source)


def load_system(path: FilePath) -> System:
    """Load a trained system: a folder ``experiments/NAME/best`` of a run, or a file of ``itersel bundle``.

    Raises
    ------
    InputError
        If the system is missing or damaged.
    """
    from itersel.system.loading import load_any

    return System(load_any(path), path)


def _refuse_string(name: str, value: Sequence[object]) -> None:
    if isinstance(value, str):  # which is a sequence, too
        raise InputError(f"{name} is {value!r}, expected a list")


def score_tokenized_bleu(
    translations: Sequence[str], *references: Sequence[str], retokenize: str = DEFAULT_TOKENIZER
) -> CorpusScore:
    """Compute tokenized BLEU, which is lowercased, as mteval-v11b does, as ``itersel bleu`` prints it.

    Parameters
    ----------
    translations
        One translation per sentence.
    *references
        One or more reference translations of the whole text, each with one line per sentence.
    retokenize
        sacrebleu's tokenizer, applied to the tokenised text: ``13a``, or ``none`` to keep the tokens.

    Returns
    -------
    CorpusScore
        BLEU from 0 to 100, precisions in per cent, brevity penalty and lengths in words.

    Raises
    ------
    InputError
        If there is no translation or no reference, if the number of lines of a reference
        differs from that of the translations, or if `retokenize` is unknown.
    """
    from itersel.evaluate.metrics import make_tokenized_bleu, score_corpus

    check_choice("retokenize", retokenize, RETOKENIZATIONS)
    if not references:
        raise InputError("there is no reference to score against; give at least one")
    if not translations:
        raise InputError("there are no translations to score; give at least one")
    for number, reference in enumerate(references):
        if len(reference) != len(translations):
            raise InputError(
                f"reference {number} has {len(reference)} lines for {len(translations)} translations; both "
                "must have one line per sentence"
            )

    return score_corpus(make_tokenized_bleu(references, retokenize), translations)
