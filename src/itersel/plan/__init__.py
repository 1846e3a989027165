"""The plan of a run: the files, settings and options of every job.

Only whether texts exist, their sizes and the contents of folders of lists are looked up; only
`itersel.plan.checks`, for ``itersel config check``, reads files. `Plan` combines all parts; the rules in
workflow/rules use its methods that take wildcards.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from itersel.config.experiments import expanded, planned_repeats
from itersel.config.report_steps import ExplainSettings
from itersel.config.settings import as_json
from itersel.config.values import Config
from itersel.plan.choice import Choice
from itersel.plan.divisions import Divisions
from itersel.plan.epochs import Epochs
from itersel.plan.files import Files
from itersel.plan.language_models import LanguageModels
from itersel.plan.list_texts import ListTexts
from itersel.plan.origin import origin_of
from itersel.plan.part import Foundation
from itersel.plan.rule_counts import RuleCounts
from itersel.plan.searches import search_of_all_systems
from itersel.plan.tables import Tables
from itersel.plan.text_features import TextFeatureModels
from itersel.plan.texts import Texts
from itersel.plan.tuning import Tuning


class Plan:
    """The files, settings and options of all jobs of a run, from its config.

    Its own `config` has an experiment for each repeat and independent task.
    """

    def __init__(self, config: Config) -> None:
        repeats = planned_repeats(config)
        config = self.config = expanded(config)
        # in the order in which their files are made
        self.files = Files(config)
        self.origin = origin_of(config, self.files)
        self.texts = Texts(config, self.files, self.origin)
        self.language_models = LanguageModels(config, self.files, self.texts)
        self.divisions = Divisions(config, self.files, self.texts)

        foundation = Foundation(config, self.files, self.origin, self.texts, self.divisions)
        self.list_texts = ListTexts(foundation)
        self.text_features = TextFeatureModels(foundation)
        self.epochs = Epochs(foundation, self.language_models)
        self.tuning = Tuning(foundation, self.epochs)
        self.choice = Choice(foundation, repeats)
        self.tables = Tables(foundation, repeats)
        self.rule_counts = RuleCounts(foundation)

    def config_digest(self) -> str:
        """Return a digest of all config values except the folder of compiled kernels."""
        return hashlib.sha256(repr(replace(self.config, cache="")).encode()).hexdigest()[:12]

    def explain_settings(self, wildcards: Any) -> str:
        """Return the `ExplainSettings`."""
        return as_json(
            ExplainSettings(
                derivations=self.config.report.derivations,
                has_mbr=self.config.mbr.gain is not None,
                search=search_of_all_systems(self.config),
            )
        )
