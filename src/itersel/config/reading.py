"""Turn a mapping, such as Snakemake's `config`, into a checked `Config`, in stages.

1. As written: a mapping, in which nothing is checked.
2. Filled in: still a mapping. `without_grids` makes one experiment of each combination of a grid, and
   `with_forms` states the forms of sections, and the defaults that depend on them.
3. Unresolved: a `Config` (`read_unresolved`). Each value is checked, and no values conflict. Values that
   follow others, such as the seeds of experiments, are null unless they were stated.
4. Resolved: a `Config` in which these values are filled in (`resolved`). Null then means "none", except for
   `cache`.
5. Expanded: each repeat and each independent task is an experiment with a seed and tasks of its own
   (`itersel.config.experiments.expanded`). The plan makes all files and settings from it.

Stages 3 to 5 have the same keys and therefore the same type: types of their own would declare most keys three
times. Code that needs a resolved or expanded config reads values that it must have through `never_null`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from itersel.config.checks import check_config
from itersel.config.defaults import resolved, tokenizer_for_text
from itersel.config.forms import with_forms
from itersel.config.grids import as_written, without_grids
from itersel.config.sections import read_section
from itersel.config.values import Config
from itersel.config.yaml_loader import read_yaml
from itersel.errors import FilePath, InputError, attempt_all, located
from itersel.evaluate.tokenizers import check_tokenizer


def load_config(*paths: FilePath, is_resolved: bool = True) -> Config:
    """Read and check a config of YAML or JSON files; those after the first change it, as in Snakemake.

    Unless it `is_resolved`, values that follow others are null.
    """
    content = functools.reduce(_changed_by, map(read_yaml, paths))
    with located(", ".join(os.fspath(path) for path in paths)):
        return read_config(content) if is_resolved else read_unresolved(content)


def _changed_by(old: Any, new: Any) -> Any:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {**old, **{key: _changed_by(old.get(key), value) for key, value in new.items()}}
    return new


def read_config(content: object) -> Config:
    """Check a mapping and fill in all defaults, as `read_unresolved` and `resolved` do."""
    return resolved(read_unresolved(content))


def read_unresolved(content: object) -> Config:
    """Check a mapping and fill in the defaults; values that follow others, such as seeds, are still null.

    All unknown keys and wrong values are reported together or, if there are none, all conflicts: an
    InputError of one line names the key, a CombinedInputError has several.
    """
    given, grids = without_grids({} if content is None else content)
    try:
        config: Config = read_section(Config, with_forms(given))
        of_tokenizer = partial(check_tokenizer, tokenizer_for_text(config))
        attempt_all([partial(check_config, config), of_tokenizer])
    except InputError as error:
        raise as_written(error, grids) from None
    return config
