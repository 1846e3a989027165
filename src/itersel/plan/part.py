"""What most parts of the plan are made from."""

from __future__ import annotations

from typing import NamedTuple

from itersel.config.values import Config
from itersel.plan.divisions import Divisions
from itersel.plan.files import Files
from itersel.plan.origin import Origin
from itersel.plan.texts import Texts


class Foundation(NamedTuple):
    """The config, and the parts of the plan that other parts ask."""

    config: Config
    files: Files
    origin: Origin
    texts: Texts
    divisions: Divisions


class PlanPart:
    """Base class of the parts that are made from the foundation."""

    def __init__(self, foundation: Foundation) -> None:
        self._foundation = foundation
        self._config, self._files, self._origin, self._texts, self._divisions = foundation
