"""A strict YAML loader: it refuses duplicate keys, deep nesting and excessive aliases."""

from __future__ import annotations

import re
from typing import Any

import yaml  # type: ignore[import-untyped]

# A config has four levels. Each level takes several nested calls, and Python allows about a thousand.
MAX_DEPTH = 40
# Values of a file, including those that `*aliases` repeat: nested aliases grow exponentially.
MAX_VALUES = 1_000_000
# Longer texts are not read as numbers: that takes Python time quadratic in their length.
MAX_NUMBER_LENGTH = 100
INT, FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
# As in YAML 1.1, except base 60: `1:30` is text, not 90.
NUMBERS = {
    INT: r"[-+]?(0b[0-1_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)",
    FLOAT: r"[-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|\.[0-9][0-9_]*([eE][-+][0-9]+)?"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
}


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
        text, problem = self.construct_scalar(node), ""
        if len(text) > MAX_NUMBER_LENGTH:
            problem = f"a number of more than {MAX_NUMBER_LENGTH} characters"
        elif re.fullmatch("[-+]?0[0-9_]+", text):
            problem = f"{text} is a number to base 8 in YAML; write it without the zero, or in quotes"
        elif ":" in text:
            problem = f"not a value of type {node.tag}"
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


StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in NUMBERS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _tag, _first in ((INT, "-+0123456789"), (FLOAT, "-+0123456789.")):
    StrictLoader.add_implicit_resolver(_tag, re.compile(rf"({NUMBERS[_tag]})\Z"), list(_first))
    StrictLoader.add_constructor(_tag, StrictLoader.construct_number)
