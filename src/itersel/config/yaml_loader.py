"""A strict YAML loader: it refuses duplicate keys, deep nesting, excessive aliases, and ambiguous numbers."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any

import yaml  # type: ignore[import-untyped]

from itersel.config.messages import show
from itersel.errors import FilePath, InputError
from itersel.storage.files import read_bytes

MAX_CONFIG_BYTES = 2**24

# A config has four levels. Each level takes several nested calls, and Python allows about a thousand.
MAX_DEPTH = 40
# Values of a file, including those that `*aliases` repeat: nested aliases grow exponentially.
MAX_VALUES = 1_000_000
# Longer texts are not read as numbers: that takes Python time quadratic in their length.
MAX_NUMBER_LENGTH = 100
INT, FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"


class StrictLoader(yaml.SafeLoader):  # type: ignore[misc]
    """Rejects duplicate keys, and reports the line of a value that cannot be constructed."""

    def __init__(self, stream: bytes | str) -> None:
        super().__init__(stream)
        self.depth = 0
        self.values = 0
        self.sizes: dict[int, int] = {}  # number of values in each complete node

    def compose_node(self, parent: yaml.Node, index: object) -> yaml.Node:
        """Compose a node; nesting too deep or too many repeated values is an error in the file."""
        mark = self.peek_event().start_mark
        is_alias = self.check_event(yaml.AliasEvent)
        before = self.values

        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise yaml.composer.ComposerError(None, None, f"nested more than {MAX_DEPTH} deep", mark)
        node = super().compose_node(parent, index)
        self.depth -= 1

        if is_alias and id(node) not in self.sizes:
            raise yaml.composer.ComposerError(None, None, "an alias inside its own anchor", mark)
        self.values += self.sizes[id(node)] if is_alias else 1
        if self.values > MAX_VALUES:
            raise yaml.composer.ComposerError(None, None, f"more than {MAX_VALUES:,} values", mark)

        self.sizes.setdefault(id(node), self.values - before)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Make a dictionary; PyYAML would silently use the last of several equal keys."""
        first: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in first:
                    line = first[key.tag, key.value]
                    problem = f"key '{key.value}' is already set in line {line}; rename or remove one"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                first[key.tag, key.value] = key.start_mark.line + 1
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made

    def construct_number(self, node: yaml.Node) -> float:
        """Make a number, whole or not."""
        text = self.construct_scalar(node)
        problem = ""
        if len(text) > MAX_NUMBER_LENGTH:
            problem = f"a number of more than {MAX_NUMBER_LENGTH} characters"
        elif re.fullmatch("[-+]?0[0-9_]+", text):
            problem = f"{text} is a number to base 8 in YAML; write it without the zero, or in quotes"
        elif ":" in text:
            problem = f"{text} is a number to base 60 in YAML; put it in quotes"
        if problem:
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        number: float = self.construct_yaml_int(node) if node.tag == INT else self.construct_yaml_float(node)
        return number

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Make a value; an invalid date or number is an error in the file."""
        try:
            return super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        # PyYAML does not check that a value with a tag such as !!timestamp is well-formed
        except (ValueError, AttributeError, TypeError, LookupError, ArithmeticError) as error:
            problem = str(error) if isinstance(error, ValueError) else f"not a value of type {node.tag}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


for _tag in (INT, FLOAT):
    StrictLoader.add_constructor(_tag, StrictLoader.construct_number)


def read_yaml(path: FilePath) -> Mapping[Any, Any]:
    """Read a config file, which Snakemake reads in the same way after this check."""
    content = read_bytes(path, MAX_CONFIG_BYTES)
    try:
        loaded = yaml.load(content, StrictLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "cannot be read"
        raise InputError(f"not YAML: {problem}", path, mark.line + 1 if mark else None) from None
    except UnicodeDecodeError:
        raise InputError("not valid UTF-8; convert the file with iconv", path) from None

    # Snakemake, too, tries JSON first, in which 1e-4 is a number; in YAML, it is text
    with contextlib.suppress(ValueError):
        loaded = json.loads(content)

    if not isinstance(loaded, Mapping):
        raise InputError(f"config file must contain 'key: value' lines, not {show(loaded)}", path)
    return loaded
