"""Which translations of the test sets are compared, and the tables of systems and tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from itersel.config import splits
from itersel.config.defaults import never_null
from itersel.config.experiments import PlannedRepeat
from itersel.config.report_steps import (
    Comparison,
    CountSettings,
    JoinSettings,
    ScoredSystem,
    ScoredTestSet,
    TableSettings,
    TaskTableSettings,
    UserScoreNumbers,
)
from itersel.config.settings import as_json
from itersel.corpus.text_names import BY_HASH
from itersel.lists.folders import find_lists
from itersel.plan.part import Foundation, PlanPart
from itersel.plan.shell import no_option
from itersel.results import (
    BEST,
    SYSTEM,
    best_folder,
    counts_file,
    detokenized_text,
    joined_translation,
    plain_reference,
    translation_file,
)


class Tables(PlanPart):
    """The files and settings of all comparisons and tables."""

    def __init__(self, foundation: Foundation, repeats: Mapping[str, PlannedRepeat]) -> None:
        super().__init__(foundation)
        # by name of the folder
        self._repeats = repeats

        # experiments with a row in the table of the systems; for single tasks, see `task_systems`
        self.compared: list[str] = []
        # other systems, and the files of their translations by test set; first the decoder of given lists
        self.outputs = self._origin.outputs(self._texts.test_sets)
        for name, given in (self._config.evaluation.outputs or {}).items():
            self.outputs[name] = dict(zip(self._texts.test_sets, given, strict=True))

        # repeats of experiments with independent tasks, and for each the experiments for its tasks, by label
        self._joined: dict[str, PlannedRepeat] = {}
        self.independent: dict[str, dict[str, str]] = {}
        for folder, repeat in repeats.items():
            if repeat.label is None:
                self.compared.append(folder)
            else:
                whole = repeat._replace(label=None)
                self._joined[whole.folder] = whole
                self.independent.setdefault(whole.folder, {})[repeat.label] = folder

        # the tasks that are compared: independent ones, which lack weights for others, or else all
        tasks = [one.tasks for one in self._config.experiments.values()]
        independent = [one for one in tasks if one.only_label is not None]
        labels: list[str] = []
        for one in independent or tasks:
            labels += one.label_names

        self.task_labels = tuple(dict.fromkeys(labels))
        self.task_splits = [split for split in self._texts.test_sets.values() if self._has_task_table(split)]

    def _has_task_table(self, split: str) -> bool:
        if not self.task_labels:
            return False
        if self._texts.first == BY_HASH and split not in self._texts.given:
            # a module held out from training is not one of the tasks
            return split == "test"
        return splits.has_labels(self._config, split)

    @property
    def _comparison(self) -> Comparison:
        """How systems are compared."""
        evaluation = self._config.evaluation
        return Comparison(trials=evaluation.trials, seed=self._config.seed, retokenize=evaluation.retokenize)

    def _stage(self, test_set: str) -> str:
        """Return the stage whose weights translate a test set: `best`, or its own with its own devtest."""
        return best_folder(test_set if test_set in self._texts.test_set_devtests else None)

    def system_files(self, test_set: str) -> list[str]:
        """Return the descriptions of the compared systems at the epochs chosen for a test set."""
        return self._files.experiments(self.compared, f"{self._stage(test_set)}/{SYSTEM}")

    def translations(self, test_set: str) -> list[str]:
        """Return the tokenised translations of a test set by the compared systems."""
        return [self.translation(name, test_set) for name in self.compared]

    def translation(self, name: str, test_set: str) -> str:
        """Return the tokenised translation of a test set by a system."""
        split = self._texts.test_sets[test_set]
        return self._files.experiment(name, f"{self._stage(test_set)}/{translation_file(split)}")

    def scored_translation(self, name: str, test_set: str) -> str:
        """Return the translation of a test set by a compared system, or the plain text of another one."""
        if name in self.outputs:
            return no_option(self.outputs[name][test_set])
        return self.translation(name, test_set)

    def recaser(self, wildcards: Any) -> list[str]:
        """Return the recaser of our translations; text of another system is only cleaned."""
        return [] if wildcards.scored in self.outputs else [self._files.recaser]

    def output_texts(self, test_set: str) -> list[str]:
        """Return the plain text of a test set by other systems."""
        return [f"{self._files.results}/{detokenized_text(test_set, name)}" for name in self.outputs]

    def plain_references(self, test_set: str) -> list[str]:
        """Return the plain-text references of a test set."""
        count = len(self._texts.references(self._texts.test_sets[test_set]))
        return [f"{self._files.results}/{plain_reference(test_set, number)}" for number in range(count)]

    def counts(self, test_set: str) -> list[str]:
        """Return the counts from which the translations of a test set are scored."""
        names = (*self.compared, *self.outputs)
        return [f"{self._files.results}/{counts_file(test_set, name)}" for name in names]

    @property
    def test_references(self) -> list[str]:
        """The tokenised references of all test sets."""
        return [path for split in self._texts.test_sets.values() for path in self._texts.references(split)]

    def raw_reference(self, wildcards: Any) -> str:
        """Return a raw reference of a test set."""
        return self._texts.raw_references(self._texts.test_sets[wildcards.evaluated])[int(wildcards.number)]

    @property
    def count_settings(self) -> str:
        """The `CountSettings`."""
        return as_json(CountSettings(never_null(self._config.evaluation.tokenizer)))

    def table_settings(self, wildcards: Any) -> str:
        """Return the `TableSettings`, with the files of each test set."""
        return as_json(
            TableSettings(
                test_sets={name: self._scored(name, split) for name, split in self._texts.test_sets.items()},
                text=splits.kind_of_text(self._config),
                comparison=self._comparison,
            )
        )

    def _scored(self, test_set: str, split: str) -> ScoredTestSet:
        return ScoredTestSet(
            references=tuple(self._texts.references(split)),
            systems=tuple(self.system_files(test_set)),
            translations=tuple(self.translations(test_set)),
            counts=tuple(self.counts(test_set)),
            outputs=dict(zip(self.outputs, self.output_texts(test_set), strict=True)),
            lists=tuple(self._origin.scored_lists(split)),
            user_scores=self._user_score_numbers(test_set),
        )

    def _user_score_numbers(self, test_set: str) -> dict[str, UserScoreNumbers]:
        """Return the files with the numbers of the user's own scores for a test set."""
        place = list(self._texts.test_sets).index(test_set)
        numbers: dict[str, UserScoreNumbers] = {}

        for name, score in self._config.evaluation.user_scores.items():
            of_lists = score.list_numbers
            of_systems = score.system_numbers or {}
            numbers[name] = UserScoreNumbers(
                list_numbers=no_option(of_lists[place]) if of_lists else None,
                system_numbers={system: no_option(files[place]) for system, files in of_systems.items()},
            )

        return numbers

    @property
    def score_files(self) -> list[str]:
        """The files of the user's own scores for all test sets, and of the lists that they are for."""
        files: list[str] = []
        for split in self._texts.test_sets.values():
            files += find_lists(self._origin.scored_lists(split))

        for test_set in self._texts.test_sets:
            for numbers in self._user_score_numbers(test_set).values():
                files += [numbers.list_numbers] if numbers.list_numbers else []
                files += numbers.system_numbers.values()

        return list(dict.fromkeys(files))

    def of_test_sets(self, files: Any) -> list[str]:
        """Return the files of all test sets, given a method that returns the files of one."""
        return [path for name in self._texts.test_sets for path in files(name)]

    def task_systems(self, split: str) -> list[tuple[str, str]]:
        """Return pairs of a file of translations and the name of its system, which repeats share."""
        test_set = next(name for name, one in self._texts.test_sets.items() if one == split)
        # in the order of the other tables, followed by the independent tasks, which these tables leave out
        pairs = [(self.translation(name, test_set), self._repeats[name].system) for name in self.compared]
        for name, whole in self._joined.items():
            pairs.append((self._files.experiment(name, joined_translation(split)), whole.system))
        return pairs

    def task_settings(self, wildcards: Any) -> str:
        """Return the `TaskTableSettings` of a split."""
        systems = [ScoredSystem(system, file) for file, system in self.task_systems(wildcards.split)]
        return as_json(
            TaskTableSettings(tasks=self.task_labels, systems=tuple(systems), comparison=self._comparison)
        )

    def task_translations(self, wildcards: Any) -> list[str]:
        """Return the translations of a split by the experiments for independent tasks."""
        return list(self._task_translations(wildcards).values())

    def join_settings(self, wildcards: Any) -> str:
        """Return the `JoinSettings`: by label, the translations of a split by independent experiments."""
        return as_json(JoinSettings(translations=self._task_translations(wildcards)))

    def _task_translations(self, wildcards: Any) -> dict[str, str]:
        names = self.independent[wildcards.independent]
        return {
            label: self._files.experiment(name, f"{BEST}/{translation_file(wildcards.split)}")
            for label, name in names.items()
        }

    @property
    def explained_pieces(self) -> list[str]:
        """The pieces of the first test set, whose derivations the page shows."""
        first = next(iter(self._texts.test_sets.values()))
        return self._divisions.pieces(first)
