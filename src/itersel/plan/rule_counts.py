"""Which rules are counted for the table of the corpora: those of each split with grammars."""

from __future__ import annotations

from typing import Any

from itersel.config.defaults import never_null
from itersel.config.report_steps import CorporaSettings
from itersel.config.settings import as_json
from itersel.plan.part import Foundation, PlanPart
from itersel.results import rule_counts_file


class RuleCounts(PlanPart):
    """The numbers of rules of all splits."""

    def __init__(self, foundation: Foundation) -> None:
        super().__init__(foundation)
        # splits with grammars, and the divisions in which their rules are counted
        self.divisions_of_splits = self._origin.with_grammars(self._smallest_folders())

    def _smallest_folders(self) -> dict[str, str]:
        """Return the folder with the fewest files of each split; grammars do not depend on their number."""
        pieces = self._divisions.of_pieces
        whole = sorted(
            (one for one in self._config.experiments.values() if one.tasks.keep_all),
            key=lambda one: (one.tune_on, -one.tasks.file_count, -never_null(one.seed)),
        )

        found = {experiment.tune_on: self._divisions.name(experiment) for experiment in whole}
        found |= {split: pieces for split in self._texts.held_out if split != "dev"}
        if any(one.retune.batch_tuner for one in self._config.experiments.values()):
            found.setdefault("dev", pieces)
        return found

    def sentence_files(self, wildcards: Any) -> list[str]:
        """Return the files with the grammars of a split."""
        split = wildcards.split
        return self._divisions.sentence_files(split, self.divisions_of_splits[split])

    @property
    def files(self) -> list[str]:
        """The numbers of rules, by split."""
        return [f"{self._files.results}/{rule_counts_file(split)}" for split in self.divisions_of_splits]

    @property
    def settings(self) -> str:
        """The `CorporaSettings`: counts of rules."""
        return as_json(CorporaSettings(rules=dict(zip(self.divisions_of_splits, self.files, strict=True))))
