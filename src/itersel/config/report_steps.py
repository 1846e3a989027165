"""The settings of the steps that choose epochs, describe systems, and score and compare them.

- ``itersel step choose``: `ChooseSettings`
- ``itersel step patience``: `PatienceSettings`
- ``itersel step scale``: `ScaleSettings`; with given lists, `GivenListScaleSettings`
- ``itersel step count``: `CountSettings`
- ``itersel step table``: `TableSettings`
- ``itersel step tasks``: `TaskTableSettings`
- ``itersel step join``: `JoinSettings`
- ``itersel step corpora``: `CorporaSettings`
- ``itersel step explain``: `ExplainSettings`

See also `itersel.config.settings`.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.evaluation import Evaluation, Report, SignificanceSettings, check_score
from itersel.config.mbr import MbrSettings
from itersel.config.messages import wrong
from itersel.config.names import LABEL_PATTERN, NAME_PATTERN, Names, check_label, check_text_name
from itersel.config.search import GivenListFeatures, Search
from itersel.config.section_checks import check_section
from itersel.config.values import Experiment
from itersel.corpus.text_names import NO_TEST_SETS
from itersel.keys import REQUIRED, key, key_of, section
from itersel.vectors.feature_names import ALL_TEMPLATES, DEFAULT_TEMPLATES


def _check_split(name: object, key: str) -> None:
    if not isinstance(name, str):
        raise wrong(key, f": the name of a split must be text, not {name!r}")


def _check_test_set(name: object, key: str) -> None:
    if name == "":
        raise wrong(key, ": the name of a test set is empty")
    check_text_name("test set", NO_TEST_SETS, name, key)


def _check_system(name: object, key: str) -> None:
    if not isinstance(name, str) or not name:
        raise wrong(key, ": the name of a system must be text")


@dataclass(frozen=True)
class Scoring:
    """How the translations of devtest are scored."""

    tokenizer: str = key_of(Evaluation, "tokenizer", default=REQUIRED)
    retokenize: str = key_of(Evaluation, "retokenize")
    choose_by: str = key_of(Evaluation, "choose_by")
    label: str | None = key("Score only the sentences with this label.")

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class ChooseSettings:
    """What describes a system, and how its best epoch is chosen."""

    scoring: Scoring = section(REQUIRED, "How translations of devtest are scored.")
    name: str = key(
        "Name of the system, which repeats share: the experiment, and .task-LABEL for an independent task.",
        REQUIRED,
    )
    repeat: int = key("Number of the repeat, from 1.", 1, minimum=1)
    experiment: Experiment = section(Experiment, "Keys of the experiment that can change results.")
    available_templates: tuple[str, ...] = key(
        "Templates that all experiments can use; tables name those of an experiment that uses only some.",
        DEFAULT_TEMPLATES,
        choices=ALL_TEMPLATES,
    )
    devtest: str = key("Split that was translated.", "devtest")


@dataclass(frozen=True)
class PatienceSettings:
    """After how many epochs training stops, and how these are scored."""

    scoring: Scoring = section(REQUIRED, "How translations of devtest are scored.")
    patience: int = key("Number of epochs without a gain.", REQUIRED, minimum=1)


@dataclass(frozen=True, kw_only=True)
class ScaleChoice:
    """How the scale of minimum Bayes risk is chosen on devtest, whether or not our decoder translates it."""

    scoring: Scoring = section(REQUIRED, "How translations of devtest are scored.")
    mbr: MbrSettings = section(REQUIRED, "Minimum Bayes risk, as in the config; it must state the gain.")
    devtest: str = key_of(ChooseSettings, "devtest")

    def __post_init__(self) -> None:
        check_section(self)
        if self.mbr.gain is None:
            raise wrong("mbr.gain", "is null; there is no scale to choose without it")


@dataclass(frozen=True)
class ScaleSettings(ScaleChoice, Search):
    """How the scale is chosen if our decoder translates devtest."""


@dataclass(frozen=True)
class GivenListScaleSettings(ScaleChoice, GivenListFeatures):
    """How the scale is chosen from given lists, which need no search."""


@dataclass(frozen=True)
class CountSettings:
    """How matches of the translations of a test set are counted."""

    tokenizer: str = key_of(Scoring, "tokenizer")

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class Comparison(SignificanceSettings):
    """How systems are compared: BLEU of tokenised text, and tests for significance."""

    retokenize: str = key_of(Evaluation, "retokenize")


@dataclass(frozen=True)
class UserScoreNumbers:
    """The numbers of one of the user's own scores for the translations of a test set."""

    list_numbers: str | None = key("A number for each translation in the lists.", path=True)
    system_numbers: dict[str, str] = section(
        dict,
        "A number for each line of a translation, by folder of the repeat or name of another system.",
        names=Names("'name: file' lines", _check_system),
    )


@dataclass(frozen=True)
class ScoredTestSet:
    """The files of a test set: references, and for each system its description and translation."""

    references: tuple[str, ...] = key("Reference translations.", (), path=True, alone=True)
    systems: tuple[str, ...] = key("Descriptions made by 'itersel step choose'.", (), path=True)
    translations: tuple[str, ...] = key("Translations, in the order of the systems.", (), path=True)
    counts: tuple[str, ...] = key(
        "Outputs of 'itersel step count' for all systems, then all outputs; may be left out.", (), path=True
    )
    outputs: dict[str, str] = section(
        dict,
        "Translations by other systems, cleaned text, by name; they need --preparation.",
        names=Names("'name: file' lines", _check_system),
    )
    lists: tuple[str, ...] = key(
        "N-best lists from which the systems chose, if there are numbers for their translations; they need "
        "--preparation.",
        (),
        path=True,
    )
    user_scores: dict[str, UserScoreNumbers] = section(
        dict, "The user's own scores by name.", names=Names("scores by name", check_score)
    )


@dataclass(frozen=True)
class TableSettings:
    """The table of systems."""

    test_sets: dict[str, ScoredTestSet] = section(
        REQUIRED, "Test sets by name.", names=Names("test sets by name", _check_test_set, 1)
    )
    text: str = key(
        "Form of the scored text: detokenised; tokenised, because the corpus was given tokenised; or listed, "
        "as in n-best lists.",
        "detokenized",
        choices=("detokenized", "tokenized", "listed"),
    )
    comparison: Comparison = section(Comparison)


@dataclass(frozen=True)
class ScoredSystem:
    """The translation of a test set by a repeat of a system."""

    name: str = key_of(ChooseSettings, "name", pattern=NAME_PATTERN)
    translation: str = key("Its translation of the test set.", REQUIRED, path=True)


@dataclass(frozen=True)
class TaskTableSettings:
    """The table of systems by task."""

    tasks: tuple[str, ...] = key("Labels of the tasks.", REQUIRED, pattern=LABEL_PATTERN)
    systems: tuple[ScoredSystem, ...] = key("The repeats of all systems.", REQUIRED)
    comparison: Comparison = section(Comparison)

    def __post_init__(self) -> None:
        check_section(self)
        for name, values in (("tasks", self.tasks), ("systems", self.systems)):
            if not values:
                raise wrong(name, "is empty; name at least one")


@dataclass(frozen=True)
class JoinSettings:
    """Which translation each sentence has."""

    translations: dict[str, str] = section(
        REQUIRED,
        "Translation of the whole text by the model of each task, by label.",
        names=Names("'label: file' lines", check_label, 1),
    )


@dataclass(frozen=True)
class CorporaSettings:
    """The table of the corpora."""

    rules: dict[str, str] = section(
        dict, "Outputs of 'itersel step rules', by split.", names=Names("'split: file' lines", _check_split)
    )


@dataclass(frozen=True)
class ExplainSettings:
    """How many translations are explained, and how they are searched for."""

    derivations: int = key_of(Report, "derivations", minimum=1)
    has_mbr: bool = key("Whether systems chose translations by minimum Bayes risk.", False)
    search: Search = section(Search, "How the test set was searched for, except for the features.")
