"""A reader of YAML that swallows nothing."""

from __future__ import annotations

from typing import Any

import yaml  # type: ignore[import-untyped]


class StrictLoader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses a key that is there twice in one place, and says where a value is that it cannot make."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Make a dictionary; of equal keys YAML would take the last."""
        first: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in first:
                    line = first[key.tag, key.value]
                    problem = f"key '{key.value}' is there already, in line {line}; rename or remove one"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                first[key.tag, key.value] = key.start_mark.line + 1
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Make a value; a date or number that is none is an error of the file."""
        try:
            return super().construct_object(node, deep)
        except ValueError as error:
            raise yaml.constructor.ConstructorError(None, None, str(error), node.start_mark) from None
